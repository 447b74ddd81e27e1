//! Measures the memory of services, the messages in the broker, and the bytes that servers store.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use cairn_cluster::{Environment, STANDARD};
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio::time::sleep;

const EVERY: Duration = Duration::from_millis(100);
const PAGE_BYTES: u64 = 4096;

/// The peak memory of each service, including the processes that it started, sampled every 100 ms.
pub(crate) struct Memory {
    is_over: Arc<AtomicBool>,
    watching: JoinHandle<BTreeMap<u32, u64>>,
    services: BTreeMap<u32, &'static str>,
}

impl Memory {
    pub(crate) fn watch(environment: &mut Environment) -> Result<Self> {
        let mut services = BTreeMap::new();
        for service in STANDARD {
            services.insert(environment.cluster.process(service)?.pid().context("a process")?, service);
        }
        let is_over = Arc::new(AtomicBool::new(false));
        let watching = tokio::spawn(watch(services.keys().copied().collect(), Arc::clone(&is_over)));
        Ok(Self { is_over, watching, services })
    }

    /// Stops the sampling and returns the peak memory of each service in MiB.
    pub(crate) async fn stop(self) -> Result<BTreeMap<&'static str, u64>> {
        self.is_over.store(true, Ordering::SeqCst);
        let peaks = self.watching.await?;
        let name = |group: &u32| self.services.get(group).copied();
        Ok(peaks.iter().filter_map(|(group, bytes)| Some((name(group)?, bytes >> 20))).collect())
    }
}

async fn watch(groups: Vec<u32>, is_over: Arc<AtomicBool>) -> BTreeMap<u32, u64> {
    let mut peaks = BTreeMap::new();
    while !is_over.load(Ordering::SeqCst) {
        for (group, bytes) in resident(&groups) {
            let peak = peaks.entry(group).or_default();
            *peak = bytes.max(*peak);
        }
        sleep(EVERY).await;
    }
    peaks
}

/// Returns the resident bytes of each of these process groups.
fn resident(groups: &[u32]) -> BTreeMap<u32, u64> {
    let mut resident = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some((group, bytes)) = process(&entry.path()) else { continue };
        if groups.contains(&group) {
            *resident.entry(group).or_default() += bytes;
        }
    }
    resident
}

/// Returns the process group and the resident bytes of a process: fields 5 and 24 of its `stat`. Fields are
/// counted from the end of the process name, because the name may contain spaces and parentheses.
fn process(folder: &Path) -> Option<(u32, u64)> {
    let stat = fs::read_to_string(folder.join("stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let pages: u64 = fields.get(21)?.parse().ok()?;
    Some((fields.get(2)?.parse().ok()?, pages * PAGE_BYTES))
}

/// Returns the number of messages that were published in the cluster's vhost.
pub(crate) async fn num_messages(environment: &Environment) -> Result<u64> {
    let vhost = environment.space.vhost.as_ref().context("a vhost")?;
    let reported: Value =
        serde_json::from_str(&vhost.request("GET", &format!("/api/vhosts/{}", vhost.name()), "").await?)?;
    Ok(reported["message_stats"]["publish"].as_u64().unwrap_or_default())
}

/// Returns the total size of all files below a folder, in bytes.
pub(crate) fn bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(data) if data.is_dir() => bytes(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}

/// Returns the number of newlines in the files of a work tree.
pub(crate) fn lines(root: &Path) -> u64 {
    let entries = fs::read_dir(root).into_iter().flatten().flatten().filter(|entry| entry.file_name() != ".git");
    let count = |entry: fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => lines(&entry.path()),
        Ok(kind) if kind.is_file() => {
            fs::read(entry.path()).map_or(0, |text| text.iter().filter(|byte| **byte == b'\n').count() as u64)
        }
        _ => 0,
    };
    entries.map(count).sum()
}
