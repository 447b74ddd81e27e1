//! The tools that ask: `search_code`, `read_code`, `analyze_relationship`.

use cairn_domain::ChunkKind;
use cairn_ports::{ChunkFilter, IncludeTests};
use cairn_search::{
    Code, CodeRequest, GraphAnswer, GraphRequest, NothingFound, QueryError, QueryErrorCode, Relation,
    RepositorySelection, Restriction, SearchAnswer, SearchRequest,
};
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::answer::{Answer, Answered, Failure, Suggestion, call_text, object};
use super::arguments::Arguments;
use super::text::{self, one_line};
use super::tools::RELATIONS;
use crate::Agent;
use crate::json as as_json;
use crate::time::seconds_of_date;

const SEARCH_TOKENS: usize = 3_000;
const SEARCH_LIMIT: usize = 8;
const READ_TOKENS: usize = 6_000;
const EDGE_LIMIT: usize = 25;
/// What an answer costs beside code: label, stamps, the call for the next page.
const FRAME_TOKENS: usize = 350;

/// The repositories that the call names; else the one that the caller works in; else all.
async fn selection(agent: &dyn Agent, arguments: &Arguments) -> RepositorySelection {
    let named = arguments.list("repository");
    if named.is_empty() {
        RepositorySelection(agent.default_repository().await.into_iter().collect())
    } else {
        RepositorySelection(named)
    }
}

pub(super) async fn search_code(agent: &dyn Agent, arguments: &Arguments) -> Answered {
    let repositories = selection(agent, arguments).await;
    let request = SearchRequest {
        query: arguments.text("query").unwrap_or_default().to_owned(),
        repositories,
        filter: filter(arguments)?,
        limit: arguments.count("limit", SEARCH_LIMIT),
        max_tokens: code_tokens(arguments, SEARCH_TOKENS),
        cursor: arguments.text("cursor").map(str::to_owned),
    };
    let explain = arguments.flag("explain");
    let answer = match agent.searcher().search(&request).await {
        Ok(answer) => answer,
        Err(error) => return Err(search_failure(error, arguments)),
    };
    let mut json = as_json::search(&answer, explain);
    if let Some(nothing) = &answer.nothing_found {
        return Ok(nothing_found(&answer, nothing, arguments, json));
    }
    let next = answer.next_cursor.as_deref().map(|cursor| next_page(arguments, &request.repositories, cursor));
    if let Some(next) = &next {
        json["next_call"] = json!({ "tool": "search_code", "arguments": next });
    }
    let next = next.map(|next| call_text("search_code", &next));
    // Results that none fits of are results all the same.
    let num_results = answer.num_results.max(answer.found.len());
    Ok(Answer::new(text::search(&answer, next.as_deref(), explain), json, num_results))
}

fn code_tokens(arguments: &Arguments, default: usize) -> usize {
    arguments.count("max_tokens", default).saturating_sub(FRAME_TOKENS)
}

/// The scope stands in the call even if it was inferred: a cursor belongs to its scope.
fn next_page(arguments: &Arguments, repositories: &RepositorySelection, cursor: &str) -> JsonObject {
    let mut next = arguments.with("cursor", cursor);
    if !repositories.0.is_empty() {
        next.insert("repository".to_owned(), json!(repositories.0));
    }
    next
}

fn search_failure(error: QueryError, arguments: &Arguments) -> Failure {
    let invalid_cursor = error.code == QueryErrorCode::InvalidCursor;
    let mut failure = Failure::from(error);
    if invalid_cursor {
        let first = Suggestion::new("search_code", "starts from the first page", arguments.without(&["cursor"]));
        failure.suggestions.push(first);
    }
    failure
}

fn filter(arguments: &Arguments) -> Result<ChunkFilter, Failure> {
    let since = match arguments.text("since") {
        Some(date) => Some(seconds_of_date(date).ok_or_else(|| {
            let error = format!("`since` is a date such as 2026-01-31, not `{date}`");
            let mut failure = Failure::from(QueryError::new(QueryErrorCode::ValidationError, error));
            let without = arguments.without(&["since"]);
            failure.suggestions.push(Suggestion::new("search_code", "searches files of any age", without));
            failure
        })?),
        None => None,
    };
    Ok(ChunkFilter {
        languages: arguments.list("language").iter().map(|language| language.to_lowercase()).collect(),
        kinds: arguments.list("kind").iter().filter_map(|word| ChunkKind::parse(word)).collect(),
        paths: arguments.list("path").iter().flat_map(|path| path_globs(path)).collect(),
        module_prefixes: arguments.list("module"),
        include_tests: match arguments.text("tests") {
            Some("exclude") => IncludeTests::Exclude,
            Some("only") => IncludeTests::Only,
            _ => IncludeTests::Include,
        },
        tags: arguments.list("tag"),
        since,
    })
}

