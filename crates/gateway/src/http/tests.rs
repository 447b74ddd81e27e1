//! Tests of the HTTP interface with an in-memory index.

mod field_names;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use cairn_domain::{
    DenseVector, EdgeKind, InputType, ModelId, Reason, RepositoryId, RunId, RunState, SymbolKind, Tenant,
};
use cairn_ports::{Embedder, EmbedderError, ErrorKind, KeyStore};
use cairn_search::{Caller, CursorKey, QueryError, Searcher};
use cairn_testkit::{FakeContent, FakeIndex, INDEXED_AT_MS, ManualClock, MemoryKeys};
use cairn_wire::RunResult;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::routes::OPENAPI;
use super::{GatewayConfig, GatewayState, router};
use crate::auth::{KeyRequest, LimitsConfig, issue};
use crate::broken_starts;
use crate::index_call::{IndexCall, IndexStatus, IndexTicket};
use crate::indexing::Indexing;
use crate::questions::Question;
use crate::schema_check::faults;

const TENANT: &str = "acme";
const HOST: &str = "cairn.test";

/// Returns answers in the same form as the implementation with a ledger.
struct FakeIndexing;

#[async_trait]
impl Indexing for FakeIndexing {
    async fn index(&self, searcher: &Searcher, call: IndexCall) -> Result<IndexStatus, QueryError> {
        let view = searcher.catalogue.view().await?;
        let known = searcher.select_one(&view, &call.target).await?;
        Ok(IndexStatus {
            repository: known.record.name.to_string(),
            run: None,
            request: Some(1),
            previous_run: None,
            state: RunState::Running,
            result: RunResult::default(),
            message: None,
            num_parts: 0,
            num_ended: 0,
            sync: None,
        })
    }

    async fn progress(&self, searcher: &Searcher, ticket: IndexTicket) -> Result<IndexStatus, QueryError> {
        self.index(searcher, IndexCall { target: ticket.repository, ..IndexCall::default() }).await
    }

    async fn cancel_requests(&self, _repositories: &[RepositoryId]) -> Result<Vec<RepositoryId>, QueryError> {
        Ok(Vec::new())
    }

    async fn cancel(&self, _run: RunId) -> Result<bool, QueryError> {
        Ok(true)
    }
}

/// Several replicas that share one index.
struct Cluster {
    replicas: Vec<Router>,
    clock: Arc<ManualClock>,
    keys: Arc<MemoryKeys>,
}

#[derive(PartialEq, Debug)]
struct Reply {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }
}

fn of_tenant(tenant: &str, name: &str) -> FakeContent {
    FakeContent::of(Tenant::new(tenant), name, "0123456789abcdef0123456789abcdef01234567")
        .file("src/date.rs", "rust", "/// Parses a date.\npub fn parse_date(text: &str) -> Date {\n    scan(text)\n}\n\nfn scan(text: &str) -> Date {\n    todo(text)\n}\n")
        .file("src/server.rs", "rust", "pub struct Server;\n\nimpl Server {\n    fn handle(&self) {\n        parse_date(\"now\");\n    }\n}\n")
        .file("README.md", "markdown", "# How dates are parsed\n\nThe server parses each date once.\n")
        .skipped("logo.png", Reason::Binary)
        .symbol("src/date.rs", "parse_date", SymbolKind::Function, (1, 4))
        .symbol("src/date.rs", "scan", SymbolKind::Function, (6, 8))
        .symbol("src/server.rs", "Server", SymbolKind::Struct, (1, 1))
        .symbol("src/server.rs", "Server.handle", SymbolKind::Method, (4, 6))
        .edge("parse_date", EdgeKind::Calls, "scan", 3, 100)
        .edge("Server.handle", EdgeKind::Calls, "parse_date", 5, 80)
}

fn config() -> GatewayConfig {
    GatewayConfig {
        allowed_hosts: vec![HOST.to_owned()],
        allowed_origins: vec!["https://cairn.test".to_owned()],
        limits: LimitsConfig { requests_per_minute: 600_000, burst: 100_000, concurrency: 10 },
        ..GatewayConfig::default()
    }
}

impl Cluster {
    /// A cluster with the repositories of `acme` and `num_others` repositories of another tenant. Some of the
    /// other repositories have the same names and texts as the repositories of `acme`.
    async fn new(num_others: usize, num_replicas: usize, config: GatewayConfig) -> Self {
        Self::with_model(num_others, num_replicas, config, None).await
    }

    /// A cluster. If `model` is set, the replicas use this model, although a different model made the
    /// vectors.
    async fn with_model(num_others: usize, num_replicas: usize, config: GatewayConfig, model: Option<&str>) -> Self {
        let mut contents = vec![of_tenant(TENANT, "host/team/app"), of_tenant(TENANT, "host/team/secret")];
        let others = ["host/team/app".to_owned(), "host/team/only-theirs".to_owned()];
        let others = others.into_iter().chain((2..num_others).map(|number| format!("host/other/r{number}")));
        contents.extend(others.take(num_others).map(|name| of_tenant("rival", &name)));
        let index = Arc::new(FakeIndex::new(contents).await.expect("an index"));
        let clock = Arc::new(ManualClock::new(INDEXED_AT_MS + 60_000));
        let keys = Arc::new(MemoryKeys::default());
        let embedder: Arc<dyn Embedder> = match model {
            None => index.clone(),
            Some(name) => Arc::new(OtherModel(ModelId { name: name.to_owned(), dimensions: 1 })),
        };
        let replica = || {
            let searcher = Searcher {
                caller: Caller::local(),
                catalogue: index.clone(),
                ledger: index.clone(),
                blobs: index.blobs.clone(),
                vectors: index.clone(),
                graph: index.clone(),
                names: index.clone(),
                texts: index.clone(),
                packs: Arc::default(),
                embedder: embedder.clone(),
                similarity: Arc::new(cairn_ranking::EqualWords),
                clock: clock.clone(),
                cursor_key: CursorKey([7; 32]),
                signals: cairn_ranking::Signals::default(),
                term_tables: Arc::default(),
                synonyms: Arc::default(),
                changed: None,
                heads: None,
                answers: Arc::default(),
                known_texts: Arc::default(),
                pattern_members: Arc::default(),
                file_places: Arc::default(),
            };
            let state = GatewayState { searcher, keys: keys.clone(), indexing: Arc::new(FakeIndexing) };
            router(state, config.clone())
        };
        let replicas = (0..num_replicas).map(|_| replica()).collect();
        Self { replicas, clock, keys }
    }

    async fn of(num_others: usize) -> Self {
        Self::new(num_others, 1, config()).await
    }

    /// A key with a fixed name, so that the answers of different clusters can be compared.
    async fn key(&self, repositories: Option<&[&str]>, may_index: bool) -> String {
        let repositories = repositories.map(|names| names.iter().map(ToString::to_string).collect());
        let request = KeyRequest {
            tenant: Tenant::new(TENANT),
            repositories,
            may_index,
            label: "test".to_owned(),
            expires_at_ms: None,
        };
        let mut key = issue(request, INDEXED_AT_MS);
        key.record.id = format!("cairn_{may_index}");
        self.keys.create(key.record).await.expect("created");
        key.text
    }

