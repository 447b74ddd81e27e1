//! Executes one command in one transaction: it locks, loads, changes and saves documents.

use async_trait::async_trait;
use cairn_domain::{GenerationId, RunId};
use cairn_runs::{Command, CommandReply, Dispatched, Documents, Reach, Refusal, RunDocument};
use neo4rs::Query;

use crate::connection::Neo4j;
use crate::fault::Fault;
use crate::runs::keep;
use crate::runs::load::optional_document;
use crate::transaction::{Transaction, Work};
use crate::values::{generation_number, key_text};

const LOCK_REGISTRY: &str = "MERGE (registry:Registry~ {key: 'registry'}) SET registry.is_locked = true";

/// Locks the nodes of the repository and the run, if they exist. If a parameter is null, its condition
/// matches no node.
const LOCK: &str = "
OPTIONAL MATCH (repository:Repository~ {key: $repository})
OPTIONAL MATCH (run:Run~ {generation: $run})
SET repository.is_locked = true, run.is_locked = true";

const LOAD: &str = "
OPTIONAL MATCH (registry:Registry~ {key: $registry})
OPTIONAL MATCH (repository:Repository~ {key: $repository})
OPTIONAL MATCH (run:Run~ {generation: $run})
RETURN registry.document AS registry, repository.document AS repository, run.document AS run,
    repository.changes AS repository_changes, run.changes AS run_changes";

const LOCK_RUN: &str = "MATCH (run:Run~ {generation: $run}) SET run.is_locked = true";

const LOAD_RUN: &str = "MATCH (run:Run~ {generation: $run}) RETURN run.document AS run";

const GENERATIONS: &str = "
MATCH (run:Run~ {repository: $repository}) RETURN run.generation AS generation ORDER BY generation";

/// A document stores the tokens of this number of changes. The number of changes that other calls can make
/// while one call is retried is far lower.
const REMEMBERED: usize = 64;

pub(super) struct Change<'a> {
    neo4j: &'a Neo4j,
    command: &'a Command,
    reach: Reach,
    /// A random number that distinguishes this call from all other calls.
    token: i64,
}

/// The loaded documents, and the tokens of the latest changes. The tokens belong to the document that the
/// command changes.
struct Loaded {
    documents: Documents,
    changes: Vec<i64>,
}

impl<'a> Change<'a> {
    pub(super) fn new(neo4j: &'a Neo4j, command: &'a Command) -> Self {
        Self { neo4j, command, reach: command.reach(), token: rand::random() }
    }

    /// Returns a query with the parameters that select the documents of the command.
    fn query(&self, statement: &str) -> Query {
        self.neo4j
            .query(statement)
            .param("registry", self.reach.registry.then_some("registry"))
            .param("repository", self.reach.repository.map(|id| key_text(id.0)))
            .param("run", self.reach.run.map(|run| generation_number(run.generation)))
    }

    async fn load(&self, transaction: &mut Transaction) -> Result<Loaded, Fault> {
        if self.reach.registry {
            transaction.run(self.query(LOCK_REGISTRY)).await?;
        }
        transaction.run(self.query(LOCK)).await?;
        let rows = transaction.rows(self.query(LOAD)).await?;
        let row = rows.first().ok_or_else(|| Fault::damaged("a statement returned no row"))?;
        let mut documents = Documents {
            registry: optional_document(row, "registry")?.unwrap_or_default(),
            repository: optional_document(row, "repository")?,
            run: optional_document(row, "run")?,
            ..Documents::default()
        };
        // A run is identified by its generation and its repository, so the repository is compared too.
        let is_other = |run: &RunDocument| self.reach.run.is_some_and(|wanted| wanted != run.ledger.id);
        if documents.run.as_ref().is_some_and(is_other) {
            documents.run = None;
        }
        if self.reach.registry {
            self.load_related(transaction, &mut documents).await?;
        }
        let column = if self.reach.run.is_some() { "run_changes" } else { "repository_changes" };
        let changes = row.get::<Option<Vec<i64>>>(column)?.unwrap_or_default();
        Ok(Loaded { documents, changes })
    }

