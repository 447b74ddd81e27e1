//! Finds the words of a table that are near the requested words, and the names that may therefore match.

use rustc_hash::FxHashMap;

use crate::align::OTHER_WORD;
use crate::distance::{MAX_GAP, bounded_distance, gap};
use crate::near_index::{MAX_FLAT_BYTES, NearIndex};
use crate::reasons::{Reason, Reasons};
use crate::table::{NameTable, find_word, first_word};
use crate::wanted::{WantedName, WantedWord};
use crate::word_match::{ABBREVIATION, max_edits, only_sound_match, only_word_match, sound_match, word_match};

pub(crate) const JOINED: u32 = 980;
const INITIALS_OF_WORDS: u32 = 760;
/// Minimum number of requested words whose initials are compared. The initials of fewer words often match by
/// chance.
const MIN_INITIALS: usize = 3;
/// A name is ignored if the upper bound of its score from matching words is lower than this value, in
/// thousandths.
const MIN_BOUND: u32 = 380;
/// Maximum number of names that are scored exactly. The names with the highest bounds are scored.
const MAX_CANDIDATES: usize = 20_000;
/// A name that lacks a part of the requested name, or has an additional part, is found only if both names
/// have at least this number of characters.
const MIN_WITH_GAP: usize = 5;
/// The value of `cut` for a word whose inner letters are replaced by their number: `k8s`.
pub(crate) const NUMBERED: u8 = 0;
/// Minimum length of a word that has a numeric abbreviation such as `k8s`.
const MIN_NUMBERED: usize = 4;
/// The upper bounds of the scores are divided by this number, so that they fit into 16 bits.
const UNIT: u32 = 16;

/// Compares a requested word with a word of the table.
type WordMatch = fn(&WantedWord, &str) -> Option<(u32, Reasons)>;

/// How a word of the table matches one or more requested words.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WordUse {
    /// The whole word matches the requested words in the bit set `wanted`.
    Whole { wanted: u16, nearness: u32, reasons: Reasons },
    /// The word is the start of a requested word, up to the byte `cut`. The next word must be the rest of the
    /// requested word.
    Start { wanted: u8, cut: u8 },
    /// The word is the number of letters that are left out between the first and the last letter: `8` in
    /// `k8s`. The previous word must be a `Start` with the cut [`NUMBERED`], and the next word must be a
    /// `Rest`.
    Number { wanted: u8 },
    /// The word is the rest of a requested word, from the byte `cut`.
    Rest { wanted: u8, cut: u8 },
}

/// The words of a table that match words of a requested name.
#[derive(Default)]
pub(crate) struct WordUses {
    of_word: FxHashMap<u32, Vec<WordUse>>,
}

impl WordUses {
    pub(crate) fn of(wanted: &WantedName, table: &impl NameTable, index: &NearIndex) -> Self {
        let mut uses = Self::default();
        for (position, word) in wanted.words.iter().enumerate() {
            uses.add_near((position, word, wanted.has_one_word()), table, index);
            uses.add_halves(position, word, table);
            uses.add_numbered(position, word, table);
        }
        uses.add_joined(wanted, table);
        uses.add_words_of_numbered(wanted, table);
        uses
    }

    pub(crate) fn of_word(&self, word: u32) -> &[WordUse] {
        self.of_word.get(&word).map_or(&[], Vec::as_slice)
    }

    /// Adds the words that are near a requested word. `is_only` states whether the requested name has no
    /// other words.
    fn add_near(
        &mut self,
        (position, wanted, is_only): (usize, &WantedWord, bool),
        table: &impl NameTable,
        index: &NearIndex,
    ) {
        let (by_form, by_sound) = match is_only {
            true => (only_word_match as WordMatch, only_sound_match as WordMatch),
            false => (word_match as WordMatch, sound_match as WordMatch),
        };
        for word in near_words(wanted, table, index) {
            if let Some((nearness, reasons)) = by_form(wanted, table.word(word)) {
                self.add(word, WordUse::Whole { wanted: 1 << position, nearness, reasons });
            }
        }
        for word in wanted.sound.into_iter().flat_map(|code| index.with_sound(code)) {
            if let Some((nearness, reasons)) = by_sound(wanted, table.word(word)) {
                self.add(word, WordUse::Whole { wanted: 1 << position, nearness, reasons });
            }
        }
    }

    /// Adds the pairs of words that together form a requested word: `file` and `name` for `filename`.
    fn add_halves(&mut self, position: usize, wanted: &WantedWord, table: &impl NameTable) {
        for (cut, _) in wanted.text.char_indices().skip(2) {
            let (start, rest) = wanted.text.split_at(cut);
            if rest.len() < 2 || cut > usize::from(u8::MAX) {
                break;
            }
            if let (Some(start), Some(rest)) = (find_word(table, start), find_word(table, rest)) {
                let (wanted, cut) = (position as u8, cut as u8);
                self.add(start, WordUse::Start { wanted, cut });
                self.add(rest, WordUse::Rest { wanted, cut });
            }
        }
    }

