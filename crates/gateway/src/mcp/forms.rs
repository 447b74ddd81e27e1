//! The two forms of a call: a tool with arguments, and a question with fields. The table assigns each
//! argument of a tool to a field of a question.

use rmcp::model::JsonObject;
use serde_json::{Map, Value};

use super::arguments::Arguments;
use super::tools::{Kind, ToolSpec};
use crate::questions::Question;

/// One form of a tool's calls, with the question to which calls of this form are converted.
struct Form {
    tool: &'static str,
    path: &'static str,
    /// Each argument of the tool, with the corresponding field of the question.
    fields: &'static [(&'static str, &'static str)],
}

const SEARCH: Form = Form {
    tool: "search_code",
    path: "/v1/search",
    fields: &[
        ("query", "query"),
        ("repository", "repositories"),
        ("path", "paths"),
        ("language", "languages"),
        ("kind", "kinds"),
        ("target_type", "target_type"),
        ("context_path", "context_path"),
        ("fuzzy_filename", "fuzzy_filename"),
        ("filename_only", "filename_only"),
        ("module", "modules"),
        ("tag", "tags"),
        ("tests", "tests"),
        ("since", "since"),
        ("query_type", "query_type"),
        ("limit", "limit"),
        ("max_tokens", "max_tokens"),
        ("cursor", "cursor"),
        ("explain", "explain"),
    ],
};

const GREP: Form = Form {
    tool: "search_code",
    path: "/v1/grep",
    fields: &[
        ("query", "query"),
        ("mode", "mode"),
        ("ignore_case", "ignore_case"),
        ("whole_word", "whole_word"),
        ("multiline", "multiline"),
        ("context", "before"),
        ("context", "after"),
        ("repository", "repositories"),
        ("path", "paths"),
        ("language", "languages"),
        ("tests", "tests"),
        ("limit", "limit"),
        ("max_tokens", "max_tokens"),
        ("cursor", "cursor"),
    ],
};

const READ: Form = Form {
    tool: "read_code",
    path: "/v1/read",
    fields: &[
        ("target", "target"),
        ("path", "path"),
        ("symbol", "symbol"),
        ("context_path", "context_path"),
        ("start_line", "start_line"),
        ("end_line", "end_line"),
        ("repository", "repository"),
        ("max_tokens", "max_tokens"),
    ],
};

const GRAPH: Form = Form {
    tool: "analyze_relationship",
    path: "/v1/graph",
    fields: &[
        ("target", "target"),
        ("mode", "mode"),
        ("context_path", "context_path"),
        ("repository", "repositories"),
        ("limit", "limit"),
    ],
};

const REPOSITORIES: Form = Form {
    tool: "list_repositories",
    path: "/v1/repositories",
    fields: &[("name", "name"), ("limit", "limit"), ("offset", "offset")],
};

const RUNS: Form = Form {
    tool: "index_status",
    path: "/v1/runs",
    fields: &[("repository", "repository"), ("run_id", "run_id"), ("limit", "limit")],
};

const COVERAGE: Form = Form {
    tool: "index_status",
    path: "/v1/coverage",
    fields: &[
        ("repository", "repository"),
        ("path", "why"),
        ("outcome", "outcome"),
        ("limit", "limit"),
        ("offset", "offset"),
    ],
};

/// The state of the whole index: a status call without arguments.
const STATUS: Form = Form { tool: "index_status", path: "/v1/status", fields: &[] };

const INDEX: Form = Form {
    tool: "index_repository",
    path: "/v1/index",
    fields: &[
        ("path", "target"),
        ("include_patterns", "include_patterns"),
        ("exclude_patterns", "exclude_patterns"),
        ("max_file_size", "max_file_size"),
        ("changed_files", "changed_files"),
    ],
};

const GUIDE: Form = Form { tool: "workflow_guide", path: "/v1/guide", fields: &[("topic", "topic")] };

/// All forms. If a tool has several forms, the first form that fits is used.
const FORMS: [Form; 10] = [GREP, SEARCH, READ, GRAPH, REPOSITORIES, RUNS, STATUS, COVERAGE, INDEX, GUIDE];

