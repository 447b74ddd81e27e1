//! Creates entries of manifests.

use std::sync::Arc;

use cairn_domain::{BlobId, EntryKind, ManifestEntry, Outcome, RepoPath};

/// The entry of a file with one byte, without a language and without tags.
pub fn manifest_entry(path: RepoPath, outcome: Outcome) -> ManifestEntry {
    ManifestEntry {
        path,
        kind: EntryKind::File,
        blob: BlobId([1; 20]),
        size_bytes: 1,
        outcome,
        language: None,
        facts_key: None,
        source: None,
        num_secrets: 0,
        num_lines: 0,
        low_weight: false,
        navigation: false,
        tags: Arc::default(),
        changed_at: None,
        module: None,
    }
}
