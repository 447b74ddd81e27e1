//! Tests rate limits. The adapter waits when the service requests a wait, and returns long waits to the
//! caller.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cairn_hosting::ServiceKind;
use cairn_ports::{ErrorKind, Hosting};

use crate::server::Reply;
use crate::support::{Held, KINDS, Shelf, repository, service};

fn shelf(count: u64, per_page: usize) -> Shelf {
    let shelf = Shelf::default();
    *shelf.held() = Held { repositories: (1..=count).map(repository).collect(), per_page, ..Held::default() };
    shelf
}

#[tokio::test]
async fn short_requested_wait_completes_the_list() {
    for kind in KINDS {
        let server = shelf(5, 2).serve(kind).await;
        let limited = [
            Reply::status(429).header("retry-after", "0"),
            Reply::status(403).header("retry-after", "0"),
            Reply::status(503).header("retry-after", "0"),
            Reply::status(429).header("x-ratelimit-remaining", "0").header("x-ratelimit-reset", "0"),
        ];
        server.first(limited);
        let listing = service(kind, &server, "").list().await.expect("a list");
        assert_eq!((listing.repositories.len(), server.asked().len()), (5, 7), "{kind:?}");
    }
}

#[tokio::test]
async fn long_wait_is_returned_at_once() {
    let hour = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs() + 3_600;
    let limited = [
        Reply::status(429).header("retry-after", "3600"),
        Reply::status(403).header("x-ratelimit-remaining", "0").header("x-ratelimit-reset", hour.to_string()),
        Reply::status(429).header("ratelimit-remaining", "0").header("ratelimit-reset", hour.to_string()),
    ];
    for reply in limited {
        let server = shelf(5, 2).serve(ServiceKind::Github).await;
        server.first([reply]);
        let error = service(ServiceKind::Github, &server, "").list().await.expect_err("a limit");
        let ErrorKind::Throttled { retry_after: Some(wait) } = error.kind else { panic!("{error:?}") };
        assert!((Duration::from_secs(3_500)..=Duration::from_secs(3_600)).contains(&wait), "{wait:?}");
        assert_eq!(server.asked().len(), 1, "the adapter sent another request");
    }
}

#[tokio::test]
async fn used_up_rate_limit_stops_before_the_next_page() {
    let server = shelf(5, 2).serve(ServiceKind::Github).await;
    let used_up = |reply: Reply| reply.header("x-ratelimit-remaining", "0").header("x-ratelimit-reset", "3000");
    let page = Reply::json("[]").header("link", "<https://x/?page=2>; rel=\"next\"");
    server.first([used_up(page)]);
    let error = service(ServiceKind::Github, &server, "").list().await.expect_err("a limit");
    assert!(matches!(error.kind, ErrorKind::Throttled { .. }), "{error:?}");
    assert_eq!(server.asked().len(), 1, "the adapter sent another request");
    // No request follows the last page, so the adapter does not wait.
    server.first([used_up(Reply::json("[]"))]);
    service(ServiceKind::Github, &server, "").list().await.expect("a list");
}

#[tokio::test]
async fn endless_waits_end_at_the_timeout() {
    let server = crate::server::TestServer::start(|_| Reply::status(429).header("retry-after", "0")).await;
    let more = "timeout_seconds = 2";
    let error = service(ServiceKind::Gitea, &server, more).list().await.expect_err("no list");
    assert_eq!(error.kind, ErrorKind::Timeout, "{error:?}");
    let error = service(ServiceKind::Gitea, &server, more).whereabouts("1").await.expect_err("no answer");
    assert_eq!(error.kind, ErrorKind::Timeout, "{error:?}");
}

#[tokio::test]
async fn server_errors_are_retried_twice_then_returned() {
    for status in [500, 502, 503, 504] {
        let server = shelf(3, 2).serve(ServiceKind::Gitlab).await;
        server.first([Reply::status(status), Reply::status(status)]);
        let listing = service(ServiceKind::Gitlab, &server, "").list().await.expect("a list");
        assert_eq!(listing.repositories.len(), 3);
        server.asked();
        server.first(vec![Reply::status(status); 3]);
        let error = service(ServiceKind::Gitlab, &server, "").list().await.expect_err("a permanent failure");
        assert_eq!((error.kind, server.asked().len()), (ErrorKind::Unavailable, 3));
    }
}
