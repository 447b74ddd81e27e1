//! Prints how many of the generated secrets are redacted: `cargo run --release --example generated --
//! [VALUES] [--leaks] [--named]`. `--named` prints only the table with a column for each family of names.

#[path = "../src/generated.rs"]
mod generated;
#[path = "../src/held_back.rs"]
mod held_back;
#[path = "../src/joined.rs"]
mod joined;
#[path = "../src/more_surroundings.rs"]
mod more_surroundings;
#[path = "../src/named.rs"]
mod named;
#[path = "../src/passwords.rs"]
mod passwords;
#[path = "../src/separators.rs"]
mod separators;
#[path = "../src/surroundings.rs"]
mod surroundings;
#[path = "../src/written.rs"]
mod written;

use cairn_redaction::{Redactor, SecretsIgnore};
use generated::{Count, all_lines, measure, measure_lines, measure_named};
use held_back::HELD_BACK;
use more_surroundings::MORE_SURROUNDINGS;
use named::{FAMILIES, NAMED};
use passwords::KINDS;
use separators::SEPARATORS;
use surroundings::SURROUNDINGS;

/// The number of values of each kind, and whether redacted texts that still contain a value are printed.
struct Options {
    num_values: u64,
    shows_leaks: bool,
}

fn main() {
    let redactor = Redactor::new(&SecretsIgnore::default()).expect("no patterns");
    let redact = |text: &str| redactor.redact(text).text.into_owned();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let options = Options {
        num_values: arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(60),
        shows_leaks: has("--leaks"),
    };
    if !has("--named") {
        print_kinds(&options, &redact);
        print_lines(&options, &redact);
    }
    print_named(&options, &redact);
}

/// Prints the share of redacted values for each surrounding text and each kind of password.
fn print_kinds(options: &Options, redact: &dyn Fn(&str) -> String) {
    let (mut found, mut all) = (0, 0);
    let heads: Vec<String> = KINDS.iter().map(|kind| format!("{kind:?}")).collect();
    println!("| surrounding | {} | all |\n|---|{}", heads.join(" | "), "--:|".repeat(heads.len() + 1));
    for surrounding in SURROUNDINGS.iter().chain(MORE_SURROUNDINGS).chain(SEPARATORS).chain(HELD_BACK) {
        let counts: Vec<_> = KINDS.iter().map(|kind| measure(surrounding, *kind, options.num_values, redact)).collect();
        let cells: Vec<String> = counts
            .iter()
            .map(|count| match count.num_values {
                0 => "".to_owned(),
                values => format!("{}", count.num_found * 100 / values),
            })
            .collect();
        let (num_found, num_all) =
            counts.iter().fold((0, 0), |(found, all), count| (found + count.num_found, all + count.num_values));
        found += num_found;
        all += num_all;
        println!("| {} | {} | {} |", surrounding.name, cells.join(" | "), percent(num_found, num_all));
        for count in &counts {
            print_leaks(options, count, 3);
        }
    }
    println!("\nall: {} of {all}\n", percent(found, all));
}

/// Prints the share of redacted values for base64 values that are divided into several lines.
fn print_lines(options: &Options, redact: &dyn Fn(&str) -> String) {
    println!("| wrapped base64 | 2 lines of 76 | 5 lines of 64 | 40 lines of 76 |\n|---|--:|--:|--:|");
    for lines in all_lines() {
        let counts: Vec<_> = [(2, 76), (5, 64), (40, 76)]
            .into_iter()
            .map(|size| measure_lines(&lines, size, options.num_values, redact))
            .collect();
        let cells: Vec<String> = counts
            .iter()
            .map(|count| format!("{:.0} %", count.num_found as f64 * 100.0 / count.num_values as f64))
            .collect();
        println!("| {} | {} |", lines.name, cells.join(" | "));
        for count in &counts {
            print_leaks(options, count, 1);
        }
    }
    println!();
}

/// Prints the share of redacted values for each family of names and each surrounding text in `NAMED`.
fn print_named(options: &Options, redact: &dyn Fn(&str) -> String) {
    let heads: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
    println!("| surrounding | {} |\n|---|{}", heads.join(" | "), "--:|".repeat(heads.len()));
    let mut totals = vec![(0, 0); FAMILIES.len()];
    for named in NAMED {
        let counts: Vec<_> =
            FAMILIES.iter().map(|family| measure_named(named, family, options.num_values, redact)).collect();
        let cells: Vec<String> = counts.iter().map(|count| percent(count.num_found, count.num_values)).collect();
        println!("| {} | {} |", named.name, cells.join(" | "));
        for (total, count) in totals.iter_mut().zip(&counts) {
            *total = (total.0 + count.num_found, total.1 + count.num_values);
            print_leaks(options, count, usize::MAX);
        }
    }
    let cells: Vec<String> = totals.iter().map(|(found, all)| percent(*found, *all)).collect();
    println!("| all | {} |", cells.join(" | "));
}

fn print_leaks(options: &Options, count: &Count, most: usize) {
    for leak in count.leaks.iter().take(most).filter(|_| options.shows_leaks) {
        println!("    {leak:?}");
    }
}

fn percent(found: usize, all: usize) -> String {
    format!("{:.1} %", found as f64 * 100.0 / all as f64)
}
