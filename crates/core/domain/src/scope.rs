//! The scope: the repositories that the caller may see and has requested. Every read of a store takes a
//! scope, and there is no default scope.

use std::collections::BTreeSet;

use crate::{RepositoryId, Tenant};

/// The repositories that a query may read. A store applies the scope before any limit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scope {
    pub tenant: Tenant,
    pub repositories: RepositoryScope,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RepositoryScope {
    /// Every repository of the tenant.
    All,
    Only(BTreeSet<RepositoryId>),
}

impl Scope {
    pub fn all(tenant: Tenant) -> Self {
        Self { tenant, repositories: RepositoryScope::All }
    }

    pub fn only(tenant: Tenant, repositories: impl IntoIterator<Item = RepositoryId>) -> Self {
        Self { tenant, repositories: RepositoryScope::Only(repositories.into_iter().collect()) }
    }

    /// Whether the scope contains the repository. The store checks that the repository belongs to the tenant.
    pub fn contains(&self, repository: RepositoryId) -> bool {
        match &self.repositories {
            RepositoryScope::All => true,
            RepositoryScope::Only(repositories) => repositories.contains(&repository),
        }
    }
}
