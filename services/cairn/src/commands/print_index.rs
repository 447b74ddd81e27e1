//! How an index call ended, on the terminal: the same lines, whoever did the work.

use cairn_wire::RunResult;
use serde::{Deserialize, Serialize};

use crate::output::{self, FAINT, NAME, styled};

/// What is shown of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ended {
    pub repository: String,
    /// None if nothing had changed.
    pub run_id: Option<String>,
    pub state: String,
    pub message: Option<String>,
    pub result: RunResult,
}

pub(crate) fn ended(ended: &Ended, json: bool) {
    if json {
        return output::json(&serde_json::json!(ended));
    }
    let Ended { repository: name, result, state, .. } = ended;
    if let Some(message) = &ended.message {
        return output::error(&format!("{name}: {state} ({message})"));
    }
    let commit = result.commit.get(..12.min(result.commit.len())).unwrap_or_default();
    let dirty = if result.commit.ends_with("-dirty") { "-dirty" } else { "" };
    if ended.run_id.is_none() {
        return output::line(&format!("{} {commit}{dirty}: unchanged", styled(NAME, name)));
    }
    output::line(&format!("{} {commit}{dirty}: {}", styled(NAME, name), summary(result)));
    for error in &result.errors {
        output::note(&format!("  {}: {}", error.file, error.message));
    }
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
