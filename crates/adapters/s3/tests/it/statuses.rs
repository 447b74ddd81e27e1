//! Answers that MinIO cannot be made to give.

use std::time::Duration;

use anyhow::Result;
use bytes::Bytes;
use cairn_ports::{BlobStore, BlobStoreExt, ErrorKind, Put};
use cairn_s3::{S3BlobStore, S3Config};

use crate::stand_in::{StandIn, answer, cut_short, refusal};

const BODY: Bytes = Bytes::from_static(b"0123456789");

#[tokio::test]
async fn what_is_refused_for_the_moment_is_tried_again() -> Result<()> {
    for (status, code) in
        [(503, "SlowDown"), (503, "ServiceUnavailable"), (500, "InternalError"), (409, "ConditionalRequestConflict")]
    {
        let server = StandIn::start(move |number, _| match number {
            0 | 1 => refusal(status, code),
            _ => answer(200, "", ""),
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
async fn what_stays_refused_ends_after_a_few_attempts() -> Result<()> {
    let throttled = ErrorKind::Throttled { retry_after: None };
    for (status, code, kind) in [
        (503, "SlowDown", throttled),
        (503, "ServiceUnavailable", ErrorKind::Unavailable),
        (409, "ConditionalRequestConflict", ErrorKind::TransactionConflict),
    ] {
        let server = StandIn::start(move |_, _| refusal(status, code)).await?;
        let error = S3BlobStore::open(&server.config())?.put("a", BODY).await.expect_err("refused");
        assert_eq!((error.kind, server.requests().len()), (kind, 4), "{code}");
    }
    Ok(())
}

#[tokio::test]
async fn a_server_that_asks_for_time_gets_it() -> Result<()> {
    let server =
        StandIn::start(|_, _| answer(503, "Retry-After: 7\r\n", "<Error><Code>SlowDown</Code></Error>")).await?;
    let error = S3BlobStore::open(&server.config())?.get("a").await.expect_err("throttled");
    assert_eq!(error.kind, ErrorKind::Throttled { retry_after: Some(Duration::from_secs(7)) });
    assert_eq!(server.requests().len(), 1);
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_helped_is_not_tried_again() -> Result<()> {
    for (status, code, kind) in [
        (403, "AccessDenied", ErrorKind::Forbidden),
        (404, "NoSuchKey", ErrorKind::NotFound),
        (400, "EntityTooLarge", ErrorKind::TooLarge),
        (400, "InvalidRequest", ErrorKind::Invalid),
    ] {
        let server = StandIn::start(move |_, _| refusal(status, code)).await?;
        let error = S3BlobStore::open(&server.config())?.get("a").await.expect_err("refused");
        assert_eq!((error.kind, server.requests().len()), (kind, 1), "{code}");
        assert!(std::error::Error::source(&error).is_some_and(|cause| cause.to_string().contains(code)), "{error:?}");
    }
    Ok(())
}

/// A conflict whose winner is there by the second attempt.
#[tokio::test]
async fn the_loser_of_a_conflict_finds_the_winners_object() -> Result<()> {
    let server = StandIn::start(|number, request| match (request.method.as_str(), number) {
        ("PUT", 0) => refusal(409, "ConditionalRequestConflict"),
        ("PUT", 1) => refusal(412, "PreconditionFailed"),
        ("HEAD", _) => answer(200, "Last-Modified: Fri, 01 Jan 2100 00:00:00 GMT\r\n", ""),
        _ => refusal(400, "Unexpected"),
    })
    .await?;
    assert_eq!(S3BlobStore::open(&server.config())?.put("a", BODY).await?, Put::AlreadyThere);
    Ok(())
}

/// Between the refusal and the look at what is there, a sweep took it.
#[tokio::test]
async fn an_object_that_disappears_is_written_again() -> Result<()> {
    let server = StandIn::start(|number, request| match (request.method.as_str(), number) {
        ("PUT", 0) => refusal(412, "PreconditionFailed"),
        ("HEAD", _) => answer(404, "", ""),
        ("PUT", 2) => answer(200, "", ""),
        _ => refusal(400, "Unexpected"),
    })
    .await?;
    assert_eq!(S3BlobStore::open(&server.config())?.put("a", BODY).await?, Put::Created);
    Ok(())
}

#[tokio::test]
async fn a_body_that_is_cut_short_is_no_object() -> Result<()> {
    let server = StandIn::start(|_, _| cut_short(10, "01234")).await?;
    let store = S3BlobStore::open(&server.config())?;
    assert_eq!(store.get("a").await.expect_err("half a body").kind, ErrorKind::ConnectionLost);
    let range = "HTTP ranges have a length as well";
    assert!(store.get_range("a", 0..10).await.is_err(), "{range}");
    let healed =
        StandIn::start(|number, _| if number == 0 { cut_short(10, "01234") } else { answer(200, "", "0123456789") });
    let healed = healed.await?;
    assert_eq!(S3BlobStore::open(&healed.config())?.get("a").await?, BODY);
    Ok(())
}

/// What no length gives away, the artifact's own hash does.
#[tokio::test]
async fn an_artifact_that_was_stored_cut_short_is_corrupt() -> Result<()> {
    let server = StandIn::start(|_, _| answer(200, "", "01234")).await?;
    let store = S3BlobStore::open(&server.config())?;
    let hash = [0; 32];
    let reference = cairn_domain::ArtifactRef { key: "a".to_owned(), size_bytes: 10, hash };
    assert_eq!(store.get_artifact(&reference).await.expect_err("half an artifact").kind, ErrorKind::Corrupt);
    Ok(())
}

#[tokio::test]
async fn a_range_must_be_the_one_that_was_asked_for() -> Result<()> {
    let partial = |size: &'static str, body: &'static str| {
        StandIn::start(move |_, _| answer(206, &format!("Content-Range: bytes 2-5/{size}\r\n"), body))
    };
    let check = async |server: StandIn, expect: Result<&'static str, ErrorKind>| {
        let found = S3BlobStore::open(&server.config())?.get_range("a", 2..6).await;
        assert_eq!(found.map_err(|error| error.kind), expect.map(Bytes::from));
        Ok::<_, anyhow::Error>(())
    };
    check(partial("10", "2345").await?, Ok("2345")).await?;
    check(partial("10", "234").await?, Err(ErrorKind::ConnectionLost)).await?;
    check(partial("5", "234").await?, Err(ErrorKind::Invalid)).await?;
    let whole = StandIn::start(|_, _| answer(200, "", "0123456789")).await?;
    check(whole, Err(ErrorKind::Invalid)).await
}

#[tokio::test]
async fn a_list_that_does_not_say_where_it_goes_on_is_no_list() -> Result<()> {
    for next in ["", "<NextContinuationToken>again</NextContinuationToken>"] {
        let page = format!("<ListBucketResult><IsTruncated>true</IsTruncated>{next}</ListBucketResult>");
        let server = StandIn::start(move |_, _| answer(200, "", &page)).await?;
        let error = S3BlobStore::open(&server.config())?.list("").await.expect_err("a list without an end");
        assert_eq!(error.kind, ErrorKind::Invalid, "{next}");
    }
    Ok(())
}

#[tokio::test]
async fn the_last_page_may_be_empty() -> Result<()> {
    let page = "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>more</NextContinuationToken>\
                <Contents><Key>a</Key><Size>1</Size><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>\
                <Contents><Key>folder/</Key><Size>0</Size><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>\
                </ListBucketResult>";
    let last = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>";
    let server = StandIn::start(move |_, request| {
        answer(200, "", if request.path.contains("continuation-token=more") { last } else { page })
    })
    .await?;
    let found = S3BlobStore::open(&server.config())?.list("").await?;
    assert_eq!(found.len(), 1, "markers of folders are no artifacts: {found:?}");
    assert_eq!((found[0].key.as_str(), found[0].modified_at), ("a", 1_767_225_600));
    Ok(())
}

#[tokio::test]
async fn the_sdk_repeats_nothing_by_itself() -> Result<()> {
    let server = StandIn::start(|_, _| refusal(500, "InternalError")).await?;
    let config = S3Config { operation_timeout_ms: 50, ..server.config() };
    // Shorter than the first pause: whatever came in that time was not ours to repeat.
    let error = S3BlobStore::open(&config)?.get("a").await.expect_err("refused");
    assert!(matches!(error.kind, ErrorKind::Timeout | ErrorKind::Unavailable), "{error:?}");
    assert!(server.requests().len() <= 1, "{}", server.requests().len());
    Ok(())
}

#[tokio::test]
async fn an_answer_says_more_than_the_clock() -> Result<()> {
    let server = StandIn::start(|_, _| refusal(503, "SlowDown")).await?;
    // Too short for all attempts, and long enough for the first.
    let config = S3Config { operation_timeout_ms: 1000, ..server.config() };
    let error = S3BlobStore::open(&config)?.get("a").await.expect_err("refused");
    assert_eq!(error.kind, ErrorKind::Throttled { retry_after: None });
    Ok(())
}
