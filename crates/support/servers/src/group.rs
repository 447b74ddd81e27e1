//! Information from `/proc` about a process group.
//!
//! Signals take effect late on a busy machine. SIGSTOP stops a process only when one of its threads is
//! scheduled next. A killed process keeps its ports until its last thread has ended, even if its first thread
//! is already a zombie. Therefore the state of the threads is checked, not that of the processes.

use std::fs;
use std::path::Path;

/// True if a thread of the group is alive; init may take long to reap dead processes.
pub(crate) fn is_alive(group: u32) -> bool {
    thread_states(group).into_iter().any(|state| !is_dead(state))
}

/// True if no thread of the group can run.
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

/// Ids and `stat` of the processes or threads in a folder of `/proc`.
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

/// The peak memory of the living processes in the group so far, in bytes: the highest of them.
pub(crate) fn peak_memory_bytes(group: u32) -> u64 {
    let processes = stats(Path::new("/proc")).into_iter().filter(|(_, stat)| group_of(stat) == Some(group));
    let statuses = processes.filter_map(|(process, _)| fs::read_to_string(format!("/proc/{process}/status")).ok());
    statuses.filter_map(|status| peak_of(&status)).max().unwrap_or_default()
}

/// Reads a line like `VmHWM:     5120 kB`; a zombie has none.
fn peak_of(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// State, parent, group and so on; the process name before them may contain any character.
fn fields(stat: &str) -> Option<impl Iterator<Item = &str>> {
    Some(stat.rsplit_once(") ")?.1.split(' '))
}

fn group_of(stat: &str) -> Option<u32> {
    fields(stat)?.nth(2)?.parse().ok()
}

/// Start time of the process in kernel ticks; `None` if it does not exist or is dead.
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
    fn group_is_read_after_the_name() {
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
        // The zombie is not reaped: no call waits for it yet.
        while is_alive(group) {
            std::thread::yield_now();
        }
        assert_eq!(started_at(group), None);
        child.wait()?;
        assert!(!is_alive(group));
        Ok(())
    }
}
