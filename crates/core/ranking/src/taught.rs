//! Finds abbreviations and their words in code: `bp = Blueprint(…)`, `Blueprint bp`, `import numpy as np`.
//!
//! A name next to the word that it abbreviates is evidence that both mean the same in this code. The first
//! three or more letters of a word, such as `config` for `configuration`, are not collected, because the
//! meaning of this abbreviation is clear from its letters.

use cairn_domain::{ChunkRecord, WordPair};

use crate::declared::is_code;
use crate::{is_stop_word, words};

/// Maximum number of pairs of one chunk.
const MAX_PAIRS: usize = 16;
const LETTERS_OF_ABBREVIATION: std::ops::RangeInclusive<usize> = 2..=5;
/// An abbreviation is shorter than its word by at least this number of letters.
const MIN_LETTERS_LEFT_OUT: usize = 2;
/// The longest text between two names that belong together, in bytes.
const MAX_GAP: usize = 8;
/// Keywords that may be next to a name and are not names.
const NO_NAMES: [&str; 24] = [
    "as", "case", "catch", "char", "def", "do", "else", "end", "fn", "for", "func", "if", "in", "int", "is", "let",
    "or", "out", "pub", "try", "type", "use", "val", "var",
];
/// Words between a name and its type or value.
const BETWEEN: [&str; 5] = ["await", "const", "mut", "new", "ref"];

/// Whether `short` may be an abbreviation of `long`: it consists of some letters of `long`, in the same
/// order, and begins with the first letter of `long`.
pub fn is_shortening(short: &str, long: &str) -> bool {
    let is_of_letters = |word: &str| word.bytes().all(|letter| letter.is_ascii_lowercase());
    let is_beginning = short.len() > 2 && long.starts_with(short);
    let mut letters = long.bytes();
    LETTERS_OF_ABBREVIATION.contains(&short.len())
        && short.len() + MIN_LETTERS_LEFT_OUT <= long.len()
        && short.as_bytes()[0] == long.as_bytes()[0]
        && !is_beginning
        && is_of_letters(short)
        && is_of_letters(long)
        && short.bytes().all(|wanted| letters.any(|letter| letter == wanted))
}

/// The abbreviations in a chunk of code, each with its word. Each pair is returned in both orders. Tests are
/// not read, because they use the names of other code.
pub(crate) fn taught_pairs(chunk: &ChunkRecord) -> Vec<WordPair> {
    let mut found: Vec<(String, String)> = Vec::new();
    if is_code(chunk) && !chunk.is_test {
        for_each_declaration(&chunk.text, |name, described| {
            if found.len() < MAX_PAIRS {
                add_pairs(name, described, &mut found);
            }
        });
    }
    let both = |(short, long): (String, String)| {
        [WordPair { word: short.clone(), other: long.clone() }, WordPair { word: long, other: short }]
    };
    found.into_iter().flat_map(both).collect()
}

/// Compares the last word of `name` with each word of `described`, the type or value next to the name. If the
/// last word of `name` may abbreviate a word of `described`, the pair is added to `found`.
fn add_pairs(name: &str, described: &str, found: &mut Vec<(String, String)>) {
    let mut short = String::new();
    words(name, |word| word.clone_into(&mut short));
    if !LETTERS_OF_ABBREVIATION.contains(&short.len()) || NO_NAMES.contains(&short.as_str()) || is_stop_word(&short) {
        return;
    }
    words(described, |word| {
        let pair = (short.as_str(), word);
        let is_known = || found.iter().any(|(known, of)| (known.as_str(), of.as_str()) == pair);
        if is_shortening(&short, word) && !is_known() {
            found.push((short.clone(), word.to_owned()));
        }
    });
}

/// How two adjacent names are related.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// `bp = Blueprint`, `bp: Blueprint`.
    Assigned,
    /// `Blueprint bp`, `bp *Blueprint`.
    Adjacent,
    /// `numpy as np`.
    Renamed,
}

