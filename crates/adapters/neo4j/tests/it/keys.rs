//! Tests API keys when replies of the server are lost, and when several calls change one key.

use anyhow::{Result, ensure};
use cairn_domain::{Digest, Tenant};
use cairn_neo4j::{Neo4j, Neo4jConfig, Neo4jKeys};
use cairn_ports::{ApiKeyRecord, ErrorKind, KeyStore};
use futures::future::try_join_all;

use crate::bolt_proxy::{BoltProxy, Cut};
use crate::server::Namespace;

fn key(number: u8) -> ApiKeyRecord {
    ApiKeyRecord {
        id: format!("cairn_{number:08x}"),
        hash: Digest([number; 32]),
        tenant: Tenant::new("tenant"),
        repositories: None,
        may_index: false,
        label: String::new(),
        created_at_ms: 1,
        expires_at_ms: None,
        revoked_at_ms: None,
        last_used_at_ms: None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn key_with_lost_commit_reply_is_created_once() -> Result<()> {
    let Some(namespace) = Namespace::open().await? else { return Ok(()) };
    let proxy = BoltProxy::start(&namespace.config.url).await?;
    let config = Neo4jConfig { url: proxy.url.clone(), ..namespace.config.clone() };
    let keys = Neo4jKeys::new(Neo4j::new(&config)?);
    for (number, cut) in [(1, Cut::AfterCommit), (2, Cut::BeforeCommit)] {
        proxy.cut(&[cut]);
        keys.create(key(number)).await?;
        ensure!(proxy.cuts_left() == 0, "no connection was cut");
        ensure!(keys.find(&key(number).hash).await? == Some(key(number)));
        // The next call is a new call, not a retry of the first call.
        let again = keys.create(key(number)).await.expect_err("the key exists");
        ensure!(again.kind == ErrorKind::AlreadyExists, "{again:?}");
    }
    ensure!(keys.list(None).await?.len() == 2);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_calls_keep_last_use_and_first_revocation() -> Result<()> {
    let Some(namespace) = Namespace::open().await? else { return Ok(()) };
    let keys = Neo4jKeys::new(namespace.neo4j.clone());
    keys.create(key(1)).await?;
    let id = key(1).id;
    try_join_all((1..=40).map(|at_ms| keys.touch(&id, (at_ms * 7) % 41))).await?;
    try_join_all((1..=40).map(|at_ms| keys.revoke(&id, (at_ms * 7) % 41))).await?;
    let expected = ApiKeyRecord { last_used_at_ms: Some(40), revoked_at_ms: Some(1), ..key(1) };
    ensure!(keys.find(&key(1).hash).await? == Some(expected));
    Ok(())
}
