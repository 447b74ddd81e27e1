//! Reads sentences that state a password, such as `the password for the host is …`.

/// Maximum distance between the name and the verb, in bytes.
const REACH: usize = 80;

/// The position after the verb in a sentence that states a password. `at` is the position after the name,
/// such as `password`, and a blank.
pub(crate) fn after_verb(text: &[u8], at: usize) -> Option<usize> {
    const VERBS: [&[u8]; 8] =
        [b"is ", b"was ", b"is: ", b"ist ", b"set to ", b"was set to ", b"was changed to ", b"lautet "];
    let rest = &text[at.min(text.len())..text.len().min(at + REACH)];
    let longest = VERBS.iter().filter(|verb| rest.starts_with(verb)).map(|verb| verb.len()).max();
    longest.map(|length| at + length).or_else(|| after_owner(rest).map(|length| at + length))
}

/// The length of a phrase such as `for the host is `, `for bob: ` or `(staging): `.
fn after_owner(rest: &[u8]) -> Option<usize> {
    const LINKS: [&[u8]; 6] = [b"for ", b"of ", b"to ", b"on ", b"at ", b"in "];
    if rest.starts_with(b"(") {
        let length = rest.iter().position(|byte| matches!(byte, b')' | b'\n'))?;
        return rest[length..].starts_with(b"): ").then_some(length + 3);
    }
    LINKS.iter().find(|link| rest.starts_with(link))?;
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b" _-.'`\"@/*".contains(byte) || !byte.is_ascii();
    let length = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
    let sentence = &rest[..length];
    let verb = |verb: &[u8]| sentence.windows(verb.len()).position(|window| window == verb).map(|at| at + verb.len());
    verb(b" is ").or_else(|| verb(b" was ")).or_else(|| rest[length..].starts_with(b": ").then_some(length + 2))
}

/// Whether the part of a line before a name introduces a password in a sentence: `use the password …`, `user
/// bob and password …`.
pub(crate) fn introduces(line: &[u8]) -> bool {
    #[rustfmt::skip]
    const WORDS: [&[u8]; 18] = [
        b"the", b"and", b"with", b"use", b"your", b"my", b"our", b"new", b"old", b"default", b"admin", b"root", b"same",
        b"temporary", b"initial", b"using", b"by", b"has",
    ];
    let word = line.trim_ascii_end().rsplit(|byte| !byte.is_ascii_alphanumeric()).next().unwrap_or_default();
    line.ends_with(b" ") && WORDS.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// The length of the text between the name at the end of a question and the value in the answer: `?`, a line
/// break, and the start of the next line up to the end of `it's` or a similar phrase.
pub(crate) fn answer(rest: &[u8]) -> Option<usize> {
    const VERBS: [&[u8]; 5] = [b"it's ", b"it is ", b"its ", b"that's ", b"that is "];
    let line = rest.strip_prefix(b"?")?;
    let line = line.strip_prefix(b"\r").unwrap_or(line).strip_prefix(b"\n")?;
    let head = &line[..line.len().min(REACH)];
    let head = &head[..head.iter().position(|byte| *byte == b'\n').unwrap_or(head.len())];
    let ends = VERBS.iter().filter_map(|verb| {
        let at = head.windows(verb.len()).position(|window| window.eq_ignore_ascii_case(verb))?;
        Some(at + verb.len())
    });
    ends.min().map(|end| rest.len() - line.len() + end)
}

/// Whether the text between a name and its value ends with a verb or consists of an arrow: ` is `, ` for the
/// host was `, ` -> `.
pub(crate) fn is_stated(between: &[u8]) -> bool {
    let words = between.trim_ascii_start();
    matches!(words.trim_ascii(), b"->" | b"\xE2\x86\x92")
        || after_verb(words, 0).is_some_and(|end| words[end..].trim_ascii().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sentence: &str, expect: Option<&str>) {
        let found = after_verb(sentence.as_bytes(), 0);
        assert_eq!(found.map(|end| &sentence[end..]), expect, "{sentence}");
    }

    #[test]
    fn value_follows_the_verb() {
        check("for the staging host is x1", Some("x1"));
        check("of bob was x1", Some("x1"));
        check("for db-1.acme.io is: x1", Some("x1"));
        check("for bob: x1", Some("x1"));
        check("(staging): x1", Some("x1"));
        check("is x1", Some("x1"));
        check("was changed to x1", Some("x1"));
        check("for bob, who is x1", None);
        check("for (a is b)", None);
        check("reset is x1", None);
        assert!(is_stated(b" for the host is ") && is_stated(b" is ") && !is_stated(b" for the host "));
    }

    #[test]
    fn sentences_and_answers_introduce_values() {
        assert!(introduces(b"Use the ") && introduces(b"sign in with user bob and ") && !introduces(b"enter "));
        assert!(!introduces(b"the"));
        assert_eq!(answer(b"?\nann: it's x1"), Some(12));
        assert_eq!(answer(b"? no"), None);
    }
}
