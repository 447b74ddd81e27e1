//! Checks that stored data, answers and logs contain no planted secret.

pub(crate) mod agent;
mod contents;
mod planted;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use self::planted::{Noise, Planted, across_chunks, notebook, planted};
use cairn_testkit::work_tree::{commit, git, repository, write};

use crate::harness::Index;

/// A name that is not a secret. Every store must contain this name. The tests search for it to prove that
/// they read all stores.
const CANARY: &str = "canary_of_plain_text";

const QUERIES: [&str; 8] = [
    "password",
    "token",
    "connect to the database",
    "authorization bearer",
    "client secret",
    "private key",
    "deploy",
    CANARY,
];

/// Files whose names mark them as secret. The tests fill these files with words that match no rule.
const NEVER_READ: [&str; 16] = [
    ".env",
    ".env.production",
    "deploy/prod.env",
    "keys/server.pem",
    "keys/server.key",
    "keys/store.jks",
    "keys/id_rsa",
    "home/.aws/credentials",
    "home/.ssh/config",
    "home/.npmrc",
    "home/.pypirc",
    "home/.netrc",
    "home/.kube/config",
    "config/app-secrets.yaml",
    "config/credentials.json",
    "state/terraform.tfstate",
];

/// The secrets that occur in `everything`, each with its origin and the place where it occurs.
fn leaks<'a>(secrets: &'a BTreeMap<String, String>, everything: &[(String, Vec<u8>)]) -> Vec<(&'a str, String)> {
    let mut found = Vec::new();
    for (place, bytes) in everything {
        let text = String::from_utf8_lossy(bytes);
        let shown = secrets.iter().filter(|(secret, _)| text.contains(*secret));
        found.extend(shown.map(|(_, planted)| (&**planted, place.clone())));
    }
    found
}

/// Runs a command with all logs enabled, and returns its standard output and standard error.
fn traced(index: &Index, arguments: &[&str]) -> Vec<(String, Vec<u8>)> {
    let mut command = index.command(arguments);
    command.env("CAIRN_LOG", "trace").env("RUST_LOG", "trace").env("RUST_BACKTRACE", "1");
    let output = command.output().expect("the program starts");
    let reported = format!("cairn {}", arguments.join(" "));
    vec![(format!("{reported}: output"), output.stdout), (format!("{reported}: log"), output.stderr)]
}

/// All data that the index stores and reports about the repository `r`.
fn everything(index: &Index, paths: &[String]) -> Vec<(String, Vec<u8>)> {
    let mut everything = contents::contents(index.path());
    for arguments in [
        vec!["secrets", "r"],
        vec!["secrets", "r", "--json"],
        vec!["coverage", "r"],
        vec!["patterns", "--json"],
        vec!["repos", "--json"],
        vec!["status", "--json"],
        vec!["runs", "--json"],
        vec!["stats"],
        vec!["doctor"],
        vec!["graph", "callees", "all", "--json"],
        vec!["graph", "deps", "src/settings.py", "--json"],
        vec!["graph", "sample", "--class", "exact", "-n", "50", "--json"],
    ] {
        everything.extend(traced(index, &arguments));
    }
    for query in QUERIES {
        let arguments = ["search", query, "--limit", "100", "--max-tokens", "100000", "--explain", "--json"];
        everything.extend(traced(index, &arguments));
    }
    let mut calls: Vec<(&str, Value)> = vec![
        ("list_repositories", json!({})),
        ("index_status", json!({ "repository": "r", "limit": 500 })),
        ("analyze_relationship", json!({ "name": "all", "relation": "callees" })),
    ];
    calls.extend(QUERIES.map(|query| ("search_code", json!({ "query": query, "limit": 100, "max_tokens": 20_000 }))));
    calls.extend(
        paths.iter().map(|path| ("read_code", json!({ "repository": "r", "path": path, "max_tokens": 20_000 }))),
    );
    everything.push(("cairn mcp".to_owned(), agent::answers(index, &calls).into_bytes()));
    everything
}

