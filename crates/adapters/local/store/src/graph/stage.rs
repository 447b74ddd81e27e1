//! Writes the records of one part of a run in one transaction.

use cairn_domain::{NodeKey, NodeRecord, RepositoryId, RunId, RunState};
use cairn_ports::StagedGraph;
use rusqlite::{Connection, OptionalExtension, params};
use rustc_hash::FxHashSet;

use crate::fault::Fault;
use crate::graph::identity::{find_node, make_owner};
use crate::graph::nodes::{BlockWriter, NewVersion};
use crate::graph::staging::Staging;
use crate::graph::{edges, patterns};
use crate::runs::state_number;

pub(crate) fn stage(connection: &Connection, staging: cairn_ports::Staging, staged: StagedGraph) -> Result<(), Fault> {
    let run = staging.run;
    check_owner(run.repository, &staged)?;
    let is_state = |states: [RunState; 2], state: u8| states.map(state_number).contains(&state);
    match state_of(connection, run)? {
        Some(state) if is_state([RunState::Failed, RunState::Cancelled], state) => {
            return Err(Fault::conflict("the run was cancelled or has failed"));
        }
        // This writer is late: the generation already contains all records of this part, and a sweep may have
        // removed some of these records.
        Some(state) if is_state([RunState::Published, RunState::Partial], state) => return Ok(()),
        _ => {}
    }
    let owner = make_owner(connection, &staging.tenant, run.repository)?;
    let mut staging = Staging::new(connection, staging, owner);
    // Edges are retired first, because the search for retired edges starts at the nodes that this part
    // contains.
    edges::retire(&mut staging, &staged)?;
    retire_nodes(&staging, &staged.retired_nodes)?;
    patterns::retire(&staging, &staged.retired_patterns)?;
    insert_nodes(&mut staging, staged.nodes)?;
    edges::insert(&mut staging, &staged.edges)?;
    patterns::insert(&staging, &staged.patterns)
}

/// Returns an error if a record does not belong to the repository of the run.
fn check_owner(repository: RepositoryId, staged: &StagedGraph) -> Result<(), Fault> {
    let is_foreign = staged.nodes.iter().any(|node| node.repository != repository)
        || staged.edges.iter().any(|edge| edge.owner != repository)
        || staged.patterns.iter().any(|pattern| pattern.repository != repository);
    if is_foreign { Err(Fault::invalid("a record belongs to a different repository than the run")) } else { Ok(()) }
}

fn state_of(connection: &Connection, run: RunId) -> Result<Option<u8>, Fault> {
    let mut select = connection.prepare_cached("SELECT state FROM run WHERE generation = ?1 AND repository = ?2")?;
    Ok(select.query_row(params![run.generation.0, run.repository.0.0], |row| row.get(0)).optional()?)
}

fn insert_nodes(staging: &mut Staging<'_>, mut nodes: Vec<NodeRecord>) -> Result<(), Fault> {
    // After sorting, adjacent nodes get consecutive numbers and share blocks.
    nodes.sort_by(|left, right| position(left).cmp(&position(right)));
    let gen_from = staging.run.generation.0;
    let connection = staging.connection;
    let mut is_staged = connection.prepare_cached("SELECT 1 FROM node_version WHERE node = ?1 AND gen_from = ?2")?;
    let mut blocks = BlockWriter::new(connection, staging.owner)?;
    let mut seen = FxHashSet::default();
    for record in nodes {
        let identity = staging.identities.intern(record.key)?;
        if !seen.insert(identity.id) || (!identity.is_new && is_staged.exists(params![identity.id, gen_from])?) {
            continue;
        }
        blocks.push(NewVersion { node: identity.id, gen_from, gen_to: None, record })?;
    }
    blocks.flush()
}

fn position(node: &NodeRecord) -> (Option<&str>, u32, NodeKey) {
    (node.path.as_ref().map(|path| path.as_str()), node.span.map_or(0, |span| span.start), node.key)
}

fn retire_nodes(staging: &Staging<'_>, keys: &[NodeKey]) -> Result<(), Fault> {
    let connection = staging.connection;
    let mut select =
        connection.prepare_cached("SELECT gen_from, gen_to FROM node_version WHERE node = ?1 AND owner = ?2")?;
    let mut update =
        connection.prepare_cached("UPDATE node_version SET gen_to = ?3 WHERE node = ?1 AND gen_from = ?2")?;
    for key in keys {
        let Some(node) = find_node(connection, *key)? else { continue };
        let versions = select.query_map(params![node, staging.owner], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let versions: Vec<(u64, Option<u64>)> = versions.collect::<Result<_, _>>()?;
        for (gen_from, gen_to) in versions {
            if staging.may_retire(gen_from, gen_to) {
                update.execute(params![node, gen_from, staging.run.generation.0])?;
            }
        }
    }
    Ok(())
}
