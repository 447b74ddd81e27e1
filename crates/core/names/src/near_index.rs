//! Values that are computed once for each table and then used by every search for near names.

use crate::distance::Signature;
use crate::lexicon::weight;
use crate::sound::sound_code;
use crate::table::NameTable;

/// Maximum length, in bytes without separators, of a name that is compared letter by letter.
pub(crate) const MAX_FLAT_BYTES: usize = 96;
/// Minimum number of words in a name whose initials are stored.
const MIN_INITIALS: usize = 2;

/// Texts in ascending order of their length, with their signatures. A scan reads only the signatures of the
/// texts with certain lengths: 8 bytes for each text.
#[derive(Default)]
pub(crate) struct ByLength {
    /// The position of the first text of each length.
    starts: Vec<u32>,
    signatures: Vec<Signature>,
    numbers: Vec<u32>,
}

impl ByLength {
    fn of(texts: &[(u8, Signature)]) -> Self {
        let mut starts = vec![0_u32; MAX_FLAT_BYTES + 2];
        for (length, _) in texts {
            starts[usize::from(*length) + 1] += 1;
        }
        for length in 1..starts.len() {
            starts[length] += starts[length - 1];
        }
        let mut next = starts.clone();
        let (mut signatures, mut numbers) = (vec![Signature(0); texts.len()], vec![0; texts.len()]);
        for (number, (length, signature)) in (0..).zip(texts) {
            let at = &mut next[usize::from(*length)];
            signatures[*at as usize] = *signature;
            numbers[*at as usize] = number;
            *at += 1;
        }
        Self { starts, signatures, numbers }
    }

    /// Calls `found` with the number of each text whose length and signature allow a distance of at most
    /// `edits` edits.
    pub(crate) fn scan(&self, length: usize, signature: Signature, edits: u32, mut found: impl FnMut(u32)) {
        let start = |length: usize| self.starts.get(length.min(MAX_FLAT_BYTES + 1)).map_or(0, |at| *at as usize);
        let range = start(length.saturating_sub(edits as usize))..start(length + edits as usize + 1);
        for (at, other) in self.signatures[range.clone()].iter().enumerate() {
            if signature.may_be_within(*other, edits) {
                found(self.numbers[range.start + at]);
            }
        }
    }

    /// Calls `found` with the numbers of texts with these lengths. A text is included if it may contain all
    /// letters of the signature, or if the signature may contain all letters of the text.
    pub(crate) fn scan_parts(
        &self,
        lengths: std::ops::RangeInclusive<usize>,
        signature: Signature,
        mut found: impl FnMut(u32),
    ) {
        let start = |length: usize| self.starts.get(length.min(MAX_FLAT_BYTES + 1)).map_or(0, |at| *at as usize);
        let range = start(*lengths.start())..start(*lengths.end() + 1);
        for (at, other) in self.signatures[range.clone()].iter().enumerate() {
            if signature.may_be_part_of(*other) || other.may_be_part_of(signature) {
                found(self.numbers[range.start + at]);
            }
        }
    }
}

/// Signatures, lengths and weights of the names and words of a table.
pub struct NearIndex {
    /// The signature of each word, by the number of the word.
    pub(crate) word_signatures: Vec<Signature>,
    /// The weight of each word, by the number of the word.
    pub(crate) word_weights: Vec<u8>,
    pub(crate) words: ByLength,
    /// The sound codes of words in ascending order, each with the word.
    sounds: Vec<(u64, u32)>,
    pub(crate) names: ByLength,
    /// The sum of the weights of each name's words.
    pub(crate) name_weights: Vec<u8>,
    /// Hashes of the initials of names with several words, in ascending order, each with the name.
    pub(crate) initials: Vec<(u32, u32)>,
}

impl NearIndex {
    pub fn of(table: &impl NameTable) -> Self {
        let mut words: Vec<(u8, Signature)> = Vec::with_capacity(table.num_words() as usize);
        let mut word_weights: Vec<u8> = Vec::with_capacity(words.capacity());
        let mut sounds = Vec::new();
        for number in 0..table.num_words() {
            let word = table.word(number);
            words.push((length_of(word.chars().count()), Signature::of(word.chars())));
            word_weights.push(weight(word) as u8);
            sounds.extend(sound_code(word).map(|code| (code, number)));
        }
        let mut names: Vec<(u8, Signature)> = Vec::with_capacity(table.num_names() as usize);
        let mut name_weights = Vec::with_capacity(names.capacity());
        let mut initials = Vec::new();
        let mut flat = String::new();
        for name in 0..table.num_names() {
            flat.clear();
            let (mut total, mut firsts) = (0_u32, Initials::default());
            for word in table.words_of(name) {
                let text = table.word(word);
                flat.push_str(text);
                total += u32::from(word_weights[word as usize]);
                firsts.add(text);
            }
            if firsts.num >= MIN_INITIALS {
                initials.push((firsts.hash, name));
            }
            names.push((length_of(flat.chars().count()), Signature::of(flat.chars())));
            name_weights.push(total.min(255) as u8);
        }
        initials.sort_unstable();
        sounds.sort_unstable();
        let word_signatures = words.iter().map(|(_, signature)| *signature).collect();
        let (words, names) = (ByLength::of(&words), ByLength::of(&names));
        Self { word_signatures, word_weights, words, sounds, names, name_weights, initials }
    }

    /// The approximate memory, in bytes, of the index for a table with these numbers of names and words.
    pub fn size_bytes(num_names: usize, num_words: usize) -> usize {
        num_names * 21 + num_words * 37
    }

    /// The words with this sound code.
    pub(crate) fn with_sound(&self, code: u64) -> impl Iterator<Item = u32> {
        let first = self.sounds.partition_point(|(other, _)| *other < code);
        self.sounds[first..].iter().take_while(move |(other, _)| *other == code).map(|(_, word)| *word)
    }

    /// The names whose words have these initials. The result may also contain other names whose initials have
    /// the same hash.
    pub(crate) fn with_initials(&self, initials: &str) -> impl Iterator<Item = u32> {
        let mut wanted = Initials::default();
        initials.chars().for_each(|letter| wanted.add(letter.encode_utf8(&mut [0; 4])));
        let first = self.initials.partition_point(|(hash, _)| *hash < wanted.hash);
        self.initials[first..].iter().take_while(move |(hash, _)| *hash == wanted.hash).map(|(_, name)| *name)
    }
}

/// The length as a key of [`ByLength`]. All texts with at least [`MAX_FLAT_BYTES`] characters have the same
/// key.
fn length_of(num_characters: usize) -> u8 {
    num_characters.min(MAX_FLAT_BYTES) as u8
}

/// A hash of the first letters of words (FNV-1a).
struct Initials {
    hash: u32,
    num: usize,
}

impl Default for Initials {
    fn default() -> Self {
        Self { hash: 0x811c_9dc5, num: 0 }
    }
}

impl Initials {
    fn add(&mut self, word: &str) {
        let first = word.chars().next().map_or(0, |letter| letter as u32);
        self.hash = (self.hash ^ first).wrapping_mul(0x0100_0193);
        self.num += 1;
    }
}
