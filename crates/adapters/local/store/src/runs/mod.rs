//! Stores the documents of metastore and ledger in SQLite. Each change is one transaction that has the write
//! lock from its first statement, so all commands run one after the other.

mod keep;
mod load;

pub(crate) use keep::state_number;

use async_trait::async_trait;
use cairn_domain::{PublishedSeq, RunId, View};
use cairn_ports::{RepositoryQuery, RunDocuments, RunDocumentsError, RunQuery};
use cairn_runs::{Command, CommandReply, EndedPart, Refusal, Registry, RepositoryDocument, RunDocument};
use rusqlite::Connection;

use crate::LocalStore;
use crate::database::Durability;
use crate::fault::Fault;

#[async_trait]
impl RunDocuments for LocalStore {
    async fn change(&self, command: Command) -> Result<CommandReply, RunDocumentsError> {
        let (name, key) = (command.name(), format!("{:?}", command.reach()));
        let apply = move |connection: &rusqlite::Transaction<'_>| change(connection, &command);
        self.write(name, key, durability(name), apply).await
    }

    async fn registry(&self) -> Result<Registry, RunDocumentsError> {
        self.read("registry", "", |connection| load::registry(connection)).await
    }

    async fn publication(&self, seq: PublishedSeq) -> Result<Option<View>, RunDocumentsError> {
        self.read("publication", seq.0, move |connection| load::publication(connection, seq)).await
    }

    async fn repositories(&self, query: RepositoryQuery) -> Result<Vec<RepositoryDocument>, RunDocumentsError> {
        self.read("repositories", "", move |connection| load::repositories(connection, &query)).await
    }

    async fn runs(&self, query: RunQuery) -> Result<Vec<RunDocument>, RunDocumentsError> {
        self.read("runs", format!("{query:?}"), move |connection| load::runs(connection, &query)).await
    }

    async fn parts(&self, run: RunId) -> Result<Vec<EndedPart>, RunDocumentsError> {
        self.read("parts", run, move |connection| load::parts(connection, run)).await
    }

    async fn forget_publications(&self, until_ms: i64) -> Result<(), RunDocumentsError> {
        // If there is nothing to remove, no write transaction is started.
        if !self.read("forget_publications", "", move |connection| load::has_publications(connection, until_ms)).await?
        {
            return Ok(());
        }
        let forget = move |connection: &rusqlite::Transaction<'_>| keep::forget_publications(connection, until_ms);
        self.write("forget_publications", "", Durability::Ordered, forget).await
    }
}

/// Allocations and publications of generations, and decisions of users, must survive a power cut.
fn durability(command: &str) -> Durability {
    match command {
        "lease" | "renew" | "end_part" | "sent" | "send_again" | "mark_swept" | "forget_aborted"
        | "forget_deletion" => Durability::Ordered,
        _ => Durability::Synced,
    }
}

fn change(connection: &Connection, command: &Command) -> Result<CommandReply, Fault> {
    let before = load::documents(connection, command.reach())?;
    let mut after = before.clone();
    let answer = command.apply(&mut after)?;
    keep::documents(connection, &before, &after)?;
    Ok(answer)
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotFound => Fault::not_found(),
            Refusal::Conflict(reason) => Fault::conflict(reason),
            Refusal::Invalid(reason) => Fault::invalid(reason),
        }
    }
}
