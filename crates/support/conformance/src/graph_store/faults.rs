//! Graph stores that do one thing wrong.

use async_trait::async_trait;
use cairn_domain::{
    EdgeKind, EdgeRecord, GenerationId, NodeKey, NodeRecord, PartId, PatternRecord, RepositoryId, Resolution, RunId,
    Scope, Tenant, View,
};
use cairn_ports::{
    Direction, Generations, GraphStore, GraphStoreError, MaintenanceError, Neighbour, Page, StagedGraph,
};

use crate::suite::PlantedFault;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    LosesEdges,
    LosesNodes,
    LosesRetirements,
    SeesStaged,
    SeesHidden,
    IgnoresScope,
    ReversesNeighbours,
    LimitsBeforeCounting,
    IgnoresKinds,
    ConfusesDirections,
    RepeatsRecords,
    LosesPages,
    ReversesPatterns,
    SweepsNothing,
    SweepsTheOpen,
    KeepsAborted,
    RemovesTooMuch,
}

const ALL: [(&str, Fault); 17] = [
    ("loses an edge", Fault::LosesEdges),
    ("loses a node", Fault::LosesNodes),
    ("loses retirements", Fault::LosesRetirements),
    ("sees staged generations", Fault::SeesStaged),
    ("sees hidden repositories", Fault::SeesHidden),
    ("ignores the scope", Fault::IgnoresScope),
    ("answers neighbours backwards", Fault::ReversesNeighbours),
    ("counts after the limit", Fault::LimitsBeforeCounting),
    ("ignores kinds", Fault::IgnoresKinds),
    ("confuses directions", Fault::ConfusesDirections),
    ("repeats records", Fault::RepeatsRecords),
    ("loses later pages", Fault::LosesPages),
    ("answers patterns backwards", Fault::ReversesPatterns),
    ("sweeps nothing", Fault::SweepsNothing),
    ("sweeps what is still visible", Fault::SweepsTheOpen),
    ("keeps aborted records", Fault::KeepsAborted),
    ("removes what began later", Fault::RemovesTooMuch),
];

pub fn faults() -> Vec<PlantedFault<dyn GraphStore>> {
    let plant = |(name, fault)| PlantedFault::<dyn GraphStore> {
        name,
        plant: Box::new(move |inner| Box::new(Faulty { inner, fault })),
    };
    ALL.into_iter().map(plant).collect()
}

struct Faulty {
    inner: Box<dyn GraphStore>,
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

    fn page<T: Clone>(&self, mut page: Page<T>) -> Page<T> {
        match self.fault {
            Fault::RepeatsRecords => page.items.extend(page.items.first().cloned()),
            Fault::LosesPages => page.next = None,
            _ => {}
        }
        page
    }
}

#[async_trait]
impl GraphStore for Faulty {
    async fn stage(
        &self,
        tenant: &Tenant,
        run: RunId,
        part: PartId,
        mut staged: StagedGraph,
    ) -> Result<(), GraphStoreError> {
        match self.fault {
            Fault::LosesEdges => drop(staged.edges.pop()),
            Fault::LosesNodes => drop(staged.nodes.pop()),
            Fault::LosesRetirements => {
                staged.retired_nodes.clear();
                staged.retired_edges.clear();
                staged.retired_patterns.clear();
            }
            _ => {}
        }
        self.inner.stage(tenant, run, part, staged).await
    }

    async fn nodes(&self, view: &View, scope: &Scope, keys: &[NodeKey]) -> Result<Vec<NodeRecord>, GraphStoreError> {
        self.inner.nodes(&self.view(view), &self.scope(scope), keys).await
    }

    async fn neighbours(
        &self,
        view: &View,
        scope: &Scope,
        node: NodeKey,
        direction: Direction,
        kinds: &[EdgeKind],
        limit: usize,
    ) -> Result<(Vec<Neighbour>, u64), GraphStoreError> {
        let kinds = if self.fault == Fault::IgnoresKinds { &[] } else { kinds };
        let direction = if self.fault == Fault::ConfusesDirections { Direction::Out } else { direction };
        let (view, scope) = (self.view(view), self.scope(scope));
        let (mut found, total) = self.inner.neighbours(&view, &scope, node, direction, kinds, limit).await?;
        if self.fault == Fault::ReversesNeighbours {
            found.reverse();
        }
        let total = if self.fault == Fault::LimitsBeforeCounting { found.len() as u64 } else { total };
        Ok((found, total))
    }

    async fn scroll_nodes(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        from: u64,
    ) -> Result<Page<NodeRecord>, GraphStoreError> {
        let page = self.inner.scroll_nodes(&self.view(view), &self.scope(scope), repository, from).await?;
        Ok(self.page(page))
    }

    async fn scroll_edges(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        resolution: Option<Resolution>,
        from: u64,
    ) -> Result<Page<EdgeRecord>, GraphStoreError> {
        let (view, scope) = (self.view(view), self.scope(scope));
        let page = self.inner.scroll_edges(&view, &scope, repository, resolution, from).await?;
        Ok(self.page(page))
    }

    async fn patterns(&self, view: &View, scope: &Scope) -> Result<Vec<PatternRecord>, GraphStoreError> {
        let mut patterns = self.inner.patterns(&self.view(view), &self.scope(scope)).await?;
        if self.fault == Fault::ReversesPatterns {
            patterns.reverse();
        }
        Ok(patterns)
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
