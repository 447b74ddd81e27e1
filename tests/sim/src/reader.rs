//! Readers. A reader takes a new view or, like a cursor, the view of an earlier sequence number. It reads
//! both stores in several steps.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use cairn_domain::{PublishedSeq, RepositoryId, View};
use cairn_ports::{Catalogue, CatalogueError, RunDocuments};

use crate::environment::Remote;
use crate::mutants::Mutant;
use crate::world::World;

/// The lifetime of a cursor, which is shorter than the grace period before sweeping.
const CURSOR_LIVES_MS: i64 = 600_000;

/// A view, with the number of changes when it was taken.
struct Taken {
    view: View,
    /// The number of changes just before the view was taken.
    after: u64,
}

pub async fn read(world: Arc<World>) {
    let mut cursors: BTreeMap<PublishedSeq, i64> = BTreeMap::new();
    loop {
        let schedule = world.schedule();
        schedule.sleep(schedule.random(if world.is_healed() { 300_000 } else { 60_000 })).await;
        let asked_at_ms = world.now();
        let alive = |(_, until_ms): &(&PublishedSeq, &i64)| **until_ms > asked_at_ms;
        let cursor = cursors.iter().filter(alive).nth(schedule.random(2 * cursors.len() as u64 + 1) as usize);
        let cursor = cursor.map(|(seq, until_ms)| (*seq, *until_ms));
        let after = world.environment.history().num_changes;
        let (view, until_ms) = match cursor {
            Some((seq, until_ms)) => match world.runs.view_at(seq).await {
                Ok(Some(view)) => (view, until_ms),
                Ok(None) if world.now() < until_ms => {
                    return schedule.violate(format!("the view of seq {} has expired too early", seq.0));
                }
                _ => continue,
            },
            None => match take(&world).await {
                Ok(view) => (view, asked_at_ms + CURSOR_LIVES_MS),
                Err(_) => continue,
            },
        };
        // Before the first publication, no answer has a second page, so no cursor exists.
        if view.seq > PublishedSeq(0) {
            cursors.insert(view.seq, until_ms.max(cursors.get(&view.seq).copied().unwrap_or_default()));
        }
        let repository = world.id(&world.any_repository());
        question(&world, &Taken { view, after }, repository, until_ms).await;
    }
}

async fn take(world: &Arc<World>) -> Result<View, CatalogueError> {
    let first = world.runs.view().await?;
    if !world.environment.has(Mutant::ViewReadInTwoSteps) {
        return Ok(first);
    }
    let then = Remote(Arc::clone(&world.environment))
        .registry()
        .await
        .map_err(|error| CatalogueError::new(error.kind, "view", ""))?;
    let next_gen = then.newest_published + 1;
    Ok(View { next_gen, seq: then.seq, ..first })
}

/// Reads the repository under the view from each store in turn, and compares the result with the published
/// content.
async fn question(world: &Arc<World>, taken: &Taken, repository: RepositoryId, until_ms: i64) {
    let Taken { view, after } = taken;
    for number in 0..2 {
        world.schedule().step().await;
        let sees_all = world.environment.has(Mutant::ViewFilterDropped);
        let seen = world
            .environment
            .rows(number)
            .seen(repository, |interval| view.sees_repository(repository) && (sees_all || view.sees(interval)));
        if world.now() > until_ms {
            return;
        }
        let history = world.environment.history();
        let generation = history.published_at(repository, view.seq, *after);
        let expected = generation.map(|generation| history.content(generation)).unwrap_or_default();
        let is_right =
            if history.was_deleted_since(repository, *after) { seen.is_within(&expected) } else { seen.is(&expected) };
        drop(history);
        if !is_right {
            let message = format!("a reader of {view:?} sees {seen:?} in store {number} instead of {expected:?}");
            return world.schedule().violate(message);
        }
    }
    let Ok(published) = world.runs.published(view, repository).await else { return };
    let published = published.map(|published| published.run.generation);
    let history = world.environment.history();
    let expected = history.published_at(repository, view.seq, *after);
    let is_right = published == expected || (published.is_none() && history.was_deleted_since(repository, *after));
    drop(history);
    if !is_right && world.now() <= until_ms {
        world.schedule().violate(format!("{view:?} shows {published:?} as published instead of {expected:?}"));
    }
    world.num_answers.fetch_add(1, Ordering::Relaxed);
}
