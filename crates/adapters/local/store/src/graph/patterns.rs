//! Stores patterns. A repository has few patterns, and a reader always reads all of them. So each version is
//! one row of bytes.

use cairn_domain::{PatternKey, PatternRecord, Scope, View};
use cairn_wire::{Decode, Encode, Reader};
use rusqlite::{Connection, params};

use crate::fault::Fault;
use crate::graph::staging::Staging;
use crate::graph::visibility::Visibility;

pub(crate) fn insert(staging: &Staging<'_>, patterns: &[PatternRecord]) -> Result<(), Fault> {
    let mut insert = staging
        .connection
        .prepare_cached("INSERT OR IGNORE INTO pattern (owner, key, gen_from, payload) VALUES (?1, ?2, ?3, ?4)")?;
    for pattern in patterns {
        let mut payload = Vec::new();
        pattern.encode(&mut payload);
        insert.execute(params![staging.owner, pattern.key.0.0, staging.run.generation.0, payload])?;
    }
    Ok(())
}

pub(crate) fn retire(staging: &Staging<'_>, keys: &[PatternKey]) -> Result<(), Fault> {
    let connection = staging.connection;
    let mut select = connection.prepare_cached("SELECT gen_from, gen_to FROM pattern WHERE owner = ?1 AND key = ?2")?;
    let mut update =
        connection.prepare_cached("UPDATE pattern SET gen_to = ?4 WHERE owner = ?1 AND key = ?2 AND gen_from = ?3")?;
    for key in keys {
        let versions = select.query_map(params![staging.owner, key.0.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let versions: Vec<(u64, Option<u64>)> = versions.collect::<Result<_, _>>()?;
        for (gen_from, gen_to) in versions {
            if staging.may_retire(gen_from, gen_to) {
                update.execute(params![staging.owner, key.0.0, gen_from, staging.run.generation.0])?;
            }
        }
    }
    Ok(())
}

pub(crate) fn visible(connection: &Connection, view: &View, scope: &Scope) -> Result<Vec<PatternRecord>, Fault> {
    let mut visibility = Visibility::new(connection, view, scope);
    let mut select = connection.prepare_cached("SELECT owner, gen_from, gen_to, payload FROM pattern")?;
    let mut rows = select.query([])?;
    let mut patterns = Vec::new();
    while let Some(row) = rows.next()? {
        if visibility.repository(row.get(0)?)?.is_some() && visibility.sees(row.get(1)?, row.get(2)?) {
            patterns.push(decode(row.get_ref(3)?.as_blob()?)?);
        }
    }
    patterns.sort_by(|left, right| {
        let members = right.members.len().cmp(&left.members.len());
        let order = left.repository.cmp(&right.repository).then(members);
        order.then_with(|| left.name.cmp(&right.name)).then_with(|| left.key.cmp(&right.key))
    });
    Ok(patterns)
}

pub(crate) fn decode(payload: &[u8]) -> Result<PatternRecord, Fault> {
    let damaged = |detail: String| Fault::damaged(format!("a pattern: {detail}"));
    let mut reader = Reader(payload);
    let pattern = PatternRecord::decode(&mut reader).map_err(|error| damaged(error.to_string()))?;
    if reader.0.is_empty() { Ok(pattern) } else { Err(damaged("bytes follow it".to_owned())) }
}
