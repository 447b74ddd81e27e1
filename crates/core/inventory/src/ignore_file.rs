//! Reads `.cairnignore` files. These files have the syntax of `.gitignore`. Every directory of every kind of
//! source may contain such a file.
//!
//! Precedence is as in git: if several ignore files have a matching pattern, the file in the nearest
//! directory takes precedence. Within a file, the last matching pattern takes precedence. A pattern with `!`
//! includes a path again. Paths below an ignored directory remain ignored.

use std::collections::HashMap;
use std::fmt;

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

/// The compiled ignore files of a tree.
pub(crate) struct IgnoreFiles {
    /// Maps a directory to its file. The root is the empty string.
    by_directory: HashMap<String, CompiledFile>,
}

struct CompiledFile {
    path: String,
    patterns: GitPatterns,
}

/// The ignore file and the pattern that exclude a path.
pub(crate) struct IgnoredBy<'a> {
    pub(crate) file: &'a str,
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
        Self { by_directory }
    }

    /// The pattern that excludes the file at `path`, if any. Tests the directories of the path from the root
    /// down, then the file.
    pub(crate) fn find(&self, path: &str) -> Option<IgnoredBy<'_>> {
        if self.by_directory.is_empty() {
            return None;
        }
        let directories = path.match_indices('/').map(|(slash, _)| (&path[..slash], true));
        directories.chain([(path, false)]).find_map(|(part, is_directory)| self.decide(part, is_directory))
    }

    /// The decision of the ignore files above `path`. The nearest file is tested first.
    fn decide(&self, path: &str, is_directory: bool) -> Option<IgnoredBy<'_>> {
        for (directory, relative) in above(path) {
            let Some(file) = self.by_directory.get(directory) else { continue };
            if let Some(pattern) = file.patterns.find(relative.as_bytes(), is_directory) {
                let ignored = IgnoredBy { file: &file.path, pattern: &pattern.text };
                return (!pattern.is_negative).then_some(ignored);
            }
        }
        None
    }
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
    let patterns = GitPatterns::compile(lines, |first_line, message| {
        let first = || UnusableLines { file: path.clone(), first_line, num_lines: 0, message };
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
            assert!(files.find(path).is_some(), "{path} should be ignored");
        }
        for path in kept {
            assert!(files.find(path).is_none(), "{path} should be kept");
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
        let found = files.find("a/c/b1.y").expect("ignored");
        assert_eq!((found.file, found.pattern), ("a/.cairnignore", "b?.y"));
    }

    #[test]
    fn invalid_lines_are_reported_and_others_apply() {
        let (files, unusable) = compile(&[(".cairnignore", "ok\n[z-a]\n{b\n*.c\n"), ("x/.cairnignore", "{a\n")]);
        let lines: Vec<(&str, usize, usize)> =
            unusable.iter().map(|lines| (lines.file.as_str(), lines.first_line, lines.num_lines)).collect();
        assert_eq!(lines, [(".cairnignore", 2, 2), ("x/.cairnignore", 1, 1)]);
        assert!(files.find("ok").is_some() && files.find("x/a.c").is_some() && files.find("x/a").is_none());
        let shown = unusable[0].to_string();
        assert!(shown.starts_with("2 lines are not valid patterns") && !shown.contains("[z-a]"), "{shown}");
    }
}
