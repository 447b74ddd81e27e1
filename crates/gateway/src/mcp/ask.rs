//! The tools that answer questions about code: `search_code`, `read_code`, `analyze_relationship`.

use cairn_search::{QueryError, QueryErrorCode};
use rmcp::model::JsonObject;
use serde_json::json;

use super::arguments::Arguments;
use super::labels::Label;
use super::progress::Origin;
use super::reply::{Failure, Replied, ToolReply};
use super::suggestion::{Suggestion, call_text, call_text_after, object};
use super::text;
use super::tools::RELATIONS;
use super::untrusted::{UNTRUSTED, one_line};
use crate::agent::Agent;
use crate::answers::{CodeText, EmptyReport, RelatedModuleReport, Relationships, SearchResults, WeakMatchReport};
use crate::questions::{self, GraphQuestion, ReadQuestion, SearchQuestion, WantTests};

const SEARCH_TOKENS: usize = 3_000;
const READ_TOKENS: usize = 6_000;
const EDGE_LIMIT: usize = 25;
/// Number of tokens that an answer needs in addition to its code: for the label, for the commits of the
/// repositories, and for the call for the next page.
const FRAME_TOKENS: usize = 350;

/// The repositories that the call names. If the call names no repository, the list contains the repository in
/// which the caller works, provided that this repository is known. An empty list selects all repositories.
pub(super) async fn repositories(agent: &dyn Agent, arguments: &Arguments, origin: &Origin) -> Vec<String> {
    let named = arguments.list("repository");
    if named.is_empty() { origin.working_repository(agent).await.into_iter().collect() } else { named }
}

pub(super) fn code_tokens(arguments: &Arguments, default: usize) -> usize {
    arguments.count("max_tokens", default).saturating_sub(FRAME_TOKENS)
}

pub(super) fn tests_of(arguments: &Arguments) -> WantTests {
    match arguments.text("tests") {
        Some("exclude") => WantTests::Exclude,
        Some("only") => WantTests::Only,
        _ => WantTests::Include,
    }
}

pub(super) async fn search_code(agent: &dyn Agent, arguments: &Arguments, origin: &Origin) -> Replied {
    let mut question = search_question(agent, arguments, origin).await;
    let mut budget = ReplyBudget::of(arguments, SEARCH_TOKENS);
    loop {
        let answer = questions::search(agent, &question).await.map_err(|error| search_failure(error, arguments))?;
        let answer = answer.into_labelled();
        let reply = match &answer.nothing_found {
            Some(nothing) => nothing_found(&answer, nothing, arguments),
            None => page(&answer, &question, arguments),
        };
        // The hits are cached, so a smaller page costs only one read of texts.
        if budget.is_met(&reply, &mut question.max_tokens) {
            return Ok(reply);
        }
    }
}

/// Limits a whole reply to the number of tokens that a call allows. Explanations, notes, suggestions and the
/// places of other definitions may need more tokens than were reserved for them.
struct ReplyBudget<'a> {
    arguments: &'a Arguments,
    max_tokens: usize,
    num_attempts: u32,
}

impl<'a> ReplyBudget<'a> {
    fn of(arguments: &'a Arguments, default: usize) -> Self {
        Self { arguments, max_tokens: arguments.count("max_tokens", default), num_attempts: 0 }
    }

    /// Whether the reply is small enough, or cannot become smaller. If neither is true, lowers `code_tokens`,
    /// the limit for the code in the next reply. A lower limit may give the same text, so each further
    /// attempt lowers the limit more.
    fn is_met(&mut self, reply: &ToolReply, code_tokens: &mut usize) -> bool {
        let excess = reply.max_tokens(self.arguments.given()).saturating_sub(self.max_tokens);
        if excess == 0 || *code_tokens <= 1 {
            return true;
        }
        *code_tokens = code_tokens.saturating_sub(excess << self.num_attempts).max(1);
        self.num_attempts += 1;
        false
    }
}

