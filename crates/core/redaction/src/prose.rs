//! Reads sentences that state a password: `the password for the host is …`.

/// Maximum distance between the name and the verb, in bytes.
const REACH: usize = 80;

/// The position after the verb of `for the host is …`, which follows the name of a secret at `at`.
pub(crate) fn after_owner(text: &[u8], at: usize) -> Option<usize> {
    const LINKS: [&[u8]; 6] = [b"for ", b"of ", b"to ", b"on ", b"at ", b"in "];
    let rest = &text[at.min(text.len())..text.len().min(at + REACH)];
    LINKS.iter().find(|link| rest.starts_with(link))?;
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b" _-.'`\"@/*".contains(byte) || !byte.is_ascii();
    let sentence = &rest[..rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len())];
    let verb = |verb: &[u8]| sentence.windows(verb.len()).position(|window| window == verb).map(|at| at + verb.len());
    let end = verb(b" is ").or_else(|| verb(b" was ")).or_else(|| {
        let end = sentence.strip_suffix(b" is")?.len() + 3;
        rest[end..].starts_with(b": ").then_some(end + 2)
    })?;
    Some(at + end)
}

/// Whether the text between a name and its value ends with a verb or an arrow: ` is `, ` for the host was `,
/// ` -> `.
pub(crate) fn is_stated(between: &[u8]) -> bool {
    let words = between.trim_ascii_start();
    matches!(words.trim_ascii(), b"is" | b"was" | b"->" | b"\xE2\x86\x92")
        || after_owner(words, 0).is_some_and(|end| words[end..].trim_ascii().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sentence: &str, expect: Option<&str>) {
        let found = after_owner(sentence.as_bytes(), 0);
        assert_eq!(found.map(|end| &sentence[end..]), expect, "{sentence}");
    }

    #[test]
    fn value_follows_the_verb() {
        check("for the staging host is x1", Some("x1"));
        check("of bob was x1", Some("x1"));
        check("for db-1.acme.io is: x1", Some("x1"));
        check("for bob, who is x1", None);
        check("for (a is b)", None);
        check("reset is x1", None);
        assert!(is_stated(b" for the host is ") && is_stated(b" is ") && !is_stated(b" for the host "));
    }
}