/// A path as callers write it, as globs: a folder means all below it, a pattern without `/` any folder.
fn path_globs(path: &str) -> Vec<String> {
    let path = path.strip_prefix("./").unwrap_or(path);
    let is_glob = path.contains(['*', '?', '[', '{']);
    let folder = path.trim_end_matches('/');
    match (is_glob, folder.contains('/')) {
        (false, _) => vec![folder.to_owned(), format!("{folder}/**")],
        (true, true) => vec![path.to_owned()],
        (true, false) => vec![format!("**/{path}")],
    }
}

fn nothing_found(answer: &SearchAnswer, nothing: &NothingFound, arguments: &Arguments, json: Value) -> Answer {
    let mut out = String::from("nothing found");
    let not_indexed: Vec<String> = nothing.not_indexed.iter().map(|name| one_line(name)).collect();
    if !not_indexed.is_empty() {
        out.push_str(&format!("\nnot indexed yet: {}", not_indexed.join(", ")));
    }
    out.push_str(&match nothing.num_chunks {
        0 => "\nthere is nothing indexed in this scope".to_owned(),
        num_chunks => format!("\n{num_chunks} chunks are indexed in this scope; the filters let none through"),
    });
    let mut candidates = Vec::new();
    for (restriction, num_chunks) in &nothing.without {
        let name = argument_of(*restriction);
        out.push_str(&format!("\nwithout `{name}`: {num_chunks} chunks"));
        let wider = match restriction {
            Restriction::Repositories => arguments.with(name, json!(["all"])),
            _ => arguments.without(&[name, "cursor"]),
        };
        candidates.push(Suggestion::new("search_code", format!("searches without `{name}`"), wider));
    }
    if let Some(message) = &answer.hidden_by_scope {
        out.push_str(&format!("\n{message}"));
        let wide = object([("query", json!(arguments.text("query"))), ("repository", json!(["all"]))]);
        candidates.push(Suggestion::new("search_code", "searches everything", wide));
    }
    if let Some(name) = nothing.not_indexed.first() {
        let target = object([("target", json!(name))]);
        candidates.push(Suggestion::new("index_repository", "indexes the repository", target));
    }
    let modules = nothing.modules.iter().map(|module| {
        format!(
            "{} {} ({} of the best results)",
            one_line(&module.repository),
            one_line(&module.module),
            module.num_results
        )
    });
    let modules: Vec<String> = modules.collect();
    if !modules.is_empty() {
        out.push_str(&format!("\nrelated modules: {}", modules.join("; ")));
    }
    text::put_stamps(&mut out, &answer.stamps);
    Answer { text: out, json, num_results: 0, suggestions: candidates }
}

fn argument_of(restriction: Restriction) -> &'static str {
    match restriction {
        Restriction::Repositories => "repository",
        Restriction::Languages => "language",
        Restriction::Kinds => "kind",
        Restriction::Paths => "path",
        Restriction::Modules => "module",
        Restriction::Tests => "tests",
        Restriction::Tags => "tag",
        Restriction::Since => "since",
    }
}

pub(super) async fn read_code(agent: &dyn Agent, arguments: &Arguments) -> Answered {
    let inferred = match arguments.text("repository") {
        Some(_) => None,
        None => agent.default_repository().await,
    };
    let mut request = code_request(arguments, inferred.as_deref());
    let (code, note) = match (agent.searcher().read_code(&request).await, &inferred) {
        (Ok(code), _) => (code, None),
        // The scope was inferred: what only other repositories have is shown, and said to be from there.
        (Err(error), Some(here)) if error.code == QueryErrorCode::NotFound => {
            request.repository = None;
            let Ok(code) = agent.searcher().read_code(&request).await else { return Err(error.into()) };
            let note = format!("not in {}; found in {}\n", one_line(here), one_line(&code.repository));
            (code, Some(note))
        }
        (Err(error), _) => return Err(error.into()),
    };
    let rest = rest_of(&code);
    let mut json = as_json::code(&code);
    if let Some(rest) = &rest {
        json["next_call"] = json!({ "tool": "read_code", "arguments": rest });
    }
    let rest = rest.map(|rest| call_text("read_code", &rest));
    let text = format!("{}{}", note.unwrap_or_default(), text::code(&code, rest.as_deref()));
    Ok(Answer::new(text, json, 1))
}

