//! What speaks for a candidate besides its rank in the lists: factors in percent, each recorded so that an answer can
//! explain its score.

use cairn_domain::ChunkRecord;

use crate::{QueryWords, fold_style};

/// One reason for a score.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signal {
    /// The word that explanations show.
    pub name: &'static str,
    /// What the points are multiplied by; 100 changes nothing.
    pub percent: u32,
}

impl Signal {
    pub const fn new(name: &'static str, percent: u32) -> Self {
        Self { name, percent }
    }

    /// `points` with the signal applied. Rounds down.
    pub fn apply(self, points: u64) -> u64 {
        points * u64::from(self.percent) / 100
    }
}

/// How test code is weighed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TestWeight {
    /// Half, as where tests are merely not excluded.
    #[default]
    Half,
    /// As other code: the caller asks for tests.
    Full,
}

/// Of a chunk that defines a symbol that the question names.
pub const DEFINITION: Signal = Signal::new("definition", 200);
/// Of the definition of the very name, or the beginning of the very file, that the whole question is: nothing else may
/// stand before it.
pub const EXACT: Signal = Signal::new("exact", 10_000);
/// Of the definition of a name that stands in the question as it is spelled.
pub const SPELLED: Signal = Signal::new("spelled", 200);
const FILE_STEM: Signal = Signal::new("file_stem", 130);
const PATH: Signal = Signal::new("path", 110);
const EXPORTED: Signal = Signal::new("exported", 105);
const DOCUMENTED: Signal = Signal::new("documented", 105);
const TEST: Signal = Signal::new("test", 50);
const ASIDE: Signal = Signal::new("example_or_vendored", 80);

/// Directories whose code shows or copies other code. Sorted.
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

/// The signals of a chunk for a question, in the order in which they are applied. Only those that change the score.
pub fn signals(chunk: &ChunkRecord, query: &QueryWords, tests: TestWeight) -> Vec<Signal> {
    let mut found = Vec::new();
    if defines_named_symbol(chunk, query) {
        found.push(DEFINITION);
    }
    if stem_is_asked_for(chunk, query) {
        found.push(FILE_STEM);
    }
    if directory_is_asked_for(chunk, query) {
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
    if lies_aside(chunk) {
        found.push(ASIDE);
    }
    if chunk.weight_percent != 100 {
        found.push(Signal::new("weight", u32::from(chunk.weight_percent)));
    }
    found
}

/// Whether the symbol that a chunk shows is one of those that the question names.
pub fn defines_named_symbol(chunk: &ChunkRecord, query: &QueryWords) -> bool {
    let Some(symbol) = chunk.symbol.as_deref().filter(|_| chunk.symbol_kind.is_some()) else { return false };
    let last = symbol.rsplit('.').next().unwrap_or(symbol);
    query.names.contains(&fold_style(last)) || query.names.contains(&fold_style(symbol))
}

/// The stem is one of the names, or each of its words is a keyword.
fn stem_is_asked_for(chunk: &ChunkRecord, query: &QueryWords) -> bool {
    let stem = chunk.path.stem();
    query.names.contains(&fold_style(stem)) || all_words_are_keywords(stem, query)
}

fn directory_is_asked_for(chunk: &ChunkRecord, query: &QueryWords) -> bool {
    let mut directories = chunk.path.directory().split('/').filter(|directory| !directory.is_empty());
    directories.any(|directory| all_words_are_keywords(directory, query))
}

fn all_words_are_keywords(name: &str, query: &QueryWords) -> bool {
    let mut num_words = 0;
    let mut all = true;
    crate::words(name, |word| {
        num_words += 1;
        all &= query.keywords.iter().any(|keyword| same_but_for_plural(keyword, word));
    });
    all && num_words > 0
}

fn same_but_for_plural(left: &str, right: &str) -> bool {
    let is_plural_of = |plural: &str, singular: &str| plural.strip_suffix('s') == Some(singular);
    left == right || is_plural_of(left, right) || is_plural_of(right, left)
}

fn lies_aside(chunk: &ChunkRecord) -> bool {
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
    fn what_is_asked_for_counts() {
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
    fn what_it_is_counts() {
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
