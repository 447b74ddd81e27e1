//! The environment of all actors. The environment contains the store of run documents, two stores of records,
//! and the history that observes them. The store of run documents is behind a network that loses answers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cairn_domain::{PublishedSeq, RepositoryId, RunId, View};
use cairn_ports::{ErrorKind, RepositoryQuery, RunDocuments, RunDocumentsError, RunQuery};
use cairn_runs::{Command, CommandReply, EndedPart, Registry, RepositoryDocument, RunDocument};
use cairn_testkit::MemoryRuns;

use crate::history::History;
use crate::mutants::Mutant;
use crate::rows::Rows;
use crate::schedule::Schedule;
use crate::source::Content;

pub struct Environment {
    pub schedule: Arc<Schedule>,
    pub mutant: Option<Mutant>,
    pub memory: MemoryRuns,
    /// The store of chunks and the store of the graph.
    pub rows: [Mutex<Rows>; 2],
    history: Mutex<History>,
}

impl Environment {
    pub fn new(schedule: Arc<Schedule>, mutant: Option<Mutant>) -> Arc<Self> {
        let (memory, rows, history) = Default::default();
        Arc::new(Self { schedule, mutant, memory, rows, history })
    }

    pub fn has(&self, mutant: Mutant) -> bool {
        self.mutant == Some(mutant)
    }

    pub fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn rows(&self, number: usize) -> MutexGuard<'_, Rows> {
        self.rows[number].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that a reader would now see exactly the published generation in both stores.
    pub fn check(&self, repository: RepositoryId) {
        let view = self.memory.head().view();
        let expected: Content = {
            let history = self.history();
            history.published(repository).map(|generation| history.content(generation)).unwrap_or_default()
        };
        for number in 0..2 {
            let seen = self.rows(number).visible(&view, repository);
            if !seen.is(&expected) {
                let message =
                    format!("store {number} shows {seen:?} of {repository} instead of {expected:?} in {view:?}");
                self.schedule.violate(message);
            }
        }
    }

    fn observe(&self, command: &Command, answer: &CommandReply, cleared: Option<u64>) {
        self.schedule.trace(|| format!("{} → {answer:?}", describe(command)));
        let now_ms = self.schedule.now();
        let mut outcome = self.history().observe(command, answer, now_ms);
        if let (Command::Answer { repository, outcome: sync, .. }, Some(number)) = (command, cleared) {
            let failure = sync.failure.as_ref().map(|(_, message)| message.as_str());
            outcome = outcome.and_then(|()| self.history().answered(*repository, number, failure));
        }
        if let Err(what) = outcome {
            self.schedule.violate(what);
        }
        if let Some(repository) = command.reach().repository {
            self.check(repository);
        }
    }

    fn apply(&self, command: &Command) -> Result<CommandReply, cairn_runs::Refusal> {
        let given = command;
        let command = &self.mutated(command);
        let wanted = || match command {
            Command::Answer { repository, .. } => self.memory.repository(*repository)?.state.requests.wanted,
            _ => None,
        };
        let before = wanted();
        let answer = match (given, self.memory.apply(command)) {
            (Command::Cancel { .. }, Ok(CommandReply::Done)) => Ok(CommandReply::Cancelled(true)),
            (_, answer) => answer,
        };
        match &answer {
            Ok(answer) => {
                let cleared = before.filter(|_| wanted().is_none()).map(|wanted| wanted.number);
                let observed = if matches!(given, Command::Cancel { .. }) { given } else { command };
                self.observe(observed, answer, cleared);
            }
            Err(refusal) => self.schedule.trace(|| format!("{} refused: {refusal}", describe(command))),
        }
        answer
    }

