//! Tests services that refuse requests, fail, or send false data.

use std::error::Error;
use std::net::TcpListener;

use cairn_config::Sources;
use cairn_hosting::{HostingService, ServiceKind};
use cairn_ports::{ErrorKind, Hosting, HostingError};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::server::{Content, Reply, TestServer};
use crate::shapes::token;
use crate::support::{Held, KINDS, Shelf, config, entry, open, query, repository, service};

const SECRET: &str = "ghp_t0kenThatMustNotBeSeen";

/// Returns the whole text of an error, as it appears in messages and logs.
fn shown(error: &HostingError) -> String {
    let mut text = format!("{error:?} {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(" {error}"));
        cause = error.source();
    }
    text
}

async fn fails(kind: ServiceKind, replies: Vec<Reply>, more: &str) -> (HostingError, usize) {
    let server = TestServer::start(move |asked| {
        let page: usize = query(asked, "page").and_then(|page| page.parse().ok()).unwrap_or(1);
        replies[(page - 1).min(replies.len() - 1)].clone()
    })
    .await;
    let file = token(SECRET);
    let more = format!("token = {{ file = '{}' }}\n{more}", file.path().display());
    let error = service(kind, &server, &more).list().await.expect_err("no list");
    (error, server.asked().len())
}

#[tokio::test]
async fn refusals_have_a_kind_and_name_the_remedy() {
    let check = async |reply: Reply, expect: ErrorKind, words: &str| {
        for kind in KINDS {
            let (error, num_asked) = fails(kind, vec![reply.clone()], "").await;
            let text = shown(&error);
            assert_eq!(error.kind, expect, "{text}");
            assert!(text.contains(words) && text.contains("acme"), "{text}");
            assert_eq!(num_asked, 1, "{text}");
        }
    };
    check(Reply::status(401), ErrorKind::Forbidden, "token").await;
    check(Reply::status(403), ErrorKind::Forbidden, "may not list").await;
    check(Reply::status(404), ErrorKind::NotFound, "`owner_is`").await;
    check(Reply::status(301).header("location", "http://127.0.0.1:1/"), ErrorKind::Invalid, "redirects").await;
    check(Reply::json("{\"a\":1}"), ErrorKind::Corrupt, "not a JSON list").await;
    check(Reply::json("<html>sign in</html>"), ErrorKind::Corrupt, "not a JSON list").await;
    check(Reply::json(format!("{}1{}", "[".repeat(9_999), "]".repeat(9_999))), ErrorKind::Corrupt, "not a JSON").await;
}

#[tokio::test]
async fn token_repeated_by_the_service_is_not_shown() {
    let message = json!({ "message": format!("your Authorization was Bearer {SECRET}") }).to_string();
    for status in [400, 401, 403, 404, 500] {
        let reply = Reply { status, ..Reply::json(message.clone()) };
        let (error, _) = fails(ServiceKind::Github, vec![reply], "").await;
        assert!(!shown(&error).contains(SECRET), "{}", shown(&error));
    }
    let file = token(SECRET);
    let of_file = format!("token = {{ file = '{}' }}", file.path().display());
    let mut echoed = entry(ServiceKind::Github, "acme", &repository(1));
    echoed["full_name"] = Value::from(format!("elsewhere/{SECRET}"));
    let page = Value::from(vec![echoed]).to_string();
    let server = TestServer::start(move |_| Reply::json(page.clone())).await;
    let service = service(ServiceKind::Github, &server, &of_file);
    let listing = service.list().await.expect("a list");
    assert_eq!(listing.refused.len(), 1);
    assert!(!format!("{listing:?} {service:?}").contains(SECRET), "{listing:?} {service:?}");
}

