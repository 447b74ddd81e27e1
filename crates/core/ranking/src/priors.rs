//! Computes factors for the kind of a chunk and for its directory, because documents, tests and examples
//! rarely answer a question about code.
//!
//! A factor that reduces the scores of a kind of chunk does not apply if the question asks for this kind.

use cairn_domain::{ChunkKind, ChunkRecord};

use crate::asked_kind::asked_kind;
use crate::work_questions::is_about_work;
use crate::{FileKind, Signal, Signals, words};

/// A factor by which a score is multiplied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Prior {
    /// The name of the factor, as shown in explanations.
    pub name: &'static str,
    /// The factor in percent. 100 percent does not change the score.
    pub percent: u32,
}

const DOCUMENT: Prior = Prior { name: "document", percent: 50 };
const PATTERN: Prior = Prior { name: "pattern", percent: 30 };
const TEST: Prior = Prior { name: "test", percent: 30 };
const ASIDE: Prior = Prior { name: "example_or_vendored", percent: 30 };
/// This factor applies only if the question is about building, testing, modules or conventions, because
/// navigation documents answer such questions.
const NAVIGATION: Prior = Prior { name: "navigation", percent: 150 };

/// This factor replaces the factor for navigation documents if the question asks how to work on the code,
/// because documents such as `INSTALL` and `CONTRIBUTING.md` answer such questions.
const GUIDE: Prior = Prior { name: "guide", percent: 200 };

/// Names of documents that state how to build, test and change the code, in lower case and without the
/// extension. Sorted.
const GUIDES: [&str; 20] = [
    "agents",
    "building",
    "claude",
    "contribute",
    "contributing",
    "contributors",
    "develop",
    "developer",
    "developers",
    "developing",
    "development",
    "getting-started",
    "getting_started",
    "gettingstarted",
    "hacking",
    "install",
    "installation",
    "installing",
    "readme",
    "testing",
];

/// Names of directories whose code demonstrates other code or is copied from other projects. Sorted.
const ASIDE_DIRECTORIES: [&str; 20] = [
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "demo",
    "demos",
    "doc",
    "docs",
    "docs_src",
    "example",
    "examples",
    "fixture",
    "fixtures",
    "playground",
    "sample",
    "samples",
    "snippets",
    "third_party",
    "thirdparty",
    "vendor",
];

/// The kinds of chunks that a question asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Subjects {
    pub tests: bool,
    pub documents: bool,
    /// The question asks how to build, test or start the code, or asks about a module or the conventions.
    pub navigation: bool,
    /// The question asks about work with the repository, for example how to build it.
    pub work: bool,
    pub patterns: bool,
    pub examples: bool,
    /// The kind of files that the question asks for.
    pub file_kind: Option<FileKind>,
}

/// Words that show that a question asks for a kind of chunk: one list for each kind. Each list is sorted.
const TEST_WORDS: [&str; 11] =
    ["fixture", "fixtures", "mock", "mocks", "spec", "specs", "test", "tested", "testing", "tests", "unittest"];
const DOCUMENT_WORDS: [&str; 32] = [
    "changelog",
    "cmake",
    "contribute",
    "contributing",
    "contributor",
    "coverage",
    "deploy",
    "deployment",
    "docker",
    "docs",
    "documentation",
    "documented",
    "guide",
    "install",
    "installation",
    "installed",
    "installing",
    "licence",
    "license",
    "licensing",
    "lint",
    "linting",
    "makefile",
    "manual",
    "packaging",
    "prerequisites",
    "readme",
    "requirements",
    "roadmap",
    "suite",
    "tutorial",
    "tutorials",
];
const EXAMPLE_WORDS: [&str; 10] =
    ["bench", "benchmark", "benchmarks", "demo", "demos", "example", "examples", "sample", "samples", "vendored"];
const PATTERN_WORDS: [&str; 6] = ["convention", "conventions", "pattern", "patterns", "typical", "typically"];
const NAVIGATION_WORDS: [&str; 8] =
    ["agents", "architecture", "convention", "conventions", "module", "modules", "onboarding", "structure"];
/// Extensions of files whose chunks of kind `text` contain prose or data, not code. Sorted.
const TEXT_EXTENSIONS: [&str; 22] = [
    "adoc", "cfg", "conf", "css", "csv", "htm", "html", "ini", "json", "log", "lst", "md", "po", "rst", "sql", "svg",
    "text", "toml", "tsv", "txt", "xml", "yml",
];
/// Endings of the names of documents and configuration files.
const DOCUMENT_EXTENSIONS: [&str; 13] =
    [".adoc", ".cfg", ".conf", ".csv", ".ini", ".json", ".md", ".rst", ".toml", ".txt", ".xml", ".yaml", ".yml"];

