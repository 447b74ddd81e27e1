//! Collects the evidence for the relevance of the results.

use cairn_ports::{ChunkFilter, Hit, IncludeTests};
use cairn_question::{is_stop_word, only_word};
use cairn_ranking::{
    AnswerRelevance, Candidate, DenseEvidence, Evidence, KeywordEvidence, keywords_for_relevance, looks_random,
};

use crate::Searcher;
use crate::abbreviations::other_words_of;
use crate::prepared_query::PreparedQuery;

/// The mean vector score of this number of best chunks counts as evidence.
const BEST_VECTORS: usize = 5;
/// Number of best chunks in the list of chunks with query terms. The vector scores of these chunks count as
/// evidence.
const BEST_TERMS: usize = 3;
/// The names of all embedding models with calibrated scores begin with this text.
const CALIBRATED: &str = "cairn-static-";

/// Words that describe the kind of answer, but not its subject. Sorted.
const REQUEST_WORDS: [&str; 41] = [
    "architecture",
    "call",
    "caller",
    "callers",
    "calls",
    "class",
    "classes",
    "code",
    "component",
    "components",
    "convention",
    "conventions",
    "declaration",
    "defined",
    "definition",
    "definitions",
    "example",
    "examples",
    "file",
    "files",
    "flow",
    "folder",
    "function",
    "functions",
    "happens",
    "implementation",
    "implemented",
    "imports",
    "logic",
    "method",
    "methods",
    "module",
    "modules",
    "pattern",
    "patterns",
    "place",
    "places",
    "since",
    "structure",
    "typical",
    "usages",
];

impl Searcher {
    /// The evidence from the chunks with the best vector scores (`dense`), the chunks with the best term
    /// scores (`sparse`) and the candidates. Both lists of chunks must be sorted, best first.
    pub(crate) fn evidence(
        &self,
        query: &PreparedQuery,
        (dense, sparse): (&[Hit], &[Hit]),
        candidates: &[Candidate],
    ) -> Evidence {
        let keywords = keywords_for_relevance(&query.words.keywords, query.words.whole.is_some());
        // Words that state a filter do not describe the subject of the question, so they are treated as stop
        // words.
        let subjects = cairn_ranking::keywords(&query.parsed.text_without_filters);
        let is_stop_word = |word: &String| {
            is_stop_word(word) || REQUEST_WORDS.binary_search(&word.as_str()).is_ok() || !subjects.contains(word)
        };
        let evidence_of = |word: &String| {
            KeywordEvidence::of(word, &other_words_of(word, &self.synonyms), is_stop_word(word), &query.frequencies)
        };
        let is_named = |candidate: &Candidate| {
            candidate.named.is_some()
                || candidate.name_rank.is_some()
                || candidate.relation_rank.is_some()
                || candidate.pattern_rank.is_some()
        };
        let is_calibrated = self.embedder.model().name.starts_with(CALIBRATED);
        Evidence {
            keywords: keywords.iter().map(evidence_of).collect(),
            is_direct: query.names.has_exact || candidates.iter().any(is_named),
            random_name: only_word(&query.parsed.text).filter(|name| looks_random(name)),
            is_without_words: !query.parsed.text.contains(char::is_alphanumeric),
            best_terms: sparse.first().map_or(0, |hit| hit.score),
            sum_of_weights: query.sum_of_weights,
            dense: is_calibrated.then(|| dense_evidence(dense, sparse)),
        }
    }
}

impl PreparedQuery {
    /// The relevance of the results. If the caller restricts the search to certain files or chunks, a chunk
    /// that contains a word of the question counts as a direct hit.
    pub(crate) fn relevance(&self, evidence: Evidence, of_caller: &ChunkFilter) -> AnswerRelevance {
        let is_direct = evidence.is_direct || (is_restricted(of_caller) && evidence.best_terms > 0);
        Evidence { is_direct, ..evidence }.relevance(&self.frequencies)
    }
}

fn dense_evidence(dense: &[Hit], sparse: &[Hit]) -> DenseEvidence {
    let best = &dense[..dense.len().min(BEST_VECTORS)];
    let sum: i64 = best.iter().map(|hit| hit.score).sum();
    let is_same = |left: &Hit, right: &Hit| (left.repository, left.key) == (right.repository, right.key);
    let score_of = |wanted: &Hit| dense.iter().find(|hit| is_same(hit, wanted)).map(|hit| hit.score);
    let ends = dense.first().zip(dense.last());
    DenseEvidence {
        mean: sum / best.len().max(1) as i64,
        spread: ends.map_or(0, |(first, last)| first.score - last.score),
        of_best_terms: sparse.iter().take(BEST_TERMS).filter_map(score_of).max().unwrap_or_default(),
    }
}

fn is_restricted(filter: &ChunkFilter) -> bool {
    let ChunkFilter { languages, kinds, paths, module_prefixes, include_tests, tags, since } = filter;
    let lists = [languages, paths, module_prefixes, tags];
    lists.iter().any(|list| !list.is_empty())
        || !kinds.is_empty()
        || *include_tests == IncludeTests::Only
        || since.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_words_are_sorted() {
        assert!(REQUEST_WORDS.is_sorted());
    }
}