async fn search_question(agent: &dyn Agent, arguments: &Arguments, origin: &Origin) -> SearchQuestion {
    SearchQuestion {
        query: arguments.text("query").unwrap_or_default().to_owned(),
        repositories: repositories(agent, arguments, origin).await,
        languages: arguments.list("language"),
        paths: arguments.list("path"),
        modules: arguments.list("module"),
        kinds: arguments.list("kind"),
        tests: tests_of(arguments),
        tags: arguments.list("tag"),
        since: arguments.text("since").map(str::to_owned),
        query_type: arguments.text("query_type").map(str::to_owned),
        limit: arguments.number("limit").map(|_| arguments.count("limit", 0)),
        max_tokens: code_tokens(arguments, SEARCH_TOKENS),
        cursor: arguments.text("cursor").map(str::to_owned),
        explain: arguments.flag("explain"),
        target_type: arguments.text("target_type").map(str::to_owned),
        context_path: arguments.text("context_path").map(str::to_owned),
        fuzzy_filename: arguments.flag_or("fuzzy_filename", true),
        filename_only: arguments.flag("filename_only"),
    }
}

/// A page of results, with the call for the next page.
fn page(answer: &SearchResults, question: &SearchQuestion, arguments: &Arguments) -> ToolReply {
    let next = answer.next_cursor.as_deref().map(|cursor| next_page(arguments, &question.repositories, cursor));
    let call = next.as_ref().map(|next| call_text_after("search_code", next, arguments.given()));
    let text = text::search(answer, question.explain, call.as_deref());
    // An answer whose results do not fit into the token budget is not treated as empty.
    let num_results = answer.num_results.max(answer.results.len()).max(answer.files.len());
    ToolReply::new(text, answer, num_results).next("search_code", next)
}

/// The call for the next page names the repositories even if they were inferred, because a cursor is valid
/// only for the same repositories.
pub(super) fn next_page(arguments: &Arguments, repositories: &[String], cursor: &str) -> JsonObject {
    let mut next = arguments.with("cursor", cursor);
    if !repositories.is_empty() {
        next.insert("repository".to_owned(), json!(repositories));
    }
    next
}

fn search_failure(error: QueryError, arguments: &Arguments) -> Failure {
    let code = error.code;
    let wrong = error.fault.as_ref().map(|fault| argument_of(&fault.field).to_owned());
    let mut failure = Failure::from(error);
    let mut without = |name: &str, reason: &str| {
        failure.suggestions.push(Suggestion::new("search_code", reason, arguments.without(&[name])));
    };
    match code {
        QueryErrorCode::InvalidCursor => without("cursor", "starts from the first page"),
        // Suggestions are tried before they are shown. So this suggestion is shown only if `since` caused the
        // error.
        QueryErrorCode::ValidationError if arguments.text("since").is_some() => {
            without("since", "searches files of any age");
        }
        QueryErrorCode::ValidationError => {
            if let Some(name) = wrong.filter(|name| name != "query" && arguments.given().contains_key(name)) {
                without(&name, "searches without the invalid argument");
            }
        }
        _ => {}
    }
    failure
}

fn nothing_found(answer: &SearchResults, nothing: &EmptyReport, arguments: &Arguments) -> ToolReply {
    let mut lines = vec![nothing.statement.clone(), UNTRUSTED.to_owned()];
    lines.extend(reasons_for_nothing(answer, nothing, arguments.flag("explain")));
    lines.extend(alternatives(answer, nothing));
    let mut out = lines.join("\n");
    let num_used = nothing.num_searched.max(answer.sources.len());
    text::put_stamps_of(&mut out, &answer.sources, num_used);
    let mut reply = ToolReply::new(out, answer, 0);
    reply.suggestions = after_nothing(answer, nothing, arguments);
    reply
}

/// The lines that explain why a search has no results.
fn reasons_for_nothing(answer: &SearchResults, nothing: &EmptyReport, explain: bool) -> Vec<String> {
    let reading = text::reading(answer, explain);
    let mut lines: Vec<String> = reading.iter().map(|fact| one_line(fact)).collect();
    lines.extend(answer.notes.iter().cloned());
    lines.extend(answer.names.iter().map(|name| name.sentence(one_line)));
    lines.extend(nothing.not_indexed_line(one_line));
    lines
}

