//! Tests of `name` and `branch` in `.cairn.yaml`.

use std::path::Path;
use std::process::Output;

use cairn_testkit::work_tree::{commit, git, repository, write};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::Index;
use crate::mcp::Session;

/// A repository in a folder with a known name.
fn shop() -> (TempDir, String) {
    let above = tempfile::tempdir().expect("a directory");
    let root = above.path().join("shop");
    std::fs::create_dir_all(&root).expect("created");
    git(&root, &["init", "-q", "-b", "main"]);
    write(&root, "cart.py", "def add_to_cart(item):\n    return item\n");
    commit(&root, "start");
    let path = root.to_string_lossy().into_owned();
    (above, path)
}

fn declare(root: &str, name: Option<&str>) {
    let text = name.map(|name| format!("name: {name}\n")).unwrap_or_default();
    write(Path::new(root), ".cairn.yaml", text);
}

/// The names of all repositories in the index.
fn names(index: &Index) -> Vec<String> {
    let repositories = index.json(&["repos"])["repositories"].clone();
    let names = repositories.as_array().expect("a list").iter().filter_map(|known| known["name"].as_str());
    names.map(str::to_owned).collect()
}

fn with_file_urls(index: &Index, arguments: &[&str]) -> Output {
    index.command(arguments).env("CAIRN_ALLOW_FILE", "true").output().expect("the program starts")
}

fn ok(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    serde_json::from_str(text.lines().last().unwrap_or_default()).unwrap_or_default()
}

/// Changes the name in the settings file several times. After each change, indexes again, and checks that the
/// index contains only one repository, with the expected name.
fn check_every_change(root: &str, index: &Index, mut again: impl FnMut()) {
    for (declared, expect) in [
        (None, "shop"),
        (Some("acme/store"), "acme/store"),
        (Some("acme/cart"), "acme/cart"),
        (None, "shop"),
        (Some("acme/store"), "acme/store"),
    ] {
        declare(root, declared);
        again();
        assert_eq!(names(index), [expect], "declared {declared:?}");
        let found = index.json(&["search", "add_to_cart", "--repo", expect]);
        assert_eq!(found["results"][0]["repository"], expect, "{found}");
    }
    // The repository is still found by its former names.
    for former in ["shop", "acme/cart"] {
        assert_eq!(index.json(&["search", "add_to_cart", "--repo", former])["results"][0]["path"], "cart.py");
    }
}

#[test]
fn name_follows_the_file_in_every_way_to_index() {
    for way in ["index ROOT", "index", "invalidate ROOT/cart.py"] {
        let ((_above, root), index) = (shop(), Index::new());
        index.ok(&["index", &root]);
        check_every_change(&root, &index, || {
            let words = way.replace("ROOT", &root);
            index.ok(&words.split(' ').collect::<Vec<_>>());
        });
    }
}

#[test]
fn name_follows_the_file_for_an_agent() {
    for by_path in [true, false] {
        let ((_above, root), index) = (shop(), Index::new());
        let mut session = Session::start(index.command(&["mcp"]));
        let mut last = root.clone();
        check_every_change(&root, &index, || {
            let target = if by_path { root.clone() } else { last.clone() };
            let called = session.call("index_repository", &json!({ "path": target }));
            let name = called.structured()["repository"].as_str().unwrap_or_else(|| panic!("{}", called.result));
            name.clone_into(&mut last);
        });
        session.end();
    }
}

#[test]
fn name_from_a_call_is_kept() {
    let ((_above, root), index) = (shop(), Index::new());
    index.ok(&["index", &root, "--name", "mine"]);
    declare(&root, Some("acme/store"));
    index.ok(&["index", &root]);
    assert_eq!(names(&index), ["mine"]);
    let mut session = Session::start(index.command(&["mcp"]));
    session.call("index_repository", &json!({ "path": root }));
    session.end();
    assert_eq!(names(&index), ["mine"]);
}

#[test]
fn name_of_another_repository_is_not_used() {
    let ((_above, root), (_other, other), index) = (shop(), shop(), Index::new());
    index.ok(&["index", &other, "--name", "acme/store"]);
    index.ok(&["index", &root]);
    declare(&root, Some("acme/store"));
    index.ok(&["index", &root]);
    assert_eq!(names(&index), ["acme/store", "shop"]);
    // The id of a renamed repository is derived from its first name, so a different folder called `shop` gets
    // a different name.
    declare(&root, Some("acme/cart"));
    index.ok(&["index", &root]);
    let (third, third_root) = shop();
    index.ok(&["index", &third_root]);
    let folder = third.path().file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
    let folder: String = folder.chars().filter(|letter| letter.is_alphanumeric() || "._-".contains(*letter)).collect();
    assert_eq!(names(&index), ["acme/cart".to_owned(), "acme/store".to_owned(), format!("shop~{folder}")]);
    let refused = index.run(&["index", &third_root, "--name", "shop"]);
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && message.contains("former name of `acme/cart`"), "{message}");
}

