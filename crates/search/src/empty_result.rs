//! Explains why a search found nothing: whether anything is indexed, and which restriction excludes the
//! results.

use std::collections::BTreeMap;

use cairn_domain::View;
use cairn_ports::{ChunkFilter, IncludeTests};
use cairn_ranking::RankedHit;

use crate::prepared_query::PreparedQuery;
use crate::repositories::{KnownRepository, name_of};
use crate::{QueryError, RepositorySelection, Searcher};

/// A part of a request that restricts the results.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Restriction {
    Repositories,
    Languages,
    Kinds,
    Paths,
    Modules,
    Tests,
    Tags,
    Since,
}

impl Restriction {
    pub const ALL: [Restriction; 8] = [
        Restriction::Repositories,
        Restriction::Languages,
        Restriction::Kinds,
        Restriction::Paths,
        Restriction::Modules,
        Restriction::Tests,
        Restriction::Tags,
        Restriction::Since,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Restriction::Repositories => "repositories",
            Restriction::Languages => "languages",
            Restriction::Kinds => "kinds",
            Restriction::Paths => "paths",
            Restriction::Modules => "modules",
            Restriction::Tests => "tests",
            Restriction::Tags => "tags",
            Restriction::Since => "since",
        }
    }

    /// The filter without this restriction. None if the filter does not contain the restriction.
    fn removed_from(self, filter: &ChunkFilter) -> Option<ChunkFilter> {
        let mut wider = filter.clone();
        match self {
            Restriction::Repositories => {}
            Restriction::Languages => wider.languages.clear(),
            Restriction::Kinds => wider.kinds.clear(),
            Restriction::Paths => wider.paths.clear(),
            Restriction::Modules => wider.module_prefixes.clear(),
            Restriction::Tests => wider.include_tests = IncludeTests::Include,
            Restriction::Tags => wider.tags.clear(),
            Restriction::Since => wider.since = None,
        }
        (wider != *filter).then_some(wider)
    }
}

/// A module with results for the query if the restrictions are removed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RelatedModule {
    pub repository: String,
    pub module: String,
    /// Number of results in this module among the best results of a search without restrictions.
    pub num_results: usize,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NothingFound {
    /// Requested repositories without a published generation.
    pub not_indexed: Vec<String>,
    /// Number of chunks in the requested repositories, without the filter.
    pub num_chunks: u64,
    /// Restrictions whose removal would give results, each with the number of chunks that would match. The
    /// restriction with most chunks comes first.
    pub without: Vec<(Restriction, u64)>,
    /// At most five modules, most results first.
    pub modules: Vec<RelatedModule>,
}

const MAX_MODULES: usize = 5;
/// Number of best results whose modules are counted.
const MODULES_OF_BEST: usize = 20;

/// The explanation of a search without results.
pub(crate) struct EmptyResult {
    pub(crate) hidden_by_scope: Option<String>,
    pub(crate) nothing_found: NothingFound,
}

impl Searcher {
    /// Explains why nothing was found. If the question has restrictions, a second retrieval runs without
    /// them.
    pub(crate) async fn explain_empty(
        &self,
        query: &PreparedQuery,
        selected: &[KnownRepository],
        repositories: &RepositorySelection,
        filter: &ChunkFilter,
    ) -> Result<EmptyResult, QueryError> {
        let view = &query.view;
        let all = match repositories.is_all() {
            true => selected.to_vec(),
            false => self.select(view, &RepositorySelection::default()).await?,
        };
        let no_filter = ChunkFilter::default();
        let is_restricted = selected.len() < all.len() || *filter != no_filter;
        let wide = if is_restricted { self.ranked(query, &all, &no_filter).await? } else { Vec::new() };
        let is_unpublished = |known: &&KnownRepository| known.published.is_none();
        let scope = self.scope_of(selected);
        let nothing_found = NothingFound {
            not_indexed: selected.iter().filter(is_unpublished).map(|known| known.record.name.to_string()).collect(),
            num_chunks: self.vectors.count(view, &scope, &no_filter).await?,
            without: self.without(view, selected, &all, filter).await?,
            modules: related_modules(&all, &wide),
        };
        Ok(EmptyResult { hidden_by_scope: hidden_by_scope(wide.len()), nothing_found })
    }

    async fn without(
        &self,
        view: &View,
        selected: &[KnownRepository],
        all: &[KnownRepository],
        filter: &ChunkFilter,
    ) -> Result<Vec<(Restriction, u64)>, QueryError> {
        let mut without = Vec::new();
        for restriction in Restriction::ALL {
            let num_chunks = match restriction.removed_from(filter) {
                Some(wider) => self.vectors.count(view, &self.scope_since(selected, &wider), &wider).await?,
                None if restriction == Restriction::Repositories && selected.len() < all.len() => {
                    self.vectors.count(view, &self.scope_since(all, filter), filter).await?
                }
                None => 0,
            };
            if num_chunks > 0 {
                without.push((restriction, num_chunks));
            }
        }
        without.sort_by_key(|(restriction, num_chunks)| (std::cmp::Reverse(*num_chunks), *restriction));
        Ok(without)
    }
}

fn hidden_by_scope(num_hidden: usize) -> Option<String> {
    let message = || {
        format!(
            "{num_hidden} results are outside the given repositories and filters; search without these restrictions to see them"
        )
    };
    (num_hidden > 0).then(message)
}

/// The modules of the best results of the retrieval without restrictions.
fn related_modules(all: &[KnownRepository], wide: &[RankedHit]) -> Vec<RelatedModule> {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for hit in wide.iter().take(MODULES_OF_BEST).filter(|hit| !hit.chunk.module_path.is_empty()) {
        let module = (name_of(all, hit.chunk.repository), hit.chunk.module_path.clone());
        *counts.entry(module).or_default() += 1;
    }
    let mut modules: Vec<RelatedModule> = counts
        .into_iter()
        .map(|((repository, module), num_results)| RelatedModule { repository, module, num_results })
        .collect();
    modules.sort_by_key(|module| std::cmp::Reverse(module.num_results));
    modules.truncate(MAX_MODULES);
    modules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_present_restrictions_are_removed() {
        let filter =
            ChunkFilter { languages: vec!["rust".into()], include_tests: IncludeTests::Only, ..Default::default() };
        let removable: Vec<Restriction> =
            Restriction::ALL.into_iter().filter(|restriction| restriction.removed_from(&filter).is_some()).collect();
        assert_eq!(removable, [Restriction::Languages, Restriction::Tests]);
        let without_tests = Restriction::Tests.removed_from(&filter).expect("a restriction on tests");
        assert_eq!(without_tests, ChunkFilter { languages: vec!["rust".into()], ..Default::default() });
    }
}
