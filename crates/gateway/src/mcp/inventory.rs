//! The tools that report on the index: `list_repositories` and `index_status`.

use cairn_redaction::{Given, Message};
use cairn_search::{KnownRepository, KnownRun, QueryError, QueryErrorCode, RepositorySelection, Searcher};
use serde_json::json;

use super::arguments::Arguments;
use super::indexing::settings_of;
use super::labels::{Label, label_modules};
use super::reply::{Failure, Replied, ToolReply};
use super::report::{counts, put_result, put_run, repository_line, sync_suffix};
use super::structured::{OutcomePaths, Overview, RepositoryPage, RepositoryStatus, StatusAnswer};
use super::suggestion::{Suggestion, call_text, object};
use super::text::put_stamps;
use super::untrusted::{one_line, put_untrusted};
use crate::agent::Agent;
use crate::answers::{
    CoverageAnswer, CoverageReport, ModuleReport, RepositoryReport, RepositorySummary, RunReport, RunsAnswer, unsettled,
};
use crate::questions::{self, CoverageQuestion, ModulesQuestion, RepositoriesQuestion, RunsQuestion};

const LIST_LIMIT: usize = 30;
const STATUS_LIMIT: usize = 20;
/// Number of runs that the status of a repository shows.
const NUM_RUNS: usize = 5;
/// Number of root modules that the status of a repository shows.
const NUM_MODULES: usize = 20;
/// Maximum length of the description of a module in the text, in characters.
const DESCRIPTION_CHARACTERS: usize = 120;

pub(super) async fn list_repositories(agent: &dyn Agent, arguments: &Arguments) -> Replied {
    let question = RepositoriesQuestion {
        name: arguments.text("name").map(str::to_owned),
        offset: arguments.count("offset", 0),
        limit: Some(arguments.count("limit", LIST_LIMIT)),
    };
    let mut list = questions::repositories(agent, &question).await?;
    list.repositories.iter_mut().for_each(Label::label);
    let num_total = list.page.num_total;
    let mut out = format!("{num_total} repositories\n");
    put_untrusted(&mut out, &list.repositories.iter().map(repository_line).collect::<Vec<_>>());
    let next = list.page.next_offset.map(|offset| arguments.with("offset", offset as u64));
    if let (Some(offset), Some(next)) = (list.page.next_offset, &next) {
        out.push_str(&format!("{} more: {}", num_total - offset, call_text("list_repositories", next)));
    }
    let repositories: Vec<RepositorySummary> = list.repositories.into_iter().map(RepositorySummary::from).collect();
    let num_shown = repositories.len();
    let page = RepositoryPage { repositories, num_repositories: num_total };
    let reply = ToolReply::new(out, &page, num_shown).next("list_repositories", next);
    let is_nothing_indexed = list.next_action_hint.is_some();
    Ok(if num_shown == 0 { nothing_listed(agent, reply, is_nothing_indexed) } else { reply })
}

/// Suggests the next call after an empty list. Only a service with an index directory has a working directory
/// to index.
fn nothing_listed(agent: &dyn Agent, mut reply: ToolReply, is_nothing_indexed: bool) -> ToolReply {
    if !is_nothing_indexed {
        reply.suggestions = vec![Suggestion::new("list_repositories", "lists all", object([]))];
    } else if agent.home().is_some() {
        reply.suggestions = vec![Suggestion::indexing_here()];
    } else {
        reply.text.push_str(&agent.nothing_indexed());
        reply.extras.next_action_hint = Some(agent.nothing_indexed().to_string());
    }
    reply
}

async fn known(searcher: &Searcher) -> Result<Vec<KnownRepository>, QueryError> {
    let view = searcher.catalogue.view().await?;
    searcher.repositories(&view).await
}

pub(super) async fn index_status(agent: &dyn Agent, arguments: &Arguments) -> Replied {
    let named = arguments.text("repository").map(str::to_owned);
    if let Some(id) = arguments.text("run_id") {
        return one_run(agent, named, id).await;
    }
    let named = match named {
        Some(name) => Some(name),
        None => agent.default_repository().await,
    };
    let known = known(agent.searcher()).await?;
    let name = match (named, known.as_slice()) {
        (Some(name), _) => name,
        (None, [only]) => only.record.name.to_string(),
        (None, _) => return overview(agent, &known, arguments).await,
    };
    let question = CoverageQuestion { repository: Some(name), ..CoverageQuestion::default() };
    if let Some(path) = arguments.text("path") {
        return why(agent, CoverageQuestion { why: Some(path.to_owned()), ..question }).await;
    }
    match arguments.text("outcome") {
        Some(outcome) => paths_of(agent, question, outcome, arguments).await,
        None => one_repository(agent, question, &known).await,
    }
}

