//! Tests small snapshots that expand to very large data, and settings files that cannot be used.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use cairn_testkit::delta_bomb;
use cairn_testkit::work_tree::{commit, git, repository, write};
use serde_json::Value;
use tempfile::TempDir;

use crate::harness::Index;
use crate::hostile::processes::{TICKS_PER_SECOND, peak_kib, ticks_with_children_of};

const MOST_MIB: f64 = 512.0;
/// The maximum processor time of a run and of its child processes. A test does not limit the elapsed time,
/// because other tests run at the same time.
const MOST_SECONDS: f64 = 30.0;

/// Code of about `num_bytes` bytes without repeated lines, so that it cannot be compressed to a small size.
fn code(num_bytes: usize) -> String {
    let mut text = String::new();
    let mut state = 7u64;
    while text.len() < num_bytes {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (name, value) = (state >> 40, state >> 20 & 0xffff);
        text.push_str(&format!("def f{name}(a):\n    return a + {value}\n\n"));
    }
    text
}

/// A bare repository with one file of about `num_bytes` bytes in one directory. The root tree lists this
/// directory under `num_directories` names.
fn repeated_tree(num_bytes: usize, num_directories: usize) -> (TempDir, PathBuf) {
    let names = vec!["a.py".to_owned()];
    Repeated { content: code(num_bytes), names, ..repeated_names(0, "", num_directories, 0) }.bare()
}

/// A tree in which the same content has many paths: the content has several names in one directory, and this
/// directory has several names.
struct Repeated {
    content: String,
    mode: &'static str,
    names: Vec<String>,
    num_directories: usize,
    /// The names of the directories above, beginning with the innermost one.
    above: Vec<String>,
    /// The number of names that the outermost of these directories has in the root.
    num_tops: usize,
}

impl Repeated {
    /// A bare repository that stores each tree object once.
    fn bare(&self) -> (TempDir, PathBuf) {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let bare = directory.path().join("bare.git");
        git(directory.path(), &["init", "--quiet", "--bare", "--initial-branch=main", "bare.git"]);
        let blob = object(&bare, &["hash-object", "-w", "--stdin"], self.content.as_bytes());
        let mktree = |entries: String| object(&bare, &["mktree"], entries.as_bytes());
        let mode = self.mode;
        let mut tree = mktree(self.names.iter().map(|name| format!("{mode} blob {blob}\t{name}\n")).collect());
        tree = mktree((0..self.num_directories).map(|number| format!("040000 tree {tree}\td{number:06}\n")).collect());
        for name in &self.above {
            tree = mktree(format!("040000 tree {tree}\t{name}\n"));
        }
        if self.num_tops > 0 {
            tree = mktree((0..self.num_tops).map(|number| format!("040000 tree {tree}\tt{number:06}\n")).collect());
        }
        let author = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        let commit = object(&bare, &[&author[..], &["commit-tree", &tree, "-m", "m"]].concat(), b"");
        git(&bare, &["update-ref", "refs/heads/main", &commit]);
        (directory, bare)
    }
}

/// `num_names` names in each of `num_directories` directories, below `num_above` directories with names of
/// 250 bytes.
fn repeated_names(num_names: usize, end: &str, num_directories: usize, num_above: usize) -> Repeated {
    let names = (0..num_names).map(|number| format!("f{number}{end}")).collect();
    let above = vec!["p".repeat(250); num_above];
    Repeated { content: "x = 1\n".to_owned(), mode: "100644", names, num_directories, above, num_tops: 0 }
}

/// Runs git with an input and returns the id that it prints.
fn object(repository: &Path, arguments: &[&str], input: &[u8]) -> String {
    let mut command = Command::new("git");
    command.current_dir(repository).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("git starts");
    child.stdin.take().expect("a pipe").write_all(input).expect("written");
    let output = child.wait_with_output().expect("git ends");
    assert!(output.status.success(), "git {arguments:?}");
    String::from_utf8(output.stdout).expect("an id").trim().to_owned()
}