    /// Returns the command that the store receives. If the planted bug affects the command, the returned
    /// command differs from the given command.
    fn mutated(&self, command: &Command) -> Command {
        match (self.mutant, command) {
            (Some(Mutant::NoEpochCheck), Command::Begin { repository, beginning, details }) => {
                let current = self.memory.repository(*repository).map(|document| document.state.lease.epoch);
                let mut beginning = beginning.clone();
                beginning.epoch = current.unwrap_or(beginning.epoch);
                Command::Begin { repository: *repository, beginning, details: details.clone() }
            }
            (Some(Mutant::CounterInsteadOfSet), Command::EndPart { run, part, end, report, now_ms }) => {
                let ledger = self.memory.run(*run).map(|document| document.ledger);
                let stage = ledger.and_then(|ledger| ledger.stages.get(&part.stage).cloned()).unwrap_or_default();
                let is_again = stage.ended.contains(part.number);
                let number = stage.open().iter().next().filter(|_| is_again).unwrap_or(part.number);
                let (part, end, report) = (cairn_domain::PartId { number, ..*part }, end.clone(), report.clone());
                Command::EndPart { run: *run, part, end, report, now_ms: *now_ms }
            }
            (Some(Mutant::CancelledSyncContinues), Command::Cancel { repository, outcome }) => {
                Command::Answer { repository: *repository, request: u64::MAX, outcome: outcome.clone() }
            }
            _ => command.clone(),
        }
    }

    /// Sends a message between an actor and the store of run documents, in either direction. The network may
    /// lose the message.
    async fn way(&self, operation: &'static str) -> Result<(), RunDocumentsError> {
        self.schedule.step().await;
        if self.schedule.chance(self.schedule.faults().lost_answers) {
            self.schedule.trace(|| format!("no answer to {operation}"));
            return Err(RunDocumentsError::new(ErrorKind::ConnectionLost, operation, ""));
        }
        Ok(())
    }
}

fn describe(command: &Command) -> String {
    match command {
        Command::EndPart { run, part, end, .. } => format!("end {part} of {run} as {end:?}"),
        Command::Begin { beginning, .. } => format!("begin with {:?}", beginning.parts),
        command => format!("{} {:?}", command.name(), command.reach().run.map(|run| run.generation.0)),
    }
}

/// The store of run documents, accessed over the network.
pub struct Remote(pub Arc<Environment>);

#[async_trait]
impl RunDocuments for Remote {
    async fn change(&self, command: Command) -> Result<CommandReply, RunDocumentsError> {
        let name = command.name();
        self.0.way(name).await?;
        let answer = self.0.apply(&command).map_err(|refusal| {
            let kind = match refusal {
                cairn_runs::Refusal::NotFound => ErrorKind::NotFound,
                cairn_runs::Refusal::Conflict(_) => ErrorKind::Conflict,
                cairn_runs::Refusal::Invalid(_) => ErrorKind::Invalid,
            };
            RunDocumentsError::new(kind, name, "").because(refusal)
        });
        self.0.way(name).await?;
        answer
    }

    async fn registry(&self) -> Result<Registry, RunDocumentsError> {
        self.0.way("registry").await?;
        self.0.memory.registry().await
    }

    async fn publication(&self, seq: PublishedSeq) -> Result<Option<View>, RunDocumentsError> {
        self.0.way("publication").await?;
        self.0.memory.publication(seq).await
    }

    async fn repositories(&self, query: RepositoryQuery) -> Result<Vec<RepositoryDocument>, RunDocumentsError> {
        self.0.way("repositories").await?;
        self.0.memory.repositories(query).await
    }

    async fn runs(&self, query: RunQuery) -> Result<Vec<RunDocument>, RunDocumentsError> {
        self.0.way("runs").await?;
        self.0.memory.runs(query).await
    }

    async fn parts(&self, run: RunId) -> Result<Vec<EndedPart>, RunDocumentsError> {
        self.0.way("parts").await?;
        self.0.memory.parts(run).await
    }

    async fn forget_publications(&self, until_ms: i64) -> Result<(), RunDocumentsError> {
        self.0.way("forget_publications").await?;
        self.0.memory.forget_publications(until_ms).await
    }
}
