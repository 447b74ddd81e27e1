//! Checks that at least 95 % of the generated secrets are found in each kind of surroundings.

use crate::generated::{KINDS, all_lines, measure, measure_lines};
use crate::held_back::HELD_BACK;
use crate::more_surroundings::MORE_SURROUNDINGS;
use crate::separators::SEPARATORS;
use crate::surroundings::{SURROUNDINGS, Surrounding};
use crate::{Redactor, SecretsIgnore};

/// The percentage of generated passwords that must be redacted in each kind of surroundings.
const ENOUGH_PERCENT: usize = 95;

/// The number of values of each kind that are tested in each kind of surroundings.
const NUM_VALUES: u64 = 10;

fn redact(text: &str) -> String {
    let redactor = Redactor::new(&SecretsIgnore::default()).expect("no patterns");
    redactor.redact(text).text.into_owned()
}

#[test]
fn generated_passwords_are_found_in_all_surroundings() {
    check(SURROUNDINGS.iter().chain(MORE_SURROUNDINGS));
}

#[test]
fn generated_passwords_are_found_after_every_separator() {
    check(SEPARATORS.iter().chain(HELD_BACK));
}

fn check(surroundings: impl Iterator<Item = &'static Surrounding>) {
    let mut faults = Vec::new();
    for surrounding in surroundings {
        let (mut num_found, mut num_values, mut leaks) = (0, 0, Vec::new());
        for kind in KINDS {
            let count = measure(surrounding, *kind, NUM_VALUES, &redact);
            num_found += count.num_found;
            num_values += count.num_values;
            leaks.extend(count.leaks);
        }
        if num_found * 100 < num_values * ENOUGH_PERCENT {
            leaks.truncate(5);
            faults.push(format!("{}: {num_found} of {num_values}: {leaks:#?}", surrounding.name));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn all_lines_of_wrapped_secrets_are_found() {
    for lines in all_lines() {
        for size in [(2, 40), (2, 76), (3, 57), (5, 64), (40, 76), (25, 120), (75, 40)] {
            let count = measure_lines(&lines, size, 3, &redact);
            assert_eq!(count.num_found, count.num_values, "{} {size:?}: {:?}", lines.name, count.leaks.first());
        }
    }
}
