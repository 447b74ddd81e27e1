//! Checks the patterns found in small repositories, and properties that hold for any result.

use cairn_domain::{Digester, FactsKey, FileFacts, PatternRecord, RepoPath, RepositoryId, RepositoryName, Tenant};
use cairn_patterns::{
    PatternFile, PatternSettings, Shape, find_patterns, is_of_tests, pattern_chunk_text, pattern_graph, shapes,
};
use cairn_syntax::{ParseLimits, language_of, module_path, parse_file};
use proptest::prelude::*;

fn repository() -> RepositoryId {
    RepositoryId::derive(&Tenant::local(), &RepositoryName::new("fixture"))
}

fn shapes_of(path: &str, text: &str) -> Vec<Shape> {
    let path = RepoPath::parse(path).expect("valid path");
    let language = language_of(&path, text.as_bytes()).map_or("text", |row| row.name);
    let facts_key = FactsKey(Digester::new("fixture").text(text).key());
    let facts: FileFacts = parse_file(language, facts_key, text, &ParseLimits::default());
    let module_path = module_path(language, &path);
    shapes(
        repository(),
        &PatternFile { path: &path, module_path: &module_path, outline: &cairn_linking::outline(&facts) },
    )
}

fn patterns(files: &[(String, String)]) -> Vec<PatternRecord> {
    let shapes: Vec<Shape> = files.iter().flat_map(|(path, text)| shapes_of(path, text)).collect();
    find_patterns(repository(), &shapes, &PatternSettings::default())
}

/// The source of a Python class with these methods.
fn class(name: &str, base: &str, methods: &[&str]) -> String {
    let methods: String = methods.iter().map(|method| format!("    def {method}(self):\n        pass\n")).collect();
    format!("class {name}({base}):\n{methods}")
}

fn importers() -> Vec<(String, String)> {
    let methods = ["fetch", "parse", "validate", "store"];
    let mut files = Vec::new();
    for name in ["AWS", "Azure", "GCP", "Oracle", "Local"] {
        let path = format!("app/imports/{}.py", name.to_lowercase());
        let mut own = methods.to_vec();
        if name == "GCP" {
            own.push("refresh_token");
        }
        files.push((path, class(&format!("{name}Importer"), "BaseImporter", &own)));
    }
    files
}

#[test]
fn importers_are_found_and_described() {
    let found = patterns(&importers());
    let [pattern] = found.as_slice() else { panic!("expected one pattern, but found {}", found.len()) };
    assert_eq!(pattern.name, "Importer");
    assert_eq!(pattern.shared_methods, ["fetch", "parse", "store", "validate"]);
    assert_eq!(pattern.shared_bases, ["BaseImporter"]);
    assert_eq!(pattern.module_path, "app.imports");
    assert_eq!(pattern.members.len(), 5);
    let gcp = pattern.members.iter().find(|member| member.name == "GCPImporter").expect("a member");
    assert_eq!(gcp.extra_methods, ["refresh_token"]);
    assert_eq!(pattern.members[pattern.canonical as usize].name, "AWSImporter");
    let text = pattern_chunk_text(pattern);
    assert!(text.starts_with("Importer pattern: how importers work"), "{text}");
    assert!(text.contains("Read first: AWSImporter in app/imports/aws.py:1"), "{text}");
    assert!(text.contains("- GCPImporter (app/imports/gcp.py:1); extra: refresh_token"), "{text}");
    let (nodes, edges) = pattern_graph(&found);
    assert_eq!((nodes.len(), edges.len()), (1, 5));
}

#[test]
fn three_importers_are_a_pattern_if_min_cluster_size_is_three() {
    let methods = ["__init__", "fetch_data", "transform", "upsert"];
    let names = [("aws", "AWSImporter"), ("azure", "AzureImporter"), ("gcp", "GCPImporter")];
    let file = |(stem, name): &(&str, &str)| (format!("imports/{stem}_import.py"), class(name, "object", &methods));
    let files: Vec<(String, String)> = names.iter().map(file).collect();
    let shapes: Vec<Shape> = files.iter().flat_map(|(path, text)| shapes_of(path, text)).collect();
    let found = find_patterns(repository(), &shapes, &PatternSettings { min_cluster_size: 3, similarity_percent: 80 });
    let [pattern] = found.as_slice() else { panic!("expected one pattern, but found {}", found.len()) };
    assert_eq!((pattern.name.as_str(), pattern.members.len()), ("Importer", 3));
    assert_eq!(pattern.shared_methods, methods);
    assert_eq!(patterns(&files), []);
}

