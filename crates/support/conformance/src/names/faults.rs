//! Faults that a test plants in name indexes. Each wrapper adds exactly one fault.

use async_trait::async_trait;
use cairn_domain::{ChunkKey, RepositoryId, RunId, Scope, SymbolEntry, Tenant, View};
use cairn_ports::{
    FileHit, FileMatch, LearnedAbbreviation, NameMatch, NameTier, Names, NamesError, Page, ResolvedSymbol, StagedNames,
    SymbolHit, SymbolNode,
};

use crate::faulty::{Faulty, StoreFault, WithStoreFaults, planted};
use crate::suite::PlantedFault;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    Store(StoreFault),
    LosesSymbols,
    LosesSpans,
    LosesChunks,
    LosesFiles,
    LosesReplacements,
    ReversesSymbols,
    ReversesFiles,
    IgnoresLimits,
    RepeatsSymbols,
    FindsNoSimilarFiles,
    FindsOtherPaths,
    MatchesTooMuch,
    LosesPages,
    FindsNoDirectories,
    ResolvesInOtherTiers,
    IgnoresOwners,
    IgnoresAbbreviations,
    ResolvesNoNearNames,
    ReversesNearNames,
    IgnoresLimitOfNames,
    ReversesNodes,
    FindsOneSymbolInChunks,
}

/// The table does not contain `SweepsNothing`, because this behaviour is not a fault of a name index:
/// replaced names may stay in their layers until the layers are merged.
const ALL: [(&str, Fault, &str); 29] = [
    ("loses a symbol", Fault::LosesSymbols, "staged_names_are_visible_once_published"),
    ("loses the spans of symbols", Fault::LosesSpans, "symbols_are_read_as_written"),
    ("loses the chunks of symbols", Fault::LosesChunks, "symbols_are_read_as_written"),
    ("loses a file", Fault::LosesFiles, "staged_names_are_visible_once_published"),
    ("loses replacements", Fault::LosesReplacements, "replaced_names_stay_visible_to_earlier_views"),
    ("answers symbols backwards", Fault::ReversesSymbols, "best_match_is_reported_once"),
    ("answers files backwards", Fault::ReversesFiles, "staged_names_are_visible_once_published"),
    ("ignores limits", Fault::IgnoresLimits, "symbols_are_ordered_and_limited"),
    ("repeats symbols", Fault::RepeatsSymbols, "staged_names_are_visible_once_published"),
    ("finds no similar files", Fault::FindsNoSimilarFiles, "files_match_by_path_and_base_name"),
    ("finds other paths in addition to the exact path", Fault::FindsOtherPaths, "the_very_path_is_found_alone"),
    ("uses more kinds of matching than requested", Fault::MatchesTooMuch, "each_way_of_matching_finds_its_own"),
    ("loses later pages", Fault::LosesPages, "pages_are_complete"),
    ("finds no directories", Fault::FindsNoDirectories, "base_names_directories_and_globs_are_found"),
    ("resolves in other tiers", Fault::ResolvesInOtherTiers, "names_are_resolved_in_tiers"),
    ("ignores the owners of near names", Fault::IgnoresOwners, "near_owners_are_preferred"),
    ("ignores learned abbreviations", Fault::IgnoresAbbreviations, "learned_abbreviations_are_near"),
    ("resolves no near names", Fault::ResolvesNoNearNames, "near_names_are_resolved_last"),
    ("resolves near names backwards", Fault::ReversesNearNames, "near_names_are_resolved_last"),
    ("ignores the limit of near names", Fault::IgnoresLimitOfNames, "near_names_are_limited_and_visible"),
    ("answers nodes backwards", Fault::ReversesNodes, "symbols_of_nodes_come_in_the_order_of_the_nodes"),
    (
        "finds only one symbol of each chunk",
        Fault::FindsOneSymbolInChunks,
        "symbols_of_chunks_come_in_the_order_of_the_chunks",
    ),
    ("sees staged generations", Fault::Store(StoreFault::SeesStaged), "staged_names_are_visible_once_published"),
    ("sees hidden repositories", Fault::Store(StoreFault::SeesHidden), "hidden_repositories_are_invisible"),
    ("ignores the scope", Fault::Store(StoreFault::IgnoresScope), "scope_is_tested_before_limits"),
    ("sweeps visible records", Fault::Store(StoreFault::SweepsTheOpen), "sweeping_replaced_names_changes_no_view"),
    ("sweeps records in use", Fault::Store(StoreFault::SweepsTheSeen), "sweeping_unseen_names_changes_no_used_view"),
    ("keeps aborted records", Fault::Store(StoreFault::KeepsAborted), "sweeping_an_aborted_generation_undoes_it"),
    (
        "removes records that began later",
        Fault::Store(StoreFault::RemovesTooMuch),
        "removing_a_repository_keeps_later_runs",
    ),
];

impl WithStoreFaults for Fault {
    fn of_store(self) -> Option<StoreFault> {
        if let Fault::Store(fault) = self { Some(fault) } else { None }
    }
}

