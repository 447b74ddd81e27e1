//! Finds the patterns in the index that match a pattern question.

use cairn_domain::{ChunkKind, ChunkRecord, Scope, View};
use cairn_ports::{ChunkFilter, ListsRequest};
use cairn_question::{ParsedQuery, names_a_pattern};
use cairn_ranking::{ScopeFrequencies, query_terms};

use crate::chunk_id::chunks_by_id;
use crate::joined_lists::id_of;
use crate::{QueryError, Searcher};

/// Maximum number of patterns that are read.
const MAX_PATTERNS: usize = 100;
/// A word with fewer characters is not treated as a compound.
const MIN_COMPOUND: usize = 8;
/// The second part of a compound must have more characters than this number.
const MIN_END: usize = 4;
/// Maximum number of words of a question whose endings are searched.
const MAX_COMPOUNDS: usize = 2;
/// A word in the text of every pattern chunk.
const EVERY_PATTERN: &str = "pattern";
/// Maximum number of patterns that come before other results.
const MAX_LEADING: usize = 5;

impl Searcher {
    /// The pattern chunks that share a term with the question, best first. The endings of long words of the
    /// question also count as terms. The list is empty if the filter excludes patterns. If the question asks
    /// for every pattern, all pattern chunks are returned.
    pub(crate) async fn pattern_chunks(
        &self,
        view: &View,
        scope: &Scope,
        filter: &ChunkFilter,
        parsed: &ParsedQuery,
    ) -> Result<Vec<ChunkRecord>, QueryError> {
        if is_excluded(filter) {
            return Ok(Vec::new());
        }
        let filter = ChunkFilter { kinds: vec![ChunkKind::Pattern], ..filter.clone() };
        let question = &parsed.text;
        let every = if parsed.asks_for_every_pattern() { EVERY_PATTERN } else { "" };
        let text = format!("{question} {} {every}", word_ends(question));
        let terms = query_terms(&text, &ScopeFrequencies::default());
        let request = ListsRequest { dense: None, sparse: (&terms, MAX_PATTERNS), num_records: MAX_PATTERNS };
        let lists = self.vectors.search(view, scope, &filter, request).await?;
        let mut chunks = chunks_by_id(lists.records);
        Ok(lists.sparse.iter().filter_map(|hit| chunks.remove(&id_of(hit))).collect())
    }
}

/// The ends of the long words of a question: a name such as `awsimporters` may end with the name of a
/// pattern. [`names_a_pattern`] then decides which of the found patterns the question names.
fn word_ends(question: &str) -> String {
    let words = question.split(|letter: char| !letter.is_ascii_alphabetic());
    let long = words.filter(|word| word.len() >= MIN_COMPOUND && word.bytes().all(|byte| byte.is_ascii_lowercase()));
    let ends = |word: &'_ str| (2..word.len() - MIN_END).map(|start| word[start..].to_owned()).collect::<Vec<_>>();
    long.take(MAX_COMPOUNDS).flat_map(ends).collect::<Vec<_>>().join(" ")
}

/// The names of the patterns that these chunks describe.
pub(crate) fn names(patterns: &[ChunkRecord]) -> Vec<String> {
    patterns.iter().filter_map(|pattern| pattern.symbol.clone()).collect()
}

/// Whether the filter excludes all patterns.
pub(crate) fn is_excluded(filter: &ChunkFilter) -> bool {
    !filter.kinds.is_empty() && !filter.kinds.contains(&ChunkKind::Pattern)
}

/// The patterns that the question names or asks for, best first.
pub(crate) fn named(mut patterns: Vec<ChunkRecord>, parsed: &ParsedQuery) -> Vec<ChunkRecord> {
    if parsed.asks_for_every_pattern() {
        patterns.truncate(MAX_LEADING);
        return patterns;
    }
    let Some(subject) = subject(parsed) else { return Vec::new() };
    let is_named = |pattern: &ChunkRecord| pattern.symbol.as_deref().is_some_and(|name| names_a_pattern(subject, name));
    patterns.into_iter().filter(is_named).take(MAX_LEADING).collect()
}

/// Whether a pattern question asks for one of the patterns with these names. A question without a subject,
/// such as "conventions", asks for every pattern.
pub(crate) fn are_asked_for(names: &[String], parsed: &ParsedQuery) -> bool {
    match subject(parsed) {
        Some(subject) => names.iter().any(|name| names_a_pattern(subject, name)),
        None => !names.is_empty(),
    }
}

/// The thing whose usual form a pattern question asks for.
fn subject(parsed: &ParsedQuery) -> Option<&str> {
    parsed.pattern.as_ref()?.subject.as_deref()
}
