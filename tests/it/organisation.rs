//! Tests of `cairn index --organisation`. The test server lists the repositories in the form of Gitea. The
//! repositories are cloned from this server over HTTP.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path as UrlPath, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use cairn_testkit::work_tree::{commit, repository, write};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::Index;

/// The list that the server returns, and the directories of its repositories by name.
#[derive(Clone, Default)]
struct Shelf {
    listed: Arc<Mutex<Vec<Value>>>,
    roots: Arc<Mutex<Vec<(String, PathBuf)>>>,
    url: String,
}

impl Shelf {
    fn entry(&self, id: u64, name: &str, more: &Value) -> Value {
        let path = format!("acme/{name}");
        let mut entry = json!({
            "id": id, "name": name, "full_name": path, "owner": { "login": "acme" },
            "clone_url": format!("{}/{path}.git", self.url), "ssh_url": format!("git@127.0.0.1:{path}.git"),
            "default_branch": "main", "description": format!("The {name} of Acme"), "topics": ["web", name],
            "archived": false, "empty": false, "fork": false,
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            entry[key] = value.clone();
        }
        entry
    }

    fn list(&self, entries: Vec<Value>) {
        *self.listed.lock().expect("a lock") = entries;
    }

    fn keep(&self, name: &str, root: &Path) {
        self.roots.lock().expect("a lock").push((name.to_owned(), root.to_owned()));
    }

    fn root(&self, repository: &str) -> Option<PathBuf> {
        let roots = self.roots.lock().expect("a lock");
        let name = repository.strip_suffix(".git")?;
        roots.iter().find(|(known, _)| known == name).map(|(_, root)| root.clone())
    }
}

async fn repositories(State(shelf): State<Shelf>, headers: HeaderMap) -> Response {
    if headers.get("authorization").is_none() {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    axum::Json(shelf.listed.lock().expect("a lock").clone()).into_response()
}

/// Answers the first request of a fetch with the output of `git upload-pack`.
async fn refs(
    State(shelf): State<Shelf>,
    UrlPath(repository): UrlPath<String>,
    Query(query): Query<Vec<(String, String)>>,
    headers: HeaderMap,
) -> Response {
    let is_fetch = query.iter().any(|(name, value)| name == "service" && value == "git-upload-pack");
    let Some(root) = shelf.root(&repository).filter(|_| is_fetch) else { return StatusCode::NOT_FOUND.into_response() };
    let head = "001e# service=git-upload-pack\n0000";
    let reported = [head.as_bytes(), &upload_pack(&root, &["--advertise-refs"], &headers, &[])].concat();
    ([("content-type", "application/x-git-upload-pack-advertisement")], reported).into_response()
}

async fn pack(
    State(shelf): State<Shelf>,
    UrlPath(repository): UrlPath<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Some(root) = shelf.root(&repository) else { return StatusCode::NOT_FOUND.into_response() };
    let reported = upload_pack(&root, &[], &headers, &body);
    ([("content-type", "application/x-git-upload-pack-result")], reported).into_response()
}

fn upload_pack(root: &Path, more: &[&str], headers: &HeaderMap, asked: &[u8]) -> Vec<u8> {
    let mut command = Command::new("git");
    command.args(["-c", "uploadpack.allowAnySHA1InWant=true", "upload-pack", "--stateless-rpc"]).args(more).arg(root);
    if let Some(protocol) = headers.get("git-protocol").and_then(|protocol| protocol.to_str().ok()) {
        command.env("GIT_PROTOCOL", protocol);
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("git starts");
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), asked).expect("written");
    child.wait_with_output().expect("git ends").stdout
}

struct Server {
    shelf: Shelf,
    _runtime: tokio::runtime::Runtime,
}

impl Server {
    fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let shelf = Shelf { url, ..Shelf::default() };
        let router = Router::new()
            .route("/api/v1/orgs/acme/repos", get(repositories))
            .route("/acme/{repository}/info/refs", get(refs))
            .route("/acme/{repository}/git-upload-pack", post(pack))
            .with_state(shelf.clone());
        runtime.spawn(async move { axum::serve(listener, router).await });
        Self { shelf, _runtime: runtime }
    }

