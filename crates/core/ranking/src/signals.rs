//! Signals increase or decrease the score of a candidate, in addition to the ranks in the lists. Each signal
//! is a factor in percent. It is recorded, so that an answer can explain the scores.

use cairn_domain::ChunkRecord;

use crate::{QueryWords, fold_style};

/// One reason for the score of a candidate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signal {
    /// The name of the signal, as shown in explanations.
    pub name: &'static str,
    /// The factor in percent. A factor of 100 does not change the score.
    pub percent: u32,
}

impl Signal {
    pub const fn new(name: &'static str, percent: u32) -> Self {
        Self { name, percent }
    }

    /// Applies the signal to `points` and rounds down.
    pub fn apply(self, points: u64) -> u64 {
        points * u64::from(self.percent) / 100
    }
}

/// The weight of test code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TestWeight {
    /// Half of the ordinary weight. Used if the caller does not request only tests.
    #[default]
    Half,
    /// The ordinary weight. Used if the caller requests only tests.
    Full,
}

/// The chunk defines a symbol that the question names.
pub const DEFINITION: Signal = Signal::new("definition", 200);
/// The whole question is the name of the definition or the path of the file. No other result may precede this
/// one.
pub const EXACT: Signal = Signal::new("exact", 10_000);
/// The question contains the name of the definition in its exact spelling.
pub const SPELLED: Signal = Signal::new("spelled", 200);
const FILE_STEM: Signal = Signal::new("file_stem", 130);
const PATH: Signal = Signal::new("path", 110);
const EXPORTED: Signal = Signal::new("exported", 105);
const DOCUMENTED: Signal = Signal::new("documented", 105);
const TEST: Signal = Signal::new("test", 50);
const ASIDE: Signal = Signal::new("example_or_vendored", 80);

/// Directories whose code demonstrates or copies other code. Sorted.
const ASIDE_DIRECTORIES: [&str; 12] = [
    "benches",
    "benchmark",
    "benchmarks",
    "demo",
    "demos",
    "example",
    "examples",
    "fixtures",
    "samples",
    "third_party",
    "thirdparty",
    "vendor",
];

/// The signals of a chunk for a question, in the order in which they are applied. Signals that do not change
/// the score are omitted.
pub fn signals(chunk: &ChunkRecord, query: &QueryWords, tests: TestWeight) -> Vec<Signal> {
    let mut found = Vec::new();
    if defines_named_symbol(chunk, query) {
        found.push(DEFINITION);
    }
    if names_stem(chunk, query) {
        found.push(FILE_STEM);
    }
    if names_directory(chunk, query) {
        found.push(PATH);
    }
    if chunk.exported {
        found.push(EXPORTED);
    }
    if chunk.documented {
        found.push(DOCUMENTED);
    }
    if chunk.is_test && tests == TestWeight::Half {
        found.push(TEST);
    }
    if is_in_aside_directory(chunk) {
        found.push(ASIDE);
    }
    if chunk.weight_percent != 100 {
        found.push(Signal::new("weight", u32::from(chunk.weight_percent)));
    }
    found
}

/// Whether the question names the symbol of the chunk.
pub fn defines_named_symbol(chunk: &ChunkRecord, query: &QueryWords) -> bool {
    let Some(symbol) = chunk.symbol.as_deref().filter(|_| chunk.symbol_kind.is_some()) else { return false };
    let last = symbol.rsplit('.').next().unwrap_or(symbol);
    query.names.contains(&fold_style(last)) || query.names.contains(&fold_style(symbol))
}

/// Whether the question names the stem of the file, or each word of the stem is a keyword.
fn names_stem(chunk: &ChunkRecord, query: &QueryWords) -> bool {
    let stem = chunk.path.stem();
    query.names.contains(&fold_style(stem)) || all_words_are_keywords(stem, query)
}

fn names_directory(chunk: &ChunkRecord, query: &QueryWords) -> bool {
    let mut directories = chunk.path.directory().split('/').filter(|directory| !directory.is_empty());
    directories.any(|directory| all_words_are_keywords(directory, query))
}

fn all_words_are_keywords(name: &str, query: &QueryWords) -> bool {
    let mut num_words = 0;
    let mut all = true;
    crate::words(name, |word| {
        num_words += 1;
        all &= query.keywords.iter().any(|keyword| equals_up_to_plural(keyword, word));
    });
    all && num_words > 0
}

fn equals_up_to_plural(left: &str, right: &str) -> bool {
    let is_plural_of = |plural: &str, singular: &str| plural.strip_suffix('s') == Some(singular);
    left == right || is_plural_of(left, right) || is_plural_of(right, left)
}

fn is_in_aside_directory(chunk: &ChunkRecord) -> bool {
    chunk.path.directory().split('/').any(|directory| ASIDE_DIRECTORIES.binary_search(&directory).is_ok())
}

#[cfg(test)]
mod tests {
    use cairn_domain::SymbolKind;

    use super::*;
    use crate::test_chunks::chunk;

    fn check(chunk: &ChunkRecord, question: &str, expect: &[&str]) {
        let found = signals(chunk, &QueryWords::of(question), TestWeight::Half);
        assert_eq!(found.iter().map(|signal| signal.name).collect::<Vec<_>>(), expect, "{question}");
    }

    #[test]
    fn words_of_the_question_add_signals() {
        let plain = chunk("src/net/http_client.rs", 1, "text");
        check(&plain, "unrelated", &[]);
        check(&plain, "http clients", &["file_stem"]);
        check(&plain, "net timeout", &["path"]);
        check(&plain, "HttpClient", &["file_stem"]);
        let method =
            ChunkRecord { symbol: Some("Client.get_user".into()), symbol_kind: Some(SymbolKind::Method), ..plain };
        check(&method, "what is getUser", &["definition"]);
        check(&method, "Client.get_user", &["definition"]);
        check(&method, "get the user", &[]);
        check(&ChunkRecord { symbol_kind: None, ..method }, "getUser", &[]);
    }

    #[test]
    fn properties_of_the_chunk_add_signals() {
        let plain = chunk("a/b.rs", 1, "text");
        check(&ChunkRecord { exported: true, documented: true, ..plain.clone() }, "x", &["exported", "documented"]);
        check(&ChunkRecord { weight_percent: 150, ..plain.clone() }, "x", &["weight"]);
        check(&chunk("examples/b.rs", 1, "text"), "x", &["example_or_vendored"]);
        assert!(ASIDE_DIRECTORIES.is_sorted());
        let test = ChunkRecord { is_test: true, ..plain };
        check(&test, "x", &["test"]);
        assert_eq!(signals(&test, &QueryWords::default(), TestWeight::Full), []);
        assert_eq!(TEST.apply(101), 50);
    }
}
