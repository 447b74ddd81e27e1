//! Finds the filters that a question states in words, such as "in auth.py" and "since last week".

mod kinds;
mod languages;
mod places;
mod since;
mod tests_wanted;

use std::ops::Range;

use serde::Serialize;

use crate::tokens::Token;
use crate::vocabulary::list;

pub use self::since::Since;

/// The filters that a question states.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Filters {
    /// Names of kinds of symbols; `file` means whole files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<&'static str>,
    /// Names, paths or globs of files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub directories: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<String>,
    /// Names of languages as Cairn spells them, in lower case.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Since>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<TestsWanted>,
    /// For each filter, the words that state it, in the order of the question.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stated: Vec<StatedFilter>,
}

/// The words of a question that state a filter.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct StatedFilter {
    pub filter: FilterName,
    pub words: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FilterName {
    Kinds,
    Files,
    Directories,
    Modules,
    Languages,
    Since,
    Tests,
}

impl FilterName {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Kinds => "kinds",
            Self::Files => "files",
            Self::Directories => "directories",
            Self::Modules => "modules",
            Self::Languages => "languages",
            Self::Since => "since",
            Self::Tests => "tests",
        }
    }
}

/// Whether the question excludes tests, or asks only for tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TestsWanted {
    Exclude,
    Only,
}

impl TestsWanted {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exclude => "exclude",
            Self::Only => "only",
        }
    }
}

impl Filters {
    pub fn is_empty(&self) -> bool {
        self.stated.is_empty()
    }
}

/// The result of [`filters`].
pub(crate) struct Stated {
    pub(crate) filters: Filters,
    /// The question without the words that state filters. If only stop words remain, this is the whole
    /// question.
    pub(crate) rest: String,
    /// The tokens that state a time, or that state whether tests are wanted. These tokens do not describe the
    /// wanted code.
    pub(crate) conditions: Vec<Range<usize>>,
    /// The tokens that only state where to search, such as "in the billing module" and "without tests". The
    /// rest of the question is complete without them.
    pub(crate) additions: Vec<Range<usize>>,
    /// The tokens of all filters.
    pub(crate) ranges: Vec<Range<usize>>,
}

/// A filter with its tokens.
pub(crate) struct FoundFilter {
    pub(crate) tokens: Range<usize>,
    pub(crate) value: FilterValue,
}

impl FoundFilter {
    fn is_condition(&self) -> bool {
        matches!(self.value, FilterValue::Since(_) | FilterValue::Tests(_))
    }

    /// Whether the words only state where to search. "tests" in "tests for the parser" and "python" in
    /// "python client" are parts of the subject.
    fn is_addition(&self, tokens: &[Token]) -> bool {
        match self.value {
            FilterValue::Kinds(_) => false,
            FilterValue::Language(_) | FilterValue::Tests(_) => {
                tokens[self.tokens.start].is_any(list("before_additions"))
            }
            FilterValue::File(_) | FilterValue::Directory(_) | FilterValue::Module(_) | FilterValue::Since(_) => true,
        }
    }
}

/// Whether the words before this token exclude what follows: "not in tests", "other than python", "anywhere
/// but in src", "excluding python and rust".
fn is_excluded(tokens: &[Token], at: usize) -> bool {
    let is_between = |index: &usize| tokens[*index].is_any(list("between_exclusion"));
    let Some(before) = (0..at).rev().find(|index| !is_between(index)) else { return false };
    let is_but = tokens[before].is_any(&["but"]) && before > 0 && tokens[before - 1].is_any(list("before_but"));
    if !tokens[before].ends_phrase && (is_but || tokens[before].is_any(list("exclusion"))) {
        return true;
    }
    // A further member of a list is excluded if the member before it is excluded.
    let is_conjunction = tokens[before].is_any(&["and", "or", "nor"]);
    let previous = if is_conjunction { before.checked_sub(1) } else { tokens[before].ends_phrase.then_some(before) };
    previous.is_some_and(|previous| !tokens[previous].ends_clause && is_member(tokens, previous))
}

/// Whether the token is the last word of an excluded member of a list: a language, tests or the name of a
/// file or directory.
fn is_member(tokens: &[Token], at: usize) -> bool {
    let token = &tokens[at];
    let is_name =
        languages::is_language(token) || token.is_any(list("exclusion_members")) || token.text.contains(['/', '.']);
    is_name && is_excluded(tokens, at)
}

pub(crate) enum FilterValue {
    Kinds(&'static [&'static str]),
    File(String),
    Directory(String),
    Module(String),
    Language(&'static str),
    Since(Since),
    Tests(TestsWanted),
}

impl FilterValue {
    fn name(&self) -> FilterName {
        match self {
            Self::Kinds(_) => FilterName::Kinds,
            Self::File(_) => FilterName::Files,
            Self::Directory(_) => FilterName::Directories,
            Self::Module(_) => FilterName::Modules,
            Self::Language(_) => FilterName::Languages,
            Self::Since(_) => FilterName::Since,
            Self::Tests(_) => FilterName::Tests,
        }
    }
}