impl Subjects {
    /// The kinds of chunks that the words of a question ask for.
    pub fn of(question: &str) -> Self {
        let mut asked: Vec<String> = Vec::new();
        words(question, |word| asked.push(word.to_owned()));
        let has = |list: &[&str]| asked.iter().any(|word| list.contains(&word.as_str()));
        let names_document = question
            .split_whitespace()
            .map(|token| token.trim_end_matches(['?', '.', ',', '`', '"', '\'']).to_ascii_lowercase())
            .any(|token| DOCUMENT_EXTENSIONS.iter().any(|end| token.ends_with(end)));
        let is_about_work = is_about_work(&asked);
        let file_kind = asked_kind(question);
        Self {
            tests: has(&TEST_WORDS) || file_kind.is_some_and(|kind| kind.is_of_tests()),
            documents: has(&DOCUMENT_WORDS) || names_document || is_about_work,
            navigation: has(&NAVIGATION_WORDS) || is_about_work,
            work: is_about_work,
            patterns: has(&PATTERN_WORDS),
            examples: has(&EXAMPLE_WORDS),
            file_kind,
        }
    }

    /// The kinds of chunks that a question asks for if it is only the name of a file. The file may be a test,
    /// a document or an example.
    pub fn of_file_name(question: &str) -> Self {
        Self { tests: true, documents: true, examples: true, ..Self::of(question) }
    }
}

/// The factors that apply to a chunk.
pub(crate) fn priors(chunk: &ChunkRecord, subjects: Subjects, signals: Signals) -> Vec<Prior> {
    let mut found = all_priors(chunk, subjects);
    found.retain(|prior| {
        signals.has(match prior.name {
            name if [DOCUMENT.name, NAVIGATION.name, GUIDE.name].contains(&name) => Signal::DocumentPrior,
            name if name == TEST.name => Signal::TestPrior,
            _ => Signal::OtherPriors,
        })
    });
    found
}

fn all_priors(chunk: &ChunkRecord, subjects: Subjects) -> Vec<Prior> {
    let mut found = Vec::new();
    // The part `file_kind` of the score is lower for tests and examples, so no factor is needed for them.
    let is_asked = subjects.file_kind.is_some_and(|kind| kind.contains(chunk));
    match chunk.kind {
        _ if subjects.work && is_guide(chunk) => found.push(GUIDE),
        ChunkKind::Navigation if subjects.navigation || subjects.patterns => found.push(NAVIGATION),
        _ if is_document(chunk) && !subjects.documents && !is_asked => found.push(DOCUMENT),
        ChunkKind::Pattern if !subjects.patterns => found.push(PATTERN),
        _ => {}
    }
    if chunk.is_test && !subjects.tests && !is_asked {
        found.push(TEST);
    }
    if is_aside_directory(chunk.path.directory()) && !is_excused(chunk, subjects) && !is_asked {
        found.push(ASIDE);
    }
    if chunk.weight_percent < 100 {
        found.push(Prior { name: "generated", percent: u32::from(chunk.weight_percent) });
    }
    found
}

/// Whether the name of a document shows that the document states how to work on the code.
fn is_guide(chunk: &ChunkRecord) -> bool {
    is_document(chunk) && GUIDES.binary_search(&chunk.path.stem().to_ascii_lowercase().as_str()).is_ok()
}

/// Whether the chunk is prose, configuration or data. If the kind of the text is unknown, the chunk may be
/// code, and the result is false.
fn is_document(chunk: &ChunkRecord) -> bool {
    match chunk.kind {
        ChunkKind::Section | ChunkKind::Navigation | ChunkKind::Config => true,
        ChunkKind::Text => {
            let name = chunk.path.file_name();
            let is_capital = !name.contains(|letter: char| letter.is_lowercase());
            is_capital || name.rsplit_once('.').is_some_and(|(_, end)| TEXT_EXTENSIONS.contains(&end))
        }
        _ => false,
    }
}

/// Whether a directory contains examples, benchmarks, documents or copied code.
pub(crate) fn is_aside_directory(directory: &str) -> bool {
    directory.split('/').any(|part| ASIDE_DIRECTORIES.binary_search(&part).is_ok())
}

