//! The ledger of one run: its plan, the released parts, the ended parts, and the end of the run.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{FailureCode, GenerationId, Lane, PartId, PublishedSeq, RunId, RunState, StageName};

use crate::{Refusal, Registry, RepositoryState, StageParts};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunLedger {
    pub id: RunId,
    pub state: RunState,
    pub lane: Lane,
    /// The published generation on which the plan is based.
    pub previous: Option<GenerationId>,
    /// Maximum number of parts in flight.
    pub window: u32,
    pub stages: BTreeMap<StageName, StageParts>,
    /// The time at which a part last ended. If no part has ended yet, the time at which the run began.
    pub progressed_at_ms: i64,
    /// The time when the run's jobs were last sent again. Sending jobs again does not count as progress.
    pub sent_again_at_ms: Option<i64>,
    pub ended_at_ms: Option<i64>,
    pub published: Option<PublishedSeq>,
    /// The time when a newer run was published or the repository was deleted. The artifacts of the run are
    /// still needed as long as views that contain the run are in use.
    pub superseded_at_ms: Option<i64>,
    /// Whether the sweep has removed the run's records from every store. For a published run, these are the
    /// records that the run retired. For an aborted run, these are the records that the run created.
    pub is_swept: bool,
    /// Parts whose last attempt failed and which wait for the next attempt. Sorted by part.
    pub postponed: Vec<PostponedPart>,
}

/// A part that waits for its next attempt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PostponedPart {
    pub part: PartId,
    /// The code of the failure in the last attempt.
    pub code: FailureCode,
    /// The time of the next attempt.
    pub until_ms: i64,
}

/// The data with which a run begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Beginning {
    pub epoch: u64,
    pub previous: Option<GenerationId>,
    pub parts: Vec<PartId>,
    pub lane: Lane,
    /// Maximum number of parts in flight; at least one.
    pub window: u32,
    pub now_ms: i64,
}

/// The result of ending a part.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ended {
    /// False if the part had already ended. Only the first end has an effect.
    pub is_first: bool,
    /// The parts that may start because this part has ended.
    pub released: Vec<PartId>,
}

impl RunLedger {
    /// Begins a run with every part of its plan. The caller must hold the lease with the epoch
    /// `beginning.epoch`.
    pub fn begin(
        registry: &mut Registry,
        repository: &mut RepositoryState,
        id: cairn_domain::RepositoryId,
        beginning: &Beginning,
    ) -> Result<Self, Refusal> {
        Self::check_beginning(repository, beginning)?;
        let generation = registry.allot();
        registry.unpublished.insert(generation);
        repository.unfinished = Some(generation);
        let mut run = Self {
            id: RunId { repository: id, generation },
            state: RunState::Running,
            lane: beginning.lane,
            previous: beginning.previous,
            window: beginning.window.max(1),
            stages: BTreeMap::new(),
            progressed_at_ms: beginning.now_ms,
            sent_again_at_ms: None,
            ended_at_ms: None,
            published: None,
            superseded_at_ms: None,
            is_swept: false,
            postponed: Vec::new(),
        };
        for part in &beginning.parts {
            run.stages.entry(part.stage).or_default().planned.insert(part.number);
        }
        run.release();
        Ok(run)
    }

    /// Checks that a run with this plan may begin.
    fn check_beginning(repository: &RepositoryState, beginning: &Beginning) -> Result<(), Refusal> {
        if repository.is_deleted {
            return Err(Refusal::NotFound);
        }
        repository.lease.check(beginning.epoch)?;
        if repository.unfinished.is_some() {
            return Err(Refusal::Conflict("the repository has an unfinished run"));
        }
        if repository.published != beginning.previous {
            return Err(Refusal::Conflict(
                "the plan was made for a generation that is no longer the published generation",
            ));
        }
        Ok(())
    }

