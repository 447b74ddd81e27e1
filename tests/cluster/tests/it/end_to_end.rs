//! One repository through all services, and the same through local mode.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cairn_domain::{Lane, RunState, Source};
use toml::Table;

use crate::ground::{Ground, repository};

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_goes_through_every_service() -> Result<()> {
    let Some(servers) = Ground::servers() else { return Ok(()) };
    let mut ground = Ground::prepare(&servers, &Table::new()).await?;
    let files: Vec<(String, String)> = (0..20)
        .map(|n| (format!("src/m{n}.py"), format!("def f{n}(x):\n    return f{}(x) + {n}\n", (n + 1) % 20)))
        .collect();
    let path = repository(ground.directory.path(), "r", &files)?;
    ground.cluster.start_all().await?;
    let source = Source::Url { url: format!("file://{}", path.display()) };
    let asked = ground.inside.enqueue("r", source, Lane::Bulk).await?;
    ground.inside.settled(&[asked], Duration::from_secs(60)).await?;
    ensure!(ground.inside.last_state(asked.0).await? == Some(RunState::Published));
    let fingerprints = ground.inside.fingerprints().await?;
    let fingerprint = fingerprints.first().context("nothing is published")?;
    eprintln!("{fingerprint:?}");
    Ok(())
}