impl Form {
    /// Whether a call with these arguments is converted to the question of this form.
    fn fits(&self, arguments: &JsonObject) -> bool {
        match self.path {
            "/v1/grep" => arguments.contains_key("mode"),
            "/v1/runs" => arguments.contains_key("run_id"),
            "/v1/status" => arguments.is_empty(),
            _ => true,
        }
    }
}

/// The question that has the same effect as a tool call that a guide shows. The call may use any accepted
/// name of an argument, for example an alias. None if the call is invalid, or if no question expresses it.
pub fn question_of_call(tool: &str, arguments: JsonObject) -> Option<Question> {
    let tool = ToolSpec::find(tool)?;
    question_of(tool.name, Arguments::read(tool, arguments).ok()?.given())
}

/// The question that has the same effect as a tool call. None for calls that no question expresses, such as a
/// cancellation.
pub(super) fn question_of(tool: &str, arguments: &JsonObject) -> Option<Question> {
    let form = FORMS.iter().find(|form| form.tool == tool && form.fits(arguments))?;
    let mut body = Map::new();
    for (name, value) in arguments {
        let fields: Vec<&str> =
            form.fields.iter().filter(|(argument, _)| argument == name).map(|(_, field)| *field).collect();
        if fields.is_empty() {
            return None;
        }
        fields.into_iter().for_each(|field| drop(body.insert(field.to_owned(), value.clone())));
    }
    if form.path == COVERAGE.path && !body.contains_key("why") && !body.contains_key("outcome") {
        body.insert("summary".to_owned(), Value::Bool(true));
    }
    Question::parse(form.path, Value::Object(body).to_string().as_bytes())?.ok()
}

/// The tool call that has the same effect as a question. Numbers outside the range that the tool accepts are
/// omitted, except in the field `wrong_field`. `None` for questions without a tool.
pub(super) fn call_of(question: &Question, wrong_field: Option<&str>) -> Option<(&'static str, JsonObject)> {
    let form = FORMS.iter().find(|form| form.path == question.path())?;
    let tool = ToolSpec::find(form.tool)?;
    let body = question.short_body();
    let mut arguments = Map::new();
    // Two fields may belong to one argument. `wrong_field` is last, so the argument gets the value of this
    // field.
    let is_wrong = |field: &str| wrong_field == Some(field);
    let mut fields = form.fields.to_vec();
    fields.sort_by_key(|(_, field)| is_wrong(field));
    for (argument, field) in fields {
        let Some(value) = body.get(field) else { continue };
        let kind = &tool.parameter(argument)?.kind;
        let fits = match (kind, value.as_u64()) {
            (Kind::Number { min, max }, Some(number)) => (*min..=*max).contains(&number),
            _ => true,
        };
        if fits || is_wrong(field) {
            arguments.insert(argument.to_owned(), value.clone());
        }
    }
    // The short body omits the mode of an exact search if it is the default, but a tool call without a mode
    // is not an exact search.
    if form.path == GREP.path {
        arguments.insert("mode".to_owned(), question.body().get("mode")?.clone());
    }
    Some((form.tool, arguments))
}

