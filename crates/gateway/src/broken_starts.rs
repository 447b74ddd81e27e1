//! Calls that fail or find nothing: wrong names, wrong types, absent files, unknown repositories. Tests make
//! these calls, and then the calls that the answers suggest.

use serde_json::Value;

/// Each line is a call: the name of a tool and its arguments. Most calls have one mistake; some calls are
/// correct, but find nothing in the index of the tests.
const CALLS: &str = r#"
search_code {}
search_code {"query": ""}
search_code {"query": "   "}
search_code {"query": 7}
search_code {"query": ["date"]}
search_code {"query": {"text": "date"}}
search_code {"qurey": "date"}
search_code {"question": "date"}
search_code {"search_query": "date"}
search_code {"q": "date", "top_k": 3}
search_code {"query": "date", "repository": "dmo"}
search_code {"query": "date", "repository": ["demo", "othr"]}
search_code {"query": "date", "repository": "nothing/like/this"}
search_code {"query": "date", "repo": "demo"}
search_code {"query": "date", "repositories": ["demo"]}
search_code {"query": "date", "repository": 3}
search_code {"query": "date", "repository": "[demo"}
search_code {"query": "date", "language": "cobol"}
search_code {"query": "date", "language": "python"}
search_code {"query": "date", "language": ["cobol", "ada"], "kind": "class"}
search_code {"query": "date", "lang": "rust"}
search_code {"query": "date", "language": 1}
search_code {"query": "date", "path": "nowhere/", "kind": ["functon"]}
search_code {"query": "date", "path": "nowhere/", "tests": "only"}
search_code {"query": "date", "path": "nowhere/**/*.rs"}
search_code {"query": "date", "path": "["}
search_code {"query": "date", "path": ["src", "{a"]}
search_code {"query": "date", "file": "src/date.rs"}
search_code {"query": "date", "kind": "functions"}
search_code {"query": "date", "kind": "macro"}
search_code {"query": "date", "type": "function"}
search_code {"query": "date", "target_type": "files"}
search_code {"query": "date", "query_type": "symbols"}
search_code {"query": "date", "query_type": "semantic"}
search_code {"query": "date", "tests": "no"}
search_code {"query": "date", "tests": true}
search_code {"query": "date", "limit": 0}
search_code {"query": "date", "limit": 1000}
search_code {"query": "date", "limit": -1}
search_code {"query": "date", "limit": "ten"}
search_code {"query": "date", "limit": 2.5}
search_code {"query": "date", "max_tokens": 10}
search_code {"query": "date", "max_tokens": 900000}
search_code {"query": "date", "since": "last week"}
search_code {"query": "date", "since": "2026-13-45"}
search_code {"query": "date", "cursor": "beef"}
search_code {"query": "date", "cursor": ""}
search_code {"query": "date", "page": 2}
search_code {"query": "date", "explain": "yes"}
search_code {"query": "date", "tag": "no-such-tag"}
search_code {"query": "date", "module": "no.such.module"}
search_code {"query": "dat.rs", "target_type": "filename", "fuzzy_filename": false}
search_code {"query": "zzzzqqqq.xyz", "target_type": "filename"}
search_code {"query": "zzzzqqqq", "target_type": "symbol"}
search_code {"query": "nodir/", "target_type": "directory"}
search_code {"query": "[a", "mode": "regex"}
search_code {"query": "a(", "mode": "regex"}
search_code {"query": "*.rs", "mode": "regex"}
search_code {"query": "PARSE_DATE", "mode": "text"}
search_code {"query": "qwxyz", "mode": "text"}
search_code {"query": "date", "mode": "text", "path": "nowhere/"}
search_code {"query": "date", "mode": "txt"}
search_code {"query": "date", "mode": "text", "kind": ["function"]}
search_code {"query": "date", "mode": "text", "context": 500}
search_code {"query": "date", "mode": "text", "repository": "dmo"}
search_code {"query": "date", "mode": "text", "cursor": "beef"}
read_code {}
read_code {"symbol": "parse_date_time_zone"}
read_code {"symbol": "parse_date_time_zone", "repository": "demo"}
read_code {"symbol": ""}
read_code {"symbol": "xyzzy"}
read_code {"name": "scan"}
read_code {"function": "scan"}
read_code {"target": "xyzzy_no_such"}
read_code {"target": "src/dat.rs"}
read_code {"target": "scan", "path": "src/date.rs"}
read_code {"symbol": "scan", "path": "src/server.rs"}
read_code {"symbol": "src/server.rs#nothing_here"}
read_code {"path": "src/dat.rs"}
read_code {"path": "dta.rs", "repository": "demo"}
read_code {"path": "/src/date.rs"}
read_code {"path": "scr"}
read_code {"path": "srcc/"}
read_code {"path": "logo.png"}
read_code {"path": "no/such/file.rs"}
read_code {"filePath": "src/date.rs"}
read_code {"path": ["src/date.rs"]}
read_code {"path": "src/date.rs", "startLine": 2}
read_code {"path": "src/date.rs", "start_line": 900}
read_code {"path": "src/date.rs", "start_line": 0}
read_code {"path": "src/date.rs", "start_line": 5, "end_line": 2}
read_code {"path": "src/date.rs", "start_line": "one"}
read_code {"path": "src/date.rs", "repository": "demoo"}
read_code {"path": "src/date.rs", "repository": ["demo", "other"]}
analyze_relationship {}
analyze_relationship {"target": "scan"}
analyze_relationship {"mode": "callers"}
analyze_relationship {"name": "xyzzy", "relation": "callers"}
analyze_relationship {"target": "xyzzy", "mode": "dependents"}
analyze_relationship {"name": "scan", "relation": "called_by"}
analyze_relationship {"name": "scan", "relation": "inherits"}
analyze_relationship {"target": "scan", "mode": "impact"}
analyze_relationship {"target": "scan", "mode": "calls"}
analyze_relationship {"name": "scan", "relation": "callees"}
analyze_relationship {"name": "Server", "relation": "callers"}
analyze_relationship {"symbol": "scan", "type": "callers"}
analyze_relationship {"target": "scan", "mode": "callers", "depth": 3}
analyze_relationship {"target": "scan", "mode": "callers", "limit": 9999}
analyze_relationship {"target": "scan", "mode": "callers", "repository": "dmo"}
analyze_relationship {"target": "src/dat.rs", "mode": "dependents"}
list_repositories {"name": "zzz"}
list_repositories {"nam": "demo"}
list_repositories {"limit": 100000}
index_status {"repository": "nope"}
index_status {"repository": "demoo"}
index_status {"path": "lib/server.rs"}
index_status {"outcome": "skipped(nonsense)"}
index_status {"run_id": "r99"}
index_status {"run": 5}
index_status {"limit": "x"}
index_repository {"target": "/nowhere/x"}
index_repository {"path": "/nowhere/x"}
index_repository {"target": "broken"}
index_repository {"url": 3}
index_repository {"path": "demo", "max_file_size": 20971520}
index_repository {"path": "demo", "max_file_size": -5}
index_repository {"path": "demo", "include": ["*.rs"]}
index_repository {"path": "demo", "include_patterns": {"a": 1}}
index_repository {"path": "demo", "target": "demo"}
index_repository {"cancel_run": "r99"}
workflow_guide {"topic": "find_files"}
workflow_guide {"topic": "zzz"}
workflow_guide {"task": "finding_files"}
search {"query": "date"}
searchCode {"query": "date"}
grep {"query": "date"}
read_file {"path": "src/date.rs"}
find_references {"target": "scan"}
index {"path": "demo"}
"#;

pub(crate) fn calls() -> Vec<(&'static str, Value)> {
    let call = |line: &'static str| {
        let (tool, arguments) = line.split_once(' ').expect("a tool and its arguments");
        (tool, serde_json::from_str(arguments).expect("JSON"))
    };
    CALLS.trim().lines().map(call).collect()
}
