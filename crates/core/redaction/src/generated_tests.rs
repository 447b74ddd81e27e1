//! Checks that at least 95 % of the generated secrets are found in each surrounding text.

use crate::generated::{all_lines, is_gone, measure, measure_lines, measure_named};
use crate::held_back::HELD_BACK;
use crate::more_surroundings::MORE_SURROUNDINGS;
use crate::named::{FAMILIES, NAMED};
use crate::passwords::{Dice, KINDS};
use crate::separators::SEPARATORS;
use crate::surroundings::{SURROUNDINGS, Surrounding, Writing};
use crate::{Redactor, SecretsIgnore};

/// The percentage of generated passwords that must be redacted in each surrounding text.
const ENOUGH_PERCENT: usize = 95;

/// The number of values of each kind that are tested in each surrounding text.
const NUM_VALUES: u64 = 10;

/// The number of values of each kind for each family of names. This number is larger, because the name varies
/// too.
const NUM_VALUES_OF_NAMED: u64 = 20;

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

#[test]
fn generated_secrets_are_found_for_each_family_of_names() {
    let mut faults = Vec::new();
    for named in NAMED {
        for family in FAMILIES {
            let mut count = measure_named(named, family, NUM_VALUES_OF_NAMED, &redact);
            if count.num_found * 100 < count.num_values * ENOUGH_PERCENT {
                count.leaks.truncate(5);
                faults.push(format!(
                    "{}, {}: {} of {}: {:#?}",
                    named.name, family.name, count.num_found, count.num_values, count.leaks
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn long_values_are_never_redacted_in_part() {
    let texts = SURROUNDINGS.iter().chain(MORE_SURROUNDINGS).chain(SEPARATORS).chain(HELD_BACK);
    let texts = texts.filter(|surrounding| surrounding.writing != Writing::Base64).map(|surrounding| surrounding.text);
    let named = NAMED.iter().map(|named| named.text.replace('¤', "api_key"));
    let mut faults = Vec::new();
    for text in texts.map(str::to_owned).chain(named) {
        for length in [90, 129, 161, 210, 420, 700, 1100] {
            faults.extend(redacted_in_part(&text, length));
        }
    }
    assert!(faults.is_empty(), "{}: {:#?}", faults.len(), faults);
}

/// Inserts a value of `length` letters and digits into the surroundings. Returns the redacted text if only a
/// part of the value is redacted.
fn redacted_in_part(surrounding: &str, length: usize) -> Option<String> {
    let mut dice = Dice::new(length as u64 * 7 + surrounding.len() as u64);
    let value: String =
        (0..length).map(|_| dice.of("abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789")).collect();
    let redacted = redact(&surrounding.replace('§', &value));
    (!redacted.contains(&value) && !is_gone(surrounding, &value, &redacted)).then_some(redacted)
}
