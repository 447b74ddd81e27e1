//! Runs the program and watches its children, in which grammars run.

use std::collections::HashMap;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use serde_json::Value;

/// How often the processes are looked at. What a process took at most is kept by the system while it lives, so only
/// what it took within its last such interval is missed.
const EVERY: Duration = Duration::from_millis(5);

/// A run of the program and what it took.
pub(super) struct Watched {
    output: String,
    pub(super) num_children: usize,
    /// Most resident memory of one child.
    pub(super) child_mib: f64,
    /// Time on a processor of all children, which other work on the machine does not lengthen.
    pub(super) child_seconds: f64,
    /// Most resident memory of the program itself.
    pub(super) program_mib: f64,
}

impl Watched {
    pub(super) fn run(mut command: Command) -> Watched {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let program = child.id();
        let (running, ended) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let watcher = scope.spawn(move || {
                let mut peaks = Peaks::default();
                while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                    peaks.look(program);
                }
                peaks
            });
            let output = child.wait_with_output().expect("the program ends");
            drop(running);
            let peaks = watcher.join().expect("no panic");
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "cairn failed: {errors}");
            Watched {
                output: String::from_utf8(output.stdout).expect("UTF-8"),
                num_children: peaks.children.len(),
                child_seconds: peaks.children.values().sum::<u64>() as f64 / TICKS_PER_SECOND,
                child_mib: peaks.child_kib as f64 / 1024.0,
                program_mib: peaks.program_kib as f64 / 1024.0,
            }
        })
    }

    pub(super) fn answer(&self) -> Value {
        serde_json::from_str(self.output.lines().last().unwrap_or_default()).expect("JSON")
    }
}

#[derive(Default)]
struct Peaks {
    /// Ticks of the processor by id.
    children: HashMap<u32, u64>,
    child_kib: u64,
    program_kib: u64,
}

impl Peaks {
    fn look(&mut self, program: u32) {
        self.program_kib = self.program_kib.max(peak_kib(program).unwrap_or(0));
        for thread in fs::read_dir(format!("/proc/{program}/task")).into_iter().flatten().flatten() {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            for child in children.split_whitespace().filter_map(|id| id.parse().ok()) {
                let ticks = self.children.entry(child).or_default();
                *ticks = (*ticks).max(ticks_of(child).unwrap_or(0));
                self.child_kib = self.child_kib.max(peak_kib(child).unwrap_or(0));
            }
        }
    }
}

/// `USER_HZ`, which is the same on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// Ticks in user and system mode: the 14th and 15th field of `stat`, counted behind the name in parentheses.
fn ticks_of(process: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

/// `VmHWM`: the most that was ever resident.
fn peak_kib(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
