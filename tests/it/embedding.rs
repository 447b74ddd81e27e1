//! Tests of local mode with an embedding provider, and of an index whose vectors were computed by a different
//! model.

use std::fs;
use std::path::Path;
use std::process::Output;

use anyhow::Result;
use cairn_fake_provider::{FakeServer, Provider, Settings, Shape};
use cairn_testkit::work_tree::{commit, repository, write};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::Index;
use crate::mcp::Session;

const KEY: &str = "FAKE_EMBEDDING_KEY";

async fn provider() -> Result<FakeServer> {
    let settings = Settings { keys: vec!["right-key".to_owned()], ..Settings::new(Shape::Openai) };
    FakeServer::start("127.0.0.1:0".parse()?, Provider::new(settings)).await
}

/// Selects the provider in the settings of the index.
fn select(index: &Index, server: &FakeServer) {
    let text = format!(
        "[embedding]\nkind = \"http\"\n[embedding.provider]\nprovider = \"openai\"\nurl = \"{}/v1/embeddings\"\n\
         model = \"fake-embedding-1\"\ndimensions = 64\nallow_http = true\napi_key = {{ env = \"{KEY}\" }}\n",
        server.url()
    );
    fs::write(index.path().join("config.toml"), text).expect("written");
}

fn tree(function: &str) -> TempDir {
    let tree = repository();
    let text = "def scan_parts(text):\n    return text.split()\n\n\n";
    write(tree.path(), "src/dates.py", format!("{text}def {function}(text):\n    return scan_parts(text)\n"));
    commit(tree.path(), "start");
    tree
}

fn run(index: &Index, arguments: &[&str], with_key: bool) -> Output {
    let mut command = index.command(arguments);
    if with_key {
        command.env(KEY, "right-key");
    }
    command.output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json_of(output: &Output) -> Value {
    assert!(output.status.success(), "{}{}", text(&output.stderr), text(&output.stdout));
    serde_json::from_str(text(&output.stdout).lines().last().unwrap_or_default()).expect("JSON")
}

fn index_path(index: &Index, path: &Path, name: &str) {
    let path = path.to_string_lossy();
    json_of(&run(index, &["index", &path, "--name", name, "--json"], true));
}

#[tokio::test(flavor = "multi_thread")]
async fn provider_embeds_passages_and_questions() -> Result<()> {
    let (server, index, tree) = (provider().await?, Index::new(), tree("parse_http_date"));
    select(&index, &server);
    index_path(&index, tree.path(), "r");
    let calls = server.provider().report().num_calls;
    assert!(calls > 0, "the run calls the provider");
    let found = json_of(&run(&index, &["search", "parse_http_date", "--json"], true));
    assert_eq!(found["results"][0]["path"], "src/dates.py", "{found}");
    assert!(server.provider().report().num_calls > calls, "the question calls the provider");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn command_that_embeds_nothing_needs_no_key() -> Result<()> {
    let (server, index, tree) = (provider().await?, Index::new(), tree("parse_http_date"));
    select(&index, &server);
    index_path(&index, tree.path(), "r");
    for arguments in [
        &["repos"][..],
        &["grep", "scan_parts"],
        &["show", "parse_http_date"],
        &["graph", "callees", "parse_http_date"],
        &["search", "dates.py", "--target-type", "filename"],
        &["search", "parse_http_date", "--target-type", "symbol"],
        &["coverage", "r"],
        &["doctor"],
    ] {
        let output = run(&index, arguments, false);
        assert!(output.status.success(), "{arguments:?}: {}{}", text(&output.stderr), text(&output.stdout));
    }
    write(tree.path(), "src/more.py", "x = 1\n");
    for arguments in [&["search", "dates"][..], &["index"]] {
        let output = run(&index, arguments, false);
        let message = text(&output.stderr);
        assert!(!output.status.success() && message.contains(KEY), "{arguments:?}: {message}");
    }
    assert_eq!(json_of(&run(&index, &["runs", "--json"], false))["runs"].as_array().map(Vec::len), Some(1));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn index_with_another_model_uses_no_vectors_until_rebuilt() -> Result<()> {
    let (server, index, tree) = (provider().await?, Index::new(), tree("parse_http_date"));
    index_path(&index, tree.path(), "r");
    select(&index, &server);
    let by_name = json_of(&run(&index, &["search", "parse_http_date", "--target-type", "symbol", "--json"], true));
    assert_eq!(by_name["results"][0]["path"], "src/dates.py", "{by_name}");
    let by_file = json_of(&run(&index, &["search", "dates.py", "--target-type", "filename", "--json"], true));
    assert_eq!(by_file["files"][0]["path"], "src/dates.py", "{by_file}");
    assert_eq!(server.provider().report().num_calls, 0, "no vector is needed");

    let refused = run(&index, &["search", "parse_http_date", "--json"], true);
    let error: Value = serde_json::from_str(&text(&refused.stdout))?;
    assert_eq!(error["error"]["code"], "model_mismatch", "{error}");
    let command = error["error"]["details"]["tool_suggestions"][0]["command"].as_str().expect("a command").to_owned();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    assert_eq!(words, ["index", "r"]);
    assert!(text(&run(&index, &["search", "parse_http_date"], true).stderr).contains("try: "));
    assert!(run(&index, &words, true).status.success());
    let found = json_of(&run(&index, &["search", "parse_http_date", "--json"], true));
    assert_eq!(found["results"][0]["path"], "src/dates.py", "{found}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn agent_gets_the_call_that_indexes_again() -> Result<()> {
    let (server, index, tree) = (provider().await?, Index::new(), tree("parse_http_date"));
    index_path(&index, tree.path(), "r");
    select(&index, &server);
    let mut command = index.command(&["mcp"]);
    command.env(KEY, "right-key");
    tokio::task::spawn_blocking(move || {
        let mut session = Session::start(command);
        let refused = session.call("search_code", &json!({ "query": "parse_http_date", "repository": ["r"] }));
        assert_eq!(refused.structured()["code"], "model_mismatch", "{}", refused.result);
        let call = refused.structured()["details"]["tool_suggestions"][0].clone();
        assert_eq!(call["tool"], "index_repository", "{}", refused.result);
        session.call("index_repository", &call["arguments"]);
        let found = session.call("search_code", &json!({ "query": "parse_http_date", "repository": ["r"] }));
        assert_eq!(found.structured()["results"][0]["path"], "src/dates.py", "{}", found.result);
        session.end();
    })
    .await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn search_in_all_repositories_works_if_one_has_another_model() -> Result<()> {
    let (server, index) = (provider().await?, Index::new());
    let (old, new) = (tree("parse_http_date"), tree("parse_cookie"));
    index_path(&index, old.path(), "old");
    select(&index, &server);
    index_path(&index, new.path(), "new");
    let found = json_of(&run(&index, &["search", "parse_cookie", "--json"], true));
    assert_eq!(found["results"][0]["repository"], "new", "{found}");
    let notes = found["notes"].to_string();
    assert!(notes.contains("leaves a repository out") && notes.contains("`old`"), "{notes}");
    Ok(())
}
