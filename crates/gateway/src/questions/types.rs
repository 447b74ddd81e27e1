//! What can be asked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether test code is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WantTests {
    #[default]
    Include,
    Exclude,
    Only,
}

fn search_limit() -> usize {
    10
}

fn search_tokens() -> usize {
    8_000
}

fn read_tokens() -> usize {
    200_000
}

fn edge_limit() -> usize {
    50
}

fn run_limit() -> usize {
    20
}

fn seed() -> u64 {
    1
}

/// Finds code and documents by words, meaning and names.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchQuestion {
    pub query: String,
    /// Names or globs; none: all.
    #[serde(default)]
    pub repositories: Vec<String>,
    #[serde(default)]
    pub languages: Vec<String>,
    /// Globs on the path.
    #[serde(default)]
    pub paths: Vec<String>,
    /// Module prefixes.
    #[serde(default)]
    pub modules: Vec<String>,
    #[serde(default)]
    pub kinds: Vec<String>,
    #[serde(default)]
    pub tests: WantTests,
    /// All of them must be there.
    #[serde(default)]
    pub tags: Vec<String>,
    /// A day (2026-01-31), or how long ago (36h, 7d, 2w).
    #[serde(default)]
    pub since: Option<String>,
    /// Results, at most 100.
    #[serde(default = "search_limit")]
    pub limit: usize,
    #[serde(default = "search_tokens")]
    pub max_tokens: usize,
    /// The next page of an earlier answer.
    #[serde(default)]
    pub cursor: Option<String>,
    /// Say what each score is made of.
    #[serde(default)]
    pub explain: bool,
}

/// Reads a file, lines of it, or a symbol's definition.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadQuestion {
    #[serde(default)]
    pub repository: Option<String>,
    #[serde(default)]
    pub path: Option<String>,
    #[serde(default)]
    pub symbol: Option<String>,
    #[serde(default)]
    pub start_line: Option<u32>,
    #[serde(default)]
    pub end_line: Option<u32>,
    #[serde(default = "read_tokens")]
    pub max_tokens: usize,
}

/// Who calls, uses or extends a symbol or file, and what it calls, uses or extends.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphQuestion {
    /// Symbol (`name`, `Class.method`) or path of a file.
    pub name: String,
    /// callers, callees, dependencies, dependents or inheritance.
    pub relation: String,
    #[serde(default)]
    pub repositories: Vec<String>,
    /// Edges, at most 500.
    #[serde(default = "edge_limit")]
    pub limit: usize,
}

/// Draws edges at random, for review.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SampleQuestion {
    /// exact, import, heuristic or ambiguous.
    pub class: String,
    #[serde(default)]
    pub kinds: Vec<String>,
    #[serde(default = "seed")]
    pub seed: u64,
    /// Edges, at most 500.
    #[serde(default = "run_limit")]
    pub count: usize,
    #[serde(default)]
    pub repositories: Vec<String>,
}

/// Recurring shapes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PatternsQuestion {
    /// Only patterns whose name contains this.
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default)]
    pub repositories: Vec<String>,
    /// Entries to leave out at the beginning: `next_offset` of the answer before.
    #[serde(default)]
    pub offset: usize,
    /// Entries; a service gives at most 10,000, which is the default.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// Index runs, newest first; or one of them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunsQuestion {
    #[serde(default)]
    pub repository: Option<String>,
    /// Show this run, with its result.
    #[serde(default)]
    pub run_id: Option<String>,
    /// Runs, at most 500.
    #[serde(default = "run_limit")]
    pub limit: usize,
}

/// Ends unfinished runs: one, those of a repository, or all.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelQuestion {
    #[serde(default)]
    pub repository: Option<String>,
    #[serde(default)]
    pub run_id: Option<String>,
}

/// Every path of a repository with what became of it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoverageQuestion {
    /// Not needed if there is only one.
    #[serde(default)]
    pub repository: Option<String>,
    /// Why this path is, or is not, in the index.
    #[serde(default)]
    pub why: Option<String>,
    /// Only counts.
    #[serde(default)]
    pub summary: bool,
    /// Entries to leave out at the beginning: `next_offset` of the answer before.
    #[serde(default)]
    pub offset: usize,
    /// Entries; a service gives at most 10,000, which is the default.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// Secrets that were redacted: path, line and rule, never the value.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretsQuestion {
    /// Not needed if there is only one.
    #[serde(default)]
    pub repository: Option<String>,
    /// Entries to leave out at the beginning: `next_offset` of the answer before.
    #[serde(default)]
    pub offset: usize,
    /// Entries; a service gives at most 10,000, which is the default.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// Repositories, sorted by name.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepositoriesQuestion {
    /// Entries to leave out at the beginning: `next_offset` of the answer before.
    #[serde(default)]
    pub offset: usize,
    /// Entries; a service gives at most 10,000, which is the default.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// A digest of everything readers can see.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FingerprintQuestion {
    #[serde(default)]
    pub repositories: Vec<String>,
}

