//! Measures whether a value looks like words, a placeholder or random characters.

use crate::entropy;

/// For each letter, the letters that often follow it in words of English and of code. These 248 pairs make up
/// 93 % of all letter pairs in 15,698 words of real code, and 37 % of the pairs in random text.
#[rustfmt::skip]
const FOLLOWERS: [&[u8]; 26] = [
    b"bcdgiklmnprstuvwy", b"aeilorsu", b"acehiklmorstu", b"adeilorsu", b"acdefgilmnopqrstvwx", b"aefiloru",
    b"aehilnorsu", b"aeiot", b"abcdefglmnoprstvxz", b"", b"eis", b"adeilostuy", b"abeimopsu", b"acdefgiklnopstuv",
    b"bcdfgiklmnoprstuvw", b"aeiloprstuy", b"u", b"acdegiklmnoprstuvy", b"acehilopstuy", b"acdefhilmoprstuy",
    b"abcefilmnprst", b"aei", b"aeinr", b"ept", b"ps", b"e",
];

/// Words that occur in placeholders, and words that name a secret. A value that contains one of these words
/// is not a secret.
#[rustfmt::skip]
const STAND_INS: [&str; 45] = [
    "example", "placeholder", "changeme", "change_me", "change-me", "change_this", "replace", "your", "xxxx", "****",
    "....", "----", "____", "dummy", "sample", "redacted", "insert", "fake", "foobar", "foo_bar", "foo-bar",
    "undefined", "lorem", "test", "mock", "passw", "secret", "token", "credential", "apikey", "api_key", "api-key",
    "_key", "-key", "default", "todo", "fixme", "username", "hidden", "masked", "deadbeef", "qwerty", "asdf", "hello",
    "world",
];

/// The number of bytes of each kind in a value.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub(crate) lower: usize,
    pub(crate) upper: usize,
    pub(crate) digits: usize,
    /// The characters that join words: `_ - . / :`.
    pub(crate) joiners: usize,
    /// All other printable special characters, and bytes above 127.
    pub(crate) signs: usize,
    /// White space and control characters.
    pub(crate) blanks: usize,
    /// Number of positions at which the kind of character changes between lower-case letter, capital and
    /// digit. The change after the first letter of a capitalised word is not counted. In random text, the
    /// kind changes about every two characters. In identifiers, the kind changes about every six characters.
    pub(crate) changes: usize,
    /// Number of letters in sequences that look like words.
    pub(crate) in_words: usize,
}

impl Shape {
    pub(crate) fn of(value: &[u8]) -> Self {
        let mut shape = Self::default();
        for byte in value {
            match byte {
                b'a'..=b'z' => shape.lower += 1,
                b'A'..=b'Z' => shape.upper += 1,
                b'0'..=b'9' => shape.digits += 1,
                b'_' | b'-' | b'.' | b'/' | b':' => shape.joiners += 1,
                0..=32 | 127 => shape.blanks += 1,
                _ => shape.signs += 1,
            }
        }
        shape.changes = num_changes(value);
        shape.in_words = word_runs(value).filter(|run| reads_like_a_word(run)).map(<[u8]>::len).sum();
        shape
    }

    pub(crate) fn letters(&self) -> usize {
        self.lower + self.upper
    }

    /// Whether at least three fifths of the letters belong to words.
    pub(crate) fn is_wordy(&self) -> bool {
        self.letters() > 0 && self.in_words * 5 >= self.letters() * 3
    }

    /// The number of classes of characters that occur in the value: lower-case letters, capitals, digits and
    /// special characters.
    pub(crate) fn num_classes(&self) -> usize {
        [self.lower, self.upper, self.digits, self.signs].iter().filter(|count| **count > 0).count()
    }
}

fn num_changes(value: &[u8]) -> usize {
    let kind = |byte: u8| match byte {
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        b'0'..=b'9' => 3,
        _ => 0,
    };
    let mut before = [0, 0];
    let mut changes = 0;
    for byte in value {
        let now = kind(*byte);
        let capitalised = now == 1 && before[1] == 2 && before[0] != 2;
        changes += usize::from(now != before[1] && now != 0 && before[1] != 0 && !capitalised);
        before = [before[1], now];
    }
    changes
}

