//! Computes how near one word of a name is to one requested word.

use crate::distance::{MAX_GAP, bounded_distance, gap};
use crate::lexicon::Replacement;
use crate::reasons::{Reason, Reasons};
use crate::wanted::WantedWord;

/// The nearness of equal words, in thousandths. The constants below are also in thousandths.
pub(crate) const EQUAL: u32 = 1_000;
const PLURAL: u32 = 970;
const SPELLING: u32 = 970;
pub(crate) const ABBREVIATION: u32 = 930;
const INFLECTION: u32 = 880;
const WITHOUT_VOWELS: u32 = 900;
const SYNONYM: u32 = 820;
const CONSONANTS: u32 = 800;
const SOME_LETTERS: u32 = 720;
/// The minimum nearness of a word and its beginning, if the beginning has at least three letters. Up to
/// `BEGINNING_BY_LENGTH` is added, depending on the share of the word that the beginning covers.
const BEGINNING: u32 = 760;
const BEGINNING_BY_LENGTH: u32 = 140;
const SHORT_BEGINNING: u32 = 680;
/// The minimum nearness of a word and the same word without a part at its start or in its middle. Up to
/// `BEGINNING_BY_LENGTH` is added, depending on the share of the word that remains.
const END: u32 = 700;
/// If the requested word is misspelled, the nearness of its replacements is multiplied by this factor, in
/// thousandths.
const MISSPELLED: u32 = 900;
/// The loss of nearness if every letter of a word is wrong.
const ALL_WRONG: u32 = 800;
const OTHER_FIRST_LETTER: u32 = 30;
/// The loss of nearness if every letter is wrong, but both words sound alike.
const ALL_WRONG_BY_SOUND: u32 = 400;
const MAX_EDITS_BY_SOUND: u32 = 4;
/// The maximum nearness of a weak match with the only word of a requested name. The search only suggests a
/// name with this nearness.
const WEAK_AT_MOST: u32 = 560;
/// An abbreviation with fewer letters is a weak match, unless the shipped table or the searched code contains
/// the abbreviation.
const MIN_ABBREVIATION: usize = 3;
/// Two forms of a word are a weak match if the part that both have in common is shorter: `users` and `use`.
const MIN_STEM: usize = 4;

/// Endings that change the form of a word, but not its meaning.
const ENDINGS: [&str; 36] = [
    "", "s", "es", "e", "y", "ies", "er", "or", "r", "ers", "ors", "rs", "ed", "d", "ied", "ing", "ings", "ion",
    "ions", "ation", "ations", "ition", "ment", "ments", "able", "ible", "ly", "al", "ity", "ness", "ive", "ate",
    "ated", "ator", "ization", "ize",
];

/// The nearness of a word to the requested word, and the reasons for it; `None` if the words are not near.
pub(crate) fn word_match(wanted: &WantedWord, word: &str) -> Option<(u32, Reasons)> {
    best_match(wanted, word, EQUAL)
}

/// The same as [`word_match`] for the only word of a requested name. No other word confirms the match, so
/// weak matches have a low nearness: `fn` for `fonts`, `use` for `users`, `base` for `roots`.
pub(crate) fn only_word_match(wanted: &WantedWord, word: &str) -> Option<(u32, Reasons)> {
    best_match(wanted, word, WEAK_AT_MOST)
}

fn best_match(wanted: &WantedWord, word: &str, weak_at_most: u32) -> Option<(u32, Reasons)> {
    let limited = |found: Option<(u32, Reasons)>, is_weak: bool| {
        let at_most = if is_weak { weak_at_most } else { EQUAL };
        found.map(|(nearness, reasons)| (nearness.min(at_most), reasons))
    };
    let asked = wanted.text.as_str();
    if asked == word {
        return Some((EQUAL, Reasons::NONE));
    }
    if wanted.is_keyword {
        return None;
    }
    let inflected = inflection(asked, word);
    let is_other_stem = inflected.is_some() && has_short_stem(asked, word);
    let is_short = asked.len().min(word.len()) < MIN_ABBREVIATION;
    let of_misspelled = replacement_of_misspelled(wanted, word);
    let is_synonym = of_misspelled.is_some_and(|(_, reasons)| reasons.contains(Reason::Synonym));
    let matches = [
        replacement(wanted, word),
        limited(inflected, is_other_stem),
        limited(shortened(asked, word), is_short || is_other_stem),
        typo(wanted, word),
        limited(of_misspelled, is_synonym),
    ];
    // If two matches are equally near, the first one is returned.
    matches.into_iter().flatten().reduce(|best, other| if other.0 > best.0 { other } else { best })
}

fn replacement(wanted: &WantedWord, word: &str) -> Option<(u32, Reasons)> {
    in_table(&wanted.replacements, word)
}