async fn why(agent: &dyn Agent, question: CoverageQuestion) -> Replied {
    let CoverageAnswer::One(why) = questions::coverage(agent, &question).await? else { return Err(unexpected()) };
    let why = why.into_labelled();
    let mut out = format!("{}: {}; {}", one_line(&why.path), why.outcome, why.explanation);
    put_stamps(&mut out, &why.sources);
    Ok(ToolReply::new(out, &StatusAnswer::Path(why), 1))
}

fn unexpected() -> Failure {
    QueryError::new(QueryErrorCode::InternalError, "the index returned an answer to a different kind of question")
        .into()
}

async fn coverage(agent: &dyn Agent, question: &CoverageQuestion) -> Result<CoverageReport, Failure> {
    match questions::coverage(agent, question).await? {
        CoverageAnswer::All(coverage) => Ok(coverage),
        CoverageAnswer::One(_) => Err(unexpected()),
    }
}

/// The paths with the given outcome: `skipped(binary)`, `skipped`, or only the reason (`binary`).
async fn paths_of(agent: &dyn Agent, question: CoverageQuestion, outcome: &str, arguments: &Arguments) -> Replied {
    let (offset, limit) = (arguments.count("offset", 0), arguments.count("limit", STATUS_LIMIT));
    let question = CoverageQuestion { outcome: Some(outcome.to_owned()), offset, limit: Some(limit), ..question };
    let coverage = coverage(agent, &question).await?;
    let page = coverage.page.unwrap_or_default();
    let entries = coverage.entries.iter().flatten();
    let paths: Vec<String> = entries.map(|entry| format!("{} {}", entry.path, entry.outcome)).collect();
    let (repository, num_total) = (one_line(&coverage.repository), page.num_total);
    let mut out = format!("{num_total} paths of {repository} are {}\n", one_line(outcome));
    if paths.is_empty() {
        out.push_str(&format!("outcomes are: {}", counts(&coverage)));
    }
    put_untrusted(&mut out, &paths);
    let next = page.next_offset.map(|offset| arguments.with("offset", offset as u64));
    if let (Some(offset), Some(next)) = (page.next_offset, &next) {
        out.push_str(&format!("{} more: {}", num_total - offset, call_text("index_status", next)));
    }
    put_stamps(&mut out, &coverage.sources);
    let num_shown = paths.len();
    let suggested = object([("repository", json!(coverage.repository))]);
    let answer =
        OutcomePaths { repository: coverage.repository, outcome: outcome.to_owned(), num_paths: num_total, paths };
    let mut reply = ToolReply::new(out, &StatusAnswer::Paths(answer), num_shown).next("index_status", next);
    reply.suggestions = vec![Suggestion::new("index_status", "counts the paths by outcome", suggested)];
    Ok(reply)
}

async fn one_repository(agent: &dyn Agent, question: CoverageQuestion, known: &[KnownRepository]) -> Replied {
    let coverage = coverage(agent, &CoverageQuestion { summary: true, ..question }).await?;
    let found = known.iter().find(|known| known.record.name.as_str() == coverage.repository);
    let found = found.map(RepositoryReport::of).ok_or_else(unexpected)?.into_labelled();
    let selection = RepositorySelection(vec![coverage.repository.clone()]);
    let runs = agent.searcher().runs(&selection, NUM_RUNS).await?;
    let name = one_line(&coverage.repository);
    let mut out = match &found.published {
        None => format!("{name}: registered, not indexed yet\n"),
        Some(published) => {
            let result = &published.result;
            let (symbols, chunks, edges) = (result.symbols, result.chunks, result.edges);
            let (patterns, num_errors) = (result.patterns, result.num_errors);
            let (num_paths, counts) = (coverage.num_paths, counts(&coverage));
            format!(
                "{name}: {symbols} symbols, {chunks} chunks, {edges} edges, {patterns} patterns, {num_errors} errors\n\
                 {num_paths} paths: {counts}\n"
            )
        }
    };
    let note = sync_suffix(found.last_sync.as_ref(), found.pending_sync.as_ref());
    put_untrusted(&mut out, &note.into_iter().collect::<Vec<_>>());
    let runs: Vec<RunReport> = runs.iter().map(|run| RunReport::of(run).into_labelled()).collect();
    for run in &runs {
        put_run(&mut out, run);
    }
    let mut modules = root_modules(agent, &coverage.repository).await?;
    put_untrusted(&mut out, &modules.iter().map(module_line).collect::<Vec<_>>());
    label_modules(&mut modules);
    put_stamps(&mut out, &coverage.sources);
    let status = RepositoryStatus {
        coverage,
        modules,
        published: found.published,
        last_sync: found.last_sync,
        pending_sync: found.pending_sync,
        runs,
    };
    Ok(ToolReply::new(out, &StatusAnswer::Repository(Box::new(status)), 1))
}

