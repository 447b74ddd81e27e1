//! `cairn-mutants`: plants each bug, runs the test that must catch it, and prints the results.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, ensure};
use cairn_mutants::{Bug, Judge, Test, Tree, Verdict};
use clap::Parser;

/// Plants bugs in a copy of this work tree. The variables CAIRN_*_URL contain the addresses of the servers.
#[derive(Parser)]
struct Arguments {
    /// The names of the bugs to plant. Default: all bugs.
    names: Vec<String>,
    /// The work tree that is copied before bugs are planted.
    #[arg(long, default_value = ".")]
    source: PathBuf,
    /// The folder of the copy and of its build.
    #[arg(long, default_value = "target/mutants")]
    folder: PathBuf,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("mutants: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Returns whether every bug is caught.
fn run(arguments: &Arguments) -> Result<bool> {
    let began_at = Instant::now();
    let bugs = Bug::read_all(&arguments.source.join("tests/mutants/bugs"))?;
    std::fs::create_dir_all(&arguments.folder)?;
    let folder = arguments.folder.canonicalize()?;
    let tree = Tree::copy(&arguments.source, folder.join("tree"))?;
    tree.name_binaries(bugs.iter().map(|bug| &bug.caught_by))?;
    let bugs = Bug::select(bugs, &arguments.names)?;
    let judge = Judge { tree: &tree, target: folder.join("build") };
    let seconds = prove_green(&judge, &bugs)?;
    println!("| bug | caught by | with the text | seconds |\n|---|---|---|---|");
    let mut missed = Vec::new();
    // Bugs in the same file are planted one after the other, so that fewer crates are compiled.
    let mut in_order: Vec<&Bug> = bugs.iter().collect();
    in_order.sort_by_key(|bug| (&bug.edits[0].file, &bug.name));
    for bug in in_order {
        let began_at = Instant::now();
        let answer = tree.with(bug, || judge.ask(&bug.caught_by))?;
        match answer.missed(bug) {
            None => println!("{}", row(bug, began_at)),
            Some(why) => {
                eprintln!("mutants: {} is not caught by {}: {why}", bug.name, describe(&bug.caught_by));
                missed.push(bug.name.as_str());
            }
        }
    }
    let (num_bugs, num_caught) = (bugs.len(), bugs.len() - missed.len());
    println!(
        "{num_caught} of {num_bugs} bugs caught in {} s, {seconds} s of them for the tests without a bug",
        full(began_at)
    );
    if !missed.is_empty() {
        eprintln!("mutants: not caught: {}", missed.join(", "));
    }
    Ok(missed.is_empty())
}

/// Checks that the tests pass without a bug. If a test failed without a bug, its failure with a bug would
/// prove nothing. Returns the time in seconds.
fn prove_green(judge: &Judge<'_>, bugs: &[Bug]) -> Result<u64> {
    let began_at = Instant::now();
    // One bug for each test, sorted by package.
    let tests: BTreeMap<&Test, &str> = bugs.iter().map(|bug| (&bug.caught_by, bug.name.as_str())).collect();
    for (test, name) in tests {
        let answer = judge.ask(test)?;
        ensure!(answer == Verdict::Green, "without a bug, {} (for {name}) does not pass: {answer:?}", describe(test));
        eprintln!("mutants: passes without a bug after {} s: {}", full(began_at), describe(test));
    }
    Ok(full(began_at))
}

fn row(bug: &Bug, began_at: Instant) -> String {
    format!("| {} | {} | {} | {} |", bug.name, describe(&bug.caught_by), bug.says, full(began_at))
}

fn describe(test: &Test) -> String {
    let check = if test.check.is_empty() { String::new() } else { format!(" ({})", test.check) };
    format!("`{}` {} `{}`{check}", test.package, test.binary, test.case)
}

fn full(since: Instant) -> u64 {
    since.elapsed().as_secs()
}
