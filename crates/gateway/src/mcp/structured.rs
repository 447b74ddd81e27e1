//! The structured content of tools, and its schemas.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::answers::{
    Cancellation, CoverageReport, GrepFile, IndexProgress, LastSync, ModuleReport, PathExplanation, PendingSync,
    Priority, PublishedReport, RepositorySummary, RepositorySync, RunDetails, RunReport, SearchResults, SourceStamp,
    SuggestedCall, schema_of,
};

/// The answer of a tool, and the calls that may follow it.
#[derive(Serialize, JsonSchema)]
pub(super) struct Structured<T> {
    #[serde(flatten)]
    pub answer: T,
    #[serde(flatten)]
    pub extras: Extras,
}

/// Fields that every tool may add to its answer.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct Extras {
    /// The call that returns the omitted part of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_call: Option<FollowingCall>,
    /// Calls that may find more. Set only if the answer has no results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_suggestions: Vec<ToolSuggestion>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_action_hint: Option<String>,
    /// Something that the service did for this call, such as indexing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// A suggested call of a tool.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ToolSuggestion {
    pub tool: String,
    pub reason: String,
    pub arguments: JsonObject,
    pub priority: Option<Priority>,
}

impl From<SuggestedCall> for ToolSuggestion {
    fn from(call: SuggestedCall) -> Self {
        let SuggestedCall { tool, reason, arguments, priority, .. } = call;
        Self { tool, reason, arguments, priority }
    }
}

/// A complete call: a tool and all arguments.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FollowingCall {
    pub tool: &'static str,
    pub arguments: JsonObject,
}

/// The fields of both kinds of answer of `search_code`: chunks, or, if the call has a `mode`, lines. The two
/// kinds share several fields, so one object with all fields has a shorter schema than two objects.
#[derive(Serialize, JsonSchema)]
pub(super) struct SearchToolAnswer {
    #[serde(flatten)]
    pub chunks: SearchResults,
    pub matching_files: Vec<GrepFile>,
    pub num_files: usize,
    pub is_exact: bool,
    pub is_shortened: bool,
}

/// The answer of `list_repositories`.
#[derive(Serialize, JsonSchema)]
pub(super) struct RepositoryPage {
    pub repositories: Vec<RepositorySummary>,
    /// Total number of repositories that match the request, on all pages.
    pub num_repositories: usize,
}

/// The answer of `index_status`.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum StatusAnswer {
    Path(PathExplanation),
    Paths(OutcomePaths),
    Repository(Box<RepositoryStatus>),
    Run(Box<RunDetails>),
    Overview(Overview),
}

/// The paths of a repository that have the given outcome.
#[derive(Serialize, JsonSchema)]
pub(super) struct OutcomePaths {
    pub repository: String,
    pub outcome: String,
    pub num_paths: usize,
    pub paths: Vec<String>,
}

/// The state of one repository.
#[derive(Serialize, JsonSchema)]
pub(super) struct RepositoryStatus {
    #[serde(flatten)]
    pub coverage: CoverageReport,
    pub modules: Vec<ModuleReport>,
    pub published: Option<PublishedReport>,
    pub last_sync: Option<LastSync>,
    pub pending_sync: Option<PendingSync>,
    pub runs: Vec<RunReport>,
}

/// The state of all repositories.
#[derive(Serialize, JsonSchema)]
pub(super) struct Overview {
    pub num_repositories: usize,
    pub num_indexed: usize,
    pub num_unsettled: usize,
    pub syncs: Vec<RepositorySync>,
    pub runs: Vec<RunReport>,
}

/// The fields of both kinds of answer of `index_repository`: the state of a repository, or the cancelled
/// runs. All fields are in one object, because the schema then lists the fields as properties, which clients
/// can read.
#[derive(Default, Serialize, JsonSchema)]
pub(super) struct IndexAnswer {
    #[serde(flatten)]
    pub indexed: Option<IndexedRepository>,
    #[serde(flatten)]
    pub cancelled: Option<Cancellation>,
}

impl IndexAnswer {
    pub(super) fn indexed(indexed: IndexedRepository) -> Self {
        Self { indexed: Some(indexed), cancelled: None }
    }

    pub(super) fn cancelled(cancelled: Cancellation) -> Self {
        Self { indexed: None, cancelled: Some(cancelled) }
    }
}

