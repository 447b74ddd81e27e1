//! Applies filters to sets of rows. Properties that all rows of a source file share are tested once for each
//! source file.

use cairn_domain::ChunkKind;
use cairn_ports::{ChunkFilter, IncludeTests, literal_path};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::error::SegmentError;
use crate::format::{FileEntry, FileTable, IS_TEST};
use crate::rows::RowSet;
use crate::segment::Segment;

/// A filter, ready to be applied to any segment.
pub(crate) struct CompiledFilter {
    filter: ChunkFilter,
    /// The path patterns that contain no wildcard. Queries often name single files, and comparing two paths
    /// is cheaper than matching a glob.
    literals: Vec<String>,
    paths: Option<GlobSet>,
    names: Option<GlobSet>,
}

impl CompiledFilter {
    /// Returns an error if a glob is invalid.
    pub(crate) fn new(filter: &ChunkFilter) -> Result<Self, SegmentError> {
        // As in the inventory, a pattern without `/` also matches base names.
        let literals: Vec<Option<String>> = filter.paths.iter().map(|pattern| literal_path(pattern)).collect();
        let patterns = || filter.paths.iter().zip(&literals).filter(|(_, literal)| literal.is_none());
        let paths = globs(patterns().map(|(pattern, _)| pattern))?;
        let names = globs(patterns().map(|(pattern, _)| pattern).filter(|pattern| !pattern.contains('/')))?;
        Ok(Self { filter: filter.clone(), paths, names, literals: literals.into_iter().flatten().collect() })
    }

    /// Removes the rows from `rows` that the filter rejects.
    pub(crate) fn restrict(&self, segment: &Segment, rows: &mut RowSet) {
        if self.looks_at_files() {
            let table = segment.file_table();
            let mut matching = RowSet::none(segment.num_rows());
            for (file, range) in segment.files() {
                if self.lets_file_through(table, file) {
                    matching.insert_range(range.start, range.end);
                }
            }
            rows.intersect(&matching);
        }
        if !self.filter.kinds.is_empty() || self.filter.include_tests != IncludeTests::Include {
            rows.retain(|row| {
                let columns = segment.row(row);
                self.lets_kind_through(columns.kind) && self.lets_test_through(columns.flags & IS_TEST != 0)
            });
        }
    }

    fn looks_at_files(&self) -> bool {
        let ChunkFilter { languages, kinds: _, paths, module_prefixes, include_tests: _, tags, since } = &self.filter;
        !(languages.is_empty() && paths.is_empty() && module_prefixes.is_empty() && tags.is_empty() && since.is_none())
    }

    fn lets_file_through(&self, table: &FileTable, file: &FileEntry) -> bool {
        let filter = &self.filter;
        let language = &table.languages[file.language as usize];
        let tags = &table.tag_sets[file.tag_set as usize];
        let module = &table.modules[file.module as usize];
        (filter.languages.is_empty() || filter.languages.contains(language))
            && filter.tags.iter().all(|tag| tags.contains(tag))
            && filter.since.is_none_or(|since| file.changed_at.is_none_or(|changed_at| changed_at >= since))
            && (filter.module_prefixes.is_empty() || filter.module_prefixes.iter().any(|prefix| is_in(module, prefix)))
            && self.lets_path_through(&file.path)
    }

    fn lets_path_through(&self, path: &str) -> bool {
        if self.literals.iter().any(|literal| is_path_or_base_name(literal, path)) {
            return true;
        }
        let Some(paths) = &self.paths else { return self.literals.is_empty() };
        let base_name = path.rsplit('/').next().unwrap_or(path);
        paths.is_match(path) || self.names.as_ref().is_some_and(|names| names.is_match(base_name))
    }

    fn lets_kind_through(&self, kind: u8) -> bool {
        let kinds = &self.filter.kinds;
        kinds.is_empty() || ChunkKind::ALL.get(usize::from(kind)).is_some_and(|kind| kinds.contains(kind))
    }

    fn lets_test_through(&self, is_test: bool) -> bool {
        match self.filter.include_tests {
            IncludeTests::Include => true,
            IncludeTests::Exclude => !is_test,
            IncludeTests::Only => is_test,
        }
    }
}

/// Whether the module is inside the module `prefix`, for example `a.b.c` in `a.b`.
fn is_in(module: &str, prefix: &str) -> bool {
    module.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.') || prefix.is_empty())
}

/// Whether the literal equals the path. A literal without `/` may also equal the base name of the path.
fn is_path_or_base_name(literal: &str, path: &str) -> bool {
    path.strip_suffix(literal)
        .is_some_and(|before| before.is_empty() || (before.ends_with('/') && !literal.contains('/')))
}

fn globs<'a>(patterns: impl Iterator<Item = &'a String>) -> Result<Option<GlobSet>, SegmentError> {
    let mut builder = GlobSetBuilder::new();
    let mut is_empty = true;
    for pattern in patterns {
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        builder.add(glob.map_err(|error| {
            SegmentError::Invalid(format!("the path pattern `{pattern}` is invalid: {}", error.kind()))
        })?);
        is_empty = false;
    }
    let set = builder
        .build()
        .map_err(|error| SegmentError::Invalid(format!("the path patterns cannot be compiled: {error}")))?;
    Ok((!is_empty).then_some(set))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_prefix_ends_at_a_dot() {
        for (module, prefix, expect) in
            [("a.b", "a.b", true), ("a.b.c", "a.b", true), ("a.bc", "a.b", false), ("a", "a.b", false), ("a", "", true)]
        {
            assert_eq!(is_in(module, prefix), expect, "{module} in {prefix}");
        }
    }

    #[test]
    fn paths_match_whole_or_by_base_name() {
        let check = |pattern: &str, path: &str, expect: bool| {
            let filter = ChunkFilter { paths: vec![pattern.to_owned()], ..ChunkFilter::default() };
            let compiled = CompiledFilter::new(&filter).expect("valid");
            assert_eq!(compiled.lets_path_through(path), expect, "{pattern} {path}");
        };
        check("*.go", "a/b.go", true);
        check("*.go", "b.go", true);
        check("a/*.go", "a/b.go", true);
        check("a/*.go", "a/c/b.go", false);
        check("a/**", "a/c/b.go", true);
        check("**/c/*", "a/c/b.go", true);
        check("b.rs", "a/b.go", false);
        check("b.go", "a/b.go", true);
        check("b.go", "a/bb.go", false);
        check("a/b.go", "x/a/b.go", false);
        check("a/b.go", "a/b.go", true);
        check("a/[*]b[[]c].go", "a/*b[c].go", true);
        check("a/[*]b.go", "a/*b.go", true);
        check("a/[!b].go", "a/c.go", true);
        for path in ["a/b.go", "a/x{y},z!.go", "[id]/page.ts", "a/b*c?.rs", "ä/ö.md"] {
            check(&globset::escape(path), path, true);
            check(&globset::escape(path), "a/other.go", false);
        }
        let invalid = ChunkFilter { paths: vec!["a[".into()], ..ChunkFilter::default() };
        assert!(CompiledFilter::new(&invalid).is_err_and(|error| error.to_string().contains("`a[`")));
    }
}
