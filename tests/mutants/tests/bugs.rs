//! Checks that every bug still applies to the sources, that its test exists, and that the tool plants and
//! reverts bugs. Builds nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cairn_mutants::{Bug, Edit, Tree, Verdict};

/// The names of the bugs that must exist.
const DEMANDED: [&str; 16] = [
    "ack-before-write",
    "no-epoch-check",
    "counter-instead-of-set",
    "no-uniqueness-constraint",
    "confirms-without-mandatory",
    "prefetch-lost-after-reconnect",
    "view-filter-dropped",
    "scope-at-the-edge-only",
    "late-upsert-after-retire",
    "sweep-by-range",
    "unhide-before-sweep",
    "view-read-in-two-steps",
    "lease-lost-mid-run",
    "failed-file-not-retried",
    "scope-at-the-ends-of-a-path-only",
    "retire-overwrites-a-published-mark",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn bugs() -> Vec<Bug> {
    Bug::read_all(&root().join("tests/mutants/bugs")).expect("bugs")
}

#[test]
fn every_required_bug_exists() {
    let there: BTreeSet<String> = bugs().into_iter().map(|bug| bug.name).collect();
    let missing: Vec<&str> = DEMANDED.into_iter().filter(|name| !there.contains(*name)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

/// The page of figures must be written again when a bug or its test changes.
#[test]
fn page_of_figures_lists_every_bug() {
    let page = fs::read_to_string(root().join("docs/figures/mutants.md")).expect("the page");
    let listed: Vec<&str> = page.lines().filter(|line| line.starts_with("| ") && line.contains("`cairn")).collect();
    let bugs = bugs();
    assert_eq!(listed.len(), bugs.len(), "{listed:#?}");
    for (Bug { name, caught_by, says, .. }, row) in bugs.iter().zip(listed) {
        let parts = [format!("| {name} |"), format!("`{}`", caught_by.case), says.clone()];
        assert!(parts.iter().all(|part| row.contains(part.as_str())), "{name}: {row}");
    }
}

#[test]
fn every_edit_applies() {
    for bug in bugs() {
        let mut texts = std::collections::BTreeMap::new();
        for edit in &bug.edits {
            let text = texts.entry(&edit.file).or_insert_with(|| {
                fs::read_to_string(root().join(&edit.file)).unwrap_or_else(|error| panic!("{}: {error}", edit.file))
            });
            let planted = edit.apply(text).unwrap_or_else(|error| panic!("{}: {error:#}", bug.name));
            assert_ne!(planted, *text, "{} changes nothing", bug.name);
            *text = planted;
        }
    }
}

fn holds(folder: &Path, text: &str) -> bool {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).any(|path| {
        if path.is_dir() {
            holds(&path, text)
        } else {
            fs::read_to_string(&path).is_ok_and(|found| found.contains(text))
        }
    })
}

#[test]
fn every_test_exists() {
    let tree = Tree::at(root());
    for Bug { name, caught_by: test, .. } in bugs() {
        let folder = tree.folder_of(&test.package).expect("a crate");
        let source = test.sources().into_iter().map(|source| folder.join(source)).find(|source| source.is_file());
        let source = source.unwrap_or_else(|| panic!("{name}: no `{}`", test.binary));
        let tests = source.parent().expect("a folder");
        let function = format!("fn {}(", test.case.rsplit("::").next().unwrap_or(&test.case));
        assert!(holds(tests, &function), "{name}: {} has no `{function}`", tests.display());
    }
}

#[test]
fn text_must_occur_once() {
    let check = |find: &str, expect: Result<&str, &str>| {
        let edit = Edit { file: "f.rs".to_owned(), find: find.to_owned(), replace: "x".to_owned() };
        match (edit.apply("a b b"), expect) {
            (Ok(planted), Ok(expect)) => assert_eq!(planted, expect),
            (Err(error), Err(expect)) => assert!(error.to_string().contains(expect), "{error}"),
            (found, _) => panic!("{found:?} for {find}"),
        }
    };
    check("a", Ok("x b b"));
    check("b", Err("f.rs contains this text 2 times"));
    check("c", Err("f.rs no longer contains this text:\nc"));
}

/// Creates a git tree with two tracked files, and files that must not be copied.
fn source() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (file, text) in [("a.rs", "one two"), ("src/b.rs", "three"), ("target/c", ""), (".gitignore", "/target\n")] {
        let file = folder.path().join(file);
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(file, text).expect("written");
    }
    let made = std::process::Command::new("git").args(["init", "-q"]).arg(folder.path()).status().expect("git");
    assert!(made.success());
    folder
}

#[test]
fn bug_is_planted_in_the_copy_and_reverted() {
    let (source, folder) = (source(), tempfile::tempdir().expect("a folder"));
    let root = folder.path().join("tree");
    let tree = Tree::copy(source.path(), root.clone()).expect("copied");
    assert!(root.join("src/b.rs").exists() && !root.join("target").exists());
    let edit =
        |find: &str, replace: &str| Edit { file: "a.rs".into(), find: find.to_owned(), replace: replace.to_owned() };
    let mut bug = Bug { edits: vec![edit("one", "1"), edit("1 two", "3")], ..bugs().remove(0) };
    let read = || Ok(fs::read_to_string(root.join("a.rs"))?);
    assert_eq!(tree.with(&bug, read).expect("planted"), "3");
    assert_eq!(read().expect("there"), "one two");
    bug.edits.push(edit("four", "4"));
    assert!(tree.with(&bug, read).is_err());
    assert_eq!(read().expect("there"), "one two");
    assert_eq!(fs::read_to_string(source.path().join("a.rs")).expect("there"), "one two");
    fs::remove_file(source.path().join("src/b.rs")).expect("removed");
    Tree::copy(source.path(), root.clone()).expect("copied");
    assert!(root.join("a.rs").exists() && !root.join("src/b.rs").exists());
}

#[test]
fn only_the_expected_failure_catches_a_bug() {
    let bug = Bug { says: "two nodes".to_owned(), ..bugs().remove(0) };
    let check = |answer: fn(String) -> Verdict, output: &str, expect: Option<&str>| {
        let missed = answer(output.to_owned()).missed(&bug);
        assert_eq!(missed.as_deref().and_then(|why| why.lines().next()), expect, "{output}");
    };
    check(Verdict::Red, "there are two nodes", None);
    check(Verdict::Red, "no server", Some("fails, but without the text `two nodes`; the end of its output:"));
    check(Verdict::DoesNotCompile, "two nodes", Some("does not compile:"));
    check(Verdict::NotRun, "two nodes", Some("the test was not run:"));
    check(Verdict::Hangs, "two nodes", Some("no result within 600s:"));
    check(|_| Verdict::Green, "", Some("survives: the test passes"));
}
