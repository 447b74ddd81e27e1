//! Indexes a working tree when the first question about it is asked.
//!
//! A question indexes only the working tree that contains the working directory, and only within the limits
//! in `first_use` of the operator's settings. If the index directory was chosen explicitly and contains
//! repositories, no question changes it.

use std::path::Path;
use std::time::Duration;

use cairn_domain::{Scope, Source, Tenant};
use cairn_git::{WorkTreeSize, work_tree_around};
use cairn_ports::Catalogue;
use cairn_wire::RequestSettings;

use super::{IndexRequest, Local, Named, name_of};

/// A working tree that is not indexed, and whether a question may index it.
pub enum Unindexed {
    /// A question may index this tree.
    Small(WorkTreeSize),
    /// The tree exceeds a limit.
    TooLarge(WorkTreeSize),
}

impl Local {
    /// The working tree that contains the directory, if it is not indexed. `None` if no question may index
    /// it.
    pub async fn unindexed_tree(&self, directory: &Path) -> anyhow::Result<Option<Unindexed>> {
        let limits = &self.operator.first_use;
        if limits.max_files == 0 || self.repository_of_directory(directory).await?.is_some() {
            return Ok(None);
        }
        let known = self.runs.repositories(&Scope::all(Tenant::local())).await?;
        if self.home.is_explicit && !known.is_empty() {
            return Ok(None);
        }
        let Some(tree) = work_tree_around(directory) else { return Ok(None) };
        let is_small = tree.num_files <= limits.max_files && tree.size_bytes <= limits.max_bytes;
        Ok(Some(if is_small { Unindexed::Small(tree) } else { Unindexed::TooLarge(tree) }))
    }

    /// The request that indexes a working tree for the first time.
    pub async fn first_request(&self, tree: &WorkTreeSize) -> anyhow::Result<Option<IndexRequest>> {
        let Some(path) = tree.root.to_str().map(str::to_owned) else { return Ok(None) };
        let source = Source::WorkTree { path };
        let records = self.runs.repositories(&Scope::all(Tenant::local())).await?;
        let Named { name, known } = name_of(&source, None, &records);
        let settings = RequestSettings::default();
        Ok(Some(IndexRequest { source, name, branch: None, settings, rebuild: false, known: known.map(Box::new) }))
    }

    pub fn first_use_timeout(&self) -> Duration {
        Duration::from_secs(self.operator.first_use.timeout_seconds)
    }
}

/// The message that explains how to index a larger working tree.
pub fn too_large(tree: &WorkTreeSize) -> String {
    let WorkTreeSize { root, num_files, size_bytes } = tree;
    let megabytes = size_bytes.div_ceil(1_000_000);
    format!(
        "the working tree {root} is not indexed, and a question does not index {num_files} files ({megabytes} MB) automatically; \
         `cairn index {root}` indexes it",
        root = root.display()
    )
}
