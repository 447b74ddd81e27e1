//! Reads `.gitattributes` files. In these files, the owners of a repository mark generated files with the
//! attribute `linguist-generated`.
//!
//! Precedence is as in git: if several attribute files mark a path, the file in the nearest directory takes
//! precedence. Within a file, the last matching line takes precedence. A pattern matches files, but not the
//! files below a directory of that name. A line that git ignores has no effect.

use std::collections::HashMap;

use crate::git_patterns::GitPatterns;
use crate::ignore_file::{RuleFile, UnusableLines, above, compile_lines};
use crate::pattern_lines::last_of_equal;

const ATTRIBUTE: &str = "linguist-generated";

/// The mark that a line sets on the files that it matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mark {
    Generated,
    WrittenByHand,
    /// Removes the mark that a file in a higher directory sets.
    Unspecified,
}

/// The pattern and the mark of each line that marks files.
pub(crate) fn marks(text: &str) -> impl Iterator<Item = (&str, Mark)> {
    marked_lines(text).into_iter().map(|(_, pattern, mark)| (pattern, mark))
}

/// The same as `marks`, with the one-based number of each line. If several lines have the same pattern, only
/// the last is returned. The last matching line decides, so the other lines have no effect.
fn marked_lines(text: &str) -> Vec<(usize, &str, Mark)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().enumerate().filter_map(|(index, line)| {
        let (pattern, attributes) = split(line.trim_start())?;
        let mark = attributes.split_ascii_whitespace().filter_map(mark).next_back()?;
        // Git forbids negative patterns in attribute files. A line with `[attr]` defines a macro, not a
        // pattern.
        let is_pattern = !pattern.starts_with(['#', '!']) && !pattern.starts_with("[attr]");
        is_pattern.then_some((index + 1, pattern, mark))
    });
    last_of_equal(lines, |(_, pattern, _)| *pattern)
}

/// Splits a line into the pattern and the attributes. A pattern that contains blanks is in quotes.
fn split(line: &str) -> Option<(&str, &str)> {
    match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"'),
        None => line.split_once(|character: char| character.is_ascii_whitespace()),
    }
}

fn mark(attribute: &str) -> Option<Mark> {
    if let Some(name) = attribute.strip_prefix('-') {
        return (name == ATTRIBUTE).then_some(Mark::WrittenByHand);
    }
    if let Some(name) = attribute.strip_prefix('!') {
        return (name == ATTRIBUTE).then_some(Mark::Unspecified);
    }
    match attribute.strip_prefix(ATTRIBUTE)? {
        "" | "=true" => Some(Mark::Generated),
        "=false" => Some(Mark::WrittenByHand),
        _ => None,
    }
}

/// The compiled attribute files of a tree. Only attribute files with at least one mark are included.
pub(crate) struct GeneratedMarks {
    /// Maps a directory to its file. The root is the empty string.
    by_directory: HashMap<String, CompiledFile>,
}

struct CompiledFile {
    patterns: GitPatterns,
    /// Maps a pattern, as written in the file, to its mark.
    marks: HashMap<String, Mark>,
}

impl GeneratedMarks {
    /// Lines that mark files but cannot be used are added to `unusable`.
    pub(crate) fn compile(files: &[RuleFile], unusable: &mut Vec<UnusableLines>) -> Self {
        let compiled = |file: &RuleFile| Some((file.path.directory().to_owned(), compile_file(file, unusable)?));
        Self { by_directory: files.iter().filter_map(compiled).collect() }
    }

    /// `Some(true)` if the file at `path` is marked as generated, `Some(false)` if it is marked as not
    /// generated, `None` without a mark. The result is not valid if `is_stopped` returned true.
    pub(crate) fn find(&self, path: &str, is_stopped: &dyn Fn() -> bool) -> Option<bool> {
        if self.by_directory.is_empty() {
            return None;
        }
        above(path)
            .find_map(|(directory, relative)| self.by_directory.get(directory)?.find(relative, is_stopped))
            .and_then(|mark| match mark {
                Mark::Generated => Some(true),
                Mark::WrittenByHand => Some(false),
                Mark::Unspecified => None,
            })
    }
}

