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
    /// Time spent in the stage, as the sum over its parts.
    pub duration_ms: u64,
}

/// The result of a run (`cairn index --json`, run status). Counts are of the whole snapshot unless their
/// comment states otherwise.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunResult {
    pub repository: String,
    /// The place of the source.
    pub path: String,
    /// Commit id (with `-dirty`), or digest of the content.
    pub commit: String,
    pub files_indexed: u64,
    /// By outcome: `indexed`, `skipped(binary)`, `failed(unreadable)` …
    pub files: BTreeMap<String, u64>,
    pub symbols: u64,
    pub chunks: u64,
    pub edges: u64,
    pub patterns: u64,
    /// Edges by resolution class.
    pub edges_by_resolution: BTreeMap<String, u64>,
    /// Unresolved references by reason.
    pub unresolved: BTreeMap<String, u64>,
    pub secrets: u64,
    /// Files that this run parsed.
    pub files_parsed: u64,
    /// Chunks that this run embedded, and chunks whose vector was cached.
    pub chunks_embedded: u64,
    pub cache_hits: u64,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub max_file_size: u64,
    /// The first 100; those of settings files come first.
    pub errors: Vec<FileError>,
    pub num_errors: u64,
    /// Settings files (`.cairnignore`, `.gitattributes`) that cannot be read or used, the first 100. They are
    /// also among `errors`.
    pub settings_errors: Vec<FileError>,
    pub num_settings_errors: u64,
    pub durations: Vec<StageDuration>,
    pub duration_ms: u64,
    /// Milliseconds since 1970.
    pub indexed_at_ms: i64,
}

/// A file of a source pack that was not parsed normally.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SlotStatus {
    pub slot: u32,
    /// The word of `ParseStatus`.
    pub status: String,
}

/// The report of a part when it ends.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PartReport {
    pub duration_ms: u64,
    pub files_parsed: u64,
    /// Chunks of the pack's contents; reported by parse. A content with several paths counts once.
    pub chunks_parsed: u64,
    /// Records of the pack's contents; reported by parse. A content with several paths counts once.
    pub records_parsed: u64,
    pub chunks_embedded: u64,
    pub cache_hits: u64,
    /// Counts of the whole snapshot; reported by link.
    pub symbols: u64,
    pub chunks: u64,
    pub edges: u64,
    pub edges_by_resolution: BTreeMap<String, u64>,
    pub unresolved: BTreeMap<String, u64>,
    /// Number in the whole snapshot; reported by aggregate.
    pub patterns: u64,
    pub slots: Vec<SlotStatus>,
    /// Artifacts of the part that later parts read, by name.
    pub artifacts: BTreeMap<String, WrittenArtifact>,
}

/// A claim check in a report.
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
