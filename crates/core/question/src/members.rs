//! Replaces the descriptions of members by their names: "the run method of JobRunShell", "JobRunShell's run
//! method" and "JobRunShell's storeJob" become `JobRunShell.run` and `JobRunShell.storeJob`.

use crate::identifiers::is_identifier;
use crate::tokens::{Token, TokenKind};
use crate::vocabulary::KIND_WORDS;

/// Words for a member of a type.
const MEMBER_WORDS: [&str; 2] = ["method", "function"];

/// Words between a member and its type.
const PREPOSITIONS: [&str; 4] = ["of", "on", "in", "from"];

/// The tokens with one token for each described member. "the constructor of Worker" becomes `Worker`.
pub(crate) fn with_joined_members(mut rest: &[Token]) -> Vec<Token> {
    let mut joined = Vec::with_capacity(rest.len());
    while let Some(first) = rest.first() {
        let (token, num_tokens) = match member_at(rest) {
            Some(Member { name, num_tokens }) => {
                let last = rest[num_tokens - 1].clone();
                let (start, lower, kind) = (first.start, name.to_lowercase(), TokenKind::Word);
                (Token { text: name, lower, kind, start, ..last }, num_tokens)
            }
            None => (first.clone(), 1),
        };
        joined.push(token);
        rest = &rest[num_tokens..];
    }
    joined
}

/// The name of a described member, and the number of tokens that describe it.
struct Member {
    name: String,
    num_tokens: usize,
}

/// The member that the first tokens describe.
fn member_at(tokens: &[Token]) -> Option<Member> {
    let has_the = tokens.first()?.is_any(&["the"]);
    let rest = &tokens[usize::from(has_the)..];
    let member = member_of_type(rest).or_else(|| type_with_member(rest))?;
    let num_tokens = member.num_tokens + usize::from(has_the);
    let ends_before = tokens[..num_tokens - 1].iter().any(|token| token.ends_phrase);
    (!ends_before).then_some(Member { num_tokens, ..member })
}

/// "run method of JobRunShell", "method run of the class JobRunShell", "constructor of JobRunShell".
fn member_of_type(tokens: &[Token]) -> Option<Member> {
    let (member, num_member) = match tokens {
        [word, ..] if word.is_any(&["constructor"]) => (None, 1),
        [member, word, ..] if word.is_any(&MEMBER_WORDS) && is_member_name(member) => (Some(member), 2),
        [word, member, ..] if word.is_any(&MEMBER_WORDS) && is_member_name(member) => (Some(member), 2),
        _ => return None,
    };
    let mut at = num_member;
    let next_is = |at: usize, words: &[&str]| tokens.get(at).is_some_and(|token| token.is_any(words));
    if !next_is(at, &PREPOSITIONS) {
        return None;
    }
    at += 1;
    at += usize::from(next_is(at, &["the"]));
    at += usize::from(next_is(at, &KIND_WORDS));
    let owner = tokens.get(at).filter(|owner| is_type_name(owner))?;
    // "main function of Kubernetes" and "main function in Kubernetes" may describe behaviour.
    let is_code = is_code(owner) || member.is_none_or(is_code);
    is_code.then(|| Member { name: joined_name(owner, member), num_tokens: at + 1 })
}

/// "JobRunShell's run method", "JobRunShell's constructor", "JobRunShell's storeJob".
fn type_with_member(tokens: &[Token]) -> Option<Member> {
    let [owner, member, rest @ ..] = tokens else { return None };
    if !is_type_name(owner) || !is_possessive(owner) {
        return None;
    }
    if member.is_any(&["constructor"]) {
        return is_code(owner).then(|| Member { name: joined_name(owner, None), num_tokens: 2 });
    }
    let has_word = rest.first().is_some_and(|word| word.is_any(&MEMBER_WORDS)) && !member.ends_phrase;
    let is_code = if has_word { is_code(owner) || is_code(member) } else { is_code(member) };
    let num_tokens = 2 + usize::from(has_word);
    (is_code && is_member_name(member)).then(|| Member { name: joined_name(owner, Some(member)), num_tokens })
}

fn joined_name(owner: &Token, member: Option<&Token>) -> String {
    let owner = owner.text.trim_end_matches("()");
    member.map_or_else(|| owner.to_owned(), |member| format!("{owner}.{}", member.text.trim_end_matches("()")))
}

/// Whether a token is written like the name of a definition, or as code.
fn is_code(token: &Token) -> bool {
    token.kind == TokenKind::Code || is_identifier(token)
}

/// Whether a token was written with the ending `'s`.
fn is_possessive(token: &Token) -> bool {
    token.kind == TokenKind::Word && token.end - token.start > token.text.len()
}

fn is_type_name(token: &Token) -> bool {
    let is_plain = |text: &str| text.chars().all(|letter| letter.is_alphanumeric() || "_.:".contains(letter));
    token.kind != TokenKind::Quoted && token.text.starts_with(char::is_uppercase) && is_plain(&token.text)
}

fn is_member_name(token: &Token) -> bool {
    let text = token.text.trim_end_matches("()");
    let is_plain = text.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    token.kind != TokenKind::Quoted && is_plain && !text.is_empty() && token.is_keyword()
}

#[cfg(test)]
mod tests {
    use crate::positions::tokens_of;

    fn check(question: &str, expect: &[&str]) {
        let tokens = tokens_of(question);
        let found: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
        assert_eq!(found, expect, "{question}");
        for token in &tokens {
            assert!(question.get(token.start..token.end).is_some(), "{question}");
        }
    }

    #[test]
    fn described_members_become_names() {
        check("who calls the run method of JobRunShell", &["who", "calls", "JobRunShell.run"]);
        check("what does JobRunShell's run method call?", &["what", "does", "JobRunShell.run", "call"]);
        check("method run of the class JobRunShell", &["JobRunShell.run"]);
        check("callers of the storeJob method on Store", &["callers", "of", "Store.storeJob"]);
        check("who calls RAMJobStore's storeJob", &["who", "calls", "RAMJobStore.storeJob"]);
        check("who calls the `run` method of `JobRunShell`", &["who", "calls", "JobRunShell.run"]);
        check("who calls the constructor of Worker", &["who", "calls", "Worker"]);
        check("the constructor of JobRunShell", &["JobRunShell"]);
        check("JobRunShell's constructor", &["JobRunShell"]);
    }

    #[test]
    fn other_descriptions_are_not_joined() {
        check("which method of Worker retries", &["which", "method", "of", "Worker", "retries"]);
        check("the main function of Kubernetes", &["the", "main", "function", "of", "Kubernetes"]);
        check("Django's request handling", &["Django", "request", "handling"]);
        check("run method, of JobRunShell", &["run", "method", "of", "JobRunShell"]);
        check("the method of JobRunShell", &["the", "method", "of", "JobRunShell"]);
        check("the method that JobRunShell calls", &["the", "method", "that", "JobRunShell", "calls"]);
    }
}
