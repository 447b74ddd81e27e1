//! Tests of `cairn keys`, which manages the keys of the query service.

use std::sync::Arc;
use std::time::Duration;

use cairn_gateway::auth::{Authenticator, hash_of};
use cairn_neo4j::{Neo4jClock, Neo4jKeys};

use super::cluster::Cluster;

/// Whether a query service that starts now accepts the key.
fn opens(cluster: &Cluster, key: &str) -> bool {
    let neo4j = cluster.neo4j();
    cluster.runtime.block_on(async {
        let clock = Arc::new(Neo4jClock::start(neo4j.clone()).await.expect("a clock"));
        let authenticator = Authenticator::new(Arc::new(Neo4jKeys::new(neo4j)), clock, Duration::from_secs(3));
        authenticator.key_of(Some(&format!("Bearer {key}"))).await.is_ok()
    })
}

#[test]
fn key_works_until_revoked_and_is_shown_once() {
    let Some(cluster) = Cluster::prepared() else { return };
    let narrow = ["keys", "create", "--tenant", "acme", "--repo", "host/acme/*", "--label", "ci", "--may-index"];
    let key = cluster.ok(&narrow).trim().to_owned();
    let other = cluster.json(&["keys", "create", "--expires-in-days", "7"]);
    let other_key = other["key"].as_str().expect("a key");
    assert!(opens(&cluster, &key) && opens(&cluster, other_key));
    let id = key.rsplit_once('_').expect("id and secret").0;
    let listed = cluster.ok(&["keys", "list"]);
    assert!(listed.contains(id) && listed.contains("tenant acme: host/acme/*, may index \"ci\""), "{listed}");
    assert!(listed.contains(", until ") && listed.contains("valid tenant local: all repositories"), "{listed}");
    let shown = [listed, cluster.ok(&["keys", "list", "--json"])].concat();
    for key in [key.as_str(), other_key] {
        let secret = key.rsplit_once('_').expect("id and secret").1;
        let hash = hash_of(key).to_string();
        assert!(!shown.contains(secret) && !shown.contains(&hash), "{shown}");
    }
    let of_tenant = cluster.json(&["keys", "list", "--tenant", "acme"]);
    assert_eq!(of_tenant["keys"].as_array().map(Vec::len), Some(1), "{of_tenant}");
    cluster.ok(&["keys", "revoke", id]);
    assert!(!opens(&cluster, &key) && opens(&cluster, other_key));
    assert!(cluster.ok(&["keys", "list"]).contains(&format!("{id} revoked tenant acme")));
    let (code, reported) = cluster.output(&["keys", "create", "--repo", "host/["]);
    assert!(code == 2 && reported.contains("`--repo`: "), "{reported}");
    // If the command line contains a complete key, its id is used, and its secret is never shown.
    let (code, reported) = cluster.output(&["keys", "revoke", &key]);
    assert!(code == 0 && reported.contains(id) && !reported.contains(&key), "{reported}");
    let (code, reported) = cluster.output(&["keys", "revoke", &key[1..]]);
    assert!(code == 3 && !reported.contains(&key[1..]), "{reported}");
    cluster.close();
}

#[test]
fn file_keeps_its_key_while_the_key_is_valid() {
    use std::os::unix::fs::PermissionsExt;

    let Some(cluster) = Cluster::prepared() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("key");
    let create = |tenant: &str| {
        let file = file.to_str().expect("UTF-8");
        cluster.ok(&["keys", "create", "--tenant", tenant, "--file", file]).trim().to_owned()
    };
    let kept = || std::fs::read_to_string(&file).expect("a key").trim().to_owned();
    let key = create("acme");
    assert!(opens(&cluster, &key) && kept() == key);
    assert_eq!(std::fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
    assert_eq!(create("acme"), key);
    // The key of a different tenant, a revoked key and a text that is not a key are replaced.
    let other = create("other");
    assert!(other != key && kept() == other);
    cluster.ok(&["keys", "revoke", &other]);
    let third = create("other");
    assert!(third != other && kept() == third && opens(&cluster, &third));
    std::fs::write(&file, "no key\n").expect("written");
    let fourth = create("other");
    assert!(fourth != third && kept() == fourth);
    assert_eq!(std::fs::read_dir(directory.path()).expect("a directory").count(), 1);
    cluster.close();
}