/// The sequences of letters, divided as in camel case: `HTTPServerKey9` gives `HTTP`, `Server` and `Key`. The
/// last capital of a sequence of capitals belongs to the next word.
fn word_runs(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = value;
    std::iter::from_fn(move || {
        let start = rest.iter().position(u8::is_ascii_alphabetic)?;
        let run = &rest[start..];
        let capitals = run.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        let small = run[capitals..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        let length = match (capitals, small) {
            (0 | 1, small) => capitals + small,
            (capitals, 0) => capitals,
            (capitals, _) => capitals - 1,
        };
        rest = &run[length..];
        Some(&run[..length])
    })
}

/// Whether a sequence of letters looks like a word. The sequence must have at least four letters, and three
/// quarters of its pairs of adjacent letters must be common. In a long sequence, two thirds are enough,
/// because the sequence may consist of several words.
fn reads_like_a_word(run: &[u8]) -> bool {
    let enough = if run.len() < 8 { (run.len() - 1) * 9 } else { (run.len() - 1) * 8 };
    run.len() >= 4 && common_pairs(run) * 12 >= enough
}

fn common_pairs(run: &[u8]) -> usize {
    run.windows(2)
        .filter(|pair| {
            let row = FOLLOWERS[usize::from(pair[0].to_ascii_lowercase() - b'a')];
            row.contains(&pair[1].to_ascii_lowercase())
        })
        .count()
}

/// Whether the value consists of letters and has few common pairs, like text that is typed at random on a
/// keyboard.
pub(crate) fn is_letter_noise(value: &[u8]) -> bool {
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    if letters != value.len() || value.len() < 10 || entropy::centibits(value) < 280 {
        return false;
    }
    let joined = word_runs(value).filter(|run| reads_like_a_word(run)).map(<[u8]>::len).sum::<usize>();
    joined * 3 <= value.len() && common_pairs(value) * 10 <= (value.len() - 1) * 6
}

/// Whether the value mixes lower-case letters and capitals at random, as in `kQzRtYbWmXpL`. In names and in
/// text, capitals begin words, and most pairs of letters are common.
pub(crate) fn is_case_noise(value: &[u8]) -> bool {
    let letters: Vec<u8> = value.iter().copied().filter(u8::is_ascii_alphabetic).collect();
    let shape = Shape::of(&letters);
    if value.len() < 10 || letters.len() < 8 || shape.lower < 2 || shape.upper < 2 || entropy::centibits(value) < 280 {
        return false;
    }
    let (num_pairs, num_common) = (letters.len() - 1, common_pairs(&letters));
    let is_mixed = shape.changes * 4 >= letters.len() && num_common * 10 <= num_pairs * 7;
    let is_rare = shape.changes * 7 >= letters.len() && num_common * 10 <= num_pairs * 6;
    shape.in_words * 3 <= letters.len() && (is_mixed || is_rare)
}

/// Whether the value mixes lower-case letters and capitals at random, has no brackets or separators, and has
/// shorter words than names such as `hostKeyBytes`.
pub(crate) fn is_capital_noise(value: &[u8]) -> bool {
    let num_letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    is_case_noise(value) && !has_brackets(value) && word_runs(value).count() * 7 >= num_letters * 2
}

/// Whether the value contains a bracket, a separator or a blank.
fn has_brackets(value: &[u8]) -> bool {
    value.iter().any(|byte| *byte <= 32 || b"()[]{}<>|&;,'\"".contains(byte))
}

/// Whether the value consists of random capitals and lower-case letters, and is not part of a program: it has
/// no brackets or separators, an even lower share of common pairs, and more capitals than a name such as
/// `JSONWebKeySet`.
pub(crate) fn is_bare_noise(value: &[u8]) -> bool {
    if !is_case_noise(value) || has_brackets(value) {
        return false;
    }
    let letters: Vec<u8> = value.iter().copied().filter(u8::is_ascii_alphabetic).collect();
    word_runs(&letters).count() * 3 >= letters.len() && common_pairs(&letters) * 20 <= (letters.len() - 1) * 11
}

/// Whether the value is a placeholder. A placeholder contains a word in `STAND_INS` or an ascending sequence,
/// or consists of very few different characters.
pub(crate) fn is_placeholder_text(value: &[u8]) -> bool {
    entropy::num_distinct(value) < 4.min(value.len())
        || longest_count_up(value) >= 6
        || STAND_INS.iter().any(|word| contains_word(value, word.as_bytes()))
}

/// Whether the value contains the word. In a long random value, four letters often form a word by chance.
/// Therefore, in a long value, the word must be in lower case, capitalised or all in capitals, and must end
/// at a word boundary. A word that is formed by chance rarely meets these conditions.
fn contains_word(value: &[u8], word: &[u8]) -> bool {
    value.windows(word.len()).enumerate().any(|(at, window)| {
        window.eq_ignore_ascii_case(word)
            && (value.len() < 16
                || window[1..].iter().all(|byte| !byte.is_ascii_uppercase())
                || !window.iter().any(u8::is_ascii_lowercase))
            && (value.len() < 20 || word.len() > 4 || !goes_on(value, at + word.len()))
    })
}

/// Whether the word continues after `end`. A lower-case letter or a digit continues the word, but only in a
/// value that contains lower-case letters, capitals and digits.
fn goes_on(value: &[u8], end: usize) -> bool {
    let has = |kind: fn(&u8) -> bool| value.iter().any(kind);
    has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_digit)
        && value.get(end).is_some_and(|next| next.is_ascii_lowercase() || next.is_ascii_digit())
}

pub(crate) fn contains_ignoring_case(value: &[u8], word: &[u8]) -> bool {
    value.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word))
}

pub(crate) fn starts_with_ignoring_case(value: &[u8], word: &[u8]) -> bool {
    value.len() >= word.len() && value[..word.len()].eq_ignore_ascii_case(word)
}

