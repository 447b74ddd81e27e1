//! Lists of globs, as users write them in `include`, `exclude` and `include_override`.
//!
//! A pattern without a slash matches the file name in any directory. A pattern with a slash matches the path
//! from the root: `*` and `?` match within one part of the path, `**` matches any number of parts. A pattern
//! that ends with a slash or has no wildcard also matches everything below a directory of that name. Users
//! expect `docs` and `docs/` to match in this way.

use std::fmt;

use cairn_redaction::{Message, Own, Untrusted, Words, quoted};
use globset::{Candidate, GlobBuilder, GlobSet, GlobSetBuilder};

/// Limits on the patterns that Cairn compiles for a repository.
pub const MAX_PATTERNS: usize = 1_000;
const MAX_PATTERN_BYTES: usize = 1_000;
/// Maximum number of levels of nested braces. `{a,{b,c}}` has two levels. The glob compiler uses stack space
/// for each level.
pub const MAX_NESTING: usize = 8;

/// A pattern that cannot be compiled. The error is reported before any file is read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidPattern {
    /// The setting that contains the pattern, e.g. `exclude`. The name is never a text from a repository.
    pub field: &'static str,
    pub pattern: Untrusted,
    pub message: PatternFault,
}

impl InvalidPattern {
    /// The number of characters that may come from a repository.
    pub(crate) fn num_untrusted_chars(&self) -> usize {
        self.pattern.as_str().chars().count() + self.message.0.chars().count()
    }
}

/// The reason why a pattern cannot be compiled. The text consists of Cairn's own words, or of the quoted
/// message of the library, which may contain the pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PatternFault(Message);

impl fmt::Display for PatternFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.as_str())
    }
}

impl Words for PatternFault {
    fn add_to(self, message: &mut Message) {
        self.0.add_to(message);
    }
}

impl std::error::Error for InvalidPattern {}

impl fmt::Display for InvalidPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.to_message().as_str())
    }
}

impl InvalidPattern {
    fn to_message(&self) -> Message {
        let message = Message::from("invalid pattern ").and(self.pattern.clone());
        message.and(" in `").and(self.field).and("`: ").and(self.message.clone())
    }
}

impl PatternFault {
    fn of_library(kind: &globset::ErrorKind) -> Self {
        Self(Message::default().and(quoted(&kind.to_string())))
    }
}

/// Creates the reason from Cairn's own words, which must not contain text from a repository.
impl From<String> for PatternFault {
    fn from(own_words: String) -> Self {
        Self(Own(own_words).into())
    }
}

/// A compiled list of patterns.
pub struct Patterns {
    patterns: Vec<String>,
    names: Globs,
    paths: Globs,
}

/// A set of globs. `owners` maps each glob to the index of its pattern.
struct Globs {
    set: GlobSet,
    owners: Vec<usize>,
}

impl Patterns {
    /// Compiles the patterns. `field` is the name of the setting, used in messages. Reports every invalid
    /// pattern of the list. If the list has too many patterns, only this fault is reported.
    pub fn compile(field: &'static str, patterns: &[String]) -> Result<Self, Vec<InvalidPattern>> {
        if let Some(pattern) = patterns.get(MAX_PATTERNS) {
            let message = format!("the list has more than {MAX_PATTERNS} patterns");
            return Err(vec![InvalidPattern { field, pattern: quoted(pattern), message: message.into() }]);
        }
        Self::compile_counted(field, patterns)
    }

