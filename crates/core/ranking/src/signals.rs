//! The parts of the ranking that a measurement can switch off.

/// A part of the ranking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// The list of the chunks with the nearest vectors.
    Vectors,
    /// The list of the chunks with the highest sums of term weights.
    Terms,
    /// The list of the definitions that the question names.
    Names,
    /// The use of counts from the searched repositories to compute the rarity of terms.
    ScopeFrequencies,
    /// The use of synonyms of the keywords in the list of terms.
    Synonyms,
    /// The scores in the lists. Without them, only ranks are used.
    Scores,
    /// The ranks in the lists. Without them, only scores are used.
    Ranks,
    /// The factors for documents and configuration, and for navigation documents.
    DocumentPrior,
    /// The factor for tests.
    TestPrior,
    /// The factors for examples, patterns and generated code.
    OtherPriors,
    FileEvidence,
    /// The factor for the keywords that the whole repository contains.
    RepositoryEvidence,
    Path,
    /// The points for files of the kind that the question asks for.
    FileKind,
    Relation,
    /// The hits that are neighbours of other hits in the graph, and the path that answers a flow question.
    Graph,
    Definition,
    /// The factor for each further hit in a file.
    FurtherHits,
    /// The points of the patterns that a question names, and the rule that all other patterns come after the
    /// first hit that is not a pattern.
    Patterns,
    /// The weights of the lists, which depend on the type of the question.
    TypeWeights,
    /// The filters that a question states in words.
    StatedFilters,
    /// The files and directories whose names a question contains.
    FileNames,
    /// The additional hits for files and symbols that the best documents mention.
    DocumentedFiles,
    /// The refusal of questions for which the index contains nothing relevant.
    Relevance,
    /// The second stage, which orders the first hits by sums of standardised values.
    SecondStage,
    /// The match of each word of the question with the words of the text, in the second stage.
    WordMatch,
    /// The match of each word of the question with the words of the path and the qualified name, in the
    /// second stage.
    PathMatch,
    /// The vector score of the best chunk of the file, in the second stage.
    BestOfFile,
    /// The length of the string literals, in the second stage.
    Literals,
    /// The points for code that a good hit mentions, in the second stage.
    Mentions,
}

impl Signal {
    pub const ALL: [Signal; 30] = [
        Signal::Vectors,
        Signal::Terms,
        Signal::Names,
        Signal::ScopeFrequencies,
        Signal::Synonyms,
        Signal::Scores,
        Signal::Ranks,
        Signal::DocumentPrior,
        Signal::TestPrior,
        Signal::OtherPriors,
        Signal::FileEvidence,
        Signal::RepositoryEvidence,
        Signal::Path,
        Signal::FileKind,
        Signal::Relation,
        Signal::Graph,
        Signal::Definition,
        Signal::FurtherHits,
        Signal::Patterns,
        Signal::TypeWeights,
        Signal::StatedFilters,
        Signal::FileNames,
        Signal::DocumentedFiles,
        Signal::Relevance,
        Signal::SecondStage,
        Signal::WordMatch,
        Signal::PathMatch,
        Signal::BestOfFile,
        Signal::Literals,
        Signal::Mentions,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Signal::Vectors => "vectors",
            Signal::Terms => "terms",
            Signal::Names => "names",
            Signal::ScopeFrequencies => "scope_frequencies",
            Signal::Synonyms => "synonyms",
            Signal::Scores => "scores",
            Signal::Ranks => "ranks",
            Signal::DocumentPrior => "document_prior",
            Signal::TestPrior => "test_prior",
            Signal::OtherPriors => "other_priors",
            Signal::FileEvidence => "file_evidence",
            Signal::RepositoryEvidence => "repository_evidence",
            Signal::Path => "path",
            Signal::FileKind => "file_kind",
            Signal::Relation => "relation",
            Signal::Graph => "graph",
            Signal::Definition => "definition",
            Signal::FurtherHits => "further_hits",
            Signal::Patterns => "patterns",
            Signal::TypeWeights => "type_weights",
            Signal::StatedFilters => "stated_filters",
            Signal::FileNames => "file_names",
            Signal::DocumentedFiles => "documented_files",
            Signal::Relevance => "relevance",
            Signal::SecondStage => "second_stage",
            Signal::WordMatch => "word_match",
            Signal::PathMatch => "path_match",
            Signal::BestOfFile => "best_of_file",
            Signal::Literals => "literals",
            Signal::Mentions => "mentions",
        }
    }

    fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// The parts of the ranking that are used. Only measurements switch parts off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signals(u32);

impl Default for Signals {
    fn default() -> Self {
        Self(u32::MAX)
    }
}

impl Signals {
    #[must_use]
    pub fn without(self, signal: Signal) -> Self {
        Self(self.0 & !signal.bit())
    }

    pub fn only(signals: &[Signal]) -> Self {
        Self(signals.iter().fold(0, |bits, signal| bits | signal.bit()))
    }

    pub fn has(self, signal: Signal) -> bool {
        self.0 & signal.bit() != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_switched_off_one_by_one() {
        for signal in Signal::ALL {
            let (without, only) = (Signals::default().without(signal), Signals::only(&[signal]));
            for other in Signal::ALL {
                assert!(Signals::default().has(other));
                assert_eq!(without.has(other), other != signal, "{} {}", signal.as_str(), other.as_str());
                assert_eq!(only.has(other), other == signal, "{} {}", signal.as_str(), other.as_str());
            }
        }
    }
}
