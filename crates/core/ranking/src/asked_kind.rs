//! Recognises questions that ask for a file by its kind, such as "docker file of the worker".
//!
//! A word such as "stylesheet" also occurs in questions about code: "where is the stylesheet parsed". So a
//! question asks for a file only if it is a noun phrase that ends with the kind, possibly followed by a
//! phrase such as "of the login page" or "that starts the server". In cases of doubt, it asks for code.

use crate::file_kinds::FileKind;

/// Maximum number of words of the noun phrase.
const MAX_WORDS: usize = 5;

/// Words that may follow the noun phrase. Sorted.
const FOLLOWERS: [&str; 11] = ["for", "in", "of", "that", "to", "under", "used", "where", "which", "whose", "with"];
/// Words before a noun phrase that do not change its meaning. Sorted.
const DETERMINERS: [&str; 8] = ["a", "all", "an", "any", "every", "my", "our", "the"];
/// Verbs at the start of a request. A determiner must follow. Sorted.
const REQUESTS: [&str; 5] = ["find", "list", "locate", "open", "show"];
/// Auxiliary verbs. Sorted.
const AUXILIARIES: [&str; 20] = [
    "are", "be", "been", "can", "could", "did", "do", "does", "gets", "had", "has", "have", "is", "may", "must",
    "should", "was", "were", "will", "would",
];
/// Words that do not occur inside a noun phrase. Sorted.
const NOT_IN_PHRASES: [&str; 31] = [
    "after", "and", "as", "at", "because", "before", "between", "but", "by", "from", "how", "i", "if", "into", "it",
    "not", "on", "or", "than", "then", "they", "through", "until", "we", "what", "when", "while", "who", "why",
    "without", "you",
];
/// Words that start a clause with a verb of its own. Sorted.
const CLAUSES: [&str; 9] = ["because", "how", "if", "until", "what", "when", "where", "whether", "while"];
/// A verb may follow these words without making the question a sentence.
const RELATIVES: [&str; 4] = ["that", "which", "who", "whose"];
/// Verbs for what code does with files. All regular forms are compared. A phrase with such a verb is about
/// code. Sorted.
const VERBS: [&str; 58] = [
    "add",
    "append",
    "applied",
    "apply",
    "call",
    "check",
    "clean",
    "collect",
    "compile",
    "compute",
    "convert",
    "create",
    "decode",
    "delete",
    "detect",
    "discover",
    "download",
    "edit",
    "encode",
    "execute",
    "extract",
    "fail",
    "fetch",
    "generate",
    "get",
    "handle",
    "ignore",
    "inject",
    "inline",
    "load",
    "make",
    "merge",
    "migrate",
    "minify",
    "normalize",
    "parse",
    "pend",
    "process",
    "read",
    "reject",
    "remove",
    "render",
    "resolve",
    "rewrite",
    "run",
    "save",
    "send",
    "serialize",
    "set",
    "skip",
    "store",
    "transform",
    "upload",
    "use",
    "validate",
    "verify",
    "watch",
    "write",
];
/// Words that are verbs if they are the only word before the kind, as in "import notebooks", and nouns in
/// longer phrases, as in "search page stylesheet". Sorted.
const VERBS_OR_NOUNS: [&str; 12] =
    ["copy", "embed", "export", "format", "import", "index", "lint", "search", "start", "sync", "update", "view"];
/// Irregular participles that end a sentence such as "where is the stylesheet built". Sorted.
const PARTICIPLES: [&str; 12] =
    ["built", "found", "kept", "made", "put", "read", "run", "sent", "set", "shown", "taken", "written"];

/// Words after the name of the licence that show that the question means the licence of the code itself.
/// Sorted.
const OWN_CODE: [&str; 19] = [
    "app",
    "application",
    "code",
    "codebase",
    "crate",
    "here",
    "it",
    "library",
    "module",
    "package",
    "plugin",
    "program",
    "project",
    "repo",
    "repository",
    "software",
    "source",
    "this",
    "tool",
];
/// Words that begin a question for the changes of a version.
const NEWS: [&[&str]; 12] = [
    &["changes"],
    &["the", "changes"],
    &["show", "me", "the", "changes"],
    &["what", "changed"],
    &["what", "has", "changed"],
    &["what", "was", "changed"],
    &["what", "is", "new"],
    &["what", "s", "new"],
    &["whats", "new"],
    &["what", "are", "the", "changes"],
    &["which", "changes", "are"],
    &["list", "the", "changes"],
];
/// Words for a version.
const VERSIONS: [&str; 4] = ["release", "releases", "version", "versions"];
/// Words that begin a question for the licence.
const LICENSED: [&[&str]; 6] =
    [&["what", "is", "the"], &["what"], &["which"], &["under", "which"], &["under", "what"], &["what", "kind", "of"]];

