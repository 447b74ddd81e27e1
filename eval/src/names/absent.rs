//! Asks for absent names. An answer about a different name must have a label.

use super::NameOptions;
use super::judge::Judge;
use super::random::Random;
use super::symbols::Symbol;
use super::words::Words;
use crate::ask::{Answered, Index};

/// The program gives up after this number of generated names for each requested name: a small repository may
/// contain most of the generated names.
const ATTEMPTS: usize = 20;

/// The numbers of answers of each kind.
#[derive(Default)]
struct Counts {
    absent: usize,
    labelled: usize,
    unlabelled: usize,
}

impl Counts {
    fn add(&mut self, answered: Answered) {
        *match answered {
            Answered::Absent => &mut self.absent,
            Answered::Labelled => &mut self.labelled,
            Answered::Unlabelled => &mut self.unlabelled,
        } += 1;
    }

    fn print(&self, tool: &str) {
        let Counts { absent, labelled, unlabelled } = self;
        println!(
            "\nabsent names, {tool}: {absent} reported as absent, {labelled} answered with a label, {unlabelled} answered without a label"
        );
    }
}

/// Asks for absent names, reads their code and searches for their symbols, and prints how they were answered.
pub(crate) async fn run(index: &Index, all: &[(String, Vec<Symbol>)], options: NameOptions) -> anyhow::Result<()> {
    let mut random = Random::new(options.seed ^ 0xab5e);
    let judges: Vec<Judge> =
        all.iter().map(|(_, symbols)| Judge::new(symbols.iter().map(|symbol| symbol.name.as_str()))).collect();
    let (mut read, mut searched) = (Counts::default(), Counts::default());
    let mut num_asked = 0;
    for number in 0..options.num_absent * ATTEMPTS {
        if num_asked == options.num_absent {
            break;
        }
        let at = number % all.len();
        let name = absent_name(all, at, &mut random);
        if judges[at].has(&name) {
            continue;
        }
        num_asked += 1;
        let repository = &all[at].0;
        for (counts, answered) in [
            (&mut read, index.read(&name, repository).await?),
            (&mut searched, index.search_symbol(&name, repository).await?),
        ] {
            if answered == Answered::Unlabelled {
                println!("answered without a label: `{name}` in {repository}");
            }
            counts.add(answered);
        }
    }
    read.print("read_code");
    searched.print("search_code");
    let unlabelled = read.unlabelled + searched.unlabelled;
    anyhow::ensure!(
        unlabelled == 0,
        "{unlabelled} answers to requests for absent names are about a different name, but have no label"
    );
    anyhow::ensure!(num_asked == options.num_absent, "only {num_asked} absent names were generated");
    Ok(())
}

/// Generates an absent name: a name from a different repository, a combination of halves of two names, or
/// random letters.
fn absent_name(all: &[(String, Vec<Symbol>)], at: usize, random: &mut Random) -> String {
    let of = |at: usize, random: &mut Random| {
        let symbols = &all[at].1;
        symbols.get(random.below(symbols.len())).map_or(String::new(), |symbol| symbol.name.clone())
    };
    match random.below(3) {
        0 => of((at + 1 + random.below(all.len())) % all.len(), random),
        1 => {
            let (mut left, right) = (Words::of(&of(at, random)), Words::of(&of(at, random)));
            left.0.truncate(1);
            left.0.extend(right.0);
            left.write(random)
        }
        _ => (0..4 + random.below(12)).map(|_| char::from(b'a' + random.below(26) as u8)).collect(),
    }
}
