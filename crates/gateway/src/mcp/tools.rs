//! The tools as data: names, descriptions, parameters and output schemas. Clients see this table, arguments
//! are checked against it, and suggested calls are built from it. The table is constant and never contains
//! indexed text.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::structured::{
    IndexAnswer, RepositoryPage, SearchToolAnswer, StatusAnswer, output_schema, plain_output_schema,
};
use crate::answers::{CodeText, GuideText, Relationships};
use crate::guide::TOPICS;

/// A tool.
#[derive(Debug)]
pub(crate) struct ToolSpec {
    pub name: &'static str,
    pub description: &'static str,
    pub read_only: bool,
    pub parameters: &'static [Parameter],
    /// The schema of the structured content.
    pub output: fn() -> JsonObject,
}

/// A parameter of a tool.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub name: &'static str,
    pub kind: Kind,
    pub required: bool,
    pub description: &'static str,
    /// Wrong names that clients use for this parameter. If a call uses one of these names, the error suggests
    /// this parameter.
    pub also: &'static [&'static str],
    /// A second name that is accepted for this parameter. The schema contains the alias as a separate
    /// property, so that clients that check their calls against the schema accept it. For the same reason,
    /// the schema does not require a parameter that has an alias.
    pub alias: Option<&'static str>,
    /// Whether the schema forbids an empty text.
    pub not_empty: bool,
    /// The default value in the schema, which applies to calls without the parameter.
    pub default: Option<Default>,
}

/// A default value in a schema.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Default {
    Number(u64),
    EmptyList,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Text,
    List,
    Number { min: u64, max: u64 },
    Flag,
    Choice(&'static [&'static str]),
    Choices(&'static [&'static str]),
}

const fn optional(name: &'static str, kind: Kind, description: &'static str) -> Parameter {
    Parameter { name, kind, required: false, description, also: &[], alias: None, not_empty: false, default: None }
}

const fn required(name: &'static str, kind: Kind, description: &'static str) -> Parameter {
    Parameter { required: true, ..optional(name, kind, description) }
}

impl Parameter {
    const fn also(mut self, also: &'static [&'static str]) -> Self {
        self.also = also;
        self
    }

    const fn alias(mut self, alias: &'static str) -> Self {
        self.alias = Some(alias);
        self
    }

    const fn not_empty(mut self) -> Self {
        self.not_empty = true;
        self
    }

    const fn default(mut self, default: Default) -> Self {
        self.default = Some(default);
        self
    }
}

/// The largest value of `max_tokens`.
pub(super) const MOST_TOKENS: usize = 50_000;
pub(crate) const MAX_TOKENS: Kind = Kind::Number { min: 500, max: MOST_TOKENS as u64 };
pub(crate) const CHUNK_KINDS: &[&str] =
    &["function", "method", "class", "group", "summary", "section", "config", "text", "navigation", "pattern"];
pub(crate) const QUERY_TYPES: &[&str] = &["symbol", "relationship", "flow", "pattern", "concept"];
pub(crate) const RELATIONS: &[&str] = &["callers", "callees", "dependencies", "dependents", "inheritance"];

pub(crate) const TARGET_TYPES: &[&str] = &["auto", "symbol", "file", "directory", "filename"];

const CONTEXT_PATH: Parameter = optional("context_path", Kind::Text, "show results near this file first");

const ONE_REPOSITORY: Parameter =
    optional("repository", Kind::Text, "name; default: the repository you work in").also(&["repo", "repositories"]);

