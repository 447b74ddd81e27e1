//! Checks relationship questions about files, packages, directories and dependencies of a real index.

use std::path::Path;

use cairn_testkit::work_tree::write;
use serde_json::Value;

use crate::harness::Index;

/// A Python package, a TypeScript package and a Go package, each with code that imports the package.
fn make_repository(root: &Path) {
    write(root, "pyproject.toml", "[project]\nname = \"app\"\ndependencies = [\"redis\", \"pyyaml\"]\n");
    write(root, "app/__init__.py", "");
    write(root, "app/auth/__init__.py", "from app.auth.session import open_session\n");
    write(root, "app/auth/session.py", "def open_session(user):\n    return {\"user\": user}\n");
    let login = "import redis\nimport yaml\nfrom app.auth import open_session\n\n\ndef login(user):\n    return open_session(user)\n";
    write(root, "app/login.py", login);
    write(root, "web/package.json", "{\"name\": \"web\", \"dependencies\": {\"@acme/ui\": \"1.0.0\"}}\n");
    write(root, "web/src/store/index.ts", "export function makeStore() {\n  return new Map();\n}\n");
    let page = "import { Button } from '@acme/ui';\nimport { makeStore } from './store';\n\nexport function page() {\n  return Button(makeStore());\n}\n";
    write(root, "web/src/page.ts", page);
    write(root, "svc/go.mod", "module example.org/svc\n\ngo 1.22\n\nrequire github.com/acme/go-queue/v2 v2.0.0\n");
    write(root, "svc/billing/bill.go", "package billing\n\nfunc Total(n int) int {\n\treturn n\n}\n");
    write(root, "svc/billing/tax.go", "package billing\n\nfunc Tax(n int) int {\n\treturn Total(n)\n}\n");
    let main = "package main\n\nimport (\n\t\"example.org/svc/billing\"\n\tqueue \"github.com/acme/go-queue/v2\"\n)\n\nfunc main() {\n\tqueue.Push(billing.Total(1))\n}\n";
    write(root, "svc/main.go", main);
    let shapes = "class Shape:\n    def area(self):\n        return 0\n\n\nclass Square(Shape):\n    def area(self):\n        return 4\n";
    write(root, "app/shapes.py", shapes);
}

/// The path and the edge of each result that was found through an edge.
fn related(index: &Index, question: &str) -> (Vec<(String, String)>, Value) {
    let answer = index.json(&["search", question, "--max-tokens", "20000"]);
    assert_eq!(answer["query_type"], "relationship", "{question}");
    let results = answer["results"].as_array().expect("results");
    let of_edges = results
        .iter()
        .filter_map(|result| Some((result["path"].as_str()?.to_owned(), result["via"].as_str()?.to_owned())));
    (of_edges.collect(), answer["notes"].clone())
}

#[test]
fn files_directories_and_packages_have_importers() {
    let (root, index) = (tempfile::tempdir().expect("a temporary directory"), Index::new());
    make_repository(root.path());
    index.index(root.path());
    for (question, path, edge) in [
        ("who imports the auth module", "app/login.py", "(app/auth/"),
        ("what imports app.auth", "app/login.py", "(app/auth/"),
        ("code that uses the auth package", "app/login.py", "(app/auth/"),
        ("who imports the store module", "web/src/page.ts", "IMPORTS index.ts (web/src/store/index.ts)"),
        ("who imports the billing package", "svc/main.go", "(svc/billing/"),
        ("what imports redis", "app/login.py", "IMPORTS pypi:redis"),
        ("code that uses redis", "app/login.py", "IMPORTS pypi:redis"),
        ("what imports yaml", "app/login.py", "IMPORTS pypi:pyyaml"),
        ("who imports @acme/ui", "web/src/page.ts", "IMPORTS npm:@acme/ui"),
        ("what imports go-queue", "svc/main.go", "IMPORTS go:github.com/acme/go-queue/v2"),
        ("what overrides Shape.area", "app/shapes.py", "EXTENDS Shape (app/shapes.py)"),
        ("what does app/login.py import", "app/auth/__init__.py", "login.py (app/login.py) IMPORTS this"),
    ] {
        let (found, notes) = related(&index, question);
        let is_found = found.iter().any(|(at, via)| at == path && via.contains(edge));
        assert!(is_found, "{question}: {found:?} {notes}");
    }
}