/// Whether the factor for directories with examples or copied code does not apply to the chunk. It does not
/// apply if the question asks for examples. It also does not apply to documents, which have a separate
/// factor, and to tests if the question asks for tests.
fn is_excused(chunk: &ChunkRecord, subjects: Subjects) -> bool {
    subjects.examples || is_document(chunk) || (chunk.is_test && subjects.tests)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_chunks::chunk;

    #[test]
    fn lists_are_sorted() {
        let lists: [&[&str]; 8] = [
            &GUIDES,
            &ASIDE_DIRECTORIES,
            &TEST_WORDS,
            &DOCUMENT_WORDS,
            &EXAMPLE_WORDS,
            &PATTERN_WORDS,
            &NAVIGATION_WORDS,
            &TEXT_EXTENSIONS,
        ];
        assert!(lists.iter().all(|list| list.is_sorted()));
    }

    #[test]
    fn questions_ask_for_kinds_of_chunks() {
        let subjects = |question: &str| {
            let Subjects { tests, documents, navigation, patterns, examples, .. } = Subjects::of(question);
            [("t", tests), ("d", documents), ("n", navigation), ("p", patterns), ("e", examples)]
                .into_iter()
                .filter_map(|(letter, is_set)| is_set.then_some(letter))
                .collect::<String>()
        };
        for (question, expect) in [
            ("where are sessions stored", ""),
            ("tests of the parser", "t"),
            ("how do I run the tests", "tdn"),
            ("how are unit tests and benchmarks run", "tdne"),
            ("how are unit tests and performance tests run", "tdn"),
            ("how to configure and build with CMake", "dn"),
            ("what do I need to compile the jar", "dn"),
            ("what is in config.json?", "d"),
            ("installing the command line tool", "d"),
            ("what is the entry point of the worker", "dn"),
            ("what does the billing module do", "n"),
            ("is there a convention for error messages", "np"),
            ("typical structure of a handler", "np"),
            ("example of a custom serializer", "e"),
            ("contest latest", ""),
        ] {
            assert_eq!(subjects(question), expect, "{question}");
        }
    }

    #[test]
    fn factors_depend_on_kind_and_directory() {
        let check = |chunk: &ChunkRecord, question: &str, expect: &[&str]| {
            let found = priors(chunk, Subjects::of(question), Signals::default());
            let found: Vec<&str> = found.iter().map(|prior| prior.name).collect();
            assert_eq!(found, expect, "{question} {:?} {}", chunk.kind, chunk.path);
        };
        let of_kind = |path: &str, kind| ChunkRecord { kind, ..chunk(path, 1, "x") };
        check(&of_kind("src/a.rs", ChunkKind::Function), "x", &[]);
        check(&of_kind("README.md", ChunkKind::Navigation), "x", &["document"]);
        check(&of_kind("README.md", ChunkKind::Navigation), "how to build it", &["guide"]);
        check(&of_kind("docs/adr/one.md", ChunkKind::Navigation), "how to build it", &["navigation"]);
        check(&of_kind("INSTALL", ChunkKind::Text), "how to compile the code", &["guide"]);
        check(&of_kind("Makefile", ChunkKind::Config), "how to build it", &[]);
        check(&of_kind("README.md", ChunkKind::Navigation), "readme", &[]);
        check(&of_kind("docs/patterns.md", ChunkKind::Navigation), "import pattern", &["navigation"]);
        check(&of_kind("docs/a.md", ChunkKind::Section), "x", &["document"]);
        check(&of_kind("a.toml", ChunkKind::Config), "what does a.toml set", &[]);
        check(&of_kind("lib/common-functions", ChunkKind::Text), "x", &[]);
        check(&of_kind("notes.txt", ChunkKind::Text), "x", &["document"]);
        check(&of_kind("COPYING", ChunkKind::Text), "x", &["document"]);
        let of_file = |path: &str| priors(&chunk(path, 1, "x"), Subjects::of_file_name("conf.py"), Signals::default());
        assert!(of_file("docs/conf.py").is_empty() && of_file("examples/conf.py").is_empty());
        check(&of_kind("x", ChunkKind::Pattern), "x", &["pattern"]);
        check(&of_kind("x", ChunkKind::Pattern), "pattern for x", &[]);
        check(&of_kind("examples/a.rs", ChunkKind::Function), "x", &["example_or_vendored"]);
        check(&of_kind("examples/a.rs", ChunkKind::Function), "an example of x", &[]);
        let test = ChunkRecord { is_test: true, ..chunk("tests/fixtures/a.rs", 1, "x") };
        check(&test, "x", &["test", "example_or_vendored"]);
        check(&test, "tests of x", &[]);
        let sheet = of_kind("docs/tests/login.css", ChunkKind::Text);
        check(&ChunkRecord { is_test: true, ..sheet.clone() }, "x", &["document", "test"]);
        check(&ChunkRecord { is_test: true, ..sheet }, "stylesheet of the page", &[]);
        check(&of_kind("docs/a.md", ChunkKind::Section), "stylesheet of the page", &["document"]);
        check(&of_kind("examples/a.ipynb", ChunkKind::Function), "jupyter notebooks", &[]);
        check(&ChunkRecord { weight_percent: 50, ..chunk("a.rs", 1, "x") }, "x", &["generated"]);
        check(&ChunkRecord { weight_percent: 150, ..chunk("a.rs", 1, "x") }, "x", &[]);
    }
}
