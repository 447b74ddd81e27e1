//! Tests of `cairn topology` and `cairn doctor`.

use std::net::TcpListener;

use super::cluster::Cluster;

#[test]
fn missing_topology_is_reported_and_created() {
    let Some(cluster) = Cluster::empty() else { return };
    let (code, reported) = cluster.output(&["topology", "check"]);
    assert_eq!(code, 1, "{reported}");
    let bucket = &cluster.config.s3.as_ref().expect("settings").bucket;
    let constraint = format!("Neo4j: constraint or index `api_key_hash_{}`", bucket.replace('-', "_"));
    for part in [
        "RabbitMQ: queue `cairn.dead.v1`",
        "RabbitMQ: policy `cairn.work.v1`",
        &format!("S3: bucket `{bucket}`"),
        &constraint,
        &format!("Qdrant: collection `{bucket}-"),
        "run `cairn topology apply`",
    ] {
        assert!(reported.contains(part), "`{part}` is missing: {reported}");
    }
    let applied = cluster.ok(&["topology", "apply"]);
    assert_eq!(applied.lines().filter(|line| line.starts_with("ok    ")).count(), 4, "{applied}");
    assert_eq!(cluster.ok(&["topology", "check"]), "ok    RabbitMQ\nok    S3\nok    Neo4j\nok    Qdrant\n");
    let doctor = cluster.json(&["doctor"]);
    assert_eq!(doctor["ok"], true, "{doctor}");
    cluster.runtime.block_on(async {
        let vhost = cluster.vhost.name();
        for path in [format!("queues/{vhost}/cairn.parse.bulk.v1"), format!("policies/{vhost}/cairn.dead.v1")] {
            cluster.vhost.request("DELETE", &format!("/api/{path}"), "").await.expect("removed");
        }
    });
    let output = cluster.command(&["topology", "check", "--json"]).output().expect("the program starts");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let missing = serde_json::json!(["queue `cairn.parse.bulk.v1`", "policy `cairn.dead.v1`"]);
    assert_eq!((answer["ok"].as_bool(), &answer["servers"][0]["missing"]), (Some(false), &missing), "{answer}");
    assert_eq!(output.status.code(), Some(1));
    let (code, reported) = cluster.output(&["doctor"]);
    let named = "lacks queue `cairn.parse.bulk.v1`, policy `cairn.dead.v1`; run `cairn topology apply`";
    assert!(code == 1 && reported.contains(named), "{reported}");
    // The missing objects are created again. A second `apply` changes nothing.
    for _ in 0..2 {
        assert_eq!(cluster.ok(&["topology", "apply"]), applied);
    }
    cluster.ok(&["topology", "check"]);
    cluster.close();
}

#[test]
fn doctor_reports_only_the_unreachable_server() {
    let Some(cluster) = Cluster::prepared() else { return };
    // No process listens on this port after the listener is dropped.
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    for (variable, url, name, remedy) in [
        ("CAIRN__QDRANT__URL", format!("http://127.0.0.1:{port}"), "Qdrant", "correct `url` and `api_key` in [qdrant]"),
        ("CAIRN__NEO4J__URL", format!("bolt://127.0.0.1:{port}"), "Neo4j", "`password` in [neo4j]"),
        ("CAIRN__RABBITMQ__URLS", format!("[\"amqp://u:hidden@127.0.0.1:{port}\"]"), "RabbitMQ", "in [rabbitmq]"),
        ("CAIRN__S3__ENDPOINT", format!("http://127.0.0.1:{port}"), "S3", "credentials in [s3]"),
    ] {
        let output = cluster.command(&["doctor"]).env(variable, url).output().expect("the program starts");
        let (code, reported) = cluster.checked(&output);
        assert_eq!(code, 1, "{reported}");
        assert_eq!(reported.lines().filter(|line| line.starts_with("ok    ")).count(), 4, "{reported}");
        let fault = reported.lines().find(|line| line.starts_with("fault ")).expect("a fault");
        assert!(fault.starts_with(&format!("fault {name}")) && fault.contains(remedy), "{reported}");
        assert!(!reported.contains("hidden"), "{reported}");
    }
    let mut command = cluster.command(&["doctor"]);
    for (name, value) in [
        ("KIND", "http"),
        ("PROVIDER__PROVIDER", "tei"),
        ("PROVIDER__MODEL", "m"),
        ("PROVIDER__DIMENSIONS", "8"),
        ("PROVIDER__URL", &format!("http://127.0.0.1:{port}")),
        ("PROVIDER__ALLOW_HTTP", "true"),
    ] {
        command.env(format!("CAIRN__EMBEDDING__{name}"), value);
    }
    let (code, reported) = cluster.checked(&command.output().expect("the program starts"));
    assert!(
        code == 1 && reported.contains("fault embedding model: ") && reported.contains("correct [embedding]"),
        "{reported}"
    );
    cluster.close();
}

#[test]
fn invalid_settings_are_reported() {
    let Some(cluster) = Cluster::empty() else { return };
    let check = |file: &str, text: &str, expect: &str| {
        let path = cluster.file(file, text);
        let (code, reported) = cluster.output(&["runs", "--cluster", &path]);
        assert!(code == 4 && reported.contains(expect), "{text}: {code} {reported}");
        assert!(!reported.contains("hunter2"), "{reported}");
    };
    check("a.toml", "[rabitmq]\n", "rabitmq");
    check("b.toml", "[neo4j]\npassword = \"hunter2\n", "line 2");
    check("c.toml", "", "no section [neo4j]");
    check("d.toml", "[neo4j]\nurl = \"neo4j://u:hunter2@h\"\n", "`url` contains credentials");
    let (code, reported) = cluster.output(&["runs", "--cluster", "/no/such/file"]);
    assert!(code == 4 && reported.contains("/no/such/file"), "{reported}");
    for (arguments, expect) in [
        (&["search", "x", "--server", "http://h", "--cluster", "c.toml"][..], "use only one of these options"),
        (&["index", "."], "`cairn enqueue URL`"),
        (&["watch"], "the scheduler watches"),
    ] {
        let (code, reported) = cluster.output(arguments);
        assert!(code == 2 && reported.contains(expect), "{arguments:?}: {code} {reported}");
    }
    cluster.close();
}
