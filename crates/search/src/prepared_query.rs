//! Prepares a question once for all its retrievals.

use std::collections::BTreeMap;
use std::sync::Arc;

use cairn_domain::{ChunkKind, ChunkRecord, DenseVector, InputType, RepositoryId, View};
use cairn_name_match::other_spellings;
use cairn_ports::{ChunkFilter, FileHit, IncludeTests};
use cairn_question::{ParsedQuery, QueryType, Synonyms};
use cairn_ranking::{
    QueryWords, QuestionWord, RepositoryWords, ScopeFrequencies, Signal, Signals, Subjects, Weights, add_synonyms,
    query_terms,
};

use crate::abbreviations::{other_words, other_words_of};
use crate::question_names::QuestionNames;
use crate::repositories::KnownRepository;
use crate::{QueryError, QueryErrorCode, Searcher};

/// Number of synonyms that are searched in addition to each keyword.
const SYNONYMS_OF_A_WORD: usize = 3;

/// The words, the weighted terms and the vector of a question, and the view that the question reads.
#[derive(Clone)]
pub(crate) struct PreparedQuery {
    pub(crate) view: View,
    /// The text to search for: the question, or the question without the words that state filters.
    pub(crate) text: String,
    /// The type of the question, and the names in it.
    pub(crate) parsed: ParsedQuery,
    pub(crate) words: QueryWords,
    /// The kinds of chunks that the question requests.
    pub(crate) subjects: Subjects,
    /// The frequencies of the terms in the searched repositories.
    pub(crate) frequencies: ScopeFrequencies,
    /// For each searched repository, how much of each keyword it contains.
    pub(crate) of_repositories: RepositoryWords,
    /// The terms with their weights, sorted by term.
    pub(crate) terms: Vec<(u32, u32)>,
    /// The sum of the weights of the question's terms, without the terms of synonyms.
    pub(crate) sum_of_weights: i64,
    /// `None` if the question asks for a name or a file, because such a question needs no vector.
    pub(crate) vector: Option<DenseVector>,
    /// The resolved names in the question. The names are resolved after the preparation, because this step
    /// needs the scope.
    pub(crate) names: QuestionNames,
    /// A file near the wanted code.
    pub(crate) near_path: Option<String>,
    /// The files that the question names, best first.
    pub(crate) named_files: Vec<FileHit>,
    /// The patterns that a pattern question names, best first, without their texts.
    pub(crate) patterns: Vec<ChunkRecord>,
    /// The keys of the published manifests of the searched repositories.
    pub(crate) manifests: Arc<BTreeMap<RepositoryId, String>>,
}

impl PreparedQuery {
    pub(crate) fn weights(&self, signals: Signals) -> Weights {
        match self.parsed.query_type {
            _ if !signals.has(Signal::TypeWeights) => Weights::TOPIC,
            _ if self.words.whole.is_some() => Weights::ONE_WORD,
            QueryType::Relationship => Weights::RELATION,
            QueryType::Flow => Weights::FLOW,
            QueryType::Pattern if !self.names_no_pattern() => Weights::PATTERN,
            QueryType::Pattern | QueryType::Concept | QueryType::Symbol => Weights::TOPIC,
        }
    }

    /// The kinds of chunks that the question or the filter asks for.
    pub(crate) fn subjects_with(&self, filter: &ChunkFilter) -> Subjects {
        Subjects {
            tests: self.subjects.tests || filter.include_tests == IncludeTests::Only,
            patterns: !self.names_no_pattern()
                && (self.subjects.patterns || self.parsed.query_type == QueryType::Pattern)
                || filter.kinds.contains(&ChunkKind::Pattern),
            ..self.subjects
        }
    }

    /// Whether this is a pattern question that names no pattern in scope. Such a question uses the strategy
    /// of concept questions, and patterns are not preferred.
    fn names_no_pattern(&self) -> bool {
        self.parsed.query_type == QueryType::Pattern && !self.parsed.strategy.patterns
    }
}

