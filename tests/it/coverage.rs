//! Checks that `cairn coverage` lists every path of a source.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use cairn_testkit::work_tree::{commit, git, repository, write};

use crate::harness::Index;

/// The paths that `cairn coverage` lists.
fn covered(index: &Index) -> BTreeSet<String> {
    let coverage = index.json(&["coverage", "r"]);
    let entries = coverage["entries"].as_array().expect("entries");
    entries.iter().map(|entry| entry["path"].as_str().expect("a path").to_owned()).collect()
}

/// Writes a tree with unusual entries: deep folders, symbolic links that form a cycle, and files that are not
/// text.
fn odd_tree(root: &Path) {
    write(root, "src/main.py", "def main():\n    return helper()\n\n\ndef helper():\n    return 1\n");
    let deep = (0..120).map(|level| format!("d{level}")).collect::<Vec<_>>().join("/");
    write(root, &format!("{deep}/leaf.rs"), "pub fn leaf() {}\n");
    symlink("..", root.join("src/up")).expect("a link");
    symlink("loop-b", root.join("loop-a")).expect("a link");
    symlink("loop-a", root.join("loop-b")).expect("a link");
    symlink("/etc/passwd", root.join("outside")).expect("a link");
    write(root, "image.png", b"\x89PNG\r\n\x1a\n\0\0\0");
    write(root, "zeros.txt", b"a\0b");
    write(root, "latin.py", b"# caf\xe9 cr\xe8me br\xfbl\xe9e, d\xe9j\xe0 vu\nx = 1\n");
    write(root, "utf16.txt", "\u{feff}hello\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    write(root, "broken.rs", "pub fn (((( {{{{ fn impl ]]\n");
    write(root, "giant.js", format!("var x = [{}];\n", "1,".repeat(300_000)));
    write(root, ".env", "KEY=1\n");
    write(root, "node_modules/x/index.js", "module.exports = 1;\n");
    write(root, "empty.go", "");
    let odd = std::ffi::OsStr::from_bytes(b"na\xefve.txt");
    std::fs::write(root.join(odd), "not UTF-8 in the name\n").expect("a file");
    write(root, "line\nbreak.txt", "a name on two lines\n");
}

#[test]
fn work_tree_coverage_equals_git_ls_files() {
    let other = repository();
    write(other.path(), "lib.c", "int f(void) { return 1; }\n");
    commit(other.path(), "library");
    let directory = repository();
    let root = directory.path();
    odd_tree(root);
    write(root, ".gitignore", "ignored/\n");
    write(root, "ignored/x.py", "x = 1\n");
    git(root, &["-c", "protocol.file.allow=always", "submodule", "-q", "add", &other.path().to_string_lossy(), "sub"]);
    git(root, &["add", "-f", "node_modules", ".env"]);
    commit(root, "everything");
    write(root, "untracked.py", "y = 2\n");
    let index = Index::new();
    let indexed = index.index(root);
    let listed =
        git(root, &["-c", "core.quotepath=off", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let mut expected: BTreeSet<String> = listed.split('\0').filter(|path| !path.is_empty()).map(escaped).collect();
    // The harness reads the output of git as text. So the only name that is not UTF-8 is compared in its
    // escaped form.
    expected.retain(|path| !path.contains('\u{fffd}'));
    expected.insert("na\\xEFve.txt".to_owned());
    assert_eq!(covered(&index), expected);
    let files = &indexed["result"]["files"];
    for outcome in
        ["skipped(symlink)", "skipped(submodule)", "skipped(binary)", "skipped(sensitive)", "skipped(excluded)"]
    {
        assert!(files[outcome].as_u64().is_some_and(|count| count > 0), "{outcome} in {files}");
    }
    assert!(indexed["result"]["commit"].as_str().is_some_and(|commit| commit.ends_with("-dirty")), "{indexed}");
    let why = index.json(&["coverage", "r", "--why", ".env"]);
    assert_eq!(why["outcome"], "skipped(sensitive)");
}

#[test]
fn excluding_rule_is_named_with_its_place() {
    let directory = tempfile::tempdir().expect("a folder");
    let root = directory.path();
    write(root, "lib/.cairnignore", "# made by a tool\n\ngen/\n");
    write(root, "lib/gen/a.py", "x = 1\n");
    write(root, "lib/old.py", "x = 1\n");
    write(root, "node_modules/x/index.js", "module.exports = 1;\n");
    write(root, "notes.py", "x = 1\n");
    write(root, "big.py", "x = 1\n".repeat(1_000));
    write(root, ".cairn.yaml", "include: ['*.py']\nexclude: ['old*']\nmax_file_size: 2000\n");
    write(root, "a.rs", "fn a() {}\n");
    let index = Index::new();
    index.index(root);
    let check = |path: &str, rule: &str| {
        let why = index.json(&["coverage", "r", "--why", path]);
        assert_eq!(why["explanation"], rule, "{why}");
        let text = index.ok(&["coverage", "r", "--why", path]);
        assert!(text.contains(rule), "{text}");
    };
    check("lib/gen/a.py", "line 3 of «lib/.cairnignore» is the pattern «gen/»");
    check("lib/old.py", "`exclude` contains the pattern «old*»");
    check("node_modules/x/index.js", "`node_modules` is excluded by default; `include_override` can include it again");
    check("a.rs", "`include` is set, and none of its patterns matches");
    check("big.py", "it is larger than `max_file_size`, which is 2000 bytes");
    check("notes.py", "it is in the index");
}

fn escaped(path: &str) -> String {
    path.replace('\\', "\\\\").replace('\n', "\\x0A")
}

#[test]
fn bare_repository_coverage_equals_git_ls_tree() {
    let directory = repository();
    odd_tree(directory.path());
    git(directory.path(), &["add", "-f", "."]);
    commit(directory.path(), "everything");
    let bare = tempfile::tempdir().expect("a folder");
    let target = bare.path().join("r.git");
    let cloned = Command::new("git").args(["clone", "-q", "--bare"]).arg(directory.path()).arg(&target).status();
    assert!(cloned.expect("git").success());
    let index = Index::new();
    index.index(&target);
    let listed = git(&target, &["ls-tree", "-r", "-z", "--name-only", "HEAD"]);
    let mut expected: BTreeSet<String> = listed.split('\0').filter(|path| !path.is_empty()).map(escaped).collect();
    expected.retain(|path| !path.contains('\u{fffd}'));
    expected.insert("na\\xEFve.txt".to_owned());
    assert_eq!(covered(&index), expected);
}

#[test]
fn plain_directory_coverage_equals_find() {
    let directory = tempfile::tempdir().expect("a folder");
    let root = directory.path();
    write(root, "a/b/c.py", "x = 1\n");
    write(root, "README.md", "# Title\n\nText.\n");
    write(root, "data.bin", b"\0\0\0");
    let index = Index::new();
    index.index(root);
    let expected: BTreeSet<String> = ["a/b/c.py", "README.md", "data.bin"].map(ToOwned::to_owned).into();
    assert_eq!(covered(&index), expected);
    let commit = index.json(&["repos"])["repositories"][0]["published"]["commit"].as_str().map(ToOwned::to_owned);
    assert!(commit.is_some_and(|commit| commit.starts_with("content-")));
}
