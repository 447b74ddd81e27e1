//! Handles a delivery in the same order as the production runner: first the work, then the answer.
//!
//! The production function `settlement` decides how a failed job is settled.

use std::sync::Arc;
use std::time::Duration;

use cairn_pipeline::{RetryLadder, StageError, settlement};
use cairn_ports::{Delivery, Settlement};
use cairn_wire::Job;

use crate::world::World;
use crate::{cloner, worker};

pub async fn handle(world: Arc<World>, delivery: Delivery) -> Settlement {
    world.schedule().trace(|| format!("takes {}", delivery.job));
    let began_at_ms = world.now();
    let worked = match &delivery.job {
        Job::Sync(job) => cloner::sync(&world, job).await,
        Job::Part(job) => worker::work(&world, job).await,
    };
    let settlement = match worked {
        Ok(()) => Settlement::Ack,
        Err(error) => settle(&world, &delivery, &error, began_at_ms).await,
    };
    world.schedule().step().await;
    settlement
}

async fn settle(world: &Arc<World>, delivery: &Delivery, error: &StageError, began_at_ms: i64) -> Settlement {
    world.schedule().trace(|| format!("{} fails: {}", delivery.job, error.chain()));
    if error.class == cairn_ports::ErrorClass::Cancelled {
        return Settlement::Ack;
    }
    if let Some(answer) = settlement(error, delivery, &RetryLadder::cluster()) {
        return answer;
    }
    let recorded = match &delivery.job {
        Job::Sync(job) => cloner::failed(world, job, error.code, began_at_ms).await.map_err(StageError::from),
        Job::Part(job) => worker::failed(world, job, error.code, error.chain()).await,
    };
    if recorded.is_ok() { Settlement::Ack } else { Settlement::Requeue { after: Duration::from_secs(5) } }
}
