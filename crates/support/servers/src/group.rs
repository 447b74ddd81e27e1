//! Reads information about a process group from `/proc`.
//!
//! On a busy machine, signals take effect late. SIGSTOP stops a process only when one of its threads is
//! scheduled next. A killed process keeps its ports until its last thread has ended, even if its first thread
//! is already a zombie. Therefore the state of the threads is checked, not the state of the processes.

use std::fs;
use std::path::Path;

/// Whether a thread of the group is alive. Dead processes may remain in `/proc` for a long time, because init
/// may reap them late.
pub(crate) fn is_alive(group: u32) -> bool {
    thread_states(group).into_iter().any(|state| !is_dead(state))
}

/// Whether no thread of the group can run.
pub(crate) fn is_stopped(group: u32) -> bool {
    thread_states(group).into_iter().all(|state| state == 'T' || is_dead(state))
}

fn is_dead(state: char) -> bool {
    matches!(state, 'Z' | 'X')
}

fn thread_states(group: u32) -> Vec<char> {
    let processes = stats(Path::new("/proc")).into_iter().filter(|(_, stat)| group_of(stat) == Some(group));
    let threads = processes.flat_map(|(process, _)| stats(Path::new(&format!("/proc/{process}/task"))));
    threads.filter_map(|(_, stat)| fields(&stat)?.next()?.chars().next()).collect()
}

/// The ids and the `stat` files of the processes or threads in a folder of `/proc`.
fn stats(folder: &Path) -> Vec<(String, String)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let numbers = names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    let with_stat = |number: String| {
        let stat = fs::read_to_string(folder.join(&number).join("stat")).ok()?;
        Some((number, stat))
    };
    numbers.filter_map(with_stat).collect()
}

/// The highest peak memory of any living process in the group, in bytes.
pub(crate) fn peak_memory_bytes(group: u32) -> u64 {
    let processes = stats(Path::new("/proc")).into_iter().filter(|(_, stat)| group_of(stat) == Some(group));
    let statuses = processes.filter_map(|(process, _)| fs::read_to_string(format!("/proc/{process}/status")).ok());
    statuses.filter_map(|status| peak_of(&status)).max().unwrap_or_default()
}

/// Parses a line like `VmHWM: 5120 kB`. The status of a zombie does not contain this line.
fn peak_of(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// The fields after the process name: state, parent, group, and further fields. The name may contain any
/// character.
fn fields(stat: &str) -> Option<impl Iterator<Item = &str>> {
    Some(stat.rsplit_once(") ")?.1.split(' '))
}

fn group_of(stat: &str) -> Option<u32> {
    fields(stat)?.nth(2)?.parse().ok()
}

/// The start time of the process in kernel ticks. `None` if the process does not exist or is dead.
pub(crate) fn started_at(process: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let is_zombie = fields(&stat)?.next()?.starts_with(is_dead);
    if is_zombie { None } else { fields(&stat)?.nth(19)?.parse().ok() }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn group_id_is_parsed_after_the_process_name() {
        let check = |stat: &str, expect: Option<u32>| assert_eq!(group_of(stat), expect, "{stat}");
        check("71 (beam.smp) S 69 70 69 0 -1", Some(70));
        check("71 (a) b) c) R 69 70 69 0 -1", Some(70));
        check("", None);
    }

    #[test]
    fn peak_memory_is_read() {
        assert_eq!(peak_of("Name:\tcat\nVmPeak:\t 9000 kB\nVmHWM:\t    5120 kB\nVmRSS:\t 1 kB\n"), Some(5120 * 1024));
        assert_eq!(peak_of("Name:\tcat\nState:\tZ (zombie)\n"), None);
        assert!(peak_memory_bytes(rustix::process::getpgrp().as_raw_nonzero().get().unsigned_abs()) > 0);
    }

    #[test]
    fn zombie_is_not_alive() -> anyhow::Result<()> {
        let mut child = Command::new("cat").stdin(Stdio::piped()).process_group(0).spawn()?;
        let group = child.id();
        assert!(is_alive(group));
        assert!(started_at(group).is_some());
        drop(child.stdin.take());
        // The child stays a zombie, because no call has waited for it yet.
        while is_alive(group) {
            std::thread::yield_now();
        }
        assert_eq!(started_at(group), None);
        child.wait()?;
        assert!(!is_alive(group));
        Ok(())
    }
}
