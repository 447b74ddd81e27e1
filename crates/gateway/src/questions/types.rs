//! The types of the questions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether test code is included.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WantTests {
    #[default]
    Include,
    Exclude,
    Only,
}

fn search_tokens() -> usize {
    8_000
}

fn grep_limit() -> usize {
    GrepQuestion::DEFAULT_LIMIT
}

fn grep_tokens() -> usize {
    20_000
}

fn yes() -> bool {
    true
}

fn read_tokens() -> usize {
    200_000
}

fn edge_limit() -> usize {
    GraphQuestion::DEFAULT_LIMIT
}

fn edge_count() -> usize {
    20
}

fn run_limit() -> usize {
    RunsQuestion::DEFAULT_LIMIT
}

fn seed() -> u64 {
    1
}

/// Finds code and documents by words, meaning and names.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchQuestion {
    /// The text to look for. The name `target` is also accepted.
    #[serde(alias = "target")]
    pub query: String,
    /// Names or globs; an empty list selects all repositories.
    #[serde(default)]
    pub repositories: Vec<String>,
    #[serde(default)]
    pub languages: Vec<String>,
    /// Files, folders (all files below them) or globs. A file name or glob without `/` matches in any folder.
    #[serde(default)]
    pub paths: Vec<String>,
    /// Module prefixes.
    #[serde(default)]
    pub modules: Vec<String>,
    #[serde(default)]
    pub kinds: Vec<String>,
    #[serde(default)]
    pub tests: WantTests,
    /// Only chunks that have all these tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Only code that changed since a day (2026-01-31) or within an age (36h, 7d, 2w).
    #[serde(default)]
    pub since: Option<String>,
    /// `symbol`, `relationship`, `flow`, `pattern` or `concept`. By default, the words of the question
    /// decide.
    #[serde(default)]
    pub query_type: Option<String>,
    /// Number of results, at most 100. Default: 10; 20 for relationships, 15 for flows, 5 for patterns.
    #[serde(default)]
    pub limit: Option<usize>,
    #[serde(default = "search_tokens")]
    pub max_tokens: usize,
    /// The cursor of an earlier answer, to read its next page.
    #[serde(default)]
    pub cursor: Option<String>,
    /// Explain each score.
    #[serde(default)]
    pub explain: bool,
    /// auto, symbol, file, directory or filename. The name `type` is also accepted.
    #[serde(default, alias = "type")]
    pub target_type: Option<String>,
    /// A path near the wanted code. Files and definitions near this path come first.
    #[serde(default)]
    pub context_path: Option<String>,
    /// Whether files with similar names are also found.
    #[serde(default = "yes")]
    pub fuzzy_filename: bool,
    /// Compare the name only with the last part of each path.
    #[serde(default)]
    pub filename_only: bool,
}

/// The way in which the query of an exact search is interpreted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GrepMode {
    /// The query is a literal text.
    #[default]
    Text,
    /// The query is a regular expression.
    Regex,
}

/// Finds the lines that contain a text or match a regular expression, in the order of repository, path and
/// line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrepQuestion {
    #[serde(alias = "target")]
    pub query: String,
    #[serde(default)]
    pub mode: GrepMode,
    #[serde(default)]
    pub ignore_case: bool,
    /// Only matches that start and end at the boundaries of words.
    #[serde(default)]
    pub whole_word: bool,
    /// Whether a match may contain line feeds.
    #[serde(default)]
    pub multiline: bool,
    /// Names or globs; an empty list selects all repositories.
    #[serde(default)]
    pub repositories: Vec<String>,
    #[serde(default)]
    pub languages: Vec<String>,
    /// Files, folders (all files below them) or globs. A file name or glob without `/` matches in any folder.
    #[serde(default)]
    pub paths: Vec<String>,
    #[serde(default)]
    pub tests: WantTests,
    /// Number of lines to show before each hit, at most 20.
    #[serde(default)]
    pub before: usize,
    /// Number of lines to show after each hit, at most 20.
    #[serde(default)]
    pub after: usize,
    /// Number of hits, at most 1,000.
    #[serde(default = "grep_limit")]
    pub limit: usize,
    #[serde(default = "grep_tokens")]
    pub max_tokens: usize,
    /// The cursor of an earlier answer, to read its next page.
    #[serde(default)]
    pub cursor: Option<String>,
}

impl GrepQuestion {
    /// The number of hits if the question states no number.
    pub const DEFAULT_LIMIT: usize = 50;
}

/// Reads a file, some lines of a file, or the definition of a symbol.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadQuestion {
    #[serde(default)]
    pub repository: Option<String>,
    /// A path or a symbol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    #[serde(default)]
    pub path: Option<String>,
    /// A name, a qualified name, `path#name`, or a phrase.
    #[serde(default)]
    pub symbol: Option<String>,
    /// If several definitions have the name, the definition nearest to this file is used.
    #[serde(default)]
    pub context_path: Option<String>,
    #[serde(default)]
    pub start_line: Option<u32>,
    #[serde(default)]
    pub end_line: Option<u32>,
    #[serde(default = "read_tokens")]
    pub max_tokens: usize,
}

