//! Kills the program at any write, or makes any write fail. The tests check that after the next run, the
//! index equals an index built from scratch.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

use rand::prelude::*;
use rand::rngs::StdRng;

use crate::harness::{Index, fresh_fingerprint, is_soak, seed};
use cairn_testkit::Mutation;

/// Failpoints where files are written, linked and removed. `points` adds the failpoints of the store's
/// transactions.
const FILE_POINTS: [&str; 13] = [
    "blobs::write",
    "blobs::sync",
    "blobs::link",
    "blobs::linked",
    "blobs::delete",
    "segments::create",
    "segments::write",
    "segments::sync",
    "segments::rename",
    "segments::sync_directory",
    "segments::remove",
    "home::create",
    "home::replace",
];

/// Maximum number of attempts to pass a failpoint, each after a change of the repository. If no attempt
/// passes the failpoint, the test fails.
const ATTEMPTS: u32 = 40;

const SIGKILL: i32 = 9;

/// All failpoints where data is written.
fn points() -> Vec<String> {
    let transactions = cairn_local_store::WRITE_OPERATIONS
        .iter()
        .flat_map(|operation| [format!("store::commit::{operation}"), format!("store::committed::{operation}")]);
    FILE_POINTS.iter().map(|point| (*point).to_owned()).chain(transactions).collect()
}

/// The operation during which the program passes a failpoint.
#[derive(Clone, Copy)]
enum Passing {
    /// An index run, and the sweep after it.
    Indexing,
    /// An index run whose index directory does not exist yet.
    Creating,
    /// The cancellation of an unfinished run.
    Cancelling,
    /// The sweep after a cancelled run.
    SweepingCancelled,
    Removing,
}

impl Passing {
    fn of(point: &str) -> Self {
        match point.rsplit("::").next().unwrap_or_default() {
            "abort" => Self::Cancelling,
            "create" if point.starts_with("home") => Self::Creating,
            // Only the first run registers the repository.
            "register" => Self::Creating,
            "sweep_aborted" | "forget_aborted" => Self::SweepingCancelled,
            "delete" if point.starts_with("store") => Self::Removing,
            "remove" | "remove_repository" | "forget_deletion" => Self::Removing,
            _ => Self::Indexing,
        }
    }
}

/// A repository that changes, and its index. The index has no grace period, so every sweep removes unused
/// data at once.
struct Bench {
    mutation: Mutation,
    index: Index,
}

impl Bench {
    fn new(seed: u64) -> Self {
        let mutation = Mutation::new(seed, if is_soak() { 200 } else { 30 });
        let bench = Self { mutation, index: Index::new() };
        bench.succeed(&mut bench.indexing());
        bench
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.index.command(arguments);
        command.env("CAIRN_SWEEP_GRACE_MS", "0").env("CAIRN_LOG", "warn");
        command
    }

    fn indexing(&self) -> Command {
        self.command(&["index", &self.mutation.root().to_string_lossy(), "--name", "r", "--json"])
    }

    fn succeed(&self, command: &mut Command) {
        let output = command.output().expect("the program starts");
        assert!(output.status.success(), "{command:?}: {}; {:#?}", reported(&output), self.mutation.log);
    }

    /// Changes the repository and executes the operation once with a fault at the point. Returns false if the
    /// point was not passed.
    fn strike(&mut self, variable: &str, point: &str, count: u64) -> bool {
        self.mutation.step();
        let passing = Passing::of(point);
        if matches!(passing, Passing::Cancelling | Passing::SweepingCancelled) {
            let mut left_behind = self.indexing();
            left_behind.env("CAIRN_KILL_AT", "store::committed::end_part:0").output().expect("the program starts");
        }
        match passing {
            Passing::Removing => self.mend(),
            Passing::Creating => self.index = Index::new(),
            _ => {}
        }
        if matches!(passing, Passing::SweepingCancelled) {
            self.succeed(&mut self.command(&["runs", "cancel", "--json"]));
        }
        let mut command = match passing {
            Passing::Cancelling => self.command(&["runs", "cancel", "--json"]),
            Passing::Removing => self.command(&["remove", "r", "--json"]),
            Passing::Indexing | Passing::Creating | Passing::SweepingCancelled => self.indexing(),
        };
        let output = command.env(variable, format!("{point}:{count}")).output().expect("the program starts");
        output.status.signal() == Some(SIGKILL) || reported(&output).contains("injected fault")
    }

    /// Repeats the operation until the fault happens.
    fn hit(&mut self, variable: &str, point: &str, count: u64) {
        let hit = self.strike(variable, point, count) || (1..ATTEMPTS).any(|_| self.strike(variable, point, 0));
        assert!(hit, "the point {point} is never passed; {:#?}", self.mutation.log);
    }

    /// Executes the next run. An unfinished run is finished first, with the state of the source that this run
    /// has already read.
    fn mend(&self) {
        self.succeed(&mut self.indexing());
    }

    fn equals_fresh(&self, what: &str) {
        let (ours, fresh) = (self.index.fingerprint(), fresh_fingerprint(self.mutation.root()));
        assert_eq!(ours, fresh, "{what}; {:#?}", self.mutation.log);
    }
}

fn reported(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout))
}

#[test]
fn next_run_finishes_a_killed_run() {
    let seed = seed();
    let mut rng = StdRng::seed_from_u64(seed);
    let mut bench = Bench::new(seed);
    let points = points();
    let num_rounds = if is_soak() { 7 } else { 1 };
    for round in 0..num_rounds {
        for (number, point) in points.iter().enumerate() {
            let count = rng.random_range(0..4);
            bench.hit("CAIRN_KILL_AT", point, count);
            if rng.random_bool(0.5) {
                bench.mutation.step();
            }
            bench.mend();
            if is_soak() || (number + 1) % 10 == 0 {
                bench.equals_fresh(&format!("round {round}, killed at {point}:{count}"));
            }
        }
    }
    println!("killed {} times", points.len() * num_rounds);
    bench.equals_fresh("at the end");
}

#[test]
fn failing_write_loses_nothing() {
    let mut bench = Bench::new(seed());
    let points = points();
    for (number, point) in points.iter().enumerate() {
        bench.hit("CAIRN_FAIL_AT", point, 0);
        bench.mend();
        if is_soak() || (number + 1) % 10 == 0 {
            bench.equals_fresh(&format!("failed at {point}"));
        }
    }
    println!("failed at {} points", points.len());
    bench.equals_fresh("at the end");
}
