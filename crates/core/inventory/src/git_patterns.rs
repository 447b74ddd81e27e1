//! Compiles and matches the patterns of one rule file, in the syntax of `.gitignore`.
//!
//! Rule files come from repositories, so their patterns must not need more memory or time than their text
//! suggests. Names, paths and extensions are found in tables. Every other pattern becomes a small automaton
//! without a cache of its own. The usual matchers are not used, because they may fill a cache of 10 MiB for
//! each pattern and thread.

use std::cell::RefCell;
use std::collections::HashMap;

use regex_automata::Input;
use regex_automata::nfa::thompson::backtrack::{BoundedBacktracker, Cache, Config};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::syntax;

use crate::pattern_form::{Form, GitPattern, parse};
use crate::wildmatch::{self, SPECIAL};

/// Maximum size of a pattern with wildcards. A path has at most 4,096 bytes.
const MAX_PATTERN_BYTES: usize = 16 << 10;
/// Maximum size of the automaton of one pattern.
const MAX_AUTOMATON_BYTES: usize = 128 << 10;
/// A search needs one bit for each state of the automaton and each byte of the path. The largest automaton
/// and a path of 4,096 bytes stay below this limit.
const MAX_SEARCH_BYTES: usize = 4 << 20;
/// A search with more steps than this may take a long time, so `is_stopped` is called before it. All shorter
/// searches for one path together take less than a second.
const MAX_UNCHECKED_STEPS: usize = 1 << 14;

thread_local! {
    /// The memory of the searches of this thread.
    static CACHE: RefCell<Option<Cache>> = const { RefCell::new(None) };
}

/// The reason why a line cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LineFault {
    /// In git, the line has no effect either.
    #[error("the pattern matches no path, because a class is invalid or a backslash is at the end")]
    MatchesNothing,
    #[error("the pattern is too large")]
    TooLarge,
}

/// The compiled patterns of a file.
#[derive(Default)]
pub struct GitPatterns {
    patterns: Vec<GitPattern>,
    names: Table,
    paths: Table,
    extensions: Table,
    /// The patterns that are in no table, in their order.
    expressions: Vec<Expression>,
}

/// Maps a text to the number of the last pattern with this text.
#[derive(Default)]
struct Table {
    all: HashMap<Vec<u8>, usize>,
    only_directories: HashMap<Vec<u8>, usize>,
}

impl Table {
    fn add(&mut self, text: &str, only_directories: bool, number: usize) {
        let numbers = if only_directories { &mut self.only_directories } else { &mut self.all };
        numbers.insert(text.into(), number);
    }

    fn find(&self, text: &[u8], is_directory: bool) -> Option<usize> {
        let of_directories = if is_directory { self.only_directories.get(text) } else { None };
        self.all.get(text).max(of_directories).copied()
    }
}

/// A pattern with wildcards.
struct Expression {
    number: usize,
    /// Whether the automaton reads only the name of a file, not the whole path.
    on_name: bool,
    /// The text before the first wildcard and the text after the last one. Most paths do not contain both.
    head: Vec<u8>,
    tail: Vec<u8>,
    automaton: BoundedBacktracker,
}

impl GitPatterns {
    /// Compiles the lines of a file, each with its number. Lines that cannot be used are passed to
    /// `unusable`, with the reason.
    pub fn compile<'l>(
        lines: impl IntoIterator<Item = (usize, &'l str)>,
        mut unusable: impl FnMut(usize, LineFault),
    ) -> Self {
        let mut patterns = Self::default();
        for (line, text) in lines {
            if let Err(fault) = patterns.add(line, text) {
                unusable(line, fault);
            }
        }
        patterns
    }

    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// The last pattern that matches the path. The path is relative to the directory of the file. The result
    /// is not valid if `is_stopped` returned true.
    pub fn find(&self, path: &[u8], is_directory: bool, is_stopped: &dyn Fn() -> bool) -> Option<&GitPattern> {
        if self.is_empty() {
            return None;
        }
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        let extension = name.iter().rposition(|byte| *byte == b'.').map(|dot| &name[dot + 1..]);
        let mut last = self.names.find(name, is_directory).max(self.paths.find(path, is_directory));
        last = last.max(extension.and_then(|extension| self.extensions.find(extension, is_directory)));
        let later = self.expressions.iter().rev().take_while(|expression| last < Some(expression.number));
        let found = later
            .filter(|expression| is_directory || !self.patterns[expression.number].only_directories)
            .find(|expression| expression.matches(path, name, is_stopped));
        last = found.map(|expression| expression.number).or(last);
        last.map(|number| &self.patterns[number])
    }