    async fn send(&self, replica: usize, request: Request<Body>) -> Reply {
        let router = self.replicas[replica % self.replicas.len()].clone();
        let response = router.oneshot(request).await.expect("an answer");
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, 64 << 20).await.expect("a body");
        let text = String::from_utf8(bytes.to_vec()).expect("UTF-8");
        Reply { status: parts.status, headers: parts.headers, text }
    }

    async fn post(&self, key: &str, path: &str, body: &Value) -> Reply {
        self.send(0, request(Method::POST, path, Some(key), body.to_string())).await
    }

    async fn tool(&self, key: &str, tool: &str, arguments: &Value) -> Reply {
        self.send(0, tool_call(key, tool, arguments)).await
    }
}

fn request(method: Method, path: &str, key: Option<&str>, body: String) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path).header("host", HOST).header("x-request-id", "t1");
    if let Some(key) = key {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    request.header("content-type", "application/json").body(Body::from(body)).expect("a request")
}

fn rpc(key: &str, version: &str, method: &str, params: &Value) -> Request<Body> {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let mut request = request(Method::POST, "/mcp", Some(key), body.to_string());
    let headers = request.headers_mut();
    headers.insert("accept", "application/json, text/event-stream".parse().expect("a header"));
    headers.insert("mcp-protocol-version", version.parse().expect("a header"));
    request
}

fn tool_call(key: &str, tool: &str, arguments: &Value) -> Request<Body> {
    rpc(key, "2025-11-25", "tools/call", &json!({"name": tool, "arguments": arguments}))
}

/// Valid and invalid questions for every route.
fn questions() -> Vec<(&'static str, Value)> {
    let mut questions = vec![
        ("/v1/repositories", json!({})),
        ("/v1/status", json!({})),
        ("/v1/stats", json!({})),
        ("/v1/fingerprint", json!({})),
        ("/v1/fingerprint", json!({"repositories": ["app"]})),
        ("/v1/grep", json!({"query": "date"})),
        ("/v1/grep", json!({"query": "fn (\\w+)", "mode": "regex", "limit": 2})),
        ("/v1/patterns", json!({})),
        ("/v1/patterns", json!({"name": "x"})),
        ("/v1/modules", json!({"repository": "app"})),
        ("/v1/modules", json!({"repository": "app", "depth": 21})),
        ("/v1/runs", json!({})),
        ("/v1/runs", json!({"repository": "host/team/app"})),
        ("/v1/runs", json!({"run_id": "r000000000000"})),
        ("/v1/runs/cancel", json!({})),
        ("/v1/runs/cancel", json!({"run_id": "r000000000000"})),
        ("/v1/graph/sample", json!({"class": "exact"})),
        ("/v1/graph/sample", json!({"class": "heuristic", "kinds": ["calls"], "count": 3})),
        ("/v1/secrets", json!({})),
        ("/v1/guide", json!({})),
        ("/v1/guide", json!({"topic": "recovering"})),
        ("/v1/guide", json!({"topic": "nonsense"})),
        ("/v1/search", json!({})),
        ("/v1/search", json!({"query": "x", "limit": 0})),
    ];
    for name in ["host/team/app", "app", "host/team/*", "host/team/only-theirs", "only-theirs", "nothing", "host/*"] {
        questions.push(("/v1/coverage", json!({"repository": name})));
        questions.push(("/v1/coverage", json!({"repository": name, "why": "logo.png"})));
        questions.push(("/v1/secrets", json!({"repository": name})));
        questions.push(("/v1/index", json!({"target": name})));
        questions.push(("/v1/index/progress", json!({"repository": name, "request": 1})));
        questions.push(("/v1/read", json!({"repository": name, "path": "src/date.rs"})));
        questions.push(("/v1/read", json!({"repository": name, "symbol": "scam"})));
        for query in ["parse date", "Server.handle", "only-theirs", "zebra quilt"] {
            questions.push(("/v1/search", json!({"query": query, "repositories": [name], "explain": true})));
            questions.push(("/v1/search", json!({"query": query, "repositories": [name], "languages": ["cobol"]})));
        }
        for relation in ["callers", "callees", "dependents"] {
            questions.push(("/v1/graph", json!({"name": "parse_date", "relation": relation, "repositories": [name]})));
        }
    }
    for limit in 1..8 {
        questions.push(("/v1/search", json!({"query": "date server", "limit": limit})));
    }
    questions
}

/// Valid and invalid calls of every tool.
fn calls() -> Vec<(&'static str, Value)> {
    let mut calls = vec![
        ("list_repositories", json!({})),
        ("index_status", json!({})),
        ("index_status", json!({"run_id": "r000000000000"})),
        ("workflow_guide", json!({})),
        ("search_code", json!({"query": "date", "limit": 2})),
        ("read_code", json!({"symbol": "Server.handle"})),
    ];
    for name in ["host/team/app", "only-theirs", "nothing", "other/r7"] {
        calls.push(("list_repositories", json!({"name": name})));
        calls.push(("index_status", json!({"repository": name})));
        calls.push(("index_status", json!({"repository": name, "path": "logo.png"})));
        calls.push(("index_repository", json!({"target": name})));
        calls.push(("search_code", json!({"query": "parse date", "repository": name})));
        calls.push(("search_code", json!({"query": "parse date", "language": "cobol", "repository": name})));
        calls.push(("read_code", json!({"path": "src/date.rs", "repository": name})));
        calls.push(("analyze_relationship", json!({"name": "scan", "relation": "callers", "repository": name})));
    }
    calls
}

/// Splits an answer into its text without cursors and the list of its cursors.
fn without_cursors(text: &str) -> (String, Vec<String>) {
    let is_digit = |c: char| c.is_ascii_hexdigit();
    let (mut rest, mut out, mut cursors) = (text, String::new(), Vec::new());
    while let Some(start) = rest.find(is_digit) {
        let length = rest[start..].find(|c| !is_digit(c)).unwrap_or(rest.len() - start);
        let word = &rest[start..start + length];
        out.push_str(&rest[..start]);
        // A word of more than 64 digits is a cursor, because every digest in an answer is shorter.
        if length > 64 {
            cursors.push(word.to_owned());
            out.push_str(&"#".repeat(length));
        } else {
            out.push_str(word);
        }
        rest = &rest[start + length..];
    }
    (out + rest, cursors)
}