/// Names of licences, and verbs about licences. Sorted.
const LICENSES: [&str; 9] = ["apache", "apply", "bsd", "distributed", "gpl", "mit", "released", "use", "uses"];

/// The kind of files that a question asks for. A question of one word asks for a name, so the result is
/// `None`, unless the word names a document.
pub(crate) fn asked_kind(question: &str) -> Option<FileKind> {
    let lower = question.to_lowercase();
    let written: Vec<&str> =
        lower.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    match written.as_slice() {
        [] => None,
        [word] => FileKind::at_end(&[word]).map(|(kind, _)| kind).filter(|kind| !kind.document_names().is_empty()),
        words if asks_for_news(words) => FileKind::at_end(&["changelog"]).map(|(kind, _)| kind),
        words if asks_for_license(words) => FileKind::at_end(&["license"]).map(|(kind, _)| kind),
        ["which" | "what", rest @ ..] => after_which(rest),
        ["where", "is" | "are", rest @ ..] if !rest.last().is_some_and(is_participle) => in_noun_phrase(rest),
        [verb, "me", rest @ ..] if is_in(&REQUESTS, verb) => in_noun_phrase(rest),
        [verb, rest @ ..] if is_in(&REQUESTS, verb) && rest.first().is_some_and(|word| is_in(&DETERMINERS, word)) => {
            in_noun_phrase(rest)
        }
        words => in_noun_phrase(words),
    }
}

/// The kind in a noun phrase, and not in a sentence.
fn in_noun_phrase(words: &[&str]) -> Option<FileKind> {
    let num_determiners = words.iter().take_while(|word| is_in(&DETERMINERS, word)).count();
    let words = &words[num_determiners..];
    let end = words.iter().position(|word| is_in(&FOLLOWERS, word)).unwrap_or(words.len());
    let (phrase, rest) = words.split_at(end);
    let phrase = if FileKind::at_end(phrase).is_some() { phrase } else { without_file(phrase)? };
    let (kind, length) = FileKind::at_end(phrase)?;
    let is_of_sentence = |word: &&str| {
        is_in(&NOT_IN_PHRASES, word) || is_in(&AUXILIARIES, word) || is_in(&DETERMINERS, word) || is_verb(word)
    };
    let before = &phrase[..phrase.len() - length];
    let is_request = phrase.len() <= MAX_WORDS
        && !before.iter().any(is_of_sentence)
        && !matches!(before, [word] if is_in(&VERBS_OR_NOUNS, word))
        && !has_main_verb(rest)
        && (!kind.is_license() && !phrase.ends_with(&["history"]) || is_about_own_code(before, rest));
    is_request.then_some(kind)
}

/// Whether a question asks what is new in a version: "what changed in the last release".
fn asks_for_news(words: &[&str]) -> bool {
    let Some(rest) = NEWS.iter().find_map(|start| words.strip_prefix(*start)) else { return false };
    let is_version = |word: &&str| VERSIONS.contains(word) || word.bytes().all(|byte| byte.is_ascii_digit());
    match rest {
        [] => words.contains(&"new"),
        ["in" | "with" | "since" | "between" | "from", rest @ ..] => {
            let is_numbered = |word: &&str| {
                word.strip_prefix('v').is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()))
            };
            rest.last().is_some_and(|last| is_version(last) || is_numbered(last))
        }
        _ => false,
    }
}

/// Whether a question asks for the licence of the code: "what license does this project use".
fn asks_for_license(words: &[&str]) -> bool {
    let is_own = |word: &&str| is_of_own_code(word) || is_in(&AUXILIARIES, word) || is_in(&LICENSES, word);
    match words.iter().position(|word| matches!(*word, "license" | "licence")) {
        Some(at) => LICENSED.contains(&&words[..at]) && words[at + 1..].iter().all(is_own),
        None => matches!(words, ["how" | "is", rest @ .., "licensed"] if rest.iter().all(is_own)),
    }
}

