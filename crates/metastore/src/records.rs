//! Conversions between documents and the records of the ports.

use cairn_domain::{PartEnd, PartId, StageName};
use cairn_ports::{ErrorKind, PartRecord, PortError, PublishedGeneration, RepositoryRecord, RunRecord};
use cairn_runs::{EndedPart, RepositoryDetails, RepositoryDocument, RepositoryState, RunDocument};
use cairn_wire::RunResult;

pub(crate) fn repository_record(document: RepositoryDocument) -> RepositoryRecord {
    let RepositoryDetails { tenant, name, source, branch, settings, aliases, hosted } = document.details;
    let RepositoryState { lease, requests, .. } = document.state;
    let (id, last_sync, pending_sync) = (document.id, document.last_sync, requests.wanted.map(|_| lease.progress));
    let next_attempt_at_ms = requests.dispatched.and_then(|dispatched| dispatched.postponed_until_ms);
    RepositoryRecord {
        id,
        tenant,
        name,
        source,
        branch,
        settings,
        aliases,
        hosted,
        last_sync,
        pending_sync,
        next_attempt_at_ms,
    }
}

pub(crate) fn details(record: RepositoryRecord) -> RepositoryDetails {
    let RepositoryRecord { tenant, name, source, branch, settings, aliases, hosted, .. } = record;
    RepositoryDetails { tenant, name, source, branch, settings, aliases, hosted }
}

pub(crate) fn run_record<E: PortError>(document: RunDocument) -> Result<RunRecord, E> {
    let RunDocument { details, ledger } = document;
    let (num_parts, num_ended, num_failed) = ledger.counts();
    Ok(RunRecord {
        result: read_result(&details.result, &ledger.id)?,
        id: ledger.id,
        tenant: details.tenant,
        lane: ledger.lane,
        previous: ledger.previous,
        manifest: details.manifest,
        plan: details.plan,
        revision: details.revision,
        branch: details.branch,
        state: ledger.state,
        num_parts,
        num_ended,
        num_failed,
        started_at_ms: details.started_at_ms,
        progressed_at_ms: ledger.progressed_at_ms,
        ended_at_ms: ledger.ended_at_ms,
        message: details.message,
        postponed: ledger.postponed,
    })
}

/// `None` for a run that is not published.
pub(crate) fn published<E: PortError>(document: RunDocument) -> Result<Option<PublishedGeneration>, E> {
    let RunDocument { details, ledger } = document;
    let (Some(seq), Some(indexed_at_ms)) = (ledger.published, ledger.ended_at_ms) else { return Ok(None) };
    Ok(Some(PublishedGeneration {
        result: read_result(&details.result, &ledger.id)?,
        run: ledger.id,
        seq,
        manifest: details.manifest,
        revision: details.revision,
        branch: details.branch,
        indexed_at_ms,
        state: ledger.state,
        model: details.model,
    }))
}

/// The records of the parts of the plan. The record of an ended part contains its outcome and its report.
pub(crate) fn part_records(run: &RunDocument, ended: Vec<EndedPart>) -> Vec<PartRecord> {
    let mut ended: std::collections::BTreeMap<PartId, EndedPart> =
        ended.into_iter().map(|ended| (ended.part, ended)).collect();
    let planned = run.ledger.stages.iter().flat_map(|(stage, parts)| {
        parts.planned.iter().map(|number| PartId { stage: *stage, number }).collect::<Vec<_>>()
    });
    // The change that publishes the run also ends the publish part, so the list of ended parts does not
    // contain the publish part.
    let is_published = run.ledger.published.is_some();
    let record = |id: PartId| match ended.remove(&id) {
        Some(ended) => PartRecord { id, end: Some(ended.end), report: ended.report },
        None => {
            let end = (is_published && id.stage == StageName::Publish).then_some(PartEnd::Done);
            PartRecord { id, end, report: String::new() }
        }
    };
    planned.map(record).collect()
}

fn read_result<E: PortError>(text: &str, run: &dyn ToString) -> Result<RunResult, E> {
    serde_json::from_str(text).map_err(|_| E::of(ErrorKind::Corrupt, "read the result of", run.to_string(), None))
}

pub(crate) fn write_result<E: PortError>(result: &RunResult, run: &dyn ToString) -> Result<String, E> {
    serde_json::to_string(result).map_err(|_| E::of(ErrorKind::Invalid, "write the result of", run.to_string(), None))
}
