//! The tenant, the repositories and the views that one check uses.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use cairn_domain::{GenerationId, PartId, RepositoryId, RepositoryName, RunId, Scope, StageName, Tenant, View};
use cairn_ports::Staging;

/// The data of one check. No other check on the same server uses the same data.
#[derive(Clone, Debug)]
pub struct Case {
    pub tenant: Tenant,
}

impl Case {
    /// The name of the tenant is unique, even if several processes test the same server.
    pub fn new(check: &str) -> Self {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let nanoseconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        Self { tenant: Tenant::new(format!("{check}-{nanoseconds:x}-{}-{number}", std::process::id())) }
    }

    pub fn repository(&self, name: &str) -> RepositoryId {
        RepositoryId::derive(&self.tenant, &RepositoryName::new(name))
    }

    pub fn run(&self, name: &str, generation: u64) -> RunId {
        RunId { repository: self.repository(name), generation: GenerationId(generation) }
    }

    /// The data for staging a part of a run whose repository has no aborted generations.
    pub fn staging(&self, run: RunId, part: PartId) -> Staging {
        Staging::new(self.tenant.clone(), run, part)
    }

    pub fn scope(&self) -> Scope {
        Scope::all(self.tenant.clone())
    }

    pub fn scope_of(&self, names: &[&str]) -> Scope {
        Scope::only(self.tenant.clone(), names.iter().map(|name| self.repository(name)))
    }
}

/// A view in which all generations below `next_gen` are published, except the hidden generations.
pub(crate) fn view(next_gen: u64, hidden: &[u64]) -> View {
    let hidden: BTreeSet<GenerationId> = hidden.iter().copied().map(GenerationId).collect();
    View { next_gen, hidden, ..View::default() }
}

pub(crate) fn part(stage: StageName, number: u32) -> PartId {
    PartId { stage, number }
}
