//! Recognises names that mean the opposite of a requested name: `setUser` for `getUser`.
//!
//! Such names often have similar letters or the same other words, but the caller never means them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::distance::bounded_distance;
use crate::wanted::{WantedName, WantedWord};
use crate::word_match::inflection;

/// The opposites of each word.
static OPPOSITES: LazyLock<BTreeMap<&'static str, BTreeSet<&'static str>>> = LazyLock::new(|| {
    let mut opposites: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in include_str!("../data/antonyms.txt").lines().filter(|line| !line.starts_with('#')) {
        let Some((left, right)) = line.split_once('|') else { continue };
        for (words, others) in [(left, right), (right, left)] {
            for word in words.split_whitespace() {
                opposites.entry(word).or_default().extend(others.split_whitespace());
            }
        }
    }
    opposites
});

/// Minimum number of letters of a word that may be misspelled, or that is compared with a part of a word.
const MIN_LETTERS: usize = 4;
/// Minimum number of letters of the beginning or end of a name without separators that is compared.
const MIN_PART: usize = 3;

/// The names and words that mean the opposite of a requested name.
pub(crate) struct Opposites {
    /// The words of the requested name.
    words: Vec<String>,
    /// For each word of the requested name, the words that mean the opposite.
    of_words: Vec<Vec<String>>,
    /// Whole names without separators.
    flat: Vec<String>,
}

impl Opposites {
    /// A word that only links the other words of a phrase has no opposite: "to" in "path to the file".
    pub(crate) fn of(wanted: &WantedName) -> Self {
        let words: Vec<&WantedWord> = wanted.words.iter().filter(|word| !word.is_keyword).collect();
        let of_word = |word: &&WantedWord| if word.is_optional { Vec::new() } else { opposites(&word.text) };
        let texts: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
        let flat = if words.iter().any(|word| word.is_optional) { Vec::new() } else { opposite_names(&texts.concat()) };
        Self { of_words: words.iter().map(of_word).collect(), words: texts, flat }
    }

    /// Whether a name with these words means the opposite. `flat` is the name without separators.
    pub(crate) fn contain<'a>(&self, flat: &str, words: &(impl Iterator<Item = &'a str> + Clone)) -> bool {
        if self.flat.iter().any(|name| name == flat) {
            return true;
        }
        // A word that both names contain is no difference between them.
        let is_common = |word: &str| words.clone().any(|other| is_form_of(word, other));
        let is_new = |word: &str| !self.words.iter().any(|own| is_form_of(own, word));
        let of_missing = self.words.iter().zip(&self.of_words).filter(|(_, opposites)| !opposites.is_empty());
        of_missing.filter(|(word, _)| !is_common(word)).any(|(_, opposites)| {
            let is_opposite = |word: &str| opposites.iter().any(|opposite| is_form_of(opposite, word));
            words.clone().any(|word| is_opposite(word) && is_new(word))
        })
    }
}

fn is_form_of(word: &str, other: &str) -> bool {
    word == other || inflection(word, other).is_some()
}

/// The words that mean the opposite of a word. If the word is unknown, it may be misspelled.
fn opposites(word: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |known: &str| found.extend(OPPOSITES[known].iter().map(|other| (*other).to_owned()));
    let forms = || OPPOSITES.keys().filter(|known| is_form_of(known, word));
    match OPPOSITES.contains_key(word) {
        true => add(word),
        false if forms().next().is_some() => forms().for_each(|known| add(known)),
        false if word.len() >= MIN_LETTERS => {
            let near = OPPOSITES.keys().filter(|known| bounded_distance(word, known, 1).is_some());
            near.for_each(|known| add(known));
        }
        false => {}
    }
    let without_prefix = word.strip_prefix("un").filter(|rest| rest.len() >= MIN_LETTERS);
    found.extend(without_prefix.map(str::to_owned));
    if word.len() >= MIN_LETTERS {
        found.push(format!("un{word}"));
    }
    found
}

