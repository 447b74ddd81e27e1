//! Counts the questions that share a word with the paths or the symbols of their answers.
//!
//! A question that shares no word with its answer can only be answered by the meaning of its words. At least
//! half of the questions about behaviour and architecture must be of this kind.

use std::collections::BTreeSet;
use std::ops::AddAssign;
use std::path::Path;

use cairn_domain::{FactsKey, Key128, LineSpan, RepoPath, Symbol};
use cairn_syntax::{ParseLimits, parse_file};

use crate::questions::{EvalQuestion, ExpectedAnswer, QuestionKind};

/// The number of questions about behaviour and architecture.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct SharedWords {
    pub(crate) num_questions: usize,
    /// The number of questions that share a word with a path or a symbol of their answers.
    pub(crate) num_sharing: usize,
}

impl AddAssign for SharedWords {
    fn add_assign(&mut self, other: Self) {
        self.num_questions += other.num_questions;
        self.num_sharing += other.num_sharing;
    }
}

impl SharedWords {
    /// Counts the questions about one repository. `sources` is the folder with its sources. Without sources,
    /// only the words of the paths are compared.
    pub(crate) fn count(questions: &[EvalQuestion], sources: &Path) -> Self {
        let questions = by_meaning(questions);
        let shares = |question: &EvalQuestion| {
            let asked = words_of(&question.text);
            question.answers.iter().any(|answer| !words_of_answer(answer, sources).is_disjoint(&asked))
        };
        let num_sharing = questions.iter().filter(|question| shares(question)).count();
        Self { num_questions: questions.len(), num_sharing }
    }

    pub(crate) fn is_at_most_half(self) -> bool {
        2 * self.num_sharing <= self.num_questions
    }
}

/// The questions about behaviour and architecture.
fn by_meaning(questions: &[EvalQuestion]) -> Vec<&EvalQuestion> {
    let is_by_meaning =
        |question: &&EvalQuestion| matches!(question.kind, QuestionKind::Behaviour | QuestionKind::Architecture);
    questions.iter().filter(is_by_meaning).collect()
}

/// The words of a text or an identifier, in lower case.
fn words_of(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    cairn_ranking::words(text, |word| {
        found.insert(word.to_lowercase());
    });
    found
}

/// The words of the path and of the symbols of an answer.
fn words_of_answer(answer: &ExpectedAnswer, sources: &Path) -> BTreeSet<String> {
    words_of(&format!("{} {}", answer.path, names_of_answer(answer, sources)))
}

/// The names of the outermost symbols inside the lines of the answer. If no symbol is inside the lines, the
/// qualified name of the innermost symbol around the lines. Empty for a file that cannot be read.
fn names_of_answer(answer: &ExpectedAnswer, sources: &Path) -> String {
    let Some([first, last]) = answer.lines else { return String::new() };
    let Ok(bytes) = std::fs::read(sources.join(&answer.path)) else { return String::new() };
    let text = String::from_utf8_lossy(&bytes);
    let Ok(path) = RepoPath::from_bytes(answer.path.as_bytes()) else { return String::new() };
    let language = cairn_languages::language_of(&path, text.as_bytes()).map_or("text", |row| row.name);
    let facts = parse_file(language, FactsKey(Key128([0; 16])), &text, &ParseLimits::default());
    names_in(&facts.symbols, first, last)
}

fn names_in(symbols: &[Symbol], first: u32, last: u32) -> String {
    let is_inside = |span: LineSpan| first <= span.start && span.end <= last;
    let is_outermost = |symbol: &&Symbol| {
        is_inside(symbol.span) && symbol.parent.is_none_or(|parent| !is_inside(symbols[parent as usize].span))
    };
    let inside: Vec<&str> = symbols.iter().filter(is_outermost).map(|symbol| symbol.name.as_str()).collect();
    let around = || symbols.iter().rfind(|symbol| symbol.span.start <= first && last <= symbol.span.end);
    match inside.is_empty() {
        true => around().map(|symbol| symbol.qualified_name.clone()).unwrap_or_default(),
        false => inside.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str =
        "class Basket:\n    def add_item(self):\n        price = 1\n        return price\n\n\ndef pay():\n    pass\n";

    #[test]
    fn words_of_paths_and_symbols_are_counted() {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(directory.path().join("shop")).expect("created");
        std::fs::write(directory.path().join("shop/orders.py"), SOURCE).expect("written");
        let check = |text: &str, lines: Option<[u32; 2]>, is_sharing: bool| {
            let answer = ExpectedAnswer { path: "shop/orders.py".to_owned(), lines, grade: 2 };
            let question = |kind| EvalQuestion {
                id: "shop-1".to_owned(),
                kind,
                text: text.to_owned(),
                answers: vec![answer.clone()],
                absent: None,
            };
            let questions = vec![question(QuestionKind::Behaviour), question(QuestionKind::Symbol)];
            let counted = SharedWords::count(&questions, directory.path());
            assert_eq!(counted, SharedWords { num_questions: 1, num_sharing: usize::from(is_sharing) }, "{text}");
        };
        check("where do orders wait", None, true);
        check("where is the money taken", None, false);
        // A whole function, lines inside a method, and a whole class. The methods of a whole class are not
        // the answer.
        check("how do customers pay", Some([7, 8]), true);
        check("how does one add goods", Some([3, 4]), true);
        check("what fills the Basket", Some([3, 3]), true);
        check("how does one add goods", Some([1, 4]), false);
        check("how do customers pay", Some([1, 4]), false);
    }
}