pub(crate) const TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "search_code",
        description: "Start here for questions about code. Finds code, documents and files by meaning, words or \
                      names, best first: \"where are retries limited\", `parseDate`, \"how does login work\". \
                      target_type `filename` finds files by name or glob; kind `pattern` finds the usual shape of \
                      similar code. `mode` lists every line with a text or regex, like grep.",
        read_only: true,
        parameters: &[
            required("query", Kind::Text, "what to look for")
                .also(&["q", "text", "search", "search_query", "keywords", "pattern", "question"])
                .alias("target"),
            optional("mode", Kind::Choice(&["text", "regex"]), "exact search").also(&["match", "exact"]),
            optional("ignore_case", Kind::Flag, "").also(&["case_insensitive", "i"]),
            optional("whole_word", Kind::Flag, "").also(&["word", "w"]),
            optional("multiline", Kind::Flag, "matches may span lines").also(&["multi_line"]),
            optional("context", Kind::Number { min: 0, max: 20 }, "lines around hits").also(&["before", "lines"]),
            optional("repository", Kind::List, "names or globs, `all`; default: the repository you work in").also(&[
                "repo",
                "repos",
                "repositories",
                "scope",
            ]),
            optional("path", Kind::List, "file, folder or glob").also(&[
                "paths",
                "glob",
                "file",
                "directory",
                "folder",
            ]),
            optional("language", Kind::List, "e.g. python").also(&["languages", "lang"]),
            optional("kind", Kind::Choices(CHUNK_KINDS), "").also(&["kinds", "types"]),
            optional("target_type", Kind::Choice(TARGET_TYPES), "look for names").also(&["target_kind"]).alias("type"),
            CONTEXT_PATH,
            optional("fuzzy_filename", Kind::Flag, "default true"),
            optional("filename_only", Kind::Flag, "ignore directories"),
            optional("module", Kind::List, "prefix, e.g. app.models").also(&["modules", "package"]),
            optional("tag", Kind::List, "all of them").also(&["tags"]),
            optional("tests", Kind::Choice(&["include", "exclude", "only"]), "").also(&["include_tests"]),
            optional("since", Kind::Text, "changed since YYYY-MM-DD or an age (36h, 7d, 2w)").also(&["after", "date"]),
            optional("query_type", Kind::Choice(QUERY_TYPES), "default: by the words")
                .also(&["question_type", "intent"]),
            optional("limit", Kind::Number { min: 1, max: 100 }, "default 5 to 20, by type").also(&[
                "top_k",
                "n",
                "count",
                "max_results",
            ]),
            optional("max_tokens", MAX_TOKENS, "default 3000").also(&["tokens", "budget"]),
            optional("cursor", Kind::Text, "next page").also(&["page", "offset"]),
            optional("explain", Kind::Flag, "explain scores"),
        ],
        output: output_schema::<SearchToolAnswer>,
    },
    ToolSpec {
        name: "read_code",
        description: "Shows source text when the path or the name is known: a file, lines of it, the list of a \
                      directory, or the definition of a symbol. Give `target`, `path`, `symbol`, or path and symbol. \
                      To find unknown code, use search_code.",
        read_only: true,
        parameters: &[
            optional("target", Kind::Text, "path, file name or symbol").also(&["query", "what"]),
            optional("path", Kind::Text, "relative to the repository's root").also(&["file", "file_path", "filename"]),
            optional("symbol", Kind::Text, "`name`, `Class.method`, `path#name` or a phrase")
                .also(&["name", "function", "class", "method"]),
            CONTEXT_PATH,
            optional("start_line", Kind::Number { min: 1, max: u32::MAX as u64 }, "").also(&["start", "from", "line"]),
            optional("end_line", Kind::Number { min: 1, max: u32::MAX as u64 }, "").also(&["end", "to"]),
            ONE_REPOSITORY,
            optional("max_tokens", MAX_TOKENS, "default 6000").also(&["tokens", "budget"]),
        ],
        output: output_schema::<CodeText>,
    },
    ToolSpec {
        name: "analyze_relationship",
        description: "Follows the code graph from a known symbol or file. mode callers: what calls it; callees: what \
                      it calls; dependents: what uses or imports it, so what a change may break; dependencies: what \
                      it uses or imports; inheritance: base and derived types.",
        read_only: true,
        parameters: &[
            required(
                "target",
                Kind::Text,
                "symbol (`name`, `Class.method`, `path#name`), file, directory, module or package",
            )
            .also(&["symbol", "query", "function", "path", "file"])
            .alias("name"),
            required("mode", Kind::Choice(RELATIONS), "")
                .also(&["relationship", "type", "kind", "relation_type"])
                .alias("relation"),
            CONTEXT_PATH,
            optional("repository", Kind::List, "as in search_code").also(&["repo", "repos", "repositories"]),
            optional("limit", Kind::Number { min: 1, max: 500 }, "default 25").also(&["n", "count", "max_results"]),
        ],
        output: output_schema::<Relationships>,
    },
    ToolSpec {
        name: "list_repositories",
        description: "Lists the indexed repositories with commit, time and size. Use it to find the name of a \
                      repository.",
        read_only: true,
        parameters: &[
            optional("name", Kind::Text, "part of the name").also(&["repository", "filter", "query", "pattern"]),
            optional("limit", Kind::Number { min: 1, max: 200 }, "default 30").also(&["n", "count"]),
            optional("offset", Kind::Number { min: 0, max: 1_000_000 }, "").also(&["page", "cursor", "from"]),
        ],
        output: output_schema::<RepositoryPage>,
    },
    ToolSpec {
        name: "index_status",
        description: "Reports on the index itself, not on code: is it current, how many files are indexed, skipped or \
                      failed, progress and errors of runs. With `path` it explains why that file is or is not \
                      indexed.",
        read_only: true,
        parameters: &[
            ONE_REPOSITORY,
            optional("path", Kind::Text, "explain the outcome of this file").also(&["file", "file_path"]),
            optional("outcome", Kind::Text, "list files with this outcome, e.g. skipped(binary)")
                .also(&["reason", "status"]),
            optional("run_id", Kind::Text, "show this run").also(&["run", "id"]),
            optional("limit", Kind::Number { min: 1, max: 500 }, "default 20").also(&["n", "count"]),
            optional("offset", Kind::Number { min: 0, max: 10_000_000 }, "").also(&["page", "cursor", "from"]),
        ],
        output: output_schema::<StatusAnswer>,
    },
    ToolSpec {
        name: "index_repository",
        description: "Adds a repository (directory or git URL) to the index, or updates it after changes. After \
                      edits, list the files in `changed_files`. Long runs continue after the answer; follow or cancel \
                      them by their run id.",
        read_only: false,
        parameters: &[
            optional("path", Kind::Text, "path, URL or name; default: the repository you work in")
                .also(&["url", "repository", "repo", "name", "path_or_url", "directory"])
                .alias("target")
                .not_empty(),
            optional("include_patterns", Kind::List, "globs; kept for later calls")
                .also(&["include", "includes"])
                .default(Default::EmptyList),
            optional("exclude_patterns", Kind::List, "globs; kept for later calls")
                .also(&["exclude", "excludes"])
                .default(Default::EmptyList),
            optional("max_file_size", Kind::Number { min: 0, max: 10_485_760 }, "bytes")
                .also(&["max_size", "size"])
                .default(Default::Number(1_048_576)),
            optional("changed_files", Kind::List, "paths in the repository").also(&["files", "changed", "file"]),
            optional("cancel_run", Kind::Text, "cancel this run, or all runs of this repository")
                .also(&["cancel", "run_id"]),
        ],
        output: plain_output_schema::<IndexAnswer>,
    },
    ToolSpec {
        name: "workflow_guide",
        description: "Explains how to use these tools: a table of tasks and calls, common mistakes, recovery from \
                      errors. Read it when unsure or stuck. It contains no code.",
        read_only: true,
        parameters: &[optional("topic", Kind::Choice(TOPICS), "").also(&["task", "workflow", "name", "query"])],
        output: plain_output_schema::<GuideText>,
    },
];

