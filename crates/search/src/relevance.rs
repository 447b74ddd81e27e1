//! Collects the evidence for the relevance of the results.

use cairn_ports::{ChunkFilter, Hit, IncludeTests};
use cairn_question::Synonyms;
use cairn_ranking::{
    Candidate, DenseEvidence, Evidence, KeywordEvidence, Relevance, is_abbreviation, keywords_for_relevance,
};

use crate::Searcher;
use crate::prepared_query::PreparedQuery;
use crate::retrieve::id_of;

/// Number of the best vectors whose mean is evidence.
const BEST_VECTORS: usize = 5;
/// Number of the first chunks in the list of terms whose vectors are evidence.
const BEST_TERMS: usize = 3;
/// The names of the embedding models whose scores are calibrated begin with this text.
const CALIBRATED: &str = "cairn-static-";

/// The words beside a question whose counts are needed: abbreviations and long forms of its keywords.
pub(crate) fn abbreviations(keywords: &[String]) -> String {
    keywords.iter().flat_map(|word| abbreviations_of(word)).collect::<Vec<_>>().join(" ")
}

fn abbreviations_of(word: &str) -> Vec<String> {
    let synonyms = Synonyms::default().of(word).into_iter().map(|(synonym, _)| synonym);
    synonyms.filter(|synonym| is_abbreviation(word, synonym)).collect()
}

impl Searcher {
    /// The evidence of the lists. The chunks of the lists are the best ones first.
    pub(crate) fn evidence(
        &self,
        query: &PreparedQuery,
        (dense, sparse): (&[Hit], &[Hit]),
        candidates: &[Candidate],
        filter: &ChunkFilter,
    ) -> Evidence {
        let keywords = keywords_for_relevance(&query.words.keywords);
        let keywords = keywords.iter().map(|word| KeywordEvidence::of(word, &abbreviations_of(word), &query.frequencies));
        let is_named = |candidate: &Candidate| {
            candidate.name_rank.is_some() || candidate.relation_rank.is_some() || candidate.pattern_rank.is_some()
        };
        let is_calibrated = self.embedder.model().name.starts_with(CALIBRATED);
        Evidence {
            keywords: keywords.collect(),
            is_direct: candidates.iter().any(is_named) || (is_restricted(filter) && !sparse.is_empty()),
            best_terms: sparse.first().map_or(0, |hit| hit.score),
            sum_of_weights: query.terms.iter().map(|(_, weight)| i64::from(*weight)).sum(),
            dense: is_calibrated.then(|| dense_evidence(dense, sparse)),
        }
    }
}

fn dense_evidence(dense: &[Hit], sparse: &[Hit]) -> DenseEvidence {
    let best = &dense[..dense.len().min(BEST_VECTORS)];
    let sum: i64 = best.iter().map(|hit| hit.score).sum();
    let score_of = |wanted: &Hit| dense.iter().find(|hit| id_of(hit) == id_of(wanted)).map(|hit| hit.score);
    let ends = dense.first().zip(dense.last());
    DenseEvidence {
        mean: sum / best.len().max(1) as i64,
        spread: ends.map_or(0, |(first, last)| first.score - last.score),
        of_best_terms: sparse.iter().take(BEST_TERMS).filter_map(score_of).max().unwrap_or_default(),
    }
}

/// Whether the caller asks about certain files or chunks. A chunk in such a selection that contains a word of
/// the question is shown.
fn is_restricted(filter: &ChunkFilter) -> bool {
    let ChunkFilter { languages, kinds, paths, module_prefixes, include_tests, tags, since } = filter;
    let is_any = languages.is_empty() && kinds.is_empty() && paths.is_empty() && module_prefixes.is_empty();
    !is_any || *include_tests == IncludeTests::Only || !tags.is_empty() || since.is_some()
}

/// The relevance of results that do not come from the lists, such as files with a name.
pub(crate) fn of_named_results() -> Relevance {
    Relevance::SHOWN
}
