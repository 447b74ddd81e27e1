//! Runs the program and measures its memory and processor time, and those of its child processes, which run
//! the grammars.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The interval between two measurements. The system keeps the peak memory of a process until the process
/// ends. So only the usage after the last measurement is missed.
const EVERY: Duration = Duration::from_millis(5);

/// The output of a run of the program, and the resources that it used.
pub(super) struct Watched {
    output: String,
    pub(super) num_children: usize,
    /// Peak resident memory of one child.
    pub(super) child_mib: f64,
    /// Processor time of all children. Other processes on the machine do not increase this time.
    pub(super) child_seconds: f64,
    /// Peak resident memory of the program itself.
    pub(super) program_mib: f64,
    /// Processor time of the program itself.
    pub(super) program_seconds: f64,
}

impl Watched {
    pub(super) fn run(mut command: Command) -> Watched {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let program = child.id();
        let (mut stdout, mut stderr) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
        let (running, ended) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let watcher = scope.spawn(move || {
                let mut peaks = Peaks::default();
                while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                    peaks.look(program);
                }
                peaks
            });
            let (mut output, mut errors) = (String::new(), String::new());
            let errors_read = scope.spawn(move || {
                stderr.read_to_string(&mut errors).expect("UTF-8");
                errors
            });
            stdout.read_to_string(&mut output).expect("UTF-8");
            let errors = errors_read.join().expect("no panic");
            let program_ticks = ticks_at_end(&child);
            let status = child.wait().expect("the program ends");
            drop(running);
            let peaks = watcher.join().expect("no panic");
            assert!(status.success(), "cairn failed: {errors}");
            Watched {
                output,
                program_seconds: program_ticks as f64 / TICKS_PER_SECOND,
                num_children: peaks.children.len(),
                child_seconds: peaks.children.values().sum::<u64>() as f64 / TICKS_PER_SECOND,
                child_mib: peaks.child_kib as f64 / 1024.0,
                program_mib: peaks.program_kib as f64 / 1024.0,
            }
        })
    }

    /// Processor time of the program and its children together.
    pub(super) fn seconds(&self) -> f64 {
        self.program_seconds + self.child_seconds
    }

    pub(super) fn answer(&self) -> Value {
        serde_json::from_str(self.output.lines().last().unwrap_or_default()).expect("JSON")
    }
}

#[derive(Default)]
struct Peaks {
    /// Processor ticks of each child, by process id.
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

/// Waits until a program that has closed its outputs has ended, and returns its processor ticks. The ticks
/// are read before the call of `wait`, because the system removes them after that call.
fn ticks_at_end(program: &Child) -> u64 {
    let stat = || fs::read_to_string(format!("/proc/{}/stat", program.id())).expect("an ended program");
    let started = Instant::now();
    while stat().rsplit_once(") ").is_none_or(|(_, rest)| !rest.starts_with('Z')) {
        assert!(started.elapsed() < LONGEST_END, "the program has closed its outputs but has not ended");
        std::thread::yield_now();
    }
    ticks_of(program.id()).expect("ticks")
}

const LONGEST_END: Duration = Duration::from_secs(60);

/// `USER_HZ`, which has the same value on all Linux systems.
pub(crate) const TICKS_PER_SECOND: f64 = 100.0;

/// Processor ticks in user mode and in system mode.
fn ticks_of(process: u32) -> Option<u64> {
    ticks(process, 2)
}

/// Processor ticks of a process and of its children that have ended.
pub(crate) fn ticks_with_children_of(process: u32) -> Option<u64> {
    ticks(process, 4)
}

/// The sum of fields of `stat`, beginning with the 14th. The 14th and 15th fields are the ticks of the
/// process in user mode and in system mode. The next two fields are those of its ended children. The fields
/// are counted from the end of the name in parentheses.
fn ticks(process: u32, num_fields: usize) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields = stat.rsplit_once(") ")?.1.split(' ').skip(11).take(num_fields);
    fields.map(|field| field.parse::<u64>().ok()).sum()
}

/// `VmHWM`: the peak of the resident memory.
pub(crate) fn peak_kib(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
