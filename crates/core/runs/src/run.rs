//! One run: what its plan holds, what has ended, what may start, and how it ends itself.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{GenerationId, Lane, PartId, PublishedSeq, RunId, RunState, StageName};

use crate::{Refusal, Registry, RepositoryState, StageParts};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunLedger {
    pub id: RunId,
    pub state: RunState,
    pub lane: Lane,
    /// The published generation that the plan was made against.
    pub previous: Option<GenerationId>,
    /// Parts that may be in flight at a time.
    pub window: u32,
    pub stages: BTreeMap<StageName, StageParts>,
    /// When it began, or its last part ended.
    pub progressed_at_ms: i64,
    /// When its jobs were last handed out anew: that is no progress.
    pub sent_again_at_ms: Option<i64>,
    pub ended_at_ms: Option<i64>,
    pub published: Option<PublishedSeq>,
    /// When its successor was published, or its repository deleted: its artifacts live no longer than views of it.
    pub superseded_at_ms: Option<i64>,
    /// What it retired, or began in vain, is out of every store.
    pub is_swept: bool,
}

/// How a run is begun.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Beginning {
    pub epoch: u64,
    pub previous: Option<GenerationId>,
    pub parts: Vec<PartId>,
    pub lane: Lane,
    /// Parts that may be in flight at a time; at least one.
    pub window: u32,
    pub now_ms: i64,
}

/// What the end of a part came to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ended {
    /// False if it had ended before: that end stands.
    pub is_first: bool,
    /// What may start because of it.
    pub released: Vec<PartId>,
}

impl RunLedger {
    /// Begins a run, under the lease of `epoch` and with every part of its plan.
    pub fn begin(
        registry: &mut Registry,
        repository: &mut RepositoryState,
        id: cairn_domain::RepositoryId,
        beginning: &Beginning,
    ) -> Result<Self, Refusal> {
        if repository.is_deleted {
            return Err(Refusal::NotFound);
        }
        repository.lease.check(beginning.epoch)?;
        if repository.unfinished.is_some() {
            return Err(Refusal::Conflict("the repository has an unfinished run"));
        }
        if repository.published != beginning.previous {
            return Err(Refusal::Conflict("the plan was made against another generation than the published one"));
        }
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
        };
        for part in &beginning.parts {
            run.stages.entry(part.stage).or_default().planned.insert(part.number);
        }
        run.release();
        Ok(run)
    }

    /// Ends a part, once. A part that failed has ended as well: the files concerned are listed.
    pub fn end_part(&mut self, part: PartId, failed: bool, now_ms: i64) -> Result<Ended, Refusal> {
        if self.state.is_finished() {
            return Err(Refusal::Conflict("the run is finished"));
        }
        let stage = self.stages.get_mut(&part.stage).filter(|stage| stage.planned.contains(part.number));
        let stage = stage.ok_or(Refusal::NotFound)?;
        if !stage.ended.insert(part.number) {
            return Ok(Ended::default());
        }
        if failed {
            stage.failed.insert(part.number);
        }
        self.progressed_at_ms = self.progressed_at_ms.max(now_ms);
        Ok(Ended { is_first: true, released: self.release() })
    }

    /// Releases what may start now: all that it waits for has ended, and there is room in the window.
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

    /// Released and not ended.
    pub fn in_flight(&self) -> Vec<PartId> {
        self.list(StageParts::in_flight)
    }

    /// The outbox: released parts whose jobs the broker does not have yet.
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

    /// The broker has confirmed the jobs of these parts.
    pub fn sent(&mut self, parts: &[PartId]) {
        for part in parts {
            if let Some(stage) = self.stages.get_mut(&part.stage).filter(|stage| stage.planned.contains(part.number)) {
                stage.sent.insert(part.number);
            }
        }
    }

    /// Since when nobody has had a reason to hand out its jobs.
    pub fn quiet_since_ms(&self) -> i64 {
        self.sent_again_at_ms.map_or(self.progressed_at_ms, |sent_again| sent_again.max(self.progressed_at_ms))
    }

    /// Whether nothing has ended, or was handed out anew, for so long that its jobs may be lost.
    pub fn is_stalled(&self, now_ms: i64, after_ms: i64) -> bool {
        !self.state.is_finished() && self.quiet_since_ms().saturating_add(after_ms) <= now_ms
    }

    /// Puts the jobs of a stalled run back into the outbox, but for the stages whose jobs the broker has; a job that was not
    /// lost is delivered twice, which every stage bears.
    pub fn send_again(&mut self, held: &BTreeSet<StageName>, now_ms: i64) {
        for (_, stage) in self.stages.iter_mut().filter(|(name, _)| !held.contains(name)) {
            stage.sent = stage.sent.without(&stage.in_flight());
        }
        self.sent_again_at_ms = Some(now_ms);
    }

    /// Publishes the run's generation. A run that is published already keeps its seq. `earlier` are the generations of a
    /// repository with a pending deletion: those below it stay hidden.
    pub fn publish(
        &mut self,
        registry: &mut Registry,
        repository: &mut RepositoryState,
        state: RunState,
        earlier: &[GenerationId],
        now_ms: i64,
    ) -> Result<PublishedSeq, Refusal> {
        if !matches!(state, RunState::Published | RunState::Partial) {
            return Err(Refusal::Invalid("a published run is `published` or `partial`"));
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
        // The publishing part cannot end after its run has: it ends with it.
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
            return Err(Refusal::Conflict("parts of the run are open"));
        }
        Ok(())
    }

    /// Ends the run without publishing; the old generation stays.
    pub fn abort(&mut self, repository: &mut RepositoryState, state: RunState, now_ms: i64) -> Result<(), Refusal> {
        if !matches!(state, RunState::Failed | RunState::Cancelled) {
            return Err(Refusal::Invalid("an aborted run is `failed` or `cancelled`"));
        }
        if self.state.is_finished() {
            return Err(Refusal::Conflict("the run is finished"));
        }
        self.state = state;
        self.ended_at_ms = Some(now_ms);
        repository.unfinished = None;
        repository.aborted.insert(self.id.generation, now_ms);
        Ok(())
    }

    /// Number of parts that the plan holds, that have ended, and that failed.
    pub fn counts(&self) -> (u32, u32, u32) {
        let sum = |count: fn(&StageParts) -> u32| self.stages.values().map(count).sum();
        (sum(|stage| stage.planned.len()), sum(|stage| stage.ended.len()), sum(|stage| stage.failed.len()))
    }
}
