//! Asks for absent names. An answer about a different name must have a label.

use super::NameOptions;
use super::judge::Judge;
use super::random::Random;
use super::symbols::Symbol;
use super::words::Words;
use crate::ask::{Answered, Index};

/// Asks for absent names and prints how they were answered.
pub(crate) async fn run(index: &Index, all: &[(String, Vec<Symbol>)], options: NameOptions) -> anyhow::Result<()> {
    let mut random = Random::new(options.seed ^ 0xab5e);
    let judges: Vec<Judge> =
        all.iter().map(|(_, symbols)| Judge::new(symbols.iter().map(|symbol| symbol.name.as_str()))).collect();
    let (mut absent, mut labelled, mut unlabelled) = (0, 0, 0);
    for number in 0..options.num_absent {
        let at = number % all.len();
        let name = absent_name(all, at, &mut random);
        if judges[at].has(&name) {
            continue;
        }
        match index.read(&name, &all[at].0).await? {
            Answered::Absent => absent += 1,
            Answered::Labelled => labelled += 1,
            Answered::Unlabelled => {
                unlabelled += 1;
                println!("answered without a label: `{name}` in {}", all[at].0);
            }
        }
    }
    println!(
        "\nabsent names: {absent} reported as absent, {labelled} answered with a label, {unlabelled} answered without a label"
    );
    anyhow::ensure!(
        unlabelled == 0,
        "{unlabelled} answers to requests for absent names are about a different name, but have no label"
    );
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