#[tokio::test]
async fn other_tenants_change_no_byte_of_an_answer() {
    let mut reported: Vec<Vec<(String, Reply, String)>> = Vec::new();
    for num_others in [0, 10, 300] {
        let cluster = Cluster::of(num_others).await;
        let mut replies = Vec::new();
        let keys = [cluster.key(None, true).await, cluster.key(Some(&["host/team/app"]), false).await];
        for key in &keys {
            for (path, body) in questions() {
                let mut reply = cluster.post(key, path, &body).await;
                let (text, cursors) = without_cursors(&reply.text);
                let mut rest = String::new();
                if let (Some(cursor), "/v1/search") = (cursors.first(), path) {
                    let mut next = body.clone();
                    next["cursor"] = json!(cursor);
                    let page = cluster.post(key, path, &next).await;
                    assert_eq!(page.status, StatusCode::OK, "{}", page.text);
                    rest = without_cursors(&page.text).0;
                }
                reply.text = text;
                replies.push((format!("{path} {body}"), reply, rest));
            }
            for (tool, arguments) in calls() {
                let mut reply = cluster.tool(key, tool, &arguments).await;
                assert_eq!(reply.status, StatusCode::OK, "{tool} {arguments}: {}", reply.text);
                reply.text = without_cursors(&reply.text).0;
                replies.push((format!("{tool} {arguments}"), reply, String::new()));
            }
        }
        reported.push(replies);
    }
    assert!(reported[0].len() >= 100, "only {} questions", reported[0].len());
    assert!(reported[0].iter().filter(|(_, _, rest)| !rest.is_empty()).count() >= 5, "pages follow");
    for more in &reported[1..] {
        for (alone, beside) in reported[0].iter().zip(more) {
            assert_eq!(alone, beside);
        }
    }
}

#[tokio::test]
async fn forbidden_repository_is_answered_as_unknown() {
    let cluster = Cluster::of(3).await;
    let key = cluster.key(Some(&["host/team/app"]), true).await;
    let names = [("host/team/secret", "host/team/absent"), ("secret", "absent"), ("host/team/s*", "host/team/a?s*")];
    let mut num_compared = 0;
    for (forbidden, unknown) in names {
        let bodies = |name: &str| {
            vec![
                ("/v1/search", json!({"query": "parse date", "repositories": [name]})),
                ("/v1/read", json!({"repository": name, "path": "src/date.rs"})),
                ("/v1/graph", json!({"name": "scan", "relation": "callers", "repositories": [name]})),
                ("/v1/graph/sample", json!({"class": "exact", "repositories": [name]})),
                ("/v1/patterns", json!({"repositories": [name]})),
                ("/v1/modules", json!({"repository": name})),
                ("/v1/coverage", json!({"repository": name})),
                ("/v1/coverage", json!({"repository": name, "why": "logo.png"})),
                ("/v1/secrets", json!({"repository": name})),
                ("/v1/fingerprint", json!({"repositories": [name]})),
                ("/v1/runs", json!({"repository": name})),
                ("/v1/runs/cancel", json!({"repository": name})),
                ("/v1/index", json!({"target": name})),
                ("/v1/index/progress", json!({"repository": name, "request": 1})),
            ]
        };
        for ((path, first), (_, second)) in bodies(forbidden).into_iter().zip(bodies(unknown)) {
            let (mut first, second) = (cluster.post(&key, path, &first).await, cluster.post(&key, path, &second).await);
            assert_eq!(first.status, StatusCode::NOT_FOUND, "{path}: {}", first.text);
            // The forbidden name is replaced only between quotation marks, because one of the names,
            // `secret`, is also a part of the route `/v1/secrets`.
            for quote in ["`", "\""] {
                first.text =
                    first.text.replace(&format!("{quote}{forbidden}{quote}"), &format!("{quote}{unknown}{quote}"));
            }
            first.headers.remove("content-length");
            let mut second = second;
            second.headers.remove("content-length");
            assert_eq!(first, second, "{path}");
            num_compared += 1;
        }
    }
    assert_eq!(num_compared, 42);
    let all = cluster.post(&key, "/v1/repositories", &json!({})).await;
    assert!(!all.text.contains("team/secret") && all.text.contains("host/team/app"), "{}", all.text);
    let wide = cluster.post(&key, "/v1/search", &json!({"query": "date", "repositories": ["all"], "limit": 50})).await;
    assert!(!wide.text.contains("team/secret"), "{}", wide.text);
}

#[tokio::test]
async fn altered_cursors_are_refused() {
    let cluster = Cluster::of(2).await;
    let key = cluster.key(None, false).await;
    let body = json!({"query": "date server", "limit": 1});
    let first = cluster.post(&key, "/v1/search", &body).await.json();
    let cursor = first["next_cursor"].as_str().expect("a cursor").to_owned();
    let with = |cursor: &str| {
        let mut body = body.clone();
        body["cursor"] = json!(cursor);
        body
    };
    assert_eq!(cluster.post(&key, "/v1/search", &with(&cursor)).await.status, StatusCode::OK);
    let mut random: u64 = 0x9E37_79B9_7F4A_7C15;
    for _ in 0..10_000 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let mut altered = cursor.clone().into_bytes();
        let at = (random >> 8) as usize % altered.len();
        match random % 4 {
            0 => altered.truncate(at),
            1 => altered.insert(at, b"0123456789abcdefABCDEF+-"[(random >> 32) as usize % 24]),
            _ => altered[at] = altered[at].wrapping_add(1 + (random >> 40) as u8 % 63) & 0x7f,
        }
        let altered = String::from_utf8_lossy(&altered).into_owned();
        if altered == cursor {
            continue;
        }
        let reply = cluster.post(&key, "/v1/search", &with(&altered)).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{altered}: {}", reply.text);
    }
    let other = cluster.key(None, true).await;
    let foreign = cluster.post(&other, "/v1/search", &with(&cursor)).await;
    assert_eq!((foreign.status, foreign.json()["code"].clone()), (StatusCode::BAD_REQUEST, json!("invalid_cursor")));
    cluster.clock.advance(Duration::from_secs(601));
    let late = cluster.post(&key, "/v1/search", &with(&cursor)).await;
    assert!(late.text.contains("expired"), "{}", late.text);
}

#[tokio::test]
async fn replicas_return_equal_answers_and_share_cursors() {
    let cluster = Cluster::new(4, 3, config()).await;
    let key = cluster.key(None, true).await;
    for (path, body) in questions() {
        let mut replies = Vec::new();
        for replica in 0..3 {
            replies.push(cluster.send(replica, request(Method::POST, path, Some(&key), body.to_string())).await);
        }
        assert!(replies.windows(2).all(|pair| pair[0] == pair[1]), "{path} {body}");
    }
    let (mut body, mut seen, mut replica) = (json!({"query": "date server", "limit": 1}), BTreeSet::new(), 0);
    loop {
        let page =
            cluster.send(replica, request(Method::POST, "/v1/search", Some(&key), body.to_string())).await.json();
        for result in page["results"].as_array().expect("results") {
            assert!(seen.insert(result.to_string()), "twice: {result}");
        }
        if page["next_cursor"].is_null() {
            assert_eq!(json!(seen.len()), page["num_results"]);
            break;
        }
        body["cursor"] = page["next_cursor"].clone();
        replica += 1;
    }
    assert!(replica >= 3, "{replica} pages");
}

