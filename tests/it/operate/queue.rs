//! Tests of `cairn enqueue`, and of the commands that show and cancel repositories and runs.

use cairn_domain::{Lane, RepositoryId, RepositoryName, Scope, Tenant};
use cairn_ports::{Catalogue, Requests};

use super::cluster::Cluster;

const URL: &str = "https://git.example.org/acme/shop.git";
const NAME: &str = "git.example.org/acme/shop";

#[test]
fn enqueuing_twice_is_one_request() {
    let Some(cluster) = Cluster::prepared() else { return };
    let first = cluster.json(&["enqueue", URL]);
    assert_eq!((first["repository"].as_str(), first["state"].as_str()), (Some(NAME), Some("requested")), "{first}");
    assert_eq!(cluster.json(&["enqueue", URL, "--lane", "interactive"])["request"], first["request"]);
    let runs = cluster.runs();
    let dispatch = || cluster.runtime.block_on(runs.dispatch(9, 1, 1_000)).expect("dispatched");
    let requests = dispatch();
    assert_eq!((requests.len(), requests[0].lane), (1, Lane::Interactive), "{requests:?}");
    assert_eq!(dispatch(), []);
    let repos = cluster.ok(&["repos"]);
    assert!(repos.contains(NAME) && repos.contains(URL) && repos.contains("not indexed yet"), "{repos}");
    // An entry of a list may contain additional fields. The requests of another tenant are separate.
    let list = cluster.file("list.yaml", &format!("- url: {URL}\n  name: shop\n  branch: next\n- path: ../x\n"));
    let (code, reported) = cluster.output(&["enqueue", "--file", &list, "--tenant", "acme"]);
    assert!(code == 5 && reported.contains("shop: requested") && reported.contains("list.yaml:4"), "{reported}");
    assert!(reported.contains("fetch by URL"), "{reported}");
    let (_, reported) = cluster.output(&["repos"]);
    assert!(!reported.contains("shop\n") && reported.contains("use --tenant for another: acme"), "{reported}");
    assert!(cluster.ok(&["repos", "--tenant", "acme"]).starts_with("shop https"));
    assert_eq!(cluster.json(&["stats"])["repositories"], 1);
    // The stored fields of a repository are not changed if a later command contains only its URL.
    let list = cluster.file("own.yaml", &format!("- url: {URL}\n  branch: next\n"));
    cluster.ok(&["enqueue", "--file", &list]);
    cluster.ok(&["enqueue", URL]);
    let known = cluster.runtime.block_on(runs.repositories(&Scope::all(Tenant::local()))).expect("read");
    assert_eq!((known.len(), known[0].branch.as_deref()), (1, Some("next")), "{known:?}");
    // The removed repository is hidden at once.
    cluster.ok(&["remove", NAME]);
    assert_eq!(cluster.json(&["repos"])["repositories"], serde_json::json!([]));
    // The repository can be requested again at once, although the sweep has not removed its data yet.
    cluster.ok(&["enqueue", URL]);
    assert_eq!(cluster.json(&["repos"])["repositories"][0]["name"], NAME);
    assert!(cluster.ok(&["runs", "cancel", NAME]).contains(NAME));
    cluster.ok(&["remove", NAME]);
    assert_eq!(cluster.json(&["repos"])["repositories"], serde_json::json!([]));
    cluster.close();
}

#[test]
fn empty_patterns_in_a_list_file_remove_the_patterns() {
    let Some(cluster) = Cluster::prepared() else { return };
    let runs = cluster.runs();
    let enqueue = |fields: &str| {
        let list = cluster.file("list.yaml", &format!("- url: {URL}\n{fields}"));
        cluster.ok(&["enqueue", "--file", &list]);
        let known = cluster.runtime.block_on(runs.repositories(&Scope::all(Tenant::local()))).expect("read");
        let settings: serde_json::Value = serde_json::from_str(&known[0].settings).expect("JSON");
        [settings["include"].clone(), settings["exclude"].clone()]
    };
    let patterns = serde_json::json!(["*.py"]);
    let none = serde_json::json!([]);
    let both = "  include: ['*.py']\n  exclude: ['*.py']\n";
    assert_eq!(enqueue(both), [patterns.clone(), patterns.clone()]);
    assert_eq!(enqueue(""), [patterns.clone(), patterns.clone()]);
    assert_eq!(enqueue("  include: []\n"), [none, patterns]);
    cluster.close();
}

