//! Measures the processor time of this process and of all processes that it started.

use std::collections::BTreeMap;
use std::fs;

/// Ticks per second of the clock with which the system measures processor time.
const TICKS_PER_SECOND: f64 = 100.0;

struct Process {
    parent: u32,
    name: String,
    seconds: f64,
}

/// The processor time of each program in seconds, by the name of the program.
pub(crate) fn seconds() -> BTreeMap<String, f64> {
    let mut processes: BTreeMap<u32, Process> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let stat = fs::read_to_string(entry.path().join("stat")).ok();
        if let Some(process) = stat.and_then(|stat| read(&stat)) {
            processes.insert(id, process);
        }
    }
    let own = std::process::id();
    let mut seconds = BTreeMap::new();
    for (id, process) in &processes {
        let mut above = *id;
        while above != own && above > 1 {
            above = processes.get(&above).map_or(0, |process| process.parent);
        }
        if above == own {
            *seconds.entry(process.name.clone()).or_default() += process.seconds;
        }
    }
    seconds
}

/// The fields of `/proc/ID/stat`. The name of a program is in parentheses and may contain spaces.
fn read(stat: &str) -> Option<Process> {
    let (name, rest) = (stat.split_once('(')?.1.rsplit_once(')')?.0, stat.rsplit_once(')')?.1);
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    let (parent, seconds) = (fields.get(1)?.parse().ok()?, ticks as f64 / TICKS_PER_SECOND);
    Some(Process { parent, name: name.to_owned(), seconds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_is_read() {
        let stat = "7 (a (b) c) S 3 7 7 0 -1 4194304 1 2 3 4 250 50 9 9 20 0 1 0 5 6 7";
        let process = read(stat).expect("a process");
        assert_eq!((process.parent, process.name.as_str(), process.seconds), (3, "a (b) c", 3.0));
    }
}
