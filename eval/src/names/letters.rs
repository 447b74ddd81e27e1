//! Generates errors in single letters, such as typing errors.

use super::random::Random;

/// The neighbours of each key on a keyboard.
const NEIGHBOURS: [(char, &str); 26] = [
    ('a', "qwsz"),
    ('b', "vghn"),
    ('c', "xdfv"),
    ('d', "serfcx"),
    ('e', "wsdr"),
    ('f', "drtgvc"),
    ('g', "ftyhbv"),
    ('h', "gyujnb"),
    ('i', "ujko"),
    ('j', "huikmn"),
    ('k', "jiolm"),
    ('l', "kop"),
    ('m', "njk"),
    ('n', "bhjm"),
    ('o', "iklp"),
    ('p', "ol"),
    ('q', "wa"),
    ('r', "edft"),
    ('s', "awedxz"),
    ('t', "rfgy"),
    ('u', "yhji"),
    ('v', "cfgb"),
    ('w', "qase"),
    ('x', "zsdc"),
    ('y', "tghu"),
    ('z', "asx"),
];
/// Letters that sound alike.
const SOUNDS: [(&str, &str); 28] = [
    ("ph", "f"),
    ("ck", "k"),
    ("qu", "kw"),
    ("ie", "ei"),
    ("ei", "ie"),
    ("able", "ible"),
    ("ible", "able"),
    ("ance", "ence"),
    ("ence", "ance"),
    ("ant", "ent"),
    ("ent", "ant"),
    ("tion", "sion"),
    ("sion", "tion"),
    ("ea", "ee"),
    ("ee", "ea"),
    ("ou", "u"),
    ("er", "or"),
    ("or", "er"),
    ("ai", "ay"),
    ("x", "ks"),
    ("c", "k"),
    ("c", "s"),
    ("z", "s"),
    ("y", "i"),
    ("gh", ""),
    ("wr", "r"),
    ("sc", "s"),
    ("ch", "k"),
];
/// Letters that look alike.
const LOOKS: [(&str, &str); 10] = [
    ("o", "0"),
    ("l", "1"),
    ("i", "1"),
    ("s", "5"),
    ("e", "3"),
    ("rn", "m"),
    ("m", "rn"),
    ("w", "vv"),
    ("i", "l"),
    ("l", "i"),
];

fn is_letter(letter: char) -> bool {
    letter.is_ascii_alphabetic()
}

/// A random position of a letter. If `inner` is set, the first position is excluded.
pub(crate) fn position(letters: &[char], random: &mut Random, inner: bool) -> Option<usize> {
    let places: Vec<usize> = (usize::from(inner)..letters.len()).filter(|at| is_letter(letters[*at])).collect();
    (!places.is_empty()).then(|| places[random.below(places.len())])
}

pub(crate) fn edit(text: &str, change: impl FnOnce(&mut Vec<char>) -> Option<()>) -> Option<String> {
    let mut letters: Vec<char> = text.chars().collect();
    change(&mut letters)?;
    Some(letters.into_iter().collect())
}

pub(crate) fn swapped(text: &str, random: &mut Random) -> Option<String> {
    edit(text, |letters| {
        let at = position(letters, random, false)?;
        (at + 1 < letters.len() && is_letter(letters[at + 1]) && letters[at] != letters[at + 1])
            .then(|| letters.swap(at, at + 1))
    })
}

pub(crate) fn missing(text: &str, random: &mut Random) -> Option<String> {
    edit(text, |letters| {
        let at = position(letters, random, false)?;
        letters.remove(at);
        Some(())
    })
}

pub(crate) fn extra(text: &str, random: &mut Random) -> Option<String> {
    edit(text, |letters| {
        let at = random.below(letters.len() + 1);
        letters.insert(at, char::from(b'a' + random.below(26) as u8));
        Some(())
    })
}

pub(crate) fn doubled(text: &str, random: &mut Random) -> Option<String> {
    edit(text, |letters| {
        let at = position(letters, random, false)?;
        match letters.get(at + 1) == Some(&letters[at]) {
            true => drop(letters.remove(at)),
            false => letters.insert(at, letters[at].to_ascii_lowercase()),
        }
        Some(())
    })
}

pub(crate) fn neighbour_key(text: &str, random: &mut Random) -> Option<String> {
    edit(text, |letters| {
        let at = position(letters, random, false)?;
        let key = letters[at].to_ascii_lowercase();
        let (_, near) = NEIGHBOURS.iter().find(|(letter, _)| *letter == key)?;
        let near: Vec<char> = near.chars().collect();
        letters[at] = near[random.below(near.len())];
        Some(())
    })
}

/// Removes two or three consecutive letters from a long word.
pub(crate) fn missing_syllable(text: &str, random: &mut Random) -> Option<String> {
    edit(text, |letters| {
        if letters.len() < 10 {
            return None;
        }
        let at = 2 + random.below(letters.len() - 4);
        let end = (at + 2 + random.below(2)).min(letters.len());
        letters.drain(at..end);
        Some(())
    })
}

/// Each entry of `table` is a text and its replacement. Replaces one random occurrence of such a text in
/// `text`.
fn replaced(text: &str, table: &[(&str, &str)], random: &mut Random) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let found: Vec<(usize, &(&str, &str))> =
        table.iter().flat_map(|pair| lower.match_indices(pair.0).map(move |(at, _)| (at, pair))).collect();
    if found.is_empty() {
        return None;
    }
    let (at, (from, to)) = found[random.below(found.len())];
    Some(format!("{}{to}{}", &text[..at], &text[at + from.len()..]))
}

pub(crate) fn by_sound(text: &str, random: &mut Random) -> Option<String> {
    replaced(text, &SOUNDS, random)
}

pub(crate) fn by_look(text: &str, random: &mut Random) -> Option<String> {
    replaced(text, &LOOKS, random)
}

/// Makes one of the most frequent errors.
pub(crate) fn typo(text: &str, random: &mut Random) -> Option<String> {
    match random.below(5) {
        0 => swapped(text, random),
        1 => missing(text, random),
        2 => extra(text, random),
        3 => doubled(text, random),
        _ => neighbour_key(text, random),
    }
}
