//! Implements the outbox with the run documents of the store.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use cairn_domain::{PartId, RunId, StageName};
use cairn_ports::{ErrorKind, LedgerError, Outbox, PostponedPart, RunQuery, RunRecord};
use cairn_runs::Command;

use crate::Metastore;
use crate::error::port_result;
use crate::records::run_record;

/// After this multiple of the usual wait, the jobs of a run are sent again even if the broker reports that it
/// still has them.
const HELD_AT_MOST: i64 = 12;

/// Maximum number of runs in one call. The number of runs in flight is always smaller than this maximum.
const RUNS_AT_ONCE: usize = 4096;

#[async_trait]
impl Outbox for Metastore {
    async fn unsent(&self, quiet_since_ms: i64, limit: usize) -> Result<Vec<(RunRecord, Vec<PartId>)>, LedgerError> {
        let mut documents =
            port_result(self.documents.runs(RunQuery::Unsent { limit: RUNS_AT_ONCE }).await, "unsent", &"")?;
        documents.retain(|document| document.ledger.quiet_since_ms() <= quiet_since_ms);
        documents.truncate(limit);
        let parts: Vec<_> = documents.iter().map(|document| document.ledger.unsent()).collect();
        let records = documents.into_iter().map(run_record).collect::<Result<Vec<_>, LedgerError>>()?;
        Ok(records.into_iter().zip(parts).collect())
    }

    async fn sent(&self, run: RunId, parts: &[PartId]) -> Result<(), LedgerError> {
        let command = Command::Sent { run, parts: parts.to_vec() };
        port_result(self.documents.change(command).await, "sent", &run).map(drop)
    }

    async fn postponed(&self, run: RunId, postponed: PostponedPart) -> Result<(), LedgerError> {
        match port_result(self.documents.change(Command::PostponePart { run, postponed }).await, "postponed", &run) {
            Err(LedgerError { kind: ErrorKind::NotFound, .. }) => Ok(()),
            result => result.map(drop),
        }
    }

    async fn in_flight(&self) -> Result<BTreeMap<StageName, u64>, LedgerError> {
        let mut in_flight = BTreeMap::new();
        for run in port_result(self.documents.runs(RunQuery::Unfinished).await, "in_flight", &"")? {
            for part in run.ledger.in_flight() {
                *in_flight.entry(part.stage).or_default() += 1;
            }
        }
        Ok(in_flight)
    }

    async fn send_again(&self, held: &BTreeSet<StageName>, now_ms: i64, after_ms: i64) -> Result<u64, LedgerError> {
        let mut num_runs = 0;
        for run in port_result(self.documents.runs(RunQuery::Unfinished).await, "send_again", &"")? {
            if !run.ledger.is_stalled(now_ms, after_ms) {
                continue;
            }
            // `held` may be wrong: queue depths and parts are counted at different times, and the depths
            // include copies of jobs.
            let is_overdue = run.ledger.is_stalled(now_ms, after_ms.saturating_mul(HELD_AT_MOST));
            let held = if is_overdue { BTreeSet::new() } else { held.clone() };
            if run.ledger.in_flight().iter().all(|part| held.contains(&part.stage)) {
                continue;
            }
            let id = run.ledger.id;
            match port_result(
                self.documents.change(Command::SendAgain { run: id, held, now_ms }).await,
                "send_again",
                &id,
            ) {
                // The run was deleted during this call.
                Err(LedgerError { kind: ErrorKind::NotFound, .. }) => {}
                outcome => {
                    outcome?;
                    num_runs += 1;
                }
            }
        }
        Ok(num_runs)
    }
}
