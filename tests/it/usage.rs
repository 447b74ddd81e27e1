//! Tests of the command line: exit codes, JSON answers, help, and errors.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use cairn_testkit::work_tree::{commit, git, repository, write};

use crate::harness::{CAIRN, Index};

/// An index with one small repository `r`.
fn indexed() -> (Index, tempfile::TempDir) {
    let directory = repository();
    let root = directory.path();
    write(
        root,
        "src/store.py",
        "class Store:\n    def put(self, key):\n        return save(key)\n\n\ndef save(key):\n    return key\n",
    );
    write(root, "README.md", "# Service\n\nKeeps things.\n");
    commit(root, "first");
    let index = Index::new();
    index.index(root);
    (index, directory)
}

#[test]
fn exit_codes_equal_those_in_the_help() {
    let (index, directory) = indexed();
    let root = directory.path().to_string_lossy().into_owned();
    let check = |arguments: &[&str], code: i32, expect: &str| {
        let output = index.run(arguments);
        let reported = [String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)].concat();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {reported}");
        assert!(reported.contains(expect), "{arguments:?} does not print `{expect}`: {reported}");
    };
    check(&["search", "save"], 0, "src/store.py");
    check(&["index", &root, "--name", "r"], 0, "unchanged");
    check(&["index", "r"], 0, "unchanged");
    check(&["index"], 0, "unchanged");
    check(&["index", "/no/such/place"], 2, "/no/such/place");
    check(&["invalidate", "/no/such/file"], 1, "/no/such/file");
    for (arguments, expect) in [
        (&["frobnicate"][..], "Usage"),
        (&["serch", "x"], "search"),
        (&["search"], "QUERY"),
        (&["search", ""], "empty"),
        (&["search", "x", "--limit", "0"], "between 1 and 100"),
        (&["search", "x", "--limit", "many"], "--limit"),
        (&["search", "x", "--kind", "klass"], "class"),
        (&["search", "x", "--since", "yesterday"], "2026-01-31"),
        (&["search", "x", "--path", "["], "["),
        (&["search", "x", "--tests", "maybe"], "exclude"),
        (&["search", "x", "--cursor", "nonsense"], "cursor"),
        (&["grep", ""], "empty"),
        (&["grep", "a(b"], "unclosed group"),
        (&["grep", "a\\nb"], "line feed"),
        (&["grep", "x", "-n", "0"], "between 1 and 1000"),
        (&["grep", "x", "-C", "21"], "at most 20"),
        (&["grep", "x", "--path", "["], "["),
        (&["show", "r", "src/store.py:9-3"], "FIRST-LAST"),
        (&["graph", "sample", "--class", "sure"], "heuristic"),
        (&["index", "--include", "*.py"], "TARGET"),
    ] {
        check(arguments, 2, expect);
    }
    check(&["search", "zyzzyva", "--language", "cobol"], 3, "nothing found");
    check(&["grep", "def save"], 0, "6:def save(key):");
    check(&["grep", "zyzzyva"], 3, "no line matches");
    check(&["search", "x", "--repo", "q"], 3, "no repository is called `q`");
    check(&["show", "r", "src/stor.py"], 3, "src/store.py");
    check(&["graph", "callers", "sav"], 0, "save");
    check(&["graph", "callers", "zyzzyva"], 3, "zyzzyva");
    check(&["remove", "q"], 3, "no repository is called `q`");
    check(&["coverage", "r", "--why", "store.py"], 3, "src/store.py");
    write(directory.path(), ".cairn.yaml", "exclud: [x]\n");
    check(&["index", &root, "--name", "r"], 4, "exclude");
    std::fs::remove_file(directory.path().join(".cairn.yaml")).expect("removed");
    check(&["index", &root, "--name", "r", "--include", "["], 2, "[");
    // The index still contains the published generation, although the later index calls failed.
    check(&["search", "save"], 0, "src/store.py");
}

