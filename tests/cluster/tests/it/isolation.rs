//! Checks that no action of one tenant changes a byte of another tenant's answers, that a repository that a
//! key may not see changes no byte of the answers for this key, and that answers about a forbidden repository
//! equal answers about a repository that does not exist.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use cairn_cluster::{Environment, Servers, is_long};
use cairn_domain::{Lane, Source, Tenant};
use cairn_gateway::auth::KeyRequest;
use cairn_testkit::Mutation;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;
use toml::toml;

const NUM_REPOSITORIES: usize = 4;
const PATIENCE: Duration = Duration::from_secs(600);
const MCP: &str = "/mcp";
/// Each name of a repository begins with one of these words, which the code of the repositories does not use.
const SEEN: &str = "shared";
const HIDDEN: &str = "hidden";
/// A name that no repository of any tenant has.
const UNKNOWN: &str = "shared-x";
/// Maximum number of times that a question is asked until its answer no longer changes.
const MAX_ATTEMPTS: usize = 8;
const PAUSE: Duration = Duration::from_secs(1);

/// The words that the questions contain. The code of the repositories uses each of them.
const WORDS: [&str; 10] = ["load", "parse", "store", "fetch", "user", "order", "token", "cache", "path", "event"];
/// The number of repositories of the other tenant in each round. Only the long form has the last round.
const NEIGHBOURS: [usize; 2] = [10, 300];

#[tokio::test(flavor = "multi_thread")]
async fn hidden_repositories_change_no_byte() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    // Within half of this time, a busy machine tries all calls that an answer suggests. An answer omits the
    // calls that were not tried in time.
    let settings = toml! { [query.gateway]
    request_timeout_ms = 60000 };
    let mut environment = Environment::prepare(&servers, &settings).await?;
    environment.cluster.start_all().await?;
    let repositories: Vec<Mutation> = (0..NUM_REPOSITORIES).map(|seed| Mutation::new(seed as u64, 20)).collect();
    let (a, b) = (Tenant::new("a"), Tenant::new("b"));
    index(&environment, &a, SEEN, &repositories, NUM_REPOSITORIES).await?;
    let url = environment.cluster.questions("query")?;
    let num_words = if is_long() { WORDS.len() } else { 5 };
    let questions = questions(&WORDS[..num_words], &repositories);
    ensure!(questions.len() >= 100, "only {} questions", questions.len());
    let of_limited: Vec<&PathAndBody> = questions.iter().step_by(if is_long() { 1 } else { 5 }).collect();
    let limited = key(&environment, &a, Some(vec![format!("{SEEN}-*")])).await?;
    let limited = Before::ask(&url, limited, &of_limited).await?;
    index(&environment, &a, HIDDEN, &repositories, NUM_REPOSITORIES).await?;
    limited.check_unchanged(&url, "hidden repositories of the same tenant").await?;
    let all = Before::ask(&url, key(&environment, &a, None).await?, &questions.iter().collect::<Vec<_>>()).await?;
    for neighbours in NEIGHBOURS.into_iter().take(if is_long() { 2 } else { 1 }) {
        index(&environment, &b, SEEN, &repositories, neighbours).await?;
        all.check_unchanged(&url, &format!("{neighbours} repositories of another tenant")).await?;
    }
    forbidden_is_unknown(&environment, &url, &a).await
}

/// Questions, and their answers before a change that must not affect them.
struct Before<'a> {
    key: String,
    answered: Vec<(&'a PathAndBody, Vec<String>)>,
}

