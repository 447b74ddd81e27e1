//! Finds the names of a table that are nearest to a requested name.

use std::collections::BTreeMap;

use crate::align::{Pair, align};
use crate::antonyms::Opposites;
use crate::candidates::{Letters, NUMBERED, WordUse, WordUses, near_by_letters};
use crate::distance::closeness;
use crate::near_index::NearIndex;
use crate::reasons::{Reason, Reasons};
use crate::table::{MemoryTable, NameTable};
use crate::wanted::{MAX_WORDS, WantedName};
use crate::word_match::ABBREVIATION;

/// Minimum score of a near name.
pub const MIN_SCORE: u32 = 500;
/// Minimum score from letters; a lower score is ignored.
const MIN_LETTER_SCORE: u32 = 700;
/// Maximum score of a near name. The search gives a higher score to a name that differs from the requested
/// name only in case or style.
const MAX_SCORE: u32 = 940;
const MAX_EDITS: u32 = 2;
/// Added to the score from letters if one name is the beginning of the other.
const BEGINNING: u32 = 200;
/// The loss of nearness if every letter is wrong. If only some letters are wrong, the loss is proportionally
/// smaller.
const EDIT_LOSS: u32 = 750;
/// The loss of score and rank for a single gap (a run of missing letters) that is as long as the whole name.
/// The loss for a shorter gap is proportionally smaller.
const GAP_LOSS: u32 = 800;
const OTHER_WORD_LOSS: u32 = 80;
/// If a requested word with at most this number of letters has two letters more than a name, the common
/// beginning adds nothing to the score.
const SHORT_WORD: u32 = 6;
/// Added to the nearness if the requested name is only the beginning of the name.
const CONTINUATION: u32 = 60;
/// Maximum nearness from letters.
const LETTERS_AT_MOST: u32 = 990;
/// Maximum score and nearness of a name that means the opposite of the requested name. The search only
/// suggests names with this score, even if their owner is the requested owner.
const OPPOSITE_AT_MOST: u32 = 560;
const SCORE_OF_INITIALS: u32 = 700;
/// The rank of a name with at least [`MANY_INITIALS`] matching initials, before it is multiplied by
/// [`SCORE_WEIGHT`]. This rank is higher than the rank for fewer initials, because many initials rarely match
/// by chance.
const RANK_OF_MANY_INITIALS: u32 = 860;
const MANY_INITIALS: usize = 4;
/// The weight of the nearness in the rank of a name. The other part of the rank is the closeness of letters.
const SCORE_WEIGHT: u32 = 6;

/// A name that is near the requested name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NearName {
    pub name: u32,
    /// The score in thousandths.
    pub score: u32,
    /// Names with a higher rank are nearer. The rank depends on the nearness and on the share of common
    /// letter pairs.
    pub rank: u32,
    pub reasons: Reasons,
}

/// The nearest names of a table, nearest first. `accept` returns false for the names that the caller may not
/// see. `accept` is called only for names that are among the nearest names so far.
pub fn near_names(
    wanted: &WantedName,
    table: &impl NameTable,
    index: &NearIndex,
    limit: usize,
    accept: impl FnMut(u32) -> bool,
) -> Vec<NearName> {
    let mut nearest = Nearest { limit, found: BTreeMap::new(), accept };
    if wanted.is_empty() || limit == 0 {
        return Vec::new();
    }
    let mut by_letters = near_by_letters(wanted, table, index, MAX_EDITS);
    let uses = WordUses::of(wanted, table, index);
    let mut scratch = Scratch::default();
    for (bound, name) in uses.names(wanted, table, index, MIN_SCORE) {
        if nearest.is_full_above(highest_rank(bound)) {
            break;
        }
        scratch.read(table, index, &uses, name);
        let distance = by_letters.remove(&name);
        nearest.offer(scratch.near_name(wanted, table, name, distance, |rank| nearest.is_full_above(rank)));
    }
    let mut left: Vec<(u32, Letters)> = by_letters.into_iter().collect();
    left.sort_unstable_by_key(|(name, distance)| (*distance, *name));
    for (name, distance) in left {
        scratch.read(table, index, &uses, name);
        nearest.offer(scratch.near_name(wanted, table, name, Some(distance), |rank| nearest.is_full_above(rank)));
    }
    if let [only] = wanted.words.as_slice()
        && (2..=10).contains(&only.num_characters)
    {
        for name in index.with_initials(&only.text) {
            nearest.offer(of_initials(wanted, table, name));
        }
    }
    nearest.found.into_values().collect()
}

