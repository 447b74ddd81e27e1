//! The tools that tell what is indexed: `list_repositories`, `index_status`; and the one that changes it:
//! `index_repository`.

use cairn_domain::RunState;
use cairn_search::{
    Coverage, KnownRepository, KnownRun, QueryError, QueryErrorCode, RepositorySelection, Searcher, Stamp,
};
use cairn_wire::RunResult;
use serde_json::{Value, json};

use super::answer::{Answer, Answered, Failure, Suggestion, call_text, object};
use super::arguments::Arguments;
use super::text::{UNTRUSTED, one_line, put_fenced, put_stamps, short_commit};
use crate::json as as_json;
use crate::questions::{self, CancelQuestion, Question};
use crate::time::rfc3339;
use crate::{Agent, IndexCall, IndexStatus, syncs};

const LIST_LIMIT: usize = 30;
const STATUS_LIMIT: usize = 20;
/// Runs that a status shows.
const NUM_RUNS: usize = 5;
/// What becomes of `changed_files` where no working tree is read.
const ONLY_COMMITS: &str =
    "\nthis service reads what is committed at the repository's address: edits are seen once they are pushed\n";
/// Errors of files that are spelled out.
const NUM_ERRORS: usize = 5;

pub(super) async fn list_repositories(agent: &dyn Agent, arguments: &Arguments) -> Answered {
    let searcher = agent.searcher();
    let mut known = known(searcher).await?;
    let num_known = known.len();
    if let Some(part) = arguments.text("name") {
        let part = part.to_lowercase();
        known.retain(|known| known.record.name.as_str().to_lowercase().contains(&part));
    }
    let (offset, limit) = (arguments.count("offset", 0), arguments.count("limit", LIST_LIMIT));
    let page: Vec<&KnownRepository> = known.iter().skip(offset).take(limit).collect();
    let mut out = format!("{} of {num_known} repositories\n", known.len());
    for known in &page {
        out.push_str(&repository_line(known));
    }
    let mut json = json!({
        "repositories": page.iter().map(|known| as_json::repository_summary(known)).collect::<Vec<_>>(),
        "num_repositories": known.len(),
    });
    let end = offset + page.len();
    if end < known.len() {
        let next = arguments.with("offset", end as u64);
        out.push_str(&format!("{} more: {}", known.len() - end, call_text("list_repositories", &next)));
        json["next_call"] = json!({ "tool": "list_repositories", "arguments": next });
    }
    let answer = Answer::new(out, json, page.len());
    Ok(if page.is_empty() { nothing_listed(agent, answer, num_known) } else { answer })
}

/// What can be done about an empty list. Only who has a home has a working directory that it could index.
fn nothing_listed(agent: &dyn Agent, mut answer: Answer, num_known: usize) -> Answer {
    if num_known > 0 {
        answer.suggestions = vec![Suggestion::new("list_repositories", "lists all", object([]))];
    } else if agent.home().is_some() {
        let here = object([("target", json!("."))]);
        let reason = "nothing is indexed yet; this indexes the working directory";
        answer.suggestions = vec![Suggestion::new("index_repository", reason, here)];
    } else {
        answer.text.push_str(&agent.nothing_indexed());
        answer.json["next_action_hint"] = json!(agent.nothing_indexed());
    }
    answer
}

fn repository_line(known: &KnownRepository) -> String {
    let (name, about) = (one_line(known.record.name.as_str()), about(known));
    let news = sync_news(known);
    let Some(published) = &known.published else {
        return format!("{name}: registered, not indexed yet{news}{about}\n");
    };
    let RunResult { files_indexed, chunks, .. } = published.result;
    let partial = if published.state == RunState::Partial { ", partial" } else { "" };
    let (commit, at) = (short_commit(&published.revision), rfc3339(published.indexed_at_ms));
    format!("{name} @ {commit}, indexed {at}{partial}, {files_indexed} files, {chunks} chunks{news}{about}\n")
}

/// What is to be said of its sync, behind what is said of itself.
fn sync_news(known: &KnownRepository) -> String {
    syncs::news_of(&known.record).map(|news| format!("; {}", one_line(&news))).unwrap_or_default()
}

/// What people wrote about it at its host: their text, and on this one line.
fn about(known: &KnownRepository) -> String {
    let Some(hosted) = &known.record.hosted else { return String::new() };
    let quoted = |text: &String| one_line(text).replace('"', "'");
    let description = hosted.description.as_ref().map(|text| format!("; its host says \"{}\"", quoted(text)));
    let topics: Vec<String> = hosted.topics.iter().map(quoted).collect();
    let topics = if topics.is_empty() { String::new() } else { format!("; topics \"{}\"", topics.join(", ")) };
    format!("{}{topics}", description.unwrap_or_default())
}

