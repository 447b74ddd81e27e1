//! Finds the keywords of a question: its words except stop words. Identifiers are split into words.

use std::sync::LazyLock;

use crate::identifiers::is_product;
use crate::tokens::{Token, TokenKind};
use crate::vocabulary::list;

/// Words that never help to find code. Sorted.
static STOP_WORDS: LazyLock<&[&str]> = LazyLock::new(|| list("stop_words"));

/// Whether a lower-case word does not describe the subject of a question.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok() || cairn_ranking::is_stop_word(word)
}

/// The keywords in the order of the question, without duplicates. Words in code spans are not keywords,
/// because each code span is a mention. If a question has no keyword, all its words are returned.
pub(crate) fn keywords(tokens: &[Token]) -> Vec<String> {
    let is_keyword = |word: &str| {
        word.chars().count() > 1 && !is_stop_word(word) && !word.chars().all(|character| character.is_ascii_digit())
    };
    let is_text = |token: &&Token| token.kind != TokenKind::Code;
    let found = distinct(tokens.iter().filter(is_text), is_keyword);
    if found.is_empty() { distinct(tokens.iter(), |_| true) } else { found }
}

fn distinct<'a>(tokens: impl Iterator<Item = &'a Token>, keep: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for token in tokens {
        split(&token.text, |word| {
            if keep(word) && found.iter().all(|known| known != word) {
                found.push(word.to_owned());
            }
        });
    }
    found
}

/// Calls `word` with every word of a text, in lower case.
pub(crate) fn split(text: &str, mut word: impl FnMut(&str)) {
    for run in text.split(|character: char| !character.is_alphanumeric()) {
        if run.is_ascii() && !is_plain(run) {
            parts(run, &mut word);
        } else if !run.is_empty() {
            word(&run.to_lowercase());
        }
    }
}

/// Maximum number of letters before digits that form one word with them: "http" in `Http2Client`. In
/// `getResponse2`, the number only distinguishes two names.
const MAX_LETTERS_BEFORE_DIGITS: usize = 4;
/// Maximum number of words of the name of a product: `I`, `Pv` and `4` in `IPv4`.
const MAX_WORDS_OF_PRODUCT: usize = 4;

/// Calls `word` with every part of an identifier, in lower case. Digits belong to the letters before them:
/// `S3Store` has the parts `s3` and `store`.
fn parts(run: &str, mut word: impl FnMut(&str)) {
    let (mut words, mut start) = (Vec::new(), 0);
    cairn_ranking::words(run, |word| {
        words.push(&run[start..start + word.len()]);
        start += word.len();
    });
    let mut rest = words.as_slice();
    while !rest.is_empty() {
        let (joined, after) = rest.split_at(num_joined(rest));
        word(&joined.concat().to_ascii_lowercase());
        rest = after;
    }
}

/// The number of words at the start of `words` that form one part of an identifier.
fn num_joined(words: &[&str]) -> usize {
    let is_number = |word: &str| word.starts_with(|letter: char| letter.is_ascii_digit());
    let is_product = |num: &usize| is_number(words[num - 1]) && is_product(&words[..*num].concat());
    if let Some(num) = (2..=words.len().min(MAX_WORDS_OF_PRODUCT)).rev().find(is_product) {
        return num;
    }
    let at = |index: usize| words.get(index).copied().unwrap_or_default();
    let (first, second, third) = (at(0), at(1), at(2));
    if is_number(first) {
        let is_short_acronym = second.len() == 2 && second.bytes().all(|letter| letter.is_ascii_uppercase());
        return match second.len() {
            1 if is_number(third) => 3,
            1 => 2,
            _ => 1 + usize::from(is_short_acronym),
        };
    }
    if !is_number(second) {
        return 1;
    }
    if third.len() == 1 {
        // "k8s" and "E2E" are one part. "Matrix4x4" and "Point2D" have two parts.
        let is_one = first.len() == 1 || third.bytes().all(|letter| letter.is_ascii_lowercase());
        return if is_one && !is_number(at(3)) { 3 } else { 1 };
    }
    // In "csv2json", the number means "to".
    let is_conversion = second == "2" && first.len() > 1 && has_same_case(first, third);
    if is_conversion || first.len() > MAX_LETTERS_BEFORE_DIGITS { 1 } else { 2 }
}

/// Whether both words consist only of capitals, or only of lower-case letters.
fn has_same_case(left: &str, right: &str) -> bool {
    let are_all = |is_case: fn(&u8) -> bool| left.bytes().chain(right.bytes()).all(|letter| is_case(&letter));
    !right.is_empty() && (are_all(u8::is_ascii_uppercase) || are_all(u8::is_ascii_lowercase))
}

/// Whether a sequence of letters and digits is one word. In a word, only the first letter may be a capital,
/// and digits may be only at the end, so "oauth2" and "sha256" are not split. A plural acronym such as "APIs"
/// is also one word.
fn is_plain(run: &str) -> bool {
    let letters = run.trim_end_matches(|character: char| character.is_ascii_digit());
    let is_acronym = letters
        .strip_suffix('s')
        .is_some_and(|start| start.len() > 1 && start.bytes().all(|byte| byte.is_ascii_uppercase()));
    let is_word = letters.chars().skip(1).all(|character| character.is_ascii_lowercase());
    !letters.is_empty() && (is_word || is_acronym || letters.bytes().all(|byte| byte.is_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokenize;

    fn check(question: &str, expect: &[&str]) {
        assert_eq!(keywords(&tokenize(question)), expect, "{question}");
    }

    #[test]
    fn digits_belong_to_the_letters_before_them() {
        check("S3Store", &["s3", "store"]);
        check("Http2Client", &["http2", "client"]);
        check("Utf8Decoder", &["utf8", "decoder"]);
        check("UTF8Decoder", &["utf8", "decoder"]);
        check("OAuth2Session", &["oauth2", "session"]);
        check("Base64Encode", &["base64", "encode"]);
        check("IPv4Address", &["ipv4", "address"]);
        check("ipv4_parse", &["ipv4", "parse"]);
        check("x509", &["x509"]);
        check("loadX509Cert", &["load", "x509", "cert"]);
        check("sha256sum", &["sha256", "sum"]);
        check("k8sClient", &["k8s", "client"]);
        check("loadI18n", &["load", "i18n"]);
        check("Log4jAppender", &["log4j", "appender"]);
        check("E2ETest", &["e2e", "test"]);
        check("Matrix4x4", &["matrix", "4x4"]);
        check("Point2D", &["point", "2d"]);
        check("TwoFactor2FA", &["two", "factor", "2fa"]);
        check("parseResponse2", &["parse", "response"]);
        check("csv2json and HTML2PDF", &["csv", "json", "html", "pdf"]);
        check("Vector3Math", &["vector", "math"]);
    }

    #[test]
    fn stop_words_are_removed_and_identifiers_are_split() {
        assert!(STOP_WORDS.is_sorted());
        check("how does authentication work?", &["authentication"]);
        check("find handleAuthError", &["handle", "auth", "error"]);
        check("where is user validation", &["user", "validation"]);
        check("the get_user_by_id function in 2024", &["user", "id", "function"]);
        check("db timeout, DB timeout", &["db", "timeout"]);
        check("what calls `open`?", &["calls"]);
        check("explain `open`", &["explain", "open"]);
        check("oauth2 and sha256 of APIs", &["oauth2", "sha256", "apis"]);
        check("Größe der Datei", &["größe", "der", "datei"]);
        check("how does it work", &["how", "does", "it", "work"]);
        check("", &[]);
    }
}