#[tokio::test]
async fn token_is_not_sent_to_other_servers() {
    let elsewhere = TestServer::start(|_| Reply::json("[]")).await;
    let link = format!("<{}/orgs/acme/repos?page=2>; rel=\"next\"", elsewhere.url());
    let first = Reply::json("[]").header("link", link);
    let redirect = Reply::status(302).header("location", elsewhere.url());
    let server = TestServer::start(|_| Reply::json("[]")).await;
    server.first([first]);
    let service = service(ServiceKind::Github, &server, "");
    service.list().await.expect("a list");
    assert_eq!(server.asked().len(), 2, "the next page is requested from the same server");
    server.first([redirect]);
    service.list().await.expect_err("a redirect");
    assert_eq!(elsewhere.asked().len(), 0);
}

#[tokio::test]
async fn endless_lists_are_stopped() {
    let next = |page: usize| Reply::json("[]").header("link", format!("<https://x/?page={page}>; rel=\"next\""));
    // The server sends an endless number of pages, which are all different.
    let server =
        TestServer::start(move |asked| next(query(asked, "page").and_then(|page| page.parse().ok()).unwrap_or(1) + 1))
            .await;
    let error = service(ServiceKind::Gitea, &server, "max_repositories = 100").list().await.expect_err("no end");
    assert_eq!((error.kind, server.asked().len()), (ErrorKind::TooLarge, 11));
    // One list has a page that links to itself. The other list has two pages that link to each other.
    for loops in [vec![next(2), next(2)], vec![next(2), next(3), next(2)]] {
        let (error, _) = fails(ServiceKind::Github, loops, "").await;
        assert_eq!(error.kind, ErrorKind::Corrupt, "{}", shown(&error));
    }
    // The list has more repositories than the limit allows.
    let many: Vec<Value> = (1..=30).map(|id| entry(ServiceKind::Gitea, "acme", &repository(id))).collect();
    let page = Value::from(many).to_string();
    let (error, _) = fails(ServiceKind::Gitea, vec![Reply::json(page)], "max_repositories = 29").await;
    assert_eq!(error.kind, ErrorKind::TooLarge, "{}", shown(&error));
}

#[tokio::test]
async fn endless_replies_are_stopped() {
    let (error, _) = fails(ServiceKind::Github, vec![Reply::content(Content::Endless)], "").await;
    assert_eq!(error.kind, ErrorKind::TooLarge, "{}", shown(&error));
    let (error, num_asked) = fails(ServiceKind::Github, vec![Reply::content(Content::Cut)], "").await;
    assert_eq!((error.kind, num_asked), (ErrorKind::ConnectionLost, 3), "{}", shown(&error));
    let (error, num_asked) =
        fails(ServiceKind::Github, vec![Reply::content(Content::Silence)], "request_timeout_ms = 50").await;
    assert_eq!((error.kind, num_asked), (ErrorKind::Timeout, 3), "{}", shown(&error));
}

#[tokio::test]
async fn missing_service_is_unavailable() {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port();
    let config = config(ServiceKind::Gitea, &format!("http://127.0.0.1:{port}"), "");
    let service = HostingService::new(config, &open()).expect("a service");
    let error = service.list().await.expect_err("no server");
    assert_eq!(error.kind, ErrorKind::Unavailable, "{}", shown(&error));
    assert!(service.whereabouts("1").await.is_err());
    assert!(service.whereabouts("1/../../user").await.is_err());
}

#[tokio::test]
async fn private_addresses_are_refused_unless_allowed() {
    let server = TestServer::start(|_| Reply::json("[]")).await;
    let closed = Sources { allow_http: true, ..Sources::default() };
    let refused = HostingService::new(config(ServiceKind::Gitea, &server.url(), ""), &closed).expect_err("private");
    assert!(refused.to_string().contains("allow_private_addresses"), "{refused}");
    let http = Sources { allow_private_addresses: true, ..Sources::default() };
    let refused = HostingService::new(config(ServiceKind::Gitea, &server.url(), ""), &http).expect_err("no TLS");
    assert!(refused.to_string().contains("allow_http"), "{refused}");
    assert_eq!(server.asked().len(), 0);
}