/// The canonical member is the medoid: the member that is most similar to the other members. In this test,
/// the medoid is not the first member in order of name.
#[test]
fn canonical_member_is_the_medoid() {
    let mut files = importers();
    files[0].1 = class("AWSImporter", "BaseImporter", &["fetch", "parse", "validate", "store", "cache_pages"]);
    let found = patterns(&files);
    let pattern = &found[0];
    let canonical = &pattern.members[pattern.canonical as usize];
    assert_eq!(canonical.name, "AzureImporter");
    assert!(canonical.extra_methods.is_empty() && canonical.missing_methods.is_empty());
}

#[test]
fn similar_files_form_a_pattern_with_a_snake_case_name() {
    let file = |name: &str| {
        let text = format!("def load_{name}(path):\n    pass\n\n\ndef check_{name}(rows):\n    pass\n");
        (format!("app/jobs/{name}_job.py"), text.replace(name, &format!("{name}_job")))
    };
    let files: Vec<(String, String)> = ["orders", "users", "invoices", "prices", "taxes"].map(file).to_vec();
    let found = patterns(&files);
    let [pattern] = found.as_slice() else { panic!("expected one pattern, but found {}", found.len()) };
    assert_eq!((pattern.name.as_str(), pattern.members.len()), ("job", 5));
}

#[test]
fn pattern_needs_five_similar_classes() {
    let mut files = importers();
    files.pop();
    assert_eq!(patterns(&files), []);
    files = importers();
    files.push(("app/other.py".to_owned(), class("Report", "object", &["render", "close_all"])));
    assert_eq!(patterns(&files)[0].members.len(), 5);
}

#[test]
fn missing_method_is_reported() {
    let methods = ["a1", "a2", "a3", "a4", "a5", "a6"];
    let mut files: Vec<(String, String)> =
        (0..6).map(|index| (format!("m{index}.py"), class(&format!("Job{index}Task"), "Base", &methods))).collect();
    files.push(("m9.py".to_owned(), class("ShortTask", "Base", &methods[..5])));
    let found = patterns(&files);
    assert_eq!(found[0].members.len(), 7);
    let short = found[0].members.iter().find(|member| member.name == "ShortTask").expect("a member");
    assert_eq!(short.missing_methods, ["a6"]);
}

#[test]
fn trivial_shapes_form_no_pattern() {
    let check = |text: &str| {
        let files: Vec<(String, String)> =
            (0..8).map(|index| (format!("f{index}.py"), text.replace('#', &index.to_string()))).collect();
        assert_eq!(patterns(&files), [], "{text}");
    };
    check("class Empty#:\n    pass\n");
    check("class Point#:\n    x = 1\n    y = 2\n");
    check("class Error#(Exception):\n    def __init__(self):\n        pass\n");
    check(
        "class TestThing#:\n    def test_one(self):\n        pass\n    def test_two(self):\n        pass\n    def setUp(self):\n        pass\n",
    );
    check("def main():\n    pass\n");
}

/// The tests of each class have their own names, so only the fixtures and the base are compared.
#[test]
fn test_classes_with_the_same_fixtures_form_a_pattern() {
    let file = |name: &str, base: &str, methods: &[&str]| (format!("tests/{name}.py"), class(name, base, methods));
    let names = ["CartSpec", "Invoices", "LoginChecks", "RouterCase", "StoreSuite"];
    let files: Vec<(String, String)> =
        names.map(|name| file(name, "TestCase", &["setUp", "tearDown", &format!("test_{name}"), "test_one"])).to_vec();
    let found = patterns(&files);
    let [pattern] = found.as_slice() else { panic!("expected one pattern, but found {}", found.len()) };
    assert_eq!((pattern.name.as_str(), pattern.members.len()), ("Test", 5));
    assert_eq!(pattern.shared_methods, ["setUp", "tearDown", "test_*"]);
    assert_eq!(pattern.shared_bases, ["TestCase"]);
    assert!(pattern.members.iter().all(|member| member.extra_methods.is_empty()), "{:?}", pattern.members);
    // The common word of the names is used, if there is one.
    let named: Vec<(String, String)> = ["Cart", "Invoice", "Login", "Router", "Store"]
        .map(|name| file(&format!("{name}UnitTest"), "Base", &[&format!("test_{name}")]))
        .to_vec();
    let found = patterns(&named);
    assert_eq!(found.iter().map(|pattern| pattern.name.as_str()).collect::<Vec<_>>(), ["UnitTest"]);
    // Other methods describe what the class does, so the names of these methods and of the tests are
    // compared.
    let helpers: Vec<(String, String)> =
        names.map(|name| file(name, "Base", &["connect", &format!("test_{name}"), &format!("test_{name}_2")])).to_vec();
    assert_eq!(patterns(&helpers), []);
}