    /// Adds the parts of the numeric abbreviation of a requested word: `k`, `8` and `s` for `kubernetes`.
    fn add_numbered(&mut self, position: usize, wanted: &WantedWord, table: &impl NameTable) {
        let text = wanted.text.as_str();
        if text.len() < MIN_NUMBERED || !text.bytes().all(|letter| letter.is_ascii_lowercase()) {
            return;
        }
        let parts = [text[..1].to_owned(), (text.len() - 2).to_string(), text[text.len() - 1..].to_owned()];
        if let [Some(start), Some(number), Some(rest)] = parts.map(|part| find_word(table, &part)) {
            let (wanted, cut) = (position as u8, NUMBERED);
            self.add(start, WordUse::Start { wanted, cut });
            self.add(number, WordUse::Number { wanted });
            self.add(rest, WordUse::Rest { wanted, cut });
        }
    }

    /// Adds the words whose numeric abbreviation consists of three requested words: `kubernetes` for `k8s`.
    fn add_words_of_numbered(&mut self, wanted: &WantedName, table: &impl NameTable) {
        for (start, words) in wanted.words.windows(3).enumerate() {
            let [first, number, last] = [0, 1, 2].map(|at| words[at].text.as_str());
            let Ok(num_left_out) = number.parse::<usize>() else { continue };
            if first.len() != 1 || last.len() != 1 || num_left_out == 0 {
                continue;
            }
            let long: Vec<u32> = starting_with(table, first)
                .filter(|word| table.word(*word).len() == num_left_out + 2 && table.word(*word).ends_with(last))
                .collect();
            for word in long {
                let (nearness, reasons) = (ABBREVIATION, Reason::Abbreviation.into());
                self.add(word, WordUse::Whole { wanted: 7 << start, nearness, reasons });
            }
        }
    }

    /// Adds the words that consist of two joined requested words, or of the initials of several requested
    /// words.
    fn add_joined(&mut self, wanted: &WantedName, table: &impl NameTable) {
        let words = &wanted.words;
        for start in 0..words.len() {
            let mut initials: String = words[start].text.chars().take(1).collect();
            for end in start + 1..words.len() {
                initials.extend(words[end].text.chars().take(1));
                let set = ((1_u32 << (end + 1)) - (1 << start)) as u16;
                if end == start + 1 {
                    let joined = format!("{}{}", words[start].text, words[end].text);
                    let reasons = Reason::JoinedWords.into();
                    let word = find_word(table, &joined);
                    word.into_iter()
                        .for_each(|word| self.add(word, WordUse::Whole { wanted: set, nearness: JOINED, reasons }));
                }
                let (nearness, reasons) = (INITIALS_OF_WORDS, Reason::Initials.into());
                if let Some(word) = find_word(table, &initials).filter(|_| end - start >= MIN_INITIALS - 1) {
                    self.add(word, WordUse::Whole { wanted: set, nearness, reasons });
                }
            }
        }
    }

    fn add(&mut self, word: u32, word_use: WordUse) {
        self.of_word.entry(word).or_default().push(word_use);
    }

    /// The names that contain near words, each with an upper bound of its score from words. Names with a
    /// bound below `min` are omitted. The highest bounds come first.
    pub(crate) fn names(
        &self,
        wanted: &WantedName,
        table: &impl NameTable,
        index: &NearIndex,
        min: u32,
    ) -> Vec<(u32, u32)> {
        let mut sums = vec![0_u16; table.num_names() as usize];
        let mut touched: Vec<u32> = Vec::new();
        for (word, uses) in &self.of_word {
            let of_name = u32::from(index.word_weights[*word as usize]);
            let points = uses.iter().map(|word_use| bound_of(*word_use, wanted, of_name)).max().unwrap_or_default();
            for name in table.names_with(*word) {
                let sum = &mut sums[name as usize];
                if *sum == 0 {
                    touched.push(name);
                }
                *sum = sum.saturating_add(points);
            }
        }
        let required: u32 = wanted.words.iter().filter(|word| !word.is_optional).map(|word| word.weight).sum();
        let bound = |name: u32| {
            let total = required + u32::from(index.name_weights[name as usize]);
            (u32::from(sums[name as usize]) * UNIT / total.max(1)).min(1_000)
        };
        let with_bounds = touched.into_iter().map(|name| (bound(name), name));
        let with_others = |bound: u32| bound + (1_000 - bound) * OTHER_WORD / 1_000;
        let near = with_bounds.filter(|(bound, _)| *bound >= MIN_BOUND && with_others(*bound) >= min);
        let mut names: Vec<(u32, u32)> = near.map(|(bound, name)| (with_others(bound), name)).collect();
        let order = |(bound, name): &(u32, u32)| (std::cmp::Reverse(*bound), *name);
        if names.len() > MAX_CANDIDATES {
            names.select_nth_unstable_by_key(MAX_CANDIDATES, order);
            names.truncate(MAX_CANDIDATES);
        }
        names.sort_unstable_by_key(order);
        names
    }
}