async fn known(searcher: &Searcher) -> Result<Vec<KnownRepository>, QueryError> {
    let view = searcher.catalogue.view().await?;
    searcher.select(&view, &RepositorySelection::default()).await
}

pub(super) async fn index_status(agent: &dyn Agent, arguments: &Arguments) -> Answered {
    let searcher = agent.searcher();
    let named = match arguments.text("repository") {
        Some(name) => Some(name.to_owned()),
        None => agent.default_repository().await,
    };
    if let Some(id) = arguments.text("run_id") {
        return one_run(searcher, arguments.text("repository"), id).await;
    }
    let known = known(searcher).await?;
    let name = match (&named, known.as_slice()) {
        (Some(name), _) => name.clone(),
        (None, [only]) => only.record.name.to_string(),
        (None, _) => return overview(agent, &known, arguments).await,
    };
    if let Some(path) = arguments.text("path") {
        return why(searcher, &name, path).await;
    }
    let coverage = searcher.coverage(&name).await?;
    match arguments.text("outcome") {
        Some(outcome) => Ok(paths_of(&coverage, outcome, arguments)),
        None => one_repository(searcher, &coverage).await,
    }
}

async fn why(searcher: &Searcher, name: &str, path: &str) -> Answered {
    let why = searcher.why(name, path).await?;
    let mut out = format!("{}: {}; {}", one_line(&why.path), why.outcome, why.explanation);
    put_stamps(&mut out, &why.stamps);
    Ok(Answer::new(out, as_json::why(&why), 1))
}

/// The paths of an outcome: `skipped(binary)`, `skipped` for all that were, or just the reason.
fn paths_of(coverage: &Coverage, outcome: &str, arguments: &Arguments) -> Answer {
    let means = |label: &str| {
        label == outcome
            || label
                .split_once('(')
                .is_some_and(|(word, reason)| word == outcome || reason.trim_end_matches(')') == outcome)
    };
    let entries = coverage.entries.iter().filter(|entry| means(&entry.outcome.label()));
    let lines: Vec<String> = entries.map(|entry| format!("{} {}", entry.path, entry.outcome.label())).collect();
    let (offset, limit) = (arguments.count("offset", 0), arguments.count("limit", STATUS_LIMIT));
    let page: Vec<&str> = lines.iter().skip(offset).take(limit).map(String::as_str).collect();
    let mut out = format!("{} paths of {} are {}\n", lines.len(), one_line(&coverage.repository), one_line(outcome));
    let mut json =
        json!({ "repository": coverage.repository, "outcome": outcome, "num_paths": lines.len(), "paths": page });
    if page.is_empty() {
        out.push_str(&format!("outcomes there are: {}", counts(coverage)));
    } else {
        out.push_str(&format!("{UNTRUSTED}\n"));
        put_fenced(&mut out, "", &page.join("\n"));
    }
    let end = offset + page.len();
    if end < lines.len() && !page.is_empty() {
        let next = arguments.with("offset", end as u64);
        out.push_str(&format!("{} more: {}", lines.len() - end, call_text("index_status", &next)));
        json["next_call"] = json!({ "tool": "index_status", "arguments": next });
    }
    put_stamps(&mut out, &coverage.stamps);
    let mut answer = Answer::new(out, json, page.len());
    let repository = object([("repository", json!(coverage.repository))]);
    answer.suggestions = vec![Suggestion::new("index_status", "counts the paths by outcome", repository)];
    answer
}

fn counts(coverage: &Coverage) -> String {
    let counts: Vec<String> = coverage.counts.iter().map(|(outcome, count)| format!("{outcome} {count}")).collect();
    counts.join(", ")
}

async fn one_repository(searcher: &Searcher, coverage: &Coverage) -> Answered {
    let known = known(searcher).await?;
    let found = known.iter().find(|known| known.record.name.as_str() == coverage.repository);
    let runs = searcher.runs(&RepositorySelection(vec![coverage.repository.clone()]), NUM_RUNS).await?;
    let name = one_line(&coverage.repository);
    let news = found.map(sync_news).unwrap_or_default();
    let mut out = match found.and_then(|known| known.published.as_ref()) {
        None => format!("{name}: registered, not indexed yet{news}\n"),
        Some(published) => {
            let RunResult { symbols, chunks, edges, patterns, num_errors, .. } = published.result;
            format!(
                "{name}: {symbols} symbols, {chunks} chunks, {edges} edges, {patterns} patterns, {num_errors} errors{news}\n\
                 {} paths: {}\n",
                coverage.entries.len(),
                counts(coverage)
            )
        }
    };
    for run in &runs {
        out.push_str(&run_line(run));
    }
    put_stamps(&mut out, &coverage.stamps);
    let mut json = as_json::coverage(coverage, None);
    json["published"] = found.map_or(Value::Null, as_json::published);
    json["last_sync"] = json!(found.and_then(|known| syncs::last(&known.record)));
    json["pending_sync"] = json!(found.and_then(|known| syncs::pending(&known.record)));
    json["runs"] = runs.iter().map(as_json::run).collect();
    Ok(Answer::new(out, json, 1))
}