    fn index(&self, index: &Index, more: &[&str]) -> (Option<i32>, String, String) {
        let arguments =
            ["index", "--organisation", "gitea:acme", "--hosting-url", &self.shelf.url, "--token-env", "TOKEN"];
        let mut command = index.command(&[&arguments, more].concat());
        command
            .env("TOKEN", "hunter2-token")
            .env("CAIRN_ALLOW_HTTP", "true")
            .env("CAIRN_ALLOW_PRIVATE_ADDRESSES", "true");
        let output = command.output().expect("the program starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }
}

fn source(text: &str) -> TempDir {
    let root = repository();
    write(root.path(), "app.py", text);
    commit(root.path(), "start");
    root
}

fn shown(index: &Index) -> Vec<(String, bool)> {
    let listed = index.json(&["repos"]);
    let listed = listed["repositories"].as_array().expect("a list").iter();
    listed
        .map(|repository| {
            (repository["name"].as_str().unwrap_or_default().to_owned(), !repository["published"].is_null())
        })
        .collect()
}

#[test]
fn organisation_is_indexed_from_its_list() {
    let (server, index) = (Server::start(), Index::new());
    let shelf = &server.shelf;
    let roots = ["shop", "pay", "old-archive", "fork"]
        .map(|name| (name, source(&format!("def {}():\n    return 1\n", name.replace('-', "_")))));
    roots.iter().for_each(|(name, root)| shelf.keep(name, root.path()));
    shelf.list(vec![
        shelf.entry(1, "shop", &json!({})),
        shelf.entry(2, "pay", &json!({ "topics": [] })),
        shelf.entry(3, "old-archive", &json!({})),
        shelf.entry(4, "fork", &json!({ "fork": true })),
        shelf.entry(5, "dead", &json!({ "archived": true })),
        shelf.entry(6, "nothing", &json!({ "empty": true })),
    ]);
    let (code, reported, errors) = server.index(&index, &["--without", "*-archive"]);
    assert_eq!(code, Some(0), "{reported}{errors}");
    assert!(!errors.contains("hunter2") && errors.contains("6 repositories are listed"), "{errors}");
    let host = shelf.url.trim_start_matches("http://").replace(':', "+");
    let named = |name: &str| format!("{host}/acme/{name}");
    assert_eq!(shown(&index), [(named("pay"), true), (named("shop"), true)], "{reported}{errors}");
    let listed = index.json(&["repos"]);
    assert_eq!(listed["repositories"][1]["description"], "The shop of Acme");
    assert_eq!(listed["repositories"][1]["topics"], json!(["web", "shop"]));
    assert!(index.ok(&["repos"]).contains("The shop of Acme [web, shop]"));
    assert!(index.ok(&["search", "shop", "--repo", &named("shop")]).contains("app.py"));

    // A renamed repository keeps its index, and its old name is still accepted. A repository that is missing
    // from the list is kept until it is removed.
    shelf.keep("store", roots[0].1.path());
    shelf.list(vec![shelf.entry(1, "store", &json!({}))]);
    let (code, reported, errors) = server.index(&index, &[]);
    assert_eq!(code, Some(0), "{reported}{errors}");
    assert!(
        reported.contains("unchanged") && errors.contains("was renamed to") && errors.contains("cairn remove"),
        "{reported}{errors}"
    );
    assert_eq!(shown(&index), [(named("pay"), true), (named("store"), true)], "{reported}{errors}");
    assert!(index.ok(&["search", "shop", "--repo", &named("shop")]).contains("app.py"));
}

#[test]
fn failed_organisation_listing_is_an_error() {
    let (server, index) = (Server::start(), Index::new());
    let run = |arguments: &[&str]| {
        let output = index.run(&[&["index", "--organisation"], arguments].concat());
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, errors) = run(&["acme"]);
    assert!(code == Some(2) && errors.contains("KIND:OWNER"), "{errors}");
    let (code, errors) = run(&["gitea:acme"]);
    assert!(code == Some(4) && errors.contains("`url` is missing"), "{errors}");
    // The operator's rules for addresses also apply to the address of the API.
    let (code, errors) = run(&["gitea:acme", "--hosting-url", &server.shelf.url]);
    assert!(code != Some(0) && errors.contains("allow_http"), "{errors}");
    let mut command = index.command(&["index", "--organisation", "gitea:acme", "--hosting-url", &server.shelf.url]);
    command.env("CAIRN_ALLOW_HTTP", "true").env("CAIRN_ALLOW_PRIVATE_ADDRESSES", "true");
    let output = command.output().expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains("acme"), "{errors}");
}
