//! One repository through all services, and the same through local mode.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cairn_domain::{Lane, RunState, Source};
use toml::Table;

use cairn_cluster::{Ground, Servers};
use cairn_testkit::work_tree::{commit, repository, write};

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_goes_through_every_service() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let mut ground = Ground::prepare(&servers, &Table::new()).await?;
    let path = repository();
    for n in 0..20 {
        let text = format!("def f{n}(x):\n    return f{}(x) + {n}\n", (n + 1) % 20);
        write(path.path(), &format!("src/m{n}.py"), text);
    }
    commit(path.path(), "start");
    ground.cluster.start_all().await?;
    let source = Source::Url { url: format!("file://{}", path.path().display()) };
    let asked = ground.inside.enqueue("r", source, Lane::Bulk).await?;
    ground.inside.settled(&[asked], Duration::from_secs(60)).await?;
    ensure!(ground.inside.last_state(asked.0).await? == Some(RunState::Published));
    let fingerprints = ground.inside.fingerprints().await?;
    let fingerprint = fingerprints.first().context("nothing is published")?;
    let count = |kind| fingerprint.kinds.iter().find(|digest| digest.kind == kind).map_or(0, |digest| digest.count);
    ensure!((count("files"), count("chunks"), count("edges")) == (20, 20, 40), "{fingerprint:?}");
    Ok(())
}
