//! Answers as typed values. The command line, MCP and HTTP return the same values.
//!
//! Front ends serialise these values, and `cairn --server` deserialises them again. The schemas in the
//! OpenAPI document and in the MCP tools are derived from these types. A field that is added later needs
//! `#[serde(default)]`, because a newer client must be able to read the answers of an older server.

mod code;
mod coverage;
mod empty;
mod error;
mod graph;
mod grep;
mod modules;
mod patterns;
mod query;
mod repositories;
mod resolution;
mod runs;
mod schema;
mod search;
mod search_result;
mod source;
mod syncs;

pub use code::{CodeText, SymbolPlace};
pub use coverage::{
    CoverageAnswer, CoverageReport, FingerprintList, FingerprintReport, KindReport, PathExplanation, PathOutcome,
    SecretList, SecretPlace,
};
pub use empty::{EmptyReport, RelatedModuleReport, WeakMatchReport, WithoutRestriction};
pub use error::{ErrorDetails, ErrorReport, Priority, SuggestedCall, SuggestedRequest};
pub use graph::{EdgeDirection, EdgeReport, EdgeSample, EdgeSite, NodeReport, Relationships, SampledEdgeReport};
pub use grep::{GrepFile, GrepLine, GrepResults};
pub use modules::{ModuleList, ModuleReport};
pub use patterns::{PatternList, PatternMemberReport, PatternReport};
pub use query::QueryReport;
pub use repositories::{
    GuideText, PublishedReport, PublishedSummary, RepositoryList, RepositoryReport, RepositorySummary, Statistics,
    StatusReport,
};
pub use resolution::{NameReport, Resolution};
pub use runs::{
    Cancellation, FailedFile, IndexProgress, IndexedFiles, PartRetry, RequestState, RunDetails, RunList, RunReport,
    RunStateName, RunsAnswer,
};
pub use schema::schema_of;
pub use search::{CutBy, CutReport, FileReport, SearchResults};
pub use search_result::{Explanation, ScoreFactor, ScorePart, SearchResult, ShownDefinition, TextPlace};
pub use source::{PageInfo, SourceStamp, short_commit};
pub use syncs::{LastSync, PendingSync, RepositorySync, sync_note};
pub(crate) use syncs::{sync_failure, sync_note_of, unsettled};

/// The value of `is_exact` in an answer from a server that does not send this field.
fn exact() -> bool {
    true
}
