//! What processes hold when a fault is over: no more than before it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::LocalCluster;

/// Of a service of a small cluster, and of each of its children: several times what they were seen to need.
pub(crate) const MEMORY_LIMIT_BYTES: u64 = 256 << 20;
/// Each worker has one connection for consuming and one for publishing.
const CONNECTIONS_OF_A_WORKER: usize = 2;

/// How many connections to the broker a cluster has that stands still.
pub(crate) fn num_connections(cluster: &LocalCluster) -> usize {
    cluster.workers().count() * CONNECTIONS_OF_A_WORKER
}

/// The most memory that a service which runs now, or a child of it, has had.
pub(crate) fn peak_memory_bytes(cluster: &LocalCluster) -> Result<u64> {
    let mut most = 0;
    for (replica, peak) in cluster.peak_memory() {
        ensure!(peak <= MEMORY_LIMIT_BYTES, "{replica} had {} MiB in memory", peak >> 20);
        most = most.max(peak);
    }
    Ok(most)
}

/// What replicas left behind of what they needed for a moment: all of their temporary folders, and beside their clones what is no
/// clone.
pub(crate) fn left_behind(cluster: &LocalCluster) -> Vec<PathBuf> {
    let mut left = Vec::new();
    for replica in cluster.replicas() {
        left.extend(entries(&cluster.temporary(replica)));
        let cache = cluster.cache(replica);
        left.extend(entries(&cache).into_iter().filter(|path| !path.ends_with("clones")));
        left.extend(entries(&cache.join("clones")).into_iter().filter(|path| path.is_dir() && !is_clone(path)));
    }
    left
}

fn is_clone(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "git") && path.join("HEAD").exists()
}

/// None where there is no folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}
