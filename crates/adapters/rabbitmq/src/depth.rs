//! Counts the jobs of a stage that are not done.
//!
//! AMQP reports the number of ready messages of a queue, but not the number of deliveries that consumers
//! hold. Each process counts its own deliveries. The management API reports the deliveries of
//! all processes, with values up to five seconds old.
//!
//! `depth` therefore adds two numbers. The first is the number of waiting messages in work and delay queues.
//! The second is the number of deliveries that this process holds. If `management_url` is set and the API
//! reports a higher number of deliveries, that number is added instead of the second.
//!
//! For some seconds after a settlement, the result can be too high. The result can also be too low, because
//! it may not include deliveries that another process has just received.

use cairn_domain::StageName;
use cairn_ports::{BrokerError, ErrorKind};
use lapin::Connection;
use serde_json::Value;

use crate::error::broker_error;
use crate::management::Management;
use crate::shared::Shared;
use crate::topology::{Source, passive};

pub(crate) async fn depth(shared: &Shared, stage: StageName) -> Result<u64, BrokerError> {
    let Some(up) = shared.consuming.current() else {
        return Err(BrokerError::new(ErrorKind::Unavailable, "depth", stage.as_str()).because("no connection"));
    };
    let held_by_all = match &shared.management {
        Some(management) => unacknowledged(shared, management, stage).await?,
        None => 0,
    };
    let waiting = waiting(shared, &up.connection, stage).await;
    let waiting = waiting.map_err(|error| broker_error("depth", stage.as_str(), error))?;
    let held_here = shared.stage(stage).inbox().num_unsettled() as u64;
    Ok(waiting + held_by_all.max(held_here))
}

async fn waiting(shared: &Shared, connection: &Connection, stage: StageName) -> lapin::Result<u64> {
    let names = &shared.names;
    let work = Source::ALL.iter().map(|source| names.queue(stage, *source));
    let retries = shared.config.topology.retry_delays_ms.iter().map(|delay_ms| names.retry_queue(stage, *delay_ms));
    let channel = connection.create_channel().await?;
    let mut count = 0;
    for queue in work.chain(retries) {
        count += u64::from(passive(&channel, &queue).await?.message_count());
    }
    channel.close(200, "done".into()).await?;
    Ok(count)
}

async fn unacknowledged(shared: &Shared, management: &Management, stage: StageName) -> Result<u64, BrokerError> {
    let mut count = 0;
    for source in Source::ALL {
        let queue = shared.names.queue(stage, source);
        let answer = management.get(&["queues", management.vhost(), &queue]).await;
        let answer = answer.map_err(|error| BrokerError::new(ErrorKind::Unavailable, "depth", queue).because(error))?;
        count += answer.get("messages_unacknowledged").and_then(Value::as_u64).unwrap_or_default();
    }
    Ok(count)
}
