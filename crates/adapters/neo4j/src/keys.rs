//! Stores API keys. Each key is one node, which is found by the hash of the key.
//!
//! A commit may have succeeded although its reply was lost. A retry then finds the key, but creating an
//! existing key is an error. Therefore each call that creates a key stores its own token on the node. If a
//! retry finds this token, the first attempt succeeded.

use async_trait::async_trait;
use cairn_domain::{Digest, Tenant};
use cairn_ports::{ApiKeyRecord, ErrorKind, KeyStore, KeyStoreError};
use neo4rs::{Query, Row};
use serde::Deserialize;

use crate::connection::Neo4j;
use crate::fault::{self, Fault};
use crate::transaction::{Transaction, Work};

const TAKEN: &str = "
MATCH (key:ApiKey~) WHERE key.id = $id OR key.hash = $hash
RETURN key.made_by AS made_by";

const CREATE: &str = "
CREATE (key:ApiKey~ {id: $id, hash: $hash, made_by: $made_by, tenant: $tenant, repositories: $repositories,
    may_index: $may_index, label: $label, created_at_ms: $created_at_ms, expires_at_ms: $expires_at_ms,
    revoked_at_ms: $revoked_at_ms, last_used_at_ms: $last_used_at_ms})";

const READ: &str = "
RETURN key.id AS id, key.hash AS hash, key.tenant AS tenant, key.repositories AS repositories,
    key.may_index AS may_index, key.label AS label, key.created_at_ms AS created_at_ms,
    key.expires_at_ms AS expires_at_ms, key.revoked_at_ms AS revoked_at_ms, key.last_used_at_ms AS last_used_at_ms";

/// Locks the key before its properties are compared. A comparison without the lock could use a value that
/// another call is replacing.
const LOCK: &str = "MATCH (key:ApiKey~ {id: $id}) SET key.is_locked = true WITH key";

/// The API keys of one installation.
#[derive(Clone)]
pub struct Neo4jKeys {
    neo4j: Neo4j,
}

impl Neo4jKeys {
    pub fn new(neo4j: Neo4j) -> Self {
        Self { neo4j }
    }

    async fn read(&self, query: Query) -> Result<Vec<ApiKeyRecord>, Fault> {
        let rows = self.neo4j.transact(&query).await?;
        rows.iter().map(record).collect()
    }
}

/// Creates a key unless a key with the same id or the same hash exists.
struct Creation<'a> {
    neo4j: &'a Neo4j,
    key: &'a ApiKeyRecord,
    /// A random number that distinguishes this call from all other calls.
    made_by: i64,
}

#[async_trait]
impl Work for Creation<'_> {
    type Output = ();

    async fn run(&self, transaction: &mut Transaction) -> Result<(), Fault> {
        let key = self.key;
        let query = |statement: &str| {
            self.neo4j.query(statement).param("id", key.id.as_str()).param("hash", key.hash.to_string())
        };
        let taken = transaction.rows(query(TAKEN)).await?;
        if let Some(row) = taken.first() {
            let is_ours = row.get::<i64>("made_by")? == self.made_by;
            return if is_ours { Ok(()) } else { Err(Fault::new(ErrorKind::AlreadyExists, "the key exists already")) };
        }
        // If another call creates the same key at the same time, the constraint refuses this statement, and
        // the retry finds the key.
        let create = query(CREATE)
            .param("made_by", self.made_by)
            .param("tenant", key.tenant.as_str())
            .param("repositories", key.repositories.clone())
            .param("may_index", key.may_index)
            .param("label", key.label.as_str())
            .param("created_at_ms", key.created_at_ms)
            .param("expires_at_ms", key.expires_at_ms)
            .param("revoked_at_ms", key.revoked_at_ms)
            .param("last_used_at_ms", key.last_used_at_ms);
        transaction.run(create).await
    }
}

#[derive(Deserialize)]
struct KeyRow {
    id: String,
    hash: String,
    tenant: String,
    repositories: Option<Vec<String>>,
    may_index: bool,
    label: String,
    created_at_ms: i64,
    expires_at_ms: Option<i64>,
    revoked_at_ms: Option<i64>,
    last_used_at_ms: Option<i64>,
}

fn record(row: &Row) -> Result<ApiKeyRecord, Fault> {
    let row = row.to::<KeyRow>()?;
    let hash = blake3::Hash::from_hex(&row.hash);
    // The error does not repeat the text, because the text may be a key.
    let hash = hash.map_err(|_| Fault::new(ErrorKind::Corrupt, "the hash of a key is damaged: create another key"))?;
    Ok(ApiKeyRecord {
        id: row.id,
        hash: Digest(*hash.as_bytes()),
        tenant: Tenant::new(row.tenant),
        repositories: row.repositories,
        may_index: row.may_index,
        label: row.label,
        created_at_ms: row.created_at_ms,
        expires_at_ms: row.expires_at_ms,
        revoked_at_ms: row.revoked_at_ms,
        last_used_at_ms: row.last_used_at_ms,
    })
}

#[async_trait]
impl KeyStore for Neo4jKeys {
    async fn create(&self, key: ApiKeyRecord) -> Result<(), KeyStoreError> {
        let creation = Creation { neo4j: &self.neo4j, key: &key, made_by: rand::random() };
        self.neo4j.transact(&creation).await.map_err(fault::of("create", &key.id))
    }

    async fn find(&self, hash: &Digest) -> Result<Option<ApiKeyRecord>, KeyStoreError> {
        let query = self.neo4j.query(&format!("MATCH (key:ApiKey~ {{hash: $hash}}) {READ}"));
        let found = self.read(query.param("hash", hash.to_string())).await.map_err(fault::of("find", &"a hash"))?;
        Ok(found.into_iter().next())
    }

    async fn list(&self, tenant: Option<&Tenant>) -> Result<Vec<ApiKeyRecord>, KeyStoreError> {
        let query = match tenant {
            Some(tenant) => self
                .neo4j
                .query(&format!("MATCH (key:ApiKey~ {{tenant: $tenant}}) {READ}"))
                .param("tenant", tenant.as_str()),
            None => self.neo4j.query(&format!("MATCH (key:ApiKey~) {READ}")),
        };
        let mut keys = self.read(query).await.map_err(fault::of("list", &"keys"))?;
        keys.sort_by(|left, right| left.id.cmp(&right.id));
        Ok(keys)
    }

    async fn revoke(&self, id: &str, at_ms: i64) -> Result<(), KeyStoreError> {
        let statement = format!(
            "{LOCK}
             SET key.revoked_at_ms = CASE WHEN key.revoked_at_ms < $at_ms THEN key.revoked_at_ms ELSE $at_ms END
             RETURN key.id AS id"
        );
        let query = self.neo4j.query(&statement).param("id", id).param("at_ms", at_ms);
        let revoked = self.neo4j.transact(&query).await.map_err(fault::of("revoke", &id))?;
        if revoked.is_empty() { Err(KeyStoreError::new(ErrorKind::NotFound, "revoke", id)) } else { Ok(()) }
    }

    async fn touch(&self, id: &str, now_ms: i64) -> Result<(), KeyStoreError> {
        let statement = format!(
            "{LOCK}
             SET key.last_used_at_ms =
                 CASE WHEN key.last_used_at_ms > $now_ms THEN key.last_used_at_ms ELSE $now_ms END"
        );
        let query = self.neo4j.query(&statement).param("id", id).param("now_ms", now_ms);
        self.neo4j.transact(&query).await.map(drop).map_err(fault::of("touch", &id))
    }
}
