//! Computes how well the path of a file matches the words of a question.

use cairn_domain::RepoPath;

use crate::fixed::{ONE, times};
use crate::stem::stem;
use crate::{is_stop_word, words};

/// The points of a path are the sum of the points for three shares. The first is the share of the question's
/// words that are in the file's name. The second is the share of the name's words that are in the question.
/// The third is the share of the question's words, weighted by rarity, that are in the names of the
/// directories. The constants are the maximum points for each share, in millionths.
const QUESTION_WORDS_IN_NAME: u64 = 500_000;
const NAME_WORDS_IN_QUESTION: u64 = 400_000;
const RARE_WORDS_IN_DIRECTORIES: u64 = 200_000;

/// Minimum length of a word of the question. Shorter words are ignored, because they would match too many
/// names.
const MIN_WORD: usize = 3;
/// A word of a name and a word of the question are treated as related if at least this number of letters at
/// their start are equal.
const PREFIX_OF_NAME: usize = 3;
const PREFIX_OF_QUESTION: usize = 4;

/// Stems of file names. A file with one of these stems represents its directory.
const DIRECTORY_STEMS: [&str; 6] = ["__init__", "index", "init", "lib", "main", "mod"];

/// A keyword of a question, and the rarity of the keyword.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Keyword {
    pub(crate) word: String,
    pub(crate) weight: u64,
}

/// Points for a path, in millionths: at most 1,100,000.
pub(crate) fn path_points(path: &RepoPath, keywords: &[Keyword]) -> u64 {
    let directory = path.directory();
    let parent = directory.rsplit('/').next().unwrap_or_default();
    let (name, parent, directories) = (words_of(name_of_file(path)), words_of(parent), words_of(directory));
    let asked: Vec<&str> = keywords.iter().map(|keyword| keyword.word.as_str()).filter(|word| is_word(word)).collect();
    let in_name = |word: &&&str| name.iter().chain(&parent).any(|of_name| have_prefix(word, of_name, PREFIX_OF_NAME));
    let in_question = |of_name: &&String| {
        asked.iter().any(|word| stems_are_equal(word, of_name) || have_prefix(word, of_name, PREFIX_OF_QUESTION))
    };
    let in_directories = |keyword: &&Keyword| directories.iter().any(|part| stems_are_equal(&keyword.word, part));
    let weight = |keywords: &mut dyn Iterator<Item = &Keyword>| keywords.map(|keyword| keyword.weight).sum::<u64>();
    let of_question = fraction(asked.iter().filter(in_name).count() as u64, asked.len() as u64);
    let of_name = fraction(name.iter().filter(in_question).count() as u64, name.len() as u64);
    let of_directories = fraction(weight(&mut keywords.iter().filter(in_directories)), weight(&mut keywords.iter()));
    times(of_question, QUESTION_WORDS_IN_NAME)
        + times(of_name, NAME_WORDS_IN_QUESTION)
        + times(of_directories, RARE_WORDS_IN_DIRECTORIES)
}

/// The name of the file, or of its directory if the file represents the directory.
pub(crate) fn name_of_file(path: &RepoPath) -> &str {
    let stem = path.stem();
    if DIRECTORY_STEMS.contains(&stem) { path.directory().rsplit('/').next().unwrap_or(stem) } else { stem }
}

fn fraction(part: u64, whole: u64) -> u64 {
    (part * ONE).checked_div(whole).unwrap_or(0)
}

fn is_word(word: &str) -> bool {
    word.len() >= MIN_WORD && !is_stop_word(word)
}

fn words_of(name: &str) -> Vec<String> {
    let mut found = Vec::new();
    words(name, |word| found.push(word.to_owned()));
    found
}

/// Whether both words are equal or have the same first `length` bytes.
fn have_prefix(left: &str, right: &str, length: usize) -> bool {
    left == right || left.get(..length).is_some_and(|prefix| right.get(..length) == Some(prefix))
}

fn stems_are_equal(left: &str, right: &str) -> bool {
    stem(left.as_bytes()) == stem(right.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keywords;

    fn points(question: &str, path: &str) -> u64 {
        let keywords = keywords(question).into_iter().map(|word| Keyword { word, weight: 10 });
        path_points(&RepoPath::from_bytes(path.as_bytes()).expect("a path"), &keywords.collect::<Vec<_>>())
    }

    #[test]
    fn shares_of_words_are_added() {
        for (question, path, expect) in [
            ("parse requests", "src/server.rs", 0),
            // The file name contains both words of the question, and the question contains both words of the
            // file name.
            ("parse requests", "src/request_parser.rs", 900_000),
            // The name of the parent directory contains one of the two words of the question. The word also
            // counts as a match among the directories.
            ("parse requests", "request/server.rs", 350_000),
            // The file represents its directory.
            ("parse requests", "src/request/mod.rs", 750_000),
            ("parse requests", "request/parse/ast/server.rs", 200_000),
        ] {
            assert_eq!(points(question, path), expect, "{question} {path}");
        }
    }

    #[test]
    fn mod_file_gets_the_name_of_its_directory() {
        for (path, expect) in [("src/net/mod.rs", "net"), ("src/net/tcp.rs", "tcp"), ("main.rs", "")] {
            assert_eq!(name_of_file(&RepoPath::from_bytes(path.as_bytes()).expect("a path")), expect, "{path}");
        }
    }
}
