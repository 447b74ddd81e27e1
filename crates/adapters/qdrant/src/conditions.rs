//! Converts the view, the scope and the filter of a search to a filter of Qdrant.

use cairn_domain::{RepositoryId, RepositoryScope, Scope, View};
use cairn_ports::{ChunkFilter, IncludeTests};
use qdrant_client::qdrant::{Condition, Filter, Range};

use crate::error::Fault;
use crate::fields::*;
use crate::paths::PathFilter;

/// The filter of a search.
pub(crate) struct FilterParts {
    pub(crate) filter: Filter,
    /// Path patterns that Qdrant can test only in part. The paths that Qdrant returns are tested again with
    /// these patterns.
    pub(crate) paths: Option<PathFilter>,
}

impl FilterParts {
    /// Returns `None` if nothing is in scope.
    pub(crate) fn new(view: &View, scope: &Scope, filter: &ChunkFilter) -> Result<Option<Self>, Fault> {
        let paths = PathFilter::new(&filter.paths)?;
        let Some(mut conditions) = visible_in_scope(view, scope) else { return Ok(None) };
        conditions.must.extend(restrictions(filter));
        conditions.must.extend(paths.as_ref().and_then(PathFilter::condition));
        Ok(Some(Self { filter: conditions, paths: paths.filter(|paths| !paths.is_exact()) }))
    }
}

/// Returns the filter for the part of the scope that is visible in the view; `None` if the scope is empty.
pub(crate) fn visible_in_scope(view: &View, scope: &Scope) -> Option<Filter> {
    let mut filter = visible(view);
    filter.must.push(Condition::matches(TENANT, scope.tenant.as_str().to_owned()));
    match &scope.repositories {
        RepositoryScope::Only(ids) => {
            let seen = names(ids.iter().filter(|id| view.sees_repository(**id)));
            if seen.is_empty() {
                return None;
            }
            filter.must.push(Condition::matches(REPOSITORY, seen));
        }
        RepositoryScope::All if view.hidden_repositories.is_empty() => {}
        RepositoryScope::All => {
            filter.must_not.push(Condition::matches(REPOSITORY, names(view.hidden_repositories.iter())));
        }
    }
    Some(filter)
}

fn names<'a>(ids: impl Iterator<Item = &'a RepositoryId>) -> Vec<String> {
    ids.map(RepositoryId::to_string).collect()
}

/// Selects the versions that began in a published generation and that no published generation ended.
fn visible(view: &View) -> Filter {
    let hidden: Vec<i64> = view.hidden.iter().map(|generation| generation.0 as i64).collect();
    let mut unpublished_end = vec![Condition::range(GEN_TO, from(view.next_gen))];
    let mut filter = Filter::must([Condition::range(GEN_FROM, below(view.next_gen))]);
    if !hidden.is_empty() {
        unpublished_end.push(Condition::matches(GEN_TO, hidden.clone()));
        filter.must_not.push(Condition::matches(GEN_FROM, hidden));
    }
    filter.must.push(Filter::should(unpublished_end).into());
    filter
}

fn below(generation: u64) -> Range {
    Range { lt: Some(generation as f64), ..Range::default() }
}

fn from(generation: u64) -> Range {
    Range { gte: Some(generation as f64), ..Range::default() }
}

/// Returns the conditions of the filter, except those on paths.
fn restrictions(filter: &ChunkFilter) -> Vec<Condition> {
    let ChunkFilter { languages, kinds, paths: _, module_prefixes, include_tests, tags, since } = filter;
    let mut must = Vec::new();
    if !languages.is_empty() {
        must.push(Condition::matches(LANGUAGE, languages.clone()));
    }
    if !kinds.is_empty() {
        must.push(Condition::matches(KIND, kinds.iter().map(|kind| kind.as_str().to_owned()).collect::<Vec<_>>()));
    }
    // The empty module contains every module, so it needs no condition.
    if !module_prefixes.is_empty() && !module_prefixes.iter().any(String::is_empty) {
        must.push(Condition::matches(MODULES, module_prefixes.clone()));
    }
    match include_tests {
        IncludeTests::Include => {}
        IncludeTests::Exclude => must.push(Condition::matches(IS_TEST, false)),
        IncludeTests::Only => must.push(Condition::matches(IS_TEST, true)),
    }
    must.extend(tags.iter().map(|tag| Condition::matches(TAGS, tag.clone())));
    if let Some(since) = since {
        let changed = Range { gte: Some(*since as f64), ..Range::default() };
        must.push(Filter::should([Condition::is_empty(CHANGED_AT), Condition::range(CHANGED_AT, changed)]).into());
    }
    must
}