#[tokio::test]
async fn missing_token_variable_is_named() {
    let config = config(ServiceKind::Gitea, "https://git.example", "token = { env = 'CAIRN_TEST_NO_TOKEN' }");
    let refused = HostingService::new(config, &open()).expect_err("no token");
    assert!(refused.to_string().contains("CAIRN_TEST_NO_TOKEN"), "{refused}");
}

/// Each case is an entry with false data, and a part of the expected reason.
#[tokio::test]
async fn invalid_entries_are_refused_alone() {
    for kind in KINDS {
        let sound = entry(kind, "acme", &repository(1));
        let name = if kind == ServiceKind::Gitlab { "path_with_namespace" } else { "full_name" };
        let url = if kind == ServiceKind::Gitlab { "http_url_to_repo" } else { "clone_url" };
        let with = |key: &str, value: Value| {
            let mut changed = entry(kind, "acme", &repository(2));
            changed[key] = value;
            changed
        };
        let lies = [
            (with(name, json!("acme/a\u{1b}[31m\nb")), "not a valid name"),
            (with(name, json!("acme/../../etc")), "not a valid name"),
            (with(name, json!("other/b")), "not a repository of"),
            (with(name, json!(7)), "not have the form that the API defines"),
            (with(name, Value::Null), "not have the form that the API defines"),
            (with("id", json!("2")), "not have the form that the API defines"),
            (with("id", json!(-2)), "not have the form that the API defines"),
            (with("archived", json!("no")), "not have the form that the API defines"),
            (with("topics", json!([1])), "not have the form that the API defines"),
            (with(url, json!("https://evil.example/acme/b.git")), "from a host other than"),
            (with(url, json!("http://169.254.169.254/latest")), "from a host other than"),
            (with(url, json!("file:///etc")), "from a host other than"),
            (with(url, json!("ext::sh -c touch% /tmp/x")), "from a host other than"),
            (json!(null), "not have the form that the API defines"),
            (json!([[]]), "not have the form that the API defines"),
        ];
        for (lie, reason) in lies {
            let page = json!([lie, sound]).to_string();
            let server = TestServer::start(move |_| Reply::json(page.clone())).await;
            let listing = service(kind, &server, "").list().await.expect("a list");
            assert_eq!(listing.repositories, [repository(1)], "{lie}");
            assert_eq!(listing.refused.len(), 1, "{lie}");
            let refused = &listing.refused[0];
            assert!(refused.reason.contains(reason), "{lie}: {}", refused.reason);
            assert!(!refused.reason.chars().any(char::is_control), "{:?}", refused.reason);
            assert_eq!(refused.id.as_deref(), lie.get("id").and_then(Value::as_u64).map(|_| "2"), "{lie}");
        }
    }
}

#[tokio::test]
async fn pages_and_entries_have_limits() {
    let zeros = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
    for count in [1_001, 2_000_000] {
        let (error, _) = fails(ServiceKind::Github, vec![Reply::json(zeros(count))], "").await;
        assert!(error.kind == ErrorKind::TooLarge && shown(&error).contains("1000 entries"), "{}", shown(&error));
    }
    let (error, _) = fails(ServiceKind::Github, vec![Reply::json(zeros(1_000))], "max_repositories = 999").await;
    assert!(error.kind == ErrorKind::TooLarge && shown(&error).contains("max_repositories"), "{}", shown(&error));

    // The size of a reply about a single repository is limited too.
    let server = TestServer::start(move |_| Reply::json(zeros(600_000))).await;
    let error = service(ServiceKind::Github, &server, "").whereabouts("1").await.expect_err("too long");
    assert_eq!(error.kind, ErrorKind::TooLarge, "{}", shown(&error));
    // In a list, only the entry that is too long is refused.
    let page = format!("[{},{}]", zeros(600_000), entry(ServiceKind::Github, "acme", &repository(1)));
    let server = TestServer::start(move |_| Reply::json(page.clone())).await;
    let listing = service(ServiceKind::Github, &server, "").list().await.expect("a list");
    assert_eq!(listing.repositories, [repository(1)]);
    assert!(listing.refused.len() == 1 && listing.refused[0].reason.contains("longer than"), "{:?}", listing.refused);
}