/// Indexes a source that exceeds a ceiling, and checks that the error names the setting of the ceiling.
fn check_over_budget(index: &Index, source: &Path, setting: &str) {
    let (answer, code) = index_within_bounds(index, source, setting);
    assert!(answer.contains("over_budget") && answer.contains(setting), "{answer}");
    assert_eq!(code, Some(5), "{answer}");
    let runs = index.json(&["runs"]).to_string();
    assert!(runs.contains("failed") && runs.contains("over_budget"), "{runs}");
}

/// Indexes a source, checks the limits of time and memory, and returns the answer and the exit code.
fn index_within_bounds(index: &Index, source: &Path, what: &str) -> (String, Option<i32>) {
    let mut command = index.command(&["index", &source.to_string_lossy(), "--name", "r", "--json"]);
    let child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
    let id = child.id();
    let (running, ended) = mpsc::channel::<()>();
    let watcher = std::thread::spawn(move || {
        let (mut kib, mut ticks) = (0, 0);
        while ended.recv_timeout(Duration::from_millis(5)) == Err(RecvTimeoutError::Timeout) {
            kib = peak_kib(id).unwrap_or(kib);
            ticks = ticks_with_children_of(id).unwrap_or(ticks);
        }
        (kib as f64 / 1024.0, ticks as f64 / TICKS_PER_SECOND)
    });
    let output = child.wait_with_output().expect("the program ends");
    drop(running);
    let (peak_mib, seconds) = watcher.join().expect("no panic");
    println!("{what}: {peak_mib} MiB, {seconds} s");
    assert!(seconds < MOST_SECONDS && peak_mib < MOST_MIB, "{seconds} s, {peak_mib} MiB");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
}

#[test]
fn trees_that_repeat_one_file_are_over_budget() {
    for (num_bytes, num_directories, setting) in [
        (20_000, 2_000, "ceilings.max_repeated_records"),
        (28_000, 2_000, "ceilings.max_repeated_records"),
        (60_000, 2_000, "ceilings.max_repeated_records"),
        (120_000, 2_000, "ceilings.max_repeated_records"),
        (500_000, 2_000, "ceilings.max_repeated_bytes"),
        (500_000, 40_000, "ceilings.max_repeated_bytes"),
        (3_000, 40_000, "ceilings.max_repeated_records"),
    ] {
        let (_directory, bare) = repeated_tree(num_bytes, num_directories);
        check_over_budget(&Index::new(), &bare, setting);
    }
}

/// Paths are counted before their entries are built. The paths of files, of links and of excluded files are
/// all counted.
#[test]
fn many_paths_of_one_content_are_over_budget() {
    let links = Repeated { mode: "120000", ..repeated_names(24, "", 40_000, 0) };
    for repeated in [repeated_names(24, ".py", 40_000, 0), links, repeated_names(24, ".min.js", 40_000, 0)] {
        let (_directory, bare) = repeated.bare();
        check_over_budget(&Index::new(), &bare, "ceilings.max_repeated_paths");
        let index = Index::new();
        write(index.path(), "config.toml", "[sources]\nallow_file = true\n");
        let url = format!("file://{}", bare.display());
        check_over_budget(&index, Path::new(&url), "ceilings.max_repeated_paths");
    }
}

/// A small number of objects represents gigabytes of paths. The last tree has short paths, but a gigabyte of
/// directories.
#[test]
fn long_paths_are_over_budget() {
    let above = vec!["a".to_owned(); 990];
    let deep = Repeated { above, num_tops: 1_000, ..repeated_names(1, ".py", 1, 0) };
    for repeated in [repeated_names(24, ".py", 40_000, 15), repeated_names(24, ".py", 2_000, 15), deep] {
        let (_directory, bare) = repeated.bare();
        check_over_budget(&Index::new(), &bare, "ceilings.max_total_path_bytes");
    }
}

/// Every record contains its path, so a few thousand long paths make the records of small files large.
#[test]
fn records_at_long_paths_are_over_budget() {
    let repeated = Repeated { content: code(700), ..repeated_names(4_000, ".py", 1, 15) };
    let (_directory, bare) = repeated.bare();
    check_over_budget(&Index::new(), &bare, "ceilings.max_repeated_records");
}