    fn add(&mut self, line: usize, text: &str) -> Result<(), LineFault> {
        let Some((pattern, glob)) = parse(line, text) else { return Ok(()) };
        let (number, only_directories) = (self.patterns.len(), pattern.only_directories);
        match Form::of(&glob) {
            Form::Name(name) => self.names.add(name, only_directories, number),
            Form::Path(path) => self.paths.add(path, only_directories, number),
            Form::Extension(extension) => self.extensions.add(extension, only_directories, number),
            Form::NameExpression(glob) => self.expressions.push(Expression::compile(number, true, glob)?),
            Form::PathExpression(glob) => self.expressions.push(Expression::compile(number, false, glob)?),
        }
        self.patterns.push(pattern);
        Ok(())
    }
}

impl Expression {
    fn compile(number: usize, on_name: bool, glob: &str) -> Result<Self, LineFault> {
        if glob.len() > MAX_PATTERN_BYTES {
            return Err(LineFault::TooLarge);
        }
        let regex = wildmatch::regex(glob).ok_or(LineFault::MatchesNothing)?;
        let limits = thompson::Config::new()
            .utf8(false)
            .which_captures(WhichCaptures::None)
            .shrink(false)
            .nfa_size_limit(Some(MAX_AUTOMATON_BYTES));
        let automaton = BoundedBacktracker::builder()
            .syntax(syntax::Config::new().utf8(false).dot_matches_new_line(true))
            .thompson(limits)
            .configure(Config::new().visited_capacity(MAX_SEARCH_BYTES))
            .build(&regex)
            .map_err(|_| LineFault::TooLarge)?;
        let head = glob.find(SPECIAL).map_or(glob, |end| &glob[..end]);
        let tail = glob.rfind(['*', '?', ']', '\\']).map_or(glob, |last| &glob[last + 1..]);
        // `**/` also matches an empty text.
        let tail = tail.strip_prefix('/').unwrap_or(tail);
        Ok(Self { number, on_name, head: head.into(), tail: tail.into(), automaton })
    }

    fn matches(&self, path: &[u8], name: &[u8], is_stopped: &dyn Fn() -> bool) -> bool {
        let text = if self.on_name { name } else { path };
        if !text.starts_with(&self.head) || !text.ends_with(&self.tail) {
            return false;
        }
        let num_steps = self.automaton.get_nfa().states().len() * text.len();
        (num_steps <= MAX_UNCHECKED_STEPS || !is_stopped()) && self.is_match(text)
    }

    fn is_match(&self, text: &[u8]) -> bool {
        CACHE.with_borrow_mut(|cache| {
            let cache = cache.get_or_insert_with(|| self.automaton.create_cache());
            cache.reset(&self.automaton);
            // The limits above exclude the only error: the path is too long for the automaton.
            self.automaton.try_is_match(cache, Input::new(text)).unwrap_or(false)
        })
    }
}

#[cfg(test)]
mod tests {
    use ignore::Match;
    use ignore::gitignore::GitignoreBuilder;
    use proptest::prelude::*;

    use super::*;
    use crate::pattern_lines::PatternCost;

    fn compile(lines: &[&str]) -> (GitPatterns, Vec<(usize, LineFault)>) {
        let mut unusable = Vec::new();
        let patterns =
            GitPatterns::compile(lines.iter().copied().zip(1..).map(|(text, line)| (line, text)), |line, fault| {
                unusable.push((line, fault));
            });
        (patterns, unusable)
    }