#[test]
fn moved_tree_keeps_its_repository() {
    let ((above, root), index) = (shop(), Index::new());
    index.ok(&["index", &root]);
    let moved = above.path().join("moved/shop");
    std::fs::create_dir_all(above.path().join("moved")).expect("created");
    std::fs::rename(&root, &moved).expect("moved");
    index.ok(&["index", &moved.to_string_lossy()]);
    assert_eq!(names(&index), ["shop"]);
}

/// Repositories without a working tree: a bare repository, and the URL of the same repository.
fn without_tree(above: &TempDir, root: &str) -> [String; 2] {
    let bare = above.path().join("shop.git").to_string_lossy().into_owned();
    git(above.path(), &["clone", "-q", "--bare", root, &bare]);
    [bare.clone(), format!("file://{bare}")]
}

fn push(root: &str, bare: &str, branch: &str) {
    git(Path::new(root), &["push", "-q", bare.strip_prefix("file://").unwrap_or(bare), branch]);
}

#[test]
fn bare_repository_and_url_get_the_name_declared_in_their_files() {
    for position in 0..2 {
        let ((above, root), index) = (shop(), Index::new());
        let address = without_tree(&above, &root)[position].clone();
        let declarations = [
            (Some("acme/store"), "acme/store"),
            (Some("acme/cart"), "acme/cart"),
            (None, "shop"),
            (Some("x/y"), "x/y"),
        ];
        for (number, (declared, expect)) in declarations.into_iter().enumerate() {
            declare(&root, declared);
            write(Path::new(&root), "number.txt", number.to_string());
            commit(Path::new(&root), "change");
            push(&root, &address, "main");
            let words: &[&str] = if number % 2 == 0 { &["index", &address, "--json"] } else { &["index", "--json"] };
            let indexed = ok(&with_file_urls(&index, words));
            assert_eq!((&indexed["repository"], names(&index)), (&Value::from(expect), vec![expect.to_owned()]));
        }
        // Without a change, nothing is renamed or registered.
        let before = names(&index);
        let again = ok(&with_file_urls(&index, &["index", &address, "--json"]));
        assert_eq!((again["run_id"].clone(), names(&index)), (Value::Null, before), "{address}");
    }
}

#[test]
fn branch_in_the_file_is_indexed() {
    for position in 0..2 {
        let ((above, root), index) = (shop(), Index::new());
        let path = Path::new(&root);
        git(path, &["checkout", "-q", "-b", "next"]);
        write(path, "next.py", "def only_on_next():\n    return 1\n");
        commit(path, "next");
        git(path, &["checkout", "-q", "main"]);
        write(path, ".cairn.yaml", "branch: next\n");
        commit(path, "settings");
        let address = without_tree(&above, &root)[position].clone();

        let first = ok(&with_file_urls(&index, &["index", &address, "--json"]));
        let commit_of = |branch: &str| git(path, &["rev-parse", branch]);
        let indexed_commit = |index: &Index| index.json(&["repos"])["repositories"][0]["published"]["commit"].clone();
        assert_eq!(first["state"], "published", "{address}: {first}");
        assert_eq!(indexed_commit(&index), commit_of("next"), "{address}");
        let found = index.json(&["search", "only_on_next"]);
        assert_eq!(found["results"][0]["path"], "next.py", "{address}: {found}");
        let again = ok(&with_file_urls(&index, &["index", &address, "--json"]));
        assert_eq!(again["run_id"], Value::Null, "{address}: nothing has changed");

        // A commit on the selected branch is indexed; the caller's branch has priority over the file.
        git(path, &["checkout", "-q", "next"]);
        write(path, "more.py", "def more():\n    return 2\n");
        commit(path, "more");
        push(&root, &address, "next");
        let changed = ok(&with_file_urls(&index, &["index", &address, "--json"]));
        assert_ne!(changed["run_id"], Value::Null, "{address}: {changed}");
        assert_eq!(indexed_commit(&index), commit_of("next"), "{address}");
        ok(&with_file_urls(&index, &["index", &address, "--branch", "main", "--json"]));
        assert_eq!(indexed_commit(&index), commit_of("main"), "{address}");

        // If the selected branch does not exist, the error names the setting, and the published state does
        // not change.
        git(path, &["checkout", "-q", "main"]);
        write(path, ".cairn.yaml", "branch: nowhere\n");
        commit(path, "wrong");
        push(&root, &address, "main");
        let refused = with_file_urls(&index, &["index", &address]);
        let message = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(4), "{address}: {message}");
        assert!(message.contains("`branch` in `.cairn.yaml`") && message.contains("nowhere"), "{address}: {message}");
        assert_eq!(names(&index).len(), 1, "{address}");
    }
}

#[test]
fn branch_in_the_file_does_not_change_a_working_tree() {
    let (tree, index) = (repository(), Index::new());
    write(tree.path(), "cart.py", "def add_to_cart(item):\n    return item\n");
    write(tree.path(), ".cairn.yaml", "branch: nowhere\n");
    commit(tree.path(), "start");
    let indexed = index.json(&["index", &tree.path().to_string_lossy()]);
    assert_eq!(indexed["state"], "published", "{indexed}");
}