/// The limits also apply to working trees and directories. The ceilings are low, so that a small number of
/// files exceeds them.
#[test]
fn paths_of_all_kinds_of_sources_are_limited() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path();
    let long = "p".repeat(200);
    for number in 0..60 {
        write(root, &format!("{long}/d{number}/a.py"), "x = 1\n");
        symlink("a.py", root.join(format!("{long}/d{number}/b.py"))).expect("a link");
    }
    let check = |source: &Path| {
        for (variable, value, setting, expect) in [
            ("CAIRN_MAX_REPEATED_PATHS", "10", "ceilings.max_repeated_paths", "the limit is 1"),
            ("CAIRN_MAX_TOTAL_PATH_BYTES", "100", "ceilings.max_total_path_bytes", "the limit is 19300"),
        ] {
            let index = Index::new();
            let mut command = index.command(&["index", &source.to_string_lossy(), "--name", "r", "--json"]);
            let output = command.env(variable, value).env("CAIRN_ALLOW_FILE", "true").output().expect("started");
            let answer = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(output.status.code(), Some(5), "{answer}");
            for part in ["over_budget", setting, expect, "remove files from the source"] {
                assert!(answer.contains(part), "{}: {answer}", source.display());
            }
        }
    };
    check(root);
    git(root, &["init", "-q", "-b", "main"]);
    check(root);
    commit(root, "all");
    check(root);
    let bare = root.join(".git");
    check(&bare);
    check(Path::new(&format!("file://{}", bare.display())));
}

/// Copies of a file are counted even if their content is known from the previous generation and is not parsed
/// again.
#[test]
fn copies_of_a_published_file_are_over_budget() {
    let (_first, published) = repeated_tree(28_000, 1);
    let (_second, copies) = repeated_tree(28_000, 2_000);
    let index = Index::new();
    index.ok(&["index", &published.to_string_lossy(), "--name", "r"]);
    let url = copies.to_string_lossy().into_owned();
    git(&published, &["fetch", "--quiet", &url, "+refs/heads/main:refs/heads/main"]);
    check_over_budget(&index, &published, "ceilings.max_repeated_records");
    index.ok(&["show", "r", "d000000/a.py"]);
}