/// Compares the word with the replacements of the correctly spelled words that the caller may have meant. For
/// example, `deccode` is a misspelled `decode`, which has the synonym `parse`.
fn replacement_of_misspelled(wanted: &WantedWord, word: &str) -> Option<(u32, Reasons)> {
    let (nearness, reasons) = in_table(&wanted.replacements_if_misspelled, word)?;
    Some((nearness * MISSPELLED / 1_000, reasons.with(Reason::Typo)))
}

fn in_table(replacements: &[(impl AsRef<str>, Replacement)], word: &str) -> Option<(u32, Reasons)> {
    let is = |other: &str| other == word || word.strip_suffix('s') == Some(other);
    let (_, kind) = replacements.iter().find(|(other, _)| is(other.as_ref()))?;
    Some(match kind {
        Replacement::Spelling => (SPELLING, Reason::Spelling.into()),
        Replacement::Abbreviation => (ABBREVIATION, Reason::Abbreviation.into()),
        Replacement::Synonym => (SYNONYM, Reason::Synonym.into()),
    })
}

/// The nearness of two forms of a word: `users` and `user`, `parser` and `parse`, `mapping` and `map`.
pub(crate) fn inflection(left: &str, right: &str) -> Option<(u32, Reasons)> {
    let num_same = num_same_bytes(left, right);
    let longer = left.len().max(right.len());
    if num_same < 3 || num_same * 5 < longer * 2 {
        return None;
    }
    let doubled = &left[num_same - char_before(left, num_same)..num_same];
    let is_ending = |rest: &str| {
        // In `mapping`, the last letter of `map` is doubled.
        let short = rest.strip_prefix(doubled).filter(|short| !short.is_empty());
        ENDINGS.contains(&rest) || short.is_some_and(|short| ENDINGS.contains(&short))
    };
    let (left, right) = (&left[num_same..], &right[num_same..]);
    if !is_ending(left) || !is_ending(right) {
        return None;
    }
    Some((if is_plural(left, right) { PLURAL } else { INFLECTION }, Reason::Inflection.into()))
}

/// Whether these endings belong to the singular and the plural of a word.
fn is_plural(left: &str, right: &str) -> bool {
    matches!((left, right), ("", "s" | "es") | ("s" | "es", "") | ("y", "ies") | ("ies", "y"))
}

/// Whether the common beginning of two forms of a word is too short to be certain. The plural of a word and a
/// doubled letter, as in `map` and `mapping`, are certain.
fn has_short_stem(left: &str, right: &str) -> bool {
    let num_same = num_same_bytes(left, right);
    let doubled = &left[num_same - char_before(left, num_same)..num_same];
    let (left, right) = (&left[num_same..], &right[num_same..]);
    num_same < MIN_STEM && !is_plural(left, right) && !left.starts_with(doubled) && !right.starts_with(doubled)
}

/// The number of equal bytes at the start of both texts, rounded down to the end of a whole character.
fn num_same_bytes(left: &str, right: &str) -> usize {
    let mut same = left.bytes().zip(right.bytes()).take_while(|(left, right)| left == right).count();
    while !left.is_char_boundary(same) {
        same -= 1;
    }
    same
}

/// The number of bytes of the character that ends at `end`.
fn char_before(text: &str, end: usize) -> usize {
    text[..end].chars().next_back().map_or(0, char::len_utf8)
}

/// The nearness of two words if one of them is a shortened form of the other: its beginning (`param`) or only
/// some of its letters (`msg`).
fn shortened(left: &str, right: &str) -> Option<(u32, Reasons)> {
    let (short, long) = if left.len() <= right.len() { (left, right) } else { (right, left) };
    let reason = Reasons::from(Reason::Abbreviation);
    if short.len() < 2 || short.len() == long.len() {
        return None;
    }
    if long.starts_with(short) {
        let score = BEGINNING + BEGINNING_BY_LENGTH * short.len() as u32 / long.len() as u32;
        return Some((if short.len() == 2 { SHORT_BEGINNING } else { score }, reason));
    }
    if is_with_gap(short, long) {
        return Some((END + BEGINNING_BY_LENGTH * short.len() as u32 / long.len() as u32, Reason::Typo.into()));
    }
    // A single missing letter is treated as a typing error, not as an abbreviation.
    let may_be_short = long.len() - short.len() > 1 && short.as_bytes()[0] == long.as_bytes()[0];
    // Letters without a vowel are no word that could be shortened.
    let is_word = long.bytes().any(|byte| is_vowel(byte) || byte == b'y');
    if !may_be_short || !is_word || !is_subsequence(short, long) {
        return None;
    }
    if consonants(long) == short || consonants_once(long) == short {
        return Some((WITHOUT_VOWELS, reason));
    }
    let is_long_enough = short.len() >= 3 && short.len() * 5 >= long.len() * 2;
    let has_consonants = short.bytes().skip(1).all(|byte| !is_vowel(byte));
    if has_consonants && (is_long_enough || short.len() * 10 >= long.len() * 3) {
        return Some((CONSONANTS, reason));
    }
    let ends_equally = short.bytes().next_back() == long.bytes().next_back();
    (is_long_enough && ends_equally).then_some((SOME_LETTERS, reason))
}

