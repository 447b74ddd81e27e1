//! Creates other wordings of a question. These wordings find code that uses words other than those of the
//! question.

use serde::Serialize;

use crate::keywords::{is_stop_word, split};
use crate::synonyms::{SynonymSource, Synonyms, singulars};
use crate::tokens::{Token, TokenKind};

/// Maximum number of expansions of a question.
pub const MAX_EXPANSIONS: usize = 3;

/// A different wording of a question.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Expansion {
    pub text: String,
    /// The word that was replaced, and its synonym. `None` if the wording consists of the keywords.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced: Option<Replaced>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Replaced {
    pub word: String,
    pub synonym: String,
    pub source: SynonymSource,
}

/// Returns at most [`MAX_EXPANSIONS`] wordings. The wordings with the first synonym of every word come before
/// the wordings with the second synonym of any word. If the question also contains words that are not
/// keywords, the last wording contains only the keywords. Words that decide the type of the question or state
/// a filter are fixed: they have no synonyms. A word of the question is never used as a synonym, because the
/// wording would only repeat it.
pub(crate) fn expansions(
    question: &str,
    tokens: &[Token],
    is_fixed: &dyn Fn(usize) -> bool,
    keywords: &[String],
    synonyms: Synonyms,
) -> Vec<Expansion> {
    let alone = keywords_alone(tokens, keywords).filter(|text| *text != normal(question));
    let num_synonyms = MAX_EXPANSIONS - usize::from(alone.is_some());
    let replaceable: Vec<&Token> =
        (0..tokens.len()).filter(|index| !is_fixed(*index)).map(|index| &tokens[index]).collect();
    let is_repeated = |synonym: &str| is_repeated(synonym, tokens, keywords);
    let mut found = by_synonyms(question, &replaceable, (synonyms, &is_repeated), num_synonyms);
    if let Some(text) = alone.filter(|text| found.iter().all(|known| normal(&known.text) != *text)) {
        found.push(Expansion { text, replaced: None });
    }
    found
}

/// The keywords and the code spans of the question. A phrase in quotes stays a phrase. `None` if there is
/// only one keyword, because a single word is not used as a wording.
fn keywords_alone(tokens: &[Token], keywords: &[String]) -> Option<String> {
    if keywords.len() < 2 {
        return None;
    }
    let is_phrase = |token: &Token| token.kind == TokenKind::Quoted && token.text.contains(char::is_whitespace);
    let mut outside: Vec<String> = Vec::new();
    for token in tokens.iter().filter(|token| !is_phrase(token)) {
        split(&token.text, |word| outside.push(word.to_owned()));
    }
    let words = keywords.iter().filter(|word| outside.contains(word)).cloned();
    let phrases = tokens.iter().filter(|token| is_phrase(token)).map(|token| format!("\"{}\"", token.text));
    let spans = tokens.iter().filter(|token| token.kind == TokenKind::Code).map(|token| token.text.clone());
    Some(words.chain(phrases).chain(spans).collect::<Vec<_>>().join(" "))
}

