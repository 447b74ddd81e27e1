//! Name indexes that do one thing wrong.

use async_trait::async_trait;
use cairn_domain::{GenerationId, RepositoryId, RunId, Scope, SymbolEntry, Tenant, View};
use cairn_ports::{FileHit, Generations, MaintenanceError, NameMatch, Names, NamesError, Page, StagedNames, SymbolHit};

use crate::suite::PlantedFault;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    LosesSymbols,
    LosesFiles,
    LosesReplacements,
    SeesStaged,
    SeesHidden,
    IgnoresScope,
    ReversesSymbols,
    ReversesFiles,
    IgnoresLimits,
    RepeatsSymbols,
    IgnoresFuzzy,
    MatchesTooMuch,
    LosesPages,
    KeepsAborted,
    SweepsTheOpen,
    RemovesTooMuch,
}

const ALL: [(&str, Fault); 16] = [
    ("loses a symbol", Fault::LosesSymbols),
    ("loses a file", Fault::LosesFiles),
    ("loses replacements", Fault::LosesReplacements),
    ("sees staged generations", Fault::SeesStaged),
    ("sees hidden repositories", Fault::SeesHidden),
    ("ignores the scope", Fault::IgnoresScope),
    ("answers symbols backwards", Fault::ReversesSymbols),
    ("answers files backwards", Fault::ReversesFiles),
    ("ignores limits", Fault::IgnoresLimits),
    ("repeats symbols", Fault::RepeatsSymbols),
    ("finds files exactly only", Fault::IgnoresFuzzy),
    ("matches in more ways than asked", Fault::MatchesTooMuch),
    ("loses later pages", Fault::LosesPages),
    ("keeps aborted names", Fault::KeepsAborted),
    ("sweeps what is still visible", Fault::SweepsTheOpen),
    ("removes what began later", Fault::RemovesTooMuch),
];

pub fn faults() -> Vec<PlantedFault<dyn Names>> {
    let plant = |(name, fault)| PlantedFault::<dyn Names> {
        name,
        plant: Box::new(move |inner| Box::new(Faulty { inner, fault })),
    };
    ALL.into_iter().map(plant).collect()
}

struct Faulty {
    inner: Box<dyn Names>,
    fault: Fault,
}

impl Faulty {
    fn view(&self, view: &View) -> View {
        let mut view = view.clone();
        match self.fault {
            Fault::SeesStaged => view.hidden.clear(),
            Fault::SeesHidden => view.hidden_repositories.clear(),
            _ => {}
        }
        view
    }

    fn scope(&self, scope: &Scope) -> Scope {
        if self.fault == Fault::IgnoresScope { Scope::all(scope.tenant.clone()) } else { scope.clone() }
    }

    fn limit(&self, limit: usize) -> usize {
        if self.fault == Fault::IgnoresLimits { 10_000 } else { limit }
    }
}

#[async_trait]
impl Names for Faulty {
    async fn stage(&self, tenant: &Tenant, run: RunId, mut staged: StagedNames) -> Result<(), NamesError> {
        match self.fault {
            Fault::LosesSymbols => drop(staged.symbols.pop()),
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
        fuzzy: bool,
        limit: usize,
    ) -> Result<Vec<FileHit>, NamesError> {
        let fuzzy = fuzzy && self.fault != Fault::IgnoresFuzzy;
        let (view, scope, limit) = (self.view(view), self.scope(scope), self.limit(limit));
        let mut hits = self.inner.files(&view, &scope, name, fuzzy, limit).await?;
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

#[async_trait]
impl Generations for Faulty {
    async fn sweep_retired(
        &self,
        repository: RepositoryId,
        published: &[GenerationId],
    ) -> Result<u64, MaintenanceError> {
        if self.fault == Fault::SweepsTheOpen {
            let newest = published.iter().max().copied().unwrap_or(GenerationId(0));
            let later: Vec<GenerationId> = (0..=newest.0 + 9).map(GenerationId).collect();
            return self.inner.sweep_retired(repository, &later).await;
        }
        self.inner.sweep_retired(repository, published).await
    }

    async fn sweep_aborted(&self, repository: RepositoryId, aborted: GenerationId) -> Result<u64, MaintenanceError> {
        if self.fault == Fault::KeepsAborted {
            return Ok(0);
        }
        self.inner.sweep_aborted(repository, aborted).await
    }

    async fn remove_repository(
        &self,
        tenant: &Tenant,
        repository: RepositoryId,
        before: GenerationId,
    ) -> Result<(), MaintenanceError> {
        let before = if self.fault == Fault::RemovesTooMuch { GenerationId::OPEN } else { before };
        self.inner.remove_repository(tenant, repository, before).await
    }

    async fn compact(&self, repository: RepositoryId) -> Result<(), MaintenanceError> {
        self.inner.compact(repository).await
    }

    async fn verify(&self, repository: RepositoryId) -> Result<(), MaintenanceError> {
        self.inner.verify(repository).await
    }
}
