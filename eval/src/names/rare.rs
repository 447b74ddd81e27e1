//! Generates less frequent errors: type prefixes, numbers, wrong word boundaries, accents, and several
//! shortened words.

use super::letters::{by_sound, edit, position, typo};
use super::random::Random;
use super::symbols::{NamePool, Symbol};
use super::words::Words;

const VOWELS: [char; 5] = ['a', 'e', 'i', 'o', 'u'];
const ACCENTS: [(char, &str); 8] =
    [('a', "áàâä"), ('c', "ç"), ('e', "éèêë"), ('i', "íìîï"), ('n', "ñ"), ('o', "óòôö"), ('s', "š"), ('u', "úùûü")];
/// Prefixes for the type, the scope or the kind of a name.
const TYPE_PREFIXES: [&str; 18] =
    ["str", "n", "b", "p", "sz", "lp", "m_", "g_", "k", "I", "C", "T", "f", "_", "s_", "obj", "arr", "dw"];
const NUMBERS: [&str; 10] = ["1", "2", "3", "_v1", "V2", "_2", "01", "64", "_3", "10"];

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Adds a prefix: `userName` becomes `strUserName`.
pub(crate) fn type_prefix(symbol: &Symbol, _: &NamePool<'_>, random: &mut Random) -> Option<String> {
    let prefix = random.pick(&TYPE_PREFIXES);
    let words = Words::of(&symbol.name).0;
    Some(match prefix.ends_with('_') {
        true => format!("{prefix}{}", words.join("_")),
        false => format!("{prefix}{}", words.iter().map(|word| capital(word)).collect::<String>()),
    })
}

/// Adds a number: `userName` becomes `userName2`.
pub(crate) fn number_added(symbol: &Symbol, _: &NamePool<'_>, random: &mut Random) -> Option<String> {
    let ends_with_digit = symbol.name.ends_with(|letter: char| letter.is_ascii_digit());
    (!ends_with_digit).then(|| format!("{}{}", symbol.name, random.pick(&NUMBERS)))
}

/// Moves a word boundary, and makes a typing error: `userName` becomes `useRname`.
pub(crate) fn wrong_borders(symbol: &Symbol, _: &NamePool<'_>, random: &mut Random) -> Option<String> {
    let flat = Words::of(&symbol.name).0.concat();
    if flat.len() < 7 || !flat.is_ascii() {
        return None;
    }
    let flat = typo(&flat, random)?;
    let (start, rest) = flat.split_at_checked(2 + random.below(flat.len() - 4))?;
    Some(format!("{start}{}{rest}", random.pick(&["_", "-", " "])))
}

/// Shortens every word: `userName` becomes `us_name` or `usr_nam`.
pub(crate) fn all_words_cut(symbol: &Symbol, _: &NamePool<'_>, random: &mut Random) -> Option<String> {
    let mut words = Words::of(&symbol.name);
    if words.0.len() < 2 {
        return None;
    }
    for word in words.0.iter_mut().filter(|word| word.len() >= 5 && word.is_ascii()) {
        word.truncate(3 + random.below(2));
    }
    Some(words.write(random))
}

/// Removes all vowels: `userName` becomes `usrNm`.
pub(crate) fn all_vowels_dropped(symbol: &Symbol, _: &NamePool<'_>, random: &mut Random) -> Option<String> {
    let mut words = Words::of(&symbol.name);
    if symbol.name.len() < 8 {
        return None;
    }
    for word in words.0.iter_mut().filter(|word| word.len() >= 4 && word.is_ascii()) {
        *word = word[..1].to_owned() + &word[1..].replace(VOWELS, "");
    }
    Some(words.write(random))
}

/// Joins the owner and the name: `Server.run` becomes `server_run`.
pub(crate) fn owner_joined(symbol: &Symbol, _: &NamePool<'_>, random: &mut Random) -> Option<String> {
    let owner = symbol.owner()?;
    let mut words = Words::of(owner);
    words.0.extend(Words::of(&symbol.name).0);
    Some(words.write(random))
}

/// Swaps two letters that have one or two letters between them.
pub(crate) fn swapped_far(text: &str, random: &mut Random) -> Option<String> {
    edit(text, |letters| {
        let at = position(letters, random, false)?;
        let other = at + 2 + random.below(2);
        (other < letters.len() && letters[at] != letters[other] && letters.len() >= 7).then(|| letters.swap(at, other))
    })
}

pub(crate) fn other_vowel(text: &str, random: &mut Random) -> Option<String> {
    edit(text, |letters| {
        let places: Vec<usize> = (0..letters.len()).filter(|at| VOWELS.contains(&letters[*at])).collect();
        let at = *places.get(random.below(places.len()))?;
        let other = VOWELS[random.below(VOWELS.len())];
        (letters[at] != other).then(|| letters[at] = other)
    })
}

pub(crate) fn accents(text: &str, random: &mut Random) -> Option<String> {
    edit(text, |letters| {
        let at = position(letters, random, false)?;
        let (_, accents) = ACCENTS.iter().find(|(letter, _)| *letter == letters[at])?;
        letters[at] = accents.chars().nth(random.below(accents.chars().count()))?;
        Some(())
    })
}

/// Repeats a letter, as if its key was held too long.
pub(crate) fn letter_held(text: &str, random: &mut Random) -> Option<String> {
    edit(text, |letters| {
        let at = position(letters, random, false)?;
        let letter = letters[at].to_ascii_lowercase();
        (0..2 + random.below(2)).for_each(|_| letters.insert(at + 1, letter));
        Some(())
    })
}

pub(crate) fn by_sound_twice(text: &str, random: &mut Random) -> Option<String> {
    by_sound(&by_sound(text, random)?, random).filter(|twice| twice != text && text.len() >= 8)
}

/// Reverses the order of the words: `loadUserConfig` becomes `configUserLoad`.
pub(crate) fn all_words_reversed(symbol: &Symbol, _: &NamePool<'_>, random: &mut Random) -> Option<String> {
    let mut words = Words::of(&symbol.name);
    words.0.reverse();
    (words.0.len() >= 2).then(|| words.write(random))
}

/// Shortens the first word to one letter: `loadUserConfig` becomes `lUserConfig`.
pub(crate) fn first_word_as_letter(symbol: &Symbol, _: &NamePool<'_>, random: &mut Random) -> Option<String> {
    let mut words = Words::of(&symbol.name);
    let first = words.0.first_mut().filter(|word| word.len() > 2 && word.is_ascii())?;
    first.truncate(1);
    (words.0.len() >= 3).then(|| words.write(random))
}