/// The lines that show other searches with results, and code that is similar to the question.
fn alternatives(answer: &SearchResults, nothing: &EmptyReport) -> Vec<String> {
    let wider = nothing.without.iter().map(|without| {
        let name = argument_of(&without.restriction);
        format!("without `{name}`: {} chunks", without.num_chunks)
    });
    let other_questions = nothing
        .suggestions
        .iter()
        .map(|suggestion| format!("instead: {} ({})", one_line(&suggestion.query), one_line(&suggestion.reason)));
    let mut lines: Vec<String> = wider.collect();
    lines.extend(answer.message.clone());
    lines.extend(other_questions);
    lines.extend(related_modules(&nothing.related_modules));
    lines.extend(nothing.weak_matches.iter().map(weak_match));
    lines
}

/// The line that lists the modules whose code is similar to the question. `None` if the list is empty.
fn related_modules(modules: &[RelatedModuleReport]) -> Option<String> {
    let modules = modules.iter().map(|module| {
        let (repository, name) = (one_line(&module.repository), one_line(&module.module));
        format!("{repository} {name} ({} of the most similar chunks; {})", module.num_results, one_line(&module.reason))
    });
    let modules: Vec<String> = modules.collect();
    (!modules.is_empty()).then(|| format!("related modules: {}", modules.join("; ")))
}

fn weak_match(weak: &WeakMatchReport) -> String {
    let symbol = weak.symbol.as_deref().map(|symbol| format!(" {}", one_line(symbol))).unwrap_or_default();
    let (repository, path) = (one_line(&weak.repository), one_line(&weak.path));
    let lines = format!("{}-{}", weak.start_line, weak.end_line);
    format!("weak match: {repository} {path}:{lines}{symbol}")
}

/// The suggested calls after a search without results. Searches without one of the restrictions come first,
/// then a call to index a repository that is not indexed, then other questions.
fn after_nothing(answer: &SearchResults, nothing: &EmptyReport, arguments: &Arguments) -> Vec<Suggestion> {
    let mut candidates = Vec::new();
    // The calls repeat only the part of a long question that was used.
    let is_cut = answer.query.cut.is_some();
    let query = if is_cut { &answer.query.text } else { arguments.text("query").unwrap_or_default() };
    for without in &nothing.without {
        let name = argument_of(&without.restriction);
        let wider = match name {
            "repository" => arguments.with(name, json!(["all"])),
            _ => arguments.without(&[name, "cursor"]),
        };
        let wider = with_query(wider, query);
        candidates.push(Suggestion::new("search_code", format!("searches without `{name}`"), wider));
    }
    if answer.message.is_some() {
        let wide = object([("query", json!(query)), ("repository", json!(["all"]))]);
        candidates.push(Suggestion::new("search_code", "searches everything", wide));
    }
    if let Some(name) = nothing.not_indexed.first() {
        let path = object([("path", json!(name))]);
        candidates.push(Suggestion::new("index_repository", "indexes the repository", path));
    }
    for suggestion in &nothing.suggestions {
        let other = arguments.without(&["cursor", "query_type"]);
        let other = with_query(other, &suggestion.query);
        candidates.push(Suggestion::new("search_code", suggestion.reason.clone(), other));
    }
    candidates.push(Suggestion::listing());
    candidates
}

fn with_query(mut arguments: JsonObject, query: &str) -> JsonObject {
    arguments.insert("query".to_owned(), json!(query));
    arguments
}

/// The tool argument that corresponds to a field of the question.
fn argument_of(restriction: &str) -> &str {
    match restriction {
        "repositories" => "repository",
        "languages" => "language",
        "kinds" => "kind",
        "paths" => "path",
        "modules" => "module",
        "tags" => "tag",
        same => same,
    }
}

pub(super) async fn read_code(agent: &dyn Agent, arguments: &Arguments, origin: &Origin) -> Replied {
    let inferred = match arguments.text("repository") {
        Some(_) => None,
        None => origin.working_repository(agent).await,
    };
    let mut question = read_question(arguments, inferred.as_deref());
    let mut budget = ReplyBudget::of(arguments, READ_TOKENS);
    loop {
        let code = match inferred {
            Some(_) => questions::read_here(agent, &question).await?,
            None => questions::read(agent, &question).await?,
        };
        let reply = code_page(code);
        if budget.is_met(&reply, &mut question.max_tokens) {
            return Ok(reply);
        }
    }
}

