//! Transactions: begun, run, committed or rolled back, and run again as a whole where that helps.
//!
//! Nothing else in this crate may call the driver, and nothing here calls its auto-commit functions. The outcome of a
//! commit is unknown if the connection ends with it, so work is written such that a second run finds what the first did.

use async_trait::async_trait;
use cairn_faults::fail_point;
use neo4rs::{Graph, Query, Row, Txn};

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
        let mut transaction = Transaction::begin(&self.graph).await?;
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

/// A transaction that was begun and not yet ended.
pub(crate) struct Transaction {
    open: Option<Txn>,
}

impl Transaction {
    async fn begin(graph: &Graph) -> Result<Self, Fault> {
        Ok(Self { open: Some(graph.start_txn().await?) })
    }

    /// Runs a statement that changes something.
    pub(crate) async fn run(&mut self, query: Query) -> Result<(), Fault> {
        Ok(self.txn()?.run(query).await?)
    }

    /// Runs a statement and reads all of its rows.
    pub(crate) async fn rows(&mut self, query: Query) -> Result<Vec<Row>, Fault> {
        let txn = self.txn()?;
        let mut stream = txn.execute(query).await?;
        let mut rows = Vec::new();
        while let Some(row) = stream.next(txn.handle()).await? {
            rows.push(row);
        }
        Ok(rows)
    }

    fn txn(&mut self) -> Result<&mut Txn, Fault> {
        self.open.as_mut().ok_or_else(|| Fault::invalid("the transaction has ended"))
    }

    async fn commit(mut self) -> Result<(), Fault> {
        match self.open.take() {
            Some(txn) => Ok(txn.commit().await?),
            None => Ok(()),
        }
    }

    /// After a failure the server has rolled back by itself and ignores this.
    async fn roll_back(mut self) {
        if let Some(txn) = self.open.take() {
            let _ = txn.rollback().await;
        }
    }
}

/// A caller that goes away leaves a transaction that would keep its locks until the pool hands its connection out again.
impl Drop for Transaction {
    fn drop(&mut self) {
        let (Some(txn), Ok(runtime)) = (self.open.take(), tokio::runtime::Handle::try_current()) else { return };
        runtime.spawn(txn.rollback());
    }
}