/// Checks that every store contains the canary. Without this check, the search for secrets would prove
/// nothing.
fn check_that_stores_are_read(everything: &[(String, Vec<u8>)]) {
    for store in
        ["/artifacts/packs/", "/artifacts/facts/", "/artifacts/names/", "/segments/", "cairn.db (rows)", "cairn mcp"]
    {
        let holds = |(place, bytes): &(String, Vec<u8>)| {
            place.contains(store) && bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes())
        };
        assert!(everything.iter().any(holds), "{store} does not contain {CANARY}");
    }
}

/// Writes files with the planted secrets, a notebook with the same secrets, and a file with the canary.
/// Returns the paths of these files.
fn plant(root: &Path, planted: &[Planted]) -> Vec<String> {
    let mut paths: Vec<String> = planted.iter().map(|planted| planted.path.clone()).collect();
    for planted in planted {
        write(root, &planted.path, &planted.text);
    }
    let texts: Vec<String> = planted.iter().map(|planted| planted.text.clone()).collect();
    write(root, "analysis.ipynb", notebook(&texts));
    write(
        root,
        "src/canary.py",
        format!("def {CANARY}():\n    return all()\n\n\ndef other():\n    return {CANARY}()\n"),
    );
    paths.extend(["analysis.ipynb".to_owned(), "src/canary.py".to_owned()]);
    paths
}

#[test]
fn no_planted_secret_is_kept() {
    let planted = planted();
    let rules: BTreeSet<&str> = planted.iter().map(|planted| planted.rule).collect();
    assert!(planted.len() >= 60 && rules.len() >= 30, "{} of {} rules", planted.len(), rules.len());
    let directory = repository();
    let mut paths = plant(directory.path(), &planted);
    let (long, across) = across_chunks();
    write(directory.path(), "src/long.py", long);
    paths.push("src/long.py".to_owned());
    commit(directory.path(), "secrets");
    let index = Index::new();
    let mut found = traced(&index, &["index", &directory.path().to_string_lossy(), "--name", "r", "-vv"]);
    found.extend(everything(&index, &paths));
    check_that_stores_are_read(&found);
    let of_file = |planted: &Planted| (planted.secret.clone(), planted.path.clone());
    let across = across.into_iter().map(|secret| (secret, "src/long.py".to_owned()));
    let secrets: BTreeMap<String, String> = planted.iter().map(of_file).chain(across).collect();
    assert_eq!(leaks(&secrets, &found), []);
    check_findings(&index, &planted);
}

/// Checks that each planted secret is listed with its rule and its path.
fn check_findings(index: &Index, planted: &[Planted]) {
    let listed = index.json(&["secrets", "r"]);
    let findings = listed["findings"].as_array().expect("findings");
    let found: BTreeSet<(&str, &str)> = findings
        .iter()
        .map(|finding| (finding["path"].as_str().expect("a path"), finding["rule"].as_str().expect("a rule")))
        .collect();
    let paths: BTreeSet<&str> = found.iter().map(|(path, _)| *path).collect();
    let missing: Vec<&str> =
        planted.iter().map(|planted| &*planted.path).filter(|path| !paths.contains(path)).collect();
    assert_eq!(missing, Vec::<&str>::new());
    let rules: BTreeSet<&str> = found.iter().map(|(_, rule)| *rule).collect();
    let missing: BTreeSet<&str> =
        planted.iter().map(|planted| planted.rule).filter(|rule| !rules.contains(rule)).collect();
    assert_eq!(missing, BTreeSet::new());
}

