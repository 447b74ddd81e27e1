//! Recognises questions about the usual form of some kind of code.

use std::ops::Range;
use std::sync::LazyLock;

use cairn_ranking::{StopWords, shipped_frequencies};

use crate::phrase::{Found, Phrase};
use crate::relationship::is_plural;
use crate::tokens::Token;
use crate::vocabulary::{DETERMINERS, NAME_ENDS, PRONOUNS, list};

/// An additional condition that a match of a rule must satisfy.
#[derive(Clone, Copy, PartialEq)]
enum Guard {
    None,
    /// "how do X work": the verb "do" shows that X is plural. If the names of the patterns are known, X must
    /// name a pattern.
    Work,
    /// Like [`Guard::Work`], and X must be in the plural.
    PluralWork,
    /// The word must not be part of a fixed term such as "regex pattern".
    NoTerm,
}

/// The rules with phrases are tested before the rules with single words.
const RULES: &[(&str, Guard)] = &[
    ("how @adv* do <x> @adv* @usually? work", Guard::Work),
    ("how <x> @adv* work", Guard::PluralWork),
    ("structure|structures|anatomy|skeleton of <x:name>", Guard::NoTerm),
    ("@example of|for|showing|how|that|where <x> $", Guard::NoTerm),
    ("example|sample usage|usages|use|code of|for? <x> $", Guard::None),
    ("usage example|examples of|for? <x> $", Guard::None),
    ("usage example|examples", Guard::None),
    ("standard|@usual @way to|of|for|in <x> $", Guard::NoTerm),
    ("how @is <x> @adv* typically|conventionally|@usually", Guard::None),
    ("@usual @way", Guard::NoTerm),
    ("best practice|practices", Guard::None),
    ("how do|does <x> @usually|typically", Guard::None),
    ("how @usually", Guard::None),
    ("how|what .. @usually", Guard::None),
    ("what does|do <x> @usually look|contain|have", Guard::None),
    ("pattern|patterns|convention|conventions|idiom|idioms|boilerplate for|of|to|in|when|behind <x> $", Guard::NoTerm),
    ("standards|guidelines for|of|on|when <x> $", Guard::NoTerm),
    ("coding|code|naming|style|documentation|commit standards|guidelines", Guard::None),
    ("typical|typically|standard|conventional <x:name>", Guard::NoTerm),
    ("<x:name> pattern|patterns|convention|conventions|idiom|idioms|boilerplate", Guard::NoTerm),
    (
        "pattern|patterns|typical|typically|standard|convention|conventions|conventional|conventionally|idiom|idioms|idiomatic|boilerplate",
        Guard::NoTerm,
    ),
];

/// Fixed terms in which a pattern word has a different meaning: the pattern words, the words that may precede
/// them, and the words that may follow them.
const TERMS: &[(&[&str], &[&str], &[&str])] = &[
    (
        &["standard"],
        &["non", "web", "c++", "sql", "iso", "ieee", "language", "w3c", "compliance", "accounting"],
        &[
            "output",
            "input",
            "error",
            "errors",
            "library",
            "libraries",
            "lib",
            "libs",
            "stream",
            "streams",
            "deviation",
            "out",
            "in",
            "err",
            "io",
            "i/o",
            "headers",
            "header",
            "compliance",
            "compliant",
            "conformance",
            "edition",
            "time",
            "module",
            "modules",
            "streams",
            "normal",
            "scaler",
            "tier",
            "charsets",
        ],
    ),
    (
        &["pattern", "patterns"],
        &[
            "regex",
            "regexp",
            "glob",
            "globs",
            "url",
            "uri",
            "search",
            "ignore",
            "ignored",
            "exclude",
            "exclusion",
            "include",
            "inclusion",
            "wildcard",
            "date",
            "bit",
            "byte",
            "cron",
            "expression",
            "filename",
            "branch",
            "tag",
            "match",
            "matching",
            "gitignore",
            "route",
            "path",
            "file",
            "test-name",
            "like",
            "topic",
            "excluded",
        ],
        &[
            "match",
            "matches",
            "matched",
            "matcher",
            "matchers",
            "matching",
            "syntax",
            "string",
            "strings",
            "compiler",
            "recognition",
            "variable",
        ],
    ),
    (&["standards"], &["web", "iso", "ieee", "w3c", "language", "sql", "accounting"], &["compliance"]),
    (&["convention", "conventions"], &["calling", "call", "abi", "geneva"], &[]),
    (&["structure", "structures"], &["data"], &[]),
    (&["example", "examples", "sample", "samples"], &["for"], &["rate", "size"]),
    (&["conventional"], &[], &["commit", "commits"]),
];

/// Words after "standard error" that show that this term means the usual form of an error, not the stream.
static AFTER_STANDARD_ERROR: LazyLock<&[&str]> = LazyLock::new(|| list("after_standard_error"));

static COMPILED: LazyLock<Vec<(Phrase, Guard)>> =
    LazyLock::new(|| RULES.iter().map(|(rule, guard)| (Phrase::new(rule), *guard)).collect());