#[test]
fn cluster_commands_name_missing_settings() {
    let index = Index::new();
    let nobody = "0".repeat(32);
    let check = |arguments: &[&str], code: i32, expect: &str| {
        let output = index.command(arguments).env_remove("CAIRN_CLUSTER_CONFIG").output().expect("the program starts");
        let reported = [String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)].concat();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {reported}");
        assert!(reported.contains(expect), "{arguments:?} does not print `{expect}`: {reported}");
    };
    check(&["topology", "check"], 2, "--cluster FILE");
    check(&["keys", "list"], 2, "--cluster FILE");
    check(&["enqueue", "https://example.org/a/b"], 2, "`cairn index` indexes at once");
    check(&["enqueue"], 2, "URL");
    check(&["repos", "--tenant", "acme"], 2, "`--tenant` is for a cluster");
    check(&["topology", "check", "--server", "http://127.0.0.1:1", "--api-key-file", "/dev/null"], 2, "--cluster FILE");
    // In local mode, dead letters exist only until the process ends; `cairn runs` and `cairn coverage` report
    // failures.
    check(&["dead-letters", "list"], 0, "no dead letters exist");
    check(&["dead-letters", "show", &nobody], 3, "does not exist");
    check(&["dead-letters", "replay", &nobody], 3, "does not exist");
    check(&["dead-letters", "drop", "--all"], 0, "");
    check(&["dead-letters", "drop"], 2, "ID");
}

#[test]
fn refused_command_creates_no_index() {
    let here = tempfile::tempdir().expect("a temporary directory");
    for arguments in [&["keys", "list"][..], &["topology", "check"], &["enqueue", "https://example.org/a/b"]] {
        let mut command = std::process::Command::new(CAIRN);
        for variable in ["CAIRN_HOME", "CAIRN_CLUSTER_CONFIG", "CAIRN_SERVER"] {
            command.env_remove(variable);
        }
        let output = command.args(arguments).current_dir(here.path()).output().expect("the program starts");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert_eq!(std::fs::read_dir(here.path()).expect("a directory").count(), 0, "{arguments:?}");
    }
}

#[test]
fn flag_overrides_server_and_cluster_variables() {
    let index = Index::new();
    let check = |arguments: &[&str], expect: &str| {
        let mut command = index.command(arguments);
        command.env("CAIRN_SERVER", "http://127.0.0.1:1").env("CAIRN_API_KEY", "cairn_x");
        let output = command.env("CAIRN_CLUSTER_CONFIG", "/no/such/cluster.toml").output().expect("the program starts");
        let reported = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && reported.contains(expect),
            "{arguments:?} does not print `{expect}`: {reported}"
        );
    };
    check(&["search", "x"], "asking http://127.0.0.1:1");
    check(&["keys", "list"], "/no/such/cluster.toml");
    check(&["search", "x", "--server", "http://127.0.0.2:1"], "asking http://127.0.0.2:1");
    check(&["--server", "http://127.0.0.2:1", "search", "x"], "asking http://127.0.0.2:1");
    check(&["search", "x", "--cluster", "/other.toml"], "/other.toml");
    check(
        &["search", "x", "--cluster", "/other.toml", "--server", "http://127.0.0.2:1"],
        "use only one of these options",
    );
}

/// A word of a shell command line, without its quotes.
fn unquoted(word: &str) -> &str {
    word.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')).unwrap_or(word)
}

#[test]
fn printed_next_page_command_works() {
    let (index, _directory) = indexed();
    let output = index.run(&["search", "keeps", "--limit", "1"]);
    let reported = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(reported.contains("more results; the next page:"), "{reported}");
    let command = reported.lines().map(str::trim).find(|line| line.contains("--cursor")).expect("a command line");
    let words: Vec<&str> = command.split(' ').skip(1).map(unquoted).collect();
    let next = index.run(&words);
    assert!(next.status.success() && String::from_utf8_lossy(&next.stdout).starts_with("2. "), "{next:?}");
    let all = index.run(&["search", "keeps", "--limit", "50"]);
    assert!(!String::from_utf8_lossy(&all.stderr).contains("cursor"), "{all:?}");
}

