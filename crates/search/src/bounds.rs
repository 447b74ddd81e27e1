//! Limits for the size of a question. Larger questions would delay other callers, because the compilation of
//! globs and the comparison of words cannot be interrupted.

use cairn_inventory::{MAX_NESTING, nesting};
use cairn_redaction::{Given, Message, Own, quoted};
use globset::{Glob, GlobBuilder};

use crate::{FieldFault, QueryError, QueryErrorCode};

/// Maximum number of results on a page.
pub(crate) const MAX_LIMIT: usize = 100;
/// Maximum size of a question, which may be the whole text of an issue with a log. Only the first part of a
/// long question is used, see `cairn_question::Cut`, so a long question costs no more than a short one.
const MAX_QUERY_BYTES: usize = 4 << 20;
/// Maximum size of the pattern of an exact search.
const MAX_PATTERN_BYTES: usize = 4_096;
/// Maximum size of a name, a path or a pattern.
const MAX_WORD_BYTES: usize = 1_000;
/// Maximum number of words in one list.
const MAX_WORDS: usize = 100;
/// Maximum number of characters of a rejected word that a message shows.
const SHOWN_CHARACTERS: usize = 60;

pub(crate) fn query(text: &str) -> Result<(), QueryError> {
    query_size(text, MAX_QUERY_BYTES)
}

/// Checks the query of an exact search.
pub(crate) fn exact_query(text: &str) -> Result<(), QueryError> {
    query_size(text, MAX_PATTERN_BYTES)
}

/// Checks a number in a request. `field` is the name of the field in the request.
pub(crate) fn number(field: &str, value: usize, (min, max): (usize, usize)) -> Result<(), QueryError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    let range = if min == 0 { format!("at most {max}") } else { format!("between {min} and {max}") };
    Err(invalid(too_many(field, max, value), Own(format!("`{field}` must be {range}"))))
}

fn query_size(text: &str, max_bytes: usize) -> Result<(), QueryError> {
    if text.len() <= max_bytes {
        return Ok(());
    }
    let message = Own(format!("`query` has {} bytes; at most {max_bytes} are allowed", text.len()));
    Err(invalid(too_many("query", max_bytes, text.len()), message))
}

/// Checks a name, a path or a pattern. `field` is the name of the field in the request.
pub(crate) fn word(field: &str, text: &str) -> Result<(), QueryError> {
    if text.len() > MAX_WORD_BYTES {
        let (shown, length) = (shown(text), text.len());
        let message = Own(format!("`{field}` {shown} has {length} bytes; at most {MAX_WORD_BYTES} are allowed"));
        return Err(invalid(too_many(field, MAX_WORD_BYTES, length), message));
    }
    if nesting(text) > MAX_NESTING {
        let shown = shown(text);
        let message = Own(format!("`{field}` {shown} nests braces deeper than {MAX_NESTING}"));
        return Err(invalid(FieldFault::of(field), message));
    }
    Ok(())
}

pub(crate) fn words<'a>(field: &str, words: impl ExactSizeIterator<Item = &'a str>) -> Result<(), QueryError> {
    if words.len() > MAX_WORDS {
        let message = Own(format!("`{field}` has {} entries; at most {MAX_WORDS} are allowed", words.len()));
        return Err(invalid(too_many(field, MAX_WORDS, words.len()), message));
    }
    words.into_iter().try_for_each(|text| word(field, text))
}

/// Checks the number of globs for paths. Each path from the caller becomes at most two globs, so the limit is
/// twice the limit for words.
pub(crate) fn number_of_globs(field: &str, number: usize) -> Result<(), QueryError> {
    if number > 2 * MAX_WORDS {
        return Err(invalid(FieldFault::of(field), Own(format!("`{field}` has more than {MAX_WORDS} entries"))));
    }
    Ok(())
}

/// Checks the number and the sizes of patterns, without compiling the patterns.
pub fn patterns(field: &str, patterns: &[String]) -> Result<(), QueryError> {
    words(field, patterns.iter().map(String::as_str))
}

/// Compiles a glob after a check of its length and depth. Without the check, a single pattern could crash the
/// process.
pub(crate) fn glob(field: &str, pattern: &str) -> Result<Glob, QueryError> {
    word(field, pattern)?;
    let glob = GlobBuilder::new(pattern).literal_separator(false).build();
    glob.map_err(|error| {
        let fault = FieldFault { pattern: Some(pattern.to_owned()), ..FieldFault::of(field) };
        let message = Message::from(Own(format!("`{field}` has an invalid glob "))).and(Given(pattern));
        invalid(fault, message.and(": ").and(Own(error.kind().to_string())))
    })
}

fn shown(text: &str) -> String {
    let start: String = text.chars().take(SHOWN_CHARACTERS).collect();
    let (shown, cut) = (quoted(&start), if start.len() < text.len() { "…" } else { "" });
    format!("`{}{cut}`", shown.as_str())
}

fn too_many(field: &str, max_allowed: usize, provided: usize) -> FieldFault {
    let provided = i64::try_from(provided).ok();
    FieldFault { max_allowed: Some(max_allowed as u64), provided, ..FieldFault::of(field) }
}

pub(crate) fn invalid(fault: FieldFault, message: impl Into<Message>) -> QueryError {
    QueryError::new(QueryErrorCode::ValidationError, message).in_field(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oversized_patterns_and_queries_are_rejected() {
        let deep = format!("{}{}", "{".repeat(200_000), "}".repeat(200_000));
        assert!(glob("paths", &deep).is_err());
        assert!(glob("paths", "{{{{{{{{{a}}}}}}}}}").is_err());
        assert!(glob("paths", "{a,{b,c}}/**/*.rs").is_ok());
        assert!(glob("paths", "a[").is_err());
        assert!(number_of_globs("paths", 200).is_ok() && number_of_globs("paths", 201).is_err());
        assert!(query(&"word ".repeat(1_000)).is_ok());
        assert!(query(&"word ".repeat(200_000)).is_ok());
        assert!(query(&"word ".repeat(900_000)).is_err());
        assert!(query("where is the date parsed?").is_ok());
        let many = vec!["*"; 101];
        assert!(number("limit", 1, (1, 100)).is_ok() && number("limit", 100, (1, 100)).is_ok());
        for (value, provided) in [(0, 0), (101, 101), (usize::MAX, i64::MAX)] {
            let fault = number("limit", value, (1, 100)).expect_err("outside the range").fault.expect("a field");
            assert_eq!((fault.field.as_str(), fault.max_allowed), ("limit", Some(100)), "{value}");
            assert_eq!(fault.provided.unwrap_or(i64::MAX), provided, "{value}");
        }
        assert!(words("repositories", many.iter().copied()).is_err());
        let error = word("path", &"é".repeat(600)).expect_err("too long");
        assert_eq!(error.message.chars().filter(|character| *character == 'é').count(), SHOWN_CHARACTERS);
    }
}
