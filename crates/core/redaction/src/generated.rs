//! Measures how many generated secrets are redacted, for each combination of surroundings, kind of value and
//! seed.
//!
//! The tests of this crate and the example `generated` include this file. The example prints the results as a
//! table.

use crate::joined::{JOINED, JOINED_HELD_BACK};
use crate::surroundings::{Surrounding, WRAPPED, Writing};
use crate::written::{BASE64, written};

/// Kinds of generated values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Contains letters, digits and special characters.
    Mixed,
    /// Begins with a special character.
    LeadingSign,
    /// Contains brackets, which may be unbalanced.
    Brackets,
    /// Contains quotes.
    Quotes,
    /// Contains blanks. Only surroundings with quotes can contain such a value.
    Blanks,
    /// Contains letters that are not ASCII.
    Unicode,
    /// Contains words, a digit and a special character.
    Passphrase,
    /// Ends with a special character.
    TrailingSign,
    /// Contains `<` before a letter, as at the beginning of a tag.
    Angle,
    /// Contains any characters. One character in three is a special character.
    Dense,
    /// Like `Dense`, but begins with a special character.
    DenseSign,
    /// Contains only letters and digits.
    Plain,
    /// Contains brackets in the same order as an expression: `VZaXr(ahvp)[GWe8`.
    Call,
    /// Begins with a special character and contains no digit.
    SignFirst,
    /// Ends with a special character and contains no digit.
    SignLast,
    /// Contains only letters, small and large.
    Letters,
    /// Contains small words and blanks. Only surroundings with quotes can contain such a value.
    Phrase,
}

pub const KINDS: &[Kind] = &[
    Kind::Mixed,
    Kind::LeadingSign,
    Kind::Brackets,
    Kind::Quotes,
    Kind::Blanks,
    Kind::Unicode,
    Kind::Passphrase,
    Kind::TrailingSign,
    Kind::Angle,
    Kind::Dense,
    Kind::DenseSign,
    Kind::Plain,
    Kind::Call,
    Kind::SignFirst,
    Kind::SignLast,
    Kind::Letters,
    Kind::Phrase,
];

/// A sequence of pseudo-random numbers from SplitMix64.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66_D1CE_4E5B)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn of(&mut self, alphabet: &str) -> char {
        let characters: Vec<char> = alphabet.chars().collect();
        characters[self.below(characters.len())]
    }
}

const SIGNS: &str = "!@#$%^&*()-_=+[]{}<>?/|~.,:;";
const LETTERS: &str = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ";
const DIGITS: &str = "23456789";

/// A password of the given kind, with ten to eighteen characters. About one character in four is a special
/// character, and about one in five is a digit.
pub fn password(kind: Kind, dice: &mut Dice) -> String {
    let length = 10 + dice.below(9);
    let mut value: Vec<char> = (0..length)
        .map(|_| match dice.below(20) {
            0..5 => dice.of(SIGNS),
            5..9 => dice.of(DIGITS),
            _ => dice.of(LETTERS),
        })
        .collect();
    // The first three characters ensure that every class occurs. Usually the first character is a letter.
    value[0] = dice.of(LETTERS);
    value[1] = dice.of(DIGITS);
    value[2] = dice.of(SIGNS);
    value[length - 1] = dice.of(LETTERS);
    let inside = 3 + dice.below(length - 5);
    match kind {
        Kind::Mixed => {}
        Kind::LeadingSign => value[0] = dice.of("!@#$%^&*({<[~.-+?"),
        Kind::Brackets => {
            value[inside] = dice.of("()[]{}<>");
            value[length - 2] = dice.of("()[]{}<>");
        }
        Kind::Quotes => value[inside] = dice.of("\"'`"),
        Kind::Blanks => value[inside] = ' ',
        Kind::Unicode => value[inside] = dice.of("éüßñøçÄдж漢"),
        Kind::TrailingSign => value[length - 1] = dice.of("!@#$%^&*)}]>?=~."),
        Kind::Angle => {
            let inside = inside.min(length - 3);
            value[inside] = '<';
            value[inside + 1] = dice.of(LETTERS);
        }
        Kind::Passphrase => return passphrase(dice),
        Kind::Dense | Kind::DenseSign | Kind::Plain | Kind::Call => return generated(kind, dice),
        Kind::SignFirst | Kind::SignLast | Kind::Letters => return without_digits(kind, dice),
        Kind::Phrase => return phrase(dice),
    }
    value.into_iter().collect()
}