/// The subject of a pattern question, as tokens.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct PatternFound {
    pub(crate) subject: Option<Range<usize>>,
    /// The tokens that identified the question as a pattern question.
    pub(crate) words: Vec<usize>,
    /// Whether the question has the form "how do X work" or "how X work".
    pub(crate) asks_how_it_works: bool,
}

/// `names` are the names of the patterns in scope, if they are known.
pub(crate) fn find(tokens: &[Token], names: Option<&[String]>) -> Option<PatternFound> {
    COMPILED.iter().find_map(|(phrase, guard)| {
        let found = phrase.find(tokens, &|found| is_accepted(tokens, found, *guard, names))?;
        let is_captured = |index: &usize| found.captures.iter().any(|(_, range)| range.contains(index));
        let words = (found.start..found.end).filter(|index| !is_captured(index) && !is_filler(&tokens[*index]));
        let subject = found.capture("x").map(|range| without_determiners(tokens, range));
        let subject = subject.map(|range| without_request(tokens, range));
        // "repository" is a place in "patterns of this repository", and the subject in "repository pattern".
        let is_pattern_word = |index: usize| index < found.end && !is_captured(&index);
        let is_before = |range: &Range<usize>| (range.end..found.end).any(is_pattern_word);
        let subject = subject.filter(|range| {
            let general: &[&[&str]] = match is_before(range) {
                true => &[list("list"), list("lead"), list("pattern_qualifiers"), *DETERMINERS],
                false => &[list("pattern_scopes"), *DETERMINERS],
            };
            !tokens[range.clone()].iter().all(|token| is_general(token, general))
        });
        let asks_how_it_works = matches!(guard, Guard::Work | Guard::PluralWork);
        Some(PatternFound { subject, words: words.collect(), asks_how_it_works })
    })
}

/// Whether a word before or after "patterns" names no kind of code: "list all patterns of this project".
fn is_general(token: &Token, general: &[&[&str]]) -> bool {
    !token.is_span() && general.iter().any(|words| words.contains(&token.lower.as_str()))
}

/// Whether a word of a question about all patterns names no kind of code.
pub(crate) fn is_general_word(word: &str) -> bool {
    let general = [list("list"), list("lead"), list("pattern_qualifiers"), list("pattern_scopes"), *DETERMINERS];
    general.iter().any(|words| words.contains(&word))
}

fn is_filler(token: &Token) -> bool {
    token.is_any(&["the", "a", "an"])
}

fn without_determiners(tokens: &[Token], mut range: Range<usize>) -> Range<usize> {
    while range.len() > 1 && tokens[range.start].is_any(&DETERMINERS) {
        range.start += 1;
    }
    range
}

/// The subject without the words of a request at the start of the question: "list all importer patterns".
fn without_request(tokens: &[Token], mut range: Range<usize>) -> Range<usize> {
    if range.start == 0 && tokens[0].is_any(&["list", "show", "find", "give", "get", "display"]) {
        while range.len() > 1 && tokens[range.start].is_any(list("list")) {
            range.start += 1;
        }
    }
    range
}

fn is_accepted(tokens: &[Token], found: &Found, guard: Guard, names: Option<&[String]>) -> bool {
    match guard {
        Guard::None => true,
        Guard::NoTerm => (found.start..found.end).all(|index| !is_term(tokens, index)),
        Guard::Work | Guard::PluralWork => {
            let Some(subject) = found.capture("x") else { return false };
            let subject = without_determiners(tokens, subject);
            let is_thing = !tokens[subject.start].is_any(&PRONOUNS) && !tokens[subject.start].is_any(&NAME_ENDS);
            let is_form = guard == Guard::Work || is_plural(&tokens[subject.end - 1].lower);
            let is_apart = !tokens.get(found.end).is_some_and(|next| next.is_any(&["together"]));
            is_thing && is_form && is_apart && names.is_none_or(|names| names_pattern(&tokens[subject], names))
        }
    }
}

/// Whether the word is part of a fixed term.
fn is_term(tokens: &[Token], index: usize) -> bool {
    TERMS.iter().filter(|(words, ..)| tokens[index].is_any(words)).any(|(_, before, after)| {
        let is_after = index > 0 && !tokens[index - 1].ends_phrase && tokens[index - 1].is_any(before);
        let next = tokens.get(index + 1).filter(|_| !tokens[index].ends_phrase);
        let is_before = next.is_some_and(|next| next.is_any(after));
        let is_usual_error = next.is_some_and(|next| next.is_any(&["error"]))
            && tokens.get(index + 2).is_some_and(|token| token.is_any(&AFTER_STANDARD_ERROR));
        is_after || (is_before && !is_usual_error)
    })
}

/// The minimum number of letters of a pattern's name that is compared with the end of a compound word. If the
/// compound has no separator between its words, the minimum is `MIN_UNMARKED_PART`.
const MIN_PART: usize = 3;
const MIN_UNMARKED_PART: usize = 5;

