//! Code that is common to all wrappers with a planted fault: their construction, and the faults of stores
//! with generations.

use async_trait::async_trait;
use cairn_domain::{GenerationId, RepositoryId, Scope, Tenant, View};
use cairn_ports::{Generations, MaintenanceError};

use crate::suite::PlantedFault;

/// An implementation of a port with one planted fault. All calls that the fault does not affect are passed to
/// `inner` unchanged.
pub(crate) struct Faulty<P: ?Sized, F> {
    pub(crate) inner: Box<P>,
    pub(crate) fault: F,
}

/// Creates the planted faults of a table. Each row contains a name, a fault, and the check that must notice
/// the fault. `wrap` converts the wrapper to a boxed trait object of the port.
pub(crate) fn planted<P: ?Sized, F: Copy + Send + Sync + 'static>(
    table: impl IntoIterator<Item = (&'static str, F, &'static str)>,
    wrap: fn(Faulty<P, F>) -> Box<P>,
) -> Vec<PlantedFault<P>> {
    let plant = |(name, fault, caught_by)| PlantedFault::<P> {
        name,
        caught_by,
        plant: Box::new(move |inner| wrap(Faulty { inner, fault })),
    };
    table.into_iter().map(plant).collect()
}

/// The faults that any store with generations may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StoreFault {
    SeesStaged,
    SeesHidden,
    IgnoresScope,
    SweepsNothing,
    SweepsTheOpen,
    SweepsTheSeen,
    KeepsAborted,
    RemovesTooMuch,
}

/// A set of faults that includes the faults of any store with generations.
pub(crate) trait WithStoreFaults: Copy + Send + Sync {
    fn of_store(self) -> Option<StoreFault>;
}

impl<P: ?Sized, F: WithStoreFaults> Faulty<P, F> {
    fn has(&self, fault: StoreFault) -> bool {
        self.fault.of_store() == Some(fault)
    }

    pub(crate) fn view(&self, view: &View) -> View {
        let mut view = view.clone();
        match self.fault.of_store() {
            Some(StoreFault::SeesStaged) => view.hidden.clear(),
            Some(StoreFault::SeesHidden) => view.hidden_repositories.clear(),
            _ => {}
        }
        view
    }

    pub(crate) fn scope(&self, scope: &Scope) -> Scope {
        if self.has(StoreFault::IgnoresScope) { Scope::all(scope.tenant.clone()) } else { scope.clone() }
    }
}

#[async_trait]
impl<P: Generations + ?Sized, F: WithStoreFaults> Generations for Faulty<P, F> {
    async fn sweep_retired(
        &self,
        repository: RepositoryId,
        published: &[GenerationId],
    ) -> Result<u64, MaintenanceError> {
        if self.has(StoreFault::SweepsNothing) {
            return Ok(0);
        }
        if self.has(StoreFault::SweepsTheOpen) {
            let newest = published.iter().max().copied().unwrap_or(GenerationId(0));
            let later: Vec<GenerationId> = (0..=newest.0 + 9).map(GenerationId).collect();
            return self.inner.sweep_retired(repository, &later).await;
        }
        self.inner.sweep_retired(repository, published).await
    }

    async fn sweep_unseen(
        &self,
        repository: RepositoryId,
        published: &[GenerationId],
        views: &[View],
    ) -> Result<u64, MaintenanceError> {
        if self.has(StoreFault::SweepsTheSeen) {
            return self.inner.sweep_retired(repository, published).await;
        }
        self.inner.sweep_unseen(repository, published, views).await
    }

    async fn sweep_aborted(&self, repository: RepositoryId, aborted: GenerationId) -> Result<u64, MaintenanceError> {
        if self.has(StoreFault::KeepsAborted) {
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
        let before = if self.has(StoreFault::RemovesTooMuch) { GenerationId::OPEN } else { before };
        self.inner.remove_repository(tenant, repository, before).await
    }

    async fn compact(&self, repository: RepositoryId) -> Result<bool, MaintenanceError> {
        self.inner.compact(repository).await
    }

    async fn verify(&self, repository: RepositoryId) -> Result<(), MaintenanceError> {
        self.inner.verify(repository).await
    }
}
