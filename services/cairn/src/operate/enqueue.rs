//! `cairn enqueue`: registers repositories and asks for their syncs; the services do the rest.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use cairn_catalogue::Runs;
use cairn_config::{ListedRepository, Location, parse_repository_list};
use cairn_domain::{Lane, RepositoryId, RepositoryName, RunState, Scope, Source, Tenant};
use cairn_gateway::{IndexStatus, json as as_json};
use cairn_git::{RemotePolicy, RemoteUrl, repository_name};
use cairn_ports::{Catalogue, RepositoryRecord, Requests};
use cairn_wire::{RequestSettings, RunResult};

use super::arguments::EnqueueArguments;
use super::installation::Installation;
use super::wrong;
use crate::commands::{Outcome, RUN_INCOMPLETE, index, print_inventory};
use crate::output;

/// Something to enqueue, and where it was named.
struct Entry {
    place: String,
    listed: ListedRepository,
}

pub(super) async fn enqueue(installation: &Installation, arguments: EnqueueArguments, json: bool) -> Outcome {
    let entries = entries(&arguments)?;
    let (runs, clock) = installation.ledger().await?;
    let policy = RemotePolicy::from(&installation.operator.sources);
    let (several, mut worst) = (entries.len() > 1, ExitCode::SUCCESS);
    for Entry { place, listed } in entries {
        let asked = ask(&runs, &installation.tenant, &policy, listed, arguments.lane.into(), clock.now_ms()).await;
        match asked {
            Ok(asked) => show(&asked, json),
            // One that is refused does not keep the others out.
            Err(error) if several => {
                index::show_error(&place, &error, json);
                worst = ExitCode::from(RUN_INCOMPLETE);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(worst)
}

fn entries(arguments: &EnqueueArguments) -> anyhow::Result<Vec<Entry>> {
    let Some(file) = &arguments.file else {
        // The text itself may hold a credential: refusals do not repeat it.
        let of_url =
            |(number, url): (usize, &String)| Entry { place: format!("URL {}", number + 1), listed: plain(url) };
        return Ok(arguments.urls.iter().enumerate().map(of_url).collect());
    };
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).with_context(|| format!("reading {name}"))?;
    let listed = parse_repository_list(&text, &name, Path::new("."))?;
    let of_list = |listed: ListedRepository| Entry {
        place: listed.line.map_or_else(|| name.clone(), |line| format!("{name}:{line}")),
        listed,
    };
    Ok(listed.into_iter().map(of_list).collect())
}

fn plain(url: &str) -> ListedRepository {
    let (include, exclude, include_override) = (Vec::new(), Vec::new(), Vec::new());
    let location = Location::Url(url.to_owned());
    ListedRepository { line: None, location, name: None, branch: None, include, exclude, include_override }
}

async fn ask(
    runs: &Runs,
    tenant: &Tenant,
    policy: &RemotePolicy,
    listed: ListedRepository,
    lane: Lane,
    now_ms: i64,
) -> anyhow::Result<IndexStatus> {
    let record = record(tenant, policy, listed)?;
    let known = runs.repositories(&Scope::only(tenant.clone(), [record.id])).await?;
    // A bare URL says nothing of branch and patterns: what is known of them stays.
    let is_settled = known.iter().any(|known| known.source == record.source && says_nothing(&record));
    if !is_settled {
        runs.register(record.clone()).await?;
    }
    let request = runs.ask(record.id, lane, false, now_ms).await?;
    Ok(IndexStatus {
        repository: record.name.to_string(),
        run: None,
        request: Some(request),
        state: RunState::Running,
        result: RunResult::default(),
        message: None,
    })
}

fn says_nothing(record: &RepositoryRecord) -> bool {
    record.branch.is_none() && record.settings == RequestSettings::default().to_json()
}

fn record(tenant: &Tenant, policy: &RemotePolicy, listed: ListedRepository) -> anyhow::Result<RepositoryRecord> {
    let source = source(policy, listed.location)?;
    let name = listed.name.map_or_else(|| repository_name(&source), RepositoryName::new);
    let settings = RequestSettings {
        include: listed.include,
        exclude: listed.exclude,
        include_override: listed.include_override,
        max_file_size: None,
    };
    Ok(RepositoryRecord {
        id: RepositoryId::derive(tenant, &name),
        tenant: tenant.clone(),
        name,
        source,
        branch: listed.branch,
        settings: settings.to_json(),
        aliases: Vec::new(),
        hosted: None,
        last_sync: None,
    })
}

/// What the cloner will be allowed to fetch; a name that leads to a private address it alone can tell.
fn source(policy: &RemotePolicy, location: Location) -> anyhow::Result<Source> {
    let Location::Url(url) = location else {
        anyhow::bail!(wrong("the services of a cluster fetch by URL, and have no folders of this machine"));
    };
    let url = RemoteUrl::parse(&url, policy).map_err(|refusal| wrong(refusal.to_string()))?;
    Ok(Source::Url { url: url.as_str().to_owned() })
}

fn show(asked: &IndexStatus, json: bool) {
    output::answer(&as_json::index_status(asked), json, print_inventory::asked);
}
