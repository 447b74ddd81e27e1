//! A cluster of a test's own, and repositories for it.

use anyhow::Result;
use cairn_servers::Collections;
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::{Mutex, MutexGuard};
use toml::Table;

use crate::{Inside, LocalCluster, LocalMode, Servers, Space, Workload};

/// A prepared cluster in a space of its own, its folder, and a look inside. `CAIRN_KEEP` keeps the folder.
pub struct Ground {
    pub cluster: LocalCluster,
    pub inside: Inside,
    pub space: Space,
    pub directory: TempDir,
    is_kept: bool,
    /// What the cluster has in Qdrant, deleted after its services have ended.
    _collections: Collections,
    /// Clusters come one after the other: two at once would only wait for each other's processors.
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

    /// Leaves the folder, with the logs in it, unless it is said that all is `done`.
    pub fn keep(&mut self) {
        self.is_kept = true;
    }

    /// Nobody has to look at the logs.
    pub fn done(&mut self) {
        self.is_kept = std::env::var_os("CAIRN_KEEP").is_some();
    }

    /// What local mode, which no fault meets, makes of repositories as they are now: fingerprints of an index of that name.
    pub fn index_locally(&self, name: &str, workload: &Workload) -> Result<Vec<Value>> {
        let root = self.directory.path();
        let local = LocalMode::new(&root.join(name), &root.join("operator.toml"));
        workload.index_locally(&local)?;
        local.fingerprints()
    }
}

impl Drop for Ground {
    /// A failing test leaves its logs.
    fn drop(&mut self) {
        if self.is_kept || std::thread::panicking() {
            self.directory.disable_cleanup(true);
            eprintln!("logs: {}", self.directory.path().display());
        }
    }
}
