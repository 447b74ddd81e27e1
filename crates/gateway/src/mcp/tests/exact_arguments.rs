//! Tests of the arguments of an exact search.

use serde_json::json;

use super::agent;

/// An argument that has no effect on an exact search is refused, with a call that omits it.
#[tokio::test]
async fn arguments_of_other_searches_are_refused() {
    let agent = agent().await;
    for (name, value) in [
        ("target_type", json!("filename")),
        ("type", json!("file")),
        ("query_type", json!("symbol")),
        ("context_path", json!("src/date.rs")),
        ("fuzzy_filename", json!(false)),
        ("filename_only", json!(true)),
        ("kind", json!(["function"])),
        ("explain", json!(true)),
    ] {
        let call = json!({"query": "parse_http_date", "mode": "text", name: value});
        let refused = agent.call("search_code", call).await;
        assert_eq!(refused.code(), "validation_error", "{name}: {}", refused.text);
        let shown = if name == "type" { "target_type" } else { name };
        assert!(refused.text.contains(&format!("`{shown}`")), "{name}: {}", refused.text);
        let (tool, arguments) = refused.suggestions().swap_remove(0);
        assert_eq!((tool.as_str(), arguments.get(shown)), ("search_code", None), "{name}");
        agent.call(&tool, arguments).await.ok();
    }
}
