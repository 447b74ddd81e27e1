//! A page of search results.

use cairn_ranking::Cut;
use cairn_search::{FoundFile, SearchAnswer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::empty::EmptyReport;
use super::query::QueryReport;
use super::resolution::NameReport;
use super::search_result::SearchResult;
use super::source::SourceStamp;

/// One page of search results, best first.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SearchResults {
    /// `symbol`, `relationship`, `flow`, `pattern` or `concept`.
    pub query_type: String,
    /// The reason why the question has this type.
    pub type_reason: String,
    /// The parsed question.
    #[serde(default)]
    pub query: Box<QueryReport>,
    /// Facts about the search, such as restrictions that were found in the words of the question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The facts of `query` as text, one fact per line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reading: Vec<String>,
    /// The names in the question that match no symbol exactly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<NameReport>,
    /// Files and directories whose names match, if the question is the name of a file or asks for a file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileReport>,
    /// True if the files are the results. Then `offset`, `num_results`, `cut` and `next_cursor` refer to the
    /// files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub files_are_results: bool,
    /// False if no indexed code is relevant to the question. Then the answer has no results.
    #[serde(default = "shown")]
    pub relevant: bool,
    pub results: Vec<SearchResult>,
    /// Number of results on the previous pages.
    pub offset: usize,
    /// Number of results on all pages.
    pub num_results: usize,
    /// Set if the page omits results because of a limit.
    pub cut: Option<CutReport>,
    pub next_cursor: Option<String>,
    /// Set if the filters exclude all results.
    pub message: Option<String>,
    pub nothing_found: Option<EmptyReport>,
    /// Two answers with the same version were computed from the same state of the index.
    pub index_version: String,
    pub sources: Vec<SourceStamp>,
}

/// A file or directory whose name matches.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FileReport {
    pub repository: String,
    pub path: String,
    pub is_directory: bool,
    /// 100 for a match of the whole path, 90 for the base name, 80 for the beginning of the path or the base
    /// name, 60 for another part of the path, and less for a similar name.
    pub score: u32,
}

/// The reason why a page does not contain all results.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CutReport {
    pub by: CutBy,
    pub num_left: usize,
}

/// The limit that causes a page to omit results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CutBy {
    Limit,
    MaxTokens,
    Time,
}

/// The value of `relevant` in an answer from a server that does not send this field.
fn shown() -> bool {
    true
}

impl SearchResults {
    pub fn of(answer: SearchAnswer, explain: bool) -> Self {
        Self {
            query_type: answer.query.query_type.to_string(),
            type_reason: answer.query.reason.to_string(),
            query: Box::new(QueryReport::of(&answer.query)),
            notes: answer.notes.iter().map(ToString::to_string).collect(),
            reading: answer.query.explain(),
            names: answer.names.iter().map(NameReport::of).collect(),
            files: answer.files.into_iter().map(FileReport::of).collect(),
            files_are_results: answer.files_are_results,
            relevant: answer.relevance.is_relevant && answer.nothing_found.is_none(),
            results: answer.found.into_iter().map(|found| SearchResult::of(found, explain)).collect(),
            offset: answer.offset,
            num_results: answer.num_results,
            cut: CutReport::of(answer.cut),
            next_cursor: answer.next_cursor,
            message: answer.hidden_by_scope,
            nothing_found: answer.nothing_found.as_ref().map(EmptyReport::of),
            index_version: answer.index_version,
            sources: SourceStamp::all(&answer.stamps),
        }
    }

    /// One line with the type of the question and the reason.
    pub fn type_line(&self) -> String {
        format!("{} question: {}", self.query_type, self.type_reason)
    }
}

impl FileReport {
    fn of(found: FoundFile) -> Self {
        let FoundFile { repository, path, is_directory, score, .. } = found;
        Self { repository, path, is_directory, score }
    }
}

impl CutReport {
    fn of(cut: Cut) -> Option<Self> {
        match cut {
            Cut::Nothing => None,
            Cut::Limit { num_left } => Some(Self { by: CutBy::Limit, num_left }),
            Cut::Tokens { num_left } => Some(Self { by: CutBy::MaxTokens, num_left }),
        }
    }
}
