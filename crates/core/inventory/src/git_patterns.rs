//! Compiles and matches the patterns of one rule file, in the syntax of `.gitignore`.
//!
//! Rule files come from repositories, so their patterns must not need more memory or time than their text
//! suggests. The library `globset` parses the patterns, but it does not match them, because its matcher may
//! fill a cache of 10 MiB for each pattern and thread. Names, paths and extensions are found in tables. Every
//! other pattern becomes a small automaton whose searches store nothing.

use std::cell::RefCell;
use std::collections::HashMap;

use globset::GlobBuilder;
use regex_automata::Input;
use regex_automata::nfa::thompson::backtrack::{BoundedBacktracker, Cache, Config};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::syntax;

use crate::patterns::{MAX_NESTING, nesting};

/// Maximum size of the automaton of one pattern.
const MAX_AUTOMATON_BYTES: usize = 128 << 10;
/// A search needs one bit for each state of the automaton and each byte of the path. The largest automaton
/// and a path of 4,096 bytes stay below this limit.
const MAX_SEARCH_BYTES: usize = 4 << 20;

thread_local! {
    /// The memory of the searches of this thread.
    static CACHE: RefCell<Option<Cache>> = const { RefCell::new(None) };
}

/// A pattern of a rule file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GitPattern {
    /// The pattern as it is written in the file.
    pub text: String,
    /// Whether the pattern begins with `!`.
    pub is_negative: bool,
    only_directories: bool,
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
    /// The text before the first wildcard and the text after the last. They exclude most paths.
    head: Vec<u8>,
    tail: Vec<u8>,
    automaton: BoundedBacktracker,
}

impl GitPatterns {
    /// Compiles the lines of a file, each with its number. Lines that cannot be used are passed to
    /// `unusable`, with the reason.
    pub fn compile<'l>(
        lines: impl IntoIterator<Item = (usize, &'l str)>,
        mut unusable: impl FnMut(usize, String),
    ) -> Self {
        let mut patterns = Self::default();
        for (line, text) in lines {
            if let Err(message) = patterns.add(text) {
                unusable(line, message);
            }
        }
        patterns
    }

    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// The last pattern that matches the path. The path is relative to the directory of the file.
    pub fn find(&self, path: &[u8], is_directory: bool) -> Option<&GitPattern> {
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
            .find(|expression| expression.matches(path, name));
        last = found.map(|expression| expression.number).or(last);
        last.map(|number| &self.patterns[number])
    }

