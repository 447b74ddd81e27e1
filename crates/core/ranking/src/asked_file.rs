//! Recognises questions that ask for a file in words, such as "script that generates test cases".
//!
//! The answer to such a question is found by the name of the file, so the hits of such a question are not
//! ordered by the second stage of the ranking, which compares meanings.

use crate::{QueryWords, Subjects};

/// A question with at most this number of keywords is treated as one that asks for a file.
const MAX_KEYWORDS_OF_NAME: usize = 2;
/// Maximum number of words before the first word of [`ENDS`] in a question that asks for a file.
const MAX_WORDS: usize = 5;

/// Words that end the noun phrase at the start of a question. Sorted.
const ENDS: [&str; 17] = [
    "and", "at", "by", "for", "from", "how", "in", "of", "on", "that", "to", "when", "where", "which", "who", "whose",
    "with",
];
/// A question with one of these words is a sentence. Sorted.
const VERBS: [&str; 7] = ["are", "be", "does", "gets", "is", "was", "were"];
/// A phrase with one of these words after its first word is not treated as a noun phrase. Sorted.
const ARTICLES: [&str; 3] = ["a", "an", "the"];
/// Words for kinds of files and directories. Sorted.
const FILES: [&str; 38] = [
    "config",
    "configuration",
    "directories",
    "directory",
    "dockerfile",
    "example",
    "examples",
    "file",
    "files",
    "fixture",
    "fixtures",
    "folder",
    "folders",
    "guide",
    "header",
    "headers",
    "license",
    "makefile",
    "manifest",
    "note",
    "notebook",
    "notebooks",
    "notes",
    "page",
    "pages",
    "readme",
    "sample",
    "samples",
    "schema",
    "script",
    "scripts",
    "source",
    "spec",
    "specs",
    "template",
    "templates",
    "test",
    "tests",
];

/// Whether a question asks for a file: the question has at most two keywords, or asks for a kind of files, or
/// it starts with a noun phrase that contains a word for a file, or with "which file". `words` and `subjects`
/// are those of the question.
pub fn asks_for_file(question: &str, words: &QueryWords, subjects: Subjects) -> bool {
    if words.keywords.len() <= MAX_KEYWORDS_OF_NAME || subjects.file_kind.is_some() {
        return true;
    }
    let is_separator = |character: char| !character.is_alphanumeric();
    let lower = question.to_lowercase();
    let written: Vec<&str> = lower.split(is_separator).filter(|word| !word.is_empty()).collect();
    let is_in = |list: &[&str], word: &&str| list.binary_search(word).is_ok();
    if let [first, second, ..] = written.as_slice()
        && matches!(*first, "which" | "what")
    {
        return is_in(&FILES, second);
    }
    let phrase: Vec<&str> = written.iter().copied().take_while(|word| !is_in(&ENDS, word)).collect();
    let has_article = phrase.iter().skip(1).any(|word| is_in(&ARTICLES, word));
    let is_phrase = phrase.len() <= MAX_WORDS && !has_article && !written.iter().any(|word| is_in(&VERBS, word));
    is_phrase && phrase.iter().any(|word| is_in(&FILES, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        assert!(ENDS.is_sorted() && VERBS.is_sorted() && ARTICLES.is_sorted() && FILES.is_sorted());
    }

    #[test]
    fn questions_for_files_are_recognised() {
        let check = |question: &str, expect: bool| {
            let (words, subjects) = (QueryWords::of(question), Subjects::of(question));
            assert_eq!(asks_for_file(question, &words, subjects), expect, "{question}");
        };
        for question in [
            "composer manifest",
            "security policy",
            "script that generates random numbers for tests",
            "sample client that speaks a secure protocol",
            "integration test of the connection pool",
            "helm chart values of the production cluster",
            "the directory with the node classes of the parser",
            "which file reads the settings of the user",
        ] {
            check(question, true);
        }
        for question in [
            "how is a script with an unknown name started",
            "deleting a folder with everything below it",
            "hidden files and swap files are ignored",
            "which component reads the file with the settings",
            "two components ship a script with the same name",
            "where are the tests of the parser started",
            "values that only point at each other get released",
        ] {
            check(question, false);
        }
    }
}
