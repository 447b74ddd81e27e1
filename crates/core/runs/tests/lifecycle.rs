//! Tests of the lifecycle of runs, from the lease to the removal of their records: barriers between stages,
//! windows, publication, views, aborting and deletion.

use std::collections::BTreeSet;

use cairn_domain::{
    GenerationId, Interval, Lane, PartId, PublishedSeq, RepositoryId, RepositoryName, RunState, StageName,
    SyncProgress, Tenant,
};
use cairn_runs::{Beginning, Refusal, Registry, RepositoryState, RunLedger};

/// The states of one repository and of the registry.
struct World {
    id: RepositoryId,
    registry: Registry,
    repository: RepositoryState,
}

impl World {
    fn new() -> Self {
        let id = RepositoryId::derive(&Tenant::local(), &RepositoryName::new("r"));
        Self { id, registry: Registry::default(), repository: RepositoryState::default() }
    }

    fn begin(&mut self, parts: &[(StageName, u32)], window: u32) -> Result<RunLedger, Refusal> {
        let epoch = self.repository.lease.take(0, 0).expect("the lease is free");
        let parts = parts.iter().flat_map(|(stage, count)| (0..*count).map(|number| part(*stage, number)));
        let beginning = Beginning {
            epoch,
            previous: self.repository.published,
            parts: parts.collect(),
            lane: Lane::Bulk,
            window,
            now_ms: 0,
        };
        RunLedger::begin(&mut self.registry, &mut self.repository, self.id, &beginning)
    }

    fn publish(&mut self, run: &mut RunLedger) -> Result<PublishedSeq, Refusal> {
        let earlier: Vec<_> = (1..run.id.generation.0).map(GenerationId).collect();
        run.publish(&mut self.registry, &mut self.repository, RunState::Published, &earlier, 0)
    }

    fn sees(&self, gen_from: GenerationId) -> bool {
        let view = self.registry.view();
        view.sees_repository(self.id) && view.sees(Interval::open(gen_from))
    }
}

fn part(stage: StageName, number: u32) -> PartId {
    PartId { stage, number }
}

const PUBLISH: (StageName, u32) = (StageName::Publish, 1);

#[test]
fn stage_starts_after_its_predecessors_end() {
    let mut world = World::new();
    let mut run = world.begin(&[(StageName::Parse, 2), (StageName::Embed, 1), PUBLISH], 99).expect("begun");
    assert_eq!(run.in_flight(), [part(StageName::Parse, 0), part(StageName::Parse, 1)]);
    let first = run.end_part(part(StageName::Parse, 1), false, 5).expect("planned");
    assert_eq!((first.is_first, first.released), (true, vec![]));
    // A second report of the end of part 1 releases nothing, because part 0 has not ended.
    let again = run.end_part(part(StageName::Parse, 1), true, 6).expect("planned");
    assert_eq!((again.is_first, again.released), (false, vec![]));
    let last = run.end_part(part(StageName::Parse, 0), true, 7).expect("planned");
    assert_eq!(last.released, [part(StageName::Embed, 0)]);
    assert_eq!(run.counts(), (4, 2, 1));
    assert_eq!(world.publish(&mut run), Err(Refusal::Conflict("some parts of the run have not ended")));
    let last = run.end_part(part(StageName::Embed, 0), false, 8).expect("planned");
    assert_eq!(last.released, [part(StageName::Publish, 0)]);
    assert_eq!(run.end_part(part(StageName::Embed, 1), false, 8), Err(Refusal::NotFound));
    assert_eq!(world.publish(&mut run), Ok(PublishedSeq(1)));
    assert_eq!(world.publish(&mut run), Ok(PublishedSeq(1)));
    assert!(run.end_part(part(StageName::Embed, 0), false, 9).is_err());
}

#[test]
fn window_limits_the_parts_in_flight() {
    let mut world = World::new();
    let mut run = world.begin(&[(StageName::Parse, 5), (StageName::Embed, 3), PUBLISH], 2).expect("begun");
    let mut order = Vec::new();
    while let Some(next) = run.in_flight().first().copied() {
        assert!(run.in_flight().len() <= 2);
        order.push(next);
        if next.stage == StageName::Publish {
            break;
        }
        run.end_part(next, false, 0).expect("planned");
    }
    assert_eq!(order.len(), 9);
    assert_eq!(world.publish(&mut run), Ok(PublishedSeq(1)));
}

#[test]
fn outbox_contains_unconfirmed_jobs() {
    let mut world = World::new();
    let mut run = world.begin(&[(StageName::Parse, 3), PUBLISH], 9).expect("begun");
    run.sent(&[part(StageName::Parse, 0), part(StageName::Parse, 2), part(StageName::Embed, 7)]);
    assert_eq!(run.unsent(), [part(StageName::Parse, 1)]);
    run.end_part(part(StageName::Parse, 1), false, 10).expect("planned");
    assert_eq!(run.unsent(), []);
    assert!(!run.is_stalled(19, 10) && run.is_stalled(20, 10));
    run.send_again(&BTreeSet::from([StageName::Parse]), 20);
    assert_eq!(run.unsent(), [], "the broker has confirmed the jobs");
    assert!(!run.is_stalled(29, 10) && run.is_stalled(30, 10));
    run.send_again(&BTreeSet::new(), 30);
    assert_eq!(run.unsent(), [part(StageName::Parse, 0), part(StageName::Parse, 2)]);
    assert!(!run.is_stalled(39, 10));
    assert_eq!(run.progressed_at_ms, 10, "sending jobs again is not progress");
}

