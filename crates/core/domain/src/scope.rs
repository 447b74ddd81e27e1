//! Scope: what the caller may see and asked for. Every read of a store takes one; there is no default.

use std::collections::BTreeSet;

use crate::{RepositoryId, Tenant};

/// The repositories that a question may touch. Stores test it before any limit.
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

    /// Whether the scope names the repository. (That it is of the tenant, the store knows.)
    pub fn contains(&self, repository: RepositoryId) -> bool {
        match &self.repositories {
            RepositoryScope::All => true,
            RepositoryScope::Only(repositories) => repositories.contains(&repository),
        }
    }
}