/// Calls `found` with each declared name and the type or value next to it.
fn for_each_declaration<'a>(text: &'a str, mut found: impl FnMut(&'a str, &'a str)) {
    let (mut last, mut end, mut between): (Option<&str>, usize, Option<Beside>) = (None, 0, Some(Beside::Adjacent));
    for (start, name) in dotted_names(text) {
        let gap = beside(&text[end..start]);
        end = start + name.len();
        between = match (between, gap) {
            (Some(Beside::Adjacent), gap) => gap,
            (known, Some(Beside::Adjacent)) => known,
            _ => None,
        };
        if last.is_some() && between.is_some() && BETWEEN.contains(&name) {
            continue;
        }
        if last.is_some() && between == Some(Beside::Adjacent) && name == "as" {
            between = Some(Beside::Renamed);
            continue;
        }
        let is_type = |name: &str| name.contains('.') || name.starts_with(|first: char| first.is_ascii_uppercase());
        match (last, between) {
            (Some(first), Some(Beside::Assigned)) => found(first, name),
            (Some(first), Some(Beside::Renamed)) => found(name, first),
            (Some(first), Some(Beside::Adjacent)) if is_type(first) => found(name, first),
            (Some(first), Some(Beside::Adjacent)) if is_type(name) => found(first, name),
            _ => {}
        }
        (last, between) = (Some(name), Some(Beside::Adjacent));
    }
}

/// The relation that the text between two names states. `None` if the names do not belong together.
fn beside(gap: &str) -> Option<Beside> {
    if gap.len() > MAX_GAP || gap.contains('\n') {
        return None;
    }
    match gap.trim_matches([' ', '\t', '&', '*', '?']) {
        "" => Some(Beside::Adjacent),
        "=" | ":=" | ":" => Some(Beside::Assigned),
        _ => None,
    }
}

/// The names of a text with their positions. `context.Context` is one name, and so is `Config::new`.
fn dotted_names(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = text.as_bytes();
    let is_name = |at: usize| bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() && !is_name(at) {
            at += 1;
        }
        let start = at;
        while is_name(at) {
            at += 1;
            match &bytes[at..] {
                [b'.', ..] if is_name(at + 1) => at += 1,
                [b':', b':', ..] if is_name(at + 2) => at += 2,
                _ => {}
            }
        }
        (start < at).then(|| (start, &text[start..at]))
    })
}

#[cfg(test)]
mod tests {
    use cairn_domain::ChunkKind;

    use super::*;
    use crate::test_chunks::chunk;

    fn pairs(text: &str) -> Vec<String> {
        let mut pairs: Vec<String> = taught_pairs(&chunk("src/a.rs", 1, text))
            .iter()
            .map(|pair| format!("{} {}", pair.word, pair.other))
            .collect();
        pairs.sort_unstable();
        pairs
    }

    #[test]
    fn abbreviations_are_found_in_declarations() {
        let check = |text: &str, expect: &[&str]| assert_eq!(pairs(text), expect, "{text}");
        let blueprint = &["blueprint bp", "bp blueprint"];
        check("bp = Blueprint('auth')", blueprint);
        check("auth_bp = flask.Blueprint('auth')", blueprint);
        check("let mut bp: &mut Blueprint;", blueprint);
        check("const bp = new Blueprint();", blueprint);
        check("bp := blueprint.New()", blueprint);
        check("Blueprint bp;", blueprint);
        check("func show(bp *Blueprint)", blueprint);
        check("import numpy as np", &["np numpy", "numpy np"]);
        check("bp = Blueprint()\nbp = Blueprint()", blueprint);
    }

    #[test]
    fn unrelated_names_give_no_abbreviations() {
        let check = |text: &str| assert_eq!(pairs(text), [""; 0], "{text}");
        check("if bp == Blueprint {}");
        check("bp + Blueprint");
        check("config = configuration()");
        check("bp\nBlueprint");
        check("for Factor in factors");
        check("x = Blueprint()");
        check("pb = Blueprint()");
        check("größe = Größenordnung");
        let test = ChunkRecord { is_test: true, ..chunk("tests/a.rs", 1, "bp = Blueprint()") };
        let document = ChunkRecord { kind: ChunkKind::Section, ..chunk("a.md", 1, "bp = Blueprint()") };
        assert!(taught_pairs(&test).is_empty() && taught_pairs(&document).is_empty());
    }

    #[test]
    fn shortenings_have_the_letters_in_order() {
        for (short, long) in [("bp", "blueprint"), ("tz", "timezone"), ("re", "regex"), ("msg", "message")] {
            assert!(is_shortening(short, long), "{short} {long}");
        }
        for (short, long) in [("pb", "blueprint"), ("con", "config"), ("use", "user"), ("b", "blue"), ("bx", "blue")] {
            assert!(!is_shortening(short, long), "{short} {long}");
        }
    }
}
