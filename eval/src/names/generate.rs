//! Generates wrong names from the names of a repository, with an equal share of each kind of error.

use super::letters;
use super::random::Random;
use super::rare;
use super::symbols::{NamePool, Symbol};
use super::tables::KEYWORDS;
use super::words::Words;

/// A wrong name, and the name from which it was generated.
#[derive(Clone, Debug)]
pub(crate) struct WrongName {
    pub(crate) kind: &'static str,
    pub(crate) asked: String,
    /// The correct name.
    pub(crate) name: String,
}

type Change = fn(&Symbol, &NamePool<'_>, &mut Random) -> Option<String>;

/// An error in the letters of a name.
macro_rules! in_letters {
    ($change:path) => {
        |symbol, _, random| $change(&Words::of(&symbol.name).write(random), random)
    };
}

/// An error in the words of a name.
macro_rules! in_words {
    (|$words:ident, $source:ident, $random:ident| $change:expr) => {
        |symbol, $source, $random| {
            let $words = Words::of(&symbol.name);
            let changed: Words = $change?;
            Some(changed.write($random))
        }
    };
}

/// Every kind of error, with its name.
pub(crate) const KINDS: &[(&str, Change)] = &[
    ("letters swapped", in_letters!(letters::swapped)),
    ("letter missing", in_letters!(letters::missing)),
    ("letter added", in_letters!(letters::extra)),
    ("letter doubled", in_letters!(letters::doubled)),
    ("neighbouring key", in_letters!(letters::neighbour_key)),
    ("two typing errors", two_typos),
    ("letters by sound", in_letters!(letters::by_sound)),
    ("letters by look", in_letters!(letters::by_look)),
    ("syllable missing", in_letters!(letters::missing_syllable)),
    ("vowels dropped", in_words!(|words, _source, random| words.without_vowels(random))),
    ("known abbreviation", in_words!(|words, _source, random| words.shortened(random))),
    ("word cut", in_words!(|words, _source, random| words.cut_word(random))),
    ("abbreviation written out", in_words!(|words, _source, random| words.lengthened(random))),
    ("plural", in_words!(|words, _source, random| words.other_number(random))),
    ("form of a word", in_words!(|words, _source, random| words.other_form(random))),
    ("affix added", in_words!(|words, _source, random| words.with_affix(random))),
    ("affix missing", in_words!(|words, _source, _random| words.without_affix())),
    ("synonym", in_words!(|words, _source, random| words.same_meaning(random))),
    ("order of words", in_words!(|words, _source, random| words.reordered(random))),
    ("word missing", in_words!(|words, _source, random| words.without_word(random))),
    ("word added", in_words!(|words, source, random| words.with_word(&source.vocabulary, random))),
    ("word doubled", in_words!(|words, _source, random| words.doubled(random))),
    ("digits for words", in_words!(|words, _source, random| words.digits(random))),
    ("british or american", in_words!(|words, _source, random| words.other_spelling(random))),
    ("phrase with typing errors", |symbol, _, random| {
        let words = Words::of(&symbol.name);
        (words.0.len() > 1).then(|| words.mistyped(random)).flatten().map(|words| words.0.join(" "))
    }),
    ("phrase with filling words", filled_phrase),
    ("joined with a typing error", |symbol, _, random| letters::typo(&Words::of(&symbol.name).0.concat(), random)),
    ("name cut at the end", |symbol, _, random| {
        let name = &symbol.name;
        (name.len() >= 8 && name.is_ascii()).then(|| name[..name.len() - 2 - random.below(3)].to_owned())
    }),
    ("name cut at the start", |symbol, _, random| {
        let name = &symbol.name;
        (name.len() >= 8 && name.is_ascii()).then(|| name[1 + random.below(3)..].to_owned())
    }),
    ("right owner, wrong name", |symbol, _, random| {
        let owner = symbol.owner()?;
        let name = letters::typo(&symbol.name, random)?;
        Some(format!("{owner}{}{name}", random.pick(&[".", "::", "#", "->"])))
    }),
    ("wrong owner, wrong name", |symbol, source, random| {
        let other = &source.symbols[random.below(source.symbols.len())];
        let name = letters::typo(&symbol.name, random)?;
        Some(format!("{}{}{name}", other.name, random.pick(&[".", "::"])))
    }),
    ("keyword before", |symbol, _, random| {
        let name = letters::typo(&symbol.name, random)?;
        Some(format!("{} {name}", random.pick(KEYWORDS)))
    }),
    ("synonym and typing error", |symbol, _, random| {
        let words = Words::of(&symbol.name).same_meaning(random)?;
        Some(words.mistyped(random)?.write(random))
    }),
    ("order and typing error", |symbol, _, random| {
        let words = Words::of(&symbol.name).reordered(random)?;
        Some(words.mistyped(random)?.write(random))
    }),
    ("word missing and typing error", |symbol, _, random| {
        let words = Words::of(&symbol.name);
        let words = if words.0.len() < 4 { return None } else { words.without_word(random)? };
        Some(words.mistyped(random)?.write(random))
    }),
    ("affix and plural", in_words!(|words, _source, random| words.with_affix(random)?.other_number(random))),
    ("initials", |symbol, _, _| Words::of(&symbol.name).initials()),
    ("prefix of a type", rare::type_prefix),
    ("number added", rare::number_added),
    ("wrong borders of words", rare::wrong_borders),
    ("all words cut", rare::all_words_cut),
    ("all vowels dropped", rare::all_vowels_dropped),
    ("owner joined with the name", rare::owner_joined),
    ("distant letters swapped", in_letters!(rare::swapped_far)),
    ("another vowel", in_letters!(rare::other_vowel)),
    ("accents", in_letters!(rare::accents)),
    ("letter held", in_letters!(rare::letter_held)),
    ("letters by sound twice", in_letters!(rare::by_sound_twice)),
    ("all words reversed", rare::all_words_reversed),
    ("first word as a letter", rare::first_word_as_letter),
];

fn two_typos(symbol: &Symbol, _: &NamePool<'_>, random: &mut Random) -> Option<String> {
    if symbol.name.len() < 8 {
        return None;
    }
    let once = letters::typo(&Words::of(&symbol.name).write(random), random)?;
    letters::typo(&once, random)
}

fn filled_phrase(symbol: &Symbol, _: &NamePool<'_>, random: &mut Random) -> Option<String> {
    let mut words = Words::of(&symbol.name).0;
    if words.len() < 2 {
        return None;
    }
    words.insert(1, random.pick(&["the", "a", "of the", "from"]).to_owned());
    let start = random.pick(&["the function to", "method that", "", "class for", "how to"]);
    Some(format!("{start} {}", words.join(" ")).trim().to_owned())
}

/// Generates one wrong name with this kind of error from a random symbol. `None` if this kind of error is not
/// possible for the symbol.
pub(crate) fn wrong_name(
    (kind, change): (&'static str, Change),
    source: &NamePool<'_>,
    random: &mut Random,
) -> Option<WrongName> {
    let symbol = &source.symbols[random.below(source.symbols.len())];
    let is_word =
        symbol.name.len() >= 4 && symbol.name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if !is_word {
        return None;
    }
    let asked = change(symbol, source, random)?;
    Some(WrongName { kind, asked, name: symbol.name.clone() })
}
