//! Asking a cluster to index: a URL, a YAML list, or what it knows already.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use cairn_config::{Location, parse_repository_list};
use cairn_domain::{Lane, RepositoryId, RepositoryName, Scope, Source, Tenant};
use cairn_git::{RemotePolicy, locate, repository_name};
use cairn_ports::{Catalogue, Clock, RepositoryRecord, Requests};
use cairn_wire::RequestSettings;
use cairn_wiring::Cluster;

use crate::cli::EnqueueArguments;
use crate::output;

pub(super) async fn run(cluster: &Cluster, arguments: &EnqueueArguments, json: bool) -> anyhow::Result<ExitCode> {
    let tenant = Tenant::new(&*arguments.tenant);
    let known = cluster.runs.repositories(&Scope::all(tenant.clone())).await?;
    let records = match &arguments.target {
        None => known,
        Some(target) => match known.into_iter().find(|record| record.name.as_str() == target) {
            Some(record) => vec![record],
            None => records(cluster, &tenant, target, arguments)?,
        },
    };
    ensure!(!records.is_empty(), "nothing is known of tenant `{tenant}` yet; say what to index: `cairn enqueue URL`");
    let lane = if arguments.interactive { Lane::Interactive } else { Lane::Bulk };
    for record in records {
        let (id, name) = (record.id, record.name.clone());
        cluster.runs.register(record).await?;
        let request = cluster.runs.ask(id, lane, arguments.rebuild, cluster.clock.now_ms()).await?;
        if json {
            output::json(&serde_json::json!({ "repository": name.as_str(), "request": request }));
        } else {
            output::line(&format!("{name}: request {request}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn records(
    cluster: &Cluster,
    tenant: &Tenant,
    target: &str,
    arguments: &EnqueueArguments,
) -> anyhow::Result<Vec<RepositoryRecord>> {
    let remotes = remotes(cluster);
    let path = Path::new(target);
    let is_list = path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
    if !is_list {
        let source = located(target, &remotes)?;
        let name = arguments.name.clone().map(RepositoryName::new).unwrap_or_else(|| repository_name(&source));
        return Ok(vec![record(tenant, name, source, arguments.branch.clone(), &RequestSettings::default())]);
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let listed = parse_repository_list(&text, target, path.parent().unwrap_or(Path::new(".")))?;
    let mut records = Vec::new();
    for listed in listed {
        let place = match &listed.location {
            Location::Url(url) => url.clone(),
            Location::Path(path) => path.to_string_lossy().into_owned(),
        };
        let source = located(&place, &remotes)?;
        let name = listed.name.map(RepositoryName::new).unwrap_or_else(|| repository_name(&source));
        let settings = RequestSettings {
            include: listed.include,
            exclude: listed.exclude,
            include_override: listed.include_override,
            max_file_size: None,
        };
        records.push(record(tenant, name, source, listed.branch, &settings));
    }
    Ok(records)
}

/// A cloner elsewhere must be able to reach it: a path of this machine is not for it.
fn located(place: &str, remotes: &RemotePolicy) -> anyhow::Result<Source> {
    let source = locate(place, remotes)?;
    let is_url = matches!(source, Source::Url { .. });
    ensure!(is_url, "`{place}` is a path of this machine, which a cluster does not index: give its URL");
    Ok(source)
}

fn remotes(cluster: &Cluster) -> RemotePolicy {
    let allowed = &cluster.operator.sources;
    RemotePolicy {
        allow_http: allowed.allow_http,
        allow_file: allowed.allow_file,
        allow_private_addresses: allowed.allow_private_addresses,
        ..RemotePolicy::default()
    }
}

fn record(
    tenant: &Tenant,
    name: RepositoryName,
    source: Source,
    branch: Option<String>,
    settings: &RequestSettings,
) -> RepositoryRecord {
    RepositoryRecord {
        id: RepositoryId::derive(tenant, &name),
        tenant: tenant.clone(),
        name,
        source,
        branch,
        settings: settings.to_json(),
        aliases: Vec::new(),
        last_sync: None,
    }
}