/// The words of a table that may match a requested word, sorted.
fn near_words(wanted: &WantedWord, table: &impl NameTable, index: &NearIndex) -> Vec<u32> {
    let mut near: Vec<u32> = Vec::new();
    near.extend(find_word(table, &wanted.text));
    for (other, _) in &wanted.replacements {
        near.extend(find_word(table, other));
        near.extend(find_word(table, &format!("{other}s")));
    }
    // Adds the words that begin with the first three letters of the requested word, and the words that
    // are beginnings of the requested word.
    near.extend(starting_with(table, beginning(&wanted.text, 3)));
    let ends = wanted.text.char_indices().map(|(at, _)| at).skip(2);
    near.extend(ends.filter_map(|end| find_word(table, &wanted.text[..end])));
    for word in starting_with(table, beginning(&wanted.text, 1)) {
        let signature = index.word_signatures[word as usize];
        if wanted.signature.may_be_part_of(signature) || signature.may_be_part_of(wanted.signature) {
            near.push(word);
        }
    }
    // The number of allowed edits depends on the length of the longer word. If the table's word is one
    // character longer than the requested word, one more edit may be allowed.
    let edits = max_edits(wanted.num_characters + 1);
    if edits > 0 {
        index.words.scan(wanted.num_characters, wanted.signature, edits, |word| near.push(word));
        let lengths = wanted.num_characters.saturating_sub(MAX_GAP).max(3)..=wanted.num_characters + MAX_GAP;
        index.words.scan_parts(lengths, wanted.signature, |word| near.push(word));
    }
    for (other, _) in &wanted.replacements_if_misspelled {
        near.extend(find_word(table, other));
        near.extend(find_word(table, &format!("{other}s")));
    }
    near.sort_unstable();
    near.dedup();
    near
}

/// The maximum that a word can add to the score of a name: weight times nearness, in units of `UNIT`, rounded
/// up.
fn bound_of(word_use: WordUse, wanted: &WantedName, weight_in_name: u32) -> u16 {
    let of = |position: u8| wanted.words[usize::from(position)].weight;
    let points = match word_use {
        WordUse::Whole { wanted: set, nearness, .. } => {
            let words = wanted.words.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
            nearness * (words.map(|(_, word)| word.weight).sum::<u32>() + weight_in_name)
        }
        WordUse::Start { wanted, .. } => JOINED * (of(wanted) + weight_in_name),
        WordUse::Rest { .. } | WordUse::Number { .. } => JOINED * weight_in_name,
    };
    (points / UNIT + 1).min(u32::from(u16::MAX)) as u16
}

/// The difference between the letters of a name and the letters of the requested name. Separators are
/// ignored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Letters {
    /// The number of edits.
    Edits(u32),
    /// The number of consecutive letters that only one of the two names contains, if this is the only
    /// difference.
    Gap(u32),
}

/// The names whose letters differ only a little from the letters of the requested name. Separators are
/// ignored.
pub(crate) fn near_by_letters(
    wanted: &WantedName,
    table: &impl NameTable,
    index: &NearIndex,
    edits: u32,
) -> FxHashMap<u32, Letters> {
    let mut near = FxHashMap::default();
    let length = wanted.flat.chars().count();
    if length + edits as usize >= MAX_FLAT_BYTES {
        return near;
    }
    let mut flat = String::new();
    let read = |name: u32, flat: &mut String| {
        flat.clear();
        table.words_of(name).for_each(|word| flat.push_str(table.word(word)));
    };
    index.names.scan(length, wanted.signature, edits, |name| {
        read(name, &mut flat);
        if let Some(distance) = bounded_distance(&wanted.flat, &flat, edits) {
            near.insert(name, Letters::Edits(distance));
        }
    });
    if length < MIN_WITH_GAP {
        return near;
    }
    let shortest = length.saturating_sub(MAX_GAP).max(MIN_WITH_GAP);
    let ranges = [shortest..=length.saturating_sub(edits as usize + 1), length + edits as usize + 1..=length + MAX_GAP];
    for lengths in ranges.into_iter().filter(|lengths| !lengths.is_empty()) {
        index.names.scan_parts(lengths, wanted.signature, |name| {
            read(name, &mut flat);
            let (short, long) =
                if flat.len() < wanted.flat.len() { (&flat, &wanted.flat) } else { (&wanted.flat, &flat) };
            if gap(short, long) {
                near.insert(name, Letters::Gap((long.len() - short.len()) as u32));
            }
        });
    }
    near
}

/// The first `num_characters` characters of a word.
fn beginning(word: &str, num_characters: usize) -> &str {
    let end = word.char_indices().nth(num_characters).map_or(word.len(), |(at, _)| at);
    &word[..end]
}

fn starting_with<'a>(table: &'a impl NameTable, beginning: &'a str) -> impl Iterator<Item = u32> + 'a {
    (first_word(table, beginning)..table.num_words()).take_while(move |word| table.word(*word).starts_with(beginning))
}
