//! Runs many seeds, replays one seed, or plants a bug and prints the first seed that reveals it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Result, bail};
use cairn_sim::{Mutant, RunSummary, run};
use clap::Parser;

#[derive(Parser)]
#[command(about = "Simulates runs with random seeds and the state machines of the production code")]
struct Arguments {
    /// The number of seeds to run.
    #[arg(long, default_value_t = 1000)]
    seeds: u64,
    /// The first seed; the next seeds follow in sequence.
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Replay only this seed.
    #[arg(long)]
    seed: Option<u64>,
    /// Print each step of the replayed seed.
    #[arg(long, requires = "seed")]
    trace: bool,
    /// Plant this bug in the simulation, and search for a seed that reveals it.
    #[arg(long, value_parser = Mutant::parse)]
    mutant: Option<Mutant>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    match (arguments.seed, arguments.mutant) {
        (Some(seed), mutant) => replay(seed, mutant, arguments.trace),
        (None, Some(mutant)) => catch(mutant, arguments.from..arguments.from + arguments.seeds),
        (None, None) => search(arguments.from, arguments.seeds),
    }
}

fn replay(seed: u64, mutant: Option<Mutant>, is_traced: bool) -> Result<()> {
    let outcome = run(seed, mutant, is_traced);
    for line in &outcome.trace {
        println!("{line}");
    }
    match outcome.violation {
        Some(violation) => bail!("seed {seed}: {violation}"),
        None => println!("seed {seed}: no violation; {}", describe(&outcome)),
    }
    Ok(())
}

fn catch(mutant: Mutant, mut seeds: std::ops::Range<u64>) -> Result<()> {
    let Some((seed, violation)) = cairn_sim::first_violation(&mut seeds, Some(mutant)) else {
        bail!("{}: no seed reveals this bug", mutant.name());
    };
    println!("{}: caught by seed {seed}: {violation}", mutant.name());
    println!("replay: cairn-sim --mutant {} --seed {seed} --trace", mutant.name());
    Ok(())
}

/// Runs all seeds in parallel. Simulations are independent, so each core takes the next seed.
fn search(from: u64, seeds: u64) -> Result<()> {
    let began_at = Instant::now();
    let (next, until) = (AtomicU64::new(from), from + seeds);
    let num_threads = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut sum = RunSummary::default();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= until {
                return Ok(sum);
            }
            let outcome = run(seed, None, false);
            if let Some(violation) = &outcome.violation {
                next.store(until, Ordering::Relaxed);
                return Err((seed, violation.clone()));
            }
            add(&mut sum, &outcome);
        }
    };
    let outcomes = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..num_threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("a simulation does not panic")).collect::<Vec<_>>()
    });
    let mut sum = RunSummary::default();
    for outcome in outcomes {
        match outcome {
            Ok(outcome) => add(&mut sum, &outcome),
            Err((seed, violation)) => {
                bail!("seed {seed}: {violation}\nreplay: cargo run --release -p cairn-sim -- --seed {seed} --trace")
            }
        }
    }
    let seconds = began_at.elapsed().as_secs_f64();
    println!(
        "{seeds} seeds in {seconds:.1} s ({:.0} per minute), no violation; {}",
        seeds as f64 / seconds * 60.0,
        describe(&sum)
    );
    Ok(())
}

fn add(sum: &mut RunSummary, outcome: &RunSummary) {
    sum.num_published += outcome.num_published;
    sum.num_aborted += outcome.num_aborted;
    sum.num_deleted += outcome.num_deleted;
    sum.num_answers += outcome.num_answers;
}

fn describe(outcome: &RunSummary) -> String {
    let RunSummary { num_published, num_aborted, num_deleted, num_answers, .. } = outcome;
    format!(
        "{num_published} runs published, {num_aborted} aborted, {num_deleted} deletions, {num_answers} answers to readers"
    )
}
