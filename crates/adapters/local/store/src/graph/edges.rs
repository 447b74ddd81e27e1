//! Reads and writes edges. Three tables contain edges: the lists of edges by source and generation, the
//! generations that retired edges, and the sources that refer to each target.

use cairn_domain::{EdgeKey, EdgeRecord, NodeKey, RepositoryId};
use cairn_ports::StagedGraph;
use rusqlite::{Connection, OptionalExtension, params};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::fault::Fault;
use crate::graph::identity::node_key;
use crate::graph::lists::{self, ListedEdge, Ordinals, Sites};
use crate::graph::staging::{Staging, touched_sources};

/// A stored edge with its position in the list and the interval in which it is visible.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredEdge {
    pub(crate) source: i64,
    pub(crate) owner: i64,
    pub(crate) gen_from: u64,
    pub(crate) gen_to: Option<u64>,
    pub(crate) position: usize,
    pub(crate) edge: ListedEdge,
}

/// All stored records of the edges that start at `source`, visible or not.
pub(crate) fn edges_of(connection: &Connection, source: i64) -> Result<Vec<StoredEdge>, Fault> {
    let mut ends = FxHashMap::default();
    let mut select =
        connection.prepare_cached("SELECT owner, gen_from, position, gen_to FROM edge_end WHERE source = ?1")?;
    let mut rows = select.query([source])?;
    while let Some(row) = rows.next()? {
        ends.insert((row.get(0)?, row.get(1)?, row.get(2)?), row.get(3)?);
    }
    let mut stored = Vec::new();
    let mut select = connection.prepare_cached("SELECT owner, gen_from, payload FROM edge_list WHERE source = ?1")?;
    let mut rows = select.query([source])?;
    while let Some(row) = rows.next()? {
        let (owner, gen_from): (i64, u64) = (row.get(0)?, row.get(1)?);
        for (position, edge) in decode(source, row.get_ref(2)?.as_blob()?)?.into_iter().enumerate() {
            let gen_to = ends.get(&(owner, gen_from, position)).copied();
            stored.push(StoredEdge { source, owner, gen_from, gen_to, position, edge });
        }
    }
    Ok(stored)
}

pub(crate) fn decode(source: i64, payload: &[u8]) -> Result<Vec<ListedEdge>, Fault> {
    lists::decode(source, payload).map_err(|error| Fault::damaged(format!("edges of node {source}: {error}")))
}

pub(crate) fn insert(staging: &mut Staging<'_>, edges: &[EdgeRecord]) -> Result<(), Fault> {
    let mut order = Vec::with_capacity(edges.len());
    for edge in edges {
        order.push((staging.identities.intern(edge.source)?, staging.identities.intern(edge.target)?.id, edge));
    }
    order.sort_by(|(left_source, left_target, left), (right_source, right_target, right)| {
        (left_source.id, left.kind, left_target, left.line, left.key).cmp(&(
            right_source.id,
            right.kind,
            right_target,
            right.line,
            right.key,
        ))
    });
    let mut pairs = Vec::new();
    for of_source in order.chunk_by(|left, right| left.0.id == right.0.id) {
        let source = of_source[0].0;
        let mut list = if source.is_new { Vec::new() } else { staged_list(staging, source.id)? };
        let added = append(staging, source.id, &mut list, of_source)?;
        if added.is_empty() {
            continue;
        }
        pairs.extend(added.into_iter().map(|target| (target, source.id)));
        write_list(staging.connection, source.id, staging.owner, staging.run.generation.0, &list)?;
    }
    insert_pairs(staging.connection, pairs)
}

type OrderedEdge<'e> = (crate::graph::identity::Identity, i64, &'e EdgeRecord);

fn staged_list(staging: &Staging<'_>, source: i64) -> Result<Vec<ListedEdge>, Fault> {
    let mut select = staging
        .connection
        .prepare_cached("SELECT payload FROM edge_list WHERE source = ?1 AND owner = ?2 AND gen_from = ?3")?;
    let key = params![source, staging.owner, staging.run.generation.0];
    let payload: Option<Vec<u8>> = select.query_row(key, |row| row.get(0)).optional()?;
    payload.map_or(Ok(Vec::new()), |payload| decode(source, &payload))
}