impl<'a> Before<'a> {
    async fn ask(url: &str, key: String, questions: &[&'a PathAndBody]) -> Result<Before<'a>> {
        let mut answered = Vec::new();
        for &question in questions {
            answered.push((question, settled_pages(url, &key, question).await?));
        }
        Ok(Before { key, answered })
    }

    async fn check_unchanged(&self, url: &str, change: &str) -> Result<()> {
        for (question, before) in &self.answered {
            let mut now = pages(url, &self.key, question).await?;
            if *before != now {
                now = settled_pages(url, &self.key, question).await?;
            }
            let (path, body) = question;
            ensure!(*before == now, "the answer to {path} {body} changed with {change}: {}", difference(before, &now));
        }
        println!("{} questions with {change}: no byte differs", self.answered.len());
        Ok(())
    }
}

/// Sends questions with a key that may see only one repository. The answer for a forbidden repository must
/// equal the answer for a repository that does not exist. Prints the times of both answers.
async fn forbidden_is_unknown(environment: &Environment, url: &str, tenant: &Tenant) -> Result<()> {
    let key = key(environment, tenant, Some(vec!["shared-0".to_owned()])).await?;
    let body = |name: &str| json!({ "repository": name, "path": "x.py" });
    // The two names have the same length and the same distance from the name of the visible repository, so
    // that the answers have the same length and suggest the same names.
    let (forbidden, unknown) = (body("shared-1"), body(UNKNOWN));
    let (mut times_forbidden, mut times_unknown) = (Vec::new(), Vec::new());
    // The short form and the long form of this test compare the answers. Only the long form measures the
    // times precisely enough for a comparison, and a person must compare the times.
    let num_calls = if is_long() { 1000 } else { 100 };
    for _ in 0..num_calls {
        let start = Instant::now();
        let of_forbidden = ask(url, &key, "/v1/read", &forbidden).await?;
        times_forbidden.push(start.elapsed());
        let start = Instant::now();
        let of_unknown = ask(url, &key, "/v1/read", &unknown).await?;
        times_unknown.push(start.elapsed());
        let of_forbidden = of_forbidden.replace("shared-1", UNKNOWN);
        ensure!(
            without_times(&of_forbidden) == without_times(&of_unknown),
            "the answer about a forbidden repository\n{of_forbidden}\ndiffers from the answer about an unknown one\n{of_unknown}"
        );
    }
    let (forbidden, unknown) = (median(times_forbidden), median(times_unknown));
    println!("{num_calls} calls: median of a forbidden repository {forbidden:?}, of an unknown one {unknown:?}");
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Registers `count` repositories of a tenant and waits until they are indexed. All these repositories share
/// contents and names of definitions. The names of the repositories begin with `prefix`.
async fn index(
    environment: &Environment,
    tenant: &Tenant,
    prefix: &str,
    repositories: &[Mutation],
    count: usize,
) -> Result<()> {
    let mut asked = Vec::new();
    for number in 0..count {
        let source =
            Source::Url { url: format!("file://{}", repositories[number % repositories.len()].root().display()) };
        let name = format!("{prefix}-{number}");
        asked.push(environment.inside.enqueue_for(tenant, &name, source, Lane::Bulk).await?);
    }
    environment.inside.settled(&asked, PATIENCE).await
}

async fn key(environment: &Environment, tenant: &Tenant, repositories: Option<Vec<String>>) -> Result<String> {
    let request = KeyRequest {
        tenant: tenant.clone(),
        repositories,
        may_index: false,
        label: String::new(),
        expires_at_ms: None,
    };
    environment.inside.issue_key(request).await
}

/// The path of a request, and its body.
type PathAndBody = (&'static str, Value);

/// Questions of every kind about each of the words.
fn questions(words: &[&str], repositories: &[Mutation]) -> Vec<PathAndBody> {
    let mut questions: Vec<PathAndBody> = Vec::new();
    for (number, word) in words.iter().enumerate() {
        let (other, name) = (WORDS[(number + 3) % 10], format!("{word}_{}_{number}", WORDS[(number + 1) % 10]));
        let repository = format!("shared-{}", number % repositories.len());
        questions.push(("/v1/search", json!({ "query": format!("{word} {other}") })));
        questions.push(("/v1/search", json!({ "query": word, "limit": 3 })));
        questions.push(("/v1/search", json!({ "query": name })));
        questions.push(("/v1/search", json!({ "query": word, "languages": ["python"], "explain": true })));
        questions.push(("/v1/search", json!({ "query": word, "repositories": [repository] })));
        questions.push(("/v1/search", json!({ "query": format!("zebra {word}"), "paths": ["lib/**"] })));
        questions.push(("/v1/graph", json!({ "name": name, "relation": "callers" })));
        questions.push(("/v1/graph", json!({ "name": name, "relation": "callees" })));
        questions.push(("/v1/read", json!({ "repository": repository, "symbol": name })));
        questions.push(("/v1/patterns", json!({ "name": word })));
        questions.push(("/v1/coverage", json!({ "repository": repository })));
        questions.push(("/v1/runs", json!({ "repository": repository, "limit": 5 })));
    }
    for path in ["/v1/repositories", "/v1/status", "/v1/stats", "/v1/runs", "/v1/patterns", "/v1/fingerprint"] {
        questions.push((path, json!({})));
    }
    questions.extend(tool_calls(words));
    questions
}

/// Calls of the MCP tools, in the form that agents use.
fn tool_calls(words: &[&str]) -> Vec<PathAndBody> {
    let call = |tool: &str, arguments: Value| {
        let params = json!({ "name": tool, "arguments": arguments });
        (MCP, json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }))
    };
    let mut calls = vec![call("list_repositories", json!({})), call("index_status", json!({}))];
    for (number, word) in words.iter().enumerate() {
        let next = WORDS[(number + 1) % WORDS.len()];
        let name = format!("{word}_{next}_{number}");
        calls.push(call("search_code", json!({ "query": word, "limit": 3 })));
        calls.push(call("search_code", json!({ "query": format!("how do {word} patterns work") })));
        calls.push(call("search_code", json!({ "query": format!("{word}_{next}x") })));
        calls.push(call("search_code", json!({ "query": word, "mode": "text" })));
        calls.push(call("analyze_relationship", json!({ "name": name, "relation": "callers" })));
        calls.push(call("read_code", json!({ "repository": "shared-0", "symbol": name })));
        calls.push(call("index_status", json!({ "repository": "shared-1" })));
    }
    calls
}

/// The pages that two successive calls return. A busy machine may still finish a run, or may not try all
/// suggested calls in time.
async fn settled_pages(url: &str, key: &str, question: &PathAndBody) -> Result<Vec<String>> {
    let mut last = pages(url, key, question).await?;
    for _ in 1..MAX_ATTEMPTS {
        let next = pages(url, key, question).await?;
        if next == last {
            break;
        }
        last = next;
        sleep(PAUSE).await;
    }
    Ok(last)
}

/// The place of the first difference between two answers, with the text around it.
fn difference(before: &[String], now: &[String]) -> String {
    let (before, now) = (before.join("\n"), now.join("\n"));
    let same = before.chars().zip(now.chars()).take_while(|(left, right)| left == right).count();
    let around = |text: &str| text.chars().skip(same.saturating_sub(200)).take(600).collect::<String>();
    format!("before\n{}\nnow\n{}", around(&before), around(&now))
}

/// The first two pages of an answer, in a form that can be compared.
async fn pages(url: &str, key: &str, (path, body): &PathAndBody) -> Result<Vec<String>> {
    let first = ask(url, key, path, body).await?;
    let mut pages = vec![same(&first)];
    if let Some(cursor) = cursor_of(&first) {
        let mut next = body.clone();
        let arguments = if *path == MCP { &mut next["params"]["arguments"] } else { &mut next };
        arguments["cursor"] = json!(cursor);
        pages.push(same(&ask(url, key, path, &next).await?));
    }
    Ok(pages)
}

/// The whole HTTP response, with head and body.
pub(crate) async fn ask(url: &str, key: &str, path: &str, body: &Value) -> Result<String> {
    let host = url.strip_prefix("http://").context("a plain address")?;
    let body = body.to_string();
    let mut connection = TcpStream::connect(host).await?;
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\nX-Request-Id: same\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    connection.write_all(format!("{head}{body}").as_bytes()).await?;
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer).await?;
    let answer = String::from_utf8(answer)?;
    ensure!(!answer.starts_with("HTTP/1.1 429") && !answer.starts_with("HTTP/1.1 5"), "{path}: {answer}");
    ensure!(path != MCP || answer.contains("\"result\":"), "{body}: {answer}");
    Ok(answer)
}

const CURSOR: &str = "\"next_cursor\":\"";

fn cursor_of(answer: &str) -> Option<&str> {
    Some(answer.split_once(CURSOR)?.1.split_once('"')?.0)
}

/// The response without cursors and without the time in its head. The length of each cursor is still
/// compared.
fn same(answer: &str) -> String {
    let answer = without_times(answer);
    match cursor_of(&answer) {
        Some(cursor) => answer.replace(cursor, &cursor.len().to_string()),
        None => answer,
    }
}

fn without_times(answer: &str) -> String {
    answer.lines().filter(|line| !line.to_ascii_lowercase().starts_with("date:")).collect::<Vec<_>>().join("\n")
}
