//! Users who push changes, request syncs, delete repositories, register them again, and cancel syncs.

use std::sync::Arc;

use cairn_domain::{Lane, RepositoryName, RunState};
use cairn_pipeline::in_time;
use cairn_ports::{Catalogue, Ledger, LedgerRead, Requests};

use crate::world::World;

const FILES: u64 = 6;
/// The maximum time between sending a command and its arrival. A command contains the time at which it was
/// sent. The grace period is longer than the lifetime of a cursor, but only by this maximum time. So if a
/// command arrived later, cursors would expire too early.
const LONGEST_REQUEST_MS: i64 = 300_000;

pub fn start(world: &Arc<World>) {
    for name in world.names.clone() {
        let own = Arc::clone(world);
        world.schedule().spawn(async move { live(own, name).await });
    }
}

/// A user who changes one repository until the faults end.
async fn live(world: Arc<World>, name: RepositoryName) {
    let schedule = world.schedule();
    let pause_ms = [20_000, 120_000, 600_000][schedule.random(3) as usize];
    let deletes = schedule.random(2) == 0;
    push(&world, &name);
    register(&world, &name).await;
    while !world.is_healed() {
        match schedule.random(12) {
            0 if deletes => delete(&world, &name).await,
            1 => cancel(&world, &name).await,
            2 => register(&world, &name).await,
            3..=4 => ask(&world, &name).await,
            _ => {
                push(&world, &name);
                ask(&world, &name).await;
            }
        }
        schedule.sleep(schedule.random(pause_ms)).await;
    }
}

/// Changes some files. Every new version of a file is a new random number.
fn push(world: &World, name: &RepositoryName) {
    let schedule = world.schedule();
    let mut sources = world.sources();
    let content = sources.entry(world.id(name)).or_default();
    for _ in 0..=schedule.random(3) {
        let file = schedule.random(FILES) as u32;
        if schedule.random(4) == 0 {
            content.remove(&file);
        } else {
            content.insert(file, schedule.random(u64::MAX));
        }
    }
}

async fn register(world: &Arc<World>, name: &RepositoryName) {
    if world.is_healed() {
        return;
    }
    let own = (Arc::clone(world), name.clone());
    // Each command is sent by a separate process, which may die like any other process.
    world.schedule().spawn(async move { own.0.register(&own.1).await });
    world.schedule().sleep(20_000).await;
}

async fn ask(world: &Arc<World>, name: &RepositoryName) {
    let (own, id) = (Arc::clone(world), world.id(name));
    world.schedule().spawn(async move {
        let lane = if own.schedule().random(2) == 0 { Lane::Bulk } else { Lane::Interactive };
        // A user who gets no answer sends the request again later.
        let _unheard = own.runs.ask(id, lane, false, own.now()).await;
    });
}

async fn delete(world: &Arc<World>, name: &RepositoryName) {
    let (own, id) = (Arc::clone(world), world.id(name));
    world.schedule().spawn(async move {
        let asked_at_ms = own.now();
        let is_late = || own.now() > asked_at_ms + LONGEST_REQUEST_MS;
        let _unheard = in_time(is_late, own.runs.delete(id, asked_at_ms)).await;
    });
    let pause_ms = [1_000, 60_000, 1_800_000][world.schedule().random(3) as usize];
    world.schedule().sleep(world.schedule().random(pause_ms)).await;
    register(world, name).await;
}

async fn cancel(world: &Arc<World>, name: &RepositoryName) {
    let (own, id) = (Arc::clone(world), world.id(name));
    world.schedule().spawn(async move {
        // The request is cancelled first, so that no run can begin after the unfinished runs were read.
        if own.runs.cancel(&[id], "by a person", own.now()).await.is_err() {
            return;
        }
        let Ok(unfinished) = own.runs.unfinished().await else { return };
        for run in unfinished.into_iter().filter(|run| run.id.repository == id) {
            let _unheard = own.runs.abort(run.id, RunState::Cancelled, "by a person", own.now()).await;
        }
    });
}

/// Requests a sync of every existing repository once more, after the faults have ended.
pub async fn ask_all(world: &Arc<World>) {
    for name in &world.names {
        let _deleted = world.runs.ask(world.id(name), Lane::Bulk, false, world.now()).await;
    }
}