#[test]
fn exact_names_and_paths_come_first() {
    let (index, directory) = indexed();
    let root = directory.path();
    let twins = "def display_error(text):\n    \"\"\"Display error: shows the display of an error.\"\"\"\n    return text\n\n\n\
                 def _display_error(text):\n    return 1\n";
    write(root, "src/display_error.py", twins);
    write(
        root,
        "src/display.py",
        "from src.display_error import display_error\n\n\ndef shown():\n    return display_error(1)\n",
    );
    write(
        root,
        "src/other/store.py",
        "class Store:\n    def put(self):\n        return 1\n\n\ndef put_all():\n    return 2\n",
    );
    write(root, "src/lone.py", "def displayError(text):\n    return 3\n");
    commit(root, "twins");
    index.index(root);
    let first = |query: &str| -> Value { index.json(&["search", query, "--explain"])["results"][0].clone() };
    let shows = |query: &str, path: &str, line: u64| {
        let found = first(query);
        let (start, end) = (found["start_line"].as_u64().expect("a line"), found["end_line"].as_u64().expect("a line"));
        assert!(found["path"] == path && start <= line && line <= end, "{query}: {found}");
        found
    };
    shows("displayError", "src/lone.py", 1);
    shows("display_error", "src/display_error.py", 1);
    let found = shows("_display_error", "src/display_error.py", 6);
    let definition = &found["explain"]["definition"];
    assert_eq!((definition["start_line"].as_u64(), definition["end_line"].as_u64()), (Some(6), Some(7)), "{found}");
    assert_eq!(definition["symbol"], "_display_error", "{found}");
    shows("put_all", "src/other/store.py", 6);
    shows("Store.put", "src/store.py", 2);
    shows("other::store::put_all", "src/other/store.py", 6);
    shows("other/store.py", "src/other/store.py", 1);
    shows("src/store.py", "src/store.py", 1);
    shows("store.py", "src/store.py", 1);
    shows("README.md", "README.md", 1);
}

#[test]
fn missing_list_entry_does_not_stop_the_others() {
    let (_, directory) = indexed();
    let root = directory.path().to_string_lossy().into_owned();
    let bad_url = "https://bob:123/45@host.example/x";
    let list = format!(
        "repositories:\n  - path: /no/such/place\n    name: bad\n  - path: {root}\n    name: good\n  - url: {bad_url}\n"
    );
    let list = write(directory.path(), "list.yaml", list).to_string_lossy().into_owned();
    let index = Index::new();
    let output = index.run(&["index", &list]);
    let reported = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    assert!(reported.contains(&format!("{list}:2: bad")) && reported.contains("/no/such/place"), "{reported}");
    assert!(
        reported.contains(&format!("{list}:6")) && reported.contains("credential") && !reported.contains("45"),
        "{reported}"
    );
    assert!(index.ok(&["search", "save", "--repo", "good"]).contains("src/store.py"));
    assert_eq!(index.run(&["index", &list, "--json"]).status.code(), Some(5));
}

#[test]
fn every_command_answers_in_json() {
    let (index, directory) = indexed();
    let file = directory.path().join("src/store.py").to_string_lossy().into_owned();
    let commands: [&[&str]; 18] = [
        &["search", "save"],
        &["show", "r", "src/store.py:1-2"],
        &["graph", "callers", "save"],
        &["graph", "callees", "Store.put"],
        &["graph", "deps", "src/store.py"],
        &["graph", "dependents", "src/store.py"],
        &["graph", "inherits", "Store"],
        &["patterns"],
        &["repos"],
        &["status"],
        &["stats"],
        &["runs"],
        &["runs", "cancel"],
        &["coverage", "r"],
        &["secrets", "r"],
        &["fingerprint"],
        &["doctor"],
        &["invalidate", &file],
    ];
    for command in commands {
        let output = index.run(&[command, &["--json"]].concat());
        let text = String::from_utf8_lossy(&output.stdout);
        let answer: Result<Value, _> = serde_json::from_str(text.trim());
        assert!(answer.is_ok_and(|answer| answer.is_object()), "{command:?}: {text}");
        assert!(matches!(output.status.code(), Some(0 | 3)), "{command:?}: {output:?}");
    }
    // Errors are also printed as JSON.
    for (command, code) in [
        (&["show", "q", "x"][..], "not_found"),
        (&["search", "x", "--limit", "0"], "validation_error"),
        (&["index", "/no/such/place"], "validation_error"),
    ] {
        let output = index.run(&[command, &["--json"]].concat());
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(answer["error"]["code"], code, "{command:?}: {answer}");
        assert!(answer["error"]["message"].as_str().is_some_and(|message| !message.is_empty()), "{answer}");
    }
    assert_eq!(index.json(&["remove", "r"]), serde_json::json!({ "removed": "r" }));
    assert_eq!(index.json(&["repos"])["repositories"], serde_json::json!([]));
}