/// Whether the words beside "license" or "history" mean the licence or the history of the code itself, and
/// not of a thing that the code handles.
fn is_about_own_code(before: &[&str], after: &[&str]) -> bool {
    before.iter().chain(after).all(|word| is_of_own_code(word) || is_in(&LICENSES, word))
}

fn is_of_own_code(word: &&str) -> bool {
    is_in(&OWN_CODE, word) || is_in(&FOLLOWERS, word) || is_in(&DETERMINERS, word)
}

/// The kind in a question such as "which migration adds the index", without its first word.
fn after_which(words: &[&str]) -> Option<FileKind> {
    let (kind, length) = FileKind::at_start(words)?;
    let rest = match &words[length..] {
        ["file" | "files", rest @ ..] => rest,
        rest => rest,
    };
    // After the kind, a plural noun is rare, so a word with an `s` at the end is a verb in the third person.
    let is_verb = |word: &&str| word.ends_with('s') && !matches!(*word, "is" | "was" | "does" | "gets");
    let is_asked = rest.first().is_none_or(|next| is_verb(next) || is_in(&FOLLOWERS, next));
    (is_asked && !has_main_verb(rest)).then_some(kind)
}

/// Whether the words after a noun phrase contain the auxiliary verb of a sentence. An auxiliary verb directly
/// after a relative pronoun, or in a clause such as "whether the server is up", belongs to a clause.
fn has_main_verb(words: &[&str]) -> bool {
    let mut is_in_relative = false;
    for (index, word) in words.iter().enumerate() {
        // The first word only connects the noun phrase with these words: "makefile where ...".
        if index > 0 && is_in(&CLAUSES, word) {
            return false;
        }
        let is_auxiliary = is_in(&AUXILIARIES, word);
        if is_auxiliary && !is_in_relative && index > 0 {
            return true;
        }
        is_in_relative = RELATIVES.contains(word) || (is_auxiliary && is_in_relative);
    }
    false
}

fn without_file<'a, 'b>(phrase: &'a [&'b str]) -> Option<&'a [&'b str]> {
    phrase.split_last().filter(|(last, _)| matches!(**last, "file" | "files")).map(|(_, rest)| rest)
}

/// Whether a word is a regular form of a verb in [`VERBS`], such as "parsing" or "loads".
fn is_verb(word: &str) -> bool {
    let is_listed = |form: &str| is_in(&VERBS, &form);
    let of_stem = |stem: &str| {
        let last = stem.chars().next_back();
        let is_doubled = last.is_some_and(|last| stem.ends_with(&format!("{last}{last}")));
        is_listed(stem) || is_listed(&format!("{stem}e")) || (is_doubled && is_listed(&stem[..stem.len() - 1]))
    };
    is_listed(word) || ["s", "ed", "ing"].iter().filter_map(|end| word.strip_suffix(end)).any(of_stem)
}

fn is_participle(word: &&str) -> bool {
    word.ends_with("ed") || is_in(&PARTICIPLES, word)
}