/// Adds the edges that are not in the list yet. Returns the targets of these edges.
fn append(
    staging: &Staging<'_>,
    source: i64,
    list: &mut Vec<ListedEdge>,
    edges: &[OrderedEdge<'_>],
) -> Result<Vec<i64>, Fault> {
    let (mut ordinals, mut sites) = (Ordinals::default(), Sites::default());
    let mut keys = FxHashSet::default();
    for edge in list.iter() {
        ordinals.next(edge.kind, edge.target);
        keys.insert(edge_key(staging.connection, staging.run.repository, source, edge)?);
    }
    let mut targets = Vec::with_capacity(edges.len());
    for (_, target, edge) in edges {
        if !keys.insert(edge.key) {
            continue;
        }
        list.push(ListedEdge::of(edge, *target, ordinals.next(edge.kind, *target), &mut sites));
        targets.push(*target);
    }
    Ok(targets)
}

fn edge_key(connection: &Connection, owner: RepositoryId, source: i64, edge: &ListedEdge) -> Result<EdgeKey, Fault> {
    match edge.site {
        lists::Site::Key(key) => Ok(key),
        lists::Site::Ordinal(_) => {
            Ok(edge.key(owner, node_key(connection, source)?, node_key(connection, edge.target)?))
        }
    }
}

fn write_list(
    connection: &Connection,
    source: i64,
    owner: i64,
    gen_from: u64,
    list: &[ListedEdge],
) -> Result<(), Fault> {
    let mut write = connection.prepare_cached(
        "INSERT OR REPLACE INTO edge_list (source, owner, gen_from, payload) VALUES (?1, ?2, ?3, ?4)",
    )?;
    write.execute(params![source, owner, gen_from, lists::encode(source, list)])?;
    Ok(())
}

fn insert_pairs(connection: &Connection, mut pairs: Vec<(i64, i64)>) -> Result<(), Fault> {
    pairs.sort_unstable();
    pairs.dedup();
    let mut insert = connection.prepare_cached("INSERT OR IGNORE INTO edge_in (target, source) VALUES (?1, ?2)")?;
    for (target, source) in pairs {
        insert.execute([target, source])?;
    }
    Ok(())
}

/// Ends the visible versions of the retired keys. The key of an edge does not contain the source of the edge.
/// So the lists of the nodes that this part contains are searched first. If these lists do not contain all
/// keys, all lists of the owner are read.
pub(crate) fn retire(staging: &mut Staging<'_>, staged: &StagedGraph) -> Result<(), Fault> {
    let mut wanted: FxHashSet<EdgeKey> = staged.retired_edges.iter().copied().collect();
    if wanted.is_empty() {
        return Ok(());
    }
    for source in touched_sources(staging.connection, staged)? {
        retire_from(staging, source, &mut wanted)?;
    }
    if wanted.is_empty() {
        return Ok(());
    }
    let mut select = staging.connection.prepare_cached("SELECT DISTINCT source FROM edge_list WHERE owner = ?1")?;
    let sources: Vec<i64> = select.query_map([staging.owner], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for source in sources {
        retire_from(staging, source, &mut wanted)?;
    }
    Ok(())
}

fn retire_from(staging: &Staging<'_>, source: i64, wanted: &mut FxHashSet<EdgeKey>) -> Result<(), Fault> {
    let mut end = staging.connection.prepare_cached(
        "INSERT OR REPLACE INTO edge_end (source, owner, gen_from, position, gen_to) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let mut found = Vec::new();
    for stored in edges_of(staging.connection, source)? {
        if stored.owner != staging.owner {
            continue;
        }
        let key = edge_key(staging.connection, staging.run.repository, source, &stored.edge)?;
        if !wanted.contains(&key) {
            continue;
        }
        found.push(key);
        if staging.may_retire(stored.gen_from, stored.gen_to) {
            let generation = staging.run.generation.0;
            end.execute(params![source, stored.owner, stored.gen_from, stored.position, generation])?;
        }
    }
    // All versions of an edge have the same source, so a key that was found here cannot be in the lists of a
    // different source.
    for key in found {
        wanted.remove(&key);
    }
    Ok(())
}

/// Removes the edges at the given positions from a list, and removes the list if it becomes empty. Later
/// edges move towards the start of the list, and the rows that retire these edges get the new positions.
/// Returns the nodes to which the list referred.
pub(crate) fn remove_from_list(
    connection: &Connection,
    (source, owner, gen_from): (i64, i64, u64),
    is_removed: impl Fn(usize) -> bool,
) -> Result<Vec<i64>, Fault> {
    let stored: Vec<StoredEdge> = edges_of(connection, source)?
        .into_iter()
        .filter(|stored| stored.owner == owner && stored.gen_from == gen_from)
        .collect();
    let key = params![source, owner, gen_from];
    connection
        .prepare_cached("DELETE FROM edge_end WHERE source = ?1 AND owner = ?2 AND gen_from = ?3")?
        .execute(key)?;
    connection
        .prepare_cached("DELETE FROM edge_list WHERE source = ?1 AND owner = ?2 AND gen_from = ?3")?
        .execute(key)?;
    let targets = stored.iter().map(|stored| stored.edge.target).collect();
    let kept: Vec<StoredEdge> = stored.into_iter().filter(|stored| !is_removed(stored.position)).collect();
    if kept.is_empty() {
        return Ok(targets);
    }
    let edges: Vec<ListedEdge> = kept.iter().map(|stored| stored.edge).collect();
    write_list(connection, source, owner, gen_from, &edges)?;
    let mut end = connection.prepare_cached(
        "INSERT INTO edge_end (source, owner, gen_from, position, gen_to) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for (position, stored) in kept.iter().enumerate() {
        if let Some(gen_to) = stored.gen_to {
            end.execute(params![source, owner, gen_from, position, gen_to])?;
        }
    }
    Ok(targets)
}

/// Converts a stored edge to a record.
pub(crate) fn record(stored: &StoredEdge, owner: RepositoryId, source: NodeKey, target: NodeKey) -> EdgeRecord {
    EdgeRecord {
        key: stored.edge.key(owner, source, target),
        owner,
        kind: stored.edge.kind,
        source,
        target,
        line: stored.edge.line,
        resolution: stored.edge.resolution,
        confidence_percent: stored.edge.confidence_percent,
    }
}
