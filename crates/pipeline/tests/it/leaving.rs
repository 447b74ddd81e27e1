//! Workers that must stop at once give back what they have.

use cairn_domain::StageName;
use cairn_ports::Broker;
use tokio::sync::watch;

use crate::worker::{ALONE, Outcome, Script, publish, runner};

/// Whoever dies at work leaves the job to others.
#[tokio::test(start_paused = true)]
async fn a_job_stays_with_the_broker_until_its_work_is_done() -> anyhow::Result<()> {
    let _alone = ALONE.lock().await;
    let (broker, runner) = runner();
    let script = Script::new(&[Outcome::Hangs]);
    let (leave, told) = watch::channel(false);
    let working = tokio::spawn(runner.run_until(vec![script.worker()], told));
    publish(&broker, 1).await?;
    script.hanging.notified().await;
    assert_eq!(broker.depth(StageName::Sync).await?, 1, "a job is acknowledged before its work was done");
    leave.send_replace(true);
    working.await??;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_is_in_hand_goes_back_as_it_came() -> anyhow::Result<()> {
    let _alone = ALONE.lock().await;
    let (broker, runner) = runner();
    let script = Script::new(&[Outcome::Hangs]);
    let (leave, told) = watch::channel(false);
    let working = tokio::spawn(runner.run_until(vec![script.worker()], told));
    publish(&broker, 1).await?;
    script.hanging.notified().await;
    leave.send_replace(true);
    working.await??;
    let delivery = broker.receive(StageName::Sync).await?.expect("it is open");
    assert_eq!((delivery.num_failed_attempts, delivery.num_unanswered, delivery.is_suspect), (0, 0, false));
    Ok(())
}
