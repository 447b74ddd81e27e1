//! Compiles patterns.

use regex_automata::meta::Regex;
use regex_syntax::hir::{self, Hir, HirKind, Look};
use regex_syntax::{ParserBuilder, escape};

use crate::plan::plan;
use crate::query::GramQuery;

/// Maximum size of a compiled pattern in memory.
const MAX_COMPILED_BYTES: usize = 10 << 20;
/// Memory of the cache that one thread uses to execute a pattern.
const CACHE_BYTES: usize = 8 << 20;
/// Maximum depth of nested groups.
const MAX_NESTING: u32 = 100;

/// The text or expression to search for, and the options of the search.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PatternRequest {
    pub text: String,
    /// Whether `text` is a regular expression in the syntax of the crate `regex`. Otherwise, it is searched
    /// literally.
    pub is_regex: bool,
    pub ignores_case: bool,
    /// Whether matches must start and end at the boundaries of words.
    pub whole_words: bool,
    /// Whether a match may contain line feeds. If `text` is literal and contains a line feed, a match may
    /// contain line feeds even if `across_lines` is false.
    pub across_lines: bool,
}

/// The reason why a pattern cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PatternError {
    #[error("the pattern is empty")]
    Empty,
    #[error("the expression is not valid: {0}")]
    Invalid(String),
    #[error("every match of the expression contains a line feed, but each line is searched separately")]
    LineFeed,
    #[error("the compiled expression is too large; use smaller repetitions or classes")]
    TooLarge,
}

/// How a text is searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Manner {
    /// No match contains a line feed, so the whole text can be searched at once.
    WithinLines,
    /// No match contains a line feed, but the expression contains `\A` or `\z`, so each line is searched
    /// separately.
    LineByLine,
    AcrossLines,
}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub(crate) regex: Regex,
    pub(crate) manner: Manner,
    query: GramQuery,
}

impl Pattern {
    pub fn compile(request: &PatternRequest) -> Result<Self, PatternError> {
        if request.text.is_empty() {
            return Err(PatternError::Empty);
        }
        let across_lines = request.across_lines || (!request.is_regex && request.text.contains('\n'));
        let mut expression = parse(request)?;
        if !across_lines {
            expression = without_line_feeds(expression)?;
        }
        let searched = expression.clone();
        let has_anchors = expression.properties().look_set().contains_anchor_haystack();
        let manner = match (across_lines, has_anchors) {
            (true, _) => Manner::AcrossLines,
            (false, true) => Manner::LineByLine,
            (false, false) => Manner::WithinLines,
        };
        if request.whole_words {
            let (start, end) = (Hir::look(Look::WordStartHalfUnicode), Hir::look(Look::WordEndHalfUnicode));
            expression = Hir::concat(vec![start, expression, end]);
        }
        let settings = Regex::config()
            .utf8_empty(false)
            .nfa_size_limit(Some(MAX_COMPILED_BYTES))
            .hybrid_cache_capacity(CACHE_BYTES);
        let regex = Regex::builder().configure(settings).build_from_hir(&expression);
        let regex = regex.map_err(|error| match error.size_limit() {
            Some(_) => PatternError::TooLarge,
            None => PatternError::Invalid(error.to_string()),
        })?;
        // The compilation has shown that the expression is not too large, so planning it takes little time.
        Ok(Self { regex, manner, query: plan(&searched) })
    }

    /// The condition on the trigrams of a text. A text that does not satisfy the condition contains no match.
    pub fn query(&self) -> &GramQuery {
        &self.query
    }
}

fn parse(request: &PatternRequest) -> Result<Hir, PatternError> {
    let escaped;
    let text = if request.is_regex {
        &request.text
    } else {
        escaped = escape(&request.text);
        &escaped
    };
    let mut parser = ParserBuilder::new()
        .utf8(false)
        .multi_line(true)
        .case_insensitive(request.ignores_case)
        .nest_limit(MAX_NESTING)
        .build();
    parser.parse(text).map_err(|error| match error {
        regex_syntax::Error::Parse(error) => PatternError::Invalid(error.kind().to_string()),
        regex_syntax::Error::Translate(error) => PatternError::Invalid(error.kind().to_string()),
        other => PatternError::Invalid(other.to_string()),
    })
}

/// Removes the line feed from all character classes of the expression. As in ripgrep, an expression that
/// cannot match without a line feed is refused.
fn without_line_feeds(expression: Hir) -> Result<Hir, PatternError> {
    let all = |parts: Vec<Hir>| parts.into_iter().map(without_line_feeds).collect::<Result<Vec<_>, _>>();
    Ok(match expression.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) => {
            if literal.0.contains(&b'\n') {
                return Err(PatternError::LineFeed);
            }
            Hir::literal(literal.0)
        }
        HirKind::Class(class) => Hir::class(class_without_line_feed(class)?),
        HirKind::Look(look) => Hir::look(look),
        HirKind::Repetition(mut repetition) => {
            repetition.sub = Box::new(without_line_feeds(*repetition.sub)?);
            Hir::repetition(repetition)
        }
        HirKind::Capture(mut capture) => {
            capture.sub = Box::new(without_line_feeds(*capture.sub)?);
            Hir::capture(capture)
        }
        HirKind::Concat(parts) => Hir::concat(all(parts)?),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)?),
    })
}