/// A bare repository that contains all objects of a pack. Its tree lists each object as a file.
fn bare_of_pack(pack: &[u8]) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let bare = directory.path().join("bare.git");
    git(directory.path(), &["init", "--quiet", "--bare", "--initial-branch=main", "bare.git"]);
    object(&bare, &["index-pack", "--stdin"], pack);
    let ids = git(&bare, &["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]);
    let listing: String =
        ids.lines().zip(0..).map(|(id, number)| format!("100644 blob {id}\tf{number}.py\n")).collect();
    let tree = object(&bare, &["mktree"], listing.as_bytes());
    let commit = git(&bare, &["commit-tree", &tree, "-m", "m"]);
    git(&bare, &["update-ref", "refs/heads/main", &commit]);
    (directory, bare)
}

/// Indexes two packs: one contains files whose delta base is 536 MB in size, and the other contains many
/// large files. The program builds each base in its own memory, not in a child process.
#[test]
fn delta_bombs_stay_within_bounds() {
    for (num_doublings, num_files, file_bytes) in [(13, 100, 10), (8, 400, 1_000_000)] {
        let pack = delta_bomb(num_doublings, num_files, file_bytes);
        let (_directory, bare) = bare_of_pack(&pack);
        let what = format!("{} bytes of pack, {num_files} files of {file_bytes} bytes", pack.len());
        let index = Index::new();
        let (answer, _) = index_within_bounds(&index, &bare, &what);
        let ended: Value = serde_json::from_str(answer.lines().last().unwrap_or_default()).expect("JSON");
        assert!(answer.contains("over_budget") || ended["state"] == "published", "{answer}");
        if file_bytes == 10 {
            assert!(answer.contains("\"failed(unreadable)\":100"), "{answer}");
        }
    }
}

#[test]
fn thousands_of_secret_patterns_are_over_budget() {
    let directory = repository();
    write(directory.path(), "a.py", "x = 1\n");
    commit(directory.path(), "first");
    let index = Index::new();
    index.index(directory.path());
    let patterns: String = (0..9_000).map(|number| format!("  - 'regex:\\w{{40}}x{number}'\n")).collect();
    write(directory.path(), ".cairn.yaml", format!("secrets:\n  ignore:\n{patterns}"));
    check_over_budget(&index, directory.path(), "ceilings.max_secret_patterns");
    let runs = index.json(&["runs"]).to_string();
    assert!(runs.contains("remove patterns from `secrets.ignore`") && !runs.contains("exclude files"), "{runs}");
    assert!(index.ok(&["search", "x"]).contains("a.py"), "the published generation is gone");
}

#[test]
fn large_secret_patterns_are_over_budget() {
    let directory = repository();
    write(directory.path(), "a.py", "x = 1\n");
    let patterns: String = (0..400).map(|number| format!("  - 'regex:[a-zé]{{900}}x{number}'\n")).collect();
    write(directory.path(), ".cairn.yaml", format!("secrets:\n  ignore:\n{patterns}"));
    check_over_budget(&Index::new(), directory.path(), "ceilings.max_secret_pattern_bytes");
}

/// Runs with many patterns in rule files fail. The generation that is already published stays published.
#[test]
fn thousands_of_patterns_in_rule_files_are_over_budget() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path();
    for number in 0..30 {
        write(root, &format!("d{}/a{number}1.c", number % 3), format!("int f{number}(void) {{ return {number}; }}\n"));
    }
    let lines = |num_lines: usize, end: &str, line: &dyn Fn(usize) -> String| -> String {
        (0..num_lines).map(|number| format!("{}{end}\n", line(number))).collect()
    };
    let wildcard = |number: usize| format!("a?{number}.c");
    let name = |number: usize| format!("n{number}");
    let over = [
        (".cairnignore", lines(90_000, "", &wildcard), "ceilings.max_rule_patterns"),
        (".cairnignore", lines(110_000, "", &name), "ceilings.max_rule_patterns"),
        (".cairnignore", lines(12_000, "", &wildcard), "ceilings.max_rule_pattern_bytes"),
        (".gitattributes", lines(12_000, " linguist-generated", &wildcard), "ceilings.max_rule_pattern_bytes"),
    ];
    let check = |source: &Path| {
        let index = Index::new();
        write(index.path(), "config.toml", "[sources]\nallow_file = true\n");
        let commit = |what: &str| {
            if root.join(".git").exists() {
                commit(root, what);
            }
        };
        commit("without rules");
        index.index(source);
        for (file, patterns, setting) in &over {
            for directory in ["", "d0/", "d1/", "d2/"] {
                write(root, &format!("{directory}{file}"), patterns);
            }
            commit(setting);
            check_over_budget(&index, source, setting);
            assert!(index.ok(&["search", "f1"]).contains("a11.c"), "the published generation is gone");
            for directory in ["", "d0/", "d1/", "d2/"] {
                fs::remove_file(root.join(format!("{directory}{file}"))).expect("removed");
            }
        }
    };
    check(root);
    git(root, &["init", "-q", "-b", "main"]);
    check(root);
    let bare = root.join(".git");
    check(&bare);
    check(Path::new(&format!("file://{}", bare.display())));
}