fn run_line(known: &KnownRun) -> String {
    let run = &known.record;
    let ended = run.ended_at_ms.map(|at| format!(", ended {}", rfc3339(at))).unwrap_or_default();
    let message = run.message.as_deref().map(|message| format!(": {}", one_line(message))).unwrap_or_default();
    format!(
        "run {}: {}, {} of {} parts, {} failed, commit {}, started {}{ended}{message}\n",
        known.id,
        run.state.as_str(),
        run.num_ended,
        run.num_parts,
        run.num_failed,
        short_commit(&run.revision),
        rfc3339(run.started_at_ms),
    )
}

/// Several repositories and none named: how many there are, and the newest runs.
async fn overview(agent: &dyn Agent, known: &[KnownRepository], arguments: &Arguments) -> Answered {
    if let Some(path) = arguments.text("path").or(arguments.text("outcome")) {
        let message = format!("say in which `repository` to look for `{path}`");
        let mut failure = Failure::from(QueryError::new(QueryErrorCode::ValidationError, message));
        if let Some(first) = known.first() {
            let call = arguments.with("repository", first.record.name.as_str());
            failure.suggestions.push(Suggestion::new("index_status", "asks about the first repository", call));
        }
        failure.suggestions.push(Suggestion::new("list_repositories", "shows the names", object([])));
        return Err(failure);
    }
    let limit = arguments.count("limit", STATUS_LIMIT);
    let runs = agent.searcher().runs(&RepositorySelection::default(), limit).await?;
    let num_indexed = known.iter().filter(|known| known.published.is_some()).count();
    let mut out = format!("{} repositories, {num_indexed} indexed\n", known.len());
    let unsettled: Vec<&KnownRepository> = known.iter().filter(|known| !sync_news(known).is_empty()).collect();
    for known in unsettled.iter().take(limit) {
        out.push_str(&format!("{}{}\n", one_line(known.record.name.as_str()), sync_news(known)));
    }
    if unsettled.len() > limit {
        out.push_str(&format!("{} more whose sync waits or failed\n", unsettled.len() - limit));
    }
    for run in &runs {
        out.push_str(&format!("{} {}", one_line(&run.repository), run_line(run)));
    }
    let json = json!({
        "num_repositories": known.len(),
        "num_indexed": num_indexed,
        "num_unsettled": unsettled.len(),
        "syncs": syncs::unsettled(known, limit),
        "runs": runs.iter().map(as_json::run).collect::<Vec<_>>(),
    });
    let answer = Answer::new(out, json, known.len());
    Ok(if known.is_empty() { nothing_listed(agent, answer, 0) } else { answer })
}

/// The run of that name, in one repository or wherever it is.
async fn find_run(searcher: &Searcher, repository: Option<&str>, id: &str) -> Result<KnownRun, QueryError> {
    let selection = RepositorySelection(repository.map(str::to_owned).into_iter().collect());
    searcher.find_run(&selection, id).await
}

async fn one_run(searcher: &Searcher, repository: Option<&str>, id: &str) -> Answered {
    let run = find_run(searcher, repository, id).await?;
    let mut out = format!("{} {}", one_line(&run.repository), run_line(&run));
    put_result(&mut out, &run.record.result);
    let mut json = as_json::run(&run);
    json["result"] = json!(run.record.result);
    Ok(Answer::new(out, json, 1))
}

fn put_result(out: &mut String, result: &RunResult) {
    let RunResult { files_indexed, symbols, chunks, edges, patterns, num_errors, .. } = result;
    let num_paths: u64 = result.files.values().sum();
    out.push_str(&format!(
        "{files_indexed} of {num_paths} files indexed, {symbols} symbols, {chunks} chunks, {edges} edges, {patterns} patterns\n"
    ));
    if *num_errors > 0 {
        let errors = result.errors.iter().take(NUM_ERRORS);
        let errors: Vec<String> = errors.map(|error| format!("{}: {}", error.file, error.message)).collect();
        out.push_str(&format!("{num_errors} errors, the first of them ({UNTRUSTED}):\n"));
        put_fenced(out, "", &errors.join("\n"));
    }
}

