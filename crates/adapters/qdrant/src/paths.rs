//! Tests path patterns: first the part that Qdrant's indexes can test, then the complete patterns.
//!
//! Qdrant does not support globs. Each pattern is converted to conditions that every matching path meets: its
//! extension, its base name, or a folder above it. Some paths meet the conditions but do not match the
//! pattern. This module therefore matches the returned paths again, with the same rules as in local mode.

use cairn_ports::{ErrorKind, literal_path};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use qdrant_client::qdrant::{Condition, Filter};

use crate::error::Fault;
use crate::fields::{BASE_NAME, EXTENSION, FOLDERS, PATH};

pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Returns the text after the last dot of the base name.
pub(crate) fn extension(path: &str) -> Option<&str> {
    base_name(path).rsplit_once('.').map(|(_, extension)| extension)
}

/// Returns the folders above a file, such as `a` and `a/b` for `a/b/c.rs`.
pub(crate) fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(end, _)| &path[..end])
}

/// A set of patterns. A path matches the set if it matches one of the patterns.
pub(crate) struct PathFilter {
    /// Paths from patterns without a wildcard. Qdrant can test these patterns completely.
    literals: Vec<String>,
    globs: Vec<String>,
    whole: GlobSet,
    /// Patterns without `/`. These patterns are also matched against base names.
    names: GlobSet,
}

impl PathFilter {
    /// Returns `None` if `patterns` is empty. Fails on an invalid pattern.
    pub(crate) fn new(patterns: &[String]) -> Result<Option<Self>, Fault> {
        if patterns.is_empty() {
            return Ok(None);
        }
        let (mut literals, mut globs) = (Vec::new(), Vec::new());
        for pattern in patterns {
            match literal_path(pattern) {
                Some(literal) => literals.push(literal),
                None => globs.push(pattern.clone()),
            }
        }
        let whole = glob_set(globs.iter())?;
        let names = glob_set(globs.iter().filter(|pattern| !pattern.contains('/')))?;
        Ok(Some(Self { literals, globs, whole, names }))
    }

    /// True if `condition` tests the patterns completely.
    pub(crate) fn is_exact(&self) -> bool {
        self.globs.is_empty()
    }

    pub(crate) fn matches(&self, path: &str) -> bool {
        self.literals.iter().any(|literal| literal == path || !literal.contains('/') && literal == base_name(path))
            || self.whole.is_match(path)
            || self.names.is_match(base_name(path))
    }

    /// Returns a condition that every matching path meets; `None` if a pattern has no part that an index of
    /// Qdrant can test.
    pub(crate) fn condition(&self) -> Option<Condition> {
        let (whole, names): (Vec<_>, Vec<_>) = self.literals.iter().cloned().partition(|literal| literal.contains('/'));
        let mut should = Vec::new();
        if !whole.is_empty() {
            should.push(Condition::matches(PATH, whole));
        }
        if !names.is_empty() {
            should.push(Condition::matches(BASE_NAME, names));
        }
        for glob in &self.globs {
            let needed = necessary(glob);
            if needed.is_empty() {
                return None;
            }
            should.push(Filter::must(needed).into());
        }
        Some(Filter::should(should).into())
    }
}

fn glob_set<'a>(patterns: impl Iterator<Item = &'a String>) -> Result<GlobSet, Fault> {
    let mut builder = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        builder.add(
            glob.map_err(|error| {
                Fault::new(ErrorKind::Invalid, format!("path pattern `{pattern}`: {}", error.kind()))
            })?,
        );
    }
    builder.build().map_err(|error| Fault::new(ErrorKind::Invalid, format!("path patterns: {error}")))
}

fn is_special(character: char) -> bool {
    matches!(character, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | ',' | '!')
}

/// The values that the indexed fields of a path must have if the path matches a glob. `None`: any value is
/// possible.
#[derive(PartialEq, Eq, Debug)]
struct Needs<'a> {
    folder: Option<&'a str>,
    base_name: Option<&'a str>,
    extension: Option<&'a str>,
}

fn needs(glob: &str) -> Needs<'_> {
    let head = glob.find(is_special).map_or(glob, |first| &glob[..first]);
    let tail = glob.rfind(is_special).map_or(glob, |last| &glob[last + 1..]);
    let folder = head.rsplit_once('/').map(|(folder, _)| folder).filter(|folder| !folder.is_empty());
    // The tail ends with a complete base name only if the tail contains a slash before this name. This also
    // holds for the slash of `**/`, although `**/` may match the empty text.
    let base_name = tail.rsplit_once('/').map(|(_, name)| name).filter(|name| !name.is_empty());
    let extension = match base_name {
        Some(_) => None,
        None => tail.rsplit_once('.').map(|(_, extension)| extension),
    };
    Needs { folder, base_name, extension }
}

fn necessary(glob: &str) -> Vec<Condition> {
    let Needs { folder, base_name, extension } = needs(glob);
    let needed = [(FOLDERS, folder), (BASE_NAME, base_name), (EXTENSION, extension)];
    needed.into_iter().filter_map(|(field, text)| Some(Condition::matches(field, text?.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn needed_values_come_from_both_ends_of_a_glob() {
        let check = |glob: &str, folder: Option<&str>, base_name: Option<&str>, extension: Option<&str>| {
            assert_eq!(needs(glob), Needs { folder, base_name, extension }, "{glob}");
        };
        check("*.go", None, None, Some("go"));
        check("src/**", Some("src"), None, None);
        check("src/a/*.d.ts", Some("src/a"), None, Some("ts"));
        check("**/Makefile", None, Some("Makefile"), None);
        check("a/**/mod.rs", Some("a"), Some("mod.rs"), None);
        check("a/b*", Some("a"), None, None);
        check("{a,b}/x.{c,h}", None, None, None);
        check("a/[!b].go", Some("a"), None, Some("go"));
        check("*.", None, None, Some(""));
        check("a/*/", Some("a"), None, None);
    }

    /// True if the fields of a path have the values in `needs`.
    fn meets(needs: &Needs<'_>, path: &str) -> bool {
        needs.folder.is_none_or(|folder| folders(path).any(|above| above == folder))
            && needs.base_name.is_none_or(|name| name == base_name(path))
            && needs.extension.is_none_or(|wanted| extension(path) == Some(wanted))
    }

    fn pieces(pieces: &'static [&'static str], most: usize) -> impl Strategy<Value = String> {
        proptest::collection::vec(proptest::sample::select(pieces), 1..most).prop_map(|pieces| pieces.concat())
    }

    const OF_PATHS: &[&str] = &["a", "b", "ab", ".", "rs", "/", "go", "ä", "\\\\", "[", "*"];
    const OF_GLOBS: &[&str] = &[
        "a", "b", ".", "rs", "/", "go", "*", "**", "**/", "/**", "?", "[ab]", "[!a]", "{a,b}", "{rs,go}", "\\*", "[*]",
        ",",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn matching_paths_have_the_needed_values_of_a_glob(glob in pieces(OF_GLOBS, 7), path in pieces(OF_PATHS, 8)) {
            let path = path.trim_matches('/').to_owned();
            prop_assume!(!path.is_empty());
            if let Ok(Some(filter)) = PathFilter::new(std::slice::from_ref(&glob))
                && !filter.is_exact()
                && filter.matches(&path)
            {
                prop_assert!(meets(&needs(&glob), &path), "{glob} matches {path}: {:?}", needs(&glob));
            }
        }
    }
}
