//! The history of one simulation, as an observer records it, and the checks for events that must never
//! happen.
//!
//! The history receives each applied command with its answer. The history does not use the decisions of the
//! production code. Instead, it keeps its own record of the sets of parts, the lease epochs and the order of
//! publications, in the simplest form.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{GenerationId, PartEnd, PartId, PublishedSeq, RepositoryId, RunId, StageName};
use cairn_runs::{Command, CommandReply};

use crate::source::{Content, Plan};

#[derive(Default)]
pub struct History {
    plans: BTreeMap<String, Plan>,
    runs: BTreeMap<GenerationId, RunHistory>,
    repositories: BTreeMap<RepositoryId, RepositoryHistory>,
    last_generation: u64,
    last_seq: u64,
    /// The number of commands. This number orders the commands within the same millisecond.
    pub num_changes: u64,
    pub num_published: u64,
    pub num_aborted: u64,
    pub num_deleted: u64,
}

struct RunHistory {
    repository: RepositoryId,
    plan: Plan,
    planned: BTreeSet<PartId>,
    ended: BTreeSet<PartId>,
    failed: BTreeSet<PartId>,
    released: BTreeSet<PartId>,
    published: Option<PublishedSeq>,
    is_finished: bool,
}

#[derive(Default)]
struct RepositoryHistory {
    /// The epoch of the newest lease. The next field contains the epochs of all leases.
    epoch: u64,
    epochs: BTreeSet<u64>,
    /// The time when the source was read for the newest run, or for the newest sync that needed no run.
    read_at_ms: i64,
    /// Whether the request was cancelled and no later request exists.
    is_cancelled: bool,
    /// For each request number, the time of the latest request with this number.
    asked_at_ms: BTreeMap<u64, i64>,
    /// For each publication and deletion: its sequence number, the generation that is published after it, and
    /// the number of changes at that time. The generation is None after a deletion.
    visible: Vec<(PublishedSeq, Option<GenerationId>, u64)>,
}

type Checked = Result<(), String>;

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(what()) }
}

impl History {
    pub fn plan(&self, key: &str) -> Option<&Plan> {
        self.plans.get(key)
    }

    pub fn keep_plan(&mut self, plan: Plan) -> String {
        let key = format!("sim/plan-{}", self.plans.len());
        self.plans.insert(key.clone(), plan);
        key
    }

    /// Records that a sync found no difference between the published generation and the source that it read.
    pub fn unchanged(&mut self, repository: RepositoryId, read_at_ms: i64) {
        let history = self.repositories.entry(repository).or_default();
        history.read_at_ms = history.read_at_ms.max(read_at_ms);
    }

    /// The content of a run's generation after its publication.
    pub fn content(&self, generation: GenerationId) -> Content {
        let run = &self.runs[&generation];
        let lost = |file: &u32| {
            run.failed
                .iter()
                .any(|part| part.stage == StageName::Parse && run.plan.packs[part.number as usize].contains(file))
        };
        run.plan.content.iter().filter(|(file, _)| !lost(file)).map(|(file, version)| (*file, *version)).collect()
    }

    /// The generation that is published now.
    pub fn published(&self, repository: RepositoryId) -> Option<GenerationId> {
        self.repositories.get(&repository)?.visible.last()?.1
    }

    /// The generation that a view with this sequence number shows. `after` is the number of changes when the
    /// view was taken.
    pub fn published_at(&self, repository: RepositoryId, seq: PublishedSeq, after: u64) -> Option<GenerationId> {
        let history = self.repositories.get(&repository)?;
        let deleted = |(at, generation, change): &(PublishedSeq, Option<GenerationId>, u64)| {
            *at > seq && generation.is_none() && *change <= after
        };
        if history.visible.iter().any(deleted) {
            return None;
        }
        history.visible.iter().rev().find(|(at, ..)| *at <= seq)?.1
    }

    pub fn was_deleted_since(&self, repository: RepositoryId, change: u64) -> bool {
        let visible = self.repositories.get(&repository).map(|history| history.visible.as_slice()).unwrap_or_default();
        visible.iter().any(|(_, generation, at)| generation.is_none() && *at > change)
    }