impl CompiledFile {
    fn find(&self, relative: &str, is_stopped: &dyn Fn() -> bool) -> Option<Mark> {
        self.marks.get(&self.patterns.find(relative.as_bytes(), false, is_stopped)?.text).copied()
    }
}

fn compile_file(file: &RuleFile, unusable: &mut Vec<UnusableLines>) -> Option<CompiledFile> {
    let lines = marked_lines(&file.text);
    let patterns = compile_lines(&file.path, lines.iter().map(|(number, pattern, _)| (*number, *pattern)), unusable);
    let marks = lines.iter().map(|(_, pattern, mark)| ((*pattern).to_owned(), *mark)).collect();
    (!patterns.is_empty()).then_some(CompiledFile { patterns, marks })
}

#[cfg(test)]
mod tests {
    use cairn_domain::RepoPath;

    use super::*;

    fn check(files: &[(&str, &str)], cases: &[(&str, Option<bool>)]) {
        let file = |(path, text): &(&str, &str)| RuleFile {
            path: RepoPath::parse(path).expect("path"),
            text: (*text).to_owned(),
        };
        let marks = GeneratedMarks::compile(&files.iter().map(file).collect::<Vec<_>>(), &mut Vec::new());
        for (path, expect) in cases {
            assert_eq!(marks.find(path, &|| false), *expect, "{path} under {files:?}");
        }
    }

    #[test]
    fn last_matching_line_decides() {
        let text =
            "# comment linguist-generated\n*.pb.go linguist-generated=true diff\nby_hand.pb.go -linguist-generated\n";
        let cases = [("a/x.pb.go", Some(true)), ("by_hand.pb.go", Some(false)), ("x.go", None)];
        check(&[(".gitattributes", text)], &cases);
        let taken_back = "*.js linguist-generated\n/src/*.js !linguist-generated\n";
        check(&[(".gitattributes", taken_back)], &[("a.js", Some(true)), ("src/a.js", None)]);
        check(&[(".gitattributes", "*.c linguist-generated\n*.c linguist-generated=false\n")], &[("a.c", Some(false))]);
    }

    #[test]
    fn nearest_file_with_a_mark_decides() {
        let files = [
            (".gitattributes", "gen/** linguist-generated\n"),
            ("gen/.gitattributes", "*.md text\nkeep.rs -linguist-generated\n"),
            ("gen/deep/.gitattributes", "* !linguist-generated\n"),
        ];
        let cases = [("gen/a.rs", Some(true)), ("gen/keep.rs", Some(false)), ("gen/deep/a.rs", None), ("a.rs", None)];
        check(&files, &cases);
    }

    #[test]
    fn attribute_patterns_match_like_git() {
        check(&[(".gitattributes", "dist linguist-generated\n")], &[("dist", Some(true)), ("dist/a.js", None)]);
        check(&[(".gitattributes", "dist/ linguist-generated\n")], &[("dist/a.js", None)]);
        check(&[(".gitattributes", "\"a b.c\"\tlinguist-generated\r\n")], &[("a b.c", Some(true)), ("a", None)]);
        check(&[("x/.gitattributes", "/a.c linguist-generated\n")], &[("x/a.c", Some(true)), ("a.c", None)]);
    }

    #[test]
    fn unusable_marks_are_reported() {
        let text = "*.c text\n[z linguist-generated\n[z binary\n".to_owned();
        let file = RuleFile { path: RepoPath::parse("a/.gitattributes").expect("path"), text };
        let mut unusable = Vec::new();
        GeneratedMarks::compile(&[file], &mut unusable);
        assert_eq!((unusable.len(), unusable[0].first_line, unusable[0].num_lines), (1, 2, 1));
    }

    #[test]
    fn lines_that_git_ignores_mark_no_file() {
        let text = "!*.c linguist-generated\n[attr]made linguist-generated\n[z linguist-generated\n*.h\n*.o linguist-generated=maybe\n";
        check(&[(".gitattributes", text)], &[("a.c", None), ("made", None), ("a.h", None), ("a.o", None)]);
    }
}
