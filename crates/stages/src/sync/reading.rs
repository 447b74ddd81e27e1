//! The inputs that are needed to read files and to decide whether their contents are indexed: the tree, its
//! settings, and the versions of the tools.

use std::sync::Arc;

use cairn_domain::{BlobId, Digester, FactsKey, RepoPath};
use cairn_ports::{SnapshotTree, SyncMeter};

use super::on_change::OnChange;
use super::settings::Effective;
use crate::Toolchain;

/// A snapshot that is read, with its settings.
#[derive(Clone)]
pub(crate) struct Reading {
    pub tools: Toolchain,
    pub settings: Arc<Effective>,
    pub tree: Arc<dyn SnapshotTree>,
    pub meter: Arc<SyncMeter>,
    pub on_change: OnChange,
}

impl Reading {
    /// Returns the identity of the facts of a blob, for its path and language.
    pub(crate) fn facts_key(&self, path: &RepoPath, blob: BlobId, language: &str) -> FactsKey {
        let ignore = if self.is_searched(path) {
            self.settings.ignore_digest
        } else {
            Digester::new("secrets-not-searched").digest()
        };
        self.tools.facts_key(blob, language, ignore)
    }

    /// Whether the file is searched for secrets.
    pub(crate) fn is_searched(&self, path: &RepoPath) -> bool {
        self.settings.unsearched.find(path.as_str()).is_none()
    }
}