fn normal(text: &str) -> String {
    let words = text.split_whitespace().map(|word| word.trim_matches(|character: char| !character.is_alphanumeric()));
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Whether the question already contains this word, in the singular or the plural.
fn is_repeated(synonym: &str, tokens: &[Token], keywords: &[String]) -> bool {
    let mut words = tokens.iter().map(|token| token.lower.as_str()).chain(keywords.iter().map(String::as_str));
    words.any(|word| is_same_word(word, synonym) || is_same_word(synonym, word))
}

/// Whether two words are equal, or the first word is a plural of the second.
fn is_same_word(word: &str, other: &str) -> bool {
    word == other || singulars(word).any(|singular| singular == other)
}

fn by_synonyms(
    question: &str,
    tokens: &[&Token],
    (synonyms, is_repeated): (Synonyms, &dyn Fn(&str) -> bool),
    limit: usize,
) -> Vec<Expansion> {
    let mut words: Vec<&str> = Vec::new();
    for token in tokens.iter().filter(|token| token.kind == TokenKind::Word && !is_stop_word(&token.lower)) {
        if !words.contains(&token.lower.as_str()) {
            words.push(&token.lower);
        }
    }
    let new_synonyms = |word: &str| -> Vec<(String, SynonymSource)> {
        synonyms.of(word).into_iter().filter(|(synonym, _)| !is_repeated(synonym)).collect()
    };
    let candidates: Vec<_> = words.iter().map(|word| (*word, new_synonyms(word))).collect();
    let most = candidates.iter().map(|(_, synonyms)| synonyms.len()).max().unwrap_or(0);
    let mut found = Vec::new();
    for rank in 0..most {
        for (word, synonyms) in &candidates {
            let Some((synonym, source)) = synonyms.get(rank) else { continue };
            if found.len() == limit {
                return found;
            }
            let replaced = Replaced { word: (*word).to_owned(), synonym: synonym.clone(), source: *source };
            found.push(Expansion { text: replace(question, tokens, word, synonym), replaced: Some(replaced) });
        }
    }
    found
}

/// The question in which `synonym` replaces each token that is equal to `word`.
fn replace(question: &str, tokens: &[&Token], word: &str, synonym: &str) -> String {
    let mut text = String::with_capacity(question.len());
    let mut copied = 0;
    for token in tokens.iter().filter(|token| token.kind == TokenKind::Word && token.lower == word) {
        text.push_str(&question[copied..token.start]);
        text.push_str(synonym);
        copied = token.end;
    }
    text.push_str(&question[copied..]);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keywords::keywords;
    use crate::synonyms::{LearnedPair, SynonymEntry};
    use crate::tokens::tokenize;

    fn check(question: &str, synonyms: Synonyms, expect: &[&str]) {
        let tokens = tokenize(question);
        let found = expansions(question, &tokens, &|_| false, &keywords(&tokens), synonyms);
        assert_eq!(found.iter().map(|expansion| expansion.text.as_str()).collect::<Vec<_>>(), expect, "{question}");
    }

    #[test]
    fn words_are_replaced_and_keywords_remain() {
        let none = Synonyms::default();
        check(
            "how does authentication work?",
            none,
            &["how does auth work?", "how does login work?", "how does credentials work?"],
        );
        check(
            "where is the db timeout",
            none,
            &["where is the database timeout", "where is the db expiry", "db timeout"],
        );
        check("db timeout", none, &["database timeout", "db expiry", "storage timeout"]);
        check("zebra stripes", none, &[]);
        check("find the zebra stripes", none, &["zebra stripes"]);
        check("why does `db` return a zebra stripe", none, &["return zebra stripe db"]);
        check("handleAuthError", none, &["handle auth error"]);
        check("why is the zebra \"one  of two ;\"", none, &["zebra \"one  of two ;\""]);
        check("", none, &[]);
    }

    #[test]
    fn configured_and_learned_synonyms_are_used() {
        let configured = [SynonymEntry { word: "zebra".into(), synonyms: vec!["horse".into()] }];
        let learned = [LearnedPair { first: "stripes".into(), second: "bars".into() }];
        let synonyms = Synonyms { configured: &configured, learned: &learned };
        check("zebra stripes", synonyms, &["horse stripes", "zebra bars"]);
    }

    #[test]
    fn words_of_the_question_are_no_synonyms() {
        let pair = |first: &str, second: &str| LearnedPair { first: first.into(), second: second.into() };
        let learned = [pair("stripes", "zebra"), pair("stripes", "bars")];
        let synonyms = Synonyms { configured: &[], learned: &learned };
        check("zebra stripes", synonyms, &["zebra bars"]);
        check("zebras and stripes", synonyms, &["zebras and bars", "zebras stripes"]);
        let expect = ["storage db rows", "database storage rows", "persistence db rows"];
        check("database db rows", Synonyms::default(), &expect);
    }
}
