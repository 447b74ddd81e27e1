//! Decides which rows are visible for one query, by its view and its scope. Readers check every row.

use cairn_domain::{GenerationId, Interval, Key128, RepositoryId, Scope, View};
use rusqlite::{Connection, OptionalExtension};
use rustc_hash::FxHashMap;

use crate::fault::Fault;

pub(crate) struct Visibility<'a> {
    connection: &'a Connection,
    view: &'a View,
    scope: &'a Scope,
    owners: FxHashMap<i64, Option<RepositoryId>>,
}

impl<'a> Visibility<'a> {
    pub(crate) fn new(connection: &'a Connection, view: &'a View, scope: &'a Scope) -> Self {
        Self { connection, view, scope, owners: FxHashMap::default() }
    }

    /// The owner's repository if it belongs to the tenant, is in scope and is not hidden.
    pub(crate) fn repository(&mut self, owner: i64) -> Result<Option<RepositoryId>, Fault> {
        if let Some(known) = self.owners.get(&owner) {
            return Ok(*known);
        }
        let mut select = self.connection.prepare_cached("SELECT key, tenant FROM owner WHERE id = ?1")?;
        let found = select.query_row([owner], |row| Ok((row.get(0)?, row.get::<_, String>(1)?))).optional()?;
        let (key, tenant) = found.ok_or_else(|| Fault::damaged(format!("owner {owner} has no row")))?;
        let repository = RepositoryId(Key128(key));
        let is_seen = tenant == self.scope.tenant.as_str()
            && self.scope.contains(repository)
            && self.view.sees_repository(repository);
        let seen = is_seen.then_some(repository);
        self.owners.insert(owner, seen);
        Ok(seen)
    }

    pub(crate) fn sees(&self, gen_from: u64, gen_to: Option<u64>) -> bool {
        let gen_to = gen_to.map_or(GenerationId::OPEN, GenerationId);
        self.view.sees(Interval { gen_from: GenerationId(gen_from), gen_to })
    }
}
