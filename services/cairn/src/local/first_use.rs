//! Indexes a working tree when the first question about it is asked.
//!
//! A question indexes only the working tree that contains the working directory, and only within the limits
//! in `first_use` of the operator's settings. A tree counts as indexed only if a generation of it is
//! published. If an earlier run was stopped, the next question finishes it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cairn_domain::{RepositoryId, RunId, RunState, Scope, Source, Tenant};
use cairn_gateway::answers::RequestState;
use cairn_git::{Limits, TreeSize, tree_size, work_tree_root};
use cairn_pipeline::StageError;
use cairn_ports::{Catalogue, FailureCode, LedgerRead, RepositoryRecord};
use cairn_wire::RequestSettings;

use super::naming::{Named, unused_name};
use super::{IndexRequest, Indexed, Local, Progress};

/// The working tree or registered repository that contains a directory.
pub enum TreeAround {
    /// The directory is in no working tree and in no registered repository.
    Nowhere,
    /// The repository is indexed, or no question may index it.
    Repository(String),
    Unindexed(Box<UnindexedTree>),
}

/// A working tree or directory without a published generation.
pub struct UnindexedTree {
    pub root: PathBuf,
    pub size: TreeSize,
    /// The call that indexes the tree.
    pub request: IndexRequest,
    /// The name of the repository, if it is registered.
    pub registered: Option<String>,
}

impl UnindexedTree {
    /// Whether the tree exceeds a limit. If it does, no question indexes the tree.
    pub fn is_too_large(&self) -> bool {
        !self.size.is_complete
    }
}

impl Local {
    /// The tree that contains the directory, and whether a question may index it.
    pub async fn tree_around(&self, directory: &Path) -> anyhow::Result<TreeAround> {
        let record = self.record_of_directory(directory).await?;
        let registered = record.as_ref().map(|record| record.name.to_string());
        let is_published = match &record {
            Some(record) => self.is_published(record.id).await?,
            None => false,
        };
        let limits = &self.operator.first_use;
        if is_published || limits.max_files == 0 {
            return Ok(registered.map_or(TreeAround::Nowhere, TreeAround::Repository));
        }
        let request = match &record {
            Some(record) => self.request_of(record, &self.runs.repositories(&Scope::all(Tenant::local())).await?)?,
            None => match self.first_request(directory).await? {
                Some(request) => request,
                None => return Ok(TreeAround::Nowhere),
            },
        };
        let (source, of_git) = (request.source.clone(), Limits::from(&self.operator.sources));
        let (max_files, max_bytes) = (limits.max_files, limits.max_bytes);
        let counting = move || tree_size(&source, &of_git, max_files, max_bytes);
        let Some(size) = tokio::task::spawn_blocking(counting).await? else {
            return Ok(registered.map_or(TreeAround::Nowhere, TreeAround::Repository));
        };
        let root = PathBuf::from(request.source.location());
        Ok(TreeAround::Unindexed(Box::new(UnindexedTree { root, size, request, registered })))
    }

    /// The request that indexes the working tree around a directory for the first time. If the index contains
    /// a different clone of the same remote, or a different folder with the same name, that repository keeps
    /// its name, and the new repository gets an unused name.
    async fn first_request(&self, directory: &Path) -> anyhow::Result<Option<IndexRequest>> {
        let Some(path) = work_tree_root(directory).and_then(|root| root.to_str().map(str::to_owned)) else {
            return Ok(None);
        };
        let source = Source::WorkTree { path };
        let records = self.runs.repositories(&Scope::all(Tenant::local())).await?;
        let Named { name, known } = self.named(&source, None, &records)?;
        let name = if known.is_none() { unused_name(name, &source, &records) } else { name };
        let settings = RequestSettings::default();
        Ok(Some(IndexRequest { source, name, branch: None, settings, rebuild: false, known: known.map(Box::new) }))
    }

    /// Indexes a tree for a question. If another process is reading the tree, waits until that process has
    /// finished. The caller must limit the waiting time.
    pub async fn index_first(&self, request: &IndexRequest, progress: &dyn Progress) -> anyhow::Result<Indexed> {
        loop {
            // No pause is needed, because `index` itself waits before it returns a conflict.
            match self.index(request, progress).await {
                Err(error) if is_conflict(&error) => {}
                indexed => return indexed,
            }
        }
    }

    async fn is_published(&self, repository: RepositoryId) -> anyhow::Result<bool> {
        let view = self.runs.view().await?;
        Ok(self.runs.published(&view, repository).await?.is_some())
    }

    /// The runs of a repository that have not ended.
    pub async fn unfinished_of(&self, repository: RepositoryId) -> anyhow::Result<Vec<RunId>> {
        let runs = self.runs.unfinished().await?.into_iter().map(|run| run.id);
        Ok(runs.filter(|run| run.repository == repository).collect())
    }

    pub fn first_use_timeout(&self) -> Duration {
        Duration::from_secs(self.operator.first_use.timeout_seconds)
    }

    /// The name of the registered working tree or directory that contains this directory.
    pub async fn repository_of_directory(&self, directory: &Path) -> anyhow::Result<Option<String>> {
        Ok(self.record_of_directory(directory).await?.map(|record| record.name.to_string()))
    }

    /// The registered working tree or directory that contains this directory. Repositories that are nested in
    /// a working tree do not belong to it. If a path is registered twice, the published repository is
    /// returned.
    pub(super) async fn record_of_directory(&self, directory: &Path) -> anyhow::Result<Option<RepositoryRecord>> {
        let known = self.runs.repositories(&Scope::all(Tenant::local())).await?;
        let own_tree = work_tree_root(directory);
        let holds = |record: &RepositoryRecord| match &record.source {
            Source::WorkTree { path } => {
                directory.starts_with(path) && own_tree.as_ref().is_none_or(|root| Path::new(path).starts_with(root))
            }
            Source::Directory { path } => directory.starts_with(path),
            Source::Bare { .. } | Source::Url { .. } => false,
        };
        let length = |record: &RepositoryRecord| record.source.location().len();
        let known: Vec<RepositoryRecord> = known.into_iter().filter(holds).collect();
        let Some(longest) = known.iter().map(length).max() else { return Ok(None) };
        let mut nearest: Vec<RepositoryRecord> = known.into_iter().filter(|record| length(record) == longest).collect();
        for position in 0..nearest.len() {
            if nearest.len() > 1 && self.is_published(nearest[position].id).await? {
                return Ok(Some(nearest.swap_remove(position)));
            }
        }
        Ok(nearest.into_iter().next())
    }
}

fn is_conflict(error: &anyhow::Error) -> bool {
    error.downcast_ref::<StageError>().is_some_and(|error| error.code == FailureCode::Conflict)
}

/// The reason why a run did not index the tree. `None` if the tree is indexed.
pub fn failure_of(indexed: &Indexed) -> Option<String> {
    match indexed.state {
        RunState::Published | RunState::Partial => None,
        state => {
            let message = indexed.message.as_deref().unwrap_or("no reason is recorded");
            Some(format!("the run ended as {}: {message}", RequestState::of(state).as_str()))
        }
    }
}

/// The notice that a working tree is too large for a question.
pub fn too_large(tree: &UnindexedTree) -> String {
    const MEGABYTE: u64 = 1_000_000;
    let TreeSize { num_files, size_bytes, .. } = tree.size;
    let (root, megabytes) = (tree.root.display(), size_bytes / MEGABYTE);
    format!(
        "the working tree {root} is not indexed: it has at least {num_files} files and {megabytes} MB, which \
         exceeds the limits of `first_use`"
    )
}