/// A password of random characters. The password contains at least one letter and one digit.
fn generated(kind: Kind, dice: &mut Dice) -> String {
    let plain = format!("{LETTERS}{DIGITS}");
    let dense = format!("{plain}{DIGITS}{SIGNS}");
    loop {
        let length = 12 + dice.below(9);
        let mut some = |length: usize, alphabet: &str| -> String { (0..length).map(|_| dice.of(alphabet)).collect() };
        let value = match kind {
            Kind::Plain => some(length, &plain),
            Kind::Call => format!("{}({})[{}", some(5, &plain), some(4, &plain), some(4, &plain)),
            Kind::DenseSign => format!("{}{}", some(1, "!#$%&(*+-@[{<?^~/"), some(length - 1, &dense)),
            _ => some(length, &dense),
        };
        let has = |alphabet: &str| value.contains(|character| alphabet.contains(character));
        if has(LETTERS) && has(DIGITS) {
            return value;
        }
    }
}

/// A password of small and large letters. The password contains both, and special characters according to
/// its kind.
fn without_digits(kind: Kind, dice: &mut Dice) -> String {
    loop {
        let mut value: Vec<char> = (0..12 + dice.below(6)).map(|_| dice.of(LETTERS)).collect();
        let last = value.len() - 1;
        if kind != Kind::Letters {
            value[3 + dice.below(last - 4)] = dice.of("!#%+?*-_.");
        }
        match kind {
            Kind::SignFirst => value[0] = dice.of("!@#$%^&*+-=?~"),
            Kind::SignLast => value[last] = dice.of("!@#$%^*+-=?~"),
            _ => {}
        }
        let has_both = value.iter().any(char::is_ascii_lowercase) && value.iter().any(char::is_ascii_uppercase);
        if has_both {
            return value.into_iter().collect();
        }
    }
}

const WORDS: [&str; 16] = [
    "Hunter", "dragon", "Winter", "tiger", "Battery", "staple", "Sunset", "coffee", "Purple", "rocket", "Monkey",
    "garden", "Copper", "velvet", "Anchor", "pepper",
];

fn phrase(dice: &mut Dice) -> String {
    let words: Vec<String> =
        (0..4 + dice.below(2)).map(|_| WORDS[dice.below(WORDS.len())].to_ascii_lowercase()).collect();
    words.join(" ")
}

fn passphrase(dice: &mut Dice) -> String {
    let joiner = dice.of("-_.!+$");
    let mut words: Vec<&str> = Vec::new();
    for _ in 0..3 + dice.below(2) {
        words.push(WORDS[dice.below(WORDS.len())]);
    }
    format!("{}{}{}", words.join(&joiner.to_string()), dice.of(DIGITS), dice.of("!$#%?"))
}

/// The result for the values of one kind in one kind of surroundings.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Count {
    pub num_values: usize,
    pub num_found: usize,
    /// Redacted texts that still contain three or more consecutive characters of the value.
    pub leaks: Vec<String>,
}

/// Inserts `num_values` passwords of a kind into the surroundings and redacts the texts. A value is counted
/// as found if the redacted text contains no three consecutive characters of the value. Sequences that the
/// surroundings also contain are ignored.
pub fn measure(surrounding: &Surrounding, kind: Kind, num_values: u64, redact: &dyn Fn(&str) -> String) -> Count {
    let mut count = Count::default();
    // If its special characters are replaced by `_`, a value of words or without digits looks like the name
    // of a variable.
    let looks_like_name = matches!(kind, Kind::Passphrase | Kind::Phrase | Kind::SignFirst | Kind::SignLast);
    let is_left_out = match surrounding.writing {
        Writing::Blunt => looks_like_name,
        // A phrase in a URL has `-` or `+` instead of blanks.
        Writing::Url | Writing::Percent => kind == Kind::Phrase,
        _ => false,
    };
    let num_values = if is_left_out { 0 } else { num_values };
    for seed in 0..num_values {
        let mut dice = Dice::new(seed * 977 + kind as u64);
        let mut tries = 0;
        let value = loop {
            tries += 1;
            match written(&password(kind, &mut dice), surrounding.writing) {
                Some(value) => break Some(value),
                None if tries == 20 => break None,
                None => {}
            }
        };
        let Some(value) = value else { continue };
        let text = surrounding.text.replace('§', &value);
        let redacted = redact(&text);
        count.num_values += 1;
        if is_gone(surrounding.text, &value, &redacted) {
            count.num_found += 1;
        } else {
            count.leaks.push(redacted);
        }
    }
    count
}

/// Whether the redacted text contains no three consecutive characters of the value. Sequences that the
/// surroundings also contain are ignored.
fn is_gone(surrounding: &str, value: &str, redacted: &str) -> bool {
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