    /// Ends a part. Only the first end of a part has an effect. A part that failed has also ended; the result
    /// of the run lists its files.
    pub fn end_part(&mut self, part: PartId, failed: bool, now_ms: i64) -> Result<Ended, Refusal> {
        if self.state.is_finished() {
            return Err(Refusal::Conflict("the run is already finished"));
        }
        let stage = self.stages.get_mut(&part.stage).filter(|stage| stage.planned.contains(part.number));
        let stage = stage.ok_or(Refusal::NotFound)?;
        self.postponed.retain(|postponed| postponed.part != part);
        if !stage.ended.insert(part.number) {
            return Ok(Ended::default());
        }
        if failed {
            stage.failed.insert(part.number);
        }
        self.progressed_at_ms = self.progressed_at_ms.max(now_ms);
        Ok(Ended { is_first: true, released: self.release() })
    }

    /// Releases the parts that may start now: all their predecessors have ended. The number of parts in
    /// flight is limited to `window`.
    fn release(&mut self) -> Vec<PartId> {
        let in_flight: u32 = self.stages.values().map(|stage| stage.in_flight().len()).sum();
        let mut room = self.window.saturating_sub(in_flight) as usize;
        let startable: Vec<StageName> = self.stages.keys().copied().filter(|stage| self.may_start(*stage)).collect();
        let mut released = Vec::new();
        for name in startable {
            let Some(stage) = self.stages.get_mut(&name) else { continue };
            let waiting = stage.open().without(&stage.released);
            for number in waiting.iter().take(room) {
                stage.released.insert(number);
                released.push(PartId { stage: name, number });
            }
            room = (self.window as usize).saturating_sub(in_flight as usize + released.len());
        }
        released
    }

    fn may_start(&self, stage: StageName) -> bool {
        stage.waits_for().iter().all(|earlier| !self.has_open(*earlier))
    }

    fn has_open(&self, stage: StageName) -> bool {
        self.stages.get(&stage).is_some_and(StageParts::has_open)
    }

    /// The released parts that have not ended.
    pub fn in_flight(&self) -> Vec<PartId> {
        self.list(StageParts::in_flight)
    }

    /// The outbox: released parts whose jobs the broker has not confirmed.
    pub fn unsent(&self) -> Vec<PartId> {
        if self.state.is_finished() { Vec::new() } else { self.list(StageParts::unsent) }
    }

    fn list(&self, select: impl Fn(&StageParts) -> crate::PartSet) -> Vec<PartId> {
        let of_stage = |(name, stage): (&StageName, &StageParts)| {
            let stage_name = *name;
            let numbers: Vec<u32> = select(stage).iter().collect();
            numbers.into_iter().map(move |number| PartId { stage: stage_name, number })
        };
        self.stages.iter().flat_map(of_stage).collect()
    }

    /// Marks the jobs of these parts as confirmed by the broker.
    pub fn sent(&mut self, parts: &[PartId]) {
        for part in parts {
            if let Some(stage) = self.stages.get_mut(&part.stage).filter(|stage| stage.planned.contains(part.number)) {
                stage.sent.insert(part.number);
            }
        }
    }

    /// The last time at which a part ended or the jobs were sent again. Since this time, nothing has caused
    /// jobs to be published.
    pub fn quiet_since_ms(&self) -> i64 {
        self.sent_again_at_ms.map_or(self.progressed_at_ms, |sent_again| sent_again.max(self.progressed_at_ms))
    }

    /// Whether jobs may be lost, because no part has ended and no job was sent again for `after_ms`.
    pub fn is_stalled(&self, now_ms: i64, after_ms: i64) -> bool {
        !self.state.is_finished() && self.quiet_since_ms().saturating_add(after_ms) <= now_ms
    }

    /// Puts the jobs of a stalled run back into the outbox, except jobs of stages in `held`, which the broker
    /// still has. If a job was not lost, it is delivered twice. Every stage tolerates a second delivery.
    pub fn send_again(&mut self, held: &BTreeSet<StageName>, now_ms: i64) {
        for (_, stage) in self.stages.iter_mut().filter(|(name, _)| !held.contains(name)) {
            stage.sent = stage.sent.without(&stage.in_flight());
        }
        self.sent_again_at_ms = Some(now_ms);
    }