/// The field of a question that corresponds to a tool argument. `name` is the name of the argument, or a
/// wrong name that clients often use for it.
pub(crate) fn field_of(path: &str, name: &str) -> Option<&'static str> {
    let form = FORMS.iter().find(|form| form.path == path)?;
    let tool = ToolSpec::find(form.tool)?;
    let folded = cairn_ranking::fold_style(name);
    let means = |parameter: &&super::tools::Parameter| {
        let others = parameter.also.iter().chain(&parameter.alias).chain(std::iter::once(&parameter.name));
        others.into_iter().any(|other| cairn_ranking::fold_style(other) == folded)
    };
    let meant = tool.parameters.iter().find(means)?;
    form.fields.iter().find(|(argument, _)| *argument == meant.name).map(|(_, field)| *field)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> JsonObject {
        match value {
            Value::Object(object) => object,
            other => panic!("{other} is not an object"),
        }
    }

    #[test]
    fn forms_name_existing_arguments_and_fields() {
        for form in &FORMS {
            let tool = ToolSpec::find(form.tool).expect("a tool");
            let schemas = Question::schemas();
            let schema = schemas.iter().find(|route| route.path == form.path).expect("a route");
            let fields = schema.question.get("properties").and_then(Value::as_object);
            let fields = fields.cloned().unwrap_or_default();
            for (argument, field) in form.fields {
                assert!(tool.parameter(argument).is_some(), "{argument} of {}", form.tool);
                assert!(fields.contains_key(*field), "{field} of {}", form.path);
            }
        }
    }

    #[test]
    fn calls_and_questions_are_converted_both_ways() {
        let check = |tool: &str, arguments: Value, path: &str, body: Value| {
            let question = question_of(tool, &object(arguments.clone())).expect("a question");
            assert_eq!((question.path(), Value::Object(question.short_body())), (path, body));
            let (back, found) = call_of(&question, None).expect("a call");
            assert_eq!((back, Value::Object(found)), (tool, arguments));
        };
        let search = json!({"query": "x", "repository": ["a"], "tests": "only", "limit": 3});
        let body = json!({"query": "x", "repositories": ["a"], "tests": "only", "limit": 3});
        check("search_code", search, "/v1/search", body);
        let exact = json!({"query": "x", "mode": "text", "context": 2});
        check("search_code", exact, "/v1/grep", json!({"query": "x", "before": 2, "after": 2}));
        check("read_code", json!({"target": "a.rs"}), "/v1/read", json!({"target": "a.rs"}));
        let relation = json!({"target": "f", "mode": "callers"});
        check("analyze_relationship", relation.clone(), "/v1/graph", relation);
        check("list_repositories", json!({}), "/v1/repositories", json!({}));
        check("index_status", json!({"run_id": "r1"}), "/v1/runs", json!({"run_id": "r1"}));
        check("index_status", json!({}), "/v1/status", json!({}));
        let why = json!({"repository": "a", "why": "x.py"});
        check("index_status", json!({"repository": "a", "path": "x.py"}), "/v1/coverage", why);
        let summary = json!({"repository": "a", "summary": true});
        check("index_status", json!({"repository": "a"}), "/v1/coverage", summary);
        check("index_repository", json!({"path": "/x"}), "/v1/index", json!({"target": "/x"}));
        check("workflow_guide", json!({"topic": "recovering"}), "/v1/guide", json!({"topic": "recovering"}));
    }

    #[test]
    fn numbers_outside_of_the_range_of_a_tool_are_omitted() {
        let body = json!({"query": "x", "limit": 1000, "max_tokens": 100_000});
        let question = Question::parse("/v1/grep", body.to_string().as_bytes()).expect("a route").expect("valid");
        let arguments = |wrong| Value::Object(call_of(&question, wrong).expect("a call").1);
        assert_eq!(arguments(None), json!({"query": "x", "mode": "text"}));
        assert_eq!(arguments(Some("limit")), json!({"query": "x", "mode": "text", "limit": 1000}));
        let body = json!({"query": "x", "before": 99, "after": 3});
        let question = Question::parse("/v1/grep", body.to_string().as_bytes()).expect("a route").expect("valid");
        let arguments = |wrong| Value::Object(call_of(&question, wrong).expect("a call").1);
        assert_eq!(arguments(Some("before")), json!({"query": "x", "mode": "text", "context": 99}));
        assert_eq!(arguments(Some("after")), json!({"query": "x", "mode": "text", "context": 3}));
    }

    #[test]
    fn field_names_of_other_interfaces_are_recognised() {
        let check = |path: &str, name: &str, expect| assert_eq!(field_of(path, name), expect, "{name}");
        check("/v1/search", "repository", Some("repositories"));
        check("/v1/search", "repo", Some("repositories"));
        check("/v1/search", "q", Some("query"));
        check("/v1/search", "top_k", Some("limit"));
        check("/v1/coverage", "path", Some("why"));
        check("/v1/read", "filePath", Some("path"));
        check("/v1/search", "wibble", None);
        check("/v1/secrets", "repo", None);
    }
}
