//! Computes sound codes. Words that sound alike have the same sound code, for example `request` and
//! `rekwest`.

/// Spellings that are replaced by a spelling with the same sound, because otherwise the two spellings would
/// have different sound codes.
const SPELLINGS: [(&str, &str); 4] = [("gh", ""), ("ph", "f"), ("tion", "sion"), ("wr", "r")];
/// Minimum number of consonants in a word that has a sound code. With fewer consonants, too many words would
/// have the same code.
const MIN_CONSONANTS: usize = 2;

/// The sound code of a word: the classes of its consonants, and whether the word begins with a vowel. A class
/// contains consonants with similar sounds, as in Soundex. `None` if the word is not ASCII or has too few
/// consonants.
pub(crate) fn sound_code(word: &str) -> Option<u64> {
    if !word.is_ascii() {
        return None;
    }
    let mut text = word.to_owned();
    for (from, to) in SPELLINGS.iter().filter(|(from, _)| word.contains(from)) {
        text = text.replace(from, to);
    }
    let (mut code, mut num_consonants, mut last) = (0_u64, 0, None);
    for letter in text.bytes() {
        let class = class_of(letter);
        if let Some(class) = class.filter(|_| class != last) {
            code = code << 3 | u64::from(class);
            num_consonants += 1;
        }
        last = class;
    }
    let starts_with_vowel = text.bytes().next().is_some_and(|letter| class_of(letter).is_none());
    let fits = (MIN_CONSONANTS..=20).contains(&num_consonants);
    fits.then_some(code << 1 | u64::from(starts_with_vowel))
}

/// `None` for vowels and for letters that are often silent.
fn class_of(letter: u8) -> Option<u8> {
    match letter {
        b'b' | b'f' | b'p' | b'v' => Some(1),
        b'c' | b'g' | b'j' | b'k' | b'q' | b's' | b'x' | b'z' => Some(2),
        b'd' | b't' => Some(3),
        b'l' => Some(4),
        b'm' | b'n' => Some(5),
        b'r' => Some(6),
        b'0'..=b'9' => Some(7),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_sound_alike_have_the_same_code() {
        let check = |left: &str, right: &str, expect: bool| {
            assert_eq!(sound_code(left).is_some_and(|code| Some(code) == sound_code(right)), expect, "{left} {right}");
        };
        check("request", "rekwest", true);
        check("equal", "ekwal", true);
        check("index", "indeks", true);
        check("phrase", "fraze", true);
        check("writer", "ryter", true);
        check("light", "lite", true);
        check("session", "setion", true);
        check("request", "response", false);
        check("to", "too", false);
    }
}
