//! Maps the keys of repositories, paths and nodes to identities: small numbers to which rows refer.

use cairn_domain::{Key128, NodeKey, RepositoryId, Tenant};
use rusqlite::{Connection, OptionalExtension, params};
use rustc_hash::FxHashMap;

use crate::fault::Fault;

pub(crate) fn find_owner(connection: &Connection, repository: RepositoryId) -> Result<Option<i64>, Fault> {
    let mut select = connection.prepare_cached("SELECT id FROM owner WHERE key = ?1")?;
    Ok(select.query_row([repository.0.0], |row| row.get(0)).optional()?)
}

pub(crate) fn make_owner(connection: &Connection, tenant: &Tenant, repository: RepositoryId) -> Result<i64, Fault> {
    let mut select = connection.prepare_cached("SELECT id, tenant FROM owner WHERE key = ?1")?;
    let found = select.query_row([repository.0.0], |row| Ok((row.get(0)?, row.get::<_, String>(1)?))).optional()?;
    match found {
        Some((id, owner)) if owner == tenant.as_str() => Ok(id),
        Some(_) => Err(Fault::invalid("the repository belongs to another tenant")),
        None => {
            let insert = "INSERT INTO owner (key, tenant) VALUES (?1, ?2)";
            connection.execute(insert, params![repository.0.0, tenant.as_str()])?;
            Ok(connection.last_insert_rowid())
        }
    }
}

/// Interns the paths of one owner.
pub(crate) struct Paths<'a> {
    connection: &'a Connection,
    owner: i64,
    /// The last path with its number. The path is cached, because records are sorted by path, so adjacent
    /// records often have the same path.
    last: Option<(String, i64)>,
}

impl<'a> Paths<'a> {
    pub(crate) fn new(connection: &'a Connection, owner: i64) -> Self {
        Self { connection, owner, last: None }
    }

    pub(crate) fn intern(&mut self, path: &str) -> Result<i64, Fault> {
        if let Some((last, id)) = &self.last
            && last == path
        {
            return Ok(*id);
        }
        let mut select = self.connection.prepare_cached("SELECT id FROM path WHERE owner = ?1 AND path = ?2")?;
        let id = match select.query_row(params![self.owner, path], |row| row.get(0)).optional()? {
            Some(id) => id,
            None => {
                let mut insert = self.connection.prepare_cached("INSERT INTO path (owner, path) VALUES (?1, ?2)")?;
                insert.insert(params![self.owner, path])?
            }
        };
        self.last = Some((path.to_owned(), id));
        Ok(id)
    }
}

/// A node's number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Identity {
    pub(crate) id: i64,
    /// Whether the number was allocated in this transaction. If so, no record of the node is stored yet.
    pub(crate) is_new: bool,
}

/// The numbers of node keys, cached for one staging transaction.
pub(crate) struct Identities<'a> {
    connection: &'a Connection,
    known: FxHashMap<NodeKey, Identity>,
}

impl<'a> Identities<'a> {
    pub(crate) fn new(connection: &'a Connection) -> Self {
        Self { connection, known: FxHashMap::default() }
    }

    pub(crate) fn intern(&mut self, key: NodeKey) -> Result<Identity, Fault> {
        if let Some(identity) = self.known.get(&key) {
            return Ok(*identity);
        }
        let identity = match find_node(self.connection, key)? {
            Some(id) => Identity { id, is_new: false },
            None => {
                let mut insert = self.connection.prepare_cached("INSERT INTO node (prefix, key) VALUES (?1, ?2)")?;
                Identity { id: insert.insert(params![prefix(key), key.0.0])?, is_new: true }
            }
        };
        self.known.insert(key, identity);
        Ok(identity)
    }
}

pub(crate) fn find_node(connection: &Connection, key: NodeKey) -> Result<Option<i64>, Fault> {
    let mut select = connection.prepare_cached("SELECT id FROM node WHERE prefix = ?1 AND key = ?2")?;
    Ok(select.query_row(params![prefix(key), key.0.0], |row| row.get(0)).optional()?)
}

pub(crate) fn node_key(connection: &Connection, id: i64) -> Result<NodeKey, Fault> {
    let mut select = connection.prepare_cached("SELECT key FROM node WHERE id = ?1")?;
    let key = select.query_row([id], |row| row.get(0)).optional()?;
    key.map(|key| NodeKey(Key128(key))).ok_or_else(|| Fault::damaged(format!("node {id} has no key")))
}

/// The first four bytes of the key as a number, which SQLite stores in at most four bytes.
fn prefix(key: NodeKey) -> i32 {
    let [a, b, c, d, ..] = key.0.0;
    i32::from_be_bytes([a, b, c, d])
}
