//! What is known when a search finds nothing: whether there is anything to search, and which restriction hides it.

use std::collections::BTreeMap;

use cairn_domain::View;
use cairn_ports::{ChunkFilter, IncludeTests};

use crate::repositories::KnownRepository;
use crate::search::name_of;
use crate::{QueryError, RepositorySelection, SearchRequest, Searcher};

/// A part of a request that narrows what can be found.
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

    /// The filter without this restriction; none if it does not have it.
    fn lifted(self, filter: &ChunkFilter) -> Option<ChunkFilter> {
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

/// A module that has results for the query where the restrictions are lifted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RelatedModule {
    pub repository: String,
    pub module: String,
    /// Of the best results without restrictions, so many lie in it.
    pub num_results: usize,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NothingFound {
    /// Repositories asked for that have no published generation.
    pub not_indexed: Vec<String>,
    /// Chunks in the repositories asked for, whatever the filter.
    pub num_chunks: u64,
    /// Restrictions without which there is something, and how many chunks that is; most first.
    pub without: Vec<(Restriction, u64)>,
    /// At most five, most results first.
    pub modules: Vec<RelatedModule>,
}

const MAX_MODULES: usize = 5;
/// Results without restrictions whose modules are named.
const MODULES_OF_BEST: usize = 20;

impl Searcher {
    pub(crate) async fn nothing_found(
        &self,
        view: &View,
        selected: &[KnownRepository],
        request: &SearchRequest,
    ) -> Result<NothingFound, QueryError> {
        let is_unpublished = |known: &&KnownRepository| known.published.is_none();
        let all = self.select(view, &RepositorySelection::default()).await?;
        let scope = self.scope_of(selected);
        Ok(NothingFound {
            not_indexed: selected.iter().filter(is_unpublished).map(|known| known.record.name.to_string()).collect(),
            num_chunks: self.vectors.count(view, &scope, &ChunkFilter::default()).await?,
            without: self.without(view, selected, &all, &request.filter).await?,
            modules: self.related_modules(view, &all, request).await?,
        })
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
            let num_chunks = match restriction.lifted(filter) {
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

    async fn related_modules(
        &self,
        view: &View,
        all: &[KnownRepository],
        request: &SearchRequest,
    ) -> Result<Vec<RelatedModule>, QueryError> {
        let wide = SearchRequest { filter: ChunkFilter::default(), ..request.clone() };
        let best = self.ranked(view, all, &wide).await?;
        let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
        for hit in best.iter().take(MODULES_OF_BEST).filter(|hit| !hit.chunk.module_path.is_empty()) {
            let module = (name_of(all, hit.chunk.repository), hit.chunk.module_path.clone());
            *counts.entry(module).or_default() += 1;
        }
        let mut modules: Vec<RelatedModule> = counts
            .into_iter()
            .map(|((repository, module), num_results)| RelatedModule { repository, module, num_results })
            .collect();
        modules.sort_by_key(|module| std::cmp::Reverse(module.num_results));
        modules.truncate(MAX_MODULES);
        Ok(modules)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restriction_is_lifted_only_where_there_is_one() {
        let filter =
            ChunkFilter { languages: vec!["rust".into()], include_tests: IncludeTests::Only, ..Default::default() };
        let lifted: Vec<Restriction> =
            Restriction::ALL.into_iter().filter(|restriction| restriction.lifted(&filter).is_some()).collect();
        assert_eq!(lifted, [Restriction::Languages, Restriction::Tests]);
        let without_tests = Restriction::Tests.lifted(&filter).expect("a restriction on tests");
        assert_eq!(without_tests, ChunkFilter { languages: vec!["rust".into()], ..Default::default() });
    }
}
