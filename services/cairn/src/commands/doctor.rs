//! The command `cairn doctor`.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use cairn_gateway::time::rfc3339;
use cairn_ports::{Catalogue, LedgerRead, RepositoryRecord, plain, plain_io};
use cairn_search::RepositorySelection;
use serde_json::json;

use crate::exit::CommandReply;
use crate::local::Local;
use crate::output::{self, BAD, styled};

/// The result of one check of `cairn doctor`, which is printed on one line.
pub(crate) struct Check {
    pub what: String,
    /// The fault, and how to correct it. `None` if the check found no fault.
    pub fault: Option<String>,
}

pub(crate) async fn doctor(local: &Local, named: Option<&str>, json: bool) -> CommandReply {
    let mut checks = vec![git_check(), directory_check(local), files_check(&local.home.directory)];
    for (file, verified) in
        [("cairn.db", local.store.verify_index().await), ("vectors.db", local.store.verify_vectors().await)]
    {
        let fault = verified.err().map(|error| plain(&error));
        checks.push(Check { what: format!("database {file}"), fault });
    }
    let selection = RepositorySelection(named.map(str::to_owned).into_iter().collect());
    for repository in local.searcher.select(&local.runs.view().await?, &selection).await? {
        let fault = local.verify(repository.record.id).await.err().map(|error| {
            let reason = plain(error.as_ref());
            format!("{reason}; `cairn index --rebuild {}` writes the data again", repository.record.name)
        });
        checks.push(Check { what: format!("stored data of {}", repository.record.name), fault });
        let failure = last_sync_failure(&repository.record);
        checks.push(Check { what: format!("last sync of {}", repository.record.name), fault: failure });
        let model = &local.searcher.embedder.model().name;
        let other = repository.published.filter(|published| published.model != *model);
        let fault = other.map(|published| {
            format!("indexed with model {}, but this build has {model}; index the repository again", published.model)
        });
        checks.push(Check { what: format!("embedding model of {}", repository.record.name), fault });
    }
    for run in local.runs.unfinished().await? {
        let fault =
            format!("{} of {} parts ended; index the repository again to finish the run", run.num_ended, run.num_parts);
        checks.push(Check { what: format!("run {}", local.searcher.run_id(run.id)), fault: Some(fault) });
    }
    Ok(report(&checks, json))
}

/// The failure of the last sync of a repository, and how to correct it.
pub(crate) fn last_sync_failure(record: &RepositoryRecord) -> Option<String> {
    let last = record.last_sync.as_ref()?;
    let (code, reason) = last.failure.as_ref()?;
    let (at, name) = (rfc3339(last.at_ms), &record.name);
    Some(format!("failed at {at} ({code}: {reason}); correct this, then `cairn index {name}` indexes it again"))
}

/// Prints the checks. The exit code is success if no check found a fault.
pub(crate) fn report(checks: &[Check], json: bool) -> ExitCode {
    let is_well = checks.iter().all(|check| check.fault.is_none());
    if json {
        let checks: Vec<_> = checks
            .iter()
            .map(|check| json!({ "check": check.what, "ok": check.fault.is_none(), "fault": check.fault }))
            .collect();
        output::json(&json!({ "ok": is_well, "checks": checks }));
    } else {
        for check in checks {
            match &check.fault {
                None => output::line(&format!("ok    {}", check.what)),
                Some(fault) => output::line(&format!("{} {}: {fault}", styled(BAD, "fault"), check.what)),
            }
        }
    }
    if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn git_check() -> Check {
    let git = std::process::Command::new("git").arg("--version").output();
    let fault = match git {
        Ok(output) if output.status.success() => None,
        _ => Some("`git` was not found in PATH; install git, which fetches remotes".to_owned()),
    };
    Check { what: "git".to_owned(), fault }
}

/// Checks that every file of the index directory is readable. The stores verify the contents.
fn files_check(directory: &Path) -> Check {
    let mut faults = Vec::new();
    read_all(directory, &mut faults);
    let (num_more, shown) = (faults.len().saturating_sub(3), faults.iter().take(3).cloned().collect::<Vec<_>>());
    let more = if num_more > 0 { format!("; and {num_more} more") } else { String::new() };
    let remedy = "check the disk and the permissions; `cairn index --rebuild` writes lost data again";
    let fault = (!faults.is_empty()).then(|| format!("{}{more}; {remedy}", shown.join("; ")));
    Check { what: "files of the index directory".to_owned(), fault }
}

fn read_all(directory: &Path, faults: &mut Vec<String>) {
    let mut fault =
        |path: &Path, error: io::Error| faults.push(format!("{} cannot be read: {}", path.display(), plain_io(&error)));
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
            // A file that no longer exists was a temporary file, so this is not a fault.
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
    let fault = written.err().map(|error| format!("cannot be written: {}", plain_io(&error)));
    Check { what: format!("index directory {}", local.home.directory.display()), fault }
}
