//! The manifest artifact: every path of a snapshot.

use cairn_domain::{ArtifactRef, Digest, ManifestEntry};

use crate::codec::record;

/// Entries sorted by path.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Manifest {
    /// Of the settings by which paths and contents were decided: under the same rules an unchanged blob is decided the same.
    pub rules: Digest,
    /// Of the versions of everything that makes records of facts: under other tools every record is made anew.
    pub tools: Digest,
    /// Text of the repository's `.cairn.yaml`; empty if it has none.
    pub settings: String,
    /// The link summary of the generation; set when it is published.
    pub links: Option<ArtifactRef>,
    pub entries: Vec<ManifestEntry>,
}
record!(Manifest { rules, tools, settings, links, entries });

impl Manifest {
    pub fn find(&self, path: &str) -> Option<&ManifestEntry> {
        let found = self.entries.binary_search_by(|entry| entry.path.as_str().cmp(path));
        found.ok().map(|index| &self.entries[index])
    }
}
