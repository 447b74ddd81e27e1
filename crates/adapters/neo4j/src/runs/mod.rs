//! Stores the documents of the catalogue and the ledger. There is one node for the registry, and one for each
//! repository, run, ended part and publication. `cairn_runs` makes the decisions; this module locks, loads
//! and saves documents.
//!
//! A change first takes the write locks of the documents that it reads, always in the same order (registry,
//! repository, runs), and then reads them. Therefore commands on the same document are executed one after the
//! other. If a change read the documents before it locked them, another call could replace them between the
//! two steps.
//!
//! If the reply to a commit is lost, the commit may still have succeeded. Most commands would fail, or reply
//! differently, if they were applied twice. Each call therefore stores its own token in the document that it
//! changes. If a retry finds its token, it only returns the reply of the first attempt.

mod change;
mod keep;
mod load;
mod words;

use async_trait::async_trait;
use cairn_domain::{PublishedSeq, RunId, View};
use cairn_ports::{RepositoryQuery, RunDocuments, RunDocumentsError, RunQuery};
use cairn_runs::{Command, CommandReply, EndedPart, Registry, RepositoryDocument, RunDocument};

use crate::connection::Neo4j;
use crate::fault;
use crate::runs::change::Change;

/// The catalogue and the ledger of one installation.
#[derive(Clone)]
pub struct Neo4jRuns {
    neo4j: Neo4j,
}

impl Neo4jRuns {
    pub fn new(neo4j: Neo4j) -> Self {
        Self { neo4j }
    }
}

#[async_trait]
impl RunDocuments for Neo4jRuns {
    async fn change(&self, command: Command) -> Result<CommandReply, RunDocumentsError> {
        let key = format!("{:?}", command.reach());
        let change = Change::new(&self.neo4j, &command);
        self.neo4j.transact(&change).await.map_err(fault::of(command.name(), &key))
    }

    async fn registry(&self) -> Result<Registry, RunDocumentsError> {
        load::registry(&self.neo4j).await.map_err(fault::of("registry", &""))
    }

    async fn publication(&self, seq: PublishedSeq) -> Result<Option<View>, RunDocumentsError> {
        load::publication(&self.neo4j, seq).await.map_err(fault::of("publication", &seq.0))
    }

    async fn repositories(&self, query: RepositoryQuery) -> Result<Vec<RepositoryDocument>, RunDocumentsError> {
        let key = format!("{query:?}");
        load::repositories(&self.neo4j, query).await.map_err(fault::of("repositories", &key))
    }

    async fn runs(&self, query: RunQuery) -> Result<Vec<RunDocument>, RunDocumentsError> {
        let key = format!("{query:?}");
        load::runs(&self.neo4j, query).await.map_err(fault::of("runs", &key))
    }

    async fn parts(&self, run: RunId) -> Result<Vec<EndedPart>, RunDocumentsError> {
        load::parts(&self.neo4j, run).await.map_err(fault::of("parts", &run))
    }

    async fn forget_publications(&self, until_ms: i64) -> Result<(), RunDocumentsError> {
        keep::forget_publications(&self.neo4j, until_ms).await.map_err(fault::of("forget_publications", &until_ms))
    }
}