/// A pattern is test code if and only if all its members are tests, by their paths or by their methods.
#[test]
fn pattern_is_test_code_if_all_members_are_tests() {
    let check = |paths: [&str; 5], methods: &[&str], expect: bool| {
        let names = paths.iter().zip(["Aws", "Azure", "Gcp", "Oracle", "Local"]);
        let files: Vec<(String, String)> = names
            .map(|(path, name)| ((*path).to_owned(), class(&format!("{name}Importer"), "Base", methods)))
            .collect();
        let found = patterns(&files);
        let [pattern] = found.as_slice() else { panic!("expected one pattern, but found {}", found.len()) };
        let (nodes, _) = pattern_graph(&found);
        assert_eq!((is_of_tests(pattern), nodes[0].is_test), (expect, expect), "{paths:?} {methods:?}");
    };
    let in_code = ["app/a.py", "app/b.py", "app/c.py", "app/d.py", "app/e.py"];
    let in_tests = ["tests/a.py", "tests/b.py", "tests/c.py", "app/test_d.py", "app/e_test.py"];
    let one_in_code = ["tests/a.py", "tests/b.py", "tests/c.py", "tests/d.py", "app/e.py"];
    check(in_code, &["fetch", "store"], false);
    check(in_tests, &["fetch", "store"], true);
    check(one_in_code, &["fetch", "store"], false);
    check(in_code, &["setUp", "test_one"], true);
}

#[test]
fn files_of_functions_have_shapes() {
    let files: Vec<(String, String)> = ["users", "orders", "bills", "teams", "roles"]
        .iter()
        .map(|name| {
            (
                format!("handlers/{name}.py"),
                format!("def list_{name}():\n    pass\ndef create_{name}():\n    pass\ndef check():\n    pass\n"),
            )
        })
        .collect();
    let found = patterns(&files);
    assert_eq!(found[0].shared_methods, ["check", "create_*", "list_*"]);
    assert_eq!(found[0].module_path, "handlers");
}

#[test]
fn different_shapes_form_different_patterns() {
    let mut files = importers();
    for index in 0..6 {
        files.push((
            format!("views/v{index}.py"),
            class(&format!("Page{index}View"), "View", &["get_page", "render", "menu"]),
        ));
    }
    let mut names: Vec<String> = patterns(&files).into_iter().map(|pattern| pattern.name).collect();
    names.sort();
    assert_eq!(names, ["Importer", "View"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn patterns_ignore_order_and_members_resemble_medoid(
        classes in prop::collection::vec(prop::collection::btree_set(0usize..9, 1..7), 1..40),
        rotation in 0usize..40,
    ) {
        const METHODS: [&str; 9] = ["aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh", "ii"];
        let mut all: Vec<Shape> = Vec::new();
        for (index, methods) in classes.iter().enumerate() {
            let methods: Vec<&str> = methods.iter().map(|method| METHODS[*method]).collect();
            all.extend(shapes_of(&format!("f{index}.py"), &class(&format!("C{index}"), "Base", &methods)));
        }
        let settings = PatternSettings { min_cluster_size: 3, similarity_percent: 70 };
        let found = find_patterns(repository(), &all, &settings);
        let mut turned = all.clone();
        let by = rotation % turned.len().max(1);
        turned.rotate_left(by);
        turned.reverse();
        prop_assert_eq!(&found, &find_patterns(repository(), &turned, &settings));
        for pattern in &found {
            prop_assert!(pattern.members.len() >= 3);
            let shape = |member: u32| {
                let member = &pattern.members[member as usize];
                all.iter().find(|shape| shape.node == member.node).expect("a shape of the input")
            };
            let medoid = shape(pattern.canonical);
            for index in 0..pattern.members.len() as u32 {
                let other = shape(index);
                let common = medoid.methods.intersection(&other.methods).count() + 1;
                let union = medoid.methods.union(&other.methods).count() + 1;
                prop_assert!(common * 100 >= 70 * union);
            }
        }
    }
}
