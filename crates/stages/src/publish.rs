//! publish: makes the generation visible to readers, after all other parts of the plan have ended.

use std::sync::Arc;

use async_trait::async_trait;
use cairn_domain::{Outcome, PartEnd, Reason, RepositoryId, RunState, StageName};
use cairn_faults::fail_point;
use cairn_pipeline::{Stage, StageError, Task};
use cairn_ports::{Catalogue, Clock, FailureCode, LedgerRead, PartRecord, PublishedGeneration, RunRecord};
use cairn_wire::{Manifest, PartReport, Plan, PlannedRefusal, RunResult, StageDuration};
use rustc_hash::FxHashMap;

use crate::artifacts::{Artifacts, reported};
use crate::sync::{Ceiling, invalid, inventory_result, over_budget};
use crate::term_layers::layers;

/// The stage may be run twice and may be stopped at any point. Only one transaction has an effect on readers,
/// and it takes effect at most once for each run.
pub struct PublishStage {
    pub artifacts: Arc<Artifacts>,
    pub catalogue: Arc<dyn Catalogue>,
    pub ledger: Arc<dyn LedgerRead>,
    pub clock: Arc<dyn Clock>,
    pub model: String,
    /// Maximum number of chunks of a published snapshot (`Ceilings::max_chunks`).
    pub max_chunks: u64,
}

#[async_trait]
impl Stage for PublishStage {
    fn name(&self) -> StageName {
        StageName::Publish
    }

    async fn run(&self, task: &Task) -> Result<PartReport, StageError> {
        let plan = self.artifacts.plan(&task.plan).await?;
        check_is_usable(&plan)?;
        let run = self.ledger.run(task.run).await?;
        let parts = self.ledger.parts(task.run).await?;
        let reports = reports(&parts)?;
        let manifest = Arc::new(self.final_manifest(task.run.repository, &plan, &parts, &reports).await?);
        let view = self.catalogue.view().await?;
        let before = self.catalogue.published(&view, task.run.repository).await?.map(|published| published.result);
        let reference = self.artifacts.put_manifest(task.run.repository, Arc::clone(&manifest)).await?;
        // The clock is read immediately before the transaction, because the lifetime of cursors and the grace
        // period start at this time.
        let now_ms = self.clock.now_ms();
        let result = result(&run, &plan, &manifest, &reports, before, now_ms);
        let failed = parts.iter().any(|part| matches!(part.end, Some(PartEnd::Failed { .. })));
        let published = PublishedGeneration {
            run: task.run,
            seq: cairn_domain::PublishedSeq::default(),
            manifest: reference,
            revision: run.revision,
            branch: run.branch,
            indexed_at_ms: now_ms,
            state: if failed { RunState::Partial } else { RunState::Published },
            result,
            model: self.model.clone(),
        };
        let num_chunks = published.result.chunks;
        if num_chunks > self.max_chunks {
            return Err(over_budget("chunks", num_chunks, self.max_chunks, Ceiling::Chunks));
        }
        fail_point!("publish::before_switch", |message| Err(StageError::injected(message)));
        let (run, repository, state) = (published.run, published.result.repository.clone(), published.state);
        self.catalogue.publish(published).await?;
        tracing::info!(%run, repository, state = state.as_str(), "published");
        fail_point!("publish::switched", |message| Err(StageError::injected(message)));
        Ok(PartReport::default())
    }
}

impl PublishStage {
    /// Returns the planned manifest with the outcomes, the links and the term counts of the run.
    async fn final_manifest(
        &self,
        repository: RepositoryId,
        plan: &Plan,
        parts: &[PartRecord],
        reports: &Reports,
    ) -> Result<Manifest, StageError> {
        let planned = match &plan.manifest {
            Some(planned) => self.artifacts.take_manifest(planned).await?,
            None => Manifest::default(),
        };
        let previous = self.artifacts.manifest_or_empty(plan.previous_manifest.as_ref()).await?;
        let mut manifest = settle_outcomes(planned, plan, parts, reports);
        let links = reports.iter().find_map(|(_, report)| reported(report, "links"));
        manifest.links = links.or_else(|| previous.links.clone());
        // In a rebuild, the terms of all chunks are counted again, so the earlier layers of term counts are
        // not used.
        let terms_before = if plan.rebuild { &[][..] } else { &previous.terms };
        let of_parts = reports.iter().map(|(_, report)| report);
        manifest.terms = layers(&self.artifacts, repository, terms_before, of_parts).await?;
        Ok(manifest)
    }
}

/// Fails if the sync refused the snapshot, or if the settings of the repository cannot be used. A run of a
/// refused snapshot exists only if the worker of the sync died before it recorded the failure of the run.
fn check_is_usable(plan: &Plan) -> Result<(), StageError> {
    if let Some(PlannedRefusal { code, message }) = &plan.refusal {
        return Err(StageError::permanent(*code, message.clone()));
    }
    if plan.manifest.is_none() {
        return Err(invalid("the settings of the repository cannot be used"));
    }
    Ok(())
}

type Reports = Vec<(cairn_domain::PartId, PartReport)>;

