//! Tests of tool calls that concern several repositories.

use cairn_domain::{EdgeKind, SymbolKind};
use cairn_ranking::estimate_tokens;
use cairn_testkit::FakeContent;
use serde_json::json;

use super::FakeAgent;

fn shop(name: &str) -> FakeContent {
    FakeContent::new(name, "c1")
        .file("README.md", "markdown", "# Shop\n")
        .file("src/main.py", "python", "def run():\n    return start()\n")
        .file("src/start.py", "python", "def start():\n    pass\n")
        .symbol("src/main.py", "run", SymbolKind::Function, (1, 2))
        .symbol("src/start.py", "start", SymbolKind::Function, (1, 2))
        .edge("run", EdgeKind::Calls, "start", 2, 100)
}

async fn agent() -> FakeAgent {
    FakeAgent::new(vec![shop("a/shop"), shop("b/shop")], None).await
}

#[tokio::test]
async fn text_and_json_name_the_repository_of_each_definition() {
    let found = agent().await.call("read_code", json!({"symbol": "run"})).await.ok();
    let shown = found.json["repository"].as_str().expect("a repository");
    let other = if shown == "a/shop" { "b/shop" } else { "a/shop" };
    assert_eq!(found.json["other_definitions"][0]["repository"], json!(other));
    let line = format!("also defined: function run {other} src/main.py:1\n");
    assert!(found.text.contains(&line), "{}", found.text);
}

/// The notes and the places of other definitions count towards the token budget.
#[tokio::test]
async fn token_budget_includes_other_definitions() {
    let body = "def to_string():\n".to_owned() + &"    value = compute(value)\n".repeat(60);
    let long = |number: usize| {
        let name = format!("github.com/some-organisation/a-library-with-a-long-name-{number:02}");
        FakeContent::new(&name, "c1").file("src/texts/conversion.py", "python", &body).symbol(
            "src/texts/conversion.py",
            "to_string",
            SymbolKind::Function,
            (1, 61),
        )
    };
    let agent = FakeAgent::new((0..60).map(long).collect(), None).await;
    for max_tokens in [500, 600, 700, 800] {
        let read = json!({"symbol": "to_string", "max_tokens": max_tokens});
        let found = agent.call("read_code", read).await.ok();
        assert!(found.text.contains("also defined: "), "{}", found.text);
        let num_tokens = estimate_tokens(&found.text);
        assert!(num_tokens <= max_tokens, "{num_tokens} of {max_tokens}\n{}", found.text);
    }
}

#[tokio::test]
async fn text_and_json_name_the_repositories_with_the_same_path() {
    let agent = agent().await;
    let found = agent.call("read_code", json!({"path": "README.md"})).await.ok();
    assert_eq!((&found.json["repository"], &found.json["also_in"]), (&json!("a/shop"), &json!(["b/shop"])));
    assert!(found.text.contains("is also a path in b/shop"), "{}", found.text);
    let found = agent.call("read_code", json!({"path": "README.md", "repository": "b/shop"})).await.ok();
    assert_eq!(found.json.get("also_in"), None);
}

#[tokio::test]
async fn relations_of_several_repositories_are_distinguished() {
    let found = agent().await.call("analyze_relationship", json!({"target": "run", "mode": "callees"})).await.ok();
    for repository in ["a/shop", "b/shop"] {
        let line = format!("callees of function run {repository} src/main.py:1\n");
        assert!(found.text.contains(&line), "{}", found.text);
    }
}

/// An ambiguous repository is reported with a call that names one of the matches.
#[tokio::test]
async fn ambiguous_repository_gets_a_call_that_works() {
    let agent = agent().await;
    let refused = agent.call("read_code", json!({"path": "README.md", "repository": "shop"})).await;
    assert_eq!(refused.code(), "validation_error");
    let details = &refused.json["details"];
    assert_eq!(
        (&details["field"], &details["similar_repositories"]),
        (&json!("repository"), &json!(["a/shop", "b/shop"]))
    );
    let (tool, arguments) = refused.suggestions().swap_remove(0);
    assert_eq!((tool.as_str(), &arguments), ("read_code", &json!({"path": "README.md", "repository": "a/shop"})));
    agent.call(&tool, arguments).await.ok();
}
