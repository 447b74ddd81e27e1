//! Checks that questions about modules find the modules, their documents and their patterns. The repository
//! has the structure of the examples in the requirements of Cairn.

use std::path::Path;

use cairn_testkit::work_tree::write;
use serde_json::Value;

use crate::harness::Index;

const AGENTS: &str = "# Fisio

ETL engine that imports the data of cloud providers.

## Entry Points

- `fisio/main.py` - command line
- `fisio/imports/command.py` - commands that import data

## Key Patterns

### Import Pattern

Importers extend BaseImporter. Each importer has these methods:
- fetch_data()
- transform()
- upsert()

## Important Classes

- `BOUpserter` - writes business objects
- `RetryManager` - retries with a growing pause
";

const BILLING: &str = "# Billing

Computes the monthly invoice of each customer from the recorded usage.

## How it works

`invoice.py` adds the usage of a month. `Ledger` in `ledger.py` stores the result.

## Entry Points

- `server.py` - HTTP service
";

fn importer(name: &str) -> String {
    let lower = name.to_lowercase();
    format!(
        "from fisio.imports.base import BaseImporter\n\n\nclass {name}Importer(BaseImporter):\n\
         \x20   \"\"\"Imports the resources of {name}.\"\"\"\n\n\
         \x20   def __init__(self, session):\n        self.session = session\n\n\
         \x20   def fetch_data(self):\n        return self.session.pages(\"{lower}\")\n\n\
         \x20   def transform(self, rows):\n        return [row[\"{lower}_id\"] for row in rows]\n\n\
         \x20   def upsert(self, records):\n        self.session.write(\"{lower}\", records)\n"
    )
}

fn make_repository(root: &Path) {
    write(root, "AGENTS.md", "# m32rimm\n\nPlatform that collects and bills cloud resources.\n");
    write(root, "fisio/AGENTS.md", AGENTS);
    write(root, "fisio/fisio/__init__.py", "");
    let main = "\"\"\"Command line of the engine.\"\"\"\n\n\ndef main(arguments):\n    return run_imports(arguments)\n";
    write(root, "fisio/fisio/main.py", main);
    let imports = "\"\"\"Importers for the data of cloud providers.\n\nOne file for each.\n\"\"\"\n";
    write(root, "fisio/fisio/imports/__init__.py", imports);
    let command = "def run_imports(names):\n    for name in names:\n        start(name)\n";
    write(root, "fisio/fisio/imports/command.py", command);
    write(
        root,
        "fisio/fisio/imports/base.py",
        "class BaseImporter:\n    \"\"\"Base of all.\"\"\"\n    session = None\n",
    );
    for name in ["AWS", "Azure", "GCP", "OCI", "IBM"] {
        write(root, &format!("fisio/fisio/imports/{}_import.py", name.to_lowercase()), importer(name));
    }
    let upserter = "class BOUpserter:\n    def write(self, records):\n        self.store(records)\n";
    write(root, "fisio/fisio/upserter.py", upserter);
    let retry = "class RetryManager:\n    def call(self, function):\n        return function()\n";
    write(root, "fisio/fisio/retry.py", retry);
    write(root, "billing/README.md", BILLING);
    write(root, "billing/__init__.py", "");
    write(root, "billing/invoice.py", "def make_invoice(customer, usage):\n    return sum(usage)\n");
    write(root, "billing/ledger.py", "class Ledger:\n    def add(self, total):\n        self.total = total\n");
    write(root, "billing/server.py", "def handle(request):\n    return make_invoice(request.customer, [])\n");
}

fn indexed() -> (tempfile::TempDir, Index) {
    let (root, index) = (tempfile::tempdir().expect("a temporary directory"), Index::new());
    make_repository(root.path());
    index.index(root.path());
    (root, index)
}

fn results(index: &Index, question: &str) -> Vec<Value> {
    let answer = index.json(&["search", question, "--max-tokens", "20000"]);
    answer["results"].as_array().expect("results").clone()
}

/// The zero-based position of the result with each path.
fn positions(results: &[Value], paths: &[&str]) -> Vec<Option<usize>> {
    paths.iter().map(|path| results.iter().position(|result| result["path"] == *path)).collect()
}

#[test]
fn sections_have_heading_paths_and_modules() {
    let (_root, index) = indexed();
    let answer = index.json(&["search", "fisio", "--kind", "navigation", "--path", "fisio/AGENTS.md"]);
    let results = answer["results"].as_array().expect("results");
    let mut headings: Vec<&str> = results.iter().filter_map(|result| result["heading"].as_str()).collect();
    headings.sort_unstable();
    assert_eq!(headings, ["Entry Points", "Fisio", "Important Classes", "Key Patterns > Import Pattern"]);
    for result in results {
        assert_eq!((&result["module"], &result["module_root"]), (&"fisio".into(), &"fisio".into()), "{result}");
    }
}

#[test]
fn nested_packages_have_one_name() {
    let (_root, index) = indexed();
    let results = results(&index, "AWSImporter");
    let aws = results.iter().find(|result| result["path"] == "fisio/fisio/imports/aws_import.py").expect("a result");
    assert_eq!(aws["module"], "fisio.imports.aws_import");
    assert_eq!((&aws["module_root"], &aws["submodule"]), (&"fisio".into(), &"imports".into()));
    let in_module = index.json(&["search", "run the imports", "--module", "fisio.imports"]);
    for result in in_module["results"].as_array().expect("results") {
        assert!(result["path"].as_str().is_some_and(|path| path.contains("fisio/imports/")), "{result}");
    }
}

