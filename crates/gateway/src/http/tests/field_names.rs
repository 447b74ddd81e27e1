//! Tests of the aliases of fields over HTTP.

use std::collections::BTreeSet;

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::super::routes::OPENAPI;
use super::{Cluster, request};
use crate::questions::{ALIASES, Question};
use crate::schema_check::faults;

/// Each accepted name of a field is a property of the schema, and the service accepts each of these names.
#[tokio::test]
async fn schema_contains_every_accepted_name() {
    let cluster = Cluster::of(0).await;
    let key = cluster.key(None, true).await;
    let document = cluster.send(0, request(Method::GET, OPENAPI, None, String::new())).await.json();
    let check = async |path: &str, question: Value| {
        let schema = &document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"];
        assert_eq!(faults(&document, schema, &question), Vec::<String>::new(), "{path} {question}");
        let reply = cluster.post(&key, path, &question).await;
        assert_eq!(reply.status, StatusCode::OK, "{path} {question}: {}", reply.text);
        reply.json()
    };
    for subject in ["query", "target"] {
        for target_type in ["target_type", "type"] {
            let found = check("/v1/search", json!({ subject: "date.rs", target_type: "filename" })).await;
            assert_eq!(found["files"][0]["path"], "src/date.rs", "{found}");
        }
        check("/v1/grep", json!({ subject: "parse_date" })).await;
    }
    for subject in ["target", "name"] {
        for mode in ["mode", "relation"] {
            check("/v1/graph", json!({ subject: "scan", mode: "callers" })).await;
        }
    }
    for target in ["target", "path"] {
        check("/v1/index", json!({ target: "app" })).await;
    }
}

/// `ALIASES` contains all aliases that the questions accept, and nothing else.
#[test]
fn other_names_equal_the_accepted_names() {
    for (path, field, alias) in ALIASES {
        let text = json!({ alias: 1 }).to_string();
        let error = Question::parse(path, text.as_bytes()).expect("a route").expect_err("a wrong type").to_string();
        assert!(!error.contains("unknown field"), "{path} {field} {alias}: {error}");
    }
    let num_accepted = include_str!("../../questions/types.rs").matches("alias = ").count();
    assert_eq!(ALIASES.len(), num_accepted, "the list contains every alias of the questions");
    let paths: BTreeSet<&str> = ALIASES.iter().map(|(path, _, _)| *path).collect();
    assert!(paths.iter().all(|path| Question::PATHS.contains(path)), "{paths:?}");
}

#[tokio::test]
async fn schema_of_the_index_route_has_defaults() {
    let cluster = Cluster::of(0).await;
    let document = cluster.send(0, request(Method::GET, OPENAPI, None, String::new())).await.json();
    let fields = &document["components"]["schemas"]["IndexQuestion"]["properties"];
    assert_eq!(fields["max_file_size"]["default"], json!(1_048_576), "{fields}");
    assert_eq!(
        (&fields["include_patterns"]["default"], &fields["exclude_patterns"]["default"]),
        (&json!([]), &json!([]))
    );
}
