//! Tests the self-test with servers that support conditional writes and servers that do not.

use std::collections::HashSet;
use std::sync::Mutex;

use anyhow::Result;
use cairn_ports::BlobStore;
use cairn_s3::{S3BlobStore, SelfTestError};

use crate::bucket;
use crate::fake_server::{FakeServer, RawReply, Request, refusal, reply};

const NO_OBJECTS: &str = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>";

#[tokio::test]
async fn minio_passes_and_no_object_is_left() -> Result<()> {
    let Some(config) = bucket::new().await? else { return Ok(()) };
    let store = S3BlobStore::open(&config)?;
    store.self_test().await?;
    assert_eq!(store.list("").await?.len(), 0);
    // Two services may start at the same time, so two self-tests must not disturb each other.
    let (first, second) = futures::join!(store.self_test(), store.self_test());
    first.and(second)?;
    Ok(())
}

#[tokio::test]
async fn overwriting_server_is_refused() -> Result<()> {
    let server = FakeServer::start(|_, request| match request.method.as_str() {
        "GET" => reply(200, "", NO_OBJECTS),
        _ => reply(200, "", ""),
    })
    .await?;
    let error = S3BlobStore::open(&server.config())?.self_test().await.expect_err("it overwrites");
    assert!(matches!(error, SelfTestError::Overwrites), "{error:?}");
    assert!(error.to_string().contains("ignores conditional writes"), "{error}");
    Ok(())
}

/// The server refuses a writer that comes after the first writer, but all concurrent writers succeed.
#[tokio::test]
async fn server_without_atomic_writes_is_refused() -> Result<()> {
    let written: Mutex<HashSet<String>> = Mutex::default();
    let server = FakeServer::start(move |_, request: &Request| -> RawReply {
        match request.method.as_str() {
            "PUT" if request.path.contains("race") => reply(200, "", ""),
            "PUT" if written.lock().expect("a lock").insert(request.path.clone()) => reply(200, "", ""),
            "PUT" => refusal(412, "PreconditionFailed"),
            "HEAD" => reply(200, "Last-Modified: Fri, 01 Jan 2100 00:00:00 GMT\r\n", ""),
            "GET" if request.path.contains("list-type") => reply(200, "", NO_OBJECTS),
            _ => reply(200, "", "first"),
        }
    })
    .await?;
    let error = S3BlobStore::open(&server.config())?.self_test().await.expect_err("the writes are not atomic");
    assert!(matches!(error, SelfTestError::Races { num_winners: 8 }), "{error:?}");
    Ok(())
}

#[tokio::test]
async fn server_without_the_header_is_refused() -> Result<()> {
    let server = FakeServer::start(|_, request| match request.method.as_str() {
        "GET" => reply(200, "", NO_OBJECTS),
        _ => refusal(501, "NotImplemented"),
    })
    .await?;
    let error =
        S3BlobStore::open(&server.config())?.self_test().await.expect_err("conditional writes are not implemented");
    assert!(matches!(error, SelfTestError::Store(_)), "{error:?}");
    Ok(())
}
