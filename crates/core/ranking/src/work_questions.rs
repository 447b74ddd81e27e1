//! Recognises questions about work with a repository: how to build, test, start or change it.

/// Words that together show that a question is about work with the repository. The two words are in this
/// order, and between them are only words of `BETWEEN`. Sorted.
const PAIRS: [(&str, &str); 31] = [
    ("build", "from"),
    ("build", "instructions"),
    ("build", "project"),
    ("build", "test"),
    ("build", "with"),
    ("building", "from"),
    ("checks", "run"),
    ("coding", "style"),
    ("compile", "code"),
    ("compile", "project"),
    ("configure", "build"),
    ("continuous", "integration"),
    ("entry", "point"),
    ("entry", "points"),
    ("getting", "started"),
    ("how", "contribute"),
    ("need", "compile"),
    ("pull", "request"),
    ("run", "checks"),
    ("run", "lint"),
    ("run", "linter"),
    ("run", "suite"),
    ("run", "test"),
    ("run", "tests"),
    ("running", "tests"),
    ("send", "patch"),
    ("sending", "patch"),
    ("submit", "patch"),
    ("test", "run"),
    ("tests", "run"),
    ("where", "start"),
];
/// Words that may be between the words of a pair. Sorted.
const BETWEEN: [&str; 30] = [
    "a",
    "all",
    "and",
    "are",
    "be",
    "benchmarks",
    "can",
    "code",
    "do",
    "does",
    "get",
    "i",
    "integration",
    "is",
    "it",
    "its",
    "local",
    "my",
    "of",
    "one",
    "only",
    "project",
    "should",
    "single",
    "source",
    "the",
    "this",
    "to",
    "unit",
    "we",
];
/// Words between `how` and the verb, in questions such as "how do I build it". Sorted.
const ASKING: [&str; 10] = ["can", "developers", "do", "i", "must", "one", "should", "to", "we", "you"];
/// Verbs of such questions, and the words that may end or follow them. Without such a word, the verb has
/// another object, as in "how to build a request". Sorted.
const VERBS: [&str; 6] = ["build", "compile", "install", "run", "start", "test"];
const OBJECTS: [&str; 22] = [
    "and",
    "changes",
    "code",
    "docs",
    "documentation",
    "everything",
    "from",
    "it",
    "library",
    "locally",
    "package",
    "program",
    "project",
    "repo",
    "repository",
    "server",
    "source",
    "sources",
    "tests",
    "things",
    "this",
    "with",
];
const ARTICLES: [&str; 7] = ["a", "all", "its", "my", "our", "the", "this"];

/// Whether the words of a question, in small letters, ask about work with the repository.
pub(crate) fn is_about_work(words: &[String]) -> bool {
    (0..words.len()).any(|at| begins_pair(&words[at..]) || begins_how_to(&words[at..]))
}

fn begins_pair(words: &[String]) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    let is_second = |word: &String| PAIRS.contains(&(first.as_str(), word.as_str()));
    let between = rest.iter().take_while(|word| !is_second(word)).collect::<Vec<_>>();
    between.len() < rest.len() && between.iter().all(|word| contains(&BETWEEN, word))
}

fn begins_how_to(words: &[String]) -> bool {
    let Some(("how", rest)) = words.split_first().map(|(first, rest)| (first.as_str(), rest)) else { return false };
    let num_asking = rest.iter().take_while(|word| contains(&ASKING, word)).count();
    let Some((verb, rest)) = rest[num_asking..].split_first() else { return false };
    let object = rest.iter().find(|word| !contains(&ARTICLES, word));
    num_asking > 0 && contains(&VERBS, verb) && object.is_none_or(|word| contains(&OBJECTS, word))
}

fn contains(list: &[&str], word: &str) -> bool {
    list.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        let lists: [&[&str]; 5] = [&BETWEEN, &ASKING, &VERBS, &OBJECTS, &ARTICLES];
        assert!(lists.iter().all(|list| list.is_sorted()) && PAIRS.is_sorted());
    }

    #[test]
    fn questions_about_work_are_recognised() {
        let check = |question: &str, expect: bool| {
            let words: Vec<String> = question.split(' ').map(str::to_owned).collect();
            assert_eq!(is_about_work(&words), expect, "{question}");
        };
        for question in [
            "how do i run the tests",
            "how are unit tests and benchmarks run",
            "how to configure and build with cmake",
            "how do i build it",
            "how to build this",
            "how can i test my changes",
            "how to install from source",
            "what is the entry point of the worker",
        ] {
            check(question, true);
        }
        for question in [
            "how does the client test equality",
            "how to build a request",
            "how do you compile a regular expression",
            "build a query with named parameters",
            "where are tests of a session that can run twice",
        ] {
            check(question, false);
        }
    }
}