/// The filters of a question, and the question without the words that state them. The tokens in `taken` name
/// the subject of the question, so they cannot state a filter.
pub(crate) fn filters(question: &str, tokens: &[Token], taken: &[Range<usize>]) -> Stated {
    let mut found: Vec<FoundFilter> = Vec::new();
    for list in [
        since::find(tokens),
        tests_wanted::find(tokens),
        places::find(tokens),
        kinds::find(tokens),
        languages::find(tokens),
    ] {
        for filter in list {
            let overlaps = |range: &Range<usize>| range.start < filter.tokens.end && filter.tokens.start < range.end;
            if !taken.iter().any(overlaps) && !found.iter().any(|known| overlaps(&known.tokens)) {
                found.push(filter);
            }
        }
    }
    found.sort_by_key(|filter| filter.tokens.start);
    let ranges: Vec<Range<usize>> = found.iter().map(|filter| filter.tokens.clone()).collect();
    let rest = without(question, tokens, &ranges);
    let conditions = found.iter().filter(|filter| filter.is_condition()).map(|filter| filter.tokens.clone()).collect();
    let additions =
        found.iter().filter(|filter| filter.is_addition(tokens)).map(|filter| filter.tokens.clone()).collect();
    let mut filters = Filters::default();
    for filter in found {
        let words = question[tokens[filter.tokens.start].start..tokens[filter.tokens.end - 1].end].to_owned();
        filters.stated.push(StatedFilter { filter: filter.value.name(), words });
        add(&mut filters, filter.value);
    }
    Stated { filters, rest, conditions, additions, ranges }
}

fn add(filters: &mut Filters, value: FilterValue) {
    match value {
        FilterValue::Kinds(kinds) => {
            for kind in kinds {
                push(&mut filters.kinds, *kind);
            }
        }
        FilterValue::File(file) => push(&mut filters.files, file),
        FilterValue::Directory(directory) => push(&mut filters.directories, directory),
        FilterValue::Module(module) => push(&mut filters.modules, module),
        FilterValue::Language(language) => push(&mut filters.languages, language),
        FilterValue::Since(since) => filters.since = filters.since.or(Some(since)),
        FilterValue::Tests(tests) => filters.tests = filters.tests.or(Some(tests)),
    }
}

fn push<T: PartialEq>(list: &mut Vec<T>, value: T) {
    if !list.contains(&value) {
        list.push(value);
    }
}

/// The question without these tokens. Each run of white space outside quotes and code spans becomes one
/// space.
fn without(question: &str, tokens: &[Token], ranges: &[Range<usize>]) -> String {
    let is_kept = |index: &usize| !ranges.iter().any(|range| range.contains(index));
    let has_keyword = (0..tokens.len()).filter(is_kept).any(|index| tokens[index].is_keyword());
    if ranges.is_empty() || !has_keyword {
        return question.to_owned();
    }
    let bytes = |range: &Range<usize>| tokens[range.start].start..tokens[range.end - 1].end;
    let removed: Vec<Range<usize>> = ranges.iter().map(bytes).collect();
    let spans: Vec<Range<usize>> =
        tokens.iter().filter(|token| token.is_span()).map(|token| token.start..token.end).collect();
    let is_in = |ranges: &[Range<usize>], at: usize| ranges.iter().any(|range| range.contains(&at));
    let end_of_words = tokens.last().map_or(0, |last| last.end);
    let mut text = String::with_capacity(question.len());
    let mut is_apart = false;
    for (at, character) in question.char_indices().filter(|(at, _)| !is_in(&removed, *at)) {
        if !is_in(&spans, at) && character.is_whitespace() {
            is_apart = true;
            continue;
        }
        // A mark at the end is appended to the last remaining word.
        if is_apart && !text.is_empty() && at < end_of_words {
            text.push(' ');
        }
        text.push(character);
        is_apart = false;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokenize;

    fn check(question: &str, stated: &[&str], rest: &str) {
        let Stated { filters, rest: found_rest, .. } = filters(question, &tokenize(question), &[]);
        let words: Vec<&str> = filters.stated.iter().map(|filter| filter.words.as_str()).collect();
        assert_eq!((words.as_slice(), found_rest.as_str()), (stated, rest), "{question}");
    }

    #[test]
    fn rest_is_the_question_without_filters() {
        check("functions that use redis", &["functions that"], "use redis");
        check("classes in auth.py", &["classes", "in auth.py"], "classes in auth.py");
        check(
            "token checks in the billing module since last week",
            &["in the billing module", "since last week"],
            "token checks",
        );
        check("python retry logic without tests", &["python", "without tests"], "retry logic");
        check("python", &["python"], "python");
        check("who calls parse in the billing module?", &["in the billing module"], "who calls parse?");
        check("authentication flow", &[], "authentication flow");
        check("errors  \"instead of  kafka ;\" in python ?", &["in python"], "errors \"instead of  kafka ;\"?");
        check("lock renewal excluding python and rust", &[], "lock renewal excluding python and rust");
        check("locks not in python, java or rust", &[], "locks not in python, java or rust");
        check("code not changed since 2022", &[], "code not changed since 2022");
        check("functions that log  'a  b ;'", &["functions that"], "log 'a  b ;'");
        check("who logs `a  ;` in auth.py", &["in auth.py"], "who logs `a  ;`");
    }

    #[test]
    fn taken_words_state_no_filter() {
        let taken = vec![Range { start: 2, end: 3 }];
        let question = "what imports auth.py in tests";
        let tokens = tokenize(question);
        let found = filters("calls in auth.py", &tokenize("calls in auth.py"), &taken);
        assert!(found.filters.is_empty());
        let found = filters(question, &tokens, &taken);
        assert_eq!((found.filters.tests, found.rest.as_str()), (Some(TestsWanted::Only), "what imports auth.py"));
        assert_eq!(found.conditions, vec![Range { start: 3, end: 5 }]);
    }
}