/// The data of a removed repository is deleted even if it was indexed recently. A clone exists as long as a
/// repository uses it.
#[test]
fn removed_repository_leaves_no_data() {
    let (_, directory) = indexed();
    let index = Index::new();
    // The data of these files is large enough to fill separate pages of the databases.
    for file in 0..20 {
        let lines = (0..200).map(|line| format!("def rhinoceros_{file}_{line}():\n    return {line}\n\n"));
        write(directory.path(), &format!("src/many_{file}.py"), lines.collect::<String>());
    }
    commit(directory.path(), "second");
    let url = format!("file://{}", directory.path().display());
    let of_clones = || fs::read_dir(index.path().join("clones")).map_or(0, Iterator::count);
    for name in ["one", "other"] {
        let output = index.command(&["index", &url, "--name", name]).env("CAIRN_ALLOW_FILE", "true").output();
        assert!(output.is_ok_and(|output| output.status.success()));
    }
    let files = |folder: &str| {
        let mut folders = vec![index.path().join(folder)];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
                if path.is_dir() { folders.push(path) } else { files.push(path) }
            }
        }
        files
    };
    // The artifacts of each repository. An artifact key consists of a folder, the repository and a hash.
    let artifacts = || {
        let mut of_repositories: BTreeMap<PathBuf, BTreeSet<PathBuf>> = BTreeMap::new();
        for file in files("artifacts") {
            let repository = file.parent().and_then(Path::file_name).expect("a key has a repository").into();
            of_repositories.entry(repository).or_default().insert(file);
        }
        of_repositories
    };
    let before = artifacts();
    // The sweep of the second run may have removed those artifacts of the first run to which no manifest
    // refers.
    assert!(before.len() == 2 && before.values().all(|of| of.len() > 5) && of_clones() == 3, "{before:?}");
    index.ok(&["remove", "one"]);
    let after = artifacts();
    assert!(after.len() == 1 && of_clones() == 3, "{after:?}");
    assert!(after.iter().all(|(repository, of)| before[repository] == *of), "{after:?}");
    index.ok(&["remove", "other"]);
    for folder in ["artifacts", "clones", "history", "segments", "stats"] {
        assert_eq!(files(folder), Vec::<PathBuf>::new(), "{folder}");
    }
    for database in ["cairn.db", "vectors.db"] {
        let bytes = fs::read(index.path().join(database)).expect("a database");
        assert!(!bytes.windows(10).any(|bytes| bytes == b"rhinoceros"), "{database}");
    }
}

