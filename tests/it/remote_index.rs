//! Checks the requests that `cairn --server index` sends, and that the command continues to wait if the
//! server returns errors for a while.

use std::collections::VecDeque;
use std::process::Output;
use std::sync::{Arc, Mutex};

use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use cairn_testkit::work_tree::write;
use serde_json::{Value, json};

use crate::harness::Index;

/// A server that returns scripted answers and records its requests.
struct Scripted {
    url: String,
    script: Arc<Script>,
    _runtime: tokio::runtime::Runtime,
}

#[derive(Default)]
struct Script {
    asked: Mutex<Vec<(String, Value)>>,
    /// The statuses of the first answers to progress questions, in order; `None` if the connection is cut
    /// during the answer. All later answers report that the run is published.
    troubles: Mutex<VecDeque<Option<StatusCode>>>,
}

impl Script {
    fn answer(&self, path: &str, body: &Value) -> Response {
        self.asked.lock().expect("no panic").push((path.to_owned(), body.clone()));
        let target = body["target"].as_str().or(body["repository"].as_str()).unwrap_or_default();
        let state = |state: &str, request: Option<u64>| {
            let (result, none) = (cairn_wire::RunResult::default(), Value::Null);
            let mut ended = json!({
                "repository": target, "run_id": "r1", "request": request, "state": state, "message": none,
                "num_parts": 1, "num_ended": 0,
            });
            ended["result"] = json!(result);
            Json(ended).into_response()
        };
        match path {
            // The list has two pages.
            "/v1/repositories" if body["offset"] == 0 => page("a", 0, Some(1)),
            "/v1/repositories" => page("b", 1, None),
            "/v1/index" if target.contains("forbidden") => {
                let error = json!({ "code": "forbidden", "message": "not for this key", "details": {} });
                (StatusCode::FORBIDDEN, Json(error)).into_response()
            }
            "/v1/index" => state("requested", Some(1)),
            _ => match self.troubles.lock().expect("no panic").pop_front() {
                None => state("published", None),
                Some(Some(StatusCode::OK)) => state("running", None),
                Some(Some(status)) => (status, [("retry-after", "1")], "busy").into_response(),
                Some(None) => {
                    // The connection is cut in the middle of an answer.
                    let cut = futures::stream::iter([Ok("{"), Err(std::io::Error::other("cut"))]);
                    axum::body::Body::from_stream(cut).into_response()
                }
            },
        }
    }
}

/// One page of a list of repositories.
fn page(name: &str, offset: usize, next_offset: Option<usize>) -> Response {
    let repository = json!({ "name": name, "source": format!("https://example.org/{name}"), "topics": [] });
    let (repositories, version) = (vec![repository], "v");
    let page = json!({
        "repositories": repositories, "index_version": version, "num_total": 2, "offset": offset,
        "next_offset": next_offset,
    });
    Json(page).into_response()
}

impl Scripted {
    fn new(troubles: &[Option<StatusCode>]) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        let script = Arc::new(Script { troubles: Mutex::new(troubles.iter().copied().collect()), ..Script::default() });
        let answer = async |State(script): State<Arc<Script>>, uri: Uri, Json(body): Json<Value>| {
            script.answer(uri.path(), &body)
        };
        let router = Router::new().fallback(answer).with_state(Arc::clone(&script));
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        runtime.spawn(async move { axum::serve(listener, router).await });
        Self { url, script, _runtime: runtime }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let index = Index::new();
        let mut command = index.command(arguments);
        command.env("CAIRN_SERVER", &self.url).env("CAIRN_API_KEY", "cairn_x");
        command.output().expect("the program starts")
    }

    /// The targets of the index requests that the server received.
    fn targets(&self) -> Vec<String> {
        let asked = self.script.asked.lock().expect("no panic");
        let targets = asked.iter().filter(|(path, _)| path == "/v1/index");
        targets.map(|(_, body)| body["target"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

fn reported(output: &Output) -> String {
    [String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)].concat()
}

#[test]
fn waiting_survives_server_errors() {
    let troubles = [
        Some(StatusCode::OK),
        Some(StatusCode::TOO_MANY_REQUESTS),
        Some(StatusCode::BAD_GATEWAY),
        None,
        Some(StatusCode::SERVICE_UNAVAILABLE),
    ];
    let server = Scripted::new(&troubles);
    let output = server.run(&["index", "https://example.org/a.git"]);
    assert!(
        output.status.success() && reported(&output).contains("sending the request again"),
        "{}",
        reported(&output)
    );
    assert_eq!(server.script.asked.lock().expect("no panic").len(), 1 + troubles.len() + 1);
    let gone = Scripted::new(&[Some(StatusCode::NOT_FOUND)]);
    assert_eq!(gone.run(&["index", "a"]).status.code(), Some(1));
}

#[test]
fn index_without_target_requests_all_repositories() {
    let server = Scripted::new(&[]);
    let output = server.run(&["index"]);
    assert!(output.status.success(), "{}", reported(&output));
    assert_eq!(server.targets(), ["a", "b"]);
}

#[test]
fn list_entries_are_sent_and_unsupported_fields_reported() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let list = "- url: https://example.org/a.git\n  exclude: [gen/**]\n- path: ../b\n- url: https://example.org/c.git\n  branch: main\n- url: https://example.org/forbidden.git\n- url: https://example.org/e.git\n  include: []\n";
    let list = write(directory.path(), "list.yaml", list).to_string_lossy().into_owned();
    let server = Scripted::new(&[]);
    let output = server.run(&["index", &list, "--exclude", "docs/**"]);
    let reported = reported(&output);
    assert_eq!(output.status.code(), Some(5), "{reported}");
    let targets: Vec<String> =
        ["a", "forbidden", "e"].iter().map(|name| format!("https://example.org/{name}.git")).collect();
    assert_eq!(server.targets(), targets);
    for (line, refusal) in [(3, "by URL"), (4, "`cairn enqueue --file"), (6, "not for this key")] {
        let place = format!("{list}:{line}");
        let line = reported.lines().find(|line| line.contains(&place)).unwrap_or_default();
        assert!(line.contains(refusal), "{place} is not refused by `{refusal}`: {reported}");
    }
    let asked = server.script.asked.lock().expect("no panic");
    let of = |name: &str| {
        let target = format!("https://example.org/{name}.git");
        asked.iter().find(|(_, body)| body["target"] == target.as_str()).expect("requested").1.clone()
    };
    assert_eq!(
        (&of("a")["exclude_patterns"], &of("a")["include_patterns"]),
        (&json!(["docs/**", "gen/**"]), &json!(null))
    );
    assert_eq!(of("e")["include_patterns"], json!([]), "an empty list removes the patterns");
}
