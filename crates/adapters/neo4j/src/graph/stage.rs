//! Stages a part of a run: writes its records in as few transactions as possible.

use async_trait::async_trait;
use cairn_domain::{EdgeRecord, PatternKey, RepositoryId, RunId};
use cairn_ports::{StagedGraph, Staging};
use neo4rs::{BoltType, Query};

use crate::connection::Neo4j;
use crate::fault::Fault;
use crate::graph::{edges, nodes, patterns};
use crate::transaction::{Transaction, Work};
use crate::values::{BATCH_ROWS, OPEN, generation_number, key_text};

/// Takes the write lock of the owner. The statement then returns the owner's tenant, and also the state of
/// the run if the ledger is in this database. Because the lock comes first, the statement reads the records
/// that other writers of the repository have committed. No other writer commits until this transaction ends.
const GUARD: &str = "
MERGE (owner:Owner~ {key: $owner})
ON CREATE SET owner.tenant = $tenant
SET owner.staged = $generation
WITH owner
OPTIONAL MATCH (run:Run~ {generation: $generation})
RETURN owner.tenant AS tenant, run.state AS state";

/// A statement with its rows.
struct Step {
    statement: &'static str,
    rows: Vec<BoltType>,
    /// Nodes that must exist before the rows can be connected to them.
    ends: Vec<String>,
}

/// One transaction: the guard statement, followed by steps that together have at most `BATCH_ROWS` rows.
struct Batch<'a> {
    neo4j: &'a Neo4j,
    staging: &'a Staging,
    steps: Vec<Step>,
}

pub(crate) async fn stage(neo4j: &Neo4j, staging: &Staging, staged: &StagedGraph) -> Result<(), Fault> {
    check_owner(staging.run.repository, staged)?;
    for steps in batches(steps(staging.run, staged)) {
        neo4j.transact(&Batch { neo4j, staging, steps }).await?;
    }
    Ok(())
}

/// Fails if a record belongs to another repository: a generation may write only records that its repository
/// owns.
fn check_owner(repository: RepositoryId, staged: &StagedGraph) -> Result<(), Fault> {
    let is_foreign = staged.nodes.iter().any(|node| node.repository != repository)
        || staged.edges.iter().any(|edge| edge.owner != repository)
        || staged.patterns.iter().any(|pattern| pattern.repository != repository);
    if is_foreign { Err(Fault::invalid("a record belongs to a different repository than the run")) } else { Ok(()) }
}

/// Returns the steps. Each list is sorted by its keys, because writers that take locks in the same order
/// cannot deadlock.
fn steps(run: RunId, staged: &StagedGraph) -> Vec<Step> {
    let mut retired_nodes = staged.retired_nodes.clone();
    retired_nodes.sort_unstable();
    let mut retired_edges = staged.retired_edges.clone();
    retired_edges.sort_unstable();
    let mut nodes: Vec<_> = staged.nodes.iter().collect();
    nodes.sort_by_key(|node| node.key);
    let mut edges: Vec<_> = staged.edges.iter().collect();
    edges.sort_by_key(|edge| (edge.source, edge.target, edge.key));
    let mut steps = Vec::new();
    push(&mut steps, nodes::RETIRE, &nodes::key_texts(&retired_nodes), |key| key.as_str().into());
    push(&mut steps, edges::RETIRE, &retired_edges, |key| edges::retire_row(*key));
    push(&mut steps, patterns::RETIRE, &staged.retired_patterns, |key: &PatternKey| key_text(key.0).into());
    push(&mut steps, nodes::INSERT, &nodes, |node| nodes::insert_row(run, node));
    for edges in edges.chunks(BATCH_ROWS) {
        let rows = edges.iter().map(|edge| edges::insert_row(run, edge)).collect();
        steps.push(Step { statement: edges::INSERT, rows, ends: ends(edges) });
    }
    push(&mut steps, patterns::INSERT, &staged.patterns, |pattern| patterns::insert_row(run, pattern));
    steps
}

fn push<T>(steps: &mut Vec<Step>, statement: &'static str, items: &[T], row: impl Fn(&T) -> BoltType) {
    for items in items.chunks(BATCH_ROWS) {
        steps.push(Step { statement, rows: items.iter().map(&row).collect(), ends: Vec::new() });
    }
}

fn ends(edges: &[&EdgeRecord]) -> Vec<String> {
    let mut keys: Vec<_> = edges.iter().flat_map(|edge| [edge.source, edge.target]).collect();
    keys.sort_unstable();
    keys.dedup();
    nodes::key_texts(&keys)
}

/// Joins small steps into batches, so that a small part needs only one transaction.
fn batches(steps: Vec<Step>) -> Vec<Vec<Step>> {
    let mut batches: Vec<Vec<Step>> = Vec::new();
    let mut num_rows = usize::MAX;
    for step in steps {
        num_rows = num_rows.saturating_add(step.rows.len());
        match batches.last_mut() {
            Some(batch) if num_rows <= BATCH_ROWS => batch.push(step),
            _ => {
                num_rows = step.rows.len();
                batches.push(vec![step]);
            }
        }
    }
    batches
}

#[async_trait]
impl Work for Batch<'_> {
    type Output = ();

    async fn run(&self, transaction: &mut Transaction) -> Result<(), Fault> {
        if !self.guard(transaction).await? {
            return Ok(());
        }
        let aborted: Vec<i64> = self.staging.aborted.iter().copied().map(generation_number).collect();
        for step in &self.steps {
            if !step.ends.is_empty() {
                let nodes = self.neo4j.query(edges::INSERT_ENDS).param("nodes", step.ends.clone());
                transaction.run(nodes).await?;
            }
            let statement = self.query(step.statement).param("open", OPEN).param("aborted", aborted.clone());
            transaction.run(statement.param("rows", BoltType::from(step.rows.clone()))).await?;
        }
        Ok(())
    }
}

impl Batch<'_> {
    fn query(&self, statement: &str) -> Query {
        self.neo4j
            .query(statement)
            .param("owner", key_text(self.staging.run.repository.0))
            .param("tenant", self.staging.tenant.as_str())
            .param("generation", generation_number(self.staging.run.generation))
    }

    /// Returns whether the records must be written. If the run is already published, the writer is late and
    /// has nothing to add.
    async fn guard(&self, transaction: &mut Transaction) -> Result<bool, Fault> {
        let rows = transaction.rows(self.query(GUARD)).await?;
        let row = rows.first().ok_or_else(|| Fault::damaged("a repository has no owner"))?;
        if row.get::<String>("tenant")? != self.staging.tenant.as_str() {
            return Err(Fault::invalid("the repository belongs to another tenant"));
        }
        match row.get::<Option<String>>("state")?.as_deref() {
            Some("failed" | "cancelled") => Err(Fault::conflict("the run was cancelled or has failed")),
            Some("published" | "partial") => Ok(false),
            _ => Ok(true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(num_rows: usize) -> Step {
        Step { statement: "", rows: vec![BoltType::from(0); num_rows], ends: Vec::new() }
    }

    #[test]
    fn small_steps_share_a_transaction_up_to_the_limit() {
        let check = |sizes: &[usize], expect: &[usize]| {
            let batches = batches(sizes.iter().copied().map(step).collect());
            let found: Vec<usize> =
                batches.iter().map(|batch| batch.iter().map(|step| step.rows.len()).sum()).collect();
            assert_eq!(found, expect);
        };
        check(&[], &[]);
        check(&[1, 2, 3], &[6]);
        check(&[5000, 1, 4999, 1], &[5000, 5000, 1]);
        check(&[3000, 3000], &[3000, 3000]);
    }
}
