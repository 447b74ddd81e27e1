//! Graph stores with one fault each.

use async_trait::async_trait;
use cairn_domain::{EdgeKind, EdgeRecord, NodeKey, NodeRecord, PatternRecord, RepositoryId, Resolution, Scope, View};
use cairn_ports::{Direction, GraphStore, GraphStoreError, Neighbour, Page, StagedGraph, Staging};

use crate::faulty::{Faulty, STORE_FAULTS, StoreFault, WithStoreFaults, planted};
use crate::suite::PlantedFault;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    Store(StoreFault),
    LosesEdges,
    LosesNodes,
    LosesRetirements,
    ReversesNeighbours,
    LimitsBeforeCounting,
    IgnoresKinds,
    ConfusesDirections,
    RepeatsRecords,
    LosesPages,
    ReversesPatterns,
}

const ALL: [(&str, Fault); 10] = [
    ("loses an edge", Fault::LosesEdges),
    ("loses a node", Fault::LosesNodes),
    ("loses retirements", Fault::LosesRetirements),
    ("answers neighbours backwards", Fault::ReversesNeighbours),
    ("counts after the limit", Fault::LimitsBeforeCounting),
    ("ignores kinds", Fault::IgnoresKinds),
    ("confuses directions", Fault::ConfusesDirections),
    ("repeats records", Fault::RepeatsRecords),
    ("loses later pages", Fault::LosesPages),
    ("answers patterns backwards", Fault::ReversesPatterns),
];

impl WithStoreFaults for Fault {
    fn of_store(self) -> Option<StoreFault> {
        if let Fault::Store(fault) = self { Some(fault) } else { None }
    }
}

pub fn faults() -> Vec<PlantedFault<dyn GraphStore>> {
    planted(ALL.into_iter().chain(STORE_FAULTS.map(|(name, fault)| (name, Fault::Store(fault)))), |faulty| {
        Box::new(faulty)
    })
}

impl Faulty<dyn GraphStore, Fault> {
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
impl GraphStore for Faulty<dyn GraphStore, Fault> {
    async fn stage(&self, staging: &Staging, mut staged: StagedGraph) -> Result<(), GraphStoreError> {
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
        self.inner.stage(staging, staged).await
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