fn code_request(arguments: &Arguments, inferred: Option<&str>) -> CodeRequest {
    let line = |name| arguments.number(name).map(|line| u32::try_from(line).unwrap_or(u32::MAX));
    let lines = match (line("start_line"), line("end_line")) {
        (None, None) => None,
        (start, end) => Some((start.unwrap_or(1), end.unwrap_or(u32::MAX))),
    };
    let path = arguments.text("path").map(|path| path.strip_prefix("./").unwrap_or(path).to_owned());
    CodeRequest {
        repository: arguments.text("repository").or(inferred).map(str::to_owned),
        path,
        symbol: arguments.text("symbol").map(str::to_owned),
        lines,
        max_tokens: code_tokens(arguments, READ_TOKENS),
    }
}

/// The call for the lines that the budget cut.
fn rest_of(code: &Code) -> Option<JsonObject> {
    let cut = u32::try_from(code.num_lines_cut).ok().filter(|cut| *cut > 0)?;
    let shown_to = code.span.map(|span| span.end)?;
    Some(object([
        ("repository", json!(code.repository)),
        ("path", json!(code.path.as_str())),
        ("start_line", json!(shown_to + 1)),
        ("end_line", json!(shown_to + cut)),
    ]))
}

pub(super) async fn analyze_relationship(agent: &dyn Agent, arguments: &Arguments) -> Answered {
    let relation = arguments.text("relation").and_then(Relation::parse).unwrap_or(Relation::Callers);
    let name = arguments.text("name").unwrap_or_default();
    let request = GraphRequest {
        name: name.strip_prefix("./").unwrap_or(name).trim_end_matches("()").to_owned(),
        relation,
        repositories: selection(agent, arguments).await,
        limit: arguments.count("limit", EDGE_LIMIT),
    };
    let answer = match agent.searcher().relationship(&request).await {
        Ok(answer) => answer,
        Err(error) => return Err(relation_failure(error, arguments)),
    };
    let mut json = as_json::graph(&answer);
    let more = more_edges(&answer, arguments, request.limit);
    if let Some(more) = &more {
        json["next_call"] = json!({ "tool": "analyze_relationship", "arguments": more });
    }
    let more = more.map(|more| call_text("analyze_relationship", &more));
    let text = text::graph(&answer, relation.as_str(), more.as_deref());
    let mut answered = Answer::new(text, json, answer.edges.len());
    if answer.edges.is_empty() {
        answered.suggestions = other_relations(arguments, relation);
    }
    Ok(answered)
}

/// The scope may have been inferred: the same question to all repositories is tried first.
fn relation_failure(error: QueryError, arguments: &Arguments) -> Failure {
    let is_unknown = error.code == QueryErrorCode::NotFound;
    let mut failure = Failure::from(error);
    if is_unknown && arguments.list("repository").is_empty() {
        let everywhere = arguments.with("repository", json!(["all"]));
        failure.suggestions.insert(0, Suggestion::new("analyze_relationship", "asks all repositories", everywhere));
    }
    failure
}

fn more_edges(answer: &GraphAnswer, arguments: &Arguments, limit: usize) -> Option<JsonObject> {
    const LARGEST: u64 = 500;
    let more = answer.num_edges > answer.edges.len() as u64 && (limit as u64) < LARGEST;
    more.then(|| arguments.with("limit", answer.num_edges.min(LARGEST)))
}

fn other_relations(arguments: &Arguments, asked: Relation) -> Vec<Suggestion> {
    let others = RELATIONS.iter().filter(|word| **word != asked.as_str());
    let mut suggestions: Vec<Suggestion> = others
        .map(|word| Suggestion::new("analyze_relationship", format!("its {word}"), arguments.with("relation", *word)))
        .collect();
    let query = object([("query", json!(arguments.text("name")))]);
    suggestions.push(Suggestion::new("search_code", "finds where the name is mentioned", query));
    suggestions
}

#[cfg(test)]
mod tests {
    use super::path_globs;

    #[test]
    fn paths_are_taken_as_callers_mean_them() {
        let check = |path: &str, expect: &[&str]| assert_eq!(path_globs(path), expect, "{path}");
        check("src", &["src", "src/**"]);
        check("./src/", &["src", "src/**"]);
        check("src/a.rs", &["src/a.rs", "src/a.rs/**"]);
        check("*.rs", &["**/*.rs"]);
        check("src/**/*.rs", &["src/**/*.rs"]);
    }
}