impl ToolSpec {
    pub(crate) fn find(name: &str) -> Option<&'static ToolSpec> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    pub(crate) fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    pub(crate) fn to_tool(&self) -> Tool {
        let annotations = ToolAnnotations::new().read_only(self.read_only).open_world(!self.read_only);
        let annotations = if self.read_only { annotations } else { annotations.destructive(false).idempotent(true) };
        let tool = Tool::new(self.name, self.description, Arc::new(self.schema()));
        tool.with_annotations(annotations).with_raw_output_schema(Arc::new((self.output)()))
    }

    fn schema(&self) -> JsonObject {
        let mut properties = Map::new();
        for parameter in self.parameters {
            properties.insert(parameter.name.to_owned(), Value::Object(parameter.schema()));
            if let Some(alias) = parameter.alias {
                let alias_of = json!({ "type": "string", "description": format!("same as `{}`", parameter.name) });
                properties.insert(alias.to_owned(), alias_of);
            }
        }
        let required = self.parameters.iter().filter(|parameter| parameter.required && parameter.alias.is_none());
        let required: Vec<&str> = required.map(|parameter| parameter.name).collect();
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), Value::Object(properties));
        if !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        schema.insert("additionalProperties".to_owned(), json!(false));
        schema
    }
}

impl Parameter {
    fn schema(&self) -> JsonObject {
        let mut schema = match self.kind {
            Kind::Text => json!({ "type": "string" }),
            Kind::List => json!({ "type": "array", "items": { "type": "string" } }),
            Kind::Number { min, max } if self.default.is_some() => {
                json!({ "type": "integer", "minimum": min, "maximum": max })
            }
            Kind::Number { .. } => json!({ "type": "integer" }),
            Kind::Flag => json!({ "type": "boolean" }),
            Kind::Choice(words) => json!({ "type": "string", "enum": words }),
            Kind::Choices(words) => json!({ "type": "array", "items": { "type": "string", "enum": words } }),
        };
        let required = if self.required && self.alias.is_some() { "required; " } else { "" };
        if !self.description.is_empty() || !required.is_empty() {
            schema["description"] = json!(format!("{required}{}", self.description).trim_end_matches("; "));
        }
        if self.not_empty {
            schema["minLength"] = json!(1);
        }
        match self.default {
            Some(Default::Number(number)) => schema["default"] = json!(number),
            Some(Default::EmptyList) => schema["default"] = json!([]),
            None => {}
        }
        match schema {
            Value::Object(schema) => schema,
            _ => Map::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use cairn_domain::ChunkKind;
    use cairn_search::{Relation, TargetType};

    use super::*;
    use crate::mcp::arguments::Arguments;
    use crate::schema_check::faults;

    /// Clients read names, descriptions and input schemas in every session. Clients read the output schemas
    /// only if they use structured content.
    #[test]
    fn tools_cost_few_tokens() {
        let count = |tools: &[Tool]| {
            let text = serde_json::to_string(tools).expect("tools are JSON");
            tiktoken_rs::o200k_base_singleton().encode_ordinary(&text).len()
        };
        let with_output: Vec<Tool> = TOOLS.iter().map(ToolSpec::to_tool).collect();
        let mut without_output = with_output.clone();
        without_output.iter_mut().for_each(|tool| tool.output_schema = None);
        let num_input = count(&without_output);
        let num_output = count(&with_output) - num_input;
        for tool in &with_output {
            let one = count(std::slice::from_ref(tool));
            println!("{}: {one} tokens with its output schema", tool.name);
        }
        println!(
            "tokens of o200k_base: {num_input} for names, descriptions and input schemas, {num_output} for output schemas"
        );
        assert!(num_input <= 2_500, "{num_input} tokens");
        assert!(num_output <= 3_000, "{num_output} tokens");
        for tool in TOOLS {
            assert!(tool.description.len() < 2_000, "{}", tool.name);
        }
    }

    #[test]
    fn choices_equal_the_names_of_the_domain() {
        assert_eq!(CHUNK_KINDS.to_vec(), ChunkKind::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>());
        let targets = TargetType::ALL.iter().map(|target| target.as_str()).collect::<Vec<_>>();
        assert_eq!(TARGET_TYPES.to_vec(), targets);
        assert_eq!(RELATIONS.to_vec(), Relation::ALL.iter().map(|relation| relation.as_str()).collect::<Vec<_>>());
    }

    #[test]
    fn alternative_names_are_not_parameters() {
        for tool in TOOLS {
            for other in tool.parameters.iter().flat_map(|parameter| parameter.also.iter().chain(&parameter.alias)) {
                assert!(tool.parameter(other).is_none(), "{} of {}", other, tool.name);
            }
        }
    }

    #[test]
    fn schema_allows_no_other_properties() {
        let schema = ToolSpec::find("analyze_relationship").expect("a tool").schema();
        assert_eq!(schema["additionalProperties"], json!(false));
        assert_eq!(schema["properties"]["mode"]["enum"], json!(RELATIONS));
    }

    /// A client that checks its calls against the schema can use every accepted name of a parameter.
    #[test]
    fn schemas_contain_every_accepted_name() {
        let check = |tool: &str, call: Value| {
            let tool = ToolSpec::find(tool).expect("a tool");
            let schema = Value::Object(tool.schema());
            assert_eq!(faults(&schema, &schema, &call), Vec::<String>::new(), "{call}");
            let Value::Object(call) = call else { panic!("{call} is no call") };
            let _accepted = Arguments::read(tool, call).expect("an accepted call");
        };
        for subject in ["query", "target"] {
            for target_type in ["target_type", "type"] {
                check("search_code", json!({ subject: "x", target_type: "filename" }));
            }
        }
        for subject in ["target", "name"] {
            for mode in ["mode", "relation"] {
                check("analyze_relationship", json!({ subject: "x", mode: "callers" }));
            }
        }
        for target in ["path", "target"] {
            check("index_repository", json!({ target: "." }));
        }
        for tool in TOOLS {
            let schema = tool.schema();
            let accepted =
                tool.parameters.iter().flat_map(|parameter| parameter.alias.into_iter().chain([parameter.name]));
            for name in accepted {
                assert!(schema["properties"][name].is_object(), "{name} of {}", tool.name);
            }
        }
    }

    #[test]
    fn schema_of_index_repository_has_the_documented_bounds() {
        let schema = ToolSpec::find("index_repository").expect("a tool").schema();
        let field = |name: &str| schema["properties"][name].clone();
        assert_eq!((&field("path")["type"], &field("path")["minLength"]), (&json!("string"), &json!(1)));
        for patterns in ["include_patterns", "exclude_patterns"] {
            let patterns = field(patterns);
            assert_eq!((&patterns["type"], &patterns["items"]), (&json!("array"), &json!({ "type": "string" })));
            assert_eq!(patterns["default"], json!([]));
        }
        let size = field("max_file_size");
        assert_eq!((&size["type"], &size["default"]), (&json!("integer"), &json!(1_048_576)));
        assert_eq!((&size["minimum"], &size["maximum"]), (&json!(0), &json!(10_485_760)));
    }
}