pub fn faults() -> Vec<PlantedFault<dyn Names>> {
    planted(ALL, |faulty| Box::new(faulty))
}

impl Faulty<dyn Names, Fault> {
    fn limit(&self, limit: usize) -> usize {
        if self.fault == Fault::IgnoresLimits { 10_000 } else { limit }
    }
}

#[async_trait]
impl Names for Faulty<dyn Names, Fault> {
    async fn stage(&self, tenant: &Tenant, run: RunId, mut staged: StagedNames) -> Result<(), NamesError> {
        match self.fault {
            Fault::LosesSymbols => drop(staged.symbols.pop()),
            Fault::LosesSpans => staged.symbols.iter_mut().for_each(|symbol| symbol.span.end = symbol.span.start),
            Fault::LosesChunks => staged.symbols.iter_mut().for_each(|symbol| symbol.chunk = None),
            Fault::LosesFiles => drop(staged.files.pop()),
            Fault::LosesReplacements => staged.replaced.clear(),
            _ => {}
        }
        self.inner.stage(tenant, run, staged).await
    }

    async fn symbols(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
        ways: &[NameMatch],
        limit: usize,
    ) -> Result<Vec<SymbolHit>, NamesError> {
        let more = [NameMatch::Exact, NameMatch::CaseInsensitive];
        let ways = if self.fault == Fault::MatchesTooMuch && ways.len() == 1 { &more } else { ways };
        let (view, scope, limit) = (self.view(view), self.scope(scope), self.limit(limit));
        let mut hits = self.inner.symbols(&view, &scope, name, ways, limit).await?;
        match self.fault {
            Fault::ReversesSymbols => hits.reverse(),
            Fault::RepeatsSymbols => hits.extend(hits.first().cloned()),
            _ => {}
        }
        Ok(hits)
    }

    async fn resolve(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
        learned: &[LearnedAbbreviation],
        limit: usize,
    ) -> Result<Vec<ResolvedSymbol>, NamesError> {
        let limit = if self.fault == Fault::IgnoresLimitOfNames { 100 } else { limit };
        let last = name.rsplit('.').next().unwrap_or(name);
        let learned = if self.fault == Fault::IgnoresAbbreviations { &[][..] } else { learned };
        let name = if self.fault == Fault::IgnoresOwners { last } else { name };
        let mut hits = self.inner.resolve(&self.view(view), &self.scope(scope), name, learned, limit).await?;
        match self.fault {
            Fault::ResolvesNoNearNames => hits.retain(|hit| hit.tier != NameTier::Near),
            Fault::ReversesNearNames => hits.reverse(),
            Fault::ResolvesInOtherTiers => hits.iter_mut().for_each(|hit| hit.tier = NameTier::Style),
            _ => {}
        }
        Ok(hits)
    }

    async fn symbols_of(
        &self,
        view: &View,
        scope: &Scope,
        nodes: &[SymbolNode],
    ) -> Result<Vec<SymbolEntry>, NamesError> {
        let mut symbols = self.inner.symbols_of(&self.view(view), &self.scope(scope), nodes).await?;
        if self.fault == Fault::ReversesNodes {
            symbols.reverse();
        }
        Ok(symbols)
    }

    async fn symbols_in(
        &self,
        view: &View,
        scope: &Scope,
        chunks: &[(RepositoryId, ChunkKey)],
    ) -> Result<Vec<SymbolEntry>, NamesError> {
        let mut symbols = self.inner.symbols_in(&self.view(view), &self.scope(scope), chunks).await?;
        if self.fault == Fault::FindsOneSymbolInChunks {
            symbols.dedup_by_key(|symbol| symbol.chunk);
        }
        Ok(symbols)
    }

    async fn files(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
        matching: FileMatch,
        limit: usize,
    ) -> Result<Vec<FileHit>, NamesError> {
        let matching = match (self.fault, matching) {
            (Fault::FindsNoSimilarFiles, FileMatch::Similar) | (Fault::FindsOtherPaths, FileMatch::Path) => {
                FileMatch::Name
            }
            _ => matching,
        };
        let (view, scope, limit) = (self.view(view), self.scope(scope), self.limit(limit));
        let mut hits = self.inner.files(&view, &scope, name, matching, limit).await?;
        let is_of_directories = matches!(matching, FileMatch::Directory { .. } | FileMatch::DirectoryGlob);
        if self.fault == Fault::FindsNoDirectories && is_of_directories {
            hits.clear();
        }
        if self.fault == Fault::ReversesFiles {
            hits.reverse();
        }
        Ok(hits)
    }

    async fn scroll(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        from: u64,
    ) -> Result<Page<SymbolEntry>, NamesError> {
        let mut page = self.inner.scroll(&self.view(view), &self.scope(scope), repository, from).await?;
        if self.fault == Fault::LosesPages {
            page.next = None;
            page.items.truncate(1000);
        }
        Ok(page)
    }
}