    /// Records a command with its answer, and checks the result. The error describes the violation.
    pub fn observe(&mut self, command: &Command, answer: &CommandReply, now_ms: i64) -> Checked {
        self.num_changes += 1;
        match (command, answer) {
            (Command::Lease { repository, .. }, CommandReply::Epoch(epoch)) => self.leased(*repository, *epoch),
            (Command::Begin { beginning, details, .. }, CommandReply::Begun(run)) => {
                self.begun(*run, &beginning.parts, &details.plan.key)
            }
            (Command::EndPart { run, part, end, .. }, CommandReply::Released(released)) => {
                self.ended(*run, *part, end, released)
            }
            (Command::Publish { run, .. }, CommandReply::Published(seq)) => self.publication(*run, *seq),
            (Command::Abort { run, .. }, _) => self.aborted(*run),
            (Command::Delete { repository, .. }, CommandReply::Deleted(generation)) => {
                self.deletion(*repository, *generation)
            }
            (Command::Ask { repository, .. }, CommandReply::Asked(number)) => {
                let history = self.repositories.entry(*repository).or_default();
                history.asked_at_ms.insert(*number, now_ms);
                history.is_cancelled = false;
                Ok(())
            }
            (Command::Cancel { repository, .. }, CommandReply::Cancelled(true)) => {
                self.repositories.entry(*repository).or_default().is_cancelled = true;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Checks that a request was answered by a sync that read the source after the request was made.
    /// `cleared` is the number of the answered request.
    pub fn answered(&mut self, repository: RepositoryId, cleared: u64, failure: Option<&str>) -> Checked {
        let history = self.repositories.entry(repository).or_default();
        let asked_at_ms = history.asked_at_ms.get(&cleared).copied().unwrap_or_default();
        // The message of a failed sync is the time when its attempt began.
        let done_at_ms = failure.map_or(history.read_at_ms, |began| began.parse().unwrap_or_default());
        ensure(done_at_ms >= asked_at_ms, || {
            format!(
                "a request was lost: the sync of {repository} was requested at {asked_at_ms}, but answered by a sync of {done_at_ms}"
            )
        })
    }

    fn leased(&mut self, repository: RepositoryId, epoch: u64) -> Checked {
        let history = self.repositories.entry(repository).or_default();
        ensure(history.epochs.insert(epoch), || format!("the lease of {repository} has epoch {epoch} again"))?;
        history.epoch = epoch;
        Ok(())
    }

    fn allotted(&mut self, generation: GenerationId) -> Checked {
        ensure(generation.0 > self.last_generation, || format!("generation {generation} was used again"))?;
        self.last_generation = generation.0;
        Ok(())
    }

    fn begun(&mut self, run: RunId, parts: &[PartId], plan: &str) -> Checked {
        self.allotted(run.generation)?;
        let plan = self.plans.get(plan).cloned().ok_or("a run without a plan")?;
        let unfinished = |other: &&RunHistory| other.repository == run.repository && !other.is_finished;
        ensure(!self.runs.values().any(|other| unfinished(&other)), || format!("two unfinished runs at {run}"))?;
        let history = self.repositories.entry(run.repository).or_default();
        ensure(!history.is_cancelled, || format!("{run} began although its request was cancelled"))?;
        let lease = plan.epoch;
        ensure(history.epoch == lease, || format!("{run} began under the lease {lease}, which is not the newest"))?;
        ensure(plan.read_at_ms >= history.read_at_ms, || {
            format!("{run} uses a source that was read before the source of an earlier run")
        })?;
        history.read_at_ms = plan.read_at_ms;
        let planned: BTreeSet<PartId> = parts.iter().copied().collect();
        let repository = run.repository;
        let (ended, failed, released) = Default::default();
        let (published, is_finished) = (None, false);
        let run_history = RunHistory { repository, plan, planned, ended, failed, released, published, is_finished };
        self.runs.insert(run.generation, run_history);
        Ok(())
    }

    fn ended(&mut self, run: RunId, part: PartId, end: &PartEnd, released: &[PartId]) -> Checked {
        let history = self.runs.get_mut(&run.generation).ok_or("a part of no run ended")?;
        ensure(!history.is_finished, || format!("{part} of {run} ended after its run"))?;
        ensure(history.planned.contains(&part), || format!("{part} of {run} was never planned"))?;
        if history.ended.insert(part) && *end != PartEnd::Done {
            history.failed.insert(part);
        }
        for part in released {
            ensure(history.released.insert(*part), || format!("{part} of {run} was released twice"))?;
            let is_open =
                |other: &PartId| !history.ended.contains(other) && part.stage.waits_for().contains(&other.stage);
            let open = history.planned.iter().find(|other| is_open(other));
            ensure(open.is_none(), || format!("{part} of {run} was released while {open:?} is open"))?;
        }
        Ok(())
    }

    fn publication(&mut self, run: RunId, seq: PublishedSeq) -> Checked {
        let history = self.runs.get_mut(&run.generation).ok_or("no such run was published")?;
        if let Some(before) = history.published {
            return ensure(before == seq, || format!("{run} was published as {} and as {}", before.0, seq.0));
        }
        ensure(!history.is_finished, || format!("{run} was published after its end"))?;
        let open = |part: &&PartId| part.stage != StageName::Publish && !history.ended.contains(part);
        ensure(!history.planned.iter().any(|part| open(&part)), || format!("{run} was published with open parts"))?;
        ensure(seq.0 == self.last_seq + 1, || format!("seq {} follows {}", seq.0, self.last_seq))?;
        self.last_seq = seq.0;
        (history.published, history.is_finished) = (Some(seq), true);
        let visible = &mut self.repositories.entry(run.repository).or_default().visible;
        visible.push((seq, Some(run.generation), self.num_changes));
        self.num_published += 1;
        Ok(())
    }

    fn aborted(&mut self, run: RunId) -> Checked {
        let history = self.runs.get_mut(&run.generation).ok_or("no such run was aborted")?;
        ensure(!history.is_finished, || format!("{run} was aborted after its end"))?;
        history.is_finished = true;
        self.num_aborted += 1;
        Ok(())
    }

    fn deletion(&mut self, repository: RepositoryId, generation: GenerationId) -> Checked {
        if generation.0 <= self.last_generation {
            // The repository was already deleted.
            return Ok(());
        }
        self.allotted(generation)?;
        self.last_seq += 1;
        for run in self.runs.values_mut().filter(|run| run.repository == repository) {
            run.is_finished = true;
        }
        let visible = &mut self.repositories.entry(repository).or_default().visible;
        visible.push((PublishedSeq(self.last_seq), None, self.num_changes));
        self.num_deleted += 1;
        Ok(())
    }
}
