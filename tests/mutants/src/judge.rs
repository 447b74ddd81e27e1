//! Runs a test and interprets its result.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::{Bug, Test, Tree};

/// A deadline that is longer than any test needs on a slow machine. A test that is still running at this
/// deadline is assumed never to end.
const TEST_DEADLINE: Duration = Duration::from_secs(600);

/// The result of running one test in a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    Green,
    /// The test failed with this output.
    Red(String),
    DoesNotCompile(String),
    /// The test did not end within the deadline.
    Hangs(String),
    /// The binary does not contain the test, or skipped it.
    NotRun(String),
}

/// Builds the tests of a tree in one target folder, and runs them.
pub struct Judge<'a> {
    pub tree: &'a Tree,
    pub target: PathBuf,
}

impl Judge<'_> {
    pub fn ask(&self, test: &Test) -> Result<Verdict> {
        let built = run(self.build(test), None)?;
        if !built.is_success {
            return Ok(Verdict::DoesNotCompile(built.output));
        }
        let program = program(&built.output)
            .with_context(|| format!("cargo did not print the path of a program:\n{}", built.output))?;
        // Runs the program as cargo does, but without the variables that cargo sets, because a user's shell
        // does not have these variables.
        let mut command = Command::new(self.tree.root().join(program));
        command.args(["--exact", &test.case, "--nocapture"]).current_dir(self.tree.folder_of(&test.package)?);
        command.env("RUST_BACKTRACE", "0");
        if !test.check.is_empty() {
            command.env("CAIRN_CHECK", &test.check);
        }
        Ok(answer(test, run(command, Some(TEST_DEADLINE))?))
    }

    fn build(&self, test: &Test) -> Command {
        let mut cargo = Command::new("cargo");
        // With incremental compilation, a small edit compiles within seconds.
        cargo.current_dir(self.tree.root()).env("CARGO_TARGET_DIR", &self.target).env("CARGO_INCREMENTAL", "1");
        // Selects the same packages and features as `make test`. With a different selection, cargo would
        // compile libraries again.
        cargo.args(["test", "--workspace", "--locked", "--features", "cairn/failpoints,cairn-wiring/failpoints"]);
        cargo.args(["--color", "never", "--test", &test.target(), "--no-run"]);
        cargo
    }
}

/// Finds the path of a program in cargo's output: `Executable tests/it/main.rs (/target/debug/deps/it-0123)`.
fn program(output: &str) -> Option<&str> {
    let line = output.lines().rev().find(|line| line.trim_start().starts_with("Executable "))?;
    Some(line.rsplit_once('(')?.1.trim_end().trim_end_matches(')'))
}

impl Verdict {
    /// Returns `None` if the bug is caught; otherwise returns the reason why it is not caught.
    pub fn missed(&self, bug: &Bug) -> Option<String> {
        let last = |output: &str| {
            let lines: Vec<&str> = output.lines().collect();
            lines[lines.len().saturating_sub(40)..].join("\n")
        };
        match self {
            Verdict::Red(output) if output.contains(&bug.says) => None,
            Verdict::Green => Some("survives: the test passes".to_owned()),
            Verdict::Red(output) => {
                Some(format!("fails, but without the text `{}`; the end of its output:\n{}", bug.says, last(output)))
            }
            Verdict::DoesNotCompile(output) => Some(format!("does not compile:\n{}", last(output))),
            Verdict::Hangs(output) => Some(format!("no result within {TEST_DEADLINE:?}:\n{}", last(output))),
            Verdict::NotRun(output) => Some(format!("the test was not run:\n{}", last(output))),
        }
    }
}

struct Ran {
    is_success: bool,
    is_late: bool,
    output: String,
}

fn answer(test: &Test, ran: Ran) -> Verdict {
    let Ran { is_success, is_late, output } = ran;
    let has = |counts: &str| output.lines().any(|line| line.starts_with("test result: ") && line.contains(counts));
    if is_late {
        Verdict::Hangs(output)
    } else if is_success && has(" 1 passed") && !output.contains("CAIRN_TESTS=local") {
        Verdict::Green
    } else if !is_success && has(" 1 failed") && output.contains(&test.case) {
        Verdict::Red(output)
    } else {
        Verdict::NotRun(output)
    }
}

/// Runs a command until it ends, and kills it at the deadline.
fn run(mut command: Command, deadline: Option<Duration>) -> Result<Ran> {
    let (mut reader, writer) = std::io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
    // `command` has a copy of the pipe's writing end. The command is dropped, so that reading ends when the
    // process ends.
    drop(command);
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = reader.read_to_end(&mut bytes);
        sender.send(read.map(|_| String::from_utf8_lossy(&bytes).into_owned()))
    });
    let received = match deadline {
        Some(deadline) => receiver.recv_timeout(deadline).ok(),
        None => receiver.recv().ok(),
    };
    let is_late = received.is_none();
    if is_late {
        child.kill()?;
    }
    let output = match received {
        Some(output) => output?,
        None => receiver.recv()??,
    };
    Ok(Ran { is_success: child.wait()?.success(), is_late, output })
}
