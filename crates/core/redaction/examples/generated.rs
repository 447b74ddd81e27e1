//! Prints how many of the generated secrets are redacted: `cargo run --release --example generated --
//! [VALUES] [--leaks]`.

#[path = "../src/generated.rs"]
mod generated;
#[path = "../src/held_back.rs"]
mod held_back;
#[path = "../src/joined.rs"]
mod joined;
#[path = "../src/more_surroundings.rs"]
mod more_surroundings;
#[path = "../src/separators.rs"]
mod separators;
#[path = "../src/surroundings.rs"]
mod surroundings;
#[path = "../src/written.rs"]
mod written;

use cairn_redaction::{Redactor, SecretsIgnore};
use generated::{KINDS, all_lines, measure, measure_lines};
use held_back::HELD_BACK;
use more_surroundings::MORE_SURROUNDINGS;
use separators::SEPARATORS;
use surroundings::SURROUNDINGS;

fn main() {
    let redactor = Redactor::new(&SecretsIgnore::default()).expect("no patterns");
    let redact = |text: &str| redactor.redact(text).text.into_owned();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let num_values = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(60);
    let shows_leaks = arguments.iter().any(|argument| argument == "--leaks");
    let (mut found, mut all) = (0, 0);
    let heads: Vec<String> = KINDS.iter().map(|kind| format!("{kind:?}")).collect();
    println!("| surrounding | {} | all |\n|---|{}", heads.join(" | "), "--:|".repeat(heads.len() + 1));
    for surrounding in SURROUNDINGS.iter().chain(MORE_SURROUNDINGS).chain(SEPARATORS).chain(HELD_BACK) {
        let counts: Vec<_> = KINDS.iter().map(|kind| measure(surrounding, *kind, num_values, &redact)).collect();
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
        println!(
            "| {} | {} | {:.1} % |",
            surrounding.name,
            cells.join(" | "),
            num_found as f64 * 100.0 / num_all as f64
        );
        for leak in counts.iter().flat_map(|count| count.leaks.iter().take(3)).filter(|_| shows_leaks) {
            println!("    {leak:?}");
        }
    }
    println!(
        "\nall: {:.1} % of {all}\n\n| wrapped base64 | 2 lines of 76 | 5 lines of 64 | 40 lines of 76 |\n|---|--:|--:|--:|",
        found as f64 * 100.0 / all as f64
    );
    for lines in all_lines() {
        let counts: Vec<_> = [(2, 76), (5, 64), (40, 76)]
            .into_iter()
            .map(|size| measure_lines(&lines, size, num_values, &redact))
            .collect();
        let cells: Vec<String> = counts
            .iter()
            .map(|count| format!("{:.0} %", count.num_found as f64 * 100.0 / count.num_values as f64))
            .collect();
        println!("| {} | {} |", lines.name, cells.join(" | "));
        for leak in counts.iter().flat_map(|count| count.leaks.iter().take(1)).filter(|_| shows_leaks) {
            println!("    {leak:?}");
        }
    }
}