/// The score of one name, or `None` if the name is not near. [`near_names`] returns the same score for this
/// name, regardless of the table that contains the name.
pub fn score_name(wanted: &WantedName, name: &str) -> Option<NearName> {
    let table = MemoryTable::of(std::iter::once(name));
    near_names(wanted, &table, &NearIndex::of(&table), 1, |_| true).into_iter().next()
}

/// The highest possible rank of a name whose score from words is at most `score`.
fn highest_rank(score: u32) -> u32 {
    score * SCORE_WEIGHT + 1_000
}

/// The nearest names so far.
struct Nearest<F> {
    limit: usize,
    /// The key sorts the nearest name first.
    found: BTreeMap<(std::cmp::Reverse<u32>, u32), NearName>,
    accept: F,
}

impl<F: FnMut(u32) -> bool> Nearest<F> {
    /// Whether the list is full, so that a name with this rank or a lower rank cannot be added.
    fn is_full_above(&self, rank: u32) -> bool {
        self.found.len() >= self.limit && self.found.last_key_value().is_some_and(|((last, _), _)| last.0 > rank)
    }

    fn offer(&mut self, near: Option<NearName>) {
        let Some(near) = near else { return };
        let key = (std::cmp::Reverse(near.rank), near.name);
        let is_full = self.found.len() >= self.limit;
        if is_full && self.found.last_key_value().is_some_and(|(last, _)| *last < key) {
            return;
        }
        if self.found.values().any(|known| known.name == near.name) || !(self.accept)(near.name) {
            return;
        }
        self.found.insert(key, near);
        if self.found.len() > self.limit {
            self.found.pop_last();
        }
    }
}

/// The words of the name that is being scored. The memory is reused for each name.
#[derive(Default)]
struct Scratch {
    words: Vec<u32>,
    weights: Vec<u32>,
    pairs: Vec<Pair>,
    /// The words without spaces. Set only for the names that need it.
    flat: String,
    /// Computed for the first name that is near enough.
    opposites: Option<Opposites>,
}

impl Scratch {
    /// Reads the words of a name, and pairs them with requested words.
    fn read(&mut self, table: &impl NameTable, index: &NearIndex, uses: &WordUses, name: u32) {
        self.pairs.clear();
        self.words.clear();
        self.weights.clear();
        let (mut before, mut starts): (&[WordUse], &[WordUse]) = (&[], &[]);
        for (position, word) in table.words_of(name).take(MAX_WORDS).enumerate() {
            self.words.push(word);
            self.weights.push(u32::from(index.word_weights[word as usize]));
            let of_word = uses.of_word(word);
            for word_use in of_word {
                self.pairs.extend(pair_of(*word_use, (before, starts), position));
            }
            (before, starts) = (starts, of_word);
        }
    }

    fn read_flat(&mut self, table: &impl NameTable) {
        self.flat.clear();
        self.words.iter().for_each(|word| self.flat.push_str(table.word(*word)));
    }

    /// Combines the score from words with the score from letters. `is_too_low` returns true for a rank that
    /// is too low for the list of the nearest names.
    fn near_name(
        &mut self,
        wanted: &WantedName,
        table: &impl NameTable,
        name: u32,
        distance: Option<Letters>,
        is_too_low: impl Fn(u32) -> bool,
    ) -> Option<NearName> {
        let by_words = align(wanted, &self.weights, &mut self.pairs);
        let (words, reasons) = Some(by_words).filter(|(score, _)| *score >= MIN_SCORE).unwrap_or_default();
        if distance.is_some() {
            self.read_flat(table);
        }
        let letters = distance.map(|distance| self.by_letters(wanted, distance));
        let letters = letters.filter(|(score, _)| *score >= MIN_LETTER_SCORE).unwrap_or_default();
        if words == 0 && letters.0 == 0 {
            return None;
        }
        // The name differs from the requested name in two letters, and these letters are in one word. Two
        // typing errors rarely change a word into another existing word, so the caller probably means a
        // different word.
        let is_other_word = distance == Some(Letters::Edits(2)) && reasons.contains(Reason::OtherWord);
        let letters = (letters.0, letters.1.saturating_sub(if is_other_word { OTHER_WORD_LOSS } else { 0 }));
        let nearness = words.max(letters.1);
        if is_too_low(highest_rank(nearness)) {
            return None;
        }
        if distance.is_none() {
            self.read_flat(table);
        }
        let is_near = words.max(letters.0).max(letters.1) > OPPOSITE_AT_MOST;
        let is_opposite = is_near && {
            let of_name = self.words.iter().map(|word| table.word(*word));
            self.opposites.get_or_insert_with(|| Opposites::of(wanted)).contain(&self.flat, &of_name)
        };
        let (max_score, nearness) = match is_opposite {
            true => (OPPOSITE_AT_MOST, nearness.min(OPPOSITE_AT_MOST)),
            false => (MAX_SCORE, nearness),
        };
        let by_letters = if distance == Some(Letters::Edits(0)) { Reasons::NONE } else { Reason::Typo.into() };
        Some(NearName {
            name,
            score: words.max(letters.0).min(max_score),
            rank: nearness * SCORE_WEIGHT + closeness(&wanted.flat, &self.flat),
            reasons: if letters.1 >= words { by_letters } else { reasons },
        })
    }

