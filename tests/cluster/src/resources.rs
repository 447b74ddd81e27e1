//! Checks the resources that processes use after a fault: they must not exceed the resources that were used
//! before the fault.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

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

/// The local port and the remote port of each established TCP connection of this machine.
pub(crate) fn established_ports() -> Result<BTreeSet<(u16, u16)>> {
    let version_4 = fs::read_to_string("/proc/net/tcp").context("/proc/net/tcp cannot be read")?;
    // A machine without IPv6 has no such file.
    let version_6 = fs::read_to_string("/proc/net/tcp6").unwrap_or_default();
    Ok([version_4, version_6].iter().flat_map(|table| table.lines().skip(1)).filter_map(ports_of_line).collect())
}

/// The ports of a line of `/proc/net/tcp`; `None` if the connection is not established. The columns are
/// number, local address, remote address, state; addresses and states are hexadecimal
/// (<https://docs.kernel.org/networking/proc_net_tcp.html>).
fn ports_of_line(line: &str) -> Option<(u16, u16)> {
    let columns: Vec<&str> = line.split_whitespace().take(4).collect();
    let [_, local, remote, "01"] = columns[..] else { return None };
    let port = |address: &str| u16::from_str_radix(address.rsplit_once(':')?.1, 16).ok();
    Some((port(local)?, port(remote)?))
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