    fn add(&mut self, line: &str) -> Result<(), String> {
        let Some((pattern, glob)) = parse(line) else { return Ok(()) };
        if nesting(&glob) > MAX_NESTING {
            return Err(format!("braces are nested deeper than {MAX_NESTING}"));
        }
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

/// Splits a line into the pattern and the glob for the whole path. `None` for a comment and an empty line.
/// Follows the function `add_line` of the library `ignore`.
fn parse(line: &str) -> Option<(GitPattern, String)> {
    let text = if line.ends_with("\\ ") { line } else { line.trim_end() };
    if line.starts_with('#') || text.is_empty() {
        return None;
    }
    let (mut rest, mut is_negative, mut is_anchored) = (text, false, false);
    if rest.starts_with("\\!") || rest.starts_with("\\#") {
        rest = &rest[1..];
    } else {
        (rest, is_negative) = rest.strip_prefix('!').map_or((rest, false), |after| (after, true));
        (rest, is_anchored) = rest.strip_prefix('/').map_or((rest, false), |after| (after, true));
    }
    let only_directories = rest.ends_with('/');
    if let Some(before) = rest.strip_suffix('/') {
        rest = before.strip_suffix('\\').unwrap_or(before);
    }
    let is_anywhere = !is_anchored && !rest.contains('/') && rest != "**";
    let mut glob = if is_anywhere { format!("**/{rest}") } else { rest.to_owned() };
    // The pattern matches everything inside of the directory, but not the directory itself.
    if glob.ends_with("/**") {
        glob.push_str("/*");
    }
    Some((GitPattern { text: text.to_owned(), is_negative, only_directories }, glob))
}

/// The form of a glob, which decides how it is matched.
#[derive(PartialEq, Eq, Debug)]
enum Form<'g> {
    Name(&'g str),
    Path(&'g str),
    Extension(&'g str),
    /// Matches if the glob matches the name.
    NameExpression(&'g str),
    PathExpression(&'g str),
}

impl<'g> Form<'g> {
    fn of(glob: &'g str) -> Self {
        let is_plain = |text: &str| !text.is_empty() && !text.contains(['*', '?', '[', ']', '{', '}', '\\']);
        let Some(name) = glob.strip_prefix("**/").filter(|name| !name.contains('/')) else {
            return if is_plain(glob) { Self::Path(glob) } else { Self::PathExpression(glob) };
        };
        let extension = name.strip_prefix("*.").filter(|extension| !extension.contains('.'));
        match extension {
            Some(extension) if is_plain(extension) => Self::Extension(extension),
            _ if is_plain(name) => Self::Name(name),
            // A class or a choice may match a slash.
            _ if name.is_empty() || name.contains(['[', '{', '\\']) => Self::PathExpression(glob),
            _ => Self::NameExpression(name),
        }
    }
}

impl Expression {
    fn compile(number: usize, on_name: bool, glob: &str) -> Result<Self, String> {
        let parsed = GlobBuilder::new(glob)
            .literal_separator(true)
            .backslash_escape(true)
            .allow_unclosed_class(true)
            .build()
            .map_err(|error| error.kind().to_string())?;
        let limits = thompson::Config::new()
            .utf8(false)
            .which_captures(WhichCaptures::None)
            .shrink(false)
            .nfa_size_limit(Some(MAX_AUTOMATON_BYTES));
        let automaton = BoundedBacktracker::builder()
            .syntax(syntax::Config::new().utf8(false).dot_matches_new_line(true))
            .thompson(limits)
            .configure(Config::new().visited_capacity(MAX_SEARCH_BYTES))
            .build(parsed.regex())
            .map_err(|_| "the pattern is too large".to_owned())?;
        let head = glob.find(['*', '?', '[', '{', '\\']).map_or(glob, |end| &glob[..end]);
        let tail = glob.rfind(['*', '?', '[', ']', '{', '}', '\\', ',']).map_or(glob, |last| &glob[last + 1..]);
        // `**/` also matches an empty text.
        let tail = tail.strip_prefix('/').unwrap_or(tail);
        Ok(Self { number, on_name, head: head.into(), tail: tail.into(), automaton })
    }

    fn matches(&self, path: &[u8], name: &[u8]) -> bool {
        let text = if self.on_name { name } else { path };
        text.starts_with(&self.head) && text.ends_with(&self.tail) && self.is_match(text)
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

    fn compile(lines: &[&str]) -> (GitPatterns, Vec<(usize, String)>) {
        let mut unusable = Vec::new();
        let patterns =
            GitPatterns::compile(lines.iter().copied().zip(1..).map(|(text, line)| (line, text)), |line, message| {
                unusable.push((line, message));
            });
        (patterns, unusable)
    }

    fn found(patterns: &GitPatterns, path: &str, is_directory: bool) -> Option<(String, bool)> {
        let found = patterns.find(path.as_bytes(), is_directory)?;
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
            "*", "/", "!", "!/", "!a", "!*.c", "\\!a", "\\#a", "#a", "[a-c]", "[!a]", "[a", "{a,b}", "{a,b}.c",
            "*.[ch]", "a\\ ", "a ", "a\\*", "**/", "/**", "a**", "**a", "*.", "a,b", "x/a/b", "größe*", "*.{c,h}",
            "a/b/", "\\a", "a\\/", "}", "{", "***", "a//b", "**/**", "**/a/**", "[^/]", "a/?", "?", "*a*",
        ] {
            check(&[line], &paths);
            check(&["a.c", "*.c", "!a*", line, "!b/"], &paths);
        }
    }

    #[test]
    fn unusable_lines_are_reported() {
        let (patterns, unusable) = compile(&["[z-a]", "a*", "{b", &format!("{}{}", "{".repeat(9), "}".repeat(9))]);
        assert_eq!(unusable.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 3, 4]);
        assert_eq!(found(&patterns, "ab", false), Some(("a*".to_owned(), false)));
        // Without a limit, such a pattern needs all space of the stack.
        let deep = format!("{}a{}", "{".repeat(100_000), "}".repeat(100_000));
        assert_eq!(compile(&[&deep]).1.len(), 1);
        let large = format!("{}*", "[a-z]".repeat(100_000));
        assert_eq!(compile(&[&large]).1, [(1, "the pattern is too large".to_owned())]);
    }

    #[test]
    fn searches_of_long_paths_end() {
        let stars = "*a".repeat(400);
        let (patterns, unusable) = compile(&[&stars]);
        assert_eq!(unusable, []);
        assert!(patterns.find("a".repeat(4_000).as_bytes(), false).is_some());
        assert!(patterns.find(format!("{}b", "a".repeat(4_000)).as_bytes(), false).is_none());
    }

    #[test]
    fn memory_stays_below_the_estimate() {
        for pattern in ["a*c", "*", "a?1.c", "*.pb.go", "[a-z]*", "{abc,def,ghi}*", "*é?", &"*a".repeat(500)] {
            let glob = parse(pattern).expect("a pattern").1;
            let expression = Expression::compile(0, false, &glob).expect("compiled");
            let bytes = expression.automaton.get_nfa().memory_usage() as u64;
            let estimate = PatternCost::of([pattern]).compiled_bytes;
            assert!(bytes + 1_024 < estimate, "{pattern}: {bytes} of {estimate}");
        }
    }

    proptest! {
        #[test]
        fn any_patterns_match_as_in_the_library(
            lines in prop::collection::vec("[ab.*?/!{},\\[\\]c-]{1,8}", 1..6),
            path in "[abc][abc.]{0,2}(/[.]?[abc][abc.]{0,2}){0,3}",
        ) {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            check(&lines, &[&path]);
        }
    }
}
