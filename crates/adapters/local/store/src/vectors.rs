//! Stores the vector cache in a separate file. If this file is lost, its vectors must be computed again, but
//! no data is lost.

use std::sync::Arc;

use async_trait::async_trait;
use cairn_domain::{ContentHash, DenseVector, ModelId, Tenant, VectorKey};
use cairn_ports::{VectorCache, VectorCacheError};
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use rustc_hash::FxHashMap;

use crate::database::{Durability, LazyDatabase};
use crate::fault::Fault;
use crate::graph::give_back_space;
use crate::{LocalStore, blocking};

type Entry = (VectorKey, DenseVector);

#[async_trait]
impl VectorCache for LocalStore {
    async fn get(&self, tenant: &Tenant, keys: &[VectorKey]) -> Result<Vec<Option<DenseVector>>, VectorCacheError> {
        let (vectors, tenant, keys) = (Arc::clone(&self.vectors), tenant.clone(), keys.to_vec());
        blocking("get", String::new(), move || {
            let found = vectors.get().and_then(|vectors| vectors.read(|connection| get(connection, &tenant, &keys)));
            found.map_err(Fault::in_cache)
        })
        .await
    }

    async fn put(&self, tenant: &Tenant, entries: &[Entry]) -> Result<(), VectorCacheError> {
        if let Some((key, vector)) =
            entries.iter().find(|(key, vector)| vector.0.len() != usize::from(key.model.dimensions))
        {
            let cause = format!("a vector of {} dimensions for model `{}`", vector.0.len(), key.model.name);
            return Err(VectorCacheError::new(cairn_ports::ErrorKind::Invalid, "put", "").because(cause));
        }
        let (vectors, tenant, entries) = (Arc::clone(&self.vectors), tenant.clone(), entries.to_vec());
        blocking("put", String::new(), move || {
            let put = |connection: &Transaction<'_>| put(connection, &tenant, entries);
            let written = vectors.get().and_then(|vectors| vectors.write("put_vectors", Durability::Ordered, put));
            written.map_err(Fault::in_cache)
        })
        .await
    }

    async fn sweep(
        &self,
        tenant: &Tenant,
        is_live: &(dyn for<'a> Fn(&'a VectorKey) -> bool + Send + Sync),
    ) -> Result<u64, VectorCacheError> {
        let (vectors, owner) = (Arc::clone(&self.vectors), tenant.clone());
        let all = blocking("sweep", String::new(), move || {
            let all = vectors.get().and_then(|vectors| vectors.read(|connection| keys(connection, &owner)));
            all.map_err(Fault::in_cache)
        })
        .await?;
        let dead: Vec<(i64, ContentHash)> =
            all.into_iter().filter(|(_, key)| !is_live(key)).map(|(space, key)| (space, key.content)).collect();
        let vectors = Arc::clone(&self.vectors);
        blocking("sweep", String::new(), move || {
            let forget = |connection: &Transaction<'_>| forget(connection, &dead);
            let swept = vectors.get().and_then(|vectors| {
                let num_forgotten = vectors.write("sweep_vectors", Durability::Ordered, forget)?;
                vectors.maintain(give_back_space)?;
                Ok(num_forgotten)
            });
            swept.map_err(Fault::in_cache)
        })
        .await
    }
}

fn get(connection: &Connection, tenant: &Tenant, keys: &[VectorKey]) -> Result<Vec<Option<DenseVector>>, Fault> {
    let mut spaces = FxHashMap::default();
    let mut select = connection.prepare_cached("SELECT vector FROM vector WHERE space = ?1 AND content = ?2")?;
    let mut found = Vec::with_capacity(keys.len());
    for key in keys {
        let space = match spaces.get(&key.model) {
            Some(space) => *space,
            None => *spaces.entry(&key.model).or_insert(find_space(connection, tenant, &key.model)?),
        };
        let Some(space) = space else {
            found.push(None);
            continue;
        };
        let vector = select.query_row(params![space, key.content.0], |row| Ok(from_bytes(row.get_ref(0)?.as_blob()?)));
        // A damaged vector is treated as missing. A later call computes the vector again and replaces it.
        found.push(vector.optional()?.flatten());
    }
    Ok(found)
}

fn put(connection: &Connection, tenant: &Tenant, mut entries: Vec<Entry>) -> Result<(), Fault> {
    // The entries are inserted in the order of the table, so that each page is written only once.
    entries.sort_by(|(left, _), (right, _)| left.cmp(right));
    let mut insert =
        connection.prepare_cached("INSERT OR IGNORE INTO vector (space, content, vector) VALUES (?1, ?2, ?3)")?;
    let mut space: Option<(ModelId, i64)> = None;
    for (key, vector) in entries {
        let id = match &space {
            Some((model, id)) if *model == key.model => *id,
            _ => {
                let id = make_space(connection, tenant, &key.model)?;
                space = Some((key.model, id));
                id
            }
        };
        let bytes = to_bytes(&vector);
        if insert.execute(params![id, key.content.0, bytes])? == 0 {
            replace_damaged(connection, id, &key.content, &bytes)?;
        }
    }
    Ok(())
}