/// Whether one of the words names a pattern. A word names a pattern if the word or its singular is equal to
/// one word of the pattern's name, or ends with the whole name. Spaces, `_` and `-` are ignored.
pub(crate) fn names_pattern(subject: &[Token], names: &[String]) -> bool {
    subject.iter().any(|token| {
        let word = token.lower.trim_end_matches("()");
        let of_ies = word.strip_suffix("ies").map(|stem| format!("{stem}y"));
        let singulars = [Some(word), word.strip_suffix('s'), word.strip_suffix("es"), of_ies.as_deref()];
        singulars.into_iter().flatten().filter(|word| word.len() > 2).any(|word| {
            let folded = without_separators(word);
            let min_length = if folded != word { MIN_PART } else { MIN_UNMARKED_PART };
            let is_compound = folded != word || is_unknown(word);
            // The last word of a compound states what kind of thing the compound names.
            let head = word.rsplit(['_', '-']).next().unwrap_or(word);
            names.iter().any(|name| {
                let whole = without_separators(&name.to_lowercase());
                let mut has_word = false;
                cairn_ranking::words(name, |part| has_word |= part == head);
                has_word || (is_compound && whole.len() >= min_length && folded.ends_with(&whole))
            })
        })
    })
}

/// Whether the word does not occur in public code, so that it may be a compound. "awsimporter" is treated as
/// a compound that ends with "Importer", but "contest" is not treated as a compound that ends with "Test".
fn is_unknown(word: &str) -> bool {
    let mut is_unknown = true;
    cairn_ranking::terms(word, StopWords::Kept, |term| is_unknown &= shipped_frequencies().count(term) == 0);
    is_unknown
}

fn without_separators(name: &str) -> String {
    name.replace(['_', '-', ' '], "")
}

/// Whether a word of the subject names the pattern with this name: the word or its singular is equal to one
/// word of the name, or ends with the whole name.
pub fn names_a_pattern(subject: &str, name: &str) -> bool {
    names_pattern(&crate::tokens::tokenize(subject), &[name.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::text_of;
    use crate::tokens::tokenize;

    fn check(question: &str, subject: &str) {
        let tokens = tokenize(question);
        let found = find(&tokens, None).unwrap_or_else(|| panic!("{question} does not ask for a pattern"));
        let text = found.subject.map(|range| text_of(question, &tokens, &range)).unwrap_or_default();
        assert_eq!(text, subject, "{question}");
    }

    #[test]
    fn pattern_questions_have_a_subject() {
        check("how do importers work", "importers");
        check("how do the importers usually work?", "importers");
        check("importer pattern", "importer");
        check("pattern for error handling", "error handling");
        check("typical structure of a test", "test");
        check("example of a handler", "handler");
        check("is there a standard way to retry", "retry");
        check("what is the convention for naming tests", "naming tests");
        check("explain how importers work", "importers");
        check("standard error handling", "error handling");
        check("what is the usual way to log errors", "log errors");
        check("conventions", "");
        check("standards for logging", "logging");
        check("coding standards", "");
        check("standard layout of a package", "package");
        check("what does a typical service look like", "service");
        check("how are controllers typically structured", "controllers");
        check("what is the typical way to write a test", "write a test");
        for question in [
            "what patterns exist here",
            "which patterns are used in this repository",
            "list the patterns",
            "list patterns",
            "show me all patterns",
            "what conventions does this code base follow",
            "what are the patterns in this project",
            "which design patterns are used here",
            "list all the conventions of this repository",
            "what coding conventions exist",
            "are there any patterns?",
            "patterns",
        ] {
            check(question, "");
        }
        check("list all importer patterns", "importer");
        check("repository pattern", "repository");
        check("why do we follow the repository pattern", "repository");
        check("how does the repository pattern work in the orders service", "repository");
        check("pattern for search", "search");
        check("conventions for names", "names");
    }

    #[test]
    fn other_questions_ask_for_no_pattern() {
        for question in [
            "standard output",
            "write to standard error",
            "standard library",
            "regex pattern for emails",
            "pattern matching",
            "non-standard port",
            "calling convention of the abi",
            "how do I work around this",
            "how do we work with dates",
            "how does login work",
            "`pattern` is empty",
            "patternMatcher",
            "error \"no standard pattern\" is logged",
            "data structure of the index",
        ] {
            assert_eq!(find(&tokenize(question), None), None, "{question}");
        }
    }

    #[test]
    fn known_names_decide_how_do_questions() {
        let names = ["Importer", "RequestHandler", "RetryPolicy", "load_csv", "Test"].map(str::to_owned);
        for (question, expect) in [
            ("how do importers work", true),
            ("how do the aws importers work", true),
            ("how do AWSImporters work", true),
            ("how do handlers work", true),
            ("how do retry policies work", true),
            ("how do http_handlers work", true),
            ("how do request_handlers work", true),
            ("how do load_csv jobs work", true),
            ("how do sessions work", false),
            ("how do awsimporters work", true),
            ("how do contests work", false),
            ("how do unit tests work", true),
            ("importer pattern", true),
            ("observer pattern", true),
        ] {
            assert_eq!(find(&tokenize(question), Some(&names)).is_some(), expect, "{question}");
        }
        assert!(find(&tokenize("how do importers work"), Some(&[])).is_none(), "no pattern is in scope");
    }
}