    /// Like `compile`, but does not limit the number of patterns. The caller must have limited it.
    pub fn compile_counted(field: &'static str, patterns: &[String]) -> Result<Self, Vec<InvalidPattern>> {
        let mut faults = Vec::new();
        let (mut names, mut paths) = (Vec::new(), Vec::new());
        for (index, pattern) in patterns.iter().enumerate() {
            match parse(pattern) {
                Ok(globs) => {
                    names.extend(globs.names.map(|glob| (glob, index)));
                    paths.extend(globs.paths.into_iter().map(|glob| (glob, index)));
                }
                Err(message) => {
                    faults.push(InvalidPattern { field, pattern: quoted(pattern), message });
                }
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let compile = |globs: Vec<(globset::Glob, usize)>| {
            Globs::compile(&globs)
                .map_err(|(index, message)| vec![InvalidPattern { field, pattern: quoted(&patterns[index]), message }])
        };
        Ok(Self { patterns: patterns.to_vec(), names: compile(names)?, paths: compile(paths)? })
    }

    /// Checks the form of a pattern without compiling it, because compiling takes much longer.
    pub fn check(pattern: &str) -> Result<(), PatternFault> {
        parse(pattern).map(drop)
    }

    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// The indexes of all patterns of the list that match the repository-relative path, in no particular
    /// order. An index may appear twice.
    pub fn find_all(&self, path: &str) -> impl Iterator<Item = usize> {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.names.all(name).chain(self.paths.all(path))
    }

    /// The first pattern of the list that matches the repository-relative path. The pattern is returned as
    /// written.
    pub fn find(&self, path: &str) -> Option<&str> {
        if self.is_empty() {
            return None;
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        let index = [self.names.first(name), self.paths.first(path)].into_iter().flatten().min()?;
        Some(&self.patterns[index])
    }
}

impl Globs {
    fn compile(globs: &[(globset::Glob, usize)]) -> Result<Self, (usize, PatternFault)> {
        let mut builder = GlobSetBuilder::new();
        let mut owners = Vec::with_capacity(globs.len());
        for (glob, owner) in globs {
            builder.add(glob.clone());
            owners.push(*owner);
        }
        match builder.build() {
            Ok(set) => Ok(Self { set, owners }),
            // The globs are compiled together. The search below finds the glob that is too large for the
            // engine.
            Err(error) => {
                let culprit = globs.iter().find(|(glob, _)| GlobSetBuilder::new().add(glob.clone()).build().is_err());
                Err((culprit.or(globs.first()).map_or(0, |(_, owner)| *owner), PatternFault::of_library(error.kind())))
            }
        }
    }

    fn first(&self, text: &str) -> Option<usize> {
        self.all(text).min()
    }

    fn all(&self, text: &str) -> impl Iterator<Item = usize> {
        let is_empty = self.owners.is_empty();
        let matches = if is_empty { Vec::new() } else { self.set.matches_candidate(&Candidate::new(text)) };
        matches.into_iter().map(|glob| self.owners[glob])
    }
}

/// The globs that represent one pattern.
struct ParsedPattern {
    names: Option<globset::Glob>,
    paths: Vec<globset::Glob>,
}

fn parse(written: &str) -> Result<ParsedPattern, PatternFault> {
    if written.len() > MAX_PATTERN_BYTES {
        return Err(format!("the pattern is longer than {MAX_PATTERN_BYTES} bytes").into());
    }
    if nesting(written) > MAX_NESTING {
        return Err(format!("braces are nested deeper than {MAX_NESTING}").into());
    }
    if written.starts_with('!') {
        let message = "a pattern with `!` is not supported here; use `include_override` to disable default excludes";
        return Err(message.to_owned().into());
    }
    let text = written.strip_prefix("./").unwrap_or(written);
    let (text, anchored) = text.strip_prefix('/').map_or((text, false), |rest| (rest, true));
    let (text, only_directory) = text.strip_suffix('/').map_or((text, false), |rest| (rest, true));
    if text.trim().is_empty() {
        return Err("the pattern is empty".to_owned().into());
    }
    if text.split('/').any(|part| part == "..") {
        let message = "`..` matches nothing; write a path relative to the root of the repository";
        return Err(message.to_owned().into());
    }
    let floating = !anchored && !text.contains('/');
    let literal = !text.contains(['*', '?', '[', '{', '\\']);
    let mut paths = Vec::new();
    if only_directory || literal {
        paths.push(glob(&format!("{text}/**"))?);
        if floating {
            paths.push(glob(&format!("**/{text}/**"))?);
        }
    }
    if !only_directory && !floating {
        paths.push(glob(text)?);
    }
    let names = if floating && !only_directory { Some(glob(text)?) } else { None };
    Ok(ParsedPattern { names, paths })
}

/// The number of levels of nested braces in a glob.
pub fn nesting(pattern: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in pattern.bytes() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

fn glob(text: &str) -> Result<globset::Glob, PatternFault> {
    GlobBuilder::new(text)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .map_err(|error| PatternFault::of_library(error.kind()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(patterns: &[&str], matching: &[&str], others: &[&str]) {
        let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        let set = Patterns::compile("include", &patterns).expect("valid patterns");
        for path in matching {
            assert!(set.find(path).is_some(), "{patterns:?} should match {path}");
        }
        for path in others {
            assert_eq!(set.find(path), None, "{patterns:?} should not match {path}");
        }
    }

    #[test]
    fn names_match_anywhere_and_paths_from_the_root() {
        check(&["*.go"], &["main.go", "a/b/c.go"], &["go", "main.gop", "a.go/b"]);
        check(&["**/*.md"], &["README.md", "docs/a.md", "a/b/c.md"], &["a.mdx"]);
        check(&["node_modules/**"], &["node_modules/a/b.js"], &["node_modules", "src/node_modules/a.js"]);
        check(&["**/node_modules/**"], &["node_modules/a", "x/y/node_modules/a"], &["node_modules_old/a"]);
        check(&["src/*.rs"], &["src/lib.rs"], &["src/a/lib.rs", "lib.rs", "x/src/lib.rs"]);
        check(&["src/**/*.rs"], &["src/lib.rs", "src/a/b.rs"], &["lib.rs"]);
        check(&["/*.rs"], &["lib.rs"], &["src/lib.rs"]);
        check(&["./src/*.rs"], &["src/lib.rs"], &["a/src/lib.rs"]);
        check(&["{a,b}.txt", "[0-9]?.c"], &["x/a.txt", "b.txt", "1x.c"], &["c.txt", "xx.c"]);
        check(&["src/foo[!0-9]*", "src/[+-Z]b"], &["src/foox", "src/.b"], &["src/foo/bar.c", "src/foo1", "src//b"]);
        check(&["*.[[:digit:]]"], &["man.1", "x/man.7"], &["man.d", "man.:"]);
        check(&["größe*"], &["größe.txt", "d/größer"], &["grosse"]);
    }

    #[test]
    fn directory_patterns_match_everything_below() {
        check(&["docs"], &["docs", "docs/a.md", "a/docs/b.md"], &["docs.md", "mydocs/a"]);
        check(&["docs/"], &["docs/a.md", "a/docs/b/c.md"], &["docs", "docs.md"]);
        check(&["src/api"], &["src/api", "src/api/a.rs"], &["x/src/api/a.rs", "src/apis"]);
        check(&["gen*/"], &["gen/a", "x/generated/a"], &["generated"]);
        check(&["test_*"], &["test_a.py", "x/test_b.py"], &["test_data/a.py"]);
    }

    #[test]
    fn first_matching_pattern_is_named_as_written() {
        let patterns = ["*.rs".to_owned(), "src/".to_owned(), "*".to_owned()];
        let set = Patterns::compile("exclude", &patterns).expect("valid patterns");
        assert_eq!(set.find("src/a.rs"), Some("*.rs"));
        assert_eq!(set.find("src/a.py"), Some("src/"));
        assert_eq!(set.find("a.py"), Some("*"));
    }

    #[test]
    fn every_invalid_pattern_is_named() {
        let check = |pattern: &str| {
            let patterns = ["ok".to_owned(), pattern.to_owned(), "[".to_owned()];
            let faults = Patterns::compile("exclude", &patterns).err().expect("refused");
            assert_eq!(faults.len(), 2, "{pattern}: {faults:?}");
            assert_eq!((faults[0].field, faults[1].pattern.as_str()), ("exclude", "["));
            assert_eq!(faults[0].pattern, quoted(pattern));
        };
        for pattern in ["[", "a[z-a]", "{a,b", "a}", "", "/", "  ", "!src", "../x", "a\\", &"x".repeat(2_000)] {
            check(pattern);
        }
        check(&format!("{}{}", "{a,".repeat(9), "}".repeat(9)));
    }

    #[test]
    fn hostile_patterns_stay_cheap() {
        let nested = "{a,b}".repeat(150);
        let stars = "*a".repeat(400);
        for pattern in [nested, stars] {
            if let Ok(set) = Patterns::compile("include", std::slice::from_ref(&pattern)) {
                assert_eq!(set.find(&"a".repeat(4_000).replace("aaaa", "aaab")), set.find(&"aaab".repeat(1_000)));
            }
        }
    }
}