/// The root of the repository and its root modules.
async fn root_modules(agent: &dyn Agent, repository: &str) -> Result<Vec<ModuleReport>, Failure> {
    let (repository, depth, limit) = (Some(repository.to_owned()), Some(1), Some(NUM_MODULES));
    let question = ModulesQuestion { repository, depth, limit, ..ModulesQuestion::default() };
    Ok(questions::modules(agent, &question).await?.modules)
}

fn module_line(module: &ModuleReport) -> String {
    let name = if module.module.is_empty() { "(root)" } else { &module.module };
    let text = module.description.as_deref().unwrap_or_default();
    let short: String = text.chars().take(DESCRIPTION_CHARACTERS).collect();
    let cut = if short.len() < text.len() { "…" } else { "" };
    format!("module {name}, {} files: {short}{cut}", module.num_files)
}

/// The status if the call names no repository and several repositories exist: counts, and the newest runs.
async fn overview(agent: &dyn Agent, known: &[KnownRepository], arguments: &Arguments) -> Replied {
    if let Some(path) = arguments.text("path").or(arguments.text("outcome")) {
        return Err(unnamed(path, known, arguments));
    }
    let limit = arguments.count("limit", STATUS_LIMIT);
    let runs: Vec<KnownRun> = agent.searcher().runs(&RepositorySelection::default(), limit).await?;
    let num_indexed = known.iter().filter(|known| known.published.is_some()).count();
    let mut syncs = unsettled(known, usize::MAX);
    let num_unsettled = syncs.len();
    syncs.truncate(limit);
    syncs.iter_mut().for_each(Label::label);
    let mut out = format!("{} repositories, {num_indexed} indexed\n", known.len());
    let notes = syncs.iter().filter_map(|sync| {
        let note = sync_suffix(sync.last_sync.as_ref(), sync.pending_sync.as_ref())?;
        Some(format!("{}: {note}", one_line(&sync.repository)))
    });
    put_untrusted(&mut out, &notes.collect::<Vec<_>>());
    if num_unsettled > limit {
        out.push_str(&format!("{} more repositories whose sync is pending or failed\n", num_unsettled - limit));
    }
    let runs: Vec<RunReport> = runs.iter().map(|run| RunReport::of(run).into_labelled()).collect();
    for run in &runs {
        out.push_str(&format!("{} ", one_line(&run.repository)));
        put_run(&mut out, run);
    }
    let answer = Overview { num_repositories: known.len(), num_indexed, num_unsettled, syncs, runs };
    let reply = ToolReply::new(out, &StatusAnswer::Overview(answer), known.len());
    Ok(if known.is_empty() { nothing_listed(agent, reply, true) } else { reply })
}

fn unnamed(path: &str, known: &[KnownRepository], arguments: &Arguments) -> Failure {
    let message = Message::from("name the `repository` of ").and(Given(path));
    let mut failure = Failure::from(QueryError::new(QueryErrorCode::ValidationError, message));
    if let Some(first) = known.first() {
        let call = arguments.with("repository", first.record.name.as_str());
        failure.suggestions.push(Suggestion::new("index_status", "shows the status of the first repository", call));
    }
    failure.suggestions.push(Suggestion::new("list_repositories", "shows the names of all repositories", object([])));
    failure
}

async fn one_run(agent: &dyn Agent, repository: Option<String>, id: &str) -> Replied {
    let question = RunsQuestion { repository, run_id: Some(id.to_owned()), limit: 1 };
    let RunsAnswer::One(mut details) = questions::runs(agent, &question).await? else { return Err(unexpected()) };
    details.label_except(&settings_of(agent, &details.run.repository).await?);
    let mut out = format!("{} ", one_line(&details.run.repository));
    put_run(&mut out, &details.run);
    put_result(&mut out, &details.result);
    Ok(ToolReply::new(out, &StatusAnswer::Run(details), 1))
}