/// Lists the callers, users and subtypes of a symbol or file, or the code that it calls, uses and extends.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphQuestion {
    /// Symbol (`name`, `Class.method`, `path#name`), file, directory, module or package. The name `name` is
    /// also accepted.
    #[serde(alias = "name")]
    pub target: String,
    /// callers, callees, dependencies, dependents or inheritance. The name `relation` is also accepted.
    #[serde(alias = "relation")]
    pub mode: String,
    /// If several definitions have the name, the definition nearest to this file is used.
    #[serde(default)]
    pub context_path: Option<String>,
    #[serde(default)]
    pub repositories: Vec<String>,
    /// Number of edges, at most 500.
    #[serde(default = "edge_limit")]
    pub limit: usize,
}

impl GraphQuestion {
    /// The number of edges if the question states no number.
    pub const DEFAULT_LIMIT: usize = 50;
}

/// Returns a random sample of edges for review.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SampleQuestion {
    /// exact, import, heuristic or ambiguous.
    pub class: String,
    #[serde(default)]
    pub kinds: Vec<String>,
    #[serde(default = "seed")]
    pub seed: u64,
    /// Number of edges, at most 500.
    #[serde(default = "edge_count")]
    pub count: usize,
    #[serde(default)]
    pub repositories: Vec<String>,
}

/// Lists patterns: shapes that recur in the code.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PatternsQuestion {
    /// Only patterns whose name contains this text.
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default)]
    pub repositories: Vec<String>,
    /// Number of entries before the page: `next_offset` of the previous answer.
    #[serde(default)]
    pub offset: usize,
    /// Number of entries on the page. In a service, the default and the maximum are 10,000.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// Lists the modules of a repository with their descriptions.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModulesQuestion {
    /// Not needed if only one repository exists.
    #[serde(default)]
    pub repository: Option<String>,
    /// Only this module and the modules in it.
    #[serde(default)]
    pub module: Option<String>,
    /// Number of levels, at most 20. The default is 2.
    #[serde(default)]
    pub depth: Option<usize>,
    /// Number of entries before the page: `next_offset` of the previous answer.
    #[serde(default)]
    pub offset: usize,
    /// Number of entries on the page. In a service, the default and the maximum are 1,000.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// Lists index runs, newest first, or shows one run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunsQuestion {
    #[serde(default)]
    pub repository: Option<String>,
    /// Show this run, with its result.
    #[serde(default)]
    pub run_id: Option<String>,
    /// Number of runs, at most 500.
    #[serde(default = "run_limit")]
    pub limit: usize,
}

impl RunsQuestion {
    /// The number of runs if the question states no number.
    pub const DEFAULT_LIMIT: usize = 20;
}

/// Cancels one unfinished run, the unfinished runs of a repository, or all unfinished runs.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelQuestion {
    #[serde(default)]
    pub repository: Option<String>,
    #[serde(default)]
    pub run_id: Option<String>,
}

/// Lists every path of a repository with its outcome.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoverageQuestion {
    /// Not needed if only one repository exists.
    #[serde(default)]
    pub repository: Option<String>,
    /// Explain why this path is, or is not, in the index.
    #[serde(default)]
    pub why: Option<String>,
    /// Only counts.
    #[serde(default)]
    pub summary: bool,
    /// Only paths with this outcome: `skipped(binary)`, `skipped` or `binary`.
    #[serde(default)]
    pub outcome: Option<String>,
    /// Number of entries before the page: `next_offset` of the previous answer.
    #[serde(default)]
    pub offset: usize,
    /// Number of entries on the page. In a service, the default and the maximum are 10,000.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// Lists redacted secrets by path, line and rule, never by value.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretsQuestion {
    /// Not needed if only one repository exists.
    #[serde(default)]
    pub repository: Option<String>,
    /// Number of entries before the page: `next_offset` of the previous answer.
    #[serde(default)]
    pub offset: usize,
    /// Number of entries on the page. In a service, the default and the maximum are 10,000.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// Lists repositories, sorted by name.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepositoriesQuestion {
    /// Only repositories whose name contains this text.
    #[serde(default)]
    pub name: Option<String>,
    /// Number of entries before the page: `next_offset` of the previous answer.
    #[serde(default)]
    pub offset: usize,
    /// Number of entries on the page. In a service, the default and the maximum are 10,000.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// Computes a digest of all records that readers can see.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FingerprintQuestion {
    #[serde(default)]
    pub repositories: Vec<String>,
}

/// A question without fields.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Requests a run that indexes the current state of a repository. Returns at once, before the run ends.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IndexQuestion {
    /// Name of a repository, or its URL. The name `path` is also accepted.
    #[serde(alias = "path")]
    #[schemars(length(min = 1))]
    pub target: String,
    /// Globs, stored with the repository. If absent, the stored patterns are not changed. An empty list
    /// removes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_patterns: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude_patterns: Option<Vec<String>>,
    /// Maximum file size in bytes. If absent, the value in `.cairn.yaml`, the value of the operator or the
    /// default applies. 0 selects the hard cap.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10_485_760))]
    pub max_file_size: Option<i64>,
    #[serde(default)]
    pub changed_files: Vec<String>,
}

/// Returns the progress of a sync request, which an earlier call to index created.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgressQuestion {
    /// The value of `repository` in the answer to the call to index.
    pub repository: String,
    pub request: u64,
    #[serde(default)]
    pub previous_run_id: Option<String>,
}

/// Explains how to work with the index: one topic, or the list of topics.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuideQuestion {
    #[serde(default)]
    pub topic: Option<String>,
}
