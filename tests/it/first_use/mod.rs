//! Tests that the first question about a working tree indexes the tree, within limits.

mod agent;
#[cfg(feature = "failpoints")]
mod stopped;

use std::path::Path;
use std::process::{Command, Output};

use cairn_testkit::work_tree::{commit, git, repository, write};
use serde_json::Value;
use tempfile::TempDir;

use crate::harness::{CAIRN, Index};

/// A working tree that is not indexed. `src/dates.py` is tracked, and the other files are not.
pub(crate) fn tree() -> TempDir {
    let tree = repository();
    fill(tree.path());
    tree
}

fn fill(root: &Path) {
    let dates = "def scan_parts(text):\n    return text.split()\n\n\n\
                 def parse_http_date(text):\n    return scan_parts(text)\n";
    write(root, "src/dates.py", dates);
    commit(root, "start");
    write(root, "src/more.py", "def format_date(date):\n    return str(date)\n");
    write(root, "src/deep/README.md", "# Deep\n\nExplains how dates are parsed.\n");
}

/// A command in a directory of the tree, with the default limits of first use.
pub(crate) fn command(index: &Index, tree: &Path, arguments: &[&str]) -> Command {
    let mut command = index.command(arguments);
    command.env_remove("CAIRN_FIRST_USE_MAX_FILES").current_dir(tree.join("src/deep"));
    command
}

pub(crate) fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs a command that must succeed.
pub(crate) fn ok(mut command: Command) -> Output {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{command:?}: {}{}", errors(&output), String::from_utf8_lossy(&output.stdout));
    output
}

fn json(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(text.lines().last().unwrap_or_default()).expect("JSON")
}

pub(crate) fn names(index: &Index) -> Vec<String> {
    let repositories = index.json(&["repos"])["repositories"].clone();
    let names = repositories.as_array().expect("a list").iter().filter_map(|known| known["name"].as_str());
    names.map(str::to_owned).collect()
}

#[test]
fn every_question_about_code_indexes_the_tree_first() {
    let questions: [&[&str]; 6] = [
        &["search", "parse_http_date"],
        &["grep", "scan_parts"],
        &["show", "parse_http_date"],
        &["graph", "callers", "scan_parts"],
        &["modules"],
        &["patterns"],
    ];
    for question in questions {
        let (tree, index) = (tree(), Index::new());
        // The small tree has no pattern, and an empty answer has its own exit code. So the exit code is not
        // checked.
        let mut asked = command(&index, tree.path(), &[question, &["--json"]].concat());
        let shown = errors(&asked.output().expect("the program starts"));
        assert!(shown.contains("is not indexed yet; indexing its 3 files first"), "{question:?}: {shown}");
        assert!(shown.contains("indexed 3 files"), "{question:?}: {shown}");
        assert_eq!(names(&index).len(), 1, "{question:?}");
        // The second question changes nothing.
        let again = asked.output().expect("the program starts");
        assert_eq!(errors(&again), "", "{question:?}");
    }
}

#[test]
fn reports_and_questions_with_repo_do_not_start_indexing() {
    let (tree, index) = (tree(), Index::new());
    for arguments in [
        &["coverage"][..],
        &["secrets"],
        &["repos"],
        &["status"],
        &["search", "parse", "--repo", "other"],
        &["modules", "--repo", "other"],
    ] {
        let output = command(&index, tree.path(), arguments).output().expect("the program starts");
        assert!(!errors(&output).contains("indexing its"), "{arguments:?}");
        assert_eq!(names(&index), Vec::<String>::new(), "{arguments:?}");
    }
}

#[test]
fn second_tree_is_indexed_into_an_explicit_index_directory() {
    let (first, second, index) = (tree(), tree(), Index::new());
    write(second.path(), "src/only.py", "def only_in_the_second():\n    return 2\n");
    ok(command(&index, first.path(), &["search", "parse_http_date"]));
    let found = json(&ok(command(&index, second.path(), &["search", "only_in_the_second", "--json"])));
    assert_eq!(found["results"][0]["path"], "src/only.py", "{found}");
    assert_eq!(names(&index).len(), 2);
}