/// Whether `long` becomes `short` if one contiguous part is removed: `compiler` becomes `piler` or `comler`.
/// At least three letters and half of the word must remain.
fn is_with_gap(short: &str, long: &str) -> bool {
    let missing = long.len() - short.len();
    short.len() >= 3 && missing <= MAX_GAP && short.len() >= missing && gap(short, long)
}

fn is_vowel(byte: u8) -> bool {
    matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u')
}

fn is_subsequence(short: &str, long: &str) -> bool {
    let mut letters = long.bytes();
    short.bytes().all(|wanted| letters.any(|letter| letter == wanted))
}

/// The first letter and all later consonants.
fn consonants(word: &str) -> String {
    word.char_indices()
        .filter(|(at, letter)| *at == 0 || !"aeiou".contains(*letter))
        .map(|(_, letter)| letter)
        .collect()
}

/// The same as `consonants`, but equal adjacent letters are reduced to one letter.
fn consonants_once(word: &str) -> String {
    let mut letters: Vec<char> = consonants(word).chars().collect();
    letters.dedup();
    letters.into_iter().collect()
}

/// Maximum number of edits that are treated as a typing error in a word with this number of characters.
pub(crate) fn max_edits(num_characters: usize) -> u32 {
    match num_characters {
        0..=2 => 0,
        3..=5 => 1,
        _ => 2,
    }
}

fn typo(wanted: &WantedWord, word: &str) -> Option<(u32, Reasons)> {
    let asked = wanted.text.as_str();
    let num_characters = wanted.num_characters.max(word.chars().count());
    let edits = bounded_distance(asked, word, max_edits(num_characters))?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number(asked) || is_number(word) {
        return None;
    }
    let other_first = if asked.chars().next() == word.chars().next() { 0 } else { OTHER_FIRST_LETTER };
    let loss = ALL_WRONG * edits / num_characters as u32 + other_first;
    Some((EQUAL - loss, Reason::Typo.into()))
}

/// The same as [`sound_match`] for the only word of a requested name. The sound alone is a weak match.
pub(crate) fn only_sound_match(wanted: &WantedWord, word: &str) -> Option<(u32, Reasons)> {
    let (nearness, reasons) = sound_match(wanted, word)?;
    let is_weak = typo(wanted, word).is_none();
    Some((if is_weak { nearness.min(WEAK_AT_MOST) } else { nearness }, reasons))
}

/// The nearness of two words that sound alike, for example `request` and `rekwest`.
pub(crate) fn sound_match(wanted: &WantedWord, word: &str) -> Option<(u32, Reasons)> {
    let num_characters = wanted.num_characters.max(word.len()) as u32;
    let edits = bounded_distance(&wanted.text, word, (num_characters / 2).min(MAX_EDITS_BY_SOUND))?;
    (edits > 0).then(|| (EQUAL - ALL_WRONG_BY_SOUND * edits / num_characters, Reason::Typo.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WantedName;

    #[test]
    fn words_that_sound_alike_are_near() {
        let check = |asked: &str, word: &str, expect: Option<u32>| {
            let found = sound_match(&WantedName::new(asked).words[0], word);
            assert_eq!(found.map(|(score, _)| score), expect, "{asked} {word}");
        };
        check("rekwest", "request", Some(886));
        check("ekwal", "equal", Some(840));
        check("ox", "aussie", None);
    }

    #[test]
    fn words_are_near_for_a_reason() {
        let check = |asked: &str, word: &str, expect: Option<(u32, &str)>| {
            let found = word_match(&WantedName::new(asked).words[0], word);
            let found = found.map(|(score, reasons)| (score, reasons.to_string()));
            assert_eq!(found, expect.map(|(score, reason)| (score, reason.to_owned())), "{asked} {word}");
        };
        check("user", "user", Some((1_000, "")));
        check("user", "users", Some((970, "other form of a word")));
        check("entries", "entry", Some((970, "other form of a word")));
        check("parser", "parse", Some((880, "other form of a word")));
        check("mapping", "map", Some((880, "other form of a word")));
        check("cfg", "config", Some((930, "abbreviation")));
        check("configs", "cfg", Some((837, "similar spelling, abbreviation")));
        check("deccode", "parse", Some((738, "similar spelling, synonym")));
        check("piler", "compiler", Some((787, "similar spelling")));
        check("cert", "certificate", Some((930, "abbreviation")));
        check("colour", "color", Some((970, "other spelling of a word")));
        check("fetch", "get", Some((820, "synonym")));
        check("wdgt", "widget", Some((900, "abbreviation")));
        check("mdtzsvqnjg", "msg", None);
        check("comput", "computer", Some((880, "other form of a word")));
        check("dest", "destruct", Some((830, "abbreviation")));
        check("uesr", "user", Some((800, "similar spelling")));
        check("to", "ot", None);
        check("256", "512", None);
        check("render", "parse", None);
        check("größe", "grösse", Some((734, "similar spelling")));
    }
}