/// The names in which the word at the start or at the end is replaced by its opposite. Such a name may have
/// no separators, so its words are unknown.
fn opposite_names(flat: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (word, others) in OPPOSITES.iter().filter(|(word, _)| word.len() >= MIN_PART) {
        if let Some(rest) = flat.strip_prefix(word) {
            names.extend(others.iter().map(|other| format!("{other}{rest}")));
        }
        if let Some(start) = flat.strip_suffix(word) {
            names.extend(others.iter().map(|other| format!("{start}{other}")));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon::replacements;
    use crate::{MIN_SCORE, score_name};

    /// The score below which the search only suggests a name.
    const SUBSTITUTED: u32 = 660;
    /// The same limit for a name whose owner is the requested owner. The owner is a fifth of the score.
    const SUBSTITUTED_WITH_OWNER: u32 = (5 * SUBSTITUTED - 1_000) / 4;

    fn score(asked: &str, name: &str) -> u32 {
        score_name(&WantedName::new(asked), name).map_or(0, |near| near.score)
    }

    #[test]
    fn opposite_names_are_only_suggested() {
        for (asked, name) in [
            ("getUser", "setUser"),
            ("get_user_settings", "set_user_settings"),
            ("getuser", "setuser"),
            ("addListener", "removeListener"),
            ("openFile", "closeFile"),
            ("start_server", "stop_server"),
            ("enableCache", "disableCache"),
            ("is_enabled", "is_disabled"),
            ("encodeFrame", "decodeFrame"),
            ("Encoder", "Decoder"),
            ("lockTable", "unlockTable"),
            ("unlock", "lock"),
            ("loadPlugin", "unloadPlugin"),
            ("subscribe", "unsubscribe"),
            ("unsubscribeAll", "subscribeAll"),
            ("min_value", "max_value"),
            ("pushItem", "popItem"),
            ("readHeader", "writeHeader"),
            ("serializeUser", "deserializeUser"),
            ("serialization", "deserialization"),
            ("firstChild", "lastChild"),
            ("beforeSave", "afterSave"),
            ("importRows", "exportRows"),
            ("RowImporter", "RowExporter"),
            ("createUser", "deleteUser"),
            ("showDialog", "hideDialog"),
            ("beginTransaction", "endTransaction"),
            ("uploadFile", "downloadFile"),
            ("incrementCounter", "decrementCounter"),
            ("encryptData", "decryptData"),
            ("connectSocket", "disconnectSocket"),
            ("registerHandler", "unregisterHandler"),
            ("include_path", "exclude_path"),
            ("unzipArchive", "zipArchive"),
            ("from_json", "to_json"),
            ("signInUser", "signOutUser"),
            ("allowAccess", "disallowAccess"),
            ("validate", "invalidate"),
            ("prev_page", "next_page"),
            ("OnConnect", "OnDisconnect"),
            ("muteChannel", "unmuteChannel"),
            ("lock_and_load", "unlock_and_load"),
        ] {
            for (asked, name) in [(asked, name), (name, asked)] {
                let score = score(asked, name);
                assert!(score < SUBSTITUTED_WITH_OWNER, "{asked} {name} {score}");
            }
            assert!(score(asked, asked) > SUBSTITUTED, "{asked}");
        }
        let of_misspelled = score("enabelCache", "disableCache");
        assert!(of_misspelled < SUBSTITUTED_WITH_OWNER, "{of_misspelled}");
        assert!(score("getUser", "setUser") >= MIN_SCORE, "an opposite is suggested");
    }

    #[test]
    fn other_differences_keep_their_score() {
        for (asked, name) in [
            ("gett", "get"),
            ("gettUser", "getUser"),
            ("getUsr", "getUser"),
            ("settUser", "setUser"),
            ("fetchUser", "getUser"),
            ("deleteUser", "removeUser"),
            ("getSetting", "getSettings"),
            ("startStopServer", "stopStartServer"),
            ("encodr", "encoder"),
            ("encodeFrames", "encodeFrame"),
            ("readerIndex", "readIndex"),
            ("minValue", "minimumValue"),
            ("opening_file", "open_file"),
            ("uniqueName", "uniqName"),
            ("import_csv", "importCsvRows"),
            ("get_or_set_value", "get_or_set_valu"),
            ("nextPage", "nextPages"),
            ("path to the file", "path_from_file"),
            ("runTests", "run_test"),
            ("listUsers", "lists_users"),
        ] {
            let score = score(asked, name);
            assert!(score >= SUBSTITUTED, "{asked} {name} {score}");
        }
    }

    #[test]
    fn no_word_is_a_synonym_of_its_opposite() {
        for (word, others) in OPPOSITES.iter() {
            for other in others {
                assert!(word != other, "{word}");
                assert!(replacements(word).iter().all(|(synonym, _)| synonym != other), "{word} {other}");
            }
        }
    }
}