#[test]
fn secret_files_are_never_read() {
    let directory = repository();
    let mut noise = Noise::new(23);
    let mut secrets = BTreeMap::new();
    for path in NEVER_READ {
        // These words match no rule. So only the name of the file can exclude these words from the index.
        let word = format!("plainword{}", noise.letters(12).to_lowercase());
        write(directory.path(), path, format!("{word}\nsetting = {word}\n"));
        secrets.insert(word, path.to_owned());
    }
    let paths = plant(directory.path(), &[]);
    git(directory.path(), &["add", "-A", "-f"]);
    commit(directory.path(), "files of secrets");
    let index = Index::new();
    let mut found = traced(&index, &["index", &directory.path().to_string_lossy(), "--name", "r", "-vv"]);
    let asked: Vec<String> = NEVER_READ.iter().map(|path| (*path).to_owned()).chain(paths).collect();
    found.extend(everything(&index, &asked));
    check_that_stores_are_read(&found);
    assert_eq!(leaks(&secrets, &found), []);
    for path in NEVER_READ {
        let why = index.json(&["coverage", "r", "--why", path]);
        assert_eq!(why["outcome"], "skipped(sensitive)", "{path}");
    }
}

/// Secrets outside of file contents are not stored. Such secrets may occur in the URL of the remote, in names
/// of files and folders, and in the settings.
#[test]
fn secrets_outside_of_files_are_not_kept() {
    let mut noise = Noise::new(31);
    let mut token = || ["gh", "p_", &noise.letters(36)].concat();
    let (in_url, in_name, in_folder, in_comment, in_description) = (token(), token(), token(), token(), token());
    let directory = repository();
    let root = directory.path();
    write(root, &format!("notes/backup-{in_name}.txt"), "a note\n");
    write(root, &format!("dump-{in_folder}/one.py"), "x = 1\n");
    write(root, &format!("dump-{in_folder}/two.py"), "y = 1\n");
    write(
        root,
        ".cairn.yaml",
        format!("# old: {in_comment}\nmodules:\n  src:\n    description: called with {in_description}\n"),
    );
    let paths = plant(root, &[]);
    git(root, &["remote", "add", "origin", &format!("https://x-access-token:{in_url}@git.example.org/team/r.git")]);
    commit(root, "names");
    let index = Index::new();
    let mut found = traced(&index, &["index", &root.to_string_lossy(), "--name", "r", "-vv"]);
    found.extend(everything(&index, &paths));
    let unnamed = Index::new();
    found.extend(traced(&unnamed, &["index", &root.to_string_lossy(), "-vv"]));
    found.extend(contents::contents(unnamed.path()));
    let refused = format!("https://{in_url}@git.example.org/team/r.git");
    found.extend(traced(&index, &["index", &refused]));
    check_that_stores_are_read(&found);
    let places = ["the URL", "the name of a file", "the name of a folder", "a comment", "a description"];
    let secrets = [in_url, in_name, in_folder, in_comment, in_description].into_iter().zip(places.map(str::to_owned));
    let secrets: BTreeMap<String, String> = secrets.collect();
    assert_eq!(leaks(&secrets, &found), []);
    let coverage = index.json(&["coverage", "r"]);
    let listed: BTreeSet<(&str, &str)> = coverage["entries"]
        .as_array()
        .expect("entries")
        .iter()
        .map(|entry| (entry["path"].as_str().expect("a path"), entry["outcome"].as_str().expect("an outcome")))
        .collect();
    for path in ["notes/backup-[REDACTED:github-pat].txt", "dump-[REDACTED:github-pat]/one.py"] {
        assert!(listed.contains(&(path, "skipped(sensitive)")), "{path}: {listed:?}");
    }
    assert_eq!(listed.len(), 6, "{listed:?}");
    // The next run finds the same paths, so it has no work.
    let again = index.index(root);
    assert!(again["run_id"].is_null(), "{again}");
    // If a secret cannot be removed from the settings, the settings are refused. The message does not contain
    // the secret.
    let in_setting = token();
    write(root, ".cairn.yaml", format!("name: {in_setting}\n"));
    let refused = index.run(&["index", &root.to_string_lossy(), "--name", "r"]);
    let reported = String::from_utf8_lossy(&[refused.stdout, refused.stderr].concat()).into_owned();
    assert_eq!(refused.status.code(), Some(4), "{reported}");
    assert!(
        reported.contains("line 1 contains text that looks like a secret («github-pat»)")
            && !reported.contains(&in_setting),
        "{reported}"
    );
}
