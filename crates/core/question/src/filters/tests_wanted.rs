//! Decides whether a question excludes tests or asks only for tests.

use std::ops::Range;
use std::sync::LazyLock;

use crate::filters::{FilterValue, FoundFilter, TestsWanted};
use crate::phrase::Phrase;
use crate::tokens::Token;
use crate::vocabulary::list;

const RULES: &[(&str, TestsWanted)] = &[
    (
        "without|excluding|exclude|except|ignoring|ignore|skip|omit the? test|tests files|code|cases|suite",
        TestsWanted::Exclude,
    ),
    (
        "without|excluding|exclude|except|ignoring|ignore|skip|skipping|omit|omitting|minus any|the|all|unit? tests|test",
        TestsWanted::Exclude,
    ),
    ("other than in|inside|within|from any|the|all|unit? tests|test code|files|suite|suites?", TestsWanted::Exclude),
    (
        "not|except|excluding|without|but in|inside|within|from any|the|all|unit? tests|test code|files|suite|suites?",
        TestsWanted::Exclude,
    ),
    ("other than any|the|all|unit? tests|test code|files|suite|suites?", TestsWanted::Exclude),
    (
        "anywhere|everywhere|anything|everything but any|the|all|unit? tests|test code|files|suite|suites?",
        TestsWanted::Exclude,
    ),
    ("outside of? the? tests|test code|files|suite?", TestsWanted::Exclude),
    ("no tests $", TestsWanted::Exclude),
    ("non-test|nontest|production code|files|only", TestsWanted::Exclude),
    ("non-test", TestsWanted::Exclude),
    ("not|but|no tests $", TestsWanted::Exclude),
    ("only in|inside the? tests|test code|files|suite?", TestsWanted::Only),
    ("only|just tests|test files|code|functions?", TestsWanted::Only),
    ("tests|test files|code? only", TestsWanted::Only),
    ("in|inside|within|from the? unit|integration? tests|test code|files|suite|suites?", TestsWanted::Only),
    (
        "^ find|list|show|which|what|where me|all|are|is? the|all? unit|integration|e2e? tests for|of|that|covering|which|cover|about|exercise|call|use|check",
        TestsWanted::Only,
    ),
    ("^ unit|integration? tests for|of|that|covering", TestsWanted::Only),
];

static COMPILED: LazyLock<Vec<(Phrase, TestsWanted)>> =
    LazyLock::new(|| RULES.iter().map(|(rule, wanted)| (Phrase::new(rule), *wanted)).collect());

pub(super) fn find(tokens: &[Token]) -> Vec<FoundFilter> {
    let found = COMPILED.iter().find_map(|(phrase, wanted)| {
        let found = phrase.find(tokens, &|_| true)?;
        // Words such as "find" before the words for tests are not part of the filter.
        let is_lead = found.start == 0 && *wanted == TestsWanted::Only && !tokens[0].is_any(&["only", "just"]);
        let range = if is_lead { test_words(tokens, found.end) } else { found.start..found.end };
        Some(FoundFilter { tokens: range, value: FilterValue::Tests(*wanted) })
    });
    found.into_iter().collect()
}

/// The words for tests before `end`, with the preposition after them: "unit tests for".
fn test_words(tokens: &[Token], end: usize) -> Range<usize> {
    let is_test = |index: &usize| tokens[*index].is_any(&TEST_WORDS);
    let start = (0..end).find(is_test).unwrap_or(0);
    let last = (start..end).rev().find(is_test).unwrap_or(start);
    let has_preposition = tokens.get(last + 1).is_some_and(|next| next.is_any(&["for", "of", "covering"]));
    start..last + 1 + usize::from(has_preposition)
}

static TEST_WORDS: LazyLock<&[&str]> = LazyLock::new(|| list("tests_wanted_test_words"));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokenize;

    fn check(question: &str, expect: Option<(&str, TestsWanted)>) {
        let tokens = tokenize(question);
        let found = find(&tokens);
        let found = found.first().map(|filter| match filter.value {
            FilterValue::Tests(wanted) => {
                (&question[tokens[filter.tokens.start].start..tokens[filter.tokens.end - 1].end], wanted)
            }
            _ => panic!("another filter"),
        });
        assert_eq!(found, expect, "{question}");
    }

    #[test]
    fn tests_are_excluded_or_wanted() {
        use TestsWanted::{Exclude, Only};
        check("callers of parse without tests", Some(("without tests", Exclude)));
        check("callers of parse excluding the test files", Some(("excluding the test files", Exclude)));
        check("retry logic, no tests", Some(("no tests", Exclude)));
        check("retry in production code", Some(("production code", Exclude)));
        check("where is parse used outside of tests", Some(("outside of tests", Exclude)));
        check("where is parse used in tests", Some(("in tests", Only)));
        check("who calls parse except in tests", Some(("except in tests", Exclude)));
        check("who calls parse, but not in the test suite", Some(("not in the test suite", Exclude)));
        check("lock refresh other than in tests", Some(("other than in tests", Exclude)));
        check("lock refresh other than unit tests", Some(("other than unit tests", Exclude)));
        check("uses of parse everywhere but in test files", Some(("but in test files", Exclude)));
        check("uses of parse everywhere but the tests", Some(("everywhere but the tests", Exclude)));
        check("tests only retry", Some(("tests only", Only)));
        check("only test code for parse", Some(("only test code", Only)));
        check("find tests for parse_url", Some(("tests for", Only)));
        check("unit tests for parse_url", Some(("unit tests for", Only)));
        check("which tests cover parse_url", Some(("tests", Only)));
        check("typical structure of a test", None);
        check("what is the convention for naming tests", None);
        check("how do I run tests", None);
        check("test runner", None);
    }
}
