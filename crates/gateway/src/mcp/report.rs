//! Repositories, runs and results as compact text.

use cairn_wire::{FileError, RunResult};

use super::labels::foreign;
use super::untrusted::{one_line, put_untrusted};
use crate::answers::{
    CoverageReport, LastSync, PendingSync, RepositoryReport, RunReport, RunStateName, short_commit, sync_note,
};

/// Maximum number of file errors that are listed individually.
pub(super) const NUM_ERRORS: usize = 5;

/// One line about a repository. The description and the topics are text from its hosting service.
pub(super) fn repository_line(repository: &RepositoryReport) -> String {
    let name = one_line(&repository.name);
    let note = sync_suffix(repository.last_sync.as_ref(), repository.pending_sync.as_ref());
    let note = note.map(|note| format!("; {note}")).unwrap_or_default();
    let about = about(repository);
    let Some(published) = &repository.published else {
        return format!("{name}: registered, not indexed yet{note}{about}");
    };
    let RunResult { files_indexed, chunks, .. } = published.result;
    let partial = if published.state == RunStateName::Partial { ", partial" } else { "" };
    let (commit, at) = (short_commit(&published.commit), &published.indexed_at);
    format!("{name} @ {commit}, indexed {at}{partial}, {files_indexed} files, {chunks} chunks{note}{about}")
}

/// A note about the sync of a repository. The cause of a failure may contain text from the repository.
pub(super) fn sync_suffix(last: Option<&LastSync>, pending: Option<&PendingSync>) -> Option<String> {
    sync_note(last, pending).map(|note| one_line(&note))
}

fn about(repository: &RepositoryReport) -> String {
    let description = repository.description.as_ref().map(|text| format!("; description {}", one_line(text)));
    let lists = [("topics", &repository.topics), ("include", &repository.include), ("exclude", &repository.exclude)];
    let lists = lists.into_iter().filter(|(_, texts)| !texts.is_empty()).map(|(name, texts)| {
        let texts: Vec<String> = texts.iter().map(|text| one_line(text)).collect();
        format!("; {name} {}", texts.join(", "))
    });
    description.into_iter().chain(lists).collect()
}

pub(super) fn counts(coverage: &CoverageReport) -> String {
    let counts: Vec<String> = coverage.counts.iter().map(|(outcome, count)| format!("{outcome} {count}")).collect();
    counts.join(", ")
}

/// One line about a run. The message of the run may contain text from the repository.
pub(super) fn put_run(out: &mut String, run: &RunReport) {
    let ended = run.ended_at.as_ref().map(|at| format!(", ended {at}")).unwrap_or_default();
    let (id, state) = (&run.run_id, run.state.as_str());
    // A refused sync has no commit.
    let commit = if run.commit.is_empty() { "not known".to_owned() } else { short_commit(&run.commit) };
    let (num_ended, num_parts, num_failed) = (run.num_ended, run.num_parts, run.num_failed);
    out.push_str(&format!(
        "run {id}: {state}, {num_ended} of {num_parts} parts, {num_failed} failed, commit {commit}, started {}{ended}\n",
        run.started_at
    ));
    put_untrusted(out, &run.message.iter().map(|message| one_line(message)).collect::<Vec<_>>());
}

pub(super) fn put_result(out: &mut String, result: &RunResult) {
    let RunResult { files_indexed, symbols, chunks, edges, patterns, num_errors, .. } = result;
    let num_paths: u64 = result.files.values().sum();
    out.push_str(&format!(
        "{files_indexed} of {num_paths} files indexed, {symbols} symbols, {chunks} chunks, {edges} edges, {patterns} patterns\n"
    ));
    if *num_errors > 0 {
        out.push_str(&format!("{num_errors} errors; the first errors are:\n"));
        let errors = result.errors.iter().take(NUM_ERRORS);
        let line = |error: &FileError| format!("{}: {}", foreign(&error.file), error.message);
        put_untrusted(out, &errors.map(line).collect::<Vec<_>>());
    }
}