/// Equal lines count once. 2,000 patterns to ignore files and 1,000 patterns to mark files are within the
/// ceilings.
#[test]
fn allowed_patterns_are_applied_in_bounded_time_and_memory() {
    let directory = repository();
    let root = directory.path();
    for number in 0..2_000 {
        write(root, &format!("d{}/a{number}x.c", number % 4), format!("int f{number}(void) {{ return {number}; }}\n"));
    }
    let ignored: String = (0..2_000).map(|number| format!("*a???????????????{number}.c\n")).collect();
    let marked: String = (0..1_000).map(|number| format!("/d1/**/gen-?{number}.pb.c linguist-generated\n")).collect();
    write(root, ".cairnignore", format!("{}{ignored}", "a?1x.c\n".repeat(60_000)));
    write(root, "d0/.cairnignore", "a?2x.c\n".repeat(140_000));
    write(root, ".gitattributes", marked);
    write(root, "d1/.gitignore", "a?3x.c\n".repeat(140_000));
    let index = Index::new();
    let (answer, _) = index_within_bounds(&index, root, "patterns within the ceilings");
    assert!(answer.contains("\"published\""), "{answer}");
    for (path, is_indexed) in
        [("d0/a0x.c", true), ("d1/a21x.c", false), ("d3/a11x.c", false), ("d0/a12x.c", false), ("d1/a93x.c", false)]
    {
        assert_eq!(index.run(&["show", "r", path]).status.success(), is_indexed, "{path}");
    }
}

/// A local ignore file that exceeds its limit hides everything below its directory, and is reported.
#[test]
fn large_git_ignore_files_are_reported_within_bounds() {
    for (file, line, num_lines, what) in [
        (".gitignore", "a?", 20_000, "bytes of compiled ignore patterns"),
        (".gitignore", "n", 90_000, "90000 ignore patterns"),
        (".git/info/exclude", "a?", 20_000, "bytes of compiled ignore patterns"),
    ] {
        let directory = repository();
        write(directory.path(), "a.py", "x = 1\n");
        commit(directory.path(), "first");
        let text: String = (0..num_lines).map(|number| format!("{line}{number}.c\n")).collect();
        write(directory.path(), file, text);
        let index = Index::new();
        let (answer, _) = index_within_bounds(&index, directory.path(), file);
        assert!(answer.contains("\"published\"") && answer.contains("\"failed(unreadable)\":1"), "{answer}");
        let why = index.ok(&["coverage", "r", "--why", file]);
        assert!(why.contains(what), "{why}");
        index.ok(&["show", "r", "a.py"]);
    }
}

/// Every file and every record of a file contains the tags of the file, so a few kilobytes of settings could
/// cause gigabytes of data.
#[test]
fn thousands_of_tags_are_over_budget() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path();
    for number in 0..300 {
        write(root, &format!("f{number}.py"), format!("x = {number}\n"));
    }
    let tags = |num_tags: usize, globs: &str| -> String {
        let tags: String = (0..num_tags).map(|number| format!("  t{number}: {globs}\n")).collect();
        format!("tags:\n{tags}")
    };
    let ten_globs = format!("[{}]", ["'x*'"; 10].join(", "));
    let over = [
        (tags(4_000, "'*'"), "ceilings.max_tag_rules"),
        (tags(150, &ten_globs), "ceilings.max_tag_patterns"),
        (tags(100, "'*'"), "ceilings.max_tags_per_file"),
    ];
    let check = |source: &Path| {
        for (settings, setting) in &over {
            write(root, ".cairn.yaml", settings);
            if root.join(".git").exists() {
                commit(root, setting);
            }
            let index = Index::new();
            write(index.path(), "config.toml", "[sources]\nallow_file = true\n");
            check_over_budget(&index, source, setting);
            let runs = index.json(&["runs"]).to_string();
            assert!(runs.contains("`tags` in `.cairn.yaml`") && !runs.contains("exclude files"), "{runs}");
        }
    };
    check(root);
    git(root, &["init", "-q", "-b", "main"]);
    check(root);
    let bare = root.join(".git");
    check(&bare);
    check(Path::new(&format!("file://{}", bare.display())));
    write(root, ".cairn.yaml", tags(19, "'*'"));
    Index::new().index(root);
}

