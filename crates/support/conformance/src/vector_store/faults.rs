//! Vector stores that do one thing wrong.

use async_trait::async_trait;
use cairn_domain::{
    ChunkKey, ChunkRecord, DenseVector, GenerationId, PartId, RepositoryId, RunId, Scope, Tenant, View,
};
use cairn_ports::{
    ChunkFilter, ChunkPage, Generations, Hit, IncludeTests, MaintenanceError, StagedPoints, VectorStore,
    VectorStoreError,
};

use crate::suite::PlantedFault;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    LosesPoints,
    LosesRetirements,
    SeesStaged,
    SeesHidden,
    IgnoresScope,
    IgnoresTests,
    IgnoresSince,
    ReversesHits,
    LosesTheLastHit,
    ShiftsScores,
    SaturatesScores,
    AlwaysGivesText,
    FetchesInItsOwnOrder,
    LosesPages,
    RepeatsChunks,
    SweepsNothing,
    SweepsTheOpen,
    KeepsAborted,
    RemovesTooMuch,
}

const ALL: [(&str, Fault); 19] = [
    ("loses a point", Fault::LosesPoints),
    ("loses retirements", Fault::LosesRetirements),
    ("sees staged generations", Fault::SeesStaged),
    ("sees hidden repositories", Fault::SeesHidden),
    ("ignores the scope", Fault::IgnoresScope),
    ("ignores the filter on tests", Fault::IgnoresTests),
    ("ignores the filter on time", Fault::IgnoresSince),
    ("answers hits backwards", Fault::ReversesHits),
    ("loses the last hit", Fault::LosesTheLastHit),
    ("shifts scores", Fault::ShiftsScores),
    ("saturates scores at 16 bits", Fault::SaturatesScores),
    ("always gives the text", Fault::AlwaysGivesText),
    ("fetches in an order of its own", Fault::FetchesInItsOwnOrder),
    ("loses later pages", Fault::LosesPages),
    ("repeats chunks", Fault::RepeatsChunks),
    ("sweeps nothing", Fault::SweepsNothing),
    ("sweeps what is still visible", Fault::SweepsTheOpen),
    ("keeps aborted records", Fault::KeepsAborted),
    ("removes what began later", Fault::RemovesTooMuch),
];

pub fn faults() -> Vec<PlantedFault<dyn VectorStore>> {
    let plant = |(name, fault)| PlantedFault::<dyn VectorStore> {
        name,
        plant: Box::new(move |inner| Box::new(Faulty { inner, fault })),
    };
    ALL.into_iter().map(plant).collect()
}

struct Faulty {
    inner: Box<dyn VectorStore>,
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

    fn filter(&self, filter: &ChunkFilter) -> ChunkFilter {
        let mut filter = filter.clone();
        match self.fault {
            Fault::IgnoresTests => filter.include_tests = IncludeTests::Include,
            Fault::IgnoresSince => filter.since = None,
            _ => {}
        }
        filter
    }

    fn hits(&self, mut hits: Vec<Hit>) -> Vec<Hit> {
        match self.fault {
            Fault::ReversesHits => hits.reverse(),
            Fault::LosesTheLastHit => drop(hits.pop()),
            Fault::ShiftsScores => hits.iter_mut().for_each(|hit| hit.score += 1),
            Fault::SaturatesScores => {
                hits.iter_mut().for_each(|hit| hit.score = hit.score.clamp(i64::from(i16::MIN), i64::from(i16::MAX)));
            }
            _ => {}
        }
        hits
    }
}

#[async_trait]
impl VectorStore for Faulty {
    async fn stage(
        &self,
        tenant: &Tenant,
        run: RunId,
        part: PartId,
        mut staged: StagedPoints,
    ) -> Result<(), VectorStoreError> {
        match self.fault {
            Fault::LosesPoints => drop(staged.points.pop()),
            Fault::LosesRetirements => staged.retired.clear(),
            _ => {}
        }
        self.inner.stage(tenant, run, part, staged).await
    }

    async fn search_dense(
        &self,
        view: &View,
        scope: &Scope,
        filter: &ChunkFilter,
        vector: &DenseVector,
        limit: usize,
    ) -> Result<Vec<Hit>, VectorStoreError> {
        let (view, scope, filter) = (self.view(view), self.scope(scope), self.filter(filter));
        Ok(self.hits(self.inner.search_dense(&view, &scope, &filter, vector, limit).await?))
    }

    async fn search_sparse(
        &self,
        view: &View,
        scope: &Scope,
        filter: &ChunkFilter,
        terms: &[(u32, u32)],
        limit: usize,
    ) -> Result<Vec<Hit>, VectorStoreError> {
        let (view, scope, filter) = (self.view(view), self.scope(scope), self.filter(filter));
        Ok(self.hits(self.inner.search_sparse(&view, &scope, &filter, terms, limit).await?))
    }

    async fn fetch(
        &self,
        view: &View,
        scope: &Scope,
        keys: &[(RepositoryId, ChunkKey)],
        with_text: bool,
    ) -> Result<Vec<ChunkRecord>, VectorStoreError> {
        let with_text = with_text || self.fault == Fault::AlwaysGivesText;
        let mut chunks = self.inner.fetch(&self.view(view), &self.scope(scope), keys, with_text).await?;
        if self.fault == Fault::FetchesInItsOwnOrder {
            chunks.sort_by_key(|chunk| chunk.key);
        }
        Ok(chunks)
    }

    async fn scroll(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        from: u64,
    ) -> Result<ChunkPage, VectorStoreError> {
        let mut page = self.inner.scroll(&self.view(view), &self.scope(scope), repository, from).await?;
        match self.fault {
            Fault::LosesPages => {
                page.next = None;
                page.chunks.truncate(1000);
            }
            Fault::RepeatsChunks => page.chunks.extend(page.chunks.first().cloned()),
            _ => {}
        }
        Ok(page)
    }

    async fn count(&self, view: &View, scope: &Scope, filter: &ChunkFilter) -> Result<u64, VectorStoreError> {
        self.inner.count(&self.view(view), &self.scope(scope), &self.filter(filter)).await
    }
}

#[async_trait]
impl Generations for Faulty {
    async fn sweep_retired(
        &self,
        repository: RepositoryId,
        published: &[GenerationId],
    ) -> Result<u64, MaintenanceError> {
        match self.fault {
            Fault::SweepsNothing => Ok(0),
            Fault::SweepsTheOpen => {
                let newest = published.iter().max().copied().unwrap_or(GenerationId(0));
                let later: Vec<GenerationId> = (0..=newest.0 + 9).map(GenerationId).collect();
                self.inner.sweep_retired(repository, &later).await
            }
            _ => self.inner.sweep_retired(repository, published).await,
        }
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
