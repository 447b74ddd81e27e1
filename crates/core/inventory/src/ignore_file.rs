//! Reads `.cairnignore` files. These files have the syntax of `.gitignore`. Every directory of every kind of
//! source may contain such a file.
//!
//! Precedence is as in git: if several ignore files have a matching pattern, the file in the nearest
//! directory takes precedence. Within a file, the last matching pattern takes precedence. A pattern with `!`
//! includes a path again. Paths below an ignored directory remain ignored.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use cairn_domain::RepoPath;

use crate::git_patterns::GitPatterns;
use crate::pattern_lines::pattern_lines;

/// A rule file. The text of the file contains rules for the paths below the directory of the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleFile {
    /// The path of the rule file, e.g. `src/.cairnignore`.
    pub path: RepoPath,
    pub text: String,
}

/// The lines of one rule file that cannot be used. The other lines of the file apply.
///
/// The message does not quote the file, because the text comes from a repository.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct UnusableLines {
    pub file: RepoPath,
    /// One-based number of the first unusable line.
    pub first_line: usize,
    pub num_lines: usize,
    /// The error in the first unusable line.
    pub message: String,
}

impl fmt::Display for UnusableLines {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first_line, num_lines, message, .. } = self;
        match (first_line, num_lines) {
            (line, 1) => write!(formatter, "line {line} is not a valid pattern and is ignored: {message}"),
            (line, lines) => {
                write!(
                    formatter,
                    "{lines} lines are not valid patterns and are ignored; the first is line {line}: {message}"
                )
            }
        }
    }
}

thread_local! {
    /// The number of the `IgnoreFiles` that this thread used last, and a directory of the last path. Neither
    /// this directory nor a directory above it is excluded. Consecutive paths usually share directories, so
    /// most directories of a path were already tested for the previous path.
    static INCLUDED: RefCell<(u64, String)> = const { RefCell::new((0, String::new())) };
}

static LAST_NUMBER: AtomicU64 = AtomicU64::new(0);

/// The compiled ignore files of a tree.
pub(crate) struct IgnoreFiles {
    number: u64,
    /// Maps a directory to its file. The root is the empty string.
    by_directory: HashMap<String, CompiledFile>,
}

struct CompiledFile {
    path: String,
    patterns: GitPatterns,
}

/// The ignore file, the line and the pattern that exclude a path.
pub(crate) struct IgnoredBy<'a> {
    pub(crate) file: &'a str,
    pub(crate) line: usize,
    pub(crate) pattern: &'a str,
}

impl IgnoreFiles {
    /// Lines that cannot be used are added to `unusable` and exclude no path.
    pub(crate) fn compile(files: &[RuleFile], unusable: &mut Vec<UnusableLines>) -> Self {
        let mut by_directory = HashMap::with_capacity(files.len());
        for file in files {
            let patterns = compile_lines(&file.path, pattern_lines(&file.text), unusable);
            let compiled = CompiledFile { path: file.path.as_str().to_owned(), patterns };
            by_directory.insert(file.path.directory().to_owned(), compiled);
        }
        Self { number: LAST_NUMBER.fetch_add(1, Ordering::Relaxed) + 1, by_directory }
    }

    /// The pattern that excludes the file at `path`, if any. Tests the directories of the path from the root
    /// down, then the file. The result is not valid if `is_stopped` returned true.
    pub(crate) fn find(&self, path: &str, is_stopped: &dyn Fn() -> bool) -> Option<IgnoredBy<'_>> {
        if self.by_directory.is_empty() {
            return None;
        }
        INCLUDED.with_borrow_mut(|(number, included)| {
            if *number != self.number {
                (*number, *included) = (self.number, String::new());
            }
            for (slash, _) in path.match_indices('/') {
                let directory = &path[..slash];
                if is_equal_or_below(included, directory) {
                    continue;
                }
                let ignored = self.decide(directory, true, is_stopped);
                if ignored.is_some() || is_stopped() {
                    return ignored;
                }
                directory.clone_into(included);
            }
            self.decide(path, false, is_stopped)
        })
    }

    /// The decision of the ignore files above `path`. The nearest file is tested first.
    fn decide(&self, path: &str, is_directory: bool, is_stopped: &dyn Fn() -> bool) -> Option<IgnoredBy<'_>> {
        for (directory, relative) in above(path) {
            let Some(file) = self.by_directory.get(directory) else { continue };
            if let Some(pattern) = file.patterns.find(relative.as_bytes(), is_directory, is_stopped) {
                let ignored = IgnoredBy { file: &file.path, line: pattern.line, pattern: &pattern.text };
                return (!pattern.is_negative).then_some(ignored);
            }
        }
        None
    }
}

fn is_equal_or_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The directories above a path, nearest first, each with the path relative to that directory. The last
/// directory is the root, an empty string.
pub(crate) fn above(path: &str) -> impl Iterator<Item = (&str, &str)> {
    let below = path.rmatch_indices('/').map(|(slash, _)| (&path[..slash], &path[slash + 1..]));
    below.chain([("", path)])
}

