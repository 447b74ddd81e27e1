//! Neo4j namespaces that tests use one after the other.
//!
//! A new namespace needs about thirty constraints and indexes, and each change of the schema makes the server
//! discard the query plans of every namespace. Tests therefore take a prepared namespace and remove its data.

use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::time::{Duration, SystemTime};
use std::{env, io};

use anyhow::{Context, Result};
use neo4rs::{ConfigBuilder, Graph, Query, Row};
use url::Url;

/// The minimum number of namespaces. Further namespaces are created only while all of these namespaces are in
/// use.
const LEAST_NAMESPACES: usize = 6;
/// Before a namespace has been free for this time, it may still receive a statement of a killed process.
const SETTLED_AFTER: Duration = Duration::from_secs(5);
/// The number of nodes that one transaction removes.
const NODES_AT_ONCE: usize = 5_000;

/// A namespace that no other test on this machine uses. The namespace is released when this value is dropped
/// or the process ends.
#[derive(Debug)]
pub struct Namespace {
    name: String,
    lock: File,
}

impl Namespace {
    /// Takes a free namespace and removes its data. The constraints and indexes of the namespace may already
    /// exist. `url` is `bolt://USER:PASSWORD@HOST:PORT`.
    pub async fn take(url: &str) -> Result<Self> {
        let namespace = Self::lock()?;
        let graph = connect(url).await?;
        namespace.end_transactions(&graph).await?;
        namespace.remove_data(&graph).await?;
        Ok(namespace)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    fn lock() -> Result<Self> {
        let folder = env::temp_dir().join("cairn-test-namespaces");
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let order = |number: usize| order(free_for(&folder.join(name(number))));
        let mut numbers: Vec<usize> = (0..LEAST_NAMESPACES).collect();
        numbers.sort_by_key(|number| order(*number));
        for number in numbers.into_iter().chain(LEAST_NAMESPACES..) {
            let lock = File::create(folder.join(name(number))).context("cannot create the lock of a namespace")?;
            match lock.try_lock() {
                Ok(()) => return Ok(Self { name: name(number), lock }),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error).context("cannot lock a namespace"),
            }
        }
        unreachable!("the range of numbers has no end")
    }

    /// Ends the transactions of earlier tests. If a process was killed, its transaction could still be
    /// committed.
    async fn end_transactions(&self, graph: &Graph) -> Result<()> {
        let statement = format!(
            "SHOW TRANSACTIONS YIELD transactionId AS id, currentQuery AS query \
             WHERE query CONTAINS '_{}' AND NOT query STARTS WITH 'SHOW' RETURN id",
            self.name
        );
        for row in run(graph, &statement).await? {
            let id: String = row.get("id")?;
            run(graph, &format!("TERMINATE TRANSACTION '{id}'")).await?;
        }
        Ok(())
    }

    async fn remove_data(&self, graph: &Graph) -> Result<()> {
        let labels = format!("CALL db.labels() YIELD label WHERE label ENDS WITH '_{}' RETURN label", self.name);
        for row in run(graph, &labels).await? {
            let label: String = row.get("label")?;
            let remove = format!(
                "MATCH (node:`{label}`) WITH node LIMIT {NODES_AT_ONCE} DETACH DELETE node RETURN count(*) AS count"
            );
            while run(graph, &remove).await?.first().map_or(Ok(0), |row| row.get::<u64>("count"))? > 0 {}
        }
        Ok(())
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // Records the time of the release. An error is ignored, because its only effect is that the namespace
        // may be reused sooner.
        let _ = self.lock.set_modified(SystemTime::now());
    }
}

fn name(number: usize) -> String {
    format!("tests_{number}")
}

/// The time since a test took or released the namespace. `None` if no test has used it.
fn free_for(lock: &Path) -> Option<Duration> {
    let modified = || -> io::Result<SystemTime> { fs::metadata(lock)?.modified() };
    Some(SystemTime::now().duration_since(modified().ok()?).unwrap_or_default())
}

/// The order in which namespaces are tried. Among the namespaces that have been free for at least
/// `SETTLED_AFTER`, the one that was used last comes first, because the server has plans for its statements.
/// Namespaces that have been free for a shorter time come next. Unused namespaces come last, because their
/// constraints must be created.
fn order(free_for: Option<Duration>) -> (u8, Duration) {
    match free_for {
        Some(time) if time >= SETTLED_AFTER => (0, time),
        Some(time) => (1, SETTLED_AFTER - time),
        None => (2, Duration::ZERO),
    }
}

async fn connect(url: &str) -> Result<Graph> {
    let mut url = Url::parse(url).with_context(|| format!("{url} is not an address"))?;
    let (user, password) = (url.username().to_owned(), url.password().unwrap_or_default().to_owned());
    let is_without = url.set_username("").is_ok() && url.set_password(None).is_ok();
    anyhow::ensure!(is_without, "the address of Neo4j has no host");
    Ok(Graph::connect(ConfigBuilder::default().uri(url.as_str()).user(user).password(password).build()?)?)
}

async fn run(graph: &Graph, statement: &str) -> Result<Vec<Row>> {
    let mut transaction = graph.start_txn().await?;
    let mut stream = transaction.execute(Query::new(statement.to_owned())).await?;
    let mut rows = Vec::new();
    while let Some(row) = stream.next(transaction.handle()).await? {
        rows.push(row);
    }
    transaction.commit().await?;
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_with_plans_are_tried_first() {
        let seconds = |seconds: u64| Some(Duration::from_secs(seconds));
        let mut namespaces = [None, seconds(1), seconds(600), seconds(6), seconds(3)];
        namespaces.sort_by_key(|free_for| order(*free_for));
        assert_eq!(namespaces, [seconds(6), seconds(600), seconds(3), seconds(1), None]);
    }
}
