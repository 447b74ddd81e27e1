//! Facts that explain an empty page of search results, and questions that have results.

use cairn_search::{NothingFound, SuggestedQuery, WeakMatch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Facts that explain an empty result.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EmptyReport {
    /// The reason for the empty result, as a sentence.
    #[serde(default)]
    pub statement: String,
    /// The words of the question that no chunk contains.
    #[serde(default)]
    pub missing_words: Vec<String>,
    /// The first of the requested repositories that are not indexed.
    pub not_indexed: Vec<String>,
    /// Number of all requested repositories that are not indexed.
    #[serde(default)]
    pub num_not_indexed: usize,
    /// Number of repositories that were searched. The answer has the stamps of only some of them.
    #[serde(default)]
    pub num_searched: usize,
    /// Number of chunks in the requested repositories if no filter is applied.
    pub num_chunks: u64,
    pub without: Vec<WithoutRestriction>,
    #[serde(default)]
    pub suggestions: Vec<SuggestionReport>,
    pub related_modules: Vec<RelatedModuleReport>,
    /// The most similar chunks. These chunks are not similar enough to be results.
    #[serde(default)]
    pub weak_matches: Vec<WeakMatchReport>,
}

/// A suggested question that has results.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SuggestionReport {
    pub query: String,
    /// `near_name`, `near_word`, `synonym` or `partial_match`.
    pub kind: String,
    pub reason: String,
    /// Number of definitions of a name, or of chunks that contain a word.
    pub num_matches: u64,
    /// If false, there are at least `num_matches` matches.
    #[serde(default = "super::exact")]
    pub is_exact: bool,
}

/// The location of a weak match: a chunk that is similar to the question, but not similar enough to be a
/// result.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WeakMatchReport {
    pub repository: String,
    pub path: String,
    pub start_line: u32,
    pub end_line: u32,
    pub symbol: Option<String>,
}

/// The number of chunks that match if one restriction is removed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WithoutRestriction {
    pub restriction: String,
    pub num_chunks: u64,
}

/// A module whose code is similar to the question.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RelatedModuleReport {
    pub repository: String,
    pub module: String,
    pub num_results: usize,
    #[serde(default)]
    pub reason: String,
}

impl EmptyReport {
    pub(super) fn of(nothing: &NothingFound) -> Self {
        let without = nothing.without.iter().map(|(restriction, num_chunks)| WithoutRestriction {
            restriction: restriction.as_str().to_owned(),
            num_chunks: *num_chunks,
        });
        let modules = nothing.modules.iter().map(|module| RelatedModuleReport {
            repository: module.repository.clone(),
            module: module.module.clone(),
            num_results: module.num_results,
            reason: module.reason.clone(),
        });
        Self {
            statement: nothing.statement.clone(),
            missing_words: nothing.missing_words.clone(),
            not_indexed: nothing.not_indexed.clone(),
            num_not_indexed: nothing.num_not_indexed,
            num_searched: nothing.num_searched,
            num_chunks: nothing.num_chunks,
            without: without.collect(),
            suggestions: nothing.suggestions.iter().map(SuggestionReport::of).collect(),
            related_modules: modules.collect(),
            weak_matches: nothing.weak_matches.iter().map(WeakMatchReport::of).collect(),
        }
    }

    /// The line that names the repositories that are not indexed. `shown` makes a name safe for the output.
    pub fn not_indexed_line(&self, shown: impl Fn(&str) -> String) -> Option<String> {
        let names: Vec<String> = self.not_indexed.iter().map(|name| shown(name)).collect();
        let line = match (names.join(", "), self.num_not_indexed.saturating_sub(names.len())) {
            (names, 0) => (!names.is_empty()).then_some(names),
            (names, num_more) if names.is_empty() => Some(format!("{num_more} of the repositories")),
            (names, num_more) => Some(format!("{names} and {num_more} more")),
        };
        line.map(|line| format!("not indexed yet: {line}"))
    }
}

impl SuggestionReport {
    fn of(suggested: &SuggestedQuery) -> Self {
        Self {
            query: suggested.query.clone(),
            kind: suggested.kind.as_str().to_owned(),
            reason: suggested.reason(),
            num_matches: suggested.num_matches,
            is_exact: suggested.is_exact,
        }
    }
}

impl WeakMatchReport {
    fn of(weak: &WeakMatch) -> Self {
        Self {
            repository: weak.repository.clone(),
            path: weak.path.clone(),
            start_line: weak.span.start,
            end_line: weak.span.end,
            symbol: weak.symbol.clone(),
        }
    }
}