/// The length of the longest sequence in which each byte is greater by one than the previous byte: 6 in
/// `x123456`.
fn longest_count_up(value: &[u8]) -> usize {
    let mut longest = 0;
    let mut run = 1;
    for pair in value.windows(2) {
        run = if pair[1] == pair[0].wrapping_add(1) { run + 1 } else { 1 };
        longest = longest.max(run);
    }
    longest
}

pub(crate) fn is_hex(value: &[u8]) -> bool {
    !value.is_empty() && value.iter().all(u8::is_ascii_hexdigit)
}

/// Whether the value is a UUID: groups of 8, 4, 4, 4 and 12 hexadecimal digits.
pub(crate) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Whether a machine generated the value. Such a value has mixed letters and digits, no words, and high
/// entropy for its length.
pub(crate) fn is_random_text(value: &[u8]) -> bool {
    let shape = Shape::of(value);
    if shape.blanks > 0 || is_placeholder_text(value) {
        return false;
    }
    if shape.digits == 0 {
        return value.len() >= 16 && (is_letter_noise(value) || is_joined_noise(value, shape) || is_pair_noise(value));
    }
    let enough = if value.len() < 12 { 260 } else { 300 };
    let mixed = shape.letters() >= 2 && shape.letters() * 8 >= value.len();
    let number = matches!(value, [b'0', b'x' | b'X', rest @ ..] if is_hex(rest));
    if !mixed || number || entropy::centibits(value) < enough {
        return false;
    }
    // Hexadecimal letters often form words by chance, so the test for words is not used for hexadecimal
    // values with many digits.
    let wordy = shape.is_wordy() && !(is_hex(value) && shape.digits * 4 >= value.len());
    (is_restless(shape, value.len()) && !wordy) || is_pair_noise(value)
}

/// Whether the pairs of letters are random: at most half of them are common. In English words, nine of ten
/// pairs are common; in abbreviations, six of ten.
fn is_pair_noise(value: &[u8]) -> bool {
    let (mut num_pairs, mut num_common) = (0, 0);
    for run in value.split(|byte| !byte.is_ascii_alphabetic()).filter(|run| run.len() >= 2) {
        num_pairs += run.len() - 1;
        num_common += common_pairs(run);
    }
    let has_both = value.iter().any(u8::is_ascii_lowercase) && value.iter().any(u8::is_ascii_uppercase);
    has_both && value.len() >= 16 && num_pairs >= 10 && num_common * 2 <= num_pairs && entropy::centibits(value) >= 340
}

/// Whether the kind of character changes as often as in random text. The limit is lower for a value with
/// fewer kinds of characters and for a long value.
fn is_restless(shape: Shape, length: usize) -> bool {
    match (shape.upper > 0 && shape.lower > 0, length) {
        (true, ..24) => shape.changes * 9 >= length * 2,
        (true, _) => shape.changes * 5 >= length,
        (false, _) => shape.changes * 20 >= length * 3,
    }
}

/// Whether the value is random base64 that happens to contain no digit. Such values are rare.
fn is_joined_noise(value: &[u8], shape: Shape) -> bool {
    shape.upper > 2 && shape.lower > 2 && shape.in_words * 4 <= shape.letters() && entropy::centibits(value) >= 350
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_values_differ_from_words() {
        for random in
            ["k3J9xQ7wZ2pL", "9f86d081884c7d659a2feaa0c55ad015", "aB3+dE5/gH7=", "Zx81kqPw0Lm3", "xkqjzvwpbhtrfgmdcs"]
        {
            assert!(is_random_text(random.as_bytes()), "{random}");
        }
        for words in [
            "",
            "validateToken2",
            "parse_http_header_v2",
            "application/json;v1",
            "HTTPServerError500",
            "abcdefghijkl123",
            "changeme-k3J9xQ",
            "2024-01-02T03:04:05Z",
            "0x1f2e3d4c",
            "objc2-foundation/NSObject",
            "PFN_vkCmdEndRenderPass2",
            "RSA_PKCS1_SHA256",
            "s2n_x509_validator.c",
            "get_memory_requirements2",
            "abcd1234",
            "internationalization",
        ] {
            assert!(!is_random_text(words.as_bytes()), "{words}");
        }
    }

    #[test]
    fn camel_case_is_divided() {
        let runs: Vec<&[u8]> = word_runs(b"HTTPServerKey9ab_C").collect();
        assert_eq!(runs, [b"HTTP".as_slice(), b"Server", b"Key", b"ab", b"C"]);
    }

    #[test]
    fn placeholders_are_recognised() {
        for stand_in in ["xxxxxxxx", "my-test-1", "aaaaaaa", "1234567"] {
            assert!(is_placeholder_text(stand_in.as_bytes()), "{stand_in}");
        }
        for real in ["k3J9xQ7w", "hunter2", "$aB3!x"] {
            assert!(!is_placeholder_text(real.as_bytes()), "{real}");
        }
    }

    #[test]
    fn hashes_and_ids_are_known() {
        assert!(is_uuid(b"123e4567-e89b-12d3-a456-426614174000") && !is_uuid(b"123e4567-e89b-12d3-a456-42661417400"));
        assert!(is_hex(b"09afAF") && !is_hex(b"") && !is_hex(b"0g"));
    }
}
