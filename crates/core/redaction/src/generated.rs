//! Measures how many generated secrets are redacted, for each combination of surrounding text, kind of value
//! and seed.
//!
//! The tests of this crate and the example `generated` include this file. The example prints the results as a
//! table.

use crate::joined::{JOINED, JOINED_HELD_BACK};
use crate::named::{Family, Named};
use crate::passwords::{Dice, KINDS, KINDS_OF_NAMED, Kind, password};
use crate::surroundings::{Surrounding, WRAPPED, Writing};
use crate::written::{BASE64, written};

/// The result for the values of one kind in one surrounding text.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Count {
    pub num_values: usize,
    pub num_found: usize,
    /// Redacted texts that still contain three or more consecutive characters of the value.
    pub leaks: Vec<String>,
}

impl Count {
    /// Inserts the value into the surrounding text, redacts the result, and counts the value.
    fn add(&mut self, surrounding: &str, value: &str, redact: &dyn Fn(&str) -> String) {
        let redacted = redact(&surrounding.replace('§', value));
        self.num_values += 1;
        if is_gone(surrounding, value, &redacted) {
            self.num_found += 1;
        } else {
            self.leaks.push(redacted);
        }
    }
}

/// Whether values of this kind are not tested in texts that require this way of writing.
fn is_left_out(kind: Kind, writing: Writing) -> bool {
    match writing {
        // A value that consists of words or has no digits looks like the name of a variable if `_` replaces
        // the special characters of the value.
        Writing::Blunt => matches!(kind, Kind::Passphrase | Kind::Phrase | Kind::SignFirst | Kind::SignLast),
        // A phrase in a URL has `-` or `+` instead of blanks.
        Writing::Url | Writing::Percent => kind == Kind::Phrase,
        _ => false,
    }
}

/// Inserts `num_values` passwords of a kind into the surroundings and redacts the texts. A value is counted
/// as found if the redacted text contains no three consecutive characters of the value, except sequences that
/// the surroundings also contain.
pub fn measure(surrounding: &Surrounding, kind: Kind, num_values: u64, redact: &dyn Fn(&str) -> String) -> Count {
    let mut count = Count::default();
    let num_values = if is_left_out(kind, surrounding.writing) { 0 } else { num_values };
    for seed in 0..num_values {
        let mut dice = Dice::new(seed * 977 + kind as u64);
        if let Some(value) = written_value(kind, surrounding.writing, &mut dice) {
            count.add(surrounding.text, &value, redact);
        }
    }
    count
}

/// A value of the kind, written as the surrounding text requires. `None` if such a text can contain almost no
/// value of this kind.
fn written_value(kind: Kind, writing: Writing, dice: &mut Dice) -> Option<String> {
    (0..20).find_map(|_| written(&password(kind, dice), writing))
}

/// Inserts a name of the family and `num_values` values of each kind into the surroundings, and redacts the
/// texts. The names and their spellings vary.
pub fn measure_named(named: &Named, family: &Family, num_values: u64, redact: &dyn Fn(&str) -> String) -> Count {
    let mut count = Count::default();
    for kind in KINDS.iter().chain(KINDS_OF_NAMED) {
        // Only people choose a value of several words, and only as a password.
        if is_left_out(*kind, named.writing) || (*kind == Kind::Phrase && family.name != "pass") {
            continue;
        }
        for seed in 0..num_values {
            let mut dice = Dice::new(seed * 1009 + *kind as u64 * 31 + named.name.len() as u64);
            let name = family.names[dice.below(family.names.len())];
            let name = named.spellings[dice.below(named.spellings.len())].write(name);
            if let Some(value) = written_value(*kind, named.writing, &mut dice) {
                count.add(&named.text.replace('¤', &name), &value, redact);
            }
        }
    }
    count
}

/// Whether the redacted text contains no three consecutive characters of the value, except sequences that the
/// surroundings also contain.
pub fn is_gone(surrounding: &str, value: &str, redacted: &str) -> bool {
    let redacted = without_markers(redacted);
    let characters: Vec<char> = value.chars().collect();
    characters.windows(3).all(|piece| {
        let piece: String = piece.iter().collect();
        !redacted.contains(&piece) || surrounding.contains(&piece)
    })
}

fn without_markers(redacted: &str) -> String {
    let mut parts = redacted.split("[REDACTED");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push('\n');
        out.push_str(part.split_once(']').map_or(part, |(_, rest)| rest));
    }
    out
}

/// Surroundings of base64 on several lines: a label, the text before the first line, the text between two
/// lines and the text after the last line.
pub struct Lines {
    pub name: &'static str,
    before: String,
    between: String,
    after: String,
}

/// All surroundings of base64 on several lines.
pub fn all_lines() -> impl Iterator<Item = Lines> {
    let repeated = WRAPPED.iter().map(|(name, before, line, after)| {
        let (head, tail) = line.split_once('§').expect("the place of the line");
        let (before, between, after) = (format!("{before}{head}"), format!("{tail}{head}"), format!("{tail}{after}"));
        Lines { name, before, between, after }
    });
    let joined = JOINED.iter().chain(JOINED_HELD_BACK).map(|(name, before, between, after)| Lines {
        name,
        before: (*before).to_owned(),
        between: (*between).to_owned(),
        after: (*after).to_owned(),
    });
    repeated.chain(joined)
}

/// Generates `num_values` base64 values of several lines each, and counts the values whose lines are all
/// redacted.
pub fn measure_lines(
    surrounding: &Lines,
    (num_lines, width): (usize, usize),
    num_values: u64,
    redact: &dyn Fn(&str) -> String,
) -> Count {
    let mut count = Count::default();
    for seed in 0..num_values {
        let mut dice = Dice::new(seed * 31 + surrounding.name.len() as u64);
        let mut lines: Vec<String> = (0..num_lines).map(|_| (0..width).map(|_| dice.of(BASE64)).collect()).collect();
        let last = 10 + dice.below(width - 12);
        let end = lines.last_mut().expect("at least one line");
        end.truncate(last / 4 * 4 + 2);
        end.push_str("==");
        let redacted =
            redact(&format!("{}{}{}", surrounding.before, lines.join(&surrounding.between), surrounding.after));
        count.num_values += 1;
        if lines.iter().all(|part| !redacted.contains(&part[..part.len().min(8)])) {
            count.num_found += 1;
        } else {
            count.leaks.push(redacted);
        }
    }
    count
}
