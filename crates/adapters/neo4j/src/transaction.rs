//! Transactions: begun, run, committed or rolled back, and run again as a whole where that helps.
//!
//! Nothing else in this crate may call the driver, and nothing here calls its auto-commit functions. The outcome of a
//! commit is unknown if the connection ends with it, so work is written such that a second run finds what the first did.

use async_trait::async_trait;
use cairn_faults::fail_point;
use cairn_ports::ErrorKind;
use neo4rs::{Graph, Query, Row, Txn};
use tokio::sync::{mpsc, oneshot};

use crate::connection::Neo4j;
use crate::fault::Fault;
use crate::retry::Patience;

/// What happens in one transaction. May be run several times, each time in a new transaction.
#[async_trait]
pub(crate) trait Work: Sync {
    type Outcome: Send;

    async fn run(&self, transaction: &mut Transaction) -> Result<Self::Outcome, Fault>;
}

/// A statement alone: its rows.
#[async_trait]
impl Work for Query {
    type Outcome = Vec<Row>;

    async fn run(&self, transaction: &mut Transaction) -> Result<Vec<Row>, Fault> {
        transaction.rows(self.clone()).await
    }
}

impl Neo4j {
    /// Runs the work in a transaction and commits, trying again after conflicts and lost connections.
    pub(crate) async fn transact<W: Work>(&self, work: &W) -> Result<W::Outcome, Fault> {
        let mut patience = Patience::new(self.retry_deadline);
        loop {
            match self.attempt(work).await {
                Err(fault) if fault.may_pass => patience.wait(fault).await?,
                outcome => return outcome,
            }
        }
    }

    async fn attempt<W: Work>(&self, work: &W) -> Result<W::Outcome, Fault> {
        let mut transaction = Transaction::begin(self).await?;
        match work.run(&mut transaction).await {
            Ok(outcome) => {
                fail_point!("neo4j::before_commit", |said: String| Err(Fault::from(neo4rs::Error::UnexpectedMessage(
                    said
                ))));
                transaction.commit().await?;
                fail_point!("neo4j::after_commit", |said: String| Err(Fault::from(neo4rs::Error::UnexpectedMessage(
                    said
                ))));
                Ok(outcome)
            }
            Err(fault) => {
                transaction.roll_back().await;
                Err(fault)
            }
        }
    }
}

/// A transaction that was begun and not yet ended. Dropped, it is rolled back.
///
/// A task of its own talks to the server: a caller that goes away in the middle of an exchange would leave a connection
/// that the driver cannot use any more, not even to roll back, and its locks would stay until the pool looks at it again.
pub(crate) struct Transaction {
    steps: mpsc::Sender<Step>,
}

/// What the transaction is asked to do next, and who waits for the answer.
enum Step {
    Rows(Query, oneshot::Sender<Result<Vec<Row>, Fault>>),
    Commit(oneshot::Sender<Result<(), Fault>>),
    RollBack(oneshot::Sender<()>),
}

impl Transaction {
    /// A server that takes the connection and says nothing is waited for no longer than `begin_deadline`. What is begun after
    /// all is rolled back, for nobody asks for anything.
    async fn begin(neo4j: &Neo4j) -> Result<Self, Fault> {
        let (steps, asked) = mpsc::channel(1);
        let (begun, outcome) = oneshot::channel();
        tokio::spawn(serve(neo4j.graph.clone(), begun, asked));
        let limit = neo4j.begin_deadline;
        let Ok(outcome) = tokio::time::timeout(limit, outcome).await else {
            return Err(Fault::new(ErrorKind::Timeout, format!("no transaction was begun within {limit:?}")));
        };
        outcome.map_err(|_| Fault::broken_off())??;
        Ok(Self { steps })
    }

    /// Runs a statement that changes something.
    pub(crate) async fn run(&mut self, query: Query) -> Result<(), Fault> {
        self.rows(query).await.map(drop)
    }

    /// Runs a statement and reads all of its rows.
    pub(crate) async fn rows(&mut self, query: Query) -> Result<Vec<Row>, Fault> {
        self.ask(|answer| Step::Rows(query, answer)).await?
    }

    async fn commit(self) -> Result<(), Fault> {
        self.ask(Step::Commit).await?
    }

    /// After a failure the server has rolled back by itself and ignores this.
    async fn roll_back(self) {
        let _ = self.ask(Step::RollBack).await;
    }

    async fn ask<T>(&self, step: impl FnOnce(oneshot::Sender<T>) -> Step) -> Result<T, Fault> {
        let (answer, outcome) = oneshot::channel();
        let _ = self.steps.send(step(answer)).await;
        outcome.await.map_err(|_| Fault::broken_off())
    }
}

/// One transaction from its begin to its end, whoever still listens.
async fn serve(graph: Graph, begun: oneshot::Sender<Result<(), Fault>>, mut asked: mpsc::Receiver<Step>) {
    let mut txn = match graph.start_txn().await {
        Ok(txn) => txn,
        Err(error) => return drop(begun.send(Err(error.into()))),
    };
    let _ = begun.send(Ok(()));
    loop {
        match asked.recv().await {
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
    async fn a_server_that_says_nothing_is_not_waited_for_without_end() {
        let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("bolt://{}", silent.local_addr().expect("an address"));
        let config = Neo4jConfig { timeout_ms: 100, retry_deadline_ms: 100, ..Neo4jConfig::new(&url) };
        let error = Neo4j::new(&config).expect("sound").version().await.expect_err("nobody answers");
        assert_eq!(error.kind, ErrorKind::Timeout, "{error:?}");
    }
}
