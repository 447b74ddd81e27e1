//! `cairn eval --names`: asks for misspelled names, and counts how often the correct name is found.
//!
//! Each wrong name is generated from a name in the index with one kind of error. A wrong name is used only if
//! no name in the index is equal to it, and no other name is as near to it as the correct name (see `judge`).
//! The program counts how often the correct name is the first name, and how often it is among the first five
//! names. The program also asks for names that do not exist. If the answer is about a different name, the
//! answer must state this.

mod absent;
mod generate;
mod judge;
mod letters;
mod random;
mod rare;
mod symbols;
mod tables;
mod words;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use cairn_domain::SymbolEntry;

use crate::ask::Index;
use crate::choices::Way;
use generate::{KINDS, WrongName, wrong_name};
use judge::Judge;
pub(crate) use judge::last_part;
use random::Random;
use symbols::{NamePool, Symbol};
use words::Words;

/// Maximum number of attempts to generate each wrong name.
const ATTEMPTS: usize = 60;

/// The options of the measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameOptions {
    /// Number of wrong names of each kind in each repository.
    pub(crate) count: usize,
    pub(crate) way: Way,
    pub(crate) num_absent: usize,
    pub(crate) seed: u64,
    /// Whether the program prints the wrong names for which the correct name was not the first result.
    pub(crate) misses: bool,
}

/// For one kind of error: how many names were requested, and how often the correct name was the first name or
/// one of the first five names.
#[derive(Clone, Copy, Default, Debug)]
struct Counts {
    asked: usize,
    first: usize,
    five: usize,
}

impl Counts {
    fn add(&mut self, rank: Option<usize>) {
        self.asked += 1;
        self.first += usize::from(rank == Some(0));
        self.five += usize::from(rank.is_some_and(|rank| rank < 5));
    }

    fn line(&self) -> String {
        let share = |part: usize| part as f64 / self.asked.max(1) as f64;
        format!("{:6}  first {:.3}  five {:.3}", self.asked, share(self.first), share(self.five))
    }
}

/// The counts for each kind of error, and the latencies. One value of this type is for requests to single
/// repositories, and another is for requests to all repositories together.
#[derive(Default)]
struct Measured {
    kinds: BTreeMap<&'static str, Counts>,
    took: Vec<Duration>,
}

impl Measured {
    fn print(&mut self, title: &str) {
        let mut all = Counts::default();
        println!("\n{title}");
        for (kind, counts) in &self.kinds {
            println!("  {kind:32} {}", counts.line());
            (all.asked, all.first, all.five) =
                (all.asked + counts.asked, all.first + counts.first, all.five + counts.five);
        }
        self.took.sort_unstable();
        let at = |percent: usize| self.took.get(self.took.len() * percent / 100).copied().unwrap_or_default();
        println!("  {:32} {}  p50 {:?}  p99 {:?}", "all", all.line(), at(50), at(99));
    }
}

/// Asks for wrong names in each repository separately, then in all repositories together.
pub(crate) async fn run(index: &Index, repositories: &[String], options: NameOptions) -> anyhow::Result<()> {
    let mut all: Vec<(String, Vec<Symbol>)> = Vec::new();
    for repository in repositories {
        let symbols = index.symbols(repository).await?.into_iter();
        let symbol = |entry: SymbolEntry| Symbol { name: entry.name, qualified_name: entry.qualified_name };
        all.push((repository.clone(), symbols.map(symbol).collect()));
    }
    let (mut alone, mut together) = (Measured::default(), Measured::default());
    let everywhere = Judge::new(all.iter().flat_map(|(_, symbols)| symbols).map(|symbol| symbol.name.as_str()));
    for (number, (repository, symbols)) in all.iter().enumerate() {
        let judge = Judge::new(symbols.iter().map(|symbol| symbol.name.as_str()));
        let wrong = wrong_names(symbols, &judge, options, number as u64);
        for name in &wrong {
            ask(index, Some(repository), name, options, &mut alone).await?;
            if everywhere.is_clear(&name.asked, &name.name) {
                ask(index, None, name, options, &mut together).await?;
            }
        }
    }
    alone.print("one repository at a time");
    together.print("all repositories at once");
    absent::run(index, &all, options).await
}

/// The wrong names of a repository, with an equal share of each kind of error.
fn wrong_names(symbols: &[Symbol], judge: &Judge, options: NameOptions, number: u64) -> Vec<WrongName> {
    let mut wrong = Vec::new();
    let mut vocabulary: Vec<String> = symbols.iter().flat_map(|symbol| Words::of(&symbol.name).0).collect();
    vocabulary.sort_unstable();
    vocabulary.dedup();
    let source = NamePool { symbols, vocabulary };
    if symbols.is_empty() {
        return wrong;
    }
    for (order, kind) in KINDS.iter().enumerate() {
        let mut random = Random::new(options.seed ^ number << 32 ^ (order as u64) << 16 ^ 0x5eed);
        let (mut made, mut attempts) = (0, 0);
        while made < options.count && attempts < options.count * ATTEMPTS {
            attempts += 1;
            let Some(name) = wrong_name(*kind, &source, &mut random) else { continue };
            if judge.is_clear(&name.asked, &name.name) {
                wrong.push(name);
                made += 1;
            }
        }
    }
    wrong
}

async fn ask(
    index: &Index,
    within: Option<&str>,
    wrong: &WrongName,
    options: NameOptions,
    measured: &mut Measured,
) -> anyhow::Result<()> {
    let started = Instant::now();
    let found = index.names_for(&wrong.asked, within, options.way).await?;
    measured.took.push(started.elapsed());
    let right = Words::of(&wrong.name);
    let rank = found.iter().position(|(name, ..)| Words::of(name).0 == right.0);
    measured.kinds.entry(wrong.kind).or_default().add(rank);
    if options.misses && rank != Some(0) {
        let shown: Vec<String> = found.iter().take(3).map(|(name, reason)| format!("{name} ({reason})")).collect();
        let place = rank.map_or_else(|| "not found".to_owned(), |rank| format!("rank {}", rank + 1));
        let shown = shown.join("; ");
        let (kind, asked, expected) = (wrong.kind, &wrong.asked, &wrong.name);
        println!("{kind}: asked `{asked}`, expected `{expected}` ({place}), found {shown}");
    }
    Ok(())
}
