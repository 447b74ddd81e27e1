//! `.gitattributes`: what the owners of a repository say of generated files, with the attribute that hosts of
//! repositories read too (`linguist-generated`).
//!
//! As in git, the file nearest to a path that says something decides, and the last line that matches within a file. A
//! pattern matches files, not what lies below a directory of that name. A line that git would not read says nothing.

use std::collections::HashMap;
use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::ignore_file::{RuleFile, above};

const ATTRIBUTE: &str = "linguist-generated";

/// What a line says of the files that it matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mark {
    Generated,
    WrittenByHand,
    /// Takes back what a file further up says.
    Unspecified,
}

/// The lines of a text that say whether files are generated: patterns with what they say.
pub(crate) fn marks(text: &str) -> impl Iterator<Item = (&str, Mark)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.lines().filter_map(|line| {
        let (pattern, attributes) = split(line.trim_start())?;
        let mark = attributes.split_ascii_whitespace().filter_map(mark).next_back()?;
        // Git forbids negative patterns here; and `[attr]` defines a name for several attributes.
        (!pattern.starts_with(['#', '!']) && !pattern.starts_with("[attr]")).then_some((pattern, mark))
    })
}

/// The pattern, which stands in quotes if it has blanks, and the attributes.
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

/// All attribute files of a tree that mark something, compiled.
pub(crate) struct GeneratedMarks {
    /// By directory, which is empty for the root.
    by_directory: HashMap<String, CompiledFile>,
}

struct CompiledFile {
    patterns: Gitignore,
    /// Of each pattern, as it is written.
    marks: HashMap<String, Mark>,
}

impl GeneratedMarks {
    pub(crate) fn compile(files: &[RuleFile]) -> Self {
        let compiled = |file: &RuleFile| Some((file.path.directory().to_owned(), compile_file(&file.text)?));
        Self { by_directory: files.iter().filter_map(compiled).collect() }
    }

    /// Whether the file at `path` is generated, if that is said.
    pub(crate) fn find(&self, path: &str) -> Option<bool> {
        if self.by_directory.is_empty() {
            return None;
        }
        above(path).find_map(|(directory, relative)| self.by_directory.get(directory)?.find(relative)).and_then(
            |mark| match mark {
                Mark::Generated => Some(true),
                Mark::WrittenByHand => Some(false),
                Mark::Unspecified => None,
            },
        )
    }
}

impl CompiledFile {
    fn find(&self, relative: &str) -> Option<Mark> {
        match self.patterns.matched(Path::new(relative), false) {
            ignore::Match::Ignore(glob) => self.marks.get(glob.original()).copied(),
            _ => None,
        }
    }
}

fn compile_file(text: &str) -> Option<CompiledFile> {
    let mut builder = GitignoreBuilder::new("");
    let mut by_pattern = HashMap::new();
    for (pattern, mark) in marks(text) {
        if builder.add_line(None, pattern).is_ok() {
            by_pattern.insert(pattern.to_owned(), mark);
        }
    }
    let patterns = builder.build().ok()?;
    (!by_pattern.is_empty()).then_some(CompiledFile { patterns, marks: by_pattern })
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
        let marks = GeneratedMarks::compile(&files.iter().map(file).collect::<Vec<_>>());
        for (path, expect) in cases {
            assert_eq!(marks.find(path), *expect, "{path} under {files:?}");
        }
    }

    #[test]
    fn the_last_line_that_matches_decides() {
        let text =
            "# comment linguist-generated\n*.pb.go linguist-generated=true diff\nby_hand.pb.go -linguist-generated\n";
        let cases = [("a/x.pb.go", Some(true)), ("by_hand.pb.go", Some(false)), ("x.go", None)];
        check(&[(".gitattributes", text)], &cases);
        let taken_back = "*.js linguist-generated\n/src/*.js !linguist-generated\n";
        check(&[(".gitattributes", taken_back)], &[("a.js", Some(true)), ("src/a.js", None)]);
        check(&[(".gitattributes", "*.c linguist-generated\n*.c linguist-generated=false\n")], &[("a.c", Some(false))]);
    }

    #[test]
    fn the_nearest_file_that_says_something_decides() {
        let files = [
            (".gitattributes", "gen/** linguist-generated\n"),
            ("gen/.gitattributes", "*.md text\nkeep.rs -linguist-generated\n"),
            ("gen/deep/.gitattributes", "* !linguist-generated\n"),
        ];
        let cases = [("gen/a.rs", Some(true)), ("gen/keep.rs", Some(false)), ("gen/deep/a.rs", None), ("a.rs", None)];
        check(&files, &cases);
    }

    #[test]
    fn patterns_match_files_as_gits_do() {
        check(&[(".gitattributes", "dist linguist-generated\n")], &[("dist", Some(true)), ("dist/a.js", None)]);
        check(&[(".gitattributes", "dist/ linguist-generated\n")], &[("dist/a.js", None)]);
        check(&[(".gitattributes", "\"a b.c\"\tlinguist-generated\r\n")], &[("a b.c", Some(true)), ("a", None)]);
        check(&[("x/.gitattributes", "/a.c linguist-generated\n")], &[("x/a.c", Some(true)), ("a.c", None)]);
    }

    #[test]
    fn lines_that_git_would_not_read_say_nothing() {
        let text = "!*.c linguist-generated\n[attr]made linguist-generated\n[z-a] linguist-generated\n*.h\n*.o linguist-generated=maybe\n";
        check(&[(".gitattributes", text)], &[("a.c", None), ("made", None), ("a.h", None), ("a.o", None)]);
    }
}