#[tokio::test]
async fn refusals_beyond_the_limit_have_no_reason() {
    let strangers: Vec<Value> = (1..=1_000).map(|id| entry(ServiceKind::Gitea, "other", &repository(id))).collect();
    let page = Value::from(strangers).to_string();
    let next = "<https://x/?page=2>; rel=\"next\"";
    let server = TestServer::start(move |asked| match query(asked, "page") {
        None => Reply::json(page.clone()).header("link", next),
        Some(_) => Reply::json(page.clone()),
    })
    .await;
    let refused = service(ServiceKind::Gitea, &server, "").list().await.expect("a list").refused;
    assert_eq!((refused.len(), refused.iter().filter(|entry| entry.id.is_some()).count()), (2_000, 2_000));
    let num_explained = refused.iter().filter(|entry| entry.reason.contains("not a repository of")).count();
    assert_eq!(num_explained, 1_000);
}

#[tokio::test]
async fn foreign_texts_are_escaped_and_bounded() {
    let mut loud = entry(ServiceKind::Gitea, "acme", &repository(1));
    loud["description"] = json!(format!("a\nb\u{1b}[31m\u{202e}{}", "x".repeat(5_000)));
    loud["topics"] = json!(vec!["t\n".to_owned() + &"y".repeat(500); 200]);
    loud["default_branch"] = json!("main\u{7}");
    let page = json!([loud]).to_string();
    let server = TestServer::start(move |_| Reply::json(page.clone())).await;
    let found = service(ServiceKind::Gitea, &server, "").list().await.expect("a list").repositories.remove(0);
    let description = found.description.expect("a description");
    assert!(
        description.starts_with(r"a\nb\u{1b}[31m\u{202e}xxx") && description.chars().count() <= 300,
        "{description}"
    );
    assert_eq!((found.topics.len(), found.default_branch.as_deref()), (50, Some("main")));
    assert!(found.topics.iter().all(|topic| topic.len() <= 100 && !topic.contains('\n')));
}

/// Tests every number of pages and every failure of one page. The result must be the whole list or an error.
#[test]
fn list_is_complete_or_an_error() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let broken = prop_oneof![
        Just(Reply::status(500)),
        Just(Reply::status(404)),
        Just(Reply::status(401)),
        Just(Reply::status(301)),
        Just(Reply::status(429).header("retry-after", "99")),
        Just(Reply::json("[{]")),
        Just(Reply::content(Content::Cut)),
    ];
    let cases = (0..30_u64, 1..9_usize, 0..32_usize, broken, 0..3_usize);
    let mut runner = TestRunner::new(ProptestConfig::with_cases(60));
    let outcome = runner.run(&cases, |(count, per_page, broken_page, reply, kind)| {
        let held: Vec<_> = (1..=count).map(repository).collect();
        let num_pages = held.len().div_ceil(per_page).max(1);
        let listed = runtime.block_on(async {
            let shelf = Shelf::default();
            *shelf.held() = Held { repositories: held.clone(), per_page, ..Held::default() };
            let relay = shelf.clone();
            let server = TestServer::start(move |asked| {
                let page: usize = query(asked, "page").and_then(|page| page.parse().ok()).unwrap_or(1);
                if page - 1 == broken_page { reply.clone() } else { relay.held().reply(KINDS[kind], asked) }
            })
            .await;
            service(KINDS[kind], &server, "").list().await
        });
        match listed {
            Ok(listing) => {
                prop_assert_eq!(listing.repositories, held);
                prop_assert!(broken_page >= num_pages);
            }
            Err(_) => prop_assert!(broken_page < num_pages),
        }
        Ok(())
    });
    outcome.expect("holds");
}
