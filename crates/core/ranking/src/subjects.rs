//! Lists words for technologies and words of everyday domains. If a question contains such a word, but the
//! searched repositories do not, the question is probably about something else.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::{StopWords, terms};

/// The kind of a subject.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Subject {
    /// A technology or feature of software, such as `kafka` or `thumbnail`.
    Technology,
    /// Something outside software, such as `sourdough`.
    Everyday,
}

static SUBJECTS: LazyLock<HashMap<u32, Subject>> = LazyLock::new(|| read(include_str!("../data/subjects.txt")));

/// The subject of a term.
pub(crate) fn subject_of(term: u32) -> Option<Subject> {
    SUBJECTS.get(&term).copied()
}

fn read(text: &str) -> HashMap<u32, Subject> {
    let mut found = HashMap::new();
    for line in text.lines() {
        let (subject, words) = match line.split_once(": ") {
            Some(("technology", words)) => (Subject::Technology, words),
            Some(("everyday", words)) => (Subject::Everyday, words),
            _ => continue,
        };
        // A word in both lists is treated as a technology, because the list of technologies is read first.
        for word in words.split(' ') {
            terms(word, StopWords::Kept, |term| {
                found.entry(term).or_insert(subject);
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_subjects() {
        let check = |word: &str, expect| {
            let mut found = None;
            terms(word, StopWords::Kept, |term| found = subject_of(term));
            assert_eq!(found, expect, "{word}");
        };
        check("kafka", Some(Subject::Technology));
        check("encrypting", Some(Subject::Technology));
        check("tomato", Some(Subject::Everyday));
        check("parser", None);
    }

    #[test]
    fn every_line_of_the_table_has_a_kind() {
        for line in include_str!("../data/subjects.txt").lines().filter(|line| !line.starts_with('#')) {
            assert!(line.starts_with("technology: ") || line.starts_with("everyday: "), "{line}");
        }
    }
}
