//! Sweeping: removes records that are visible in no view, and reverts generations that were never published.
//!
//! Every statement selects its records by owner and generation and changes at most one batch. So if a sweep
//! is interrupted, the next sweep continues at the same point. A node without references is removed together
//! with its last version or edge.

use async_trait::async_trait;
use cairn_domain::{GenerationId, RepositoryId, Tenant};
use neo4rs::{Query, Row};

use crate::connection::Neo4j;
use crate::fault::Fault;
use crate::transaction::{Transaction, Work};
use crate::values::{BATCH_ROWS, OPEN, generation_number, key_text};

/// Takes the write lock of the owner. No other writer can stage or retire records of the repository until the
/// commit.
const LOCK: &str = "MATCH (owner:Owner~ {key: $owner}) SET owner.swept = $generation RETURN owner.tenant AS tenant";

/// The kinds of records that are selected by generation: for each kind, the name of a record in a statement,
/// and the pattern that matches the record.
const RECORDS: [(&str, &str); 3] = [
    ("version", "(version:NodeVersion~ {owner: $owner})"),
    ("edge", "()-[edge:EDGE~ {owner: $owner}]->()"),
    ("version", "(version:Pattern~ {owner: $owner})"),
];

/// Statements that remove a batch of records. Each statement returns the number of removed records and the
/// nodes to which these records were connected. Edges are removed first, because most nodes then still have a
/// version and need no check for other references.
const REMOVE: [&str; 3] = [
    "MATCH (source:Node~)-[edge:EDGE~ {owner: $owner}]->(target:Node~) WHERE edge.CONDITION
     WITH source, edge, target LIMIT $limit
     WITH collect(edge) AS edges, collect(DISTINCT source.key) + collect(DISTINCT target.key) AS nodes
     FOREACH (edge IN edges | DELETE edge)
     RETURN size(edges) AS removed, nodes",
    "MATCH (version:NodeVersion~ {owner: $owner}) WHERE version.CONDITION
     WITH version LIMIT $limit MATCH (version)-[:VERSION_OF~]->(node:Node~)
     WITH collect(version) AS versions, collect(DISTINCT node.key) AS nodes
     FOREACH (version IN versions | DETACH DELETE version)
     RETURN size(versions) AS removed, nodes",
    "MATCH (version:Pattern~ {owner: $owner}) WHERE version.CONDITION
     WITH version LIMIT $limit
     WITH collect(version) AS versions
     FOREACH (version IN versions | DELETE version)
     RETURN size(versions) AS removed, [] AS nodes",
];

const FORGET_NODES: &str = "
UNWIND $nodes AS key
MATCH (node:Node~ {key: key})
WHERE NOT EXISTS { (node)<-[:VERSION_OF~]-() } AND NOT EXISTS { (node)--() }
DELETE node";

const FORGET_OWNER: &str = "
MATCH (owner:Owner~ {key: $owner})
WHERE NOT EXISTS { (version:NodeVersion~ {owner: $owner}) } AND NOT EXISTS { (version:Pattern~ {owner: $owner}) }
    AND NOT EXISTS { ()-[edge:EDGE~ {owner: $owner}]->() }
DELETE owner";

pub(crate) async fn retired(neo4j: &Neo4j, repository: RepositoryId, published: &[GenerationId]) -> Result<u64, Fault> {
    let mut num_removed = 0;
    for generation in published {
        let sweep = Sweep { neo4j, repository, generation: *generation };
        num_removed += sweep.remove_all("gen_to = $generation").await?;
    }
    Ok(num_removed)
}

pub(crate) async fn aborted(neo4j: &Neo4j, repository: RepositoryId, aborted: GenerationId) -> Result<u64, Fault> {
    let sweep = Sweep { neo4j, repository, generation: aborted };
    for (name, pattern) in RECORDS {
        let reopen = format!(
            "MATCH {pattern} WHERE {name}.gen_to = $generation
             WITH {name} LIMIT $limit SET {name}.gen_to = $open
             RETURN count({name}) AS removed, [] AS nodes"
        );
        sweep.repeat(&reopen).await?;
    }
    sweep.remove_all("gen_from = $generation").await?;
    sweep.remaining().await
}

