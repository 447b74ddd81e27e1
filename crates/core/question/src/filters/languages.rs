//! Finds the languages that a question names.

use std::sync::LazyLock;

use crate::filters::{FilterValue, FoundFilter, is_excluded};
use crate::tokens::Token;
use crate::vocabulary::list;

/// For each language: the words that name it in a question, and the name that Cairn uses.
const LANGUAGES: &[(&[&str], &str)] = &[
    (&["python", "py"], "python"),
    (&["javascript", "js", "nodejs", "node.js"], "javascript"),
    (&["typescript", "ts"], "typescript"),
    (&["golang"], "go"),
    (&["rust"], "rust"),
    (&["java"], "java"),
    (&["kotlin"], "kotlin"),
    (&["swift"], "swift"),
    (&["ruby"], "ruby"),
    (&["php"], "php"),
    (&["scala"], "scala"),
    (&["lua"], "lua"),
    (&["bash"], "bash"),
    (&["elixir"], "elixir"),
    (&["haskell"], "haskell"),
    (&["zig"], "zig"),
    (&["c++", "cpp"], "cpp"),
    (&["c#", "csharp"], "csharp"),
];

/// Names of languages that are also ordinary words. Such a word is recognised as a language only if it
/// follows "in" and ends a clause or precedes another filter, or if it precedes a word for code.
const AMBIGUOUS: &[(&str, &str)] = &[("go", "go"), ("c", "c"), ("shell", "bash")];

/// Words for code that may follow the name of a language.
static CODE_WORDS: LazyLock<&[&str]> = LazyLock::new(|| list("languages_code_words"));

/// Words after or before a language that make the language a topic of the question instead of a filter: "the
/// python parser", "compile to java".
static TOPICS_AFTER: LazyLock<&[&str]> = LazyLock::new(|| list("languages_topics_after"));
static TOPICS_BEFORE: LazyLock<&[&str]> = LazyLock::new(|| list("languages_topics_before"));

pub(super) fn find(tokens: &[Token]) -> Vec<FoundFilter> {
    (0..tokens.len()).filter_map(|index| language(tokens, index)).collect()
}

fn language(tokens: &[Token], index: usize) -> Option<FoundFilter> {
    if is_excluded(tokens, index) {
        return None;
    }
    let next = tokens.get(index + 1).filter(|_| !tokens[index].ends_clause);
    let is_before_code = next.is_some_and(|next| next.is_any(&CODE_WORDS));
    let is_after_in = index > 0 && tokens[index - 1].is_any(&["in", "using"]);
    let is_last = next.is_none_or(|next| next.is_any(&["without", "that", "which", "since", "except", "excluding"]));
    if let Some((_, name)) = AMBIGUOUS.iter().find(|(word, _)| tokens[index].is_any(&[word])) {
        let is_named =
            is_before_code && !(index > 0 && tokens[index - 1].is_any(&["to", "not"])) || (is_after_in && is_last);
        return is_named.then(|| filter(index, is_after_in, name));
    }
    let (_, name) = LANGUAGES.iter().find(|(words, _)| tokens[index].is_any(words))?;
    let is_topic = next.is_some_and(|next| next.is_any(&TOPICS_AFTER))
        || (!is_before_code && index > 0 && tokens[index - 1].is_any(&TOPICS_BEFORE));
    (!is_topic || is_after_in).then(|| filter(index, is_after_in, name))
}

/// Whether the word names a language and has no other meaning.
pub(super) fn is_language(token: &Token) -> bool {
    LANGUAGES.iter().any(|(words, _)| token.is_any(words))
}

fn filter(index: usize, is_after_in: bool, name: &'static str) -> FoundFilter {
    let start = if is_after_in { index - 1 } else { index };
    FoundFilter { tokens: start..index + 1, value: FilterValue::Language(name) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokenize;

    fn check(question: &str, expect: &[&str]) {
        let found = find(&tokenize(question));
        let names: Vec<&str> = found
            .iter()
            .filter_map(|filter| match filter.value {
                FilterValue::Language(name) => Some(name),
                _ => None,
            })
            .collect();
        assert_eq!(names, expect, "{question}");
    }

    #[test]
    fn named_languages_become_filters() {
        check("python", &["python"]);
        check("python functions that parse dates", &["python"]);
        check("retry logic in Go", &["go"]);
        check("retry logic in go without tests", &["go"]);
        check("retry logic in typescript", &["typescript"]);
        check("go structs for users", &["go"]);
        check("c++ allocator", &["cpp"]);
        check("the rust client", &["rust"]);
        check("date parsing in c", &["c"]);
        check("shell scripts that deploy", &["bash"]);
    }

    #[test]
    fn languages_as_topics_are_not_filters() {
        for question in [
            "go to the handler",
            "where does it go",
            "python parser",
            "compile to javascript",
            "the java compiler",
            "parse python",
            "option c",
            "how does the shell parse input",
            "header parsing not in go",
            "header parsing that is not in Go",
            "parsers not written in python",
            "parsers in languages other than python",
            "parsers without python",
            "no python please",
            "anything but rust code",
        ] {
            check(question, &[]);
        }
    }
}