    /// The score from letters, and the nearness from which the rank is computed.
    fn by_letters(&self, wanted: &WantedName, letters: Letters) -> (u32, u32) {
        let length = self.flat.chars().count().max(wanted.flat.chars().count()).max(1) as u32;
        let (continues, is_start) = (self.flat.starts_with(&wanted.flat), wanted.flat.starts_with(&self.flat));
        let (distance, loss) = match letters {
            Letters::Edits(distance) => (distance, EDIT_LOSS),
            Letters::Gap(distance) => (distance, GAP_LOSS),
        };
        // Two letters are much of a short word: `use` is not a misspelled `users`.
        let is_other_word = is_start && wanted.has_one_word() && letters == Letters::Edits(2) && length <= SHORT_WORD;
        let common = if continues || is_start && !is_other_word { BEGINNING } else { 0 };
        let score = match letters {
            Letters::Edits(_) => 1_000 - 1_000 * distance.min(length) / length + common,
            Letters::Gap(_) => 1_000 - GAP_LOSS * distance.min(length) / length,
        };
        let nearness = 1_000 - loss * distance.min(length) / length + if continues { CONTINUATION } else { 0 };
        (score.min(1_000), nearness.min(LETTERS_AT_MOST))
    }
}

/// The near name whose words have the requested initials.
fn of_initials(wanted: &WantedName, table: &impl NameTable, name: u32) -> Option<NearName> {
    let words = table.words_of(name).take(MAX_WORDS);
    let initials: String = words.filter_map(|word| table.word(word).chars().next()).collect();
    let is_long = initials.len() >= MANY_INITIALS;
    let near = NearName {
        name,
        score: SCORE_OF_INITIALS,
        rank: SCORE_WEIGHT * if is_long { RANK_OF_MANY_INITIALS } else { SCORE_OF_INITIALS },
        reasons: Reason::Initials.into(),
    };
    (initials == wanted.flat).then_some(near)
}

