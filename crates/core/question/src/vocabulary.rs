//! The lists of words that rules refer to by name.

use std::collections::HashMap;
use std::sync::LazyLock;

static LISTS: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| lists(include_str!("../data/words.txt")));

/// Parses lists of words. A line that is not indented begins a list, and its first word is the name of the
/// list. Indented lines continue the list.
fn lists(text: &'static str) -> HashMap<&'static str, Vec<&'static str>> {
    let mut lists: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut name = "";
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words = match line.split_once(": ").filter(|_| !line.starts_with(' ')) {
            Some((found, words)) => {
                name = found;
                words
            }
            None => line,
        };
        lists.entry(name).or_default().extend(words.split_whitespace());
    }
    lists
}

/// The words of a list of `data/words.txt`. Rules refer to the list as `@name`.
pub(crate) fn list(name: &str) -> &'static [&'static str] {
    LISTS.get(name).unwrap_or_else(|| panic!("no list of words has the name {name}"))
}

/// Adverbs that may be between a question word and a verb.
pub(crate) static ADVERBS: LazyLock<&[&str]> = LazyLock::new(|| list("adv"));

pub(crate) static PRONOUNS: LazyLock<&[&str]> = LazyLock::new(|| list("pronoun"));

pub(crate) static DETERMINERS: LazyLock<&[&str]> = LazyLock::new(|| list("det"));

/// Words for kinds of code that may be next to a name: `the auth module`, `class Foo`.
pub(crate) static KIND_WORDS: LazyLock<&[&str]> = LazyLock::new(|| list("kind"));

/// Words that may be the subject of "X that calls Y" or "X using Y".
pub(crate) static THINGS: LazyLock<&[&str]> = LazyLock::new(|| list("things"));

/// Words that are never part of the noun phrase before a verb.
pub(crate) static BLOCKERS: LazyLock<&[&str]> = LazyLock::new(|| list("blockers"));

/// Words that show that a following word for a relation is a noun, not a verb: "the call", "for use".
pub(crate) static BEFORE_NOUNS: LazyLock<&[&str]> = LazyLock::new(|| list("before_nouns"));

/// A name ends before these words.
pub(crate) static NAME_ENDS: LazyLock<&[&str]> = LazyLock::new(|| list("name_ends"));

/// Words that never name code.
pub(crate) static NOT_NAMES: LazyLock<&[&str]> = LazyLock::new(|| list("not_names"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_unique_names_and_words() {
        let text = include_str!("../data/words.txt");
        let num_names = text.lines().filter(|line| !line.starts_with([' ', '#'])).count();
        assert_eq!(num_names, LISTS.len(), "two lists have the same name");
        for (name, words) in LISTS.iter() {
            let mut distinct = words.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), words.len(), "{name} repeats a word");
        }
    }
}