/// The state of a repository after a call to index it.
#[derive(Serialize, JsonSchema)]
pub(super) struct IndexedRepository {
    #[serde(flatten)]
    pub progress: IndexProgress,
    pub sources: Vec<SourceStamp>,
}

/// The schema of a tool's structured content, including the fields that every tool may add.
pub(super) fn output_schema<T: JsonSchema>() -> JsonObject {
    short_schema::<Structured<T>>()
}

/// The schema of a tool's structured content, without the fields that every tool may add.
pub(super) fn plain_output_schema<T: JsonSchema>() -> JsonObject {
    short_schema::<T>()
}

/// Types whose fields the tool schemas omit. These types have many fields, and few clients need the fields.
/// The OpenAPI document describes the fields of these types.
const OMITTED: [&str; 18] = [
    "/$defs/RunResult",
    "/$defs/SuggestedCall",
    "/$defs/QueryReport",
    "/$defs/Explanation",
    "/$defs/NameReport",
    "/$defs/NameMatchReport",
    "/$defs/FileReport",
    "/$defs/TextPlace",
    "/$defs/SymbolPlace",
    "/$defs/EdgeSite",
    "/$defs/EmptyReport",
    "/$defs/GrepFile",
    "/$defs/ModuleReport",
    "/$defs/SourceStamp",
    "/$defs/PartRetry",
    "/$defs/LastSync",
    "/$defs/PendingSync",
    "/$defs/RepositorySync",
];

/// Clients may put the schemas of all tools into the context of a model, so the schemas contain only names
/// and types. Lists of required fields are omitted for the same reason: they would repeat the names of the
/// fields.
fn short_schema<T: JsonSchema>() -> JsonObject {
    let mut schema = bare(schema_of::<T>().to_value());
    for omitted in OMITTED {
        if let Some(definition) = schema.pointer_mut(omitted) {
            *definition = json!({ "type": "object" });
        }
    }
    inline_definitions(&mut schema);
    let mut schema = match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    schema.insert("type".to_owned(), json!("object"));
    schema
}

/// A schema without explanations and without lists of required fields.
fn bare(schema: Value) -> Value {
    const LEFT_OUT: [&str; 7] = ["$schema", "title", "description", "default", "format", "minimum", "required"];
    match schema {
        Value::Object(fields) => {
            let is_reference = fields.contains_key("$ref");
            let fields = fields.into_iter().filter(|(name, value)| {
                if is_reference {
                    return name == "$ref";
                }
                // A property may have the same name as a keyword in `LEFT_OUT`. The value of a property is an
                // object, but the value of such a keyword is not. Therefore objects are kept.
                let is_open = name == "additionalProperties" && *value == Value::Bool(true);
                // Only the format `date-time` is kept. The format of a number, such as `uint32`, describes
                // only its size in memory.
                value.is_object() || *value == "date-time" || !(is_open || LEFT_OUT.contains(&name.as_str()))
            });
            Value::Object(fields.map(|(name, value)| (name, bare(value))).collect())
        }
        Value::Array(items) => items.into_iter().map(bare).collect(),
        other => other,
    }
}

/// Inlines each definition that is referenced only once: the definition replaces the reference.
fn inline_definitions(schema: &mut Value) {
    let Some(Value::Object(mut kept)) = schema.as_object_mut().and_then(|fields| fields.remove("$defs")) else {
        return;
    };
    loop {
        let text = format!("{schema}{}", Value::Object(kept.clone()));
        let is_rare = |name: &&String| text.matches(&format!("\"#/$defs/{name}\"")).count() <= 1;
        let Some(name) = kept.keys().find(is_rare).cloned() else { break };
        let definition = kept.remove(&name).unwrap_or_default();
        let reference = json!({ "$ref": format!("#/$defs/{name}") });
        replace(schema, &reference, &definition);
        kept.values_mut().for_each(|other| replace(other, &reference, &definition));
    }
    if let (Some(fields), false) = (schema.as_object_mut(), kept.is_empty()) {
        fields.insert("$defs".to_owned(), Value::Object(kept));
    }
}

fn replace(within: &mut Value, reference: &Value, definition: &Value) {
    if within == reference {
        *within = definition.clone();
        return;
    }
    match within {
        Value::Object(fields) => fields.values_mut().for_each(|value| replace(value, reference, definition)),
        Value::Array(items) => items.iter_mut().for_each(|value| replace(value, reference, definition)),
        _ => {}
    }
}