/// Pairs the word at `position` of a name with requested words, if the word completes a match with these
/// words. `word_use` is the possible match of the word at `position`. `starts` are the possible matches of
/// the previous word, and `before` those of the word before the previous word.
fn pair_of(word_use: WordUse, (before, starts): (&[WordUse], &[WordUse]), position: usize) -> Option<Pair> {
    match word_use {
        WordUse::Whole { wanted, nearness, reasons } => Some(Pair { nearness, wanted, name: 1 << position, reasons }),
        WordUse::Start { .. } | WordUse::Number { .. } => None,
        WordUse::Rest { wanted, cut: NUMBERED } => {
            let is_number = |number: &WordUse| matches!(number, WordUse::Number { wanted: of } if *of == wanted);
            let is_start =
                |start: &WordUse| matches!(start, WordUse::Start { wanted: of, cut: NUMBERED } if *of == wanted);
            (starts.iter().any(is_number) && before.iter().any(is_start)).then(|| Pair {
                nearness: ABBREVIATION,
                wanted: 1 << wanted,
                name: 7 << (position - 2),
                reasons: Reason::Abbreviation.into(),
            })
        }
        WordUse::Rest { wanted, cut } => {
            let is_start = |start: &WordUse| matches!(start, WordUse::Start { wanted: of, cut: at } if *of == wanted && *at == cut);
            starts.iter().any(is_start).then(|| Pair {
                nearness: crate::candidates::JOINED,
                wanted: 1 << wanted,
                name: 3 << (position - 1),
                reasons: Reason::JoinedWords.into(),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LearnedAbbreviation;

    /// The nearest name, with the reasons why it matches.
    fn nearest(asked: &str, names: &[&str]) -> Option<(String, String)> {
        let table = MemoryTable::of(names.iter().copied());
        let found = near_names(&WantedName::new(asked), &table, &NearIndex::of(&table), 5, |_| true);
        found.first().map(|near| (names[near.name as usize].to_owned(), near.reasons.to_string()))
    }

    #[test]
    fn nearest_name_is_first() {
        let check = |asked: &str, names: &[&str], expect: &str, reasons: &str| {
            assert_eq!(nearest(asked, names), Some((expect.to_owned(), reasons.to_owned())), "{asked}");
        };
        check("getUserDta", &["getUserData", "setUserData"], "getUserData", "similar spelling");
        check("endencyMap", &["map", "dependencyMap"], "dependencyMap", "similar spelling");
        check("tolittleince", &["to_little", "to_little_in_place"], "to_little_in_place", "similar spelling");
        check("associateWithJob", &["associate", "associate_with_entry"], "associate_with_entry", "another word");
        check("deccodeHeader", &["header", "parse_header"], "parse_header", "similar spelling, synonym");
        check("userUserName", &["name", "user_name"], "user_name", "");
        check("kubernetesClient", &["client", "k8s_client"], "k8s_client", "abbreviation");
        check("loadI18n", &["load", "load_internationalization"], "load_internationalization", "abbreviation");
        check("open_bp", &["open_by", "openBlueprint"], "openBlueprint", "abbreviation");
        check("rekwest", &["req", "request"], "request", "similar spelling");
        check("def haed", &["default", "head"], "head", "similar spelling");
    }

    /// No other word confirms the match of a single word.
    #[test]
    fn weak_matches_of_a_single_word_are_only_suggested() {
        let score = |asked: &str, name: &str| score_name(&WantedName::new(asked), name).map_or(0, |near| near.score);
        for (asked, name) in [
            // By sound.
            ("docs", "desc"),
            ("cli", "__call__"),
            ("ekwal", "equal"),
            // A synonym of a similar word.
            ("robot", "Base"),
            ("roots", "Base"),
            // Abbreviations with two letters.
            ("fonts", "fn"),
            ("changelog", "ch"),
            ("nm", "named"),
            // A short beginning with an ending.
            ("users", "Use"),
            ("keyed", "key"),
        ] {
            assert!(score(asked, name) <= OPPOSITE_AT_MOST, "{asked} {name}: {}", score(asked, name));
        }
        for (asked, name) in [
            ("cfg", "config"),
            ("configs", "cfg"),
            ("db", "database"),
            ("database", "db"),
            ("auth", "authentication"),
            ("ctx", "context"),
            ("users", "user"),
            ("ids", "id"),
            ("boxes", "box"),
            ("entries", "entry"),
            ("parser", "parse"),
            ("worker", "work"),
            ("mapping", "map"),
            ("fetch", "get"),
            ("rekwest", "request"),
            ("rendr", "render"),
            ("wdgt", "widget"),
            // Another word confirms the match.
            ("open_ekwal", "open_equal"),
            ("loadFonts", "load_fn"),
        ] {
            assert!(score(asked, name) >= 660, "{asked} {name}: {}", score(asked, name));
        }
    }

    #[test]
    fn learned_abbreviations_count_in_both_directions() {
        let learned = |word: &str, other: &str| LearnedAbbreviation { word: word.into(), other: other.into() };
        let check = |asked: &str, learned: &[LearnedAbbreviation], expect: u32| {
            let names = ["openZorblatt", "read_qx_rows"];
            let table = MemoryTable::of(names.into_iter());
            let wanted = WantedName::new(asked).with_abbreviations(learned);
            let found = near_names(&wanted, &table, &NearIndex::of(&table), 5, |_| true);
            assert_eq!(found.first().map_or(0, |near| near.score), expect, "{asked}");
        };
        check("open_zt", &[], 673);
        check("open_zt", &[learned("zt", "zorblatt")], MAX_SCORE);
        check("readQuaxRows", &[learned("quax", "qx")], MAX_SCORE);
    }

    #[test]
    fn different_names_are_not_near() {
        assert_eq!(nearest("render", &["parse_header", "user_name"]), None);
    }
}