fn class_without_line_feed(mut class: hir::Class) -> Result<hir::Class, PatternError> {
    let was_empty = class.is_empty();
    match &mut class {
        hir::Class::Unicode(class) => {
            class.difference(&hir::ClassUnicode::new([hir::ClassUnicodeRange::new('\n', '\n')]));
        }
        hir::Class::Bytes(class) => {
            class.difference(&hir::ClassBytes::new([hir::ClassBytesRange::new(b'\n', b'\n')]));
        }
    }
    if class.is_empty() && !was_empty { Err(PatternError::LineFeed) } else { Ok(class) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fold::fold_into;
    use crate::grams::{Gram, grams_of};

    fn request(text: &str) -> PatternRequest {
        PatternRequest { text: text.to_owned(), is_regex: true, ..PatternRequest::default() }
    }

    fn query_of_text(text: &str) -> GramQuery {
        let mut folded = Vec::new();
        fold_into(text, &mut folded);
        GramQuery::of_text(&folded)
    }

    fn any(texts: &[&str]) -> GramQuery {
        GramQuery::or(texts.iter().map(|text| query_of_text(text)).collect())
    }

    fn all(texts: &[&str]) -> GramQuery {
        GramQuery::and(texts.iter().map(|text| query_of_text(text)).collect())
    }

    #[test]
    fn expressions_are_planned_as_trigrams() {
        let check = |expression: &str, expect: GramQuery| {
            let pattern = Pattern::compile(&request(expression)).expect(expression);
            assert_eq!(*pattern.query(), expect, "{expression}");
        };
        check("parse_date", all(&["parse_date"]));
        check("(?i)Parse", all(&["parse"]));
        check("ab", GramQuery::All);
        check(".*", GramQuery::All);
        check("abc|xyz", any(&["abc", "xyz"]));
        check("abc|x", GramQuery::All);
        check("ab[cd]e", any(&["abce", "abde"]));
        check("abc.*xyz", all(&["abc", "xyz"]));
        check(r"\bfn\s+main\b", all(&["mai", "ain"]));
        check("ab(cd)?ef", any(&["abcdef", "abef"]));
        check("(abc)+", all(&["abc"]));
        check("abc{2}d", all(&["abccd"]));
        check("abc{2,}d", all(&["abcc", "ccd"]));
        check("x(a|b)+yzw", any(&["ayzw", "byzw"]));
        check("(?-u:\\xff)abc", GramQuery::All);
        check(r"[^\n]foo\z", all(&["foo"]));
        check("[a&&b]", GramQuery::Nothing);
    }

    #[test]
    fn faulty_patterns_are_refused() {
        let check = |pattern: &PatternRequest, expect: &str| {
            let error = Pattern::compile(pattern).expect_err("refused");
            assert!(error.to_string().contains(expect), "{error}");
        };
        check(&request(""), "empty");
        check(&request("a(b"), "unclosed group");
        check(&request(r"\p{Nothing}"), "Unicode property");
        check(&request(r"a\nb"), "line feed");
        check(&request(r"[\n]"), "line feed");
        check(&request(r"(?:\w{1000}){1000}"), "too large");
        check(&request(&"(".repeat(200)), "not valid");
        assert!(Pattern::compile(&PatternRequest { across_lines: true, ..request(r"a\nb") }).is_ok());
        assert!(Pattern::compile(&request(r"a\s*b")).is_ok());
    }

    /// A text that contains a match must satisfy the query. The texts consist of only a few different
    /// characters, so that random expressions match often.
    fn satisfies(expression: &str, ignores_case: bool, text: &str) -> bool {
        let request = PatternRequest { ignores_case, across_lines: true, ..request(expression) };
        let Ok(pattern) = Pattern::compile(&request) else { return true };
        if pattern.hits(text).next().is_none() {
            return true;
        }
        let mut folded = Vec::new();
        fold_into(text, &mut folded);
        let grams: std::collections::BTreeSet<Gram> = grams_of(&folded).collect();
        pattern.query().accepts(&|gram| grams.contains(&gram))
    }

    const PARTS: [&str; 22] = [
        "a", "b", "c", "ab", "k", "K", "ſ", "?", "*", "+", "|", ".", "(", ")", "[a-c]", "[^a]", "{2,3}", "{2}",
        "(b|ac)", "(ab|bc)+", "\\n", "\\b",
    ];

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(4_000))]
        #[test]
        fn no_match_is_lost_by_the_query(
            parts in proptest::collection::vec(proptest::sample::select(PARTS.to_vec()), 1..9),
            ignores_case in proptest::prelude::any::<bool>(),
            text in "[abckKſ\u{212a}\n]{0,40}",
        ) {
            let expression = parts.concat();
            proptest::prop_assert!(satisfies(&expression, ignores_case, &text), "{} in {:?}", expression, text);
        }
    }
}
