//! The cluster of one test, with its folder and its stores.

use anyhow::Result;
use cairn_servers::Collections;
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::{Mutex, MutexGuard};
use toml::Table;

use crate::{Inside, LocalCluster, LocalMode, Servers, Space, Workload};

/// A prepared cluster in its own space, its folder, and access to its stores. If `CAIRN_KEEP` is set, the
/// folder is not deleted.
pub struct Environment {
    pub cluster: LocalCluster,
    pub inside: Inside,
    pub space: Space,
    pub directory: TempDir,
    is_kept: bool,
    /// The cluster's collections in Qdrant. They are deleted after the services have ended.
    _collections: Collections,
    /// A lock. Only one cluster runs at a time, because two clusters would compete for the processors.
    _turn: MutexGuard<'static, ()>,
}

static TURN: Mutex<()> = Mutex::const_new(());

impl Environment {
    pub async fn prepare(servers: &Servers, overrides: &Table) -> Result<Self> {
        let turn = TURN.lock().await;
        let directory = tempfile::tempdir()?;
        let space = Space::create(servers).await?;
        let collections = Collections::under(&servers.qdrant, &format!("{}-", space.collection_prefix));
        let cluster = LocalCluster::prepare(directory.path(), servers, &space, overrides)?;
        let inside = Inside::open(&cluster.settings()).await?;
        let mut environment =
            Self { cluster, inside, space, directory, is_kept: false, _collections: collections, _turn: turn };
        environment.done();
        Ok(environment)
    }

    /// Keeps the folder with the logs until `done` is called.
    pub fn keep(&mut self) {
        self.is_kept = true;
    }

    /// Call this function when the logs are no longer needed: the folder is then deleted, unless `CAIRN_KEEP`
    /// is set.
    pub fn done(&mut self) {
        self.is_kept = std::env::var_os("CAIRN_KEEP").is_some();
    }

    /// Indexes the present state of the repositories in local mode, without faults, and returns the
    /// fingerprints.
    pub fn index_locally(&self, name: &str, workload: &Workload) -> Result<Vec<Value>> {
        let root = self.directory.path();
        let local = LocalMode::new(&root.join(name), &root.join("operator.toml"));
        workload.index_locally(&local)?;
        local.fingerprints()
    }
}

impl Drop for Environment {
    /// Keeps the folder of a failed test, because it contains the logs.
    fn drop(&mut self) {
        if self.is_kept || std::thread::panicking() {
            self.directory.disable_cleanup(true);
            eprintln!("logs: {}", self.directory.path().display());
        }
    }
}
