use cairn_search::{FieldFault, QueryErrorCode};
use serde_json::{Value, json};

use super::Arguments;
use crate::mcp::tools::ToolSpec;

fn read(tool: &str, given: Value) -> Result<Value, (String, Option<Value>)> {
    let Value::Object(given) = given else { panic!("an object") };
    match Arguments::read(ToolSpec::find(tool).expect("a tool"), given) {
        Ok(arguments) => Ok(Value::Object(arguments.given)),
        Err(failure) => {
            assert_eq!(failure.error.code, QueryErrorCode::ValidationError);
            let corrected = failure.suggestions.into_iter().find(|suggestion| suggestion.tool == tool);
            Err((failure.error.message.to_string(), corrected.map(|suggestion| Value::Object(suggestion.arguments))))
        }
    }
}

#[test]
fn argument_values_are_converted_to_their_type() {
    let check = |given: Value, expect: Value| assert_eq!(read("search_code", given), Ok(expect));
    check(json!({"query": "x", "limit": "5"}), json!({"query": "x", "limit": 5}));
    check(json!({"query": "x", "path": "src"}), json!({"query": "x", "path": ["src"]}));
    check(json!({"query": "x", "explain": "true"}), json!({"query": "x", "explain": true}));
    check(json!({"query": "x", "cursor": null}), json!({"query": "x"}));
    check(json!({"query": "x", "kind": "Function"}), json!({"query": "x", "kind": ["function"]}));
}

#[test]
fn unknown_argument_suggests_the_nearest_name() {
    let check = |tool: &str, given: Value, message: &str, corrected: Value| {
        let (found, call) = read(tool, given).expect_err("refused");
        assert_eq!(found, message);
        assert_eq!(call, Some(corrected));
    };
    let query = json!({"query": "x"});
    let named = |given: Value| read("search_code", given);
    assert_eq!(named(json!({"target": "x", "type": "file"})), Ok(json!({"query": "x", "target_type": "file"})));
    check("search_code", json!({"qurey": "x"}), "unknown argument `qurey`; did you mean `query`?", query.clone());
    check("search_code", json!({"question": "x"}), "unknown argument `question`; did you mean `query`?", query);
    check(
        "read_code",
        json!({"filePath": "a.rs", "startLine": 3}),
        "unknown argument `filePath`; did you mean `path`?; unknown argument `startLine`; did you mean `start_line`?",
        json!({"path": "a.rs", "start_line": 3}),
    );
    check(
        "analyze_relationship",
        json!({"name": "f", "relation": "caller"}),
        "`mode` must be one of callers, callees, dependencies, dependents, inheritance, but it is `caller`; did you mean `callers`?",
        json!({"target": "f", "mode": "callers"}),
    );
    check(
        "search_code",
        json!({"query": "x", "mode": "literal"}),
        "`mode` must be one of text, regex, but it is `literal`; did you mean `text`?",
        json!({"query": "x", "mode": "text"}),
    );
    check(
        "analyze_relationship",
        json!({"name": "f", "relation": "inherited_by"}),
        "`mode` must be one of callers, callees, dependencies, dependents, inheritance, but it is `inherited_by`; did you mean `inheritance`?",
        json!({"target": "f", "mode": "inheritance"}),
    );
    check(
        "analyze_relationship",
        json!({"name": "f", "relation": "callers", "wibble": 1}),
        "unknown argument `wibble`; `analyze_relationship` takes target, mode, context_path, repository, limit",
        json!({"target": "f", "mode": "callers"}),
    );
    check(
        "analyze_relationship",
        json!({"name": "f", "relation": "callers", "limit": -1}),
        "`limit` must be between 1 and 500 (min_allowed 1, max_allowed 500, provided -1)",
        json!({"target": "f", "mode": "callers"}),
    );
    check(
        "analyze_relationship",
        json!({"target": "src/auth.ts", "mode": "impact"}),
        "`mode` must be one of callers, callees, dependencies, dependents, inheritance, but it is `impact`; did you mean `dependents`?",
        json!({"target": "src/auth.ts", "mode": "dependents"}),
    );
    check(
        "analyze_relationship",
        json!({"target": "f"}),
        "`mode` is missing; it must be one of callers, callees, dependencies, dependents, inheritance",
        json!({"target": "f", "mode": "callers"}),
    );
    check(
        "index_repository",
        json!({"max_file_size": 99_999_999}),
        "`max_file_size` must be between 0 and 10485760 (min_allowed 0, max_allowed 10485760, provided 99999999)",
        json!({"max_file_size": 10_485_760}),
    );
}

#[test]
fn details_name_the_wrong_field() {
    let check = |given: Value, expect: FieldFault| {
        let Value::Object(given) = given else { panic!("an object") };
        let failure = Arguments::read(ToolSpec::find("index_repository").expect("a tool"), given);
        assert_eq!(failure.expect_err("refused").error.fault.as_deref(), Some(&expect));
    };
    let size = FieldFault::of("max_file_size");
    let sizes = FieldFault { max_allowed: Some(10_485_760), provided: Some(20_971_520), ..size.clone() };
    check(json!({"path": ".", "max_file_size": 20_971_520}), sizes.clone());
    let negative = FieldFault { provided: Some(-1), ..sizes };
    check(json!({"path": ".", "max_file_size": -1}), negative);
    check(json!({"path": ".", "max_file_size": "many"}), size);
    check(json!({"path": ".", "wibble": 1}), FieldFault::of("wibble"));
}

/// Every tool accepts its subject in the argument `target`, and still accepts the old names of this
/// argument.
#[test]
fn target_is_the_subject_of_every_call() {
    let check = |tool: &str, given: Value, expect: Value| assert_eq!(read(tool, given), Ok(expect));
    check("search_code", json!({"target": "x", "type": "file"}), json!({"query": "x", "target_type": "file"}));
    check("read_code", json!({"target": "src/a.rs"}), json!({"target": "src/a.rs"}));
    let relation = json!({"target": "f", "mode": "callers"});
    check("analyze_relationship", json!({"target": "f", "relation": "callers"}), relation.clone());
    check("analyze_relationship", json!({"name": "f", "mode": "callers"}), relation);
    check("index_repository", json!({"target": "/x"}), json!({"path": "/x"}));
    let of_question = json!({"query": "x", "query_type": "symbol"});
    check("search_code", of_question.clone(), of_question);
    // `type` selects what a search looks for, never the kind of chunk.
    let (message, _) = read("search_code", json!({"query": "x", "type": "function"})).expect_err("refused");
    assert!(message.starts_with("`target_type` must be one of auto, symbol, file"), "{message}");
}

#[test]
fn fault_without_correction_suggests_no_call() {
    let check = |given: Value, message: &str| {
        let (found, call) = read("analyze_relationship", given).expect_err("refused");
        assert_eq!(found, message);
        assert_eq!(call, None);
    };
    check(
        json!({"relation": "callers"}),
        "`target` is missing (symbol (`name`, `Class.method`, `path#name`), file, directory, module or package)",
    );
    check(
        json!({"name": 3, "relation": "callers"}),
        "`target` must be a string; `target` is missing (symbol (`name`, `Class.method`, `path#name`), file, directory, module or package)",
    );
    check(
        json!({"name": "f", "symbol": "g", "relation": "callers"}),
        "unknown argument `symbol`; did you mean `target`?",
    );
}