#[test]
fn invalid_begin_is_refused() {
    let mut world = World::new();
    let mut run = world.begin(&[PUBLISH], 1).expect("begun");
    assert!(matches!(world.begin(&[PUBLISH], 1), Err(Refusal::Conflict(_))));
    let mut beginning = Beginning { epoch: 0, previous: None, parts: vec![], lane: Lane::Bulk, window: 1, now_ms: 0 };
    let refused = |world: &mut World, beginning: &Beginning| {
        RunLedger::begin(&mut world.registry, &mut world.repository, world.id, beginning).expect_err("refused")
    };
    assert!(matches!(refused(&mut world, &beginning), Refusal::Conflict(_)), "an old epoch");
    world.publish(&mut run).expect("nothing is open");
    beginning.epoch = world.repository.lease.take(0, 100).expect("free");
    assert!(matches!(refused(&mut world, &beginning), Refusal::Conflict(_)), "another generation is published");
}

#[test]
fn views_see_published_generations_only() {
    let mut world = World::new();
    let mut first = world.begin(&[PUBLISH], 1).expect("begun");
    let one = first.id.generation;
    assert!(!world.sees(one));
    world.publish(&mut first).expect("published");
    assert!(world.sees(one));
    let mut second = world.begin(&[PUBLISH], 1).expect("begun");
    second.abort(&mut world.repository, RunState::Failed, 100).expect("running");
    assert!(world.publish(&mut second).is_err());
    let mut third = world.begin(&[PUBLISH], 1).expect("begun");
    world.publish(&mut third).expect("published");
    let (two, three) = (second.id.generation, third.id.generation);
    assert!(world.sees(three) && !world.sees(two));
    // The aborted generation stays hidden until two conditions hold: it is swept from every store, and no
    // late writer can exist any more.
    assert!(!world.repository.forget_aborted(&mut world.registry, two, 99));
    assert!(world.registry.view().hidden.contains(&two));
    assert!(world.repository.forget_aborted(&mut world.registry, two, 100));
    assert_eq!(world.registry.view().hidden, BTreeSet::new());
    assert_eq!(world.repository.aborted_generations(), BTreeSet::new());
}

#[test]
fn deleted_repository_is_hidden_and_can_be_reindexed() {
    let mut world = World::new();
    let mut run = world.begin(&[PUBLISH], 1).expect("begun");
    let one = run.id.generation;
    world.publish(&mut run).expect("published");
    let before = world.registry.view();
    let mut unfinished = world.begin(&[PUBLISH], 1).expect("begun");
    let deletion = world.repository.delete(&mut world.registry, world.id, Some(&mut unfinished), 50).expect("there");
    assert_eq!(unfinished.state, RunState::Cancelled);
    assert!(!world.sees(one));
    assert!(
        !world.registry.without_deleted(before).sees_repository(world.id),
        "the repository is also hidden in earlier views"
    );
    assert_eq!(world.repository.delete(&mut world.registry, world.id, None, 51), Ok(deletion));
    assert_eq!(world.begin(&[PUBLISH], 1), Err(Refusal::NotFound));
    world.repository.register();
    let mut again = world.begin(&[PUBLISH], 1).expect("begun");
    assert!(!world.sees(one));
    world.publish(&mut again).expect("published");
    assert!(world.sees(again.id.generation) && !world.sees(one), "earlier generations stay hidden");
    assert!(!world.repository.forget_deletion(&mut world.registry, world.id, deletion, 49), "a late writer");
    assert!(world.repository.forget_deletion(&mut world.registry, world.id, deletion, 50));
    assert!(!world.repository.forget_deletion(&mut world.registry, world.id, deletion, 50));
    assert!(world.sees(again.id.generation));
    assert_eq!(world.registry.unpublished, BTreeSet::new());
}

/// A sync that began before the deletion loses its lease, even if the repository is registered again. The
/// sync may have read the source or the settings that were the reason for the deletion.
#[test]
fn sync_of_a_deleted_repository_loses_its_lease() {
    let mut world = World::new();
    let epoch = world.repository.lease.take(0, 1_000).expect("free");
    world.repository.delete(&mut world.registry, world.id, None, 10).expect("deleted");
    world.repository.register();
    assert!(world.repository.lease.renew(epoch, 20, 1_000, SyncProgress::default()).is_err());
    assert!(world.repository.lease.check(epoch).is_err());
    assert!(world.repository.lease.take(20, 1_000).is_ok(), "the lease is free");
}

/// If a part of the published run was delivered twice, the slower handler may still write. Therefore the
/// deletion is forgotten only after the grace period.
#[test]
fn deletion_waits_for_late_handlers() {
    let mut world = World::new();
    let mut run = world.begin(&[PUBLISH], 99).expect("begun");
    world.publish(&mut run).expect("published");
    let deletion = world.repository.delete(&mut world.registry, world.id, None, 1000).expect("deleted");
    assert!(!world.repository.forget_deletion(&mut world.registry, world.id, deletion, 999));
    assert!(!world.sees(run.id.generation));
    assert!(world.repository.forget_deletion(&mut world.registry, world.id, deletion, 1000));
    assert!(world.repository.is_removed());
}
