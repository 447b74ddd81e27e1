//! Tests that workers return their jobs to the queue if they must stop at once.

use cairn_domain::StageName;
use cairn_ports::Broker;
use tokio::sync::watch;

use crate::worker::{ALONE, Script, ScriptedResult, publish, runner};

/// If a worker dies, another worker must get the job. So a job is not acknowledged before its work is done.
#[tokio::test(start_paused = true)]
async fn job_stays_at_the_broker_until_it_is_done() -> anyhow::Result<()> {
    let _alone = ALONE.lock().await;
    let (broker, runner) = runner();
    let script = Script::new(&[ScriptedResult::Hangs]);
    let (leave, reported) = watch::channel(false);
    let working = tokio::spawn(runner.run_until(vec![script.worker()], reported));
    publish(&broker, 1).await?;
    script.hanging.notified().await;
    assert_eq!(broker.depth(StageName::Sync).await?, 1, "a job is acknowledged before its work was done");
    leave.send_replace(true);
    working.await??;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn unfinished_job_goes_back_unchanged() -> anyhow::Result<()> {
    let _alone = ALONE.lock().await;
    let (broker, runner) = runner();
    let script = Script::new(&[ScriptedResult::Hangs]);
    let (leave, reported) = watch::channel(false);
    let working = tokio::spawn(runner.run_until(vec![script.worker()], reported));
    publish(&broker, 1).await?;
    script.hanging.notified().await;
    leave.send_replace(true);
    working.await??;
    let delivery = broker.receive(StageName::Sync).await?.expect("it is open");
    assert_eq!((delivery.num_failed_attempts, delivery.num_unanswered, delivery.is_suspect), (0, 0, false));
    Ok(())
}