#[test]
fn operator_rules_refuse_with_a_reason() {
    let Some(cluster) = Cluster::prepared() else { return };
    let check = |url: &str, expect: &str| {
        let (code, reported) = cluster.output(&["enqueue", url]);
        assert!(code == 2 && reported.contains(expect), "{url}: {code} {reported}");
        assert!(!reported.contains("hunter2"), "{reported}");
    };
    check("http://git.example.org/a/b", "sources.allow_http");
    check("https://127.0.0.1/a/b", "sources.allow_private_addresses");
    check("https://bob:hunter2@git.example.org/a/b", "contains a credential");
    check("file:///srv/a.git", "sources.allow_file");
    check("../here", "neither a URL nor the name of a repository");
    assert_eq!(cluster.json(&["repos"])["repositories"], serde_json::json!([]));
    cluster.allow("[sources]\nallow_http = true\n");
    assert_eq!(cluster.json(&["enqueue", "http://git.example.org/a/b"])["repository"], "git.example.org/a/b");
    cluster.close();
}

#[test]
fn pending_request_is_cancelled() {
    let Some(cluster) = Cluster::prepared() else { return };
    cluster.ok(&["enqueue", URL]);
    let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new(NAME));
    let cancelled = format!("0 runs cancelled, and 1 that had not begun: {NAME}\n");
    assert_eq!(cluster.ok(&["runs", "cancel", "shop"]), cancelled);
    assert!(cluster.dispatched().is_empty(), "a cancelled request was dispatched");
    assert_eq!(cluster.ok(&["runs", "cancel", "shop"]), "0 runs cancelled\n");
    assert_eq!(cluster.json(&["repos"])["repositories"][0]["last_sync"]["failure"], "cancelled");
    // A request can also be cancelled while a worker syncs the repository. Then the worker fails when it
    // begins the run, and the request does not start another run.
    cluster.ok(&["enqueue", URL]);
    assert_eq!(cluster.dispatched(), [repository]);
    let lease = cluster.lease(repository);
    assert_eq!(cluster.json(&["runs", "cancel"]), serde_json::json!({ "cancelled": [], "requests": [NAME] }));
    assert!(!cluster.may_begin(lease), "a worker whose sync was cancelled began a run");
    assert_eq!(cluster.json(&["runs"])["runs"], serde_json::json!([]));
    cluster.close();
}

#[test]
fn known_name_can_be_enqueued_and_rebuilt() {
    let Some(cluster) = Cluster::prepared() else { return };
    cluster.ok(&["enqueue", URL]);
    let asked = || cluster.is_rebuild_requested(RepositoryId::derive(&Tenant::local(), &RepositoryName::new(NAME)));
    assert!(!asked());
    assert_eq!(cluster.json(&["enqueue", "shop"])["repository"], NAME);
    assert!(!asked());
    assert_eq!(cluster.json(&["enqueue", NAME, "--rebuild"])["repository"], NAME);
    assert!(asked(), "a rebuild was requested, but the request does not contain it");
    let (code, reported) = cluster.output(&["enqueue", "nowhere"]);
    assert!(code == 2 && reported.contains("nor the name of a repository"), "{reported}");
    cluster.ok(&["enqueue", "https://git.example.org/rival/shop.git", "--rebuild"]);
    let (code, reported) = cluster.output(&["enqueue", "shop"]);
    assert!(code == 2 && reported.contains("several"), "{reported}");
    cluster.close();
}

#[test]
fn run_is_shown_and_cancelled_by_id() {
    let Some(cluster) = Cluster::prepared() else { return };
    cluster.ok(&["enqueue", URL]);
    let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new(NAME));
    cluster.begin(repository);
    let id = cluster.json(&["runs"])["runs"][0]["run_id"].as_str().expect("an id").to_owned();
    assert_eq!(cluster.ok(&["runs", "cancel", "--run", &id]), "1 runs cancelled\n");
    let shown = cluster.ok(&["runs", "show", &id]);
    assert!(shown.contains("cancelled by the user") && shown.contains("errors "), "{shown}");
    assert_eq!(cluster.json(&["runs", "show", &id])["result"]["num_errors"], 0);
    assert_eq!(
        cluster.dispatched(),
        [repository],
        "cancelling a run also cancelled the pending request of the repository"
    );
    cluster.close();
}

#[test]
fn runs_are_listed_and_cancelled() {
    let Some(cluster) = Cluster::prepared() else { return };
    cluster.ok(&["enqueue", URL]);
    let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new(NAME));
    cluster.begin(repository);
    let reported = cluster.ok(&["runs", "--repo", "shop"]);
    assert!(reported.contains(NAME) && reported.contains("running") && reported.contains("0/1 parts"), "{reported}");
    assert_eq!(
        cluster.ok(&["runs", "cancel", "shop"]),
        format!("1 runs cancelled, and 1 that had not begun: {NAME}\n")
    );
    assert_eq!(cluster.ok(&["runs", "cancel"]), "0 runs cancelled\n");
    assert_eq!(cluster.json(&["runs"])["runs"][0]["state"], "cancelled");
    cluster.close();
}
