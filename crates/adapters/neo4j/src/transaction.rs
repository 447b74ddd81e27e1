//! Begins, runs, commits and rolls back transactions. Retries a whole transaction if a retry can succeed.
//!
//! Only this module calls the driver, and it never calls the driver's auto-commit functions. If the
//! connection ends during a commit, the result of the commit is unknown. So the work of a transaction must
//! find the effects of its first execution when it is executed again.

use async_trait::async_trait;
use cairn_faults::fail_point;
use cairn_ports::ErrorKind;
use neo4rs::{Graph, Query, Row, Txn};
use tokio::sync::{mpsc, oneshot};

use crate::connection::Neo4j;
use crate::fault::Fault;
use crate::retry::RetryBudget;

/// The work of one transaction. The work may be executed several times, each time in a new transaction.
#[async_trait]
pub(crate) trait Work: Sync {
    type Output: Send;

    async fn run(&self, transaction: &mut Transaction) -> Result<Self::Output, Fault>;
}

/// A transaction may consist of a single statement. The output of this work is the rows of the statement.
#[async_trait]
impl Work for Query {
    type Output = Vec<Row>;

    async fn run(&self, transaction: &mut Transaction) -> Result<Vec<Row>, Fault> {
        transaction.rows(self.clone()).await
    }
}

impl Neo4j {
    /// Runs the work in a transaction and commits it. Retries after conflicts and lost connections.
    pub(crate) async fn transact<W: Work>(&self, work: &W) -> Result<W::Output, Fault> {
        let mut budget = RetryBudget::new(self.retry_deadline);
        loop {
            match self.attempt(work).await {
                Err(fault) if fault.is_retryable => budget.wait(fault).await?,
                outcome => return outcome,
            }
        }
    }

    async fn attempt<W: Work>(&self, work: &W) -> Result<W::Output, Fault> {
        let mut transaction = Transaction::begin(self).await?;
        match work.run(&mut transaction).await {
            Ok(outcome) => {
                fail_point!("neo4j::before_commit", |message: String| Err(Fault::from(
                    neo4rs::Error::UnexpectedMessage(message)
                )));
                transaction.commit().await?;
                fail_point!("neo4j::after_commit", |message: String| Err(Fault::from(
                    neo4rs::Error::UnexpectedMessage(message)
                )));
                Ok(outcome)
            }
            Err(fault) => {
                transaction.roll_back().await;
                Err(fault)
            }
        }
    }
}

/// A transaction that has begun and has not ended. Dropping the value rolls the transaction back.
///
/// A separate task communicates with the server. Suppose the caller communicated with the server directly and
/// was cancelled in the middle of an exchange. The driver could then not use the connection again, not even
/// to roll back. The locks of the transaction would remain until the pool checks the connection.
pub(crate) struct Transaction {
    steps: mpsc::Sender<Step>,
}

/// The next step of the transaction, and the channel for the reply.
enum Step {
    Rows(Query, oneshot::Sender<Result<Vec<Row>, Fault>>),
    Commit(oneshot::Sender<Result<(), Fault>>),
    RollBack(oneshot::Sender<()>),
}

impl Transaction {
    /// Begins a transaction. Waits at most `begin_deadline`, because a server may accept the connection and
    /// never reply. A transaction that begins later is rolled back, because its `steps` are dropped.
    async fn begin(neo4j: &Neo4j) -> Result<Self, Fault> {
        let (steps, requested) = mpsc::channel(1);
        let (begun, outcome) = oneshot::channel();
        tokio::spawn(serve(neo4j.graph.clone(), begun, requested));
        let limit = neo4j.begin_deadline;
        let Ok(outcome) = tokio::time::timeout(limit, outcome).await else {
            return Err(Fault::new(ErrorKind::Timeout, format!("no transaction began within {limit:?}")));
        };
        outcome.map_err(|_| Fault::no_reply())??;
        Ok(Self { steps })
    }

    /// Runs a statement that writes.
    pub(crate) async fn run(&mut self, query: Query) -> Result<(), Fault> {
        self.rows(query).await.map(drop)
    }

    /// Runs a statement and reads all its rows.
    pub(crate) async fn rows(&mut self, query: Query) -> Result<Vec<Row>, Fault> {
        self.ask(|answer| Step::Rows(query, answer)).await?
    }

    async fn commit(self) -> Result<(), Fault> {
        self.ask(Step::Commit).await?
    }

    /// Rolls back. After a failure the server has already rolled back, and it ignores this request.
    async fn roll_back(self) {
        let _ = self.ask(Step::RollBack).await;
    }

    async fn ask<T>(&self, step: impl FnOnce(oneshot::Sender<T>) -> Step) -> Result<T, Fault> {
        let (answer, outcome) = oneshot::channel();
        let _ = self.steps.send(step(answer)).await;
        outcome.await.map_err(|_| Fault::no_reply())
    }
}

/// Executes one transaction from beginning to end, even if the caller stops waiting.
async fn serve(graph: Graph, begun: oneshot::Sender<Result<(), Fault>>, mut requested: mpsc::Receiver<Step>) {
    let mut txn = match graph.start_txn().await {
        Ok(txn) => txn,
        Err(error) => return drop(begun.send(Err(error.into()))),
    };
    let _ = begun.send(Ok(()));
    loop {
        match requested.recv().await {
            Some(Step::Rows(query, answer)) => drop(answer.send(rows(&mut txn, query).await)),
            Some(Step::Commit(answer)) => return drop(answer.send(txn.commit().await.map_err(Fault::from))),
            Some(Step::RollBack(answer)) => {
                let _ = txn.rollback().await;
                let _ = answer.send(());
                return;
            }
            None => return drop(txn.rollback().await),
        }
    }
}

async fn rows(txn: &mut Txn, query: Query) -> Result<Vec<Row>, Fault> {
    let mut stream = txn.execute(query).await?;
    let mut rows = Vec::new();
    while let Some(row) = stream.next(txn.handle()).await? {
        rows.push(row);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use cairn_ports::ErrorKind;
    use tokio::net::TcpListener;

    use crate::{Neo4j, Neo4jConfig};

    #[tokio::test]
    async fn silent_server_times_out() {
        let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("bolt://{}", silent.local_addr().expect("an address"));
        let config = Neo4jConfig { timeout_ms: 100, retry_deadline_ms: 100, ..Neo4jConfig::new(&url) };
        let error = Neo4j::new(&config).expect("valid").version().await.expect_err("no reply");
        assert_eq!(error.kind, ErrorKind::Timeout, "{error:?}");
    }
}
