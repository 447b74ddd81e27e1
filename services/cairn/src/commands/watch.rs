//! Watches repositories: file events for working trees and directories, polling for bare clones and remotes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use cairn_domain::{RepositoryId, Scope, Source, Tenant};
use cairn_ports::{Catalogue, RepositoryRecord, plain};
use notify::RecursiveMode;
use notify_debouncer_full::{DebounceEventResult, new_debouncer};
use tokio::sync::mpsc;

use super::bars::Bars;
use super::index::{cancel_unfinished, show};
use crate::exit::{After, CommandReply, FailedCommand};
use crate::local::{Indexed, Local, MAINTENANCE, is_change, is_own};
use crate::output;
use crate::stop::Stop;

/// Events that occur within this time are handled together.
const DEBOUNCE: Duration = Duration::from_millis(500);
/// Interval at which bare repositories and remotes are polled for a new head.
const POLL: Duration = Duration::from_secs(5);
/// Because events may be lost, all repositories are checked again at this interval.
const RECONCILIATION: Duration = Duration::from_secs(3600);

pub(crate) async fn watch(local: Local, names: Vec<String>, json: bool) -> CommandReply {
    let records = watched(&local, &names).await?;
    if records.is_empty() {
        bail!(FailedCommand::new("nothing to watch: index a repository first", After::NothingIndexed));
    }
    let mut stop = Stop::listen()?;
    let (sender, changed) = mpsc::unbounded_channel();
    let roots: Vec<(RepositoryId, PathBuf)> =
        records.iter().filter_map(|record| Some((record.id, root(record)?))).collect();
    let home = local.home.directory.canonicalize().unwrap_or_else(|_| local.home.directory.clone());
    let of_roots = roots.clone();
    let mut debouncer = new_debouncer(DEBOUNCE, None, move |events: DebounceEventResult| {
        let mut touched = BTreeSet::new();
        let changes = events.into_iter().flatten().filter(|event| is_change(event.kind));
        for path in changes.flat_map(|event| event.paths.clone()) {
            if !is_own(&path, &home) {
                touched.extend(of_roots.iter().filter(|(_, root)| path.starts_with(root)).map(|(id, _)| *id));
            }
        }
        // An error is ignored: it means that the receiver was dropped, which happens only when watching has
        // ended.
        let _ = sender.send(touched);
    })?;
    for (_, root) in &roots {
        debouncer.watch(root, RecursiveMode::Recursive).with_context(|| format!("watching {}", root.display()))?;
    }
    output::note(&format!("watching {} repositories; Ctrl-C stops watching", records.len()));
    tokio::select! {
        () = follow(&local, &records, changed, json) => {}
        () = stop.asked() => {}
    }
    let ids: Vec<RepositoryId> = records.iter().map(|record| record.id).collect();
    cancel_unfinished(&local, &ids).await?;
    Ok(ExitCode::SUCCESS)
}

/// Indexes changes until a stop signal arrives. If a repository is removed while it is watched, it is not
/// indexed again.
async fn follow(
    local: &Local,
    records: &[RepositoryRecord],
    mut changed: mpsc::UnboundedReceiver<BTreeSet<RepositoryId>>,
    json: bool,
) {
    index_all(local, records, json).await;
    let mut poll = tokio::time::interval(POLL);
    let mut reconciliation = tokio::time::interval(RECONCILIATION);
    reconciliation.tick().await;
    let mut maintenance = tokio::time::interval(MAINTENANCE);
    local.check_maintenance().await;
    loop {
        tokio::select! {
            Some(touched) = changed.recv() => {
                let touched: Vec<RepositoryRecord> =
                    records.iter().filter(|record| touched.contains(&record.id)).cloned().collect();
                index_all(local, &touched, json).await;
            }
            _ = poll.tick() => {
                let polled: Vec<RepositoryRecord> =
                    records.iter().filter(|record| root(record).is_none()).cloned().collect();
                index_all(local, &polled, json).await;
            }
            _ = reconciliation.tick() => index_all(local, records, json).await,
            _ = maintenance.tick() => local.go_on().await,
        }
    }
}

async fn watched(local: &Local, names: &[String]) -> anyhow::Result<Vec<RepositoryRecord>> {
    let all = local.runs.repositories(&Scope::all(Tenant::local())).await?;
    if names.is_empty() {
        return Ok(all);
    }
    let view = local.runs.view().await?;
    let mut records = Vec::new();
    for name in names {
        let by_path = Path::new(name).canonicalize().ok();
        let found = all.iter().find(|record| by_path.is_some() && root(record) == by_path);
        match found {
            Some(record) => records.push(record.clone()),
            None => records.push(local.searcher.select_one(&view, name).await?.record),
        }
    }
    Ok(records)
}

fn root(record: &RepositoryRecord) -> Option<PathBuf> {
    match &record.source {
        Source::WorkTree { path } | Source::Directory { path } => Some(PathBuf::from(path)),
        Source::Bare { .. } | Source::Url { .. } => None,
    }
}

async fn index_all(local: &Local, records: &[RepositoryRecord], json: bool) {
    for record in records {
        match index_as_registered(local, record.id, json).await {
            Ok(Some(indexed)) if indexed.run.is_some() => show(local, &indexed, json),
            Ok(_) => {}
            Err(error) => output::error(&format!("{}: {}", record.name, plain(error.as_ref()))),
        }
    }
}

/// Indexes a repository with its current record, which may contain new settings. Returns `None` if the
/// repository was removed before or during the run.
async fn index_as_registered(local: &Local, id: RepositoryId, json: bool) -> anyhow::Result<Option<Indexed>> {
    let scope = Scope::only(Tenant::local(), [id]);
    let Some(record) = local.runs.repositories(&scope).await?.pop() else { return Ok(None) };
    let known = local.runs.repositories(&Scope::all(Tenant::local())).await?;
    let indexed = local.index(&local.request_of(&record, &known)?, &Bars::new(json)).await;
    let is_removed = local.runs.repositories(&scope).await?.is_empty();
    if is_removed { Ok(None) } else { indexed.map(Some) }
}