/// Compiles the lines of a rule file. Lines that cannot be used are added to `unusable`.
pub(crate) fn compile_lines<'l>(
    path: &RepoPath,
    lines: impl IntoIterator<Item = (usize, &'l str)>,
    unusable: &mut Vec<UnusableLines>,
) -> GitPatterns {
    let mut lines_of_file: Option<UnusableLines> = None;
    let patterns = GitPatterns::compile(lines, |first_line, fault| {
        let message = || fault.to_string();
        let first = || UnusableLines { file: path.clone(), first_line, num_lines: 0, message: message() };
        lines_of_file.get_or_insert_with(first).num_lines += 1;
    });
    unusable.extend(lines_of_file);
    patterns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile(files: &[(&str, &str)]) -> (IgnoreFiles, Vec<UnusableLines>) {
        let files: Vec<RuleFile> = files
            .iter()
            .map(|(path, text)| RuleFile { path: RepoPath::parse(path).expect("path"), text: (*text).to_owned() })
            .collect();
        let mut unusable = Vec::new();
        (IgnoreFiles::compile(&files, &mut unusable), unusable)
    }

    fn check(files: &[(&str, &str)], ignored: &[&str], kept: &[&str]) {
        let (files, unusable) = compile(files);
        assert_eq!(unusable, []);
        for path in ignored {
            assert!(files.find(path, &|| false).is_some(), "{path} should be ignored");
        }
        for path in kept {
            assert!(files.find(path, &|| false).is_none(), "{path} should be kept");
        }
    }

    #[test]
    fn patterns_match_like_git() {
        check(&[(".cairnignore", "*.log\n!keep.log\n")], &["a.log", "x/b.log"], &["keep.log", "x/keep.log", "a.txt"]);
        check(&[(".cairnignore", "# comment\n\n/only-root\n")], &["only-root", "only-root/x"], &["a/only-root"]);
        check(&[(".cairnignore", "docs/\r\n")], &["docs/a", "x/docs/a/b"], &["docs"]);
        check(&[(".cairnignore", "a/**/z\n")], &["a/z", "a/b/c/z"], &["b/z"]);
        check(&[(".cairnignore", "\u{feff}*.tmp\n")], &["x.tmp"], &["x"]);
    }

    #[test]
    fn nearest_ignore_file_decides() {
        let files = [(".cairnignore", "*.txt\n"), ("src/.cairnignore", "!*.txt\n/local\n")];
        check(&files, &["a.txt", "doc/a.txt", "src/local/x"], &["src/a.txt", "src/b/c.txt", "local/x"]);
    }

    #[test]
    fn paths_below_an_ignored_directory_stay_ignored() {
        let files = [(".cairnignore", "out/\n!out/keep.txt\n"), ("out/.cairnignore", "!*\n")];
        check(&files, &["out/keep.txt", "out/a/b"], &["output"]);
    }

    #[test]
    fn decision_names_pattern_and_file() {
        let (files, _) = compile(&[("a/.cairnignore", "*.x\nb?.y")]);
        let found = files.find("a/c/b1.y", &|| false).expect("ignored");
        assert_eq!((found.file, found.pattern), ("a/.cairnignore", "b?.y"));
    }

    #[test]
    fn invalid_lines_are_reported_and_others_apply() {
        let (files, unusable) = compile(&[(".cairnignore", "ok\n[z\nb\\\n*.c\n"), ("x/.cairnignore", "[a\n")]);
        let lines: Vec<(&str, usize, usize)> =
            unusable.iter().map(|lines| (lines.file.as_str(), lines.first_line, lines.num_lines)).collect();
        assert_eq!(lines, [(".cairnignore", 2, 2), ("x/.cairnignore", 1, 1)]);
        let is_ignored = |path: &str| files.find(path, &|| false).is_some();
        assert!(is_ignored("ok") && is_ignored("x/a.c") && !is_ignored("x/a"));
        let shown = unusable[0].to_string();
        assert!(shown.starts_with("2 lines are not valid patterns") && !shown.contains("[z"), "{shown}");
    }

    /// If the decisions about directories were not kept for the next path, this test would take minutes.
    #[test]
    fn directories_are_decided_once() {
        let stars = |number: usize| format!("{}z{number}{}\n", "a/**/".repeat(80), "/**/a".repeat(80));
        let text: String = (0..40).map(stars).collect();
        let (files, unusable) = compile(&[(".cairnignore", &text)]);
        assert_eq!(unusable, []);
        let mut directory = String::new();
        for _ in 0..100 {
            directory.push_str("a/");
            for _ in 0..20 {
                assert!(files.find(&format!("{directory}b"), &|| false).is_none());
            }
        }
    }

    #[test]
    fn decisions_are_the_same_in_any_order() {
        let files = [(".cairnignore", "out/\na?c\n"), ("x/.cairnignore", "!out/\nb\n")];
        let paths = ["x/out/a", "out/a", "x/b/c", "x/bc/d", "x/bc/abc/d", "outer/a", "x", "x/b", "xb", "abc/x/y"];
        let expect = |path: &str| compile(&files).0.find(path, &|| false).is_some();
        let expected = paths.map(expect);
        let (first, second) = (compile(&files).0, compile(&[(".cairnignore", "x")]).0);
        for (left, of_left) in paths.iter().zip(expected) {
            for (right, of_right) in paths.iter().zip(expected) {
                assert_eq!(first.find(left, &|| false).is_some(), of_left, "{left}");
                assert_eq!(first.find(right, &|| false).is_some(), of_right, "{right} after {left}");
            }
            assert_eq!(second.find(left, &|| false).is_some(), left.split('/').any(|part| part == "x"), "{left}");
        }
    }

    #[test]
    fn stopped_search_ends_and_decides_nothing() {
        let (files, _) = compile(&[(".cairnignore", "b\n")]);
        assert!(files.find("a/b/c", &|| true).is_none());
        assert!(files.find("a/b/c", &|| false).is_some());
    }
}
