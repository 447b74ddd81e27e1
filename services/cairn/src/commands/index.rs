//! Commands that change the index.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use cairn_config::{ListedRepository, Location, parse_repository_list};
use cairn_domain::{RepositoryId, RepositoryName, RunState, Source, Tenant};
use cairn_gateway::answers::{ErrorReport, RequestState};
use cairn_gateway::{Agent, check_settings, file_size, settings_after_call};
use cairn_git::{locate, stored_revision};
use cairn_ports::{Catalogue, ErrorKind, LedgerRead, RepositoryRecord, SourceError, plain_io};
use cairn_wire::{GivenSettings, RequestSettings};

use super::bars::Bars;
use super::organisation;
use super::print_index::{self, Ended, summary_of};
use crate::cli::IndexArguments;
use crate::exit::{After, CANCELLED, CommandReply, FailedCommand, RUN_INCOMPLETE, print_shared, report_of, wrong};
use crate::local::{IndexRequest, Indexed, Local, Named, unusable_target};
use crate::output::{self, NAME, styled};
use crate::stop::Stop;

pub(crate) async fn run(local: &Local, arguments: IndexArguments, json: bool) -> CommandReply {
    let is_organisation = arguments.hosting.organisation.is_some();
    let requests = if is_organisation {
        organisation::requests(local, &arguments.hosting).await?.into_iter().map(Ok).collect()
    } else {
        requests(local, &arguments).await?
    };
    let several = requests.len() > 1 || is_organisation;
    let mut stop = Stop::listen()?;
    let mut worst = ExitCode::SUCCESS;
    for request in requests {
        let request = match request {
            Ok(request) => request,
            Err(missing) => {
                missing.show(json);
                worst = ExitCode::from(RUN_INCOMPLETE);
                continue;
            }
        };
        let progress = Bars::new(json);
        let indexed = tokio::select! {
            indexed = local.index(&request, &progress) => indexed,
            () = stop.asked() => return cancelled(local, &request).await,
        };
        progress.finish();
        match indexed {
            Ok(indexed) => {
                show(local, &indexed, json);
                worst = exit_of_incomplete(indexed.state).unwrap_or(worst);
            }
            // An error for one repository does not stop the indexing of the other repositories.
            Err(error) if several => {
                show_error(request.name.as_str(), &error, json);
                worst = ExitCode::from(RUN_INCOMPLETE);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(worst)
}

/// The exit code of a run that was not completed. `None` for a complete run.
fn exit_of_incomplete(state: RunState) -> Option<ExitCode> {
    match state {
        RunState::Published => None,
        RunState::Cancelled => Some(ExitCode::from(CANCELLED)),
        _ => Some(ExitCode::from(RUN_INCOMPLETE)),
    }
}

async fn cancelled(local: &Local, request: &IndexRequest) -> CommandReply {
    cancel_unfinished(local, &[request.repository()]).await?;
    output::note(&format!("cancelled; the published state of {} is unchanged", request.name));
    Ok(ExitCode::from(CANCELLED))
}

/// Cancels the unfinished runs of these repositories. The published generations are kept.
pub(super) async fn cancel_unfinished(local: &Local, repositories: &[RepositoryId]) -> anyhow::Result<()> {
    for run in local.runs.unfinished().await? {
        if repositories.contains(&run.id.repository) {
            local.cancel(run.id).await?;
        }
    }
    Ok(())
}

/// A list entry that cannot be indexed, because its repository does not exist or the operator's rules refuse
/// it. The other entries are still indexed.
struct Unlocated {
    /// File and line of the entry (`list.yaml:7`), and the name in the entry.
    place: String,
    error: anyhow::Error,
}

impl Unlocated {
    fn show(&self, json: bool) {
        show_error(&self.place, &self.error, json);
    }
}

/// Prints the error of one repository among several.
pub(crate) fn show_error(repository: &str, error: &anyhow::Error, json: bool) {
    let report = report_of(error);
    if json {
        output::json(&serde_json::json!({ "repository": repository, "error": report }));
    } else {
        print_shared(&ErrorReport { message: format!("{repository}: {}", report.message), ..report });
    }
}

type Requests = Vec<Result<IndexRequest, Unlocated>>;

async fn requests(local: &Local, arguments: &IndexArguments) -> anyhow::Result<Requests> {
    let known = local.runs.repositories(&cairn_domain::Scope::all(Tenant::local())).await?;
    let again = |record: &RepositoryRecord| {
        anyhow::Ok(IndexRequest { rebuild: arguments.rebuild, ..local.request_of(record, &known)? })
    };
    let Some(text) = &arguments.target else {
        if known.is_empty() {
            let message = "nothing is indexed yet; name a repository: `cairn index PATH`";
            bail!(FailedCommand::new(message, After::NothingIndexed));
        }
        return known.iter().map(|record| again(record).map(Ok)).collect();
    };
    let target = Path::new(text);
    let is_known = |record: &&RepositoryRecord| record.name.as_str() == text || record.id.to_string() == *text;
    if let (false, Some(record)) = (target.exists(), known.iter().find(is_known)) {
        return Ok(vec![Ok(again(record)?)]);
    }
    let patterns = given_settings(arguments)?;
    if !is_list(target) {
        return Ok(vec![Ok(of_target(local, arguments, &known, patterns, text)?)]);
    }
    let list = std::fs::read_to_string(target).with_context(|| format!("reading {}", target.display()))?;
    let directory = target.parent().unwrap_or(Path::new("."));
    let listed = parse_repository_list(&list, text, directory)?;
    let located = listed.into_iter().map(|listed| {
        let place = match (&listed.line, &listed.name) {
            (Some(line), Some(name)) => format!("{text}:{line}: {name}"),
            (Some(line), None) => format!("{text}:{line}"),
            (None, _) => text.clone(),
        };
        of_list(local, arguments, &known, patterns.clone(), listed).map_err(|error| Unlocated { place, error })
    });
    Ok(located.collect())
}

fn given_settings(arguments: &IndexArguments) -> anyhow::Result<GivenSettings> {
    let settings = GivenSettings {
        include: given(&arguments.include),
        exclude: given(&arguments.exclude),
        include_override: given(&arguments.include_override),
        max_file_size: arguments.max_size.map(file_size).transpose()?,
    };
    check_settings(&settings)?;
    Ok(settings)
}

/// The request for a path or URL.
fn of_target(
    local: &Local,
    arguments: &IndexArguments,
    known: &[RepositoryRecord],
    patterns: GivenSettings,
    text: &str,
) -> anyhow::Result<IndexRequest> {
    let source = locate(text, &local.remotes()).map_err(|error| unusable_target(error, text))?;
    let given_name = arguments.name.clone().map(RepositoryName::new);
    let (source, revision) = match &arguments.revision {
        Some(revision) => {
            let (source, revision) = at_revision(source, revision)?;
            (source, Some(revision))
        }
        None => (source, None),
    };
    let named = named_at(local, &source, given_name, known, revision.as_deref())?;
    let branch = arguments.branch.clone().or(revision);
    request(source, named, branch, patterns, known, arguments.rebuild)
}

fn of_list(
    local: &Local,
    arguments: &IndexArguments,
    known: &[RepositoryRecord],
    patterns: GivenSettings,
    listed: ListedRepository,
) -> anyhow::Result<IndexRequest> {
    let place = match &listed.location {
        Location::Url(url) => url.clone(),
        Location::Path(path) => path.to_string_lossy().into_owned(),
    };
    let source = locate(&place, &local.remotes()).map_err(|error| unusable_target(error, &place))?;
    let named = local.named(&source, listed.name.map(RepositoryName::new), known)?;
    let patterns = GivenSettings {
        include: joined(patterns.include, listed.include),
        exclude: joined(patterns.exclude, listed.exclude),
        include_override: joined(patterns.include_override, listed.include_override),
        max_file_size: patterns.max_file_size,
    };
    request(source, named, listed.branch, patterns, known, arguments.rebuild)
}

/// Joins the patterns of the command line with the patterns of a list entry. `None` if neither of them sets
/// patterns.
pub(super) fn joined(given: Option<Vec<String>>, listed: Option<Vec<String>>) -> Option<Vec<String>> {
    match (given, listed) {
        (Some(given), Some(listed)) => Some([given, listed].concat()),
        (given, listed) => given.or(listed),
    }
}

fn request(
    source: Source,
    named: Named,
    branch: Option<String>,
    patterns: GivenSettings,
    registered: &[RepositoryRecord],
    rebuild: bool,
) -> anyhow::Result<IndexRequest> {
    let Named { name, known } = named;
    let before = match &known {
        Some(record) => RequestSettings::from_json(&record.settings).map_err(anyhow::Error::msg)?,
        None => stored(registered, &name, &source)?,
    };
    // After a repository was indexed by its address, it is no longer managed through the list of an
    // organisation.
    let known = known.map(|record| Box::new(RepositoryRecord { hosted: None, ..record }));
    Ok(IndexRequest { source, name, branch, settings: settings_after_call(patterns, before), rebuild, known })
}

/// Maximum number of characters of the revision in the default name of a repository.
const REVISION_IN_NAME: usize = 40;

/// A repository that is indexed at a revision has a separate default name, so that the index of its working
/// tree is kept.
fn named_at(
    local: &Local,
    source: &Source,
    given: Option<RepositoryName>,
    known: &[RepositoryRecord],
    revision: Option<&str>,
) -> anyhow::Result<Named> {
    match (&given, revision) {
        (None, Some(revision)) => {
            let Named { name, .. } = local.named(source, None, &[])?;
            Ok(Named { name: named_revision(&name, revision), known: None })
        }
        _ => local.named(source, given, known),
    }
}

fn named_revision(name: &RepositoryName, revision: &str) -> RepositoryName {
    let is_commit = revision.len() == 40 && revision.bytes().all(|byte| byte.is_ascii_hexdigit());
    let shown: String = revision.chars().take(if is_commit { 12 } else { REVISION_IN_NAME }).collect();
    RepositoryName::new(format!("{name}@{}", shown.replace(|character: char| !is_in_names(character), "-")))
}

fn is_in_names(character: char) -> bool {
    character.is_alphanumeric() || "._-+/@~".contains(character)
}

/// The source that contains the files of a revision, and the stored form of the revision. The files are read
/// from the git objects of a repository, not from its working tree. A revision that a repository on disk does
/// not have is an error here, so that the repository is not registered.
fn at_revision(source: Source, revision: &str) -> anyhow::Result<(Source, String)> {
    let path = match source {
        Source::WorkTree { path } | Source::Bare { path } => path,
        Source::Directory { path } => {
            bail!(wrong(format!("--revision needs a git repository, and `{path}` is a plain directory")))
        }
        Source::Url { .. } => return Ok((source, revision.to_owned())),
    };
    let revision = stored_revision(Path::new(&path), revision).map_err(|error| wrong_revision(error, &path))?;
    Ok((Source::Bare { path }, revision))
}

/// The error for a revision that cannot be indexed.
fn wrong_revision(error: SourceError, path: &str) -> anyhow::Error {
    match (error.kind, &error.source) {
        (ErrorKind::NotFound | ErrorKind::Invalid, Some(cause)) => {
            wrong(format!("--revision: {cause}; `git -C '{path}' log --oneline --decorate --all` lists all of them"))
                .into()
        }
        _ => error.into(),
    }
}

/// The patterns of an option. `None` if the option is not used. A single empty pattern (`--include ''`) gives
/// the empty list.
pub(super) fn given(patterns: &[String]) -> Option<Vec<String>> {
    let is_given = !patterns.is_empty();
    is_given.then(|| patterns.iter().filter(|pattern| !pattern.is_empty()).cloned().collect())
}

/// The stored settings of the registered repository with this name and source.
fn stored(known: &[RepositoryRecord], name: &RepositoryName, source: &Source) -> anyhow::Result<RequestSettings> {
    let record = known.iter().find(|record| record.name == *name && record.source == *source);
    let Some(record) = record else { return Ok(RequestSettings::default()) };
    RequestSettings::from_json(&record.settings).map_err(anyhow::Error::msg)
}

/// Whether a target is the path of a file that lists repositories.
pub(super) fn is_list(target: &Path) -> bool {
    target.is_file() && matches!(extension(target).as_deref(), Some("yaml" | "yml"))
}

fn extension(path: &Path) -> Option<String> {
    Some(path.extension()?.to_string_lossy().to_lowercase())
}

pub(super) fn show(local: &Local, indexed: &Indexed, json: bool) {
    let ended = Ended {
        repository: indexed.name.to_string(),
        run_id: indexed.run.map(|run| local.searcher.run_id(run)),
        state: RequestState::of(indexed.state),
        message: indexed.message.clone(),
        indexed: summary_of(&indexed.result, RequestState::of(indexed.state)),
        result: indexed.result.clone(),
    };
    print_index::ended(&ended, json);
}

/// Marks a file as changed, so that it is read again even if its time stamps are unchanged.
pub(crate) async fn invalidate(local: &Local, path: &Path, json: bool) -> CommandReply {
    let path = path.canonicalize().map_err(|error| {
        FailedCommand::new(format!("cannot find {}: {}", path.display(), plain_io(&error)), After::UnknownRepository)
    })?;
    let repositories = local.runs.repositories(&cairn_domain::Scope::all(Tenant::local())).await?;
    let holds = |source: &Source| match source {
        Source::WorkTree { path: root } | Source::Directory { path: root } => path.starts_with(root),
        Source::Bare { .. } | Source::Url { .. } => false,
    };
    let Some(record) = repositories.iter().find(|record| holds(&record.source)) else {
        let path = path.display();
        let message = format!("{path} is not in an indexed working tree or directory; `cairn repos` lists them");
        bail!(FailedCommand::new(message, After::UnknownRepository));
    };
    local.forget_stat(record.id)?;
    let request = local.request_of(record, &repositories)?;
    let indexed = local.index(&request, &Bars::new(json)).await?;
    show(local, &indexed, json);
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn remove(local: &Local, repository: &str, json: bool) -> CommandReply {
    let view = local.runs.view().await?;
    let known = local.searcher.select_one(&view, repository).await?;
    local.remove(&known.record).await?;
    show_removed(&known.record.name, json);
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn show_removed(name: &RepositoryName, json: bool) {
    if json {
        output::json(&serde_json::json!({ "removed": name.as_str() }));
    } else {
        output::line(&format!("removed {}", styled(NAME, name)));
    }
}

/// Returns the local index as an `Agent`, which answers questions and MCP calls.
pub(crate) fn agent(local: Local) -> Arc<dyn Agent> {
    let agent = crate::local::LocalAgent::new(local).indexing_on_first_use();
    agent.maintain();
    agent.watch();
    Arc::new(agent)
}
