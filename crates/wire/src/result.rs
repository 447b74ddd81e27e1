//! The result of a run, and the report of each of its parts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An error about a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FileError {
    pub file: String,
    pub message: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StageDuration {
    pub stage: String,
    /// Time that was spent in the stage, summed over its parts.
    pub duration_ms: u64,
}

/// The result of a run (`cairn index --json`, run status). Counts refer to the whole snapshot unless their
/// comment states otherwise.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunResult {
    pub repository: String,
    /// The location of the source.
    pub path: String,
    /// Commit id, which may end with `-dirty`, or digest of the content.
    pub commit: String,
    pub files_indexed: u64,
    /// Number of files by outcome: `indexed`, `skipped(binary)`, `failed(unreadable)` …
    pub files: BTreeMap<String, u64>,
    pub symbols: u64,
    pub chunks: u64,
    pub edges: u64,
    pub patterns: u64,
    /// Number of edges by resolution class.
    pub edges_by_resolution: BTreeMap<String, u64>,
    /// Number of unresolved references by reason.
    pub unresolved: BTreeMap<String, u64>,
    pub secrets: u64,
    /// Number of files that this run parsed.
    pub files_parsed: u64,
    /// Number of chunks that this run embedded. `cache_hits` is the number of chunks whose vectors were in
    /// the cache.
    pub chunks_embedded: u64,
    pub cache_hits: u64,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub max_file_size: u64,
    /// The first 100 errors. Errors of settings files come first.
    pub errors: Vec<FileError>,
    pub num_errors: u64,
    /// The first 100 errors of settings files (`.cairnignore`, `.gitattributes`) that cannot be read or used.
    /// `errors` contains these errors too.
    pub settings_errors: Vec<FileError>,
    pub num_settings_errors: u64,
    pub durations: Vec<StageDuration>,
    pub duration_ms: u64,
    /// Time in milliseconds since 1970.
    pub indexed_at_ms: i64,
}

/// A file of a source pack that was not parsed normally.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SlotStatus {
    pub slot: u32,
    /// The name of the `ParseStatus`.
    pub status: String,
}

/// The report that a part writes when it ends.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PartReport {
    pub duration_ms: u64,
    pub files_parsed: u64,
    /// Number of chunks in the contents of the pack, reported by parse. Content with several paths is
    /// counted once.
    pub chunks_parsed: u64,
    /// Number of records that the contents of the pack produce, reported by parse. Content with several
    /// paths is counted once.
    pub records_parsed: u64,
    pub chunks_embedded: u64,
    pub cache_hits: u64,
    /// The stage link reports this count and the next four fields for the whole snapshot.
    pub symbols: u64,
    pub chunks: u64,
    pub edges: u64,
    pub edges_by_resolution: BTreeMap<String, u64>,
    pub unresolved: BTreeMap<String, u64>,
    /// Number of patterns in the whole snapshot, reported by aggregate.
    pub patterns: u64,
    pub slots: Vec<SlotStatus>,
    /// The artifacts that the part has written and that later parts read, by name.
    pub artifacts: BTreeMap<String, WrittenArtifact>,
}

/// A report's reference to an artifact that the part has written.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct WrittenArtifact {
    pub key: String,
    pub size_bytes: u64,
    pub hash: [u8; 32],
}

impl PartReport {
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a struct of texts and numbers is JSON")
    }

    pub fn from_json(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }
}