/// `--revision` indexes the files of a tag or commit. The index of the working tree is kept.
#[test]
fn tags_and_commits_are_indexed() {
    let directory = repository();
    let (root, path) = (directory.path(), directory.path().to_string_lossy().into_owned());
    write(root, "src/old.py", "def old_engine():\n    return 1\n");
    commit(root, "first");
    git(root, &["tag", "-a", "v1.0", "-m", "the first release"]);
    let first = git(root, &["rev-parse", "HEAD"]);
    fs::rename(root.join("src/old.py"), root.join("src/new.py")).expect("renamed");
    write(root, "src/new.py", "def new_engine():\n    return 2\n");
    commit(root, "second");
    write(root, "src/unfinished.py", "def unfinished_engine():\n    return 3\n");

    let index = Index::new();
    index.index(root);
    for (revision, name) in [("v1.0", "by-tag"), (first.as_str(), "by-commit"), ("main", "by-branch")] {
        index.ok(&["index", &path, "--revision", revision, "--name", name]);
    }
    index.ok(&["index", &path, "--revision", "v1.0"]);
    let files = |name: &str| {
        let entries = index.json(&["coverage", name])["entries"].clone();
        let mut files: Vec<String> = entries
            .as_array()
            .expect("entries")
            .iter()
            .map(|entry| entry["path"].as_str().expect("a path").to_owned())
            .collect();
        files.sort_unstable();
        files
    };
    let of_folder = format!("{}@v1.0", root.file_name().expect("a name").to_string_lossy());
    for (name, expected) in [
        ("r", &["src/new.py", "src/unfinished.py"][..]),
        ("by-branch", &["src/new.py"]),
        ("by-tag", &["src/old.py"]),
        ("by-commit", &["src/old.py"]),
        (&of_folder, &["src/old.py"]),
    ] {
        assert_eq!(files(name), expected, "{name}");
    }
    let found = index.json(&["search", "old_engine", "--repo", "by-commit"]);
    assert_eq!(found["results"][0]["path"], "src/old.py");
    assert_eq!(found["sources"][0]["commit"], first.as_str(), "{found}");

    index.ok(&["index", &path, "--revision", &first[..10], "--name", "by-abbreviation"]);
    let found = index.json(&["search", "old_engine", "--repo", "by-abbreviation"]);
    assert_eq!(found["sources"][0]["commit"], first.as_str(), "{found}");
    index.ok(&["index", &path, "--revision", "HEAD", "--name", "by-head"]);
    assert_eq!(files("by-head"), ["src/new.py"]);
    for revision in ["v2.0", "0123456789", "abc"] {
        let output = index.run(&["index", &path, "--revision", revision, "--name", "other"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(&format!("no branch, tag or commit `{revision}`")), "{errors}");
        assert_eq!(output.status.code(), Some(2), "{errors}");
    }
    assert!(!index.ok(&["repos"]).contains("other"), "an unknown revision registered a repository");
    let plain = tempfile::tempdir().expect("a folder");
    let output = index.run(&["index", &plain.path().to_string_lossy(), "--revision", "v1.0"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--revision needs a git repository"));
}

#[test]
fn every_command_has_help_with_examples() {
    let index = Index::new();
    let help = index.ok(&["--help"]);
    assert!(help.contains("Exit codes") && help.contains("130 cancelled"), "{help}");
    let listed = help.split("Commands:").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("commands");
    let names: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() > 17, "{names:?}");
    for name in names {
        let help = index.ok(&[name, "--help"]);
        assert!(help.contains("Example"), "{name}: {help}");
        assert!(help.contains(&format!("cairn {name}")), "{name}: {help}");
    }
}

#[test]
fn completions_are_printed_for_every_shell() {
    let index = Index::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = index.ok(&["completions", shell]);
        assert!(script.contains("cairn") && script.contains("fingerprint"), "{shell}");
    }
    assert_eq!(index.run(&["completions", "tcsh"]).status.code(), Some(2));
}

#[test]
fn colours_and_progress_bars_need_a_terminal() {
    let (index, directory) = indexed();
    write(directory.path(), "src/more.py", "def more():\n    return 1\n");
    let root = directory.path().to_string_lossy().into_owned();
    for arguments in [&["index", &root, "--name", "r"][..], &["search", "save"], &["search", "save", "--repo", "q"]] {
        let output = index.run(arguments);
        for text in [output.stdout, output.stderr] {
            assert!(!text.contains(&0x1b), "{arguments:?}: {}", String::from_utf8_lossy(&text));
        }
    }
}

#[test]
fn list_and_file_url_are_indexed() {
    let (_, directory) = indexed();
    let root = directory.path().to_string_lossy().into_owned();
    let index = Index::new();
    let url = format!("file://{root}");
    let refused = index.run(&["index", &url]);
    let reported = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && reported.contains("allow_file"), "no word of the setting: {reported}");
    let mut command = index.command(&["index", &url, "--name", "by-url", "--branch", "main"]);
    let output = command.env("CAIRN_ALLOW_FILE", "true").output().expect("starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let list = format!(
        "repositories:\n  - path: {root}\n    name: one\n  - path: {root}\n    name: two\n    include: ['*.md']\n"
    );
    let list = write(directory.path(), "list.yaml", list);
    index.ok(&["index", &list.to_string_lossy()]);
    let repositories = index.json(&["repos"])["repositories"].clone();
    let names: Vec<&str> =
        repositories.as_array().expect("a list").iter().filter_map(|known| known["name"].as_str()).collect();
    assert_eq!(names, ["by-url", "one", "two"]);
    let found = index.json(&["search", "save", "--repo", "by-url"]);
    assert_eq!(found["results"][0]["path"], "src/store.py");
}