pub(super) async fn index_repository(agent: &dyn Agent, arguments: &Arguments) -> Answered {
    if let Some(id) = arguments.text("cancel_run") {
        return cancel(agent, id).await;
    }
    let target = match arguments.text("target") {
        Some(target) => target.to_owned(),
        None => agent.default_repository().await.unwrap_or_else(|| ".".to_owned()),
    };
    let call = IndexCall {
        target,
        include_patterns: arguments.list("include_patterns"),
        exclude_patterns: arguments.list("exclude_patterns"),
        max_file_size: arguments.number("max_file_size"),
        changed_files: arguments.list("changed_files"),
    };
    let has_edits = !call.changed_files.is_empty();
    let status = agent.index(call).await.map_err(not_indexed)?;
    if matches!(status.state, RunState::Failed | RunState::Cancelled) {
        return Err(failed(&status));
    }
    let stamps = stamps_of(agent.searcher(), &status.repository).await?;
    let mut answer = indexed(&status, &stamps);
    if has_edits && agent.home().is_none() {
        answer.text.push_str(ONLY_COMMITS);
    }
    Ok(answer)
}

fn not_indexed(error: QueryError) -> Failure {
    let is_input = matches!(error.code, QueryErrorCode::NotFound | QueryErrorCode::ValidationError);
    let mut failure = Failure::from(error);
    if is_input {
        failure.suggestions.push(Suggestion::new("list_repositories", "shows what can be named", object([])));
        failure.suggestions.push(Suggestion::guide("keeping_up_to_date", "shows how targets are written"));
    }
    failure
}

async fn stamps_of(searcher: &Searcher, name: &str) -> Result<Vec<Stamp>, QueryError> {
    match searcher.coverage(name).await {
        Ok(coverage) => Ok(coverage.stamps),
        // The first run of a repository may not be published yet.
        Err(error) if error.code == QueryErrorCode::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn follow(status: &IndexStatus) -> Suggestion {
    let mut arguments = object([("repository", json!(status.repository))]);
    if let Some(run) = &status.run {
        arguments.insert("run_id".to_owned(), json!(run));
    }
    Suggestion::new("index_status", "shows the run", arguments)
}

fn failed(status: &IndexStatus) -> Failure {
    let message = status.message.as_deref().unwrap_or("no reason is recorded");
    let message = format!("the run ended as {}: {message}; what was indexed before stays", status.state.as_str());
    let mut failure = Failure::from(QueryError::new(QueryErrorCode::InternalError, message));
    failure.suggestions.push(follow(status));
    failure
}

fn indexed(status: &IndexStatus, stamps: &[Stamp]) -> Answer {
    let name = one_line(&status.repository);
    let mut out = match (status.state, &status.run) {
        _ if status.request.is_some() => format!("{name}: asked for; see it begin: {}\n", follow(status).call()),
        (RunState::Running, _) => format!("{name}: still running; follow it: {}\n", follow(status).call()),
        (_, None) => format!("{name}: up to date, nothing had changed\n"),
        (state, Some(run)) => format!("{name}: {} by run {run}\n", state.as_str()),
    };
    put_result(&mut out, &status.result);
    put_stamps(&mut out, stamps);
    let mut json = as_json::index_status(status);
    json["sources"] = as_json::stamps(stamps);
    Answer::new(out, json, 1)
}

/// What is asked of a repository, and its unfinished run; none if there is no such repository.
async fn cancel_all(agent: &dyn Agent, name: &str) -> Result<Option<Answer>, Failure> {
    let question = CancelQuestion { repository: Some(name.to_owned()), run_id: None };
    let json = match questions::answer(agent, &Question::Cancel(question)).await {
        Ok(json) => json,
        Err(error) if error.code == QueryErrorCode::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let count = |field: &str| json[field].as_array().map_or(0, Vec::len);
    let text = format!(
        "{} runs are cancelled, and {} requests that had not begun; what was indexed before stays",
        count("cancelled"),
        count("requests")
    );
    Ok(Some(Answer::new(text, json, 1)))
}

async fn cancel(agent: &dyn Agent, id: &str) -> Answered {
    let run = match find_run(agent.searcher(), None, id).await {
        Ok(run) => run.record.id,
        Err(error) if error.code == QueryErrorCode::NotFound => {
            return cancel_all(agent, id).await?.ok_or_else(|| error.into());
        }
        Err(error) => return Err(error.into()),
    };
    let cancelled = agent.cancel(run).await?;
    let text = if cancelled {
        format!("run {id} is cancelled; what was indexed before stays")
    } else {
        format!("run {id} had ended already")
    };
    Ok(Answer::new(text, json!({ "run_id": id, "cancelled": cancelled }), 1))
}