    fn found(patterns: &GitPatterns, path: &str, is_directory: bool) -> Option<(String, bool)> {
        let found = patterns.find(path.as_bytes(), is_directory, &|| false)?;
        Some((found.text.clone(), found.is_negative))
    }

    /// The result of the library `ignore`.
    fn expected(lines: &[&str], path: &str, is_directory: bool) -> Option<(String, bool)> {
        let mut builder = GitignoreBuilder::new("");
        for line in lines {
            let _unusable = builder.add_line(None, line);
        }
        match builder.build().expect("patterns").matched(path, is_directory) {
            Match::None => None,
            Match::Ignore(glob) => Some((glob.original().to_owned(), false)),
            Match::Whitelist(glob) => Some((glob.original().to_owned(), true)),
        }
    }

    fn check(lines: &[&str], paths: &[&str]) {
        let (patterns, _) = compile(lines);
        for path in paths {
            for is_directory in [false, true] {
                let (ours, theirs) = (found(&patterns, path, is_directory), expected(lines, path, is_directory));
                assert_eq!(ours, theirs, "{lines:?} for {path}, directory: {is_directory}");
            }
        }
    }

    /// The library treats some patterns differently from git. These patterns are in the next test.
    #[test]
    fn patterns_match_as_in_the_library() {
        let paths = [
            "a",
            "a.c",
            "b/a.c",
            "a1.c",
            "x/a1.c",
            "a/b",
            "a/x/b",
            "x/a/b",
            "a/b/c/d.pb.go",
            ".c",
            "a.",
            "x/.c",
            "node_modules",
            "x/node_modules/y",
            "größe.c",
            "a,b",
            "!a",
            "#a",
            "a b",
            "a ",
            "[a",
            "a/",
            "*",
            "a*",
        ];
        for line in [
            "a", "/a", "a/", "/a/", "*.c", "*.pb.go", "a?.c", "a?1.c", "/*.c", "a/*", "a/**", "**/b", "a/**/b", "**",
            "*", "!a", "!*.c", "\\!a", "\\#a", "#a", "[a-c]", "[!a]", "*.[ch]", "a\\ ", "a ", "a\\*", "**/", "/**",
            "a**", "**a", "*.", "a,b", "x/a/b", "größe*", "a/b/", "\\a", "***", "a//b", "**/**", "**/a/**", "[^/]",
            "a/?", "?", "*a*",
        ] {
            check(&[line], &paths);
            check(&["a.c", "*.c", "!a*", line, "!b/"], &paths);
        }
    }

    /// These results are the results of `git check-ignore --no-index`.
    #[test]
    fn patterns_match_as_in_git() {
        for (line, matching, others) in [
            ("/{{c.r}}/.env", &["{{c.r}}/.env"][..], &["c.r/.env"][..]),
            ("*.{log,tmp}", &["a.{log,tmp}"], &["a.log", "a.tmp"]),
            ("{secret.env", &["{secret.env", "x/{secret.env"], &["secret.env"]),
            ("a}b.*", &["a}b.key"], &["ab.key"]),
            ("foo[!0-9]*", &["foox", "x/foo.c"], &["foo/bar.c", "foo1"]),
            ("x/foo[+-Z]bar", &["x/foo.bar"], &["x/foo/bar"]),
            ("*.[[:digit:]]", &["man.1"], &["man.:", "man.d]"]),
            ("[[:space:][:upper:]]", &["Q", " "], &["q"]),
            ("[[:foo:]a]", &[], &["a", "f"]),
            ("[[:alpha]x", &["ax", ":x", "[x"], &["bx"]),
            ("[\\]]", &["]"], &["\\", "\\]"]),
            ("[\\-a]", &["-", "a"], &["\\", "b"]),
            ("[a-\\z]", &["q"], &["-"]),
            ("[]]", &["]"], &[]),
            ("[!]a]", &["b"], &["]", "a"]),
            ("[z-am]", &["z", "m"], &["a", "b", "-"]),
            ("[a-]", &["a", "-"], &["b"]),
            ("[a", &[], &["[a", "a"]),
            ("]1", &["]1"], &["1"]),
            ("a\\", &[], &["a", "a\\"]),
            ("a\\ ", &["a "], &["a"]),
            ("a\\  ", &["a "], &["a", "a  "]),
            ("a\\\\ ", &["a\\"], &["a\\ "]),
            ("a\t", &["a\t"], &["a"]),
            ("a?", &["ab"], &["aé", "a/"]),
            ("**\\/b", &["a/b"], &["b"]),
            ("y/***/b", &["y/b", "y/x/z/b"], &["yb"]),
            ("x/a**/b", &["x/ab", "x/aq/r/b"], &["x/b"]),
            ("?/a**/b", &["x/aq/b"], &["x/aq/r/b", "x/ab"]),
            ("a\\/", &[], &["a", "a\\"]),
        ] {
            let (patterns, _) = compile(&[line]);
            for (paths, expect) in [(matching, true), (others, false)] {
                for path in paths {
                    assert_eq!(found(&patterns, path, false).is_some(), expect, "{line} for {path}");
                }
            }
        }
    }

