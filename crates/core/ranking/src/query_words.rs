//! What a question says in words: the names that it spells out and its keywords.

use std::collections::BTreeSet;

use crate::{fold_style, is_stop_word, words};

/// Words of questions that say what is asked, not what about. Sorted.
const QUESTION_WORDS: [&str; 32] = [
    "about", "all", "any", "code", "do", "does", "explain", "find", "get", "give", "has", "have", "how", "i", "list",
    "look", "me", "my", "need", "our", "please", "show", "tell", "there", "want", "was", "what", "where", "who",
    "whose", "why", "you",
];

/// The words of a question that ranking looks at.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct QueryWords {
    /// Names that the question spells as code does, folded by [`fold_style`]: `UserService`, `get_user`, `render()`,
    /// `` `open` ``; of `Parser.parse` the whole and the last part.
    pub names: BTreeSet<String>,
    /// Words without stop words and question words, identifiers split, lower case, in order, once each.
    pub keywords: Vec<String>,
}

impl QueryWords {
    pub fn of(question: &str) -> Self {
        let written: Vec<&str> = question.split(is_separator).filter(|token| !token.is_empty()).collect();
        let mut names = BTreeSet::new();
        for token in &written {
            if is_code_name(token) || written.len() == 1 {
                add_names(token, &mut names);
            }
        }
        Self { names, keywords: keywords(question) }
    }
}

/// Keywords of a question: see [`QueryWords::keywords`]. All its words if it has no others.
pub fn keywords(question: &str) -> Vec<String> {
    let is_keyword = |word: &str| !is_stop_word(word) && QUESTION_WORDS.binary_search(&word).is_err();
    let found = distinct_words(question, is_keyword);
    if found.is_empty() { distinct_words(question, |_| true) } else { found }
}

fn distinct_words(text: &str, keep: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |word: &str| {
        if keep(word) && found.iter().all(|known| known != word) {
            found.push(word.to_owned());
        }
    };
    for run in text.split(|character: char| !character.is_alphanumeric()) {
        if run.is_ascii() {
            words(run, &mut add);
        } else {
            add(&run.to_lowercase());
        }
    }
    found
}

fn is_separator(character: char) -> bool {
    character.is_whitespace() || matches!(character, ',' | ';' | '?' | '!' | '"' | '\'')
}

/// Whether a word of a question is spelled as only code spells: quoted, called, dotted, underscored, capitals inside.
fn is_code_name(token: &str) -> bool {
    if token.starts_with('`') || token.ends_with("()") || token.contains("::") {
        return true;
    }
    let inner = token.trim_end_matches(['.', ':', ')']).trim_start_matches(['(', '.']);
    let has_lower = inner.chars().any(char::is_lowercase);
    let capital_inside = has_lower && inner.chars().skip(1).any(char::is_uppercase);
    capital_inside || inner.contains(['_', '.'])
}

fn add_names(token: &str, names: &mut BTreeSet<String>) {
    let bare = token.trim_matches(|character: char| !character.is_alphanumeric() && character != '_');
    let last = bare.rsplit(['.', ':', '#', '/']).next().unwrap_or(bare);
    for name in [bare, last] {
        let folded = fold_style(name);
        if !folded.is_empty() {
            names.insert(folded);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(question: &str, names: &[&str], keywords: &[&str]) {
        let found = QueryWords::of(question);
        assert_eq!(found.names.iter().map(String::as_str).collect::<Vec<_>>(), names, "names of {question}");
        assert_eq!(found.keywords, keywords, "keywords of {question}");
    }

    #[test]
    fn questions_name_code_and_topics() {
        assert!(QUESTION_WORDS.is_sorted());
        check("where is user validation", &[], &["user", "validation"]);
        check("find handleAuthError", &["handleautherror"], &["handle", "auth", "error"]);
        check("what calls `open`?", &["open"], &["calls", "open"]);
        check("render", &["render"], &["render"]);
        check("does render() use get_user", &["getuser", "render"], &["render", "user"]);
        check("Parser.parse_file", &["parsefile", "parser.parsefile"], &["parser", "parse", "file"]);
        check("HTTP timeout.", &[], &["http", "timeout"]);
        check("how", &["how"], &["how"]);
        check("", &[], &[]);
        check("wie wird die Größe geprüft", &[], &["wie", "wird", "die", "größe", "geprüft"]);
    }
}
