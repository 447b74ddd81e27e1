//! Name indexes with one fault each.

use async_trait::async_trait;
use cairn_domain::{RepositoryId, RunId, Scope, SymbolEntry, Tenant, View};
use cairn_ports::{FileHit, FileMatch, NameMatch, Names, NamesError, Page, StagedNames, SymbolHit};

use crate::faulty::{Faulty, STORE_FAULTS, StoreFault, WithStoreFaults, planted};
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
}

const ALL: [(&str, Fault); 13] = [
    ("loses a symbol", Fault::LosesSymbols),
    ("loses the spans of symbols", Fault::LosesSpans),
    ("loses the chunks of symbols", Fault::LosesChunks),
    ("loses a file", Fault::LosesFiles),
    ("loses replacements", Fault::LosesReplacements),
    ("answers symbols backwards", Fault::ReversesSymbols),
    ("answers files backwards", Fault::ReversesFiles),
    ("ignores limits", Fault::IgnoresLimits),
    ("repeats symbols", Fault::RepeatsSymbols),
    ("finds no similar files", Fault::FindsNoSimilarFiles),
    ("finds other paths than the very one", Fault::FindsOtherPaths),
    ("matches in more ways than asked", Fault::MatchesTooMuch),
    ("loses later pages", Fault::LosesPages),
];

impl WithStoreFaults for Fault {
    fn of_store(self) -> Option<StoreFault> {
        if let Fault::Store(fault) = self { Some(fault) } else { None }
    }
}

pub fn faults() -> Vec<PlantedFault<dyn Names>> {
    // Replaced names may stay in their layers until those are merged: a sweep need not remove them.
    let of_store = STORE_FAULTS.into_iter().filter(|(_, fault)| *fault != StoreFault::SweepsNothing);
    let of_store = of_store.map(|(name, fault)| (name, Fault::Store(fault)));
    planted(ALL.into_iter().chain(of_store), |faulty| Box::new(faulty))
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
