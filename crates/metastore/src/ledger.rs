//! The run ledger.

use std::collections::BTreeSet;

use async_trait::async_trait;
use cairn_domain::{GenerationId, PartEnd, PartId, RepositoryId, RunId, RunState, SyncProgress, Tenant};
use cairn_ports::{
    ErrorKind, Lease, Ledger, LedgerError, LedgerRead, NewRun, PartRecord, PartStatus, RepositoryQuery, RunQuery,
    RunRecord,
};
use cairn_runs::{Beginning, Command, CommandReply, RunDetails, RunDocument};

use crate::Metastore;
use crate::error::{port_result, unexpected};
use crate::records::{part_records, run_record, write_result};

#[async_trait]
impl Ledger for Metastore {
    async fn lease(&self, repository: RepositoryId, now_ms: i64, ttl_ms: i64) -> Result<Lease, LedgerError> {
        let command = Command::Lease { repository, now_ms, ttl_ms };
        match port_result(self.documents.change(command).await, "lease", &repository)? {
            CommandReply::Epoch(epoch) => Ok(Lease { repository, epoch }),
            _ => Err(unexpected("lease", &repository)),
        }
    }

    async fn renew(&self, lease: Lease, now_ms: i64, ttl_ms: i64, progress: SyncProgress) -> Result<(), LedgerError> {
        let Lease { repository, epoch } = lease;
        let command = Command::Renew { repository, epoch, now_ms, ttl_ms, progress };
        port_result(self.documents.change(command).await, "renew", &repository).map(drop)
    }

    async fn begin(&self, lease: Lease, run: NewRun) -> Result<RunId, LedgerError> {
        let repository = run.repository;
        if lease.repository != repository {
            return Err(LedgerError::new(ErrorKind::Invalid, "begin", repository.to_string()));
        }
        let beginning = Beginning {
            epoch: lease.epoch,
            previous: run.previous,
            parts: run.parts,
            lane: run.lane,
            window: run.window,
            now_ms: run.started_at_ms,
        };
        let details = RunDetails {
            // This tenant is a placeholder: `Command::Begin` replaces it with the tenant of the repository.
            tenant: Tenant::new(""),
            result: write_result(&run.result, &repository)?,
            manifest: run.manifest,
            plan: run.plan,
            revision: run.revision,
            branch: run.branch,
            model: String::new(),
            started_at_ms: run.started_at_ms,
            message: None,
        };
        let command = Command::Begin { repository, beginning: Box::new(beginning), details: Box::new(details) };
        match port_result(self.documents.change(command).await, "begin", &repository)? {
            CommandReply::Begun(run) => Ok(run),
            _ => Err(unexpected("begin", &repository)),
        }
    }

    async fn end_part(
        &self,
        run: RunId,
        part: PartId,
        end: PartEnd,
        report: String,
        now_ms: i64,
    ) -> Result<Vec<PartId>, LedgerError> {
        let key = format!("{run} {part}");
        let command = Command::EndPart { run, part, end, report, now_ms };
        match port_result(self.documents.change(command).await, "end_part", &key)? {
            CommandReply::Released(parts) => Ok(parts),
            _ => Err(unexpected("end_part", &key)),
        }
    }

    async fn ready(&self, run: RunId) -> Result<Vec<PartId>, LedgerError> {
        let ledger = self.document("ready", run).await?.ledger;
        Ok(if ledger.state.is_finished() { Vec::new() } else { ledger.in_flight() })
    }

    async fn abort(&self, run: RunId, state: RunState, message: &str, now_ms: i64) -> Result<(), LedgerError> {
        let command = Command::Abort { run, state, message: message.to_owned(), now_ms };
        port_result(self.documents.change(command).await, "abort", &run).map(drop)
    }
}

impl Metastore {
    async fn document(&self, operation: &'static str, run: RunId) -> Result<RunDocument, LedgerError> {
        let found = port_result(self.documents.runs(RunQuery::One(run)).await, operation, &run)?;
        found.into_iter().next().ok_or_else(|| LedgerError::new(ErrorKind::NotFound, operation, run.to_string()))
    }

    /// The aborted generations of a repository. The list is empty if the repository does not exist.
    async fn aborted(&self, repository: RepositoryId) -> Result<BTreeSet<GenerationId>, LedgerError> {
        let query = RepositoryQuery::One(repository);
        let found = port_result(self.documents.repositories(query).await, "run", &repository)?;
        Ok(found.first().map(|repository| repository.state.aborted_generations()).unwrap_or_default())
    }
}

#[async_trait]
impl LedgerRead for Metastore {
    async fn run(&self, run: RunId) -> Result<RunRecord, LedgerError> {
        run_record(self.document("run", run).await?)
    }

    async fn part_status(&self, run: RunId, part: PartId) -> Result<PartStatus, LedgerError> {
        let ledger = self.document("part_status", run).await?.ledger;
        let is_ended = ledger.stages.get(&part.stage).is_some_and(|stage| stage.ended.contains(part.number));
        Ok(PartStatus { state: ledger.state, is_ended, aborted: self.aborted(run.repository).await? })
    }

    async fn runs(&self, repository: Option<RepositoryId>, limit: usize) -> Result<Vec<RunRecord>, LedgerError> {
        let documents = port_result(self.documents.runs(RunQuery::Newest { repository, limit }).await, "runs", &"")?;
        documents.into_iter().map(run_record).collect()
    }

    async fn runs_of(
        &self,
        repositories: &[RepositoryId],
        of_each: usize,
        in_all: usize,
    ) -> Result<Vec<RunRecord>, LedgerError> {
        if repositories.is_empty() {
            return Ok(Vec::new());
        }
        let query = RunQuery::NewestOfEach { repositories: repositories.to_vec(), of_each, in_all };
        let documents = port_result(self.documents.runs(query).await, "runs_of", &"")?;
        documents.into_iter().map(run_record).collect()
    }

    async fn unfinished(&self) -> Result<Vec<RunRecord>, LedgerError> {
        let documents = port_result(self.documents.runs(RunQuery::Unfinished).await, "unfinished", &"")?;
        documents.into_iter().map(run_record).collect()
    }

    async fn parts(&self, run: RunId) -> Result<Vec<PartRecord>, LedgerError> {
        let document = self.document("parts", run).await?;
        let ended = port_result(self.documents.parts(run).await, "parts", &run)?;
        Ok(part_records(&document, ended))
    }
}
