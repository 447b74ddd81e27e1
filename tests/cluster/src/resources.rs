//! Checks the resources that processes use after a fault: they must not exceed the resources that were used
//! before the fault.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::LocalCluster;

/// The memory limit for each service of a small cluster and for each child process of a service. Processes
/// usually need only a fraction of this memory.
pub(crate) const MEMORY_LIMIT_BYTES: u64 = 256 << 20;
/// Each worker has one connection for consuming and one connection for publishing.
const CONNECTIONS_OF_A_WORKER: usize = 2;

/// The number of connections to the broker that an idle cluster has.
pub(crate) fn num_connections(cluster: &LocalCluster) -> usize {
    cluster.workers().count() * CONNECTIONS_OF_A_WORKER
}

/// The highest peak memory of all running services and their child processes, in bytes. Fails if a peak
/// exceeds the limit.
pub(crate) fn peak_memory_bytes(cluster: &LocalCluster) -> Result<u64> {
    let mut most = 0;
    for (replica, peak) in cluster.peak_memory() {
        ensure!(
            peak <= MEMORY_LIMIT_BYTES,
            "{replica} used {} MiB of memory, which is more than the limit",
            peak >> 20
        );
        most = most.max(peak);
    }
    Ok(most)
}

/// The temporary files that replicas did not remove. The result contains all files in the temporary folders
/// of the replicas, and all entries that are not clones in the folders of clones.
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

/// The entries of a folder; empty if the folder does not exist.
fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}