impl Searcher {
    /// Prepares a question for the selected repositories. If the question states filters in words, also
    /// prepares the question without these words. Embeds both texts in one call.
    pub(crate) async fn prepare(
        &self,
        view: &View,
        selected: &[KnownRepository],
        parsed: &ParsedQuery,
        (whole, without_filters): (&str, Option<&str>),
        needs_vector: bool,
    ) -> Result<(PreparedQuery, Option<PreparedQuery>), QueryError> {
        let no_vector = || QueryError::new(QueryErrorCode::InternalError, "the embedder returned no vector");
        let texts: Vec<&str> = [whole].into_iter().chain(without_filters).collect();
        let vectors = async {
            match needs_vector {
                true => Ok::<_, QueryError>(self.embedder.embed(InputType::Query, &texts).await?),
                false => Ok(Vec::new()),
            }
        };
        let weighted = async {
            let of_whole = self.weighted(selected, parsed, whole).await?;
            let of_rest = match without_filters {
                Some(text) => Some(self.weighted(selected, parsed, text).await?),
                None => None,
            };
            Ok((of_whole, of_rest))
        };
        let (vectors, (of_whole, of_rest)) = tokio::try_join!(vectors, weighted)?;
        let mut vectors = vectors.into_iter();
        let manifest =
            |known: &KnownRepository| Some((known.record.id, known.published.as_ref()?.manifest.key.clone()));
        let manifests = Arc::new(selected.iter().filter_map(manifest).collect());
        let mut complete = |weighted: WeightedWords| {
            let vector = vectors.next();
            if needs_vector && vector.is_none() {
                return Err(no_vector());
            }
            let query = weighted.with_vector(view.clone(), parsed.clone(), vector);
            Ok::<_, QueryError>(PreparedQuery { manifests: Arc::clone(&manifests), ..query })
        };
        Ok((complete(of_whole)?, of_rest.map(complete).transpose()?))
    }

    /// The words of a text, and the weights of its terms and of their synonyms.
    async fn weighted(
        &self,
        selected: &[KnownRepository],
        parsed: &ParsedQuery,
        text: &str,
    ) -> Result<WeightedWords, QueryError> {
        let mut words = QueryWords::of(text);
        if let Some(asked) = &parsed.symbol {
            words.ask_for(&asked.name, asked.is_whole);
        }
        let synonyms = synonyms(parsed, Synonyms { configured: &self.synonyms, learned: &[] }, self.signals);
        let counted = format!("{text} {synonyms} {}", other_words(&words.keywords, &self.synonyms));
        let (frequencies, of_repositories) = self.counts_of(selected, &counted, &parsed.subject_words).await?;
        let mut terms = query_terms(text, &frequencies);
        let sum_of_weights = terms.iter().map(|(_, weight)| i64::from(*weight)).sum();
        add_synonyms(&mut terms, &synonyms, &frequencies);
        Ok(WeightedWords {
            text: text.to_owned(),
            words,
            subjects: if parsed.file_name.is_some() { Subjects::of_file_name(text) } else { Subjects::of(text) },
            frequencies,
            of_repositories,
            terms,
            sum_of_weights,
        })
    }

    /// The frequencies of the words of a text in these repositories, and, for each of the repositories, how
    /// much of each keyword it contains.
    pub(crate) async fn counts_of(
        &self,
        selected: &[KnownRepository],
        text: &str,
        keywords: &[String],
    ) -> Result<(ScopeFrequencies, RepositoryWords), QueryError> {
        if !self.signals.has(Signal::ScopeFrequencies) {
            return Ok(Default::default());
        }
        let keyword =
            |word: &String| QuestionWord { word: word.clone(), other_forms: other_words_of(word, &self.synonyms) };
        let counted = format!("{text} {}", other_words(keywords, &self.synonyms));
        self.counts(selected, &counted, keywords.iter().map(keyword).collect()).await
    }
}

/// The fields of a prepared question that do not depend on an embedding.
struct WeightedWords {
    text: String,
    words: QueryWords,
    subjects: Subjects,
    frequencies: ScopeFrequencies,
    of_repositories: RepositoryWords,
    terms: Vec<(u32, u32)>,
    sum_of_weights: i64,
}

impl WeightedWords {
    fn with_vector(self, view: View, parsed: ParsedQuery, vector: Option<DenseVector>) -> PreparedQuery {
        let Self { text, words, subjects, frequencies, of_repositories, terms, sum_of_weights } = self;
        PreparedQuery {
            view,
            text,
            parsed,
            words,
            subjects,
            frequencies,
            of_repositories,
            terms,
            sum_of_weights,
            vector,
            names: QuestionNames::default(),
            near_path: None,
            named_files: Vec::new(),
            patterns: Vec::new(),
            manifests: Arc::default(),
        }
    }
}

/// The best synonyms and the other spellings of the keywords. Synonyms are needed because code often uses a
/// different word for the same thing. For a flow question, the result is empty, because synonyms would add
/// steps of other flows.
fn synonyms(parsed: &ParsedQuery, table: Synonyms<'_>, signals: Signals) -> String {
    if parsed.query_type == QueryType::Flow || !signals.has(Signal::Synonyms) {
        return String::new();
    }
    let of_word = |word: &String| {
        let synonyms = table.of(word).into_iter().take(SYNONYMS_OF_A_WORD).map(|(synonym, _)| synonym);
        synonyms.chain(other_spellings(word)).collect::<Vec<_>>()
    };
    parsed.subject_words.iter().flat_map(of_word).collect::<Vec<_>>().join(" ")
}
