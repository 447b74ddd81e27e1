//! A small language for rules about the words of a question.
//!
//! A rule is a sequence of elements that are separated by spaces:
//!
//! | element | matches |
//! |---|---|
//! | `get` `get\|go` | one of these words |
//! | `@name` | a word in the list `name` of `data/words.txt` |
//! | `@name?` `@name*` | at most one of these words, or any number of them; `?` is also allowed after `get\|go` |
//! | `^` `$` | the start of the question or the end of a clause |
//! | `..` | at most 7 tokens of one clause |
//! | `~` | 1 to 5 words that can form a noun phrase |
//! | `THING` | a word for code, such as "functions" |
//! | `VERB:third` `VERB:base` `VERB:any` `VERB:ing` `VERB:ed` | a form of a verb of `relation_words.rs` |
//! | `NOUN` | a noun of `relation_words.rs` |
//! | `<x:id>` | a name that looks like an identifier |
//! | `<x:name>` | a name, including a name that consists of plain words |
//! | `<x>` | 1 to 7 tokens of one clause |
//!
//! Only `..` and the elements in angle brackets can match words in quotes and code spans.

use std::ops::Range;

use crate::names::names_at;
use crate::relation_words::{NOUNS, Noun, VERBS, Verb};
use crate::tokens::{Token, TokenKind};
use crate::vocabulary::{BEFORE_NOUNS, BLOCKERS, THINGS, list};

const MAX_GAP: usize = 7;
const MAX_NOUN_PHRASE: usize = 5;

/// A compiled rule.
pub(crate) struct Phrase(Vec<Element>);

enum Element {
    Start,
    End,
    Words(Vec<&'static str>, Count),
    Gap,
    NounPhrase,
    Thing,
    Verb(Form),
    Noun,
    Name { slot: &'static str, must_be_strong: bool },
    Text(&'static str),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Count {
    One,
    Optional,
    Any,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Third,
    Base,
    Any,
    Ing,
    Participle,
}

/// The parts of a question that a rule matches.
#[derive(Clone, Default, Debug)]
pub(crate) struct Found {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) captures: Vec<(&'static str, Range<usize>)>,
    /// Whether every captured name looks like an identifier.
    pub(crate) is_strong: bool,
    pub(crate) verb: Option<&'static Verb>,
    pub(crate) noun: Option<&'static Noun>,
    /// The tokens of the verb or noun.
    pub(crate) relation_tokens: Range<usize>,
}

impl Found {
    pub(crate) fn capture(&self, slot: &str) -> Option<Range<usize>> {
        self.captures.iter().find(|(known, _)| *known == slot).map(|(_, range)| range.clone())
    }
}

impl Phrase {
    pub(crate) fn new(rule: &'static str) -> Self {
        Self(rule.split_whitespace().map(element).collect())
    }

    /// Compiles a rule in which `placeholder` matches any number of the words in `list`.
    pub(crate) fn with_words(rule: &'static str, placeholder: &str, list: &'static str) -> Self {
        let any = |list: &'static str| Element::Words(list.split('|').collect(), Count::Any);
        let compile = |text: &'static str| if text == placeholder { any(list) } else { element(text) };
        Self(rule.split_whitespace().map(compile).collect())
    }

    /// Compiles a rule that refers to the lists in `lists` by name. The name of a list matches one word of
    /// the list, and the name with `?` matches at most one word.
    pub(crate) fn with_lists(rule: &'static str, lists: &[(&str, &'static str)]) -> Self {
        let compile = |text: &'static str| {
            let (name, count) = text.strip_suffix('?').map_or((text, Count::One), |name| (name, Count::Optional));
            let list = lists.iter().find(|(known, _)| *known == name);
            list.map_or_else(|| element(text), |(_, list)| Element::Words(list.split('|').collect(), count))
        };
        Self(rule.split_whitespace().map(compile).collect())
    }

    /// The first match of the rule in the question, among the matches for which `accept` returns true.
    pub(crate) fn find(&self, tokens: &[Token], accept: &dyn Fn(&Found) -> bool) -> Option<Found> {
        (0..tokens.len()).find_map(|start| {
            let state = Found { start, is_strong: true, ..Found::default() };
            advance(&self.0, tokens, start, state, accept)
        })
    }
}