fn reports(parts: &[PartRecord]) -> Result<Reports, StageError> {
    let ended = parts.iter().filter(|part| part.end == Some(PartEnd::Done));
    ended
        .map(|part| {
            let report = PartReport::from_json(&part.report);
            let report = report.map_err(|error| {
                StageError::permanent(
                    FailureCode::Corrupt,
                    format!("the report of the part {} cannot be read: {error}", part.id),
                )
            })?;
            Ok((part.id, report))
        })
        .collect()
}

/// Returns the planned manifest with the results of parsing. For a file that was indexed only as windows of
/// text, the manifest contains the reason. Files whose pack could not be parsed are recorded as failed, and
/// the next run tries them again.
fn settle_outcomes(mut manifest: Manifest, plan: &Plan, parts: &[PartRecord], reports: &Reports) -> Manifest {
    let mut by_slot: FxHashMap<(&str, u32), Reason> = FxHashMap::default();
    for (part, report) in reports.iter().filter(|(part, _)| part.stage == StageName::Parse) {
        let Some(pack) = plan.packs.get(part.number as usize) else { continue };
        for slot in &report.slots {
            by_slot.insert((&pack.key, slot.slot), reason_of(&slot.status));
        }
    }
    let mut failed: FxHashMap<&str, FailureCode> = FxHashMap::default();
    for part in parts.iter().filter(|part| part.id.stage == StageName::Parse) {
        let pack = plan.packs.get(part.id.number as usize);
        if let (Some(PartEnd::Failed { code, .. }), Some(pack)) = (&part.end, pack) {
            failed.insert(&pack.key, *code);
        }
    }
    for entry in manifest.entries.iter_mut().filter(|entry| entry.outcome.is_indexed()) {
        let Some(slot) = &entry.source else { continue };
        if let Some(code) = failed.get(slot.artifact.key.as_str()) {
            // Tenants can read this message, so it does not contain the chain of causes, which is stored with
            // the part.
            let message = format!("this file and the files that were parsed together with it failed with {code}");
            entry.outcome = Outcome::Failed { reason: Reason::ParseCrash, message };
        } else if let Some(reason) = by_slot.get(&(slot.artifact.key.as_str(), slot.index)) {
            entry.outcome = Outcome::Indexed(Some(*reason));
        }
    }
    manifest
}

fn reason_of(status: &str) -> Reason {
    match cairn_domain::ParseStatus::parse(status) {
        Some(cairn_domain::ParseStatus::Timeout) => Reason::ParseTimeout,
        Some(cairn_domain::ParseStatus::Crash) => Reason::ParseCrash,
        _ => Reason::NoParser,
    }
}

fn result(
    run: &RunRecord,
    plan: &Plan,
    manifest: &Manifest,
    reports: &Reports,
    before: Option<RunResult>,
    now_ms: i64,
) -> RunResult {
    let inventory = inventory_result(manifest, run.result.settings_errors.clone(), run.result.num_settings_errors);
    let mut result = RunResult {
        files_indexed: inventory.files_indexed,
        files: inventory.files,
        secrets: inventory.secrets,
        errors: inventory.errors,
        num_errors: inventory.num_errors,
        // The duration of the sync is added, because the time of the run starts only when its sync ends.
        duration_ms: run.result.durations.iter().map(|sync| sync.duration_ms).sum::<u64>()
            + (now_ms - run.started_at_ms).max(0) as u64,
        indexed_at_ms: now_ms,
        ..run.result.clone()
    };
    for (part, report) in reports {
        add_report(&mut result, part.stage, report);
    }
    if let (false, Some(before)) = (plan.changes, before) {
        result.symbols = before.symbols;
        result.chunks = before.chunks;
        result.edges = before.edges;
        result.patterns = before.patterns;
        result.edges_by_resolution = before.edges_by_resolution;
        result.unresolved = before.unresolved;
    }
    result
}

fn add_report(total: &mut RunResult, stage: StageName, report: &PartReport) {
    total.files_parsed += report.files_parsed;
    total.chunks_embedded += report.chunks_embedded;
    total.cache_hits += report.cache_hits;
    total.symbols += report.symbols;
    total.chunks += report.chunks;
    total.edges += report.edges;
    total.patterns += report.patterns;
    add_counts(&mut total.edges_by_resolution, &report.edges_by_resolution);
    add_counts(&mut total.unresolved, &report.unresolved);
    add_duration(&mut total.durations, stage, report.duration_ms);
}

fn add_counts(total: &mut std::collections::BTreeMap<String, u64>, counts: &std::collections::BTreeMap<String, u64>) {
    for (word, count) in counts {
        *total.entry(word.clone()).or_default() += count;
    }
}

fn add_duration(durations: &mut Vec<StageDuration>, stage: StageName, duration_ms: u64) {
    match durations.iter_mut().find(|duration| duration.stage == stage.as_str()) {
        Some(duration) => duration.duration_ms += duration_ms,
        None => durations.push(StageDuration { stage: stage.as_str().to_owned(), duration_ms }),
    }
}
