//! Servers that honour conditional writes, and servers that do not.

use std::collections::HashSet;
use std::sync::Mutex;

use anyhow::Result;
use cairn_ports::BlobStore;
use cairn_s3::{S3BlobStore, SelfTestError};

use crate::bucket;
use crate::stand_in::{Answer, Request, StandIn, answer, refusal};

const NO_OBJECTS: &str = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>";

#[tokio::test]
async fn minio_passes_and_nothing_is_left() -> Result<()> {
    let Some(config) = bucket::new().await? else { return Ok(()) };
    let store = S3BlobStore::open(&config)?;
    store.self_test().await?;
    assert_eq!(store.list("").await?.len(), 0);
    // Two services may start at once.
    let (first, second) = futures::join!(store.self_test(), store.self_test());
    first.and(second)?;
    Ok(())
}

#[tokio::test]
async fn a_server_that_overwrites_is_refused() -> Result<()> {
    let server = StandIn::start(|_, request| match request.method.as_str() {
        "GET" => answer(200, "", NO_OBJECTS),
        _ => answer(200, "", ""),
    })
    .await?;
    let error = S3BlobStore::open(&server.config())?.self_test().await.expect_err("it overwrites");
    assert!(matches!(error, SelfTestError::Overwrites), "{error:?}");
    assert!(error.to_string().contains("ignores conditional writes"), "{error}");
    Ok(())
}

/// The second of two writers in turn is refused, but all that come at once are let in.
#[tokio::test]
async fn a_server_that_looks_before_it_writes_is_refused() -> Result<()> {
    let written: Mutex<HashSet<String>> = Mutex::default();
    let server = StandIn::start(move |_, request: &Request| -> Answer {
        match request.method.as_str() {
            "PUT" if request.path.contains("race") => answer(200, "", ""),
            "PUT" if written.lock().expect("a lock").insert(request.path.clone()) => answer(200, "", ""),
            "PUT" => refusal(412, "PreconditionFailed"),
            "HEAD" => answer(200, "Last-Modified: Fri, 01 Jan 2100 00:00:00 GMT\r\n", ""),
            "GET" if request.path.contains("list-type") => answer(200, "", NO_OBJECTS),
            _ => answer(200, "", "first"),
        }
    })
    .await?;
    let error = S3BlobStore::open(&server.config())?.self_test().await.expect_err("it is not atomic");
    assert!(matches!(error, SelfTestError::Races { num_winners: 8 }), "{error:?}");
    Ok(())
}

#[tokio::test]
async fn a_server_that_does_not_know_the_header_is_refused() -> Result<()> {
    let server = StandIn::start(|_, request| match request.method.as_str() {
        "GET" => answer(200, "", NO_OBJECTS),
        _ => refusal(501, "NotImplemented"),
    })
    .await?;
    let error = S3BlobStore::open(&server.config())?.self_test().await.expect_err("it is not implemented");
    assert!(matches!(error, SelfTestError::Store(_)), "{error:?}");
    Ok(())
}
