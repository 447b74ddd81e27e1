//! Tests responses that MinIO cannot produce.

use std::time::Duration;

use anyhow::Result;
use bytes::Bytes;
use cairn_ports::{BlobStore, BlobStoreExt, ErrorKind, Put};
use cairn_s3::{S3BlobStore, S3Config};

use crate::fake_server::{FakeServer, cut_short, refusal, reply};

const BODY: Bytes = Bytes::from_static(b"0123456789");

#[tokio::test]
async fn temporary_refusals_are_retried() -> Result<()> {
    for (status, code) in
        [(503, "SlowDown"), (503, "ServiceUnavailable"), (500, "InternalError"), (409, "ConditionalRequestConflict")]
    {
        let server = FakeServer::start(move |number, _| match number {
            0 | 1 => refusal(status, code),
            _ => reply(200, "", ""),
        })
        .await?;
        let store = S3BlobStore::open(&server.config())?;
        assert_eq!(store.put("a", BODY).await?, Put::Created, "{code}");
        let requests = server.requests();
        assert_eq!(requests.len(), 3, "{code}");
        assert!(requests.iter().all(|request| request.header("if-none-match") == Some("*")), "{requests:?}");
    }
    Ok(())
}

#[tokio::test]
async fn lasting_refusals_end_after_a_few_attempts() -> Result<()> {
    let throttled = ErrorKind::Throttled { retry_after: None };
    for (status, code, kind) in [
        (503, "SlowDown", throttled),
        (503, "ServiceUnavailable", ErrorKind::Unavailable),
        (409, "ConditionalRequestConflict", ErrorKind::TransactionConflict),
    ] {
        let server = FakeServer::start(move |_, _| refusal(status, code)).await?;
        let error = S3BlobStore::open(&server.config())?.put("a", BODY).await.expect_err("refused");
        assert_eq!((error.kind, server.requests().len()), (kind, 4), "{code}");
    }
    Ok(())
}

#[tokio::test]
async fn retry_after_is_returned_to_the_caller() -> Result<()> {
    let server =
        FakeServer::start(|_, _| reply(503, "Retry-After: 7\r\n", "<Error><Code>SlowDown</Code></Error>")).await?;
    let error = S3BlobStore::open(&server.config())?.get("a").await.expect_err("throttled");
    assert_eq!(error.kind, ErrorKind::Throttled { retry_after: Some(Duration::from_secs(7)) });
    assert_eq!(server.requests().len(), 1);
    Ok(())
}

#[tokio::test]
async fn permanent_errors_are_not_retried() -> Result<()> {
    for (status, code, kind) in [
        (403, "AccessDenied", ErrorKind::Forbidden),
        (404, "NoSuchKey", ErrorKind::NotFound),
        (400, "EntityTooLarge", ErrorKind::TooLarge),
        (400, "InvalidRequest", ErrorKind::Invalid),
    ] {
        let server = FakeServer::start(move |_, _| refusal(status, code)).await?;
        let error = S3BlobStore::open(&server.config())?.get("a").await.expect_err("refused");
        assert_eq!((error.kind, server.requests().len()), (kind, 1), "{code}");
        assert!(std::error::Error::source(&error).is_some_and(|cause| cause.to_string().contains(code)), "{error:?}");
    }
    Ok(())
}

/// The first attempt returns a conflict. At the second attempt, the object of the other writer exists.
#[tokio::test]
async fn writer_that_loses_a_conflict_reads_the_object() -> Result<()> {
    let server = FakeServer::start(|number, request| match (request.method.as_str(), number) {
        ("PUT", 0) => refusal(409, "ConditionalRequestConflict"),
        ("PUT", 1) => refusal(412, "PreconditionFailed"),
        ("HEAD", _) => reply(200, "Last-Modified: Fri, 01 Jan 2100 00:00:00 GMT\r\n", ""),
        _ => refusal(400, "Unexpected"),
    })
    .await?;
    assert_eq!(S3BlobStore::open(&server.config())?.put("a", BODY).await?, Put::AlreadyThere);
    Ok(())
}

/// A sweep removed the object after the write was refused and before the object was checked.
#[tokio::test]
async fn object_that_disappears_is_written_again() -> Result<()> {
    let server = FakeServer::start(|number, request| match (request.method.as_str(), number) {
        ("PUT", 0) => refusal(412, "PreconditionFailed"),
        ("HEAD", _) => reply(404, "", ""),
        ("PUT", 2) => reply(200, "", ""),
        _ => refusal(400, "Unexpected"),
    })
    .await?;
    assert_eq!(S3BlobStore::open(&server.config())?.put("a", BODY).await?, Put::Created);
    Ok(())
}