#[test]
fn operator_sets_the_ceilings() {
    let directory = repository();
    write(directory.path(), "a.py", "def a():\n    return 1\n");
    write(directory.path(), "b.py", "def b():\n    return 2\n");
    commit(directory.path(), "first");
    for (variable, value) in [("CAIRN_MAX_EXPANDED_BYTES", "10"), ("CAIRN_MAX_CHUNKS", "1"), ("CAIRN_MAX_ENTRIES", "1")]
    {
        let index = Index::new();
        let output = index
            .command(&["index", &directory.path().to_string_lossy(), "--name", "r", "--json"])
            .env(variable, value)
            .output()
            .expect("the program starts");
        let answer = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.code() == Some(5) && answer.contains("over_budget"), "{variable}: {answer}");
    }
}

/// Settings files that cannot be used, in excluded directories and elsewhere.
fn write_unusable_settings(root: &Path) {
    write(root, "a.py", "x = 1\n");
    write(root, "vendor/a.go", "package a\n");
    write(root, "vendor/.gitattributes", "*.go linguist-generated\n");
    write(root, "one/.gitattributes", b"\xff\xfe");
    write(root, "two/.cairnignore", "[z\n*.log\n");
    write(root, "two/b.log", "x\n");
    write(root, "three/.cairnignore", vec![b'a'; (1 << 20) + 1]);
    write(root, "five/.cairnignore/file", "x\n");
    write(root, ".gitattributes/file", "x\n");
    write(root, "six/.gitattributes", format!("*.c {}\n", "a".repeat(3_000)));
    write(root, "seven/.gitmodules/file", "x\n");
    write(root, ".gitmodules", "[submodule \"../x\"]\n\tpath = -p\n\turl = --upload-pack=x\n\tupdate = !sh\n");
    fs::create_dir_all(root.join("four")).expect("a directory");
    symlink("../a.py", root.join("four/.cairnignore")).expect("a link");
}

fn check_unusable_settings(index: &Index, source: &Path, num_errors: u64) {
    let answer = index.index(source);
    let result = &answer["result"];
    let result = if result.is_null() { &answer } else { result };
    assert_eq!(result["num_errors"].as_u64(), Some(num_errors), "{answer}");
    let coverage: Value = index.json(&["coverage", "r"]);
    assert!(coverage.to_string().contains("a.py"), "{coverage}");
}

#[test]
fn unusable_settings_files_do_not_stop_a_run() {
    let directory = repository();
    write_unusable_settings(directory.path());
    check_unusable_settings(&Index::new(), directory.path(), 6);
    commit(directory.path(), "first");
    let bare = tempfile::tempdir().expect("a temporary directory");
    git(bare.path(), &["clone", "--quiet", "--bare", &directory.path().to_string_lossy(), "bare.git"]);
    check_unusable_settings(&Index::new(), &bare.path().join("bare.git"), 6);
    let plain = tempfile::tempdir().expect("a temporary directory");
    write_unusable_settings(plain.path());
    // In a plain directory, the symbolic link is followed, and its target contains no invalid line. So one
    // error fewer is reported.
    check_unusable_settings(&Index::new(), plain.path(), 5);
    let unreadable = plain.path().join("one/.gitattributes");
    fs::set_permissions(&unreadable, Permissions::from_mode(0o000)).expect("permissions");
    check_unusable_settings(&Index::new(), plain.path(), 5);
}

/// Removes or truncates a loose object.
fn damage(bare: &Path, revision: &str, is_removed: bool) {
    let id = git(bare, &["rev-parse", revision]);
    let file = bare.join("objects").join(&id[..2]).join(&id[2..]);
    fs::set_permissions(&file, Permissions::from_mode(0o644)).expect("permissions");
    if is_removed {
        fs::remove_file(&file).expect("removed");
    } else {
        let bytes = fs::read(&file).expect("an object");
        fs::write(&file, &bytes[..bytes.len() / 2]).expect("truncated");
    }
}

