//! Commands that tell what is there.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use cairn_domain::{RunState, Scope, Tenant};
use cairn_gateway::json as as_json;
use cairn_gateway::time::rfc3339;
use cairn_ports::{Catalogue, LedgerRead, RunRecord};
use cairn_search::{KnownRepository, RepositorySelection, SearchError, SearchErrorCode};
use serde_json::json;

use super::{NOTHING_FOUND, Outcome};
use crate::cli::RunsCommand;
use crate::local::Local;
use crate::output::{self, BAD, FAINT, NAME, PATH, styled};

async fn known(local: &Local) -> anyhow::Result<Vec<KnownRepository>> {
    let view = local.runs.view().await?;
    Ok(local.searcher.repositories(&view).await?)
}

pub(super) async fn repositories(local: &Local, json: bool) -> Outcome {
    let known = known(local).await?;
    if json {
        output::json(&json!({ "repositories": known.iter().map(as_json::repository).collect::<Vec<_>>() }));
        return Ok(ExitCode::SUCCESS);
    }
    for repository in &known {
        let state = match &repository.published {
            Some(published) => {
                let files = published.result.files_indexed;
                format!("{} {files} files, indexed {}", published.revision, rfc3339(published.indexed_at_ms))
            }
            None => "not indexed yet".to_owned(),
        };
        let source = repository.record.source.location();
        let name = styled(NAME, &repository.record.name);
        output::line(&format!("{name} {} {}", styled(PATH, source), styled(FAINT, state)));
    }
    if known.is_empty() {
        output::note("nothing is indexed yet: `cairn index PATH` indexes a repository");
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn status(local: &Local, json: bool) -> Outcome {
    let known = known(local).await?;
    let unfinished = local.runs.unfinished().await?;
    let name_of = |run: &RunRecord| {
        let found = known.iter().find(|known| known.record.id == run.id.repository);
        found.map_or_else(|| run.id.repository.to_string(), |known| known.record.name.to_string())
    };
    let num_files: u64 = known.iter().filter_map(|known| Some(known.published.as_ref()?.result.files_indexed)).sum();
    let model = &local.searcher.embedder.model().name;
    if json {
        output::json(&json!({
            "home": local.home.directory.display().to_string(),
            "model": model,
            "num_repositories": known.len(),
            "num_files": num_files,
            "runs_in_progress": unfinished.iter().map(|run| as_json::run(&name_of(run), run)).collect::<Vec<_>>(),
            "repositories": known.iter().map(as_json::repository).collect::<Vec<_>>(),
        }));
        return Ok(ExitCode::SUCCESS);
    }
    output::line(&format!("index   {}", local.home.directory.display()));
    output::line(&format!("model   {model}"));
    output::line(&format!("holds   {} repositories, {num_files} files", known.len()));
    for run in &unfinished {
        let progress = format!("{} of {} parts", run.num_ended, run.num_parts);
        output::line(&format!("running {} run {}: {progress}", styled(NAME, name_of(run)), run.id));
    }
    for repository in known.iter().filter(|known| known.published.as_ref().is_none_or(is_incomplete)) {
        let state =
            repository.published.as_ref().map_or("not indexed yet", |_| "partial: some files could not be parsed");
        output::line(&format!("{} {state}", styled(NAME, &repository.record.name)));
    }
    Ok(ExitCode::SUCCESS)
}

fn is_incomplete(published: &cairn_ports::PublishedGeneration) -> bool {
    published.state == RunState::Partial
}

pub(super) async fn stats(local: &Local, json: bool) -> Outcome {
    let known = known(local).await?;
    let size_bytes = directory_bytes(&local.home.directory);
    let mut total = cairn_wire::RunResult::default();
    for published in known.iter().filter_map(|known| known.published.as_ref()) {
        let result = &published.result;
        total.files_indexed += result.files_indexed;
        total.symbols += result.symbols;
        total.chunks += result.chunks;
        total.edges += result.edges;
        total.patterns += result.patterns;
        total.secrets += result.secrets;
        for (class, count) in &result.edges_by_resolution {
            *total.edges_by_resolution.entry(class.clone()).or_default() += count;
        }
        for (reason, count) in &result.unresolved {
            *total.unresolved.entry(reason.clone()).or_default() += count;
        }
    }
    if json {
        output::json(&json!({
            "repositories": known.len(),
            "files": total.files_indexed,
            "symbols": total.symbols,
            "chunks": total.chunks,
            "edges": total.edges,
            "edges_by_resolution": total.edges_by_resolution,
            "unresolved_references": total.unresolved,
            "patterns": total.patterns,
            "secrets_redacted": total.secrets,
            "size_bytes": size_bytes,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    let rows = [
        ("repositories", known.len() as u64),
        ("files", total.files_indexed),
        ("symbols", total.symbols),
        ("chunks", total.chunks),
        ("edges", total.edges),
        ("patterns", total.patterns),
        ("secrets redacted", total.secrets),
        ("bytes on disk", size_bytes),
    ];
    for (label, count) in rows {
        output::line(&format!("{label:<18} {count:>12}"));
    }
    for (class, count) in &total.edges_by_resolution {
        output::line(&format!("edges {class:<12} {count:>12}"));
    }
    for (reason, count) in &total.unresolved {
        output::line(&format!("unresolved {reason} {count}"));
    }
    Ok(ExitCode::SUCCESS)
}

fn directory_bytes(directory: &std::path::Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(directory) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => directory_bytes(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}

pub(super) async fn runs(
    local: &Local,
    action: Option<RunsCommand>,
    limit: usize,
    repository: Option<String>,
    json: bool,
) -> Outcome {
    if let Some(RunsCommand::Cancel { repository }) = action {
        return cancel(local, repository, json).await;
    }
    let known = local.runs.repositories(&Scope::all(Tenant::local())).await?;
    let only = match repository {
        Some(word) => {
            let view = local.runs.view().await?;
            Some(local.searcher.select_one(&view, &word).await?.record.id)
        }
        None => None,
    };
    let runs = local.runs.runs(only, limit).await?;
    let name_of = |run: &RunRecord| {
        let found = known.iter().find(|record| record.id == run.id.repository);
        found.map_or_else(|| run.id.repository.to_string(), |record| record.name.to_string())
    };
    if json {
        output::json(&json!({ "runs": runs.iter().map(|run| as_json::run(&name_of(run), run)).collect::<Vec<_>>() }));
        return Ok(ExitCode::SUCCESS);
    }
    for run in &runs {
        let state = run.state.as_str();
        let parts = format!("{}/{} parts", run.num_ended, run.num_parts);
        let started = rfc3339(run.started_at_ms);
        let message = run.message.as_deref().unwrap_or_default();
        let name = styled(NAME, name_of(run));
        output::line(&format!(
            "{:>6} {name} {state} {} {}",
            run.id,
            styled(FAINT, format!("{started} {parts}")),
            message
        ));
    }
    Ok(ExitCode::SUCCESS)
}

async fn cancel(local: &Local, repository: Option<String>, json: bool) -> Outcome {
    let only = match repository {
        Some(word) => {
            let view = local.runs.view().await?;
            Some(local.searcher.select_one(&view, &word).await?.record.id)
        }
        None => None,
    };
    let mut cancelled = Vec::new();
    for run in local.runs.unfinished().await? {
        if only.is_none_or(|only| only == run.id.repository) && local.cancel(run.id).await? {
            cancelled.push(run.id.generation.0);
        }
    }
    if json {
        output::json(&json!({ "cancelled": cancelled }));
    } else {
        output::line(&format!("{} runs cancelled", cancelled.len()));
    }
    Ok(ExitCode::SUCCESS)
}

/// The repository that a word names; without one the only one that there is.
async fn only(local: &Local, repository: Option<String>) -> anyhow::Result<String> {
    if let Some(repository) = repository {
        return Ok(repository);
    }
    let here = local.repository_of_directory(&std::env::current_dir()?).await?;
    let mut known = known(local).await?;
    match (here, known.len(), known.pop()) {
        (Some(here), ..) => Ok(here),
        (None, 1, Some(known)) => Ok(known.record.name.to_string()),
        (None, 0, _) => Err(SearchError::new(SearchErrorCode::NotFound, "nothing is indexed yet").into()),
        _ => Err(SearchError::new(SearchErrorCode::ValidationError, "there are several repositories; name one").into()),
    }
}

pub(super) async fn coverage(
    local: &Local,
    repository: Option<String>,
    why: Option<String>,
    summary: bool,
    json: bool,
) -> Outcome {
    let repository = only(local, repository).await?;
    if let Some(path) = why {
        let why = local.searcher.why(&repository, &path).await?;
        if json {
            output::json(&as_json::why(&why));
        } else {
            output::line(&format!("{} {}: {}", styled(PATH, &why.path), why.outcome, why.explanation));
            if let Some(changed_at) = why.changed_at {
                output::line(&styled(FAINT, format!("last changed {}", rfc3339(changed_at * 1000))));
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let coverage = local.searcher.coverage(&repository).await?;
    if json {
        output::json(&as_json::coverage(&coverage, !summary));
        return Ok(ExitCode::SUCCESS);
    }
    for entry in coverage.entries.iter().filter(|_| !summary) {
        output::line(&format!("{}\t{}", entry.outcome.label(), entry.path));
    }
    let counts = if summary { output::line } else { output::note };
    for (outcome, count) in &coverage.counts {
        counts(&format!("{count:>8} {outcome}"));
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn secrets(local: &Local, repository: Option<String>, json: bool) -> Outcome {
    let repository = only(local, repository).await?;
    let found = local.searcher.secrets(&repository).await?;
    if json {
        let findings: Vec<_> = found
            .iter()
            .map(|(path, finding)| json!({ "path": path.as_str(), "line": finding.line, "rule": finding.rule }))
            .collect();
        output::json(&json!({ "repository": repository, "findings": findings }));
        return Ok(ExitCode::SUCCESS);
    }
    for (path, finding) in &found {
        output::line(&format!("{} {}", styled(PATH, format!("{path}:{}", finding.line)), finding.rule));
    }
    output::note(&styled(FAINT, format!("{} secrets were redacted", found.len())));
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn fingerprint(local: &Local, repositories: Vec<String>, json: bool) -> Outcome {
    let fingerprints = local.searcher.fingerprint(&RepositorySelection(repositories)).await?;
    if json {
        let all: Vec<_> = fingerprints.iter().map(as_json::fingerprint).collect();
        output::json(&json!({ "fingerprints": all }));
    } else {
        for fingerprint in &fingerprints {
            output::line(&format!("{} {}", styled(NAME, &fingerprint.repository), fingerprint.digest));
            for kind in &fingerprint.kinds {
                output::line(&format!("  {:<9} {:>9} {}", kind.kind, kind.count, kind.digest));
            }
        }
    }
    Ok(if fingerprints.is_empty() { ExitCode::from(NOTHING_FOUND) } else { ExitCode::SUCCESS })
}

/// One line of `doctor`.
struct Check {
    what: String,
    /// What is wrong and what to do about it.
    fault: Option<String>,
}

pub(super) async fn doctor(local: &Local, json: bool) -> Outcome {
    let mut checks = vec![git_check(), directory_check(local), files_check(&local.home.directory)];
    for (file, verified) in
        [("cairn.db", local.store.verify_index().await), ("vectors.db", local.store.verify_vectors().await)]
    {
        let fault = verified.err().map(|error| format!("{:#}", anyhow::Error::new(error)));
        checks.push(Check { what: format!("database {file}"), fault });
    }
    for repository in known(local).await? {
        let fault = local
            .verify(repository.record.id)
            .await
            .err()
            .map(|error| format!("{error:#}; `cairn index --rebuild {}` writes it anew", repository.record.name));
        checks.push(Check { what: format!("stored data of {}", repository.record.name), fault });
        let model = &local.searcher.embedder.model().name;
        let other = repository.published.filter(|published| published.model != *model);
        let fault = other
            .map(|published| format!("indexed with model {}, this build has {model}; index it again", published.model));
        checks.push(Check { what: format!("embedding model of {}", repository.record.name), fault });
    }
    for run in local.runs.unfinished().await? {
        let fault =
            format!("{} of {} parts ended; index its repository again to finish it", run.num_ended, run.num_parts);
        checks.push(Check { what: format!("run {}", run.id), fault: Some(fault) });
    }
    let is_well = checks.iter().all(|check| check.fault.is_none());
    if json {
        let checks: Vec<_> = checks
            .iter()
            .map(|check| json!({ "check": check.what, "ok": check.fault.is_none(), "fault": check.fault }))
            .collect();
        output::json(&json!({ "ok": is_well, "checks": checks }));
    } else {
        for check in &checks {
            match &check.fault {
                None => output::line(&format!("ok    {}", check.what)),
                Some(fault) => output::line(&format!("{} {}: {fault}", styled(BAD, "fault"), check.what)),
            }
        }
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn git_check() -> Check {
    let git = std::process::Command::new("git").arg("--version").output();
    let fault = match git {
        Ok(output) if output.status.success() => None,
        _ => Some("`git` is not on the path; it is needed to fetch remotes".to_owned()),
    };
    Check { what: "git".to_owned(), fault }
}

/// Every file of the index directory can be read to its end. What is in them is for their stores to verify.
fn files_check(directory: &Path) -> Check {
    let mut faults = Vec::new();
    read_all(directory, &mut faults);
    let (num_more, shown) = (faults.len().saturating_sub(3), faults.iter().take(3).cloned().collect::<Vec<_>>());
    let more = if num_more > 0 { format!("; and {num_more} more") } else { String::new() };
    let remedy = "check the disk and the permissions; what is lost for good, `cairn index --rebuild` writes anew";
    let fault = (!faults.is_empty()).then(|| format!("{}{more}; {remedy}", shown.join("; ")));
    Check { what: "files of the index directory".to_owned(), fault }
}

fn read_all(directory: &Path, faults: &mut Vec<String>) {
    let mut fault = |path: &Path, error: io::Error| faults.push(format!("{} cannot be read: {error}", path.display()));
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => return fault(directory, error),
    };
    let mut directories = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        let read = || io::copy(&mut std::fs::File::open(&path)?, &mut io::sink());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => directories.push(path),
            // A file that is gone again was temporary.
            Ok(kind) if kind.is_file() => match read() {
                Err(error) if error.kind() != io::ErrorKind::NotFound => fault(&path, error),
                _ => {}
            },
            _ => {}
        }
    }
    for directory in directories {
        read_all(&directory, faults);
    }
}

fn directory_check(local: &Local) -> Check {
    let probe = local.home.directory.join(".probe");
    let written = std::fs::write(&probe, b"").and_then(|()| std::fs::remove_file(&probe));
    let fault = written.err().map(|error| format!("cannot be written: {error}"));
    Check { what: format!("index directory {}", local.home.directory.display()), fault }
}