pub(crate) async fn remove(
    neo4j: &Neo4j,
    tenant: &Tenant,
    repository: RepositoryId,
    before: GenerationId,
) -> Result<(), Fault> {
    let sweep = Sweep { neo4j, repository, generation: before };
    let owner = "MATCH (owner:Owner~ {key: $owner}) RETURN owner.tenant AS tenant";
    let rows = neo4j.transact(&sweep.query(owner)).await?;
    let Some(row) = rows.first() else { return Ok(()) };
    if row.get::<String>("tenant")? != tenant.as_str() {
        return Ok(());
    }
    sweep.remove_all("gen_from < $generation").await?;
    sweep.repeat(&format!("{FORGET_OWNER} RETURN 0 AS removed, [] AS nodes")).await?;
    Ok(())
}

/// A repository and the generation that is swept.
#[derive(Clone, Copy)]
struct Sweep<'a> {
    neo4j: &'a Neo4j,
    repository: RepositoryId,
    generation: GenerationId,
}

/// One execution of a statement, which changes at most one batch of records. The statement returns the
/// columns `removed` and `nodes`.
struct Batch<'a> {
    sweep: Sweep<'a>,
    statement: &'a str,
}

impl Sweep<'_> {
    fn query(&self, statement: &str) -> Query {
        self.neo4j
            .query(statement)
            .param("owner", key_text(self.repository.0))
            .param("generation", generation_number(self.generation))
    }

    async fn remove_all(&self, condition: &str) -> Result<u64, Fault> {
        let mut num_removed = 0;
        for statement in REMOVE {
            num_removed += self.repeat(&statement.replace("CONDITION", condition)).await?;
        }
        Ok(num_removed)
    }

    /// Executes the statement repeatedly, until it changes less than a full batch. Returns the number of
    /// changed records.
    async fn repeat(&self, statement: &str) -> Result<u64, Fault> {
        let mut total = 0;
        loop {
            let touched = self.neo4j.transact(&Batch { sweep: *self, statement }).await?;
            total += touched;
            if touched < BATCH_ROWS as u64 {
                return Ok(total);
            }
        }
    }

    /// Returns the number of records that still refer to the generation.
    async fn remaining(&self) -> Result<u64, Fault> {
        let mut total = 0;
        for (name, pattern) in RECORDS {
            for mark in ["gen_from", "gen_to"] {
                let statement =
                    format!("MATCH {pattern} WHERE {name}.{mark} = $generation RETURN count({name}) AS found");
                let rows = self.neo4j.transact(&self.query(&statement)).await?;
                total += rows.first().map_or(Ok(0), |row| row.get::<u64>("found"))?;
            }
        }
        Ok(total)
    }
}

#[async_trait]
impl Work for Batch<'_> {
    type Output = u64;

    async fn run(&self, transaction: &mut Transaction) -> Result<u64, Fault> {
        if transaction.rows(self.sweep.query(LOCK)).await?.is_empty() {
            return Ok(0);
        }
        let query = self.sweep.query(self.statement).param("limit", BATCH_ROWS as i64).param("open", OPEN);
        let rows = transaction.rows(query).await?;
        let Some(row) = rows.first() else { return Ok(0) };
        self.forget_nodes(transaction, row).await?;
        Ok(row.get("removed")?)
    }
}

impl Batch<'_> {
    async fn forget_nodes(&self, transaction: &mut Transaction, row: &Row) -> Result<(), Fault> {
        let mut nodes: Vec<String> = row.get("nodes")?;
        if nodes.is_empty() {
            return Ok(());
        }
        nodes.sort_unstable();
        nodes.dedup();
        transaction.run(self.sweep.neo4j.query(FORGET_NODES).param("nodes", nodes)).await
    }
}