/// Missing and damaged files, settings files and directories are recorded and counted as errors. All other
/// files are indexed.
#[test]
fn damaged_objects_of_a_bare_repository_do_not_stop_a_run() {
    for is_removed in [true, false] {
        let directory = repository();
        for path in ["a.py", "lost.py", "sub/b.py", "deep/c.py", "one/.gitattributes", "two/.cairnignore"] {
            let line = path.chars().map(|sign| if sign.is_ascii_alphabetic() { sign } else { '_' });
            let text: String =
                (0..200).map(|number| format!("# {} {number}\n", line.clone().collect::<String>())).collect();
            write(directory.path(), path, text);
        }
        commit(directory.path(), "first");
        let bare = directory.path().join(".git");
        for revision in ["HEAD:lost.py", "HEAD:sub", "HEAD:one/.gitattributes", "HEAD:two/.cairnignore"] {
            damage(&bare, revision, is_removed);
        }
        let index = Index::new();
        let answer = index.index(&bare);
        let result = &answer["result"];
        assert_eq!(answer["state"], "published", "{answer}");
        assert_eq!(result["files"]["failed(unreadable)"].as_u64(), Some(4), "{answer}");
        assert_eq!((result["num_errors"].as_u64(), result["files_indexed"].as_u64()), (Some(4), Some(2)), "{answer}");
        index.ok(&["show", "r", "deep/c.py"]);
        // Without its root tree, no content of the repository can be read, so the run fails.
        damage(&bare, "HEAD^{tree}", is_removed);
        let output = Index::new().run(&["index", &bare.to_string_lossy(), "--name", "r"]);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && errors.contains(".git"), "{errors}");
    }
}

#[test]
fn unusable_settings_files_of_a_remote_do_not_stop_a_run() {
    let directory = repository();
    write_unusable_settings(directory.path());
    commit(directory.path(), "first");
    let index = Index::new();
    let url = format!("file://{}", directory.path().display());
    let mut command = index.command(&["index", &url, "--name", "r", "--json"]);
    let output = command.env("CAIRN_ALLOW_FILE", "true").output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["result"]["num_errors"].as_u64(), Some(6), "{answer}");
    assert!(index.json(&["coverage", "r"]).to_string().contains("a.py"));
}

#[test]
fn refused_call_changes_nothing() {
    let directory = repository();
    write(directory.path(), "a.py", "x = 1\n");
    write(directory.path(), "b.go", "package b\n");
    let root = directory.path().to_string_lossy().into_owned();
    let index = Index::new();
    let output = index.run(&["index", &root, "--name", "r", "--include", "["]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!index.ok(&["repos"]).contains(&root), "a refused call registers a repository");
    let include = |arguments: &[&str]| {
        let answer = index.json(&[&["index", &root, "--name", "r"], arguments].concat());
        answer.to_string().contains("*.py")
    };
    assert!(include(&["--include", "*.py"]));
    assert_eq!(index.run(&["index", &root, "--name", "r", "--include", "["]).status.code(), Some(2));
    write(directory.path(), "a.py", "x = 2\n");
    assert!(include(&[]), "a call without the field keeps the patterns");
    assert!(index.run(&["show", "r", "b.go"]).status.code() != Some(0), "a file that is not included");
    assert!(!include(&["--include", ""]), "an empty list removes the patterns");
    index.ok(&["show", "r", "b.go"]);
}

/// The patterns in an entry of a list file become the patterns of the repository. An empty list of patterns
/// removes the stored patterns.
#[test]
fn empty_patterns_in_a_list_file_remove_the_patterns() {
    let directory = repository();
    write(directory.path(), "a.py", "x = 1\n");
    write(directory.path(), "b.go", "package b\n");
    let lists = tempfile::tempdir().expect("a temporary directory");
    let index = Index::new();
    let index_list = |fields: &str| {
        let entry = format!("- path: {}\n  name: r\n{fields}", directory.path().display());
        let list = write(lists.path(), "list.yaml", entry);
        index.ok(&["index", &list.to_string_lossy()]);
        index.run(&["show", "r", "b.go"]).status.success()
    };
    assert!(!index_list("  include: ['*.py']\n  exclude: ['*.go']\n"));
    assert!(!index_list(""), "an entry without the fields keeps the patterns");
    assert!(!index_list("  include: []\n"), "the field `exclude` is absent and keeps its patterns");
    assert!(index_list("  exclude: []\n"));
}
