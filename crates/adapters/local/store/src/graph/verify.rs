//! Verifies the graph: reads all records of a repository, and compares the data that is stored twice.

use cairn_domain::RepositoryId;
use rusqlite::{Connection, params};

use crate::fault::Fault;
use crate::graph::identity::{find_owner, node_key};
use crate::graph::nodes::read_block;
use crate::graph::{edges, patterns};

pub(crate) fn verify(connection: &Connection, repository: RepositoryId) -> Result<(), Fault> {
    let Some(owner) = find_owner(connection, repository)? else { return Ok(()) };
    verify_nodes(connection, owner)?;
    verify_edges(connection, owner)?;
    let mut select = connection.prepare_cached("SELECT payload FROM pattern WHERE owner = ?1")?;
    let mut rows = select.query([owner])?;
    while let Some(row) = rows.next()? {
        patterns::decode(row.get_ref(0)?.as_blob()?)?;
    }
    Ok(())
}

/// Checks that the row of each version agrees with its record in the block.
fn verify_nodes(connection: &Connection, owner: i64) -> Result<(), Fault> {
    let mut select = connection.prepare_cached(
        "SELECT node, block, slot, name, line, path.path FROM node_version LEFT JOIN path ON path.id = node_version.path
         WHERE node_version.owner = ?1 ORDER BY block, slot",
    )?;
    let mut rows = select.query(params![owner])?;
    let mut current = (0, Vec::new());
    while let Some(row) = rows.next()? {
        let (node, block, slot): (i64, i64, usize) = (row.get(0)?, row.get(1)?, row.get(2)?);
        node_key(connection, node)?;
        if current.0 != block {
            current = (block, read_block(connection, block)?);
        }
        let record = current.1.get(slot);
        let agrees = record.is_some_and(|record| {
            let line = record.span.map_or(0, |span| span.start);
            let path = record.path.as_ref().map(|path| path.as_str().to_owned());
            row.get(3).ok() == Some(record.name.clone())
                && row.get(4).ok() == Some(line)
                && row.get(5).ok() == Some(path)
        });
        if !agrees {
            return Err(Fault::damaged(format!("node {node} disagrees with its record")));
        }
    }
    Ok(())
}

/// Checks that the source and the target of every edge exist, and that the edge can be found from its target.
fn verify_edges(connection: &Connection, owner: i64) -> Result<(), Fault> {
    let mut select = connection.prepare_cached("SELECT DISTINCT source FROM edge_list WHERE owner = ?1")?;
    let mut is_known = connection.prepare_cached("SELECT 1 FROM edge_in WHERE target = ?1 AND source = ?2")?;
    let mut rows = select.query([owner])?;
    while let Some(row) = rows.next()? {
        let source = row.get(0)?;
        node_key(connection, source)?;
        for stored in edges::edges_of(connection, source)? {
            node_key(connection, stored.edge.target)?;
            if !is_known.exists([stored.edge.target, source])? {
                return Err(Fault::damaged(format!("an edge of node {source} cannot be found from its target")));
            }
        }
    }
    Ok(())
}