    /// Loads further documents: the unfinished run if the command names no run, the published run, and the
    /// generations of a deleted repository.
    async fn load_related(&self, transaction: &mut Transaction, documents: &mut Documents) -> Result<(), Fault> {
        let Some(state) = documents.repository.as_ref().map(|document| document.state.clone()) else { return Ok(()) };
        if let (None, Some(generation)) = (self.reach.run, state.unfinished) {
            documents.run = self.one_run(transaction, generation).await?;
        }
        if let Some(generation) = state.published {
            documents.previous = self.one_run(transaction, generation).await?;
        }
        if state.deletion.is_some() {
            for row in transaction.rows(self.query(GENERATIONS)).await? {
                documents.earlier.push(GenerationId(row.get("generation")?));
            }
        }
        Ok(())
    }

    async fn one_run(
        &self,
        transaction: &mut Transaction,
        generation: GenerationId,
    ) -> Result<Option<RunDocument>, Fault> {
        let query = |statement: &str| self.neo4j.query(statement).param("run", generation_number(generation));
        transaction.run(query(LOCK_RUN)).await?;
        let rows = transaction.rows(query(LOAD_RUN)).await?;
        Ok(rows.first().map(|row| optional_document(row, "run")).transpose()?.flatten())
    }
}

#[async_trait]
impl Work for Change<'_> {
    type Output = CommandReply;

    async fn run(&self, transaction: &mut Transaction) -> Result<CommandReply, Fault> {
        let Loaded { documents: before, mut changes } = self.load(transaction).await?;
        if changes.contains(&self.token) {
            if let Some(answer) = answered(self.command, &before) {
                return Ok(answer);
            }
            if matches!(self.command, Command::Begin { .. }) {
                // The first attempt began the run, and the run ended before this retry. So the retry does not
                // begin the run again.
                return Err(Refusal::Conflict("the run was begun and has already ended").into());
            }
        }
        let mut after = before.clone();
        let answer = self.command.apply(&mut after)?;
        changes.drain(..(changes.len() + 1).saturating_sub(REMEMBERED));
        changes.push(self.token);
        let names_run = self.reach.run.is_some();
        keep::documents(self.neo4j, transaction, (&before, &after), (names_run, &changes)).await?;
        Ok(answer)
    }
}

/// Returns the reply to a command whose change is already saved. `None` if applying the command again gives
/// the same reply.
fn answered(command: &Command, documents: &Documents) -> Option<CommandReply> {
    let state = documents.repository.as_ref().map(|document| &document.state);
    match command {
        Command::Lease { .. } => state.map(|state| CommandReply::Epoch(state.lease.epoch)),
        Command::Begin { repository, .. } => {
            let begun = |generation| CommandReply::Begun(RunId { repository: *repository, generation });
            state.and_then(|state| state.unfinished).map(begun)
        }
        // If this reply is returned twice, a job is sent twice. This is allowed, because every stage can
        // process a job twice.
        Command::EndPart { .. } => documents.run.as_ref().map(|run| CommandReply::Released(run.ledger.unsent())),
        Command::Ask { .. } | Command::Schedule { .. } => state.map(|state| CommandReply::Asked(state.requests.last)),
        Command::Dispatch { .. } => state.map(|state| {
            let is_in_progress = |dispatched: Dispatched| {
                state.requests.wanted.map(|wanted| wanted.number) == Some(dispatched.request.number)
            };
            CommandReply::Dispatched(
                state.requests.wanted.filter(|_| state.requests.dispatched.is_some_and(is_in_progress)),
            )
        }),
        Command::ForgetAborted { .. } | Command::ForgetDeletion { .. } => Some(CommandReply::Forgotten(true)),
        Command::Cancel { outcome, .. } => documents
            .repository
            .as_ref()
            .map(|repository| CommandReply::Cancelled(repository.last_sync.as_ref() == Some(outcome))),
        Command::ChangeSettings { .. } | Command::Renew { .. } | Command::Abort { .. } => Some(CommandReply::Done),
        Command::Register { .. }
        | Command::Sent { .. }
        | Command::SendAgain { .. }
        | Command::PostponePart { .. }
        | Command::Resume { .. }
        | Command::Publish { .. }
        | Command::Delete { .. }
        | Command::Dispatched { .. }
        | Command::Postpone { .. }
        | Command::Answer { .. }
        | Command::MarkSwept { .. } => None,
    }
}
