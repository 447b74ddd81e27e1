//! Tests that no chunk is embedded again after the loss of the vector cache, because the vectors are
//! restored.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cairn_domain::{Lane, RepositoryId, RunState, Source};
use cairn_ports::{LedgerRead, Requests};
use cairn_servers::Collections;
use cairn_testkit::work_tree::{commit, repository, write};
use toml::Table;

use cairn_cluster::{Environment, Servers};

const PATIENCE: Duration = Duration::from_secs(120);

#[tokio::test(flavor = "multi_thread")]
async fn lost_vector_cache_costs_no_embedding() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let mut environment = Environment::prepare(&servers, &Table::new()).await?;
    let path = repository();
    for n in 0..30 {
        write(path.path(), &format!("src/m{n}.py"), format!("def f{n}(x):\n    return x + {n}\n"));
    }
    commit(path.path(), "start");
    environment.cluster.start_all().await?;
    let source = Source::Url { url: format!("file://{}", path.path().display()) };
    let asked = environment.inside.enqueue("r", source, Lane::Bulk).await?;
    environment.inside.settled(&[asked], PATIENCE).await?;
    let (embedded, _) = vectors(&environment, asked.0).await?;
    ensure!(embedded >= 30, "only {embedded} chunks were embedded");

    delete_cache(&environment).await?;
    environment.cluster.cairn(&["topology", "apply"])?;
    let runs = &environment.inside.cluster.runs;
    let request = runs.ask(asked.0, Lane::Bulk, true, environment.inside.cluster.clock.now_ms()).await?;
    environment.inside.settled(&[(asked.0, request)], PATIENCE).await?;
    let (embedded_again, from_cache) = vectors(&environment, asked.0).await?;
    println!("{embedded} chunks embedded at first; after the loss {embedded_again}, and {from_cache} from the cache");
    ensure!(
        embedded_again == 0 && from_cache >= embedded,
        "{embedded_again} chunks were embedded again, and only {from_cache} vectors came from the cache"
    );
    Ok(())
}

/// The number of chunks that the newest run embedded, and the number of vectors that it found in the cache.
async fn vectors(environment: &Environment, repository: RepositoryId) -> Result<(u64, u64)> {
    let runs = environment.inside.cluster.runs.runs(Some(repository), 1).await?;
    let run = runs.first().context("no run")?;
    ensure!(run.state == RunState::Published, "{:?}", run.state);
    Ok((run.result.chunks_embedded, run.result.cache_hits))
}

async fn delete_cache(environment: &Environment) -> Result<()> {
    let config = environment.inside.cluster.config.qdrant.as_ref().context("the settings have no section [qdrant]")?;
    let client = Collections::client(&config.url)?;
    let name = format!("{}-cache", environment.inside.stores.vectors.collection_name());
    ensure!(client.delete_collection(&name).await?.result, "the collection `{name}` did not exist");
    Ok(())
}