fn is_in(list: &[&str], word: &&str) -> bool {
    list.binary_search(word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        let lists: [&[&str]; 10] = [
            &OWN_CODE,
            &LICENSES,
            &FOLLOWERS,
            &DETERMINERS,
            &REQUESTS,
            &AUXILIARIES,
            &NOT_IN_PHRASES,
            &CLAUSES,
            &VERBS,
            &VERBS_OR_NOUNS,
        ];
        assert!(lists.iter().all(|list| list.is_sorted()) && PARTICIPLES.is_sorted());
    }

    #[test]
    fn kinds_of_files_are_asked_for() {
        let check = |question: &str, is_of: &str| {
            let expect = FileKind::at_end(&is_of.split(' ').collect::<Vec<_>>()).map(|(kind, _)| kind);
            assert!(expect.is_some());
            assert_eq!(asked_kind(question), expect, "{question}");
        };
        check("composer manifest", "composer manifest");
        check("jupyter notebooks", "jupyter notebook");
        check("protobuf schema of the stored messages", "protobuf schema");
        check("npm manifest", "npm manifest");
        check("the cargo manifest of the cli crate", "cargo manifest");
        check("stylesheet of the login page", "stylesheet");
        check("login page stylesheet", "stylesheet");
        check("docker file of the worker", "docker file");
        check("Where is the Dockerfile for the worker?", "dockerfile");
        check("github workflow for releases", "github workflow");
        check("github actions workflow that publishes the images", "github actions workflow");
        check("sql migrations", "sql migration");
        check("which sql migration adds the users table", "sql migration");
        check("helm chart values", "helm chart value");
        check("helm values files for production", "helm value");
        check("terraform module for the network", "terraform module");
        check("makefile targets", "makefile target");
        check("show me the makefile targets for releases", "makefile target");
        check("find the docker-compose file of the examples", "compose file");
        check("shell script that bumps the version", "shell script");
        check("shell script to start the broker", "shell script");
        check("shell script that checks whether docker is installed", "shell script");
        check("install shell script", "shell script");
        check("notebook that is used to train the model", "notebook");
        check("integration test of the connection pool", "test");
        check("unit tests for the parser", "test");
        check("test that covers the retry of a request", "test");
        check("css of the login page", "css");
        check("package manifest files", "package manifest");
        check("our jupyter notebook files in the gallery", "jupyter notebook");
        check("connection pool tests", "test");
        check("search page stylesheet", "stylesheet");
    }

    #[test]
    fn documents_are_asked_for() {
        let check_document = |question: &str, name: &str| {
            let names = asked_kind(question).map(|kind| kind.document_names()).unwrap_or_default();
            assert!(names.contains(&name), "{question}");
        };
        for question in [
            "changelog",
            "show me the changelog",
            "the release notes of the cli",
            "release notes",
            "where is the changelog",
            "what changed in the last release",
            "what has changed since version 2",
            "what's new in v3",
            "what is new",
            "whats new in the latest version?",
            "which changes are in this release",
            "changes in the last release",
        ] {
            check_document(question, "changelog");
        }
        for question in [
            "license",
            "show me the license",
            "what license does this project use",
            "which licence is this code under",
            "what is the license of this repository",
            "where is the license file",
            "how is this project licensed",
            "the MIT license",
        ] {
            check_document(question, "license");
        }
        check_document("whatsnew notes", "whatsnew");
        check_document("readme", "readme");
        check_document("open the readme of the worker", "readme");
        check_document("read me", "readme");
    }

    #[test]
    fn questions_about_code_ask_for_no_kind() {
        for question in [
            "how are migrations run",
            "how are sql migrations run",
            "where is the schema validated",
            "where is the protobuf schema validated",
            "where are the sql migrations for the users table applied",
            "where is the stylesheet of the page built",
            "parse the manifest",
            "parse composer manifest",
            "parsing the composer manifest",
            "composer manifest parser",
            "manifest",
            "makefile",
            "makefile target parser",
            "stylesheet gets loaded twice",
            "stylesheets of the page are minified",
            "notebooks that fail are skipped",
            "convert jupyter notebooks to html",
            "import notebooks",
            "run sql migrations",
            "running sql migrations in a transaction",
            "skipped tests",
            "apply the database migrations in order",
            "sql migration runner",
            "how to write sql migrations for users",
            "which sql migrations are pending",
            "which dockerfile linter do we use",
            "what happens when the dockerfile is missing",
            "what uses the stylesheet",
            "why do the tests fail",
            "handlers without tests",
            "how do i run the integration tests",
            "protobuf schema registry client",
            "loader for jupyter notebooks",
            "get the docker file",
            "github workflow run status",
            "code under test",
            "what does the test check",
            "latest test results",
            "usage of the stylesheet",
            "schema migration from old versions",
            "contest latest",
            "what changed in the parser",
            "what changed in the HTTP/2 client",
            "changes in release workflow",
            "version history of a document",
            "changes in the parser",
            "changes",
            "what changed since yesterday",
            "changelog parser",
            "license of the user account",
            "license key validation",
            "where is the license checked",
            "what license does the user have",
            "how are users licensed",
            "write the changelog",
            "news",
            "history",
            "",
        ] {
            assert_eq!(asked_kind(question), None, "{question}");
        }
    }

    #[test]
    fn regular_forms_of_verbs_are_recognised() {
        for (word, expect) in [
            ("parse", true),
            ("parsing", true),
            ("parsed", true),
            ("skipped", true),
            ("running", true),
            ("loads", true),
            ("failing", true),
            ("billing", false),
            ("release", false),
            ("pages", false),
        ] {
            assert_eq!(is_verb(word), expect, "{word}");
        }
    }
}