    #[test]
    fn unusable_lines_are_reported() {
        let (patterns, unusable) = compile(&["[z", "a*", "b\\", "[[:unknown:]]", "[/]", "{a"]);
        assert_eq!(unusable, [1, 3, 4, 5].map(|line| (line, LineFault::MatchesNothing)));
        assert_eq!(found(&patterns, "ab", false), Some(("a*".to_owned(), false)));
        for large in [format!("{}*", "[a-z]".repeat(100_000)), "*a".repeat(5_000), format!("[{}]", "a".repeat(20_000))]
        {
            assert_eq!(compile(&[&large]).1, [(1, LineFault::TooLarge)]);
        }
    }

    #[test]
    fn long_searches_can_be_stopped() {
        let (patterns, _) = compile(&["a*b*c*d*e*f*g*h*a"]);
        let path = "abcdefgh".repeat(400) + "a";
        assert!(patterns.find(path.as_bytes(), false, &|| false).is_some());
        assert!(patterns.find(path.as_bytes(), false, &|| true).is_none());
        assert!(patterns.find(b"abcdefgha", false, &|| true).is_some());
    }

    #[test]
    fn searches_of_long_paths_end() {
        let stars = "*a".repeat(400);
        let (patterns, unusable) = compile(&[&stars]);
        assert_eq!(unusable, []);
        assert!(patterns.find("a".repeat(4_000).as_bytes(), false, &|| false).is_some());
        assert!(patterns.find(format!("{}b", "a".repeat(4_000)).as_bytes(), false, &|| false).is_none());
    }

    #[test]
    fn memory_stays_below_the_estimate() {
        for pattern in ["a*c", "*", "a?1.c", "*.pb.go", "[a-z]*", "{abc,def,ghi}*", "[!b]*", "*é?", &"*a".repeat(500)]
        {
            let glob = parse(1, pattern).expect("a pattern").1;
            let expression = Expression::compile(0, false, &glob).expect("compiled");
            let bytes = expression.automaton.get_nfa().memory_usage() as u64;
            let estimate = PatternCost::of([pattern]).compiled_bytes;
            assert!(bytes + 1_024 < estimate, "{pattern}: {bytes} of {estimate}");
        }
    }

    proptest! {
        #[test]
        fn any_patterns_match_as_in_the_library(
            lines in prop::collection::vec("!?/?[ab.?c,-]{1,2}[*]?[ab.?c,-]{0,2}/?[ab.?c,-]?(/[*]{1,2})?", 1..6),
            path in "[abc][abc.]{0,2}(/[.]?[abc][abc.]{0,2}){0,3}",
        ) {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            check(&lines, &[&path]);
        }
    }
}
