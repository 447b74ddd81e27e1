//! Finds out the state of each server of a cluster: whether the server answers, its version, and the objects
//! that are missing on it.

use std::time::Duration;

use cairn_domain::InputType;
use cairn_ports::plain;
use cairn_rabbitmq::topology::{Topology, inspect};
use cairn_wiring::EmbeddingConfig;
use tokio::time::timeout;

use super::installation::Installation;

/// Time limit for the answer of a server. A server that needs more time is reported as unavailable.
const PATIENCE: Duration = Duration::from_secs(30);

/// One server.
pub(super) struct Finding {
    pub name: &'static str,
    pub state: State,
}

pub(super) enum State {
    /// The reason why the server cannot be used, and how to correct the fault.
    Fault(String),
    Answers(ServerAnswer),
}

/// The answer of a server.
#[derive(Default)]
pub(super) struct ServerAnswer {
    /// The version of the server. `None` if the protocol of the server does not report the version.
    pub version: Option<String>,
    /// All objects that `cairn topology apply` would create.
    pub missing: Vec<String>,
    /// Remarks for the operator about settings of the server that `cairn topology apply` cannot change.
    pub remarks: Vec<&'static str>,
}

/// The findings about all servers that store data, in the order of the data flow.
pub(super) async fn of_servers(installation: &Installation) -> Vec<Finding> {
    let (rabbitmq, s3, neo4j, qdrant) = tokio::join!(
        finding("RabbitMQ", rabbitmq(installation), "start it, or correct `urls` and `management_url` in [rabbitmq]"),
        finding("S3", s3(installation), "start it, or correct `endpoint`, `bucket` and the credentials in [s3]"),
        finding("Neo4j", neo4j(installation), "start it, or correct `url`, `user` and `password` in [neo4j]"),
        finding("Qdrant", qdrant(installation), "start it, or correct `url` and `api_key` in [qdrant]"),
    );
    vec![rabbitmq, s3, neo4j, qdrant]
}

pub(super) async fn of_model(installation: &Installation) -> Finding {
    finding("embedding model", model(installation), "correct [embedding], or ask the operator of the provider").await
}

async fn finding(
    name: &'static str,
    asked: impl Future<Output = anyhow::Result<ServerAnswer>>,
    remedy: &str,
) -> Finding {
    let state = match timeout(PATIENCE, asked).await {
        Ok(Ok(answer)) => State::Answers(answer),
        Ok(Err(error)) => State::Fault(format!("{}; {remedy}", plain(error.as_ref()))),
        Err(_) => State::Fault(format!("no answer within {} s; {remedy}", PATIENCE.as_secs())),
    };
    Finding { name, state }
}

async fn rabbitmq(installation: &Installation) -> anyhow::Result<ServerAnswer> {
    let config = installation.rabbitmq()?;
    let found = inspect(config, &Topology::new(&config.topology)).await?;
    let remark = "`management_url` is not set, so policies and bindings are not checked";
    let remarks = found.version.is_none().then_some(remark).into_iter().collect();
    Ok(ServerAnswer { version: found.version, missing: found.missing, remarks })
}

/// The version is `None`, because the S3 protocol does not report the version of a server.
async fn s3(installation: &Installation) -> anyhow::Result<ServerAnswer> {
    let blobs = installation.blobs()?;
    if !blobs.has_bucket().await? {
        let bucket = installation.config.s3.as_ref().map(|config| config.bucket.as_str()).unwrap_or_default();
        return Ok(ServerAnswer { missing: vec![format!("bucket `{bucket}`")], ..ServerAnswer::default() });
    }
    blobs.self_test().await?;
    Ok(ServerAnswer::default())
}

async fn neo4j(installation: &Installation) -> anyhow::Result<ServerAnswer> {
    let neo4j = installation.neo4j()?;
    let version = Some(neo4j.version().await?);
    let missing = neo4j.missing().await?.into_iter().map(|name| format!("constraint or index `{name}`"));
    // If the user has no permission to read the settings of the server, no remarks are reported.
    let remarks = neo4j.unset_timeouts().await.unwrap_or_default();
    Ok(ServerAnswer { version, missing: missing.collect(), remarks })
}

async fn qdrant(installation: &Installation) -> anyhow::Result<ServerAnswer> {
    let (store, cache) = installation.vectors()?;
    let version = Some(store.version().await?);
    let missing = [store.missing().await?, cache.missing().await?].concat();
    Ok(ServerAnswer { version, missing, ..ServerAnswer::default() })
}

/// If a provider runs the model, one vector is requested from the provider.
async fn model(installation: &Installation) -> anyhow::Result<ServerAnswer> {
    let config = &installation.config.embedding;
    let model = config.model_id()?;
    if let EmbeddingConfig::Http { .. } = config {
        installation.embedder()?.embed(InputType::Query, &["cairn doctor"]).await?;
    }
    Ok(ServerAnswer {
        version: Some(format!("{}, {} dimensions", model.name, model.dimensions)),
        ..ServerAnswer::default()
    })
}