    /// Stores the failure of an attempt at a part, and the time at which the job of the part is delivered
    /// again. If the part has ended, nothing changes.
    pub fn postpone(&mut self, postponed: PostponedPart) {
        if self.in_flight().contains(&postponed.part) {
            self.postponed.retain(|earlier| earlier.part != postponed.part);
            self.postponed.push(postponed);
            self.postponed.sort_by_key(|postponed| postponed.part);
        }
    }

    /// Puts the jobs of postponed parts back into the outbox, so that the parts start at once. The copies of
    /// the jobs that wait for the next attempt are still delivered later. If a part has not ended by then, it
    /// is processed twice, which every stage tolerates.
    pub fn resume(&mut self) {
        for PostponedPart { part, .. } in std::mem::take(&mut self.postponed) {
            if let Some(stage) = self.stages.get_mut(&part.stage) {
                stage.sent = stage.sent.without(&std::iter::once(part.number).collect());
            }
        }
    }

    /// Publishes the run's generation. If the run is already published, only its sequence number is returned.
    /// If the deletion of the repository is pending, `earlier` contains the generations of the repository's
    /// runs. The generations before the deletion stay hidden.
    pub fn publish(
        &mut self,
        registry: &mut Registry,
        repository: &mut RepositoryState,
        state: RunState,
        earlier: &[GenerationId],
        now_ms: i64,
    ) -> Result<PublishedSeq, Refusal> {
        if !matches!(state, RunState::Published | RunState::Partial) {
            return Err(Refusal::Invalid("the state of a published run must be `published` or `partial`"));
        }
        if let Some(seq) = self.published {
            return Ok(seq);
        }
        self.check_publishable(repository)?;
        registry.seq.0 += 1;
        registry.newest_published = registry.newest_published.max(self.id.generation.0);
        registry.unpublished.remove(&self.id.generation);
        if let Some(deletion) = registry.deletions.get_mut(&self.id.repository) {
            let below: BTreeSet<_> = earlier.iter().copied().filter(|earlier| *earlier < deletion.generation).collect();
            deletion.indexed_again = Some(below);
        }
        repository.published = Some(self.id.generation);
        repository.unfinished = None;
        self.state = state;
        self.published = Some(registry.seq);
        self.ended_at_ms = Some(now_ms);
        // The publish part ends together with the run.
        if let Some(stage) = self.stages.get_mut(&StageName::Publish) {
            stage.ended = stage.planned.clone();
        }
        Ok(registry.seq)
    }

    fn check_publishable(&self, repository: &RepositoryState) -> Result<(), Refusal> {
        if self.state != RunState::Running {
            return Err(Refusal::Conflict("the run was cancelled or has failed"));
        }
        if repository.published != self.previous {
            return Err(Refusal::Conflict("another generation was published since the run began"));
        }
        if !self.may_start(StageName::Publish) {
            return Err(Refusal::Conflict("some parts of the run have not ended"));
        }
        Ok(())
    }

    /// Ends the run without publishing it. The previous generation stays published.
    pub fn abort(&mut self, repository: &mut RepositoryState, state: RunState, now_ms: i64) -> Result<(), Refusal> {
        if !matches!(state, RunState::Failed | RunState::Cancelled) {
            return Err(Refusal::Invalid("the state of an aborted run must be `failed` or `cancelled`"));
        }
        if self.state.is_finished() {
            return Err(Refusal::Conflict("the run is already finished"));
        }
        self.state = state;
        self.ended_at_ms = Some(now_ms);
        repository.unfinished = None;
        repository.aborted.insert(self.id.generation, now_ms);
        Ok(())
    }

    /// The numbers of planned, ended and failed parts.
    pub fn counts(&self) -> (u32, u32, u32) {
        let sum = |count: fn(&StageParts) -> u32| self.stages.values().map(count).sum();
        (sum(|stage| stage.planned.len()), sum(|stage| stage.ended.len()), sum(|stage| stage.failed.len()))
    }
}