#[tokio::test]
async fn invalid_requests_are_refused() {
    let cluster = Cluster::of(0).await;
    let key = cluster.key(None, false).await;
    let status = json!({}).to_string();
    let good = || request(Method::POST, "/v1/status", Some(&key), status.clone());
    assert_eq!(cluster.send(0, good()).await.status, StatusCode::OK);
    let with = |name: &'static str, value: &str| {
        let mut request = good();
        request.headers_mut().insert(name, value.parse().expect("a header"));
        request
    };
    let bare = |method, path| request(method, path, Some(&key), String::new());
    let large = |path, size| request(Method::POST, path, Some(&key), "x".repeat(size));
    let cases = [
        (with("origin", "https://evil.test"), StatusCode::FORBIDDEN, "forbidden"),
        (with("origin", "null"), StatusCode::FORBIDDEN, "forbidden"),
        (with("host", "evil.test"), StatusCode::FORBIDDEN, "forbidden"),
        (with("authorization", "Bearer nonsense"), StatusCode::UNAUTHORIZED, "unauthenticated"),
        (request(Method::POST, "/v1/status", None, status.clone()), StatusCode::UNAUTHORIZED, "unauthenticated"),
        (request(Method::POST, "/mcp", None, status.clone()), StatusCode::UNAUTHORIZED, "unauthenticated"),
        (request(Method::GET, "/v1/nowhere", None, String::new()), StatusCode::UNAUTHORIZED, "unauthenticated"),
        (bare(Method::GET, "/v1/nowhere"), StatusCode::NOT_FOUND, "not_found"),
        (bare(Method::GET, "/v1/search"), StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
        (bare(Method::GET, "/v1/runs/cancel"), StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
        (bare(Method::DELETE, "/v1/status"), StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
        (bare(Method::POST, OPENAPI), StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
        (large("/v1/search", (1 << 20) + 1), StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
        (large("/mcp", (4 << 20) + 1), StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
        (with("x-large", &"x".repeat(20_000)), StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "too_large"),
        (large("/v1/search", 10), StatusCode::BAD_REQUEST, "validation_error"),
    ];
    for (request, status, code) in cases {
        let what = format!("{} {} {:?}", request.method(), request.uri(), request.headers());
        let reply = cluster.send(0, request).await;
        assert_eq!((reply.status, &reply.json()["code"]), (status, &json!(code)), "{what}");
        assert_eq!(reply.headers["x-request-id"], "t1", "{what}");
    }
    assert_eq!(cluster.send(0, with("origin", "https://cairn.test")).await.status, StatusCode::OK);
    let cancel = cluster.post(&key, "/v1/index", &json!({"target": "app"})).await;
    assert_eq!((cancel.status, cancel.json()["code"].clone()), (StatusCode::FORBIDDEN, json!("forbidden")));
}

#[tokio::test]
async fn only_allowed_origins_may_call() {
    let cluster = Cluster::of(0).await;
    let key = cluster.key(None, false).await;
    let of_origin = |mut request: Request<Body>, origin: &'static str| {
        request.headers_mut().insert("origin", HeaderValue::from_static(origin));
        request
    };
    let mut preflight = of_origin(request(Method::OPTIONS, "/v1/search", None, String::new()), "https://cairn.test");
    preflight.headers_mut().insert("access-control-request-method", HeaderValue::from_static("POST"));
    let reply = cluster.send(0, preflight).await;
    assert_eq!((reply.status, reply.text.as_str()), (StatusCode::NO_CONTENT, ""));
    assert_eq!(reply.headers["access-control-allow-origin"], "https://cairn.test");
    let stats = of_origin(request(Method::GET, "/v1/stats", Some(&key), String::new()), "https://cairn.test");
    let reply = cluster.send(0, stats).await;
    assert_eq!(
        (reply.status, &reply.headers["access-control-allow-origin"]),
        (StatusCode::OK, &HeaderValue::from_static("https://cairn.test"))
    );
    let stranger = of_origin(request(Method::GET, "/v1/stats", Some(&key), String::new()), "https://evil.test");
    let reply = cluster.send(0, stranger).await;
    assert!(reply.status == StatusCode::FORBIDDEN && !reply.headers.contains_key("access-control-allow-origin"));

    let reply = cluster.send(0, request(Method::GET, "/v1/stats", None, String::new())).await;
    assert_eq!(
        (reply.status, &reply.headers["www-authenticate"]),
        (StatusCode::UNAUTHORIZED, &HeaderValue::from_static("Bearer"))
    );
    let reply = cluster.send(0, request(Method::DELETE, "/mcp", Some(&key), String::new())).await;
    assert_eq!((reply.status, reply.headers.contains_key("allow")), (StatusCode::METHOD_NOT_ALLOWED, true));
    let mut two_hosts = request(Method::GET, "/v1/stats", Some(&key), String::new());
    two_hosts.headers_mut().append("host", HeaderValue::from_static("evil.test"));
    assert_eq!(cluster.send(0, two_hosts).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn slow_body_times_out() {
    let cluster = Cluster::new(0, 1, GatewayConfig { request_timeout_ms: 1_000, ..config() }).await;
    let key = cluster.key(None, false).await;
    for path in ["/v1/search", "/mcp"] {
        let mut request = request(Method::POST, path, Some(&key), String::new());
        *request.body_mut() = Body::from_stream(futures::stream::pending::<Result<Vec<u8>, std::io::Error>>());
        assert_eq!(cluster.send(0, request).await.status, StatusCode::REQUEST_TIMEOUT, "{path}");
    }
}

#[tokio::test]
async fn oversized_questions_are_refused() {
    let cluster = Cluster::of(0).await;
    let key = cluster.key(None, false).await;
    let deep = format!("{}{}", "{".repeat(200_000), "}".repeat(200_000));
    let many: Vec<String> = (0..100_000).map(|number| format!("*{number}")).collect();
    for (path, body) in [
        ("/v1/search", json!({ "query": "date", "paths": [deep] })),
        ("/v1/search", json!({ "query": "date", "repositories": [deep] })),
        ("/v1/search", json!({ "query": "date", "repositories": many })),
        ("/v1/search", json!({ "query": "date", "tags": many })),
        ("/v1/read", json!({ "path": format!("*{deep}") })),
        ("/v1/graph", json!({ "name": deep, "relation": "callers" })),
    ] {
        let reply = cluster.post(&key, path, &body).await;
        assert_eq!(
            (reply.status, &reply.json()["code"]),
            (StatusCode::BAD_REQUEST, &json!("validation_error")),
            "{path}"
        );
        assert!(reply.text.len() < 1_000, "the error of {path} repeats the text of the request");
    }
}

/// A question may be the text of an issue with a log. Only its beginning is used, and the answer does not
/// repeat it.
#[tokio::test]
async fn long_question_is_cut() {
    let cluster = Cluster::of(1).await;
    let key = cluster.key(None, false).await;
    let words: String = (0..60_000).map(|number| format!("w_{number} ")).collect();
    let reply = cluster.post(&key, "/v1/search", &json!({ "query": words })).await;
    assert_eq!(
        (reply.status, reply.json()["query"]["cut"]["original_bytes"].as_u64()),
        (StatusCode::OK, Some(words.trim().len() as u64))
    );
    assert!(reply.text.len() < words.len() / 10, "{} bytes", reply.text.len());
    let narrow = json!({ "query": words, "languages": ["cobol"], "paths": ["x/**"] });
    let reply = cluster.post(&key, "/v1/search", &narrow).await;
    assert_eq!((reply.status, reply.json()["num_results"].as_u64()), (StatusCode::OK, Some(0)));
    assert!(reply.text.len() < words.len() / 10, "{} bytes", reply.text.len());
}

#[tokio::test]
async fn revoked_key_is_refused_within_seconds() {
    let cluster = Cluster::of(0).await;
    let key = cluster.key(None, false).await;
    assert_eq!(cluster.post(&key, "/v1/status", &json!({})).await.status, StatusCode::OK);
    cluster.keys.revoke("cairn_false", INDEXED_AT_MS).await.expect("revoked");
    cluster.clock.advance(Duration::from_secs(4));
    assert_eq!(cluster.post(&key, "/v1/status", &json!({})).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn rate_limit_returns_retry_after() {
    let limits = LimitsConfig { requests_per_minute: 30, burst: 2, concurrency: 10 };
    let cluster = Cluster::new(0, 1, GatewayConfig { limits, ..config() }).await;
    let key = cluster.key(None, false).await;
    for _ in 0..2 {
        assert_eq!(cluster.post(&key, "/v1/status", &json!({})).await.status, StatusCode::OK);
    }
    let refused = cluster.post(&key, "/v1/status", &json!({})).await;
    assert_eq!(
        (refused.status, refused.json()["code"].clone()),
        (StatusCode::TOO_MANY_REQUESTS, json!("rate_limited"))
    );
    assert_eq!(refused.headers["retry-after"], "2");
    cluster.clock.advance(Duration::from_secs(2));
    assert_eq!(cluster.post(&key, "/v1/status", &json!({})).await.status, StatusCode::OK);
}

#[tokio::test]
async fn admission_is_held_until_the_answer_is_sent() {
    let limits = LimitsConfig { concurrency: 1, ..config().limits };
    let cluster = Cluster::new(0, 1, GatewayConfig { limits, ..config() }).await;
    let key = cluster.key(None, false).await;
    let refused = json!("rate_limited");
    for (path, body) in [
        ("/v1/status", json!({})),
        ("/mcp", json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})),
        ("/v1/search", json!({"query": ""})),
    ] {
        let unread = async || {
            let mut request = request(Method::POST, path, Some(&key), body.to_string());
            request.headers_mut().insert("accept", HeaderValue::from_static("application/json, text/event-stream"));
            let response = cluster.replicas[0].clone().oneshot(request).await.expect("an answer");
            assert_ne!(response.status(), StatusCode::TOO_MANY_REQUESTS, "{path}");
            response
        };
        let response = unread().await;
        assert_eq!(cluster.post(&key, path, &body).await.json()["code"], refused, "{path}");
        let length = response.headers()["content-length"].clone();
        let read = to_bytes(response.into_body(), 1 << 20).await.expect("a body");
        assert_eq!(length, read.len().to_string(), "{path}");
        let response = unread().await;
        assert_eq!(cluster.post(&key, path, &body).await.json()["code"], refused, "{path}");
        drop(response);
        drop(unread().await);
    }
}

#[tokio::test]
async fn query_string_equals_the_body_or_is_refused() {
    let cluster = Cluster::of(0).await;
    let key = cluster.key(None, true).await;
    let get = async |uri: &str| cluster.send(0, request(Method::GET, uri, Some(&key), String::new())).await;
    for (uri, path, body) in [
        (
            "/v1/runs?repository=host%2Fteam%2Fapp&limit=1",
            "/v1/runs",
            json!({"repository": "host/team/app", "limit": 1}),
        ),
        ("/v1/coverage?repository=app&summary=true", "/v1/coverage", json!({"repository": "app", "summary": true})),
        (
            "/v1/fingerprint?repositories=app&repositories=secret",
            "/v1/fingerprint",
            json!({"repositories": ["app", "secret"]}),
        ),
        ("/v1/patterns?name=", "/v1/patterns", json!({"name": ""})),
        ("/v1/stats?", "/v1/stats", json!({})),
    ] {
        let (by_get, by_post) = (get(uri).await, cluster.post(&key, path, &body).await);
        assert_eq!((by_get.status, &by_get.text), (StatusCode::OK, &by_post.text), "{uri}");
    }
    let one = get("/v1/runs?repository=host%2Fteam%2Fapp&limit=1").await.json();
    assert_eq!(one["runs"].as_array().map(Vec::len), Some(1), "{one}");
    for (uri, reported) in [
        ("/v1/runs?limit=many", "`limit` must be a number"),
        ("/v1/runs?limit=-1", "`limit` must be a number"),
        ("/v1/runs?limit=501", "between 1 and 500"),
        ("/v1/runs?limit=1&limit=2", "`limit` occurs twice"),
        ("/v1/runs?repo=app", "repository, run_id"),
        ("/v1/coverage?summary=yes", "`true` or `false`"),
        ("/v1/stats?x=1", "are: none"),
    ] {
        let reply = get(uri).await;
        assert_eq!(
            (reply.status, &reply.json()["code"]),
            (StatusCode::BAD_REQUEST, &json!("validation_error")),
            "{uri}"
        );
        assert!(reply.text.contains(reported), "{uri}: {}", reply.text);
    }
    for method in [Method::GET, Method::POST] {
        let both = request(method, "/v1/runs?limit=1", Some(&key), json!({}).to_string());
        let reply = cluster.send(0, both).await;
        assert!(reply.status == StatusCode::BAD_REQUEST && reply.text.contains("JSON by POST"), "{}", reply.text);
    }
}

#[tokio::test]
async fn guide_route_equals_the_tool() {
    let cluster = Cluster::of(0).await;
    let key = cluster.key(None, false).await;
    for arguments in [json!({}), json!({"topic": "recovering"})] {
        let (route, tool) =
            (cluster.post(&key, "/v1/guide", &arguments).await, cluster.tool(&key, "workflow_guide", &arguments).await);
        assert_eq!(route.json(), tool.json()["result"]["structuredContent"], "{arguments}");
        assert!(route.json()["text"].as_str().is_some_and(|text| !text.is_empty()), "{}", route.text);
    }
    let unknown = cluster.post(&key, "/v1/guide", &json!({"topic": "nonsense"})).await;
    assert!(unknown.status == StatusCode::BAD_REQUEST && unknown.text.contains("finding_files"), "{}", unknown.text);
}

#[tokio::test]
async fn empty_tenant_gets_a_hint_for_its_permissions() {
    let cluster = Cluster::of(0).await;
    for may_index in [true, false] {
        let key = cluster.key(Some(&["nothing/*"]), may_index).await;
        for (tool, arguments) in [
            ("list_repositories", json!({})),
            ("index_status", json!({})),
            ("search_code", json!({"query": "date", "repository": "app"})),
        ] {
            let reported = cluster.tool(&key, tool, &arguments).await;
            assert!(
                !reported.text.contains("index_repository {") && !reported.text.contains("\"tool\":\"index_repository"),
                "{}",
                reported.text
            );
            assert!(reported.text.contains("nothing is indexed yet: "), "{tool}: {}", reported.text);
            assert_eq!(reported.text.contains("may not index"), !may_index, "{tool}: {}", reported.text);
        }
        let route = cluster.post(&key, "/v1/search", &json!({"query": "date", "repositories": ["app"]})).await;
        let hint = route.json()["details"]["next_action_hint"].as_str().unwrap_or_default().to_owned();
        assert!(hint.starts_with("nothing is indexed yet: ") && hint.contains("may not index") != may_index, "{hint}");
    }
}

#[tokio::test]
async fn changed_files_without_working_tree_get_a_note() {
    let cluster = Cluster::of(0).await;
    let key = cluster.key(None, true).await;
    for (arguments, is_said) in
        [(json!({"target": "app"}), false), (json!({"target": "app", "changed_files": ["src/date.rs"]}), true)]
    {
        let reported = cluster.tool(&key, "index_repository", &arguments).await;
        assert_eq!(reported.text.contains("push the edits"), is_said, "{arguments}: {}", reported.text);
    }
}

#[tokio::test]
async fn pages_of_a_long_list_together_form_the_whole_list() {
    let cluster = Cluster::of(0).await;
    let key = cluster.key(None, false).await;
    for (path, list, question) in [
        ("/v1/repositories", "repositories", json!({})),
        ("/v1/coverage", "entries", json!({"repository": "app"})),
        ("/v1/secrets", "findings", json!({"repository": "app"})),
        ("/v1/patterns", "patterns", json!({})),
    ] {
        let whole = cluster.post(&key, path, &question).await.json();
        assert!(whole["next_offset"].is_null() && whole["num_total"] == whole[list].as_array().map_or(0, Vec::len));
        let (mut parts, mut part) = (Vec::new(), question.clone());
        part["limit"] = json!(1);
        loop {
            let answer = cluster.post(&key, path, &part).await.json();
            let entries = answer[list].as_array().expect("a list").clone();
            assert!(entries.len() <= 1 && answer["num_total"] == whole["num_total"], "{path}: {answer}");
            parts.extend(entries);
            if answer["next_offset"].is_null() {
                break;
            }
            part["offset"] = answer["next_offset"].clone();
        }
        assert_eq!(json!(parts), whole[list], "{path}");
        part["limit"] = json!(10_001);
        assert_eq!(cluster.post(&key, path, &part).await.status, StatusCode::BAD_REQUEST, "{path}");
        part = question;
        part["offset"] = json!(1_000_000);
        assert_eq!(cluster.post(&key, path, &part).await.json()[list], json!([]), "{path}");
    }
}

#[tokio::test]
async fn openapi_lists_all_routes_and_methods() {
    let cluster = Cluster::of(0).await;
    let key = cluster.key(None, true).await;
    let document = cluster.send(0, request(Method::GET, OPENAPI, None, String::new())).await.json();
    let paths = document["paths"].as_object().expect("paths");
    assert_eq!(paths.keys().map(String::as_str).collect::<BTreeSet<_>>(), Question::PATHS.iter().copied().collect());
    for (path, methods) in paths {
        for method in [Method::GET, Method::POST, Method::PUT] {
            let is_named = methods.get(method.as_str().to_lowercase()).is_some();
            let reply = cluster.send(0, request(method.clone(), path, Some(&key), String::new())).await;
            let is_taken = reply.status != StatusCode::METHOD_NOT_ALLOWED;
            assert_eq!(is_taken, is_named, "{method} {path}: {}", reply.text);
        }
    }
    let text = document.to_string();
    let references = text.split("\"$ref\":\"#/components/schemas/").skip(1).filter_map(|rest| rest.split('"').next());
    let missing: Vec<&str> = references.filter(|name| document["components"]["schemas"][name].is_null()).collect();
    assert_eq!(missing, Vec::<&str>::new());
    assert!(!text.contains("$defs"));
}

#[tokio::test]
async fn mcp_works_without_sessions_in_both_versions() {
    let cluster = Cluster::new(0, 3, config()).await;
    let key = cluster.key(None, false).await;
    let hello =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let reply = cluster.send(0, rpc(&key, "2025-11-25", "initialize", &hello)).await;
    assert_eq!(reply.json()["result"]["serverInfo"]["name"], json!("cairn"), "{}", reply.text);
    assert!(reply.headers.get("mcp-session-id").is_none());
    let listed = cluster.send(1, rpc(&key, "2025-11-25", "tools/list", &json!({}))).await;
    assert_eq!(listed.json()["result"]["tools"].as_array().map(Vec::len), Some(7), "{}", listed.text);
    let bad = cluster.send(2, rpc(&key, "2025-11-25", "tools/list", &json!({"cursor": "x"}))).await;
    assert_eq!(bad.json()["error"]["code"], json!(-32602), "{}", bad.text);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": "search_code", "arguments": {"query": "date"}, "_meta": meta});
    let mut newest = rpc(&key, "2026-07-28", "tools/call", &params);
    newest.headers_mut().insert("mcp-method", "tools/call".parse().expect("a header"));
    newest.headers_mut().insert("mcp-name", "search_code".parse().expect("a header"));
    let found = cluster.send(2, newest).await;
    assert!(found.json()["result"]["structuredContent"]["results"].is_array(), "{}", found.text);
}

/// Questions that succeed and that are not in the other lists of this file.
fn further_questions(run_id: &Value) -> Vec<(&'static str, Value)> {
    vec![
        ("/v1/runs", json!({"run_id": run_id})),
        ("/v1/coverage", json!({"repository": "app", "summary": true})),
        ("/v1/coverage", json!({"repository": "app", "outcome": "skipped"})),
        ("/v1/read", json!({"path": "src/date.rs", "repository": "app", "start_line": 2})),
        ("/v1/graph", json!({"name": "parse_dates", "relation": "callers"})),
        ("/v1/search", json!({"query": "date", "max_tokens": 300})),
        ("/v1/grep", json!({"query": "parse_\\w+", "mode": "regex", "before": 1, "limit": 1})),
        ("/v1/grep", json!({"query": "a(", "mode": "regex"})),
        ("/v1/search", json!({"query": "", "repositories": ["app"]})),
    ]
}

#[tokio::test]
async fn every_answer_fits_its_openapi_schema() {
    let cluster = Cluster::of(0).await;
    let key = cluster.key(None, true).await;
    let document = cluster.send(0, request(Method::GET, OPENAPI, None, String::new())).await.json();
    let runs = cluster.post(&key, "/v1/runs", &json!({})).await.json();
    let mut answered = BTreeSet::new();
    for (path, question) in questions().into_iter().chain(further_questions(&runs["runs"][0]["run_id"])) {
        let reply = cluster.post(&key, path, &question).await;
        let status = reply.status.as_u16().to_string();
        let schema = &document["paths"][path]["post"]["responses"][&status]["content"]["application/json"]["schema"];
        assert!(schema["$ref"].is_string(), "{path} does not describe {status}: {schema}");
        let faults = faults(&document, schema, &reply.json());
        assert_eq!(faults, Vec::<String>::new(), "{path} {question}: {}", reply.text);
        if reply.status == StatusCode::OK {
            answered.insert(path);
        }
    }
    assert_eq!(answered, Question::PATHS.iter().copied().collect());
}

#[tokio::test]
async fn filters_have_the_same_meaning_over_http_and_mcp() {
    let cluster = Cluster::of(0).await;
    let key = cluster.key(None, false).await;
    let paths_of = |results: &Value| -> Vec<String> {
        let results = results["results"].as_array().expect("results").iter();
        results.map(|result| result["path"].as_str().expect("a path").to_owned()).collect()
    };
    for path in ["src", "./src/", "src/date.rs", "*.rs", "src/*.rs", "*.md", "README.md"] {
        let question = json!({"query": "date server", "repositories": ["app"], "paths": [path], "limit": 8});
        let route = paths_of(&cluster.post(&key, "/v1/search", &question).await.json());
        let call = json!({"query": "date server", "repository": ["app"], "path": [path], "limit": 8});
        let tool = cluster.tool(&key, "search_code", &call).await.json();
        assert_eq!(route, paths_of(&tool["result"]["structuredContent"]), "{path}");
        let expect = if path.ends_with(".md") { "README.md" } else { "src/" };
        assert!(!route.is_empty() && route.iter().all(|found| found.starts_with(expect)), "{path}: {route:?}");
    }
    for since in ["7d", "2020-01-31", "last week"] {
        let question = json!({"query": "date", "repositories": ["app"], "since": since});
        let route = cluster.post(&key, "/v1/search", &question).await;
        let call = json!({"query": "date", "repository": ["app"], "since": since});
        let tool = cluster.tool(&key, "search_code", &call).await.json();
        let is_refused = tool["result"]["isError"] == json!(true);
        assert_eq!(route.status == StatusCode::BAD_REQUEST, is_refused, "{since}: {tool}");
        assert_eq!(is_refused, since == "last week");
        if is_refused {
            assert_eq!(route.json()["message"], tool["result"]["structuredContent"]["message"]);
        }
    }
}

/// A model that did not make the vectors of the index. It must not be called.
struct OtherModel(ModelId);

#[async_trait]
impl Embedder for OtherModel {
    fn model(&self) -> &ModelId {
        &self.0
    }

    async fn embed(&self, _: InputType, _: &[&str]) -> Result<Vec<DenseVector>, EmbedderError> {
        Err(EmbedderError::new(ErrorKind::Unavailable, "embed", "the model must not be called"))
    }
}

/// The error names the two models and, if the caller may index, suggests a call of `index_repository`. A
/// search for a symbol name needs no vectors, so it still works.
#[tokio::test]
async fn vectors_of_another_model_are_reported() {
    let cluster = Cluster::with_model(0, 1, config(), Some("other-1")).await;
    let question = json!({"query": "where is the date parsed", "repositories": ["app"]});
    let call = json!({"query": "where is the date parsed", "repository": ["app"]});
    for may_index in [true, false] {
        let key = cluster.key(None, may_index).await;
        let route = cluster.post(&key, "/v1/search", &question).await;
        assert_eq!(route.status, StatusCode::CONFLICT, "{}", route.text);
        let route = route.json();
        let tool = cluster.tool(&key, "search_code", &call).await.json()["result"].clone();
        assert_eq!(tool["isError"], json!(true));
        for report in [&route, &tool["structuredContent"]] {
            assert_eq!(report["code"], json!("model_mismatch"), "{report}");
            let message = report["message"].as_str().expect("a message");
            assert!(message.contains("`host/team/app`") && message.contains("`fake-1`"), "{message}");
            let suggestions = report["details"]["tool_suggestions"].as_array().expect("suggestions");
            let tools: Vec<&str> = suggestions.iter().filter_map(|call| call["tool"].as_str()).collect();
            assert_eq!(tools.contains(&"index_repository"), may_index, "{report}");
            assert!(!tools.is_empty() && tools.len() <= 2, "{report}");
        }
        let names = json!({"query": "parse_date", "repositories": ["app"], "target_type": "symbol"});
        let found = cluster.post(&key, "/v1/search", &names).await.json();
        assert_eq!(found["results"][0]["symbol"], json!("parse_date"), "{found}");
    }
}

/// Every answer states how the question was parsed. The text of a tool contains the type and the reason. To
/// save tokens, the text contains the other facts about the question only if the call asks for an
/// explanation.
#[tokio::test]
async fn answers_state_how_the_question_was_read() {
    let cluster = Cluster::of(0).await;
    let key = cluster.key(None, false).await;
    let question = json!({"query": "where is the date parsed", "repositories": ["app"]});
    let route = cluster.post(&key, "/v1/search", &question).await.json();
    let reading = route["reading"].as_array().expect("facts");
    for fact in ["question: where is the date parsed", "type: concept", "intent: find", "keywords: date, parsed"] {
        assert!(reading.contains(&json!(fact)), "{fact}: {reading:?}");
    }
    let query = &route["query"];
    assert_eq!((&query["query_type"], &query["reason"]["code"]), (&json!("concept"), &json!("no_test")));
    assert_eq!((&query["strategy"]["limit"], &query["keywords"]), (&json!(10), &json!(["date", "parsed"])));
    assert!(query["mentions"].is_array() && query["filters"].is_object() && query["expansions"].is_array(), "{query}");
    for explain in [false, true] {
        let call = json!({"query": "where is the date parsed", "repository": ["app"], "explain": explain});
        let result = cluster.tool(&key, "search_code", &call).await.json()["result"].clone();
        assert_eq!(result["structuredContent"]["reading"], route["reading"]);
        assert_eq!(result["structuredContent"]["query"], route["query"]);
        let text = result["content"][0]["text"].as_str().expect("a text");
        assert_eq!(text.contains("intent: find"), explain, "{text}");
        let reason = "No word of the question asks for a pattern, a relation, a flow or a name.";
        let line = if explain { format!("reason: {reason}") } else { format!("concept question: {reason}") };
        assert_eq!(text.lines().filter(|found| **found == line).count(), 1, "{text}");
    }
    let nothing = json!({"query": "where is the flurbish qwonkle of the zorblax computed", "repository": ["app"]});
    let result = cluster.tool(&key, "search_code", &nothing).await.json()["result"].clone();
    assert_eq!(result["structuredContent"]["relevant"], json!(false), "{result}");
    assert_eq!(result["structuredContent"]["query"]["query_type"], json!("concept"));
    let text = result["content"][0]["text"].as_str().expect("a text");
    assert!(text.contains("\nconcept question: "), "{text}");
}

/// The route that accepts the arguments of a tool.
fn route_of(tool: &str, arguments: &Value) -> Option<&'static str> {
    Some(match tool {
        "search_code" if arguments.get("mode").is_some() => "/v1/grep",
        "search_code" => "/v1/search",
        "read_code" => "/v1/read",
        "analyze_relationship" => "/v1/graph",
        "list_repositories" => "/v1/repositories",
        "index_status" if arguments.get("run_id").is_some() => "/v1/runs",
        "index_status" => "/v1/coverage",
        "workflow_guide" => "/v1/guide",
        "search" => "/v1/serch",
        _ => return None,
    })
}

/// Sends the arguments of tool calls as the bodies of HTTP requests. Many names and types in these bodies are
/// wrong. Then sends every suggested request without changes.
#[tokio::test]
async fn every_suggested_request_works() {
    let cluster = Cluster::of(0).await;
    let key = cluster.key(None, true).await;
    let mut num_failed = 0;
    for (tool, arguments) in broken_starts::calls() {
        let Some(path) = route_of(tool, &arguments) else { continue };
        let reply = cluster.post(&key, path, &arguments).await;
        let (body, is_error) = (reply.json(), reply.status != StatusCode::OK);
        let suggestions = if is_error { &body["details"]["tool_suggestions"] } else { &body["tool_suggestions"] };
        let suggestions = suggestions.as_array().cloned().unwrap_or_default();
        num_failed += usize::from(is_error);
        assert!(!is_error || !suggestions.is_empty(), "{path} {arguments}: {}", reply.text);
        assert!(suggestions.len() <= 2, "{path} {arguments}: {}", reply.text);
        for suggestion in suggestions {
            let request = &suggestion["request"];
            assert_eq!(request["method"], "POST", "{suggestion}");
            let target = request["path"].as_str().expect("a path");
            let followed = cluster.post(&key, target, &request["body"]).await;
            assert_eq!(followed.status, StatusCode::OK, "{path} {arguments}: {suggestion}: {}", followed.text);
        }
    }
    assert!(num_failed >= 60, "{num_failed}");
}

#[tokio::test]
async fn error_of_a_misspelled_field_names_the_field() {
    let cluster = Cluster::of(0).await;
    let key = cluster.key(None, true).await;
    let refused = cluster.post(&key, "/v1/search", &json!({"qurey": "date"})).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    let details = &refused.json()["details"];
    assert_eq!(details["field"], "qurey", "{}", refused.text);
    let expect = json!({"method": "POST", "path": "/v1/search", "body": {"query": "date"}});
    assert_eq!(details["tool_suggestions"][0]["request"], expect, "{}", refused.text);
}

/// An error names the field with the wrong value, and suggests a request without this value.
#[tokio::test]
async fn error_of_a_wrong_value_names_the_field() {
    let cluster = Cluster::of(0).await;
    let key = cluster.key(None, true).await;
    let check = async |path: &str, mut question: Value, field: &str, value: Value| {
        let request = json!({ "method": "POST", "path": path, "body": question.clone() });
        question[field] = value;
        let refused = cluster.post(&key, path, &question).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{question}");
        let details = &refused.json()["details"];
        assert_eq!(details["field"], field, "{}", refused.text);
        assert_eq!(details["tool_suggestions"][0]["request"], request, "{}", refused.text);
    };
    let search = || json!({ "query": "date" });
    check("/v1/search", search(), "limit", json!("many")).await;
    check("/v1/search", search(), "limit", json!(-1)).await;
    check("/v1/search", search(), "tests", json!("no")).await;
    check("/v1/search", search(), "since", json!("yesterday")).await;
    check("/v1/search", search(), "target_type", json!("everything")).await;
    check("/v1/search", search(), "kinds", json!(["zzz"])).await;
    check("/v1/search", search(), "query_type", json!("zzz")).await;
    check("/v1/search", search(), "wibble", json!(1)).await;
    check_numbers(&cluster, &key).await;
    let impact = json!({ "target": "scan", "mode": "impact" });
    let refused = cluster.post(&key, "/v1/graph", &impact).await.json();
    assert_eq!(refused["details"]["field"], "mode", "{refused}");
    let negative = cluster.post(&key, "/v1/index", &json!({ "target": "x", "max_file_size": -5 })).await.json();
    let details = &negative["details"];
    assert_eq!((&details["field"], &details["provided"]), (&json!("max_file_size"), &json!(-5)), "{negative}");
    assert_eq!(details["max_allowed"], 10_485_760, "{negative}");
}

/// The error for a number outside of its range contains the limit and the given number. The suggested request
/// has the nearest number that the tool for agents accepts.
async fn check_numbers(cluster: &Cluster, key: &str) {
    let check = async |path: &str, question: Value, expect: Value, corrected: Value| {
        let refused = cluster.post(key, path, &question).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{question}");
        let details = &refused.json()["details"];
        let fault = json!([details["field"], details["max_allowed"], details["provided"]]);
        assert_eq!(fault, expect, "{}", refused.text);
        let request = json!({ "method": "POST", "path": path, "body": corrected });
        assert_eq!(details["tool_suggestions"][0]["request"], request, "{}", refused.text);
        let followed = cluster.post(key, path, &corrected).await;
        assert_eq!(followed.status, StatusCode::OK, "{}", followed.text);
    };
    let search = |limit: u64| json!({ "query": "date", "limit": limit });
    check("/v1/search", search(1_000), json!(["limit", 100, 1_000]), search(100)).await;
    check("/v1/search", search(0), json!(["limit", 100, 0]), search(1)).await;
    check("/v1/grep", search(5_000), json!(["limit", 1_000, 5_000]), search(100)).await;
    let context = |name: &str| json!({ "query": "date", name: 21 });
    let corrected = json!({ "query": "date", "before": 20, "after": 20 });
    for name in ["before", "after"] {
        check("/v1/grep", context(name), json!([name, 20, 21]), corrected.clone()).await;
    }
    let graph = |limit: u64| json!({ "target": "scan", "mode": "callers", "limit": limit });
    check("/v1/graph", graph(501), json!(["limit", 500, 501]), graph(500)).await;
    let fault = |refused: Value| json!([refused["details"]["field"], refused["details"]["provided"]]);
    let lines = json!({ "path": "src/date.rs", "start_line": 99, "end_line": 100 });
    assert_eq!(fault(cluster.post(key, "/v1/read", &lines).await.json()), json!(["start_line", 99]));
    let lines = json!({ "path": "src/date.rs", "start_line": 3, "end_line": 2 });
    assert_eq!(fault(cluster.post(key, "/v1/read", &lines).await.json()), json!(["end_line", 2]));
    let wrong = cluster.post(key, "/v1/grep", &json!({ "query": "a(", "mode": "regex" })).await.json();
    assert_eq!((&wrong["details"]["field"], &wrong["details"]["pattern"]), (&json!("query"), &json!("a(")), "{wrong}");
}

#[tokio::test]
async fn empty_lists_suggest_requests_that_work() {
    let cluster = Cluster::of(0).await;
    let key = cluster.key(None, true).await;
    for (path, body) in [
        ("/v1/patterns", json!({ "name": "nothing" })),
        ("/v1/coverage", json!({ "repository": "app", "outcome": "failed" })),
        ("/v1/secrets", json!({ "repository": "app" })),
    ] {
        let reply = cluster.post(&key, path, &body).await;
        let suggestions = reply.json()["tool_suggestions"].as_array().cloned().unwrap_or_default();
        assert!((1..=2).contains(&suggestions.len()), "{path}: {}", reply.text);
        for suggestion in suggestions {
            let (path, body) = (&suggestion["request"]["path"], &suggestion["request"]["body"]);
            let followed = cluster.post(&key, path.as_str().expect("a path"), body).await;
            assert_eq!(followed.status, StatusCode::OK, "{suggestion}");
        }
    }
}