#[test]
fn module_question_finds_its_document_and_the_files_named_there() {
    let (_root, index) = indexed();
    let billing = results(&index, "how does the billing module work");
    assert_eq!((&billing[0]["path"], &billing[0]["kind"]), (&"billing/README.md".into(), &"navigation".into()));
    let found = positions(&billing, &["billing/invoice.py", "billing/ledger.py", "billing/server.py"]);
    assert!(found.iter().all(|position| position.is_some_and(|position| position < 10)), "{found:?}");
    let entry = results(&index, "where is the entry point of fisio");
    assert_eq!(entry[0]["heading"], "Entry Points");
    assert_eq!(entry[0]["path"], "fisio/AGENTS.md");
    let found = positions(&entry, &["fisio/fisio/main.py", "fisio/fisio/imports/command.py"]);
    assert!(found.iter().all(|position| position.is_some_and(|position| position < 6)), "{found:?}");
}

/// A question about a module need not contain the word "module".
#[test]
fn name_of_a_module_finds_its_document() {
    let (_root, index) = indexed();
    let named = ["billing/invoice.py", "billing/ledger.py", "billing/server.py"];
    for question in [
        "what does the billing package do",
        "explain the billing component",
        "what is in billing",
        "overview of the billing folder",
    ] {
        let found = results(&index, question);
        assert_eq!((&found[0]["path"], &found[0]["kind"]), (&"billing/README.md".into(), &"navigation".into()));
        let places = positions(&found, &named);
        assert!(places.iter().all(|place| place.is_some_and(|place| place < 10)), "{question}: {places:?}");
    }
    let found = results(&index, "how does the fisio service work");
    assert!(positions(&found, &["fisio/AGENTS.md"])[0].is_some_and(|place| place < 3), "{found:?}");
}

#[test]
fn pattern_is_first_only_if_the_question_asks_for_one() {
    let (_root, index) = indexed();
    for question in ["how do importers work", "importer pattern", "typical structure of an importer"] {
        let results = results(&index, question);
        assert_eq!(results[0]["kind"], "pattern", "{question}");
        assert_eq!(results[0]["symbol"], "Importer", "{question}");
    }
    for question in ["importer", "Importer", "importers of cloud resources", "where do importers write records"] {
        let results = results(&index, question);
        assert_ne!(results[0]["kind"], "pattern", "{question}");
    }
}

#[test]
fn members_name_the_pattern_that_they_follow() {
    let (_root, index) = indexed();
    let found = results(&index, "how do importers work");
    let follows = |path: &str| {
        let result = found.iter().find(|result| result["path"] == path && result["kind"] != "pattern");
        result.map(|result| result["follows_pattern"].clone())
    };
    let followed: Vec<_> = ["aws", "azure", "gcp", "oci", "ibm"]
        .iter()
        .filter_map(|name| follows(&format!("fisio/fisio/imports/{name}_import.py")))
        .collect();
    assert!(followed.len() >= 2 && followed.iter().all(|pattern| pattern == "Importer"), "{followed:?}");
    let other = results(&index, "BOUpserter");
    assert_eq!(other[0]["follows_pattern"], Value::Null);
    let read = index.json(&["show", "r", "fisio/fisio/imports/gcp_import.py:4-8"]);
    assert_eq!(read["follows_pattern"], "Importer");
}

#[test]
fn modules_are_a_tree_with_descriptions() {
    let (_root, index) = indexed();
    let answer = index.json(&["modules", "--repo", "r"]);
    let modules = answer["modules"].as_array().expect("modules");
    let shown: Vec<(&str, Option<&str>)> = modules
        .iter()
        .map(|module| (module["module"].as_str().expect("a name"), module["description"].as_str()))
        .collect();
    assert_eq!(
        shown,
        [
            ("", Some("Platform that collects and bills cloud resources.")),
            ("billing", Some("Computes the monthly invoice of each customer from the recorded usage.")),
            ("fisio", Some("ETL engine that imports the data of cloud providers.")),
            ("fisio.imports", Some("Importers for the data of cloud providers.")),
        ]
    );
    assert_eq!(modules[3]["directory"], "fisio/fisio/imports");
    let one = index.json(&["modules", "fisio", "--repo", "r", "--depth", "1"]);
    assert_eq!(one["page"].as_object(), None);
    assert_eq!(one["num_total"], 2);
    let unknown = index.run(&["modules", "imports", "--repo", "r"]);
    let message = String::from_utf8_lossy(&unknown.stderr);
    assert!(!unknown.status.success() && message.contains("did you mean «fisio.imports»?"), "{message}");
}

#[test]
fn settings_describe_modules() {
    let (root, index) = (tempfile::tempdir().expect("a temporary directory"), Index::new());
    make_repository(root.path());
    write(root.path(), ".cairn.yaml", "modules:\n  billing: Invoices and refunds\n");
    index.index(root.path());
    let answer = index.json(&["modules", "billing", "--repo", "r"]);
    assert_eq!(answer["modules"][0]["description"], "Invoices and refunds");
}