/// The shown code, with the call that reads the rest.
fn code_page(code: CodeText) -> ToolReply {
    let (rest, code) = (rest_of(&code), code.into_labelled());
    let call = rest.as_ref().map(|rest| call_text("read_code", rest));
    let text = text::code(&code, call.as_deref());
    ToolReply::new(text, &code, 1).next("read_code", rest)
}

fn read_question(arguments: &Arguments, inferred: Option<&str>) -> ReadQuestion {
    let line = |name| arguments.number(name).map(|line| u32::try_from(line).unwrap_or(u32::MAX));
    ReadQuestion {
        repository: arguments.text("repository").or(inferred).map(str::to_owned),
        target: arguments.text("target").map(str::to_owned),
        path: arguments.text("path").map(str::to_owned),
        symbol: arguments.text("symbol").map(str::to_owned),
        context_path: arguments.text("context_path").map(str::to_owned),
        start_line: line("start_line"),
        end_line: line("end_line"),
        max_tokens: code_tokens(arguments, READ_TOKENS),
    }
}

/// The call that reads the lines that the token budget cut off.
fn rest_of(code: &CodeText) -> Option<JsonObject> {
    let cut = u32::try_from(code.num_lines_cut).ok().filter(|cut| *cut > 0)?;
    let shown_to = code.end_line?;
    Some(object([
        ("repository", json!(code.repository)),
        ("path", json!(code.path)),
        ("start_line", json!(shown_to + 1)),
        ("end_line", json!(shown_to + cut)),
    ]))
}

pub(super) async fn analyze_relationship(agent: &dyn Agent, arguments: &Arguments, origin: &Origin) -> Replied {
    let question = GraphQuestion {
        target: arguments.text("target").unwrap_or_default().to_owned(),
        mode: arguments.text("mode").unwrap_or_default().to_owned(),
        context_path: arguments.text("context_path").map(str::to_owned),
        repositories: repositories(agent, arguments, origin).await,
        limit: arguments.count("limit", EDGE_LIMIT),
    };
    let answer =
        questions::graph(agent, &question).await.map_err(|error| relation_failure(error, arguments))?.into_labelled();
    let more = more_edges(&answer, arguments, question.limit);
    let call = more.as_ref().map(|more| call_text_after("analyze_relationship", more, arguments.given()));
    let text = text::graph(&answer, &question.mode, call.as_deref());
    let mut reply = ToolReply::new(text, &answer, answer.edges.len()).next("analyze_relationship", more);
    if answer.edges.is_empty() {
        reply.suggestions = other_relations(arguments, &question.mode);
    }
    Ok(reply)
}

/// If the call names no repository, the repository may have been inferred. So the first suggestion sends the
/// same question to all repositories.
fn relation_failure(error: QueryError, arguments: &Arguments) -> Failure {
    let is_unknown = error.code == QueryErrorCode::NotFound;
    let mut failure = Failure::from(error);
    if is_unknown && arguments.list("repository").is_empty() {
        let everywhere = arguments.with("repository", json!(["all"]));
        failure.suggestions.insert(0, Suggestion::new("analyze_relationship", "asks all repositories", everywhere));
    }
    failure
}

fn more_edges(answer: &Relationships, arguments: &Arguments, limit: usize) -> Option<JsonObject> {
    const LARGEST: u64 = 500;
    let more = answer.num_edges > answer.edges.len() as u64 && (limit as u64) < LARGEST;
    more.then(|| arguments.with("limit", answer.num_edges.min(LARGEST)))
}

fn other_relations(arguments: &Arguments, requested: &str) -> Vec<Suggestion> {
    let others = RELATIONS.iter().filter(|word| **word != requested);
    let mut suggestions: Vec<Suggestion> = others
        .map(|word| Suggestion::new("analyze_relationship", format!("its {word}"), arguments.with("mode", *word)))
        .collect();
    let query = object([("query", json!(arguments.text("target")))]);
    suggestions.push(Suggestion::new("search_code", "finds where the name is mentioned", query));
    suggestions
}