#[test]
fn trees_with_the_same_name_stay_apart() {
    let (above, index) = (tempfile::tempdir().expect("a directory"), Index::new());
    for folder in ["one/shop", "two/shop"] {
        let root = above.path().join(folder);
        std::fs::create_dir_all(&root).expect("created");
        git(&root, &["init", "-q", "-b", "main"]);
        fill(&root);
        ok(command(&index, &root, &["search", "parse_http_date"]));
    }
    assert_eq!(names(&index), ["shop", "shop~two"]);
    // Both trees are indexed already, so the questions do not index them again.
    for folder in ["one/shop", "two/shop"] {
        let output = ok(command(&index, &above.path().join(folder), &["search", "parse_http_date", "--json"]));
        assert_eq!(errors(&output), "", "{folder}");
    }
}

#[test]
fn nested_repository_is_a_tree_of_its_own() {
    let (outer, index) = (tree(), Index::new());
    index.ok(&["index", &outer.path().to_string_lossy(), "--name", "outer"]);
    let inner = outer.path().join("inner");
    std::fs::create_dir_all(&inner).expect("created");
    git(&inner, &["init", "-q", "-b", "main"]);
    fill(&inner);
    write(&inner, "src/inner.py", "def only_in_the_inner():\n    return 1\n");
    let found = json(&ok(command(&index, &inner, &["search", "only_in_the_inner", "--json"])));
    assert_eq!(found["results"][0]["path"], "src/inner.py", "{found}");
    assert_eq!(names(&index), ["inner", "outer"]);
}

#[test]
fn found_index_directory_is_at_the_root_of_the_tree() {
    let tree = tree();
    let mut command = Command::new(CAIRN);
    command.args(["search", "parse_http_date"]).current_dir(tree.path().join("src/deep"));
    command.env_remove("CAIRN_HOME").env_remove("CAIRN_CONFIG").env("HOME", tree.path());
    ok(command);
    assert!(tree.path().join(".cairn/cairn.db").exists());
    assert!(!tree.path().join("src/deep/.cairn").exists());
}

#[test]
fn tree_above_a_limit_is_not_indexed_and_a_command_is_suggested() {
    for (variable, limit) in [("CAIRN_FIRST_USE_MAX_FILES", "2"), ("CAIRN_FIRST_USE_MAX_BYTES", "50")] {
        let (tree, index) = (tree(), Index::new());
        let mut asked = command(&index, tree.path(), &["modules", "--json"]);
        let output = asked.env(variable, limit).output().expect("the program starts");
        let shown = errors(&output);
        assert!(shown.contains("is not indexed: it has at least"), "{variable}: {shown}");
        assert_eq!(names(&index), Vec::<String>::new(), "{variable}");
        // Untracked files are counted, and the suggested command works without changes.
        let line = shown.lines().find(|line| line.contains("try: ")).unwrap_or_else(|| panic!("no command: {shown}"));
        let suggested = line.split("try: ").nth(1).and_then(|rest| rest.split("  (").next()).expect("a command");
        let words: Vec<&str> = suggested.split(' ').skip(1).collect();
        index.ok(&words);
        assert_eq!(names(&index).len(), 1, "{variable}: {suggested}");
    }
}

#[test]
fn files_are_counted_without_a_terminal() {
    let (tree, index) = (tree(), Index::new());
    for number in 0..230 {
        write(tree.path(), &format!("gen/f{number}.py"), format!("x{number} = {number}\n"));
    }
    let shown = errors(&ok(command(&index, tree.path(), &["search", "parse_http_date"])));
    let counted: Vec<&str> = shown.lines().filter(|line| line.ends_with("files read")).collect();
    assert!(counted.len() == 2 && counted[0].ends_with(": 100 files read"), "{shown}");
    assert!(counted[1].ends_with(": 200 files read"), "{shown}");
    write(tree.path(), "gen/more.py", "y = 1\n");
    let again = index.run(&["index"]);
    assert!(again.status.success() && !errors(&again).contains("files read"), "{}", errors(&again));
}

#[test]
fn invalid_settings_of_the_tree_are_the_answer() {
    let (tree, index) = (tree(), Index::new());
    write(tree.path(), ".cairn.yaml", "inclde: ['*.py']\n");
    let output = command(&index, tree.path(), &["search", "parse_http_date"]).output().expect("the program starts");
    assert_eq!(output.status.code(), Some(4), "{}", errors(&output));
    assert!(errors(&output).contains("inclde"), "{}", errors(&output));
    write(tree.path(), ".cairn.yaml", "include: ['*.py']\n");
    ok(command(&index, tree.path(), &["search", "parse_http_date"]));
}