/// A question without arguments.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Brings a repository up to date; answers at once, while the run goes on.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IndexQuestion {
    /// Name of a repository, or its URL.
    pub target: String,
    #[serde(default)]
    pub include_patterns: Vec<String>,
    #[serde(default)]
    pub exclude_patterns: Vec<String>,
    /// Bytes; 0 is the hard cap.
    #[serde(default)]
    pub max_file_size: Option<u64>,
    #[serde(default)]
    pub changed_files: Vec<String>,
}

/// How a request stands that a call to index was answered with.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgressQuestion {
    /// As the answer to the call has it.
    pub repository: String,
    pub request: u64,
    #[serde(default)]
    pub previous_run_id: Option<String>,
}

/// How to work with the index: a topic, or what topics there are.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuideQuestion {
    #[serde(default)]
    pub topic: Option<String>,
}

/// Any question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Question {
    Search(SearchQuestion),
    Read(ReadQuestion),
    Graph(GraphQuestion),
    Sample(SampleQuestion),
    Patterns(PatternsQuestion),
    Repositories(RepositoriesQuestion),
    Status(Nothing),
    Stats(Nothing),
    Runs(RunsQuestion),
    Cancel(CancelQuestion),
    Coverage(CoverageQuestion),
    Secrets(SecretsQuestion),
    Fingerprint(FingerprintQuestion),
    Index(IndexQuestion),
    Progress(ProgressQuestion),
    Guide(GuideQuestion),
}

impl Question {
    /// The list of the answer that may come in parts, by its name, and where the part begins.
    pub fn list(&mut self) -> Option<(&'static str, &mut usize)> {
        match self {
            Question::Repositories(question) => Some(("repositories", &mut question.offset)),
            Question::Patterns(question) => Some(("patterns", &mut question.offset)),
            Question::Secrets(question) => Some(("findings", &mut question.offset)),
            Question::Coverage(question) => Some(("entries", &mut question.offset)),
            _ => None,
        }
    }
}

/// Lists each question with its route and whether it may take long, and derives from that list what must agree.
macro_rules! questions {
    ($($variant:ident($arguments:ty) at $path:literal $pace:ident,)+) => {
        impl Question {
            /// The routes, each taken by POST with the question as JSON.
            pub const PATHS: &'static [&'static str] = &[$($path),+];

            pub fn path(&self) -> &'static str {
                match self { $(Question::$variant(_) => $path),+ }
            }

            /// The question as it is sent.
            pub fn body(&self) -> serde_json::Value {
                match self { $(Question::$variant(arguments) => serde_json::json!(arguments)),+ }
            }

            /// Reads what was sent to a route; none if there is no such route.
            pub fn parse(path: &str, body: &[u8]) -> Option<Result<Self, serde_json::Error>> {
                match path { $($path => Some(serde_json::from_slice(body).map(Question::$variant)),)+ _ => None }
            }

            /// Reads everything that is stored: it has more time than the others.
            pub fn is_long(&self) -> bool {
                match self { $(Question::$variant(_) => stringify!($pace) == "long"),+ }
            }

            /// The JSON schema of what each route takes.
            pub fn schemas() -> Vec<(&'static str, schemars::Schema)> {
                vec![$(($path, schemars::schema_for!($arguments))),+]
            }
        }
    };
}

questions! {
    Search(SearchQuestion) at "/v1/search" short,
    Read(ReadQuestion) at "/v1/read" short,
    Graph(GraphQuestion) at "/v1/graph" short,
    Sample(SampleQuestion) at "/v1/graph/sample" long,
    Patterns(PatternsQuestion) at "/v1/patterns" short,
    Repositories(RepositoriesQuestion) at "/v1/repositories" short,
    Status(Nothing) at "/v1/status" short,
    Stats(Nothing) at "/v1/stats" short,
    Runs(RunsQuestion) at "/v1/runs" short,
    Cancel(CancelQuestion) at "/v1/runs/cancel" short,
    Coverage(CoverageQuestion) at "/v1/coverage" short,
    Secrets(SecretsQuestion) at "/v1/secrets" long,
    Fingerprint(FingerprintQuestion) at "/v1/fingerprint" long,
    Index(IndexQuestion) at "/v1/index" short,
    Progress(ProgressQuestion) at "/v1/index/progress" short,
    Guide(GuideQuestion) at "/v1/guide" short,
}
