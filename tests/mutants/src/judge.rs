//! Runs a test and says what its outcome means.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::{Bug, Test, Tree};

/// Longer than any of the tests takes on a slow machine. A test that still waits waits for ever, and says nothing.
const TEST_DEADLINE: Duration = Duration::from_secs(600);

/// What a test says to a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    Green,
    /// Red, with its output.
    Red(String),
    DoesNotCompile(String),
    /// No answer within the deadline.
    Hangs(String),
    /// The binary has no such test, or left it out.
    NotRun(String),
}

/// Builds tests of a tree, all into one folder, and runs them.
pub struct Judge<'a> {
    pub tree: &'a Tree,
    pub target: PathBuf,
}

impl Judge<'_> {
    pub fn ask(&self, test: &Test) -> Result<Answer> {
        let built = run(self.build(test), None)?;
        if !built.is_success {
            return Ok(Answer::DoesNotCompile(built.output));
        }
        let program = program(&built.output).with_context(|| format!("cargo names no program:\n{}", built.output))?;
        // As cargo runs it, but without its variables: they are not there either where a person runs it.
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
        // With what a build leaves for the next, a small edit takes seconds.
        cargo.current_dir(self.tree.root()).env("CARGO_TARGET_DIR", &self.target).env("CARGO_INCREMENTAL", "1");
        // The selection of `make test`: with another one, libraries would be compiled anew for other features.
        cargo.args(["test", "--workspace", "--locked", "--features", "cairn/failpoints,cairn-wiring/failpoints"]);
        cargo.args(["--color", "never", "--test", &test.target(), "--no-run"]);
        cargo
    }
}

/// The program that a build has made: `Executable tests/it/main.rs (/target/debug/deps/it-0123)`.
fn program(output: &str) -> Option<&str> {
    let line = output.lines().rev().find(|line| line.trim_start().starts_with("Executable "))?;
    Some(line.rsplit_once('(')?.1.trim_end().trim_end_matches(')'))
}

impl Answer {
    /// None if the bug is caught; else what came instead.
    pub fn missed(&self, bug: &Bug) -> Option<String> {
        let last = |output: &str| {
            let lines: Vec<&str> = output.lines().collect();
            lines[lines.len().saturating_sub(40)..].join("\n")
        };
        match self {
            Answer::Red(output) if output.contains(&bug.says) => None,
            Answer::Green => Some("survives: the test stays green".to_owned()),
            Answer::Red(output) => {
                Some(format!("red, but does not say `{}`; the end of what it says:\n{}", bug.says, last(output)))
            }
            Answer::DoesNotCompile(output) => Some(format!("does not compile:\n{}", last(output))),
            Answer::Hangs(output) => Some(format!("no answer within {TEST_DEADLINE:?}:\n{}", last(output))),
            Answer::NotRun(output) => Some(format!("the test was not run:\n{}", last(output))),
        }
    }
}

struct Ran {
    is_success: bool,
    is_late: bool,
    output: String,
}

fn answer(test: &Test, ran: Ran) -> Answer {
    let Ran { is_success, is_late, output } = ran;
    let has = |counts: &str| output.lines().any(|line| line.starts_with("test result: ") && line.contains(counts));
    if is_late {
        Answer::Hangs(output)
    } else if is_success && has(" 1 passed") && !output.contains("CAIRN_TESTS=local") {
        Answer::Green
    } else if !is_success && has(" 1 failed") && output.contains(&test.case) {
        Answer::Red(output)
    } else {
        Answer::NotRun(output)
    }
}

/// Runs a command to its end, or ends it when the deadline has passed.
fn run(mut command: Command, deadline: Option<Duration>) -> Result<Ran> {
    let (mut reader, writer) = std::io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
    // The command holds the writing end, and reading ends only with it.
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
