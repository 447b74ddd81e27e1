//! The table of tools.

use super::spec::{Default, Kind, Parameter, ToolSpec, optional, required};
use crate::answers::{CodeText, GuideText, Relationships};
use crate::guide::TOPICS;
use crate::mcp::structured::{
    IndexAnswer, RepositoryPage, SearchToolAnswer, StatusAnswer, output_schema, plain_output_schema,
};

/// The largest value of `max_tokens`.
pub(crate) const MOST_TOKENS: usize = 50_000;
const MAX_TOKENS: Kind = Kind::Number { min: 500, max: MOST_TOKENS as u64 };
pub(super) const CHUNK_KINDS: &[&str] =
    &["function", "method", "class", "group", "summary", "section", "config", "text", "navigation", "pattern"];
const QUERY_TYPES: &[&str] = &["symbol", "relationship", "flow", "pattern", "concept"];
pub(crate) const RELATIONS: &[&str] = &["callers", "callees", "dependencies", "dependents", "inheritance"];

pub(super) const TARGET_TYPES: &[&str] = &["auto", "symbol", "file", "directory", "filename"];

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
}
