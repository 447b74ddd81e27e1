//! Finds the second name of a question for code that is related to two names: "functions that call A and B".

use std::ops::Range;

use crate::names::{Name, names_at};
use crate::phrase::{Found, after_words};
use crate::relation::{Direction, Relation};
use crate::relation_words::{VERBS, Verb};
use crate::tokens::Token;
use crate::vocabulary::{DETERMINERS, KIND_WORDS};

/// Words that join two names.
const JOINED: [&str; 5] = ["and", "plus", "as well as", "along with", "together with"];
/// Words that may be between the word that joins two names and the second name.
const BETWEEN: [&str; 7] = ["also", "then", "both", "who", "what", "which", "that"];
/// Words that may follow the second name, because they state a place or a time.
const PLACES: [&str; 9] = ["in", "inside", "within", "under", "outside", "across", "since", "without", "directly"];

/// The name after the name of a match. A name in plain words must be a name without doubt: "functions that
/// call read and write to disk" has no second name.
pub(crate) fn second_name(tokens: &[Token], found: &Found, relation: Relation) -> Option<Range<usize>> {
    let name = found.capture("n").filter(|_| relation.direction() == Direction::In)?;
    let is_both = tokens[..name.start].iter().any(|token| token.is_any(&["both"]));
    let mut at = name.end;
    while tokens.get(at).is_some_and(|token| token.is_any(&KIND_WORDS)) && !tokens[at - 1].ends_phrase {
        at += 1;
    }
    if tokens[at - 1].ends_clause {
        return None;
    }
    let after = JOINED.iter().find_map(|words| after_words(tokens, at, words));
    let is_list = after.is_none() && tokens[at - 1].ends_phrase;
    at = after.or(is_list.then_some(at))?;
    while tokens.get(at).is_some_and(|token| token.is_any(&BETWEEN)) {
        at += 1;
    }
    at = after_relation(tokens, at, found, relation)?;
    let mut first = at;
    while tokens.get(first).is_some_and(|token| token.is_any(&DETERMINERS)) {
        first += 1;
    }
    let is_listed = |end: usize| !is_list || tokens.get(end).is_some_and(|next| next.is_any(&["and"]));
    let is_closed = |end: usize| end == tokens.len() || tokens[end - 1].ends_clause || tokens[end].is_any(&PLACES);
    let is_name = |name: &Name| {
        let is_first = name.tokens.start <= first + usize::from(tokens[first].is_any(&KIND_WORDS));
        let is_one = name.tokens.len() == 1 && (is_both || is_closed(name.end) || is_list);
        let is_plain = is_one || first > at && is_closed(name.end);
        let is_strong = name.is_strong && name.tokens.len() == 1;
        is_first && (is_strong || is_plain && is_listed(name.end))
    };
    names_at(tokens, at).into_iter().find(is_name).map(|name| name.tokens)
}

/// The position after a preposition, or after a verb or noun that states the same relation again. `None` if a
/// verb states another relation: "classes that extend A and override B".
fn after_relation(tokens: &[Token], at: usize, found: &Found, relation: Relation) -> Option<usize> {
    let forms = |verb: &'static Verb| [verb.third, verb.base, verb.ing];
    let verb =
        VERBS.iter().find_map(|verb| Some((verb, forms(verb).iter().find_map(|form| after_words(tokens, at, form))?)));
    if let Some((verb, end)) = verb {
        return (verb.subjects == relation).then_some(end);
    }
    let is_preposition = |token: &Token| found.noun.is_some_and(|noun| token.is_any(noun.prepositions));
    Some(if tokens.get(at).is_some_and(is_preposition) { at + 1 } else { at })
}
