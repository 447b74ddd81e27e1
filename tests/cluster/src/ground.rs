//! The cluster of one test, and repositories for it.

use anyhow::Result;
use cairn_servers::Collections;
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::{Mutex, MutexGuard};
use toml::Table;

use crate::{Inside, LocalCluster, LocalMode, Servers, Space, Workload};

/// A prepared cluster in its own space, its folder, and access to its stores. `CAIRN_KEEP` keeps the folder.
pub struct Ground {
    pub cluster: LocalCluster,
    pub inside: Inside,
    pub space: Space,
    pub directory: TempDir,
    is_kept: bool,
    /// The cluster's collections in Qdrant, deleted after its services have ended.
    _collections: Collections,
    /// Clusters run one after the other: two at the same time would only compete for the processors.
    _turn: MutexGuard<'static, ()>,
}

static TURN: Mutex<()> = Mutex::const_new(());

impl Ground {
    pub async fn prepare(servers: &Servers, overrides: &Table) -> Result<Self> {
        let turn = TURN.lock().await;
        let directory = tempfile::tempdir()?;
        let space = Space::create(servers).await?;
        let collections = Collections::under(&servers.qdrant, &format!("{}-", space.collection_prefix));
        let cluster = LocalCluster::prepare(directory.path(), servers, &space, overrides)?;
        let inside = Inside::open(&cluster.settings()).await?;
        let mut ground =
            Self { cluster, inside, space, directory, is_kept: false, _collections: collections, _turn: turn };
        ground.done();
        Ok(ground)
    }

    /// Keeps the folder with its logs, unless the test is `done`.
    pub fn keep(&mut self) {
        self.is_kept = true;
    }

    /// The logs are not needed.
    pub fn done(&mut self) {
        self.is_kept = std::env::var_os("CAIRN_KEEP").is_some();
    }

    /// Fingerprints of an undisturbed local index of the repositories in their present state.
    pub fn index_locally(&self, name: &str, workload: &Workload) -> Result<Vec<Value>> {
        let root = self.directory.path();
        let local = LocalMode::new(&root.join(name), &root.join("operator.toml"));
        workload.index_locally(&local)?;
        local.fingerprints()
    }
}

impl Drop for Ground {
    /// A failing test keeps its logs.
    fn drop(&mut self) {
        if self.is_kept || std::thread::panicking() {
            self.directory.disable_cleanup(true);
            eprintln!("logs: {}", self.directory.path().display());
        }
    }
}
