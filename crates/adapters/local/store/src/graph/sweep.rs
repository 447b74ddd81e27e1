//! Sweeps the graph: removes the data that is visible in no view, reverts generations that were never
//! published, and frees space.
//!
//! Every step selects its records by generation and owner, so a second run of the same step finds no records.

use cairn_domain::{GenerationId, RepositoryId, Tenant};
use rusqlite::{Connection, Params, params};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::fault::Fault;
use crate::graph::edges::remove_from_list;
use crate::graph::identity::find_owner;
use crate::graph::nodes::{BlockWriter, NewVersion, read_block, release, remove_versions};

/// The identity of an edge list: source, owner and generation.
type ListKey = (i64, i64, u64);

pub(crate) fn retired(
    connection: &Connection,
    repository: RepositoryId,
    published: &[GenerationId],
) -> Result<u64, Fault> {
    let Some(owner) = find_owner(connection, repository)? else { return Ok(0) };
    let mut num_removed = 0;
    for generation in published {
        let key = params![owner, generation.0];
        let versions =
            select(connection, "SELECT node, gen_from FROM node_version WHERE owner = ?1 AND gen_to = ?2", key)?;
        let ends = "SELECT source, gen_from, position FROM edge_end WHERE owner = ?1 AND gen_to = ?2";
        let ends = collect(connection, ends, key, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let patterns = "DELETE FROM pattern WHERE owner = ?1 AND gen_to = ?2";
        num_removed += connection.prepare_cached(patterns)?.execute(key)? as u64;
        num_removed += (versions.len() + ends.len()) as u64;
        remove_versions(connection, &versions)?;
        let mut touched: FxHashSet<i64> = versions.into_iter().map(|(node, _)| node).collect();
        remove_edges(connection, owner, &ends, &mut touched)?;
        forget_nodes(connection, &touched)?;
    }
    forget_paths(connection, owner)?;
    Ok(num_removed)
}

pub(crate) fn aborted(connection: &Connection, repository: RepositoryId, aborted: GenerationId) -> Result<u64, Fault> {
    let Some(owner) = find_owner(connection, repository)? else { return Ok(0) };
    let key = params![owner, aborted.0];
    for reopen in [
        "UPDATE node_version SET gen_to = NULL WHERE owner = ?1 AND gen_to = ?2",
        "UPDATE pattern SET gen_to = NULL WHERE owner = ?1 AND gen_to = ?2",
        "DELETE FROM edge_end WHERE owner = ?1 AND gen_to = ?2",
    ] {
        connection.prepare_cached(reopen)?.execute(key)?;
    }
    remove_begun(connection, owner, "gen_from = ?2", aborted.0)?;
    let remaining = "SELECT (SELECT count(*) FROM node_version WHERE owner = ?1 AND (gen_from = ?2 OR gen_to = ?2))
        + (SELECT count(*) FROM edge_list WHERE owner = ?1 AND gen_from = ?2)
        + (SELECT count(*) FROM edge_end WHERE owner = ?1 AND gen_to = ?2)
        + (SELECT count(*) FROM pattern WHERE owner = ?1 AND (gen_from = ?2 OR gen_to = ?2))";
    Ok(connection.prepare_cached(remaining)?.query_row(key, |row| row.get(0))?)
}

pub(crate) fn remove(
    connection: &Connection,
    tenant: &Tenant,
    repository: RepositoryId,
    before: GenerationId,
) -> Result<(), Fault> {
    let Some(owner) = find_owner(connection, repository)? else { return Ok(()) };
    let mut is_owner = connection.prepare_cached("SELECT 1 FROM owner WHERE id = ?1 AND tenant = ?2")?;
    if !is_owner.exists(params![owner, tenant.as_str()])? {
        return Ok(());
    }
    remove_begun(connection, owner, "gen_from < ?2", before.0)?;
    let mut is_left = connection.prepare_cached(
        "SELECT 1 WHERE EXISTS (SELECT 1 FROM node_version WHERE owner = ?1)
            OR EXISTS (SELECT 1 FROM edge_list WHERE owner = ?1) OR EXISTS (SELECT 1 FROM pattern WHERE owner = ?1)",
    )?;
    if !is_left.exists([owner])? {
        connection.execute("DELETE FROM owner WHERE id = ?1", [owner])?;
    }
    Ok(())
}

/// Removes the owner's records that began in certain generations. `condition` selects these generations by
/// the parameter `?2`.
fn remove_begun(connection: &Connection, owner: i64, condition: &str, generation: u64) -> Result<(), Fault> {
    let key = params![owner, generation];
    let versions = format!("SELECT node, gen_from FROM node_version WHERE owner = ?1 AND {condition}");
    let versions = select(connection, &versions, key)?;
    let lists = format!("SELECT source, gen_from FROM edge_list WHERE owner = ?1 AND {condition}");
    let lists = select(connection, &lists, key)?;
    connection.prepare_cached(&format!("DELETE FROM pattern WHERE owner = ?1 AND {condition}"))?.execute(key)?;
    remove_versions(connection, &versions)?;
    let mut touched: FxHashSet<i64> = versions.into_iter().map(|(node, _)| node).collect();
    for (source, gen_from) in lists {
        remove_list_edges(connection, (source, owner, gen_from), |_| true, &mut touched)?;
    }
    forget_nodes(connection, &touched)?;
    forget_paths(connection, owner)
}

fn remove_edges(
    connection: &Connection,
    owner: i64,
    ends: &[(i64, u64, usize)],
    touched: &mut FxHashSet<i64>,
) -> Result<(), Fault> {
    let mut lists: FxHashMap<(i64, u64), FxHashSet<usize>> = FxHashMap::default();
    for (source, gen_from, position) in ends {
        lists.entry((*source, *gen_from)).or_default().insert(*position);
    }
    for ((source, gen_from), positions) in lists {
        let is_removed = |position| positions.contains(&position);
        remove_list_edges(connection, (source, owner, gen_from), is_removed, touched)?;
    }
    Ok(())
}

fn remove_list_edges(
    connection: &Connection,
    list: ListKey,
    is_removed: impl Fn(usize) -> bool,
    touched: &mut FxHashSet<i64>,
) -> Result<(), Fault> {
    let source = list.0;
    let targets: FxHashSet<i64> = remove_from_list(connection, list, is_removed)?.into_iter().collect();
    let left: FxHashSet<i64> =
        crate::graph::edges::edges_of(connection, source)?.iter().map(|stored| stored.edge.target).collect();
    let mut delete = connection.prepare_cached("DELETE FROM edge_in WHERE target = ?1 AND source = ?2")?;
    for target in targets.difference(&left) {
        delete.execute([*target, source])?;
    }
    touched.insert(source);
    touched.extend(targets);
    Ok(())
}

/// Removes the identities to which no record refers.
fn forget_nodes(connection: &Connection, nodes: &FxHashSet<i64>) -> Result<(), Fault> {
    let mut delete = connection.prepare_cached(
        "DELETE FROM node WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM node_version WHERE node = ?1)
            AND NOT EXISTS (SELECT 1 FROM edge_list WHERE source = ?1)
            AND NOT EXISTS (SELECT 1 FROM edge_in WHERE target = ?1)",
    )?;
    for node in nodes {
        delete.execute([node])?;
    }
    Ok(())
}

fn forget_paths(connection: &Connection, owner: i64) -> Result<(), Fault> {
    connection.execute(
        "DELETE FROM path WHERE owner = ?1
            AND id NOT IN (SELECT path FROM node_version WHERE owner = ?1 AND path IS NOT NULL)",
        [owner],
    )?;
    Ok(())
}

/// If most versions of a block are dead, moves its live versions to a new block.
pub(crate) fn repack(connection: &Connection, repository: RepositoryId) -> Result<(), Fault> {
    let Some(owner) = find_owner(connection, repository)? else { return Ok(()) };
    // The blocks are checked first, because there are few of them. If no block is sparse, the many versions
    // in the blocks need not be read.
    let is_sparse = "SELECT 1 FROM node_block WHERE live * 2 < slots LIMIT 1";
    if !connection.prepare_cached(is_sparse)?.exists([])? {
        return Ok(());
    }
    let sparse = "SELECT node, gen_from, gen_to, block, slot FROM node_version JOIN node_block ON block = id
        WHERE owner = ?1 AND live * 2 < slots ORDER BY path, line, node, gen_from";
    let versions = collect(connection, sparse, [owner], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get::<_, usize>(4)?))
    })?;
    let mut blocks = FxHashMap::default();
    let mut writer = BlockWriter::new(connection, owner)?;
    for (node, gen_from, gen_to, block, slot) in &versions {
        let records = match blocks.entry(*block) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(entry) => entry.insert(read_block(connection, *block)?),
        };
        let record = records.get(*slot).cloned();
        let record = record.ok_or_else(|| Fault::damaged(format!("node {node} has no slot")))?;
        writer.push(NewVersion { node: *node, gen_from: *gen_from, gen_to: *gen_to, record })?;
    }
    writer.flush()?;
    for (.., block, _) in versions {
        release(connection, block)?;
    }
    Ok(())
}

/// Returns free pages to the file system and restarts the log.
pub(crate) fn give_back_space(connection: &Connection) -> Result<(), Fault> {
    // Each step of the statement frees one page.
    let mut vacuum = connection.prepare("PRAGMA incremental_vacuum")?;
    let mut steps = vacuum.query([])?;
    while steps.next()?.is_some() {}
    connection.execute_batch("PRAGMA optimize")?;
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
    Ok(())
}

fn select(connection: &Connection, sql: &str, key: impl Params) -> Result<Vec<(i64, u64)>, Fault> {
    collect(connection, sql, key, |row| Ok((row.get(0)?, row.get(1)?)))
}

fn collect<T>(
    connection: &Connection,
    sql: &str,
    key: impl Params,
    read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, Fault> {
    Ok(connection.prepare_cached(sql)?.query_map(key, read)?.collect::<Result<_, _>>()?)
}
