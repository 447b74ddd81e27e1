//! Sweeps the graph: removes the data that is visible in no view, reverts generations that were never
//! published, and frees space.
//!
//! Every step selects its records by generation and owner, so a second run of the same step finds no records.

use cairn_domain::{GenerationId, Interval, RepositoryId, Tenant, View};
use rusqlite::{Connection, Params, params};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::fault::Fault;
use crate::graph::edges::remove_from_list;
use crate::graph::identity::find_owner;
use crate::graph::nodes::{BlockWriter, NewVersion, read_block, release, remove_versions};

/// Blocks are repacked only if the share of sparse blocks is at least `1 / SPARSE_PART`. Without this rule,
/// every sweep would read all versions.
const SPARSE_PART: usize = 8;
/// Maximum number of versions that a call moves.
const VERSIONS_AT_ONCE: i64 = 8_192;

/// The identity of an edge list: source, owner and generation.
type ListKey = (i64, i64, u64);

/// Removes the records that one of the published generations ended, and that none of the views sees.
pub(crate) fn retired(
    connection: &Connection,
    repository: RepositoryId,
    published: &[GenerationId],
    views: &[View],
) -> Result<u64, Fault> {
    let Some(owner) = find_owner(connection, repository)? else { return Ok(0) };
    let (mut num_removed, mut all_touched, mut paths) = (0, FxHashSet::default(), FxHashSet::default());
    for generation in published {
        let is_dead = |gen_from: u64| {
            let interval = Interval { gen_from: GenerationId(gen_from), gen_to: *generation };
            !views.iter().any(|view| view.sees(interval))
        };
        let key = params![owner, generation.0];
        let mut versions =
            select(connection, "SELECT node, gen_from FROM node_version WHERE owner = ?1 AND gen_to = ?2", key)?;
        versions.retain(|(_, gen_from)| is_dead(*gen_from));
        let ends = "SELECT source, gen_from, position FROM edge_end WHERE owner = ?1 AND gen_to = ?2";
        let mut ends = collect(connection, ends, key, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        ends.retain(|(_, gen_from, _)| is_dead(*gen_from));
        num_removed += (versions.len() + ends.len()) as u64;
        paths.extend(remove_versions(connection, &versions)?);
        let mut touched: FxHashSet<i64> = versions.into_iter().map(|(node, _)| node).collect();
        all_touched.extend(touched.iter().copied());
        remove_edges(connection, owner, &ends, &mut touched)?;
        forget_nodes(connection, &touched)?;
    }
    forget_paths(connection, owner, &all_touched, paths)?;
    Ok(num_removed + remove_patterns(connection, owner, published, views)?)
}

fn remove_patterns(
    connection: &Connection,
    owner: i64,
    published: &[GenerationId],
    views: &[View],
) -> Result<u64, Fault> {
    let ended = "SELECT key, gen_from, gen_to FROM pattern WHERE owner = ?1 AND gen_to IS NOT NULL";
    let ended = collect(connection, ended, [owner], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let mut delete =
        connection.prepare_cached("DELETE FROM pattern WHERE owner = ?1 AND key = ?2 AND gen_from = ?3")?;
    let mut num_removed = 0;
    for (key, gen_from, gen_to) in ended {
        let (key, gen_from, gen_to): ([u8; 16], u64, u64) = (key, gen_from, gen_to);
        let interval = Interval { gen_from: GenerationId(gen_from), gen_to: GenerationId(gen_to) };
        if published.contains(&interval.gen_to) && !views.iter().any(|view| view.sees(interval)) {
            num_removed += delete.execute(params![owner, key, gen_from])? as u64;
        }
    }
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
    let paths = remove_versions(connection, &versions)?;
    let mut touched: FxHashSet<i64> = versions.into_iter().map(|(node, _)| node).collect();
    for (source, gen_from) in lists {
        remove_list_edges(connection, (source, owner, gen_from), |_| true, &mut touched)?;
    }
    forget_nodes(connection, &touched)?;
    forget_paths(connection, owner, &touched, paths)
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

/// Removes the paths to which no node refers. `nodes` are the nodes whose versions were removed. If the file
/// of a path was changed but not deleted, it usually still has some of these nodes. So the other versions of
/// these nodes are searched first. If no such version has the path, for example because the file was deleted,
/// all versions of the owner are read.
fn forget_paths(
    connection: &Connection,
    owner: i64,
    nodes: &FxHashSet<i64>,
    mut paths: FxHashSet<i64>,
) -> Result<(), Fault> {
    let mut select = connection.prepare_cached("SELECT path FROM node_version WHERE node = ?1 AND path IS NOT NULL")?;
    for node in nodes {
        for path in select.query_map([node], |row| row.get(0))? {
            paths.remove(&path?);
        }
    }
    if paths.is_empty() {
        return Ok(());
    }
    let mut all = connection.prepare_cached("SELECT path FROM node_version WHERE owner = ?1 AND path IS NOT NULL")?;
    for path in all.query_map([owner], |row| row.get(0))? {
        paths.remove(&path?);
    }
    let mut delete = connection.prepare_cached("DELETE FROM path WHERE id = ?1")?;
    for path in paths {
        delete.execute([path])?;
    }
    Ok(())
}

/// Moves the remaining versions of a block to a new block if most versions of the block were removed. A call
/// moves a bounded number of versions. Returns whether the call moved any version.
pub(crate) fn repack(connection: &Connection, repository: RepositoryId) -> Result<bool, Fault> {
    let Some(owner) = find_owner(connection, repository)? else { return Ok(false) };
    // The sparse blocks are counted first, because all versions must be read to find the versions of a
    // block.
    let counts = "SELECT count(*), count(*) FILTER (WHERE live * 2 < slots) FROM node_block";
    let (num_blocks, num_sparse): (usize, usize) =
        connection.prepare_cached(counts)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if num_sparse == 0 || num_sparse * SPARSE_PART < num_blocks {
        return Ok(false);
    }
    let sparse = "SELECT node, gen_from, gen_to, block, slot FROM node_version
        WHERE owner = ?1 AND block IN (SELECT id FROM node_block WHERE live * 2 < slots)
        ORDER BY path, line, node, gen_from LIMIT ?2";
    let versions = collect(connection, sparse, params![owner, VERSIONS_AT_ONCE], |row| {
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
    let has_moved = !versions.is_empty();
    for (.., block, _) in versions {
        release(connection, block)?;
    }
    Ok(has_moved)
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