#[tokio::test]
async fn short_body_is_never_returned() -> Result<()> {
    let server = FakeServer::start(|_, _| cut_short(10, "01234")).await?;
    let store = S3BlobStore::open(&server.config())?;
    assert_eq!(store.get("a").await.expect_err("half a body").kind, ErrorKind::ConnectionLost);
    let range = "HTTP ranges have a length too";
    assert!(store.get_range("a", 0..10).await.is_err(), "{range}");
    let healed =
        FakeServer::start(|number, _| if number == 0 { cut_short(10, "01234") } else { reply(200, "", "0123456789") });
    let healed = healed.await?;
    assert_eq!(S3BlobStore::open(&healed.config())?.get("a").await?, BODY);
    Ok(())
}

/// The length of the body is consistent, so only the hash of the artifact shows that bytes are missing.
#[tokio::test]
async fn artifact_stored_incompletely_is_corrupt() -> Result<()> {
    let server = FakeServer::start(|_, _| reply(200, "", "01234")).await?;
    let store = S3BlobStore::open(&server.config())?;
    let hash = [0; 32];
    let reference = cairn_domain::ArtifactRef { key: "a".to_owned(), size_bytes: 10, hash };
    assert_eq!(store.get_artifact(&reference).await.expect_err("half an artifact").kind, ErrorKind::Corrupt);
    Ok(())
}

#[tokio::test]
async fn returned_range_must_be_the_requested_one() -> Result<()> {
    let partial = |size: &'static str, body: &'static str| {
        FakeServer::start(move |_, _| reply(206, &format!("Content-Range: bytes 2-5/{size}\r\n"), body))
    };
    let check = async |server: FakeServer, expect: Result<&'static str, ErrorKind>| {
        let found = S3BlobStore::open(&server.config())?.get_range("a", 2..6).await;
        assert_eq!(found.map_err(|error| error.kind), expect.map(Bytes::from));
        Ok::<_, anyhow::Error>(())
    };
    check(partial("10", "2345").await?, Ok("2345")).await?;
    check(partial("10", "234").await?, Err(ErrorKind::ConnectionLost)).await?;
    check(partial("5", "234").await?, Err(ErrorKind::Invalid)).await?;
    let whole = FakeServer::start(|_, _| reply(200, "", "0123456789")).await?;
    check(whole, Err(ErrorKind::Invalid)).await
}

#[tokio::test]
async fn list_without_a_new_token_is_invalid() -> Result<()> {
    for next in ["", "<NextContinuationToken>again</NextContinuationToken>"] {
        let page = format!("<ListBucketResult><IsTruncated>true</IsTruncated>{next}</ListBucketResult>");
        let server = FakeServer::start(move |_, _| reply(200, "", &page)).await?;
        let error = S3BlobStore::open(&server.config())?.list("").await.expect_err("a list without an end");
        assert_eq!(error.kind, ErrorKind::Invalid, "{next}");
    }
    Ok(())
}

#[tokio::test]
async fn last_page_may_be_empty() -> Result<()> {
    let page = "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>more</NextContinuationToken>\
                <Contents><Key>a</Key><Size>1</Size><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>\
                <Contents><Key>folder/</Key><Size>0</Size><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>\
                </ListBucketResult>";
    let last = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>";
    let server = FakeServer::start(move |_, request| {
        reply(200, "", if request.path.contains("continuation-token=more") { last } else { page })
    })
    .await?;
    let found = S3BlobStore::open(&server.config())?.list("").await?;
    assert_eq!(found.len(), 1, "markers of folders are not artifacts: {found:?}");
    assert_eq!((found[0].key.as_str(), found[0].modified_at), ("a", 1_767_225_600));
    Ok(())
}

#[tokio::test]
async fn sdk_never_retries() -> Result<()> {
    let server = FakeServer::start(|_, _| refusal(500, "InternalError")).await?;
    let config = S3Config { operation_timeout_ms: 50, ..server.config() };
    // The deadline is shorter than the first pause of this adapter, so any repetition would come from the
    // SDK.
    let error = S3BlobStore::open(&config)?.get("a").await.expect_err("refused");
    assert!(matches!(error.kind, ErrorKind::Timeout | ErrorKind::Unavailable), "{error:?}");
    assert!(server.requests().len() <= 1, "{}", server.requests().len());
    Ok(())
}

#[tokio::test]
async fn last_response_wins_over_the_timeout() -> Result<()> {
    let server = FakeServer::start(|_, _| refusal(503, "SlowDown")).await?;
    // The deadline is long enough for the first attempt, but too short for all attempts.
    let config = S3Config { operation_timeout_ms: 1000, ..server.config() };
    let error = S3BlobStore::open(&config)?.get("a").await.expect_err("refused");
    assert_eq!(error.kind, ErrorKind::Throttled { retry_after: None });
    Ok(())
}