fn element(text: &'static str) -> Element {
    match text {
        "^" => Element::Start,
        "$" => Element::End,
        ".." => Element::Gap,
        "~" => Element::NounPhrase,
        "THING" => Element::Thing,
        "NOUN" => Element::Noun,
        "VERB:third" => Element::Verb(Form::Third),
        "VERB:base" => Element::Verb(Form::Base),
        "VERB:any" => Element::Verb(Form::Any),
        "VERB:ing" => Element::Verb(Form::Ing),
        "VERB:ed" => Element::Verb(Form::Participle),
        _ => capture(text).unwrap_or_else(|| words(text)),
    }
}

fn capture(text: &'static str) -> Option<Element> {
    let inner = text.strip_prefix('<')?.strip_suffix('>')?;
    Some(match inner.split_once(':') {
        Some((slot, kind)) => Element::Name { slot, must_be_strong: kind == "id" },
        None => Element::Text(inner),
    })
}

fn words(text: &'static str) -> Element {
    let (body, count) = match (text.strip_suffix('?'), text.strip_suffix('*')) {
        (Some(body), _) => (body, Count::Optional),
        (_, Some(body)) => (body, Count::Any),
        _ => (text, Count::One),
    };
    let mut found = Vec::new();
    for part in body.split('|') {
        match part.strip_prefix('@') {
            Some(name) => found.extend_from_slice(list(name)),
            None => found.push(part),
        }
    }
    Element::Words(found, count)
}

type Accept<'a> = &'a dyn Fn(&Found) -> bool;

fn advance(rest: &[Element], tokens: &[Token], at: usize, state: Found, accept: Accept) -> Option<Found> {
    let Some((first, after)) = rest.split_first() else {
        let found = Found { end: at, ..state };
        return accept(&found).then_some(found);
    };
    let next = |position: usize, state: Found| advance(after, tokens, position, state, accept);
    match first {
        Element::Start => (at == 0).then(|| next(at, state)).flatten(),
        Element::End => is_end(tokens, at).then(|| next(at, state)).flatten(),
        Element::Words(words, count) => advance_words(words, *count, tokens, at, state, &next),
        Element::Thing => {
            let is_thing = tokens.get(at).is_some_and(|token| token.is_any(&THINGS));
            is_thing.then(|| next(at + 1, state)).flatten()
        }
        Element::Gap => gap(tokens, at, 0).find_map(|end| next(end, state.clone())),
        Element::Text(slot) => gap(tokens, at, 1).find_map(|end| next(end, with(&state, slot, at..end))),
        Element::NounPhrase => noun_phrase(tokens, at).find_map(|end| next(end, state.clone())),
        Element::Verb(form) => verbs_at(tokens, at, *form)
            .find_map(|(verb, end)| next(end, Found { verb: Some(verb), relation_tokens: at..end, ..state.clone() })),
        Element::Noun => nouns_at(tokens, at)
            .find_map(|(noun, end)| next(end, Found { noun: Some(noun), relation_tokens: at..end, ..state.clone() })),
        Element::Name { slot, must_be_strong } => {
            names_at(tokens, at).into_iter().filter(|name| !must_be_strong || name.is_strong).find_map(|name| {
                let mut state = with(&state, slot, name.tokens);
                state.is_strong &= name.is_strong;
                next(name.end, state)
            })
        }
    }
}

fn advance_words(
    words: &[&str],
    count: Count,
    tokens: &[Token],
    at: usize,
    state: Found,
    next: &dyn Fn(usize, Found) -> Option<Found>,
) -> Option<Found> {
    let is_match = |index: usize| tokens.get(index).is_some_and(|token| token.is_any(words));
    match count {
        Count::One => is_match(at).then(|| next(at + 1, state)).flatten(),
        Count::Optional => {
            let with_word = is_match(at).then(|| next(at + 1, state.clone())).flatten();
            with_word.or_else(|| next(at, state))
        }
        Count::Any => {
            let most = (at..tokens.len()).take_while(|index| is_match(*index)).count();
            (at..=at + most).rev().find_map(|end| next(end, state.clone()))
        }
    }
}

fn with(state: &Found, slot: &'static str, range: Range<usize>) -> Found {
    let mut state = state.clone();
    state.captures.push((slot, range));
    state
}

