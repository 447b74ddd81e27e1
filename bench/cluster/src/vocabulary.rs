//! Generates questions from the names and words of source trees. No two questions are equal.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Identifiers, words and file paths from source trees.
#[derive(Default)]
pub(crate) struct Vocabulary {
    names: BTreeSet<String>,
    words: BTreeSet<String>,
    files: BTreeSet<String>,
}

/// The kinds of questions, and their shares in percent. The questions in `eval/questions` are of the same
/// kinds.
const SHARES: [(&str, usize); 8] = [
    ("behaviour", 34),
    ("architecture", 12),
    ("symbol", 14),
    ("relationship", 12),
    ("flow", 8),
    ("pattern", 6),
    ("file", 8),
    ("nonsense", 6),
];

impl Vocabulary {
    /// Adds the names and words of all files below a folder.
    pub(crate) fn add(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && entry.file_name() != ".git" => self.add(&path),
                Ok(kind) if kind.is_file() => self.add_file(&path),
                _ => {}
            }
        }
    }

    fn add_file(&mut self, path: &Path) {
        let Ok(text) = fs::read_to_string(path) else { return };
        self.files.extend(path.file_name().and_then(|name| name.to_str()).map(str::to_owned));
        let is_name_byte = |c: char| c.is_ascii_alphanumeric() || c == '_';
        for word in text.split(|c: char| !is_name_byte(c)).filter(|word| (5..30).contains(&word.len())) {
            let inner = &word[1..];
            if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
                self.words.insert(word.to_owned());
            } else if word.as_bytes()[0].is_ascii_alphabetic()
                && (inner.contains('_') || inner.bytes().any(|byte| byte.is_ascii_uppercase()))
                && inner.bytes().any(|byte| byte.is_ascii_lowercase())
            {
                self.names.insert(word.to_owned());
            }
        }
    }

    /// Distinct questions of all kinds, in mixed order. The questions depend only on the vocabulary.
    pub(crate) fn questions(&self, count: usize) -> Vec<String> {
        let [names, words, files] = [&self.names, &self.words, &self.files].map(|set| set.iter().collect::<Vec<_>>());
        let kinds: Vec<&str> = SHARES.iter().flat_map(|(kind, share)| std::iter::repeat_n(*kind, *share)).collect();
        let mut random = Random(1);
        let mut known = BTreeSet::new();
        let mut questions = Vec::with_capacity(count);
        while questions.len() < count {
            let [first, second, third] = [(); 3].map(|()| random.one_of(&words));
            let question = match *random.one_of(&kinds) {
                "behaviour" => format!("where is {first} {second} checked before {third}"),
                "architecture" => format!("how is {first} related to {second} and {third}"),
                "symbol" => random.one_of(&names).to_string(),
                "relationship" => format!("what calls {}", random.one_of(&names)),
                "flow" => format!("how does {first} flow from {second} to {third}"),
                "pattern" => format!("{first} {second} pattern"),
                "file" => random.one_of(&files).to_string(),
                _ => [(); 3].map(|()| random.letters()).join(" "),
            };
            // If the same name or file is drawn twice, an additional word makes the question unique.
            let question = if known.contains(&question) { format!("{question} {first}") } else { question };
            if known.insert(question.clone()) {
                questions.push(question);
            }
        }
        questions
    }
}

/// A generator of pseudorandom numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    fn one_of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    fn letters(&mut self) -> String {
        (0..8).map(|_| (b'a' + self.below(26) as u8) as char).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_distinct_and_equal_in_every_run() {
        let mut vocabulary = Vocabulary::default();
        vocabulary.add(Path::new(env!("CARGO_MANIFEST_DIR")));
        let questions = vocabulary.questions(500);
        assert_eq!(questions.iter().collect::<BTreeSet<_>>().len(), 500);
        assert_eq!(questions, vocabulary.questions(500));
        assert!(questions.iter().any(|question| question.starts_with("what calls ")), "{questions:?}");
        assert!(vocabulary.names.contains("one_of") && vocabulary.words.contains("random"));
    }
}
