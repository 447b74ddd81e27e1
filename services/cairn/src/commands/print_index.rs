//! Prints the result of an index call. The lines are the same for local mode and a server.

use std::collections::BTreeSet;

use cairn_gateway::answers::{IndexProgress, IndexedFiles, RequestState, SuggestedCall, short_commit};
use cairn_wire::RunResult;
use serde::Serialize;

use crate::output::{self, FAINT, NAME, styled};
use crate::reported::with_commands;

/// The result of an index call that has ended.
#[derive(Debug, Serialize)]
pub(crate) struct Ended {
    pub repository: String,
    /// `None` if nothing had changed, so that no run was needed.
    pub run_id: Option<String>,
    pub state: RequestState,
    pub message: Option<String>,
    #[serde(flatten)]
    pub indexed: IndexedFiles,
    pub result: RunResult,
}

impl From<IndexProgress> for Ended {
    fn from(progress: IndexProgress) -> Self {
        let IndexProgress { repository, run_id, state, message, result, .. } = progress;
        let indexed = summary_of(&result, state);
        Self { repository, run_id, state, message, indexed, result }
    }
}

pub(crate) fn ended(ended: &Ended, json: bool) {
    if json {
        return output::json(ended);
    }
    let Ended { repository: name, result, .. } = ended;
    if let Some(message) = &ended.message {
        return output::error(&format!("{name}: {} ({message})", ended.state.as_str()));
    }
    let commit = short_commit(&result.commit);
    if ended.run_id.is_none() {
        return output::line(&format!("{} {commit}: unchanged", styled(NAME, name)));
    }
    output::line(&format!("{} {commit}: {}", styled(NAME, name), summary(result)));
    // Most suggested calls are the same for all files, so each suggested command is printed only once.
    let mut printed = BTreeSet::new();
    for error in &ended.indexed.errors {
        output::note(&format!("  {}: {}", error.file, error.error));
        let mut is_new = |call: &&SuggestedCall| call.command.clone().is_some_and(|command| printed.insert(command));
        output::commands(&error.tool_suggestions.iter().filter(|call| is_new(call)).cloned().collect::<Vec<_>>());
    }
}

/// The summary of a result, with the commands that are suggested for its errors.
pub(crate) fn summary_of(result: &RunResult, state: RequestState) -> IndexedFiles {
    let mut indexed = IndexedFiles::of(result, state);
    for error in &mut indexed.errors {
        error.tool_suggestions = with_commands(std::mem::take(&mut error.tool_suggestions));
    }
    indexed
}

fn summary(result: &RunResult) -> String {
    let skipped: u64 =
        result.files.iter().filter(|(label, _)| label.starts_with("skipped")).map(|(_, count)| count).sum();
    let seconds = result.duration_ms as f64 / 1000.0;
    let counts = format!(
        "{} files indexed, {skipped} skipped, {} errors; {} symbols, {} chunks, {} edges, {} patterns",
        result.files_indexed, result.num_errors, result.symbols, result.chunks, result.edges, result.patterns
    );
    let work = format!(
        "{} files parsed, {} chunks embedded, {} from cache, {seconds:.1} s",
        result.files_parsed, result.chunks_embedded, result.cache_hits
    );
    format!("{counts} {}", styled(FAINT, format!("({work})")))
}