fn is_end(tokens: &[Token], at: usize) -> bool {
    at == tokens.len() || (at > 0 && tokens[at - 1].ends_clause)
}

/// The possible ends of a gap that starts at the token `at` and has at least `least` tokens, shortest gap
/// first.
fn gap(tokens: &[Token], at: usize, least: usize) -> impl Iterator<Item = usize> + '_ {
    let is_inside = move |end: &usize| {
        let last = end.checked_sub(2).filter(|_| *end > at);
        last.is_none_or(|last| !tokens[last].ends_clause)
    };
    (at..=tokens.len().min(at + MAX_GAP)).take_while(is_inside).skip(least)
}

fn noun_phrase(tokens: &[Token], at: usize) -> impl Iterator<Item = usize> + '_ {
    let is_inside = move |end: &usize| {
        let token = &tokens[end - 1];
        token.kind == TokenKind::Word && !token.is_any(&BLOCKERS) && (*end == at + 1 || !tokens[end - 2].ends_clause)
    };
    let can_end = |end: &usize| !tokens[end - 1].is_any(&BEFORE_NOUNS);
    (at + 1..=tokens.len().min(at + MAX_NOUN_PHRASE)).take_while(is_inside).filter(can_end)
}

fn verbs_at(tokens: &[Token], at: usize, form: Form) -> impl Iterator<Item = (&'static Verb, usize)> + '_ {
    VERBS.iter().filter_map(move |verb| {
        let forms: &[&'static str] = match form {
            Form::Third => &[verb.third],
            Form::Base => &[verb.base],
            Form::Any => &[verb.third, verb.base],
            Form::Ing => &[verb.ing],
            Form::Participle => &[verb.participle],
        };
        forms.iter().find_map(|form| after_words(tokens, at, form)).map(|end| (verb, end))
    })
}

fn nouns_at(tokens: &[Token], at: usize) -> impl Iterator<Item = (&'static Noun, usize)> + '_ {
    NOUNS.iter().filter_map(move |noun| {
        noun.words.iter().find_map(|words| after_words(tokens, at, words)).map(|end| (noun, end))
    })
}

/// The token after `words`, if the tokens at `at` are these words.
pub(crate) fn after_words(tokens: &[Token], at: usize, words: &str) -> Option<usize> {
    let mut end = at;
    for word in words.split(' ') {
        let token = tokens.get(end)?;
        if !token.is_any(&[word]) || (end > at && tokens[end - 1].ends_phrase) {
            return None;
        }
        end += 1;
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::text_of;
    use crate::tokens::tokenize;

    fn check(rule: &'static str, question: &str, expect: Option<&[(&str, &str)]>) {
        let tokens = tokenize(question);
        let found = Phrase::new(rule).find(&tokens, &|_| true);
        let found = found.map(|found| {
            let text = |range: &Range<usize>| text_of(question, &tokens, range);
            found.captures.iter().map(|(slot, range)| (*slot, text(range))).collect::<Vec<_>>()
        });
        let found: Option<Vec<(&str, &str)>> =
            found.as_ref().map(|found| found.iter().map(|(slot, text)| (*slot, text.as_str())).collect());
        assert_eq!(found.as_deref(), expect, "{rule} in {question}");
    }

    #[test]
    fn elements_match_words_names_and_gaps() {
        check("from <a> to <b>", "path from login page to session", Some(&[("a", "login page"), ("b", "session")]));
        check("^ path", "the path", None);
        check("path $", "the path. next", Some(&[]));
        check("who VERB:third <n:name>", "who imports auth module", Some(&[("n", "auth")]));
        check("who VERB:third <n:id>", "who imports auth module", None);
        check("who @adv* VERB:any <n:name>", "who else also call render()", Some(&[("n", "render")]));
        check("what ~ VERB:base <n:name>", "what parts of code depend on kafka", Some(&[("n", "kafka")]));
        check("what ~ VERB:base <n:name>", "what handles the call to kafka", None);
        check("NOUN of <n:name>", "call sites of the parser", Some(&[("n", "parser")]));
        check("get|go x? $", "go", Some(&[]));
        check("where is <n:name> VERB:ed", "where is the session cookie used", Some(&[("n", "session cookie")]));
        check("from <a> to <b>", "from here. go to there", None);
        check("use <a:name>", "`use` it", None);
    }
}
