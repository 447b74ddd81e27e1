//! Applies a chunk filter to chunks that are fetched by their keys. This check is needed because stores apply
//! filters only to searches.

use cairn_domain::{ChunkRecord, RepoPath};
use cairn_ports::{ChunkFilter, IncludeTests};
use cairn_redaction::Own;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::{QueryError, QueryErrorCode};

/// A chunk filter with compiled globs. This filter accepts the same chunks as the filter of a store.
pub(crate) struct CompiledFilter<'a> {
    filter: &'a ChunkFilter,
    paths: GlobSet,
    /// The patterns without `/`, which also match base names.
    base_names: GlobSet,
}

impl<'a> CompiledFilter<'a> {
    pub(crate) fn new(filter: &'a ChunkFilter) -> Result<Self, QueryError> {
        let base_names = filter.paths.iter().filter(|pattern| !pattern.contains('/'));
        Ok(Self { filter, paths: glob_set(filter.paths.iter())?, base_names: glob_set(base_names)? })
    }

    pub(crate) fn lets_through(&self, chunk: &ChunkRecord) -> bool {
        let ChunkFilter { languages, kinds, paths: _, module_prefixes, include_tests, tags, since } = self.filter;
        let is_in_module = |prefix: &String| is_in(&chunk.module_path, prefix);
        (languages.is_empty() || languages.contains(&chunk.language))
            && (kinds.is_empty() || kinds.contains(&chunk.kind))
            && (module_prefixes.is_empty() || module_prefixes.iter().any(is_in_module))
            && tags.iter().all(|tag| chunk.tags.contains(tag))
            && since.is_none_or(|since| chunk.changed_at.is_none_or(|changed_at| changed_at >= since))
            && match include_tests {
                IncludeTests::Include => true,
                IncludeTests::Exclude => !chunk.is_test,
                IncludeTests::Only => chunk.is_test,
            }
            && self.lets_file_through(&chunk.path)
    }

    pub(crate) fn lets_file_through(&self, path: &RepoPath) -> bool {
        self.paths.is_empty() || self.paths.is_match(path.as_str()) || self.base_names.is_match(path.file_name())
    }
}

/// Whether the module is the prefix or is below the prefix. For example, `a.b.c` is below `a.b`. Every module
/// is below the empty prefix.
pub(crate) fn is_in(module: &str, prefix: &str) -> bool {
    let rest = module.strip_prefix(prefix);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.') || prefix.is_empty())
}

fn glob_set<'a>(patterns: impl Iterator<Item = &'a String>) -> Result<GlobSet, QueryError> {
    let invalid = |error: globset::Error| {
        QueryError::new(QueryErrorCode::ValidationError, Own(format!("`paths` has an invalid glob: {error}")))
    };
    let mut builder = GlobSetBuilder::new();
    for pattern in patterns {
        builder.add(GlobBuilder::new(pattern).literal_separator(true).build().map_err(invalid)?);
    }
    builder.build().map_err(invalid)
}