/// Replaces the stored vector of a key, unless the checksum of the stored vector matches.
fn replace_damaged(connection: &Connection, space: i64, content: &ContentHash, bytes: &[u8]) -> Result<(), Fault> {
    let mut select = connection.prepare_cached("SELECT vector FROM vector WHERE space = ?1 AND content = ?2")?;
    let is_sound = |row: &rusqlite::Row<'_>| Ok(from_bytes(row.get_ref(0)?.as_blob()?).is_some());
    if !select.query_row(params![space, content.0], is_sound)? {
        let mut update =
            connection.prepare_cached("UPDATE vector SET vector = ?3 WHERE space = ?1 AND content = ?2")?;
        update.execute(params![space, content.0, bytes])?;
    }
    Ok(())
}

fn find_space(connection: &Connection, tenant: &Tenant, model: &ModelId) -> Result<Option<i64>, Fault> {
    let mut select =
        connection.prepare_cached("SELECT id FROM space WHERE tenant = ?1 AND model = ?2 AND dimensions = ?3")?;
    let key = params![tenant.as_str(), model.name, model.dimensions];
    Ok(select.query_row(key, |row| row.get(0)).optional()?)
}

fn make_space(connection: &Connection, tenant: &Tenant, model: &ModelId) -> Result<i64, Fault> {
    if let Some(space) = find_space(connection, tenant, model)? {
        return Ok(space);
    }
    connection.execute(
        "INSERT INTO space (tenant, model, dimensions) VALUES (?1, ?2, ?3)",
        params![tenant.as_str(), model.name, model.dimensions],
    )?;
    Ok(connection.last_insert_rowid())
}

fn keys(connection: &Connection, tenant: &Tenant) -> Result<Vec<(i64, VectorKey)>, Fault> {
    let mut select = connection.prepare_cached(
        "SELECT space.id, space.model, space.dimensions, vector.content FROM space, vector
         WHERE space.tenant = ?1 AND vector.space = space.id",
    )?;
    let rows = select.query_map([tenant.as_str()], |row| {
        let model = ModelId { name: row.get(1)?, dimensions: row.get(2)? };
        Ok((row.get(0)?, VectorKey { model, content: ContentHash(row.get(3)?) }))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) fn count(connection: &Transaction<'_>) -> Result<u64, Fault> {
    Ok(connection.query_row("SELECT count(*) FROM vector", [], |row| row.get(0))?)
}

fn forget(connection: &Connection, dead: &[(i64, ContentHash)]) -> Result<u64, Fault> {
    let mut delete = connection.prepare_cached("DELETE FROM vector WHERE space = ?1 AND content = ?2")?;
    let mut num_removed = 0;
    for (space, content) in dead {
        num_removed += delete.execute(params![space, content.0])? as u64;
    }
    Ok(num_removed)
}

/// Verifies the file and the checksum of each vector.
pub(crate) fn verify(vectors: &LazyDatabase) -> Result<(), Fault> {
    let database = vectors.get().map_err(Fault::in_cache)?;
    database.verify().and_then(|()| database.read(verify_each)).map_err(Fault::in_cache)
}

fn verify_each(connection: &Transaction<'_>) -> Result<(), Fault> {
    let mut select = connection
        .prepare_cached("SELECT vector.vector, space.id FROM vector LEFT JOIN space ON space.id = vector.space")?;
    let mut rows = select.query([])?;
    let mut num_damaged = 0;
    while let Some(row) = rows.next()? {
        let space: Option<i64> = row.get(1)?;
        num_damaged += u64::from(space.is_none() || from_bytes(row.get_ref(0)?.as_blob()?).is_none());
    }
    if num_damaged == 0 { Ok(()) } else { Err(Fault::damaged(format!("{num_damaged} vectors are damaged"))) }
}

/// Number of bytes of the checksum after a vector.
const CHECK_BYTES: usize = 4;

/// Encodes a vector: one byte for each dimension, followed by the checksum of these bytes.
fn to_bytes(vector: &DenseVector) -> Vec<u8> {
    let mut bytes: Vec<u8> = vector.0.iter().map(|value| value.cast_unsigned()).collect();
    let check = check_of(&bytes);
    bytes.extend(check);
    bytes
}

/// Decodes a vector. Returns `None` if the checksum of the vector does not match.
fn from_bytes(bytes: &[u8]) -> Option<DenseVector> {
    let (vector, check) = bytes.split_at_checked(bytes.len().checked_sub(CHECK_BYTES)?)?;
    (check_of(vector) == *check).then(|| DenseVector(vector.iter().map(|byte| byte.cast_signed()).collect()))
}

fn check_of(bytes: &[u8]) -> [u8; CHECK_BYTES] {
    let [first, second, third, fourth, ..] = *blake3::hash(bytes).as_bytes();
    [first, second, third, fourth]
}
