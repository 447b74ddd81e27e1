//! Checks that dead letters are listed, shown, replayed and dropped.

use std::time::Duration;

use cairn_domain::{
    ArtifactRef, GenerationId, Lane, PartEnd, PartId, RepositoryId, RepositoryName, RunId, StageName, Tenant,
};
use cairn_ports::{Broker, Delivery, FailureCode, Ledger, LedgerRead, Settlement};
use cairn_rabbitmq::RabbitMqBroker;
use cairn_wire::{Job, PartJob, SyncJob};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::cluster::Cluster;

const URL: &str = "https://git.example.org/acme/shop.git";
const NAME: &str = "git.example.org/acme/shop";

fn repository() -> RepositoryId {
    RepositoryId::derive(&Tenant::local(), &RepositoryName::new(NAME))
}

fn sync(request: u64) -> Job {
    Job::Sync(SyncJob { tenant: Tenant::local(), repository: repository(), request })
}

/// The job of a part of a run that no longer exists.
fn part(number: u32) -> Job {
    Job::Part(PartJob {
        tenant: Tenant::local(),
        run: RunId { repository: repository(), generation: GenerationId(7) },
        part: PartId { stage: StageName::Parse, number },
        plan: ArtifactRef { key: "plan".to_owned(), size_bytes: 1, hash: [0; 32] },
    })
}

async fn next(broker: &RabbitMqBroker, stage: StageName) -> Delivery {
    let received = timeout(Duration::from_secs(90), broker.receive(stage)).await.expect("nothing is delivered");
    received.expect("received").expect("not closed")
}

/// Makes a worker abandon the job.
fn give_up(cluster: &Cluster, broker: &RabbitMqBroker, job: Job, message: &str) {
    cluster.runtime.block_on(async {
        let stage = job.stage();
        broker.publish(Lane::Interactive, vec![job]).await.expect("published");
        let delivery = next(broker, stage).await;
        broker.dead_letter(delivery.tag, FailureCode::Timeout, message).await.expect("buried");
        broker.settle(delivery.tag, Settlement::Ack).await.expect("settled");
    });
}

fn letters(cluster: &Cluster) -> Vec<Value> {
    cluster.json(&["dead-letters", "list"])["dead_letters"].as_array().expect("a list").clone()
}

#[test]
fn replay_publishes_pending_jobs_and_requests_syncs_for_others() {
    let Some(cluster) = Cluster::prepared() else { return };
    let broker = cluster.broker();
    let request = cluster.json(&["enqueue", URL])["request"].as_u64().expect("a number");
    give_up(&cluster, &broker, sync(request), "git fetch: no answer");
    give_up(&cluster, &broker, part(3), "blob store: timeout");
    let found = letters(&cluster);
    let reported: Vec<_> =
        found.iter().map(|letter| (&letter["stage"], &letter["part"], &letter["repository"])).collect();
    assert_eq!(reported, [(&json!("sync"), &Value::Null, &json!(NAME)), (&json!("parse"), &json!(3), &json!(NAME))]);
    let ids: Vec<&str> = found.iter().filter_map(|letter| letter["id"].as_str()).collect();
    let (code, reported) = cluster.output(&["doctor"]);
    assert!(
        code == 1 && reported.contains("dead letters: 2 jobs failed permanently") && reported.contains("ok    runs"),
        "{reported}"
    );
    let text = cluster.ok(&["dead-letters", "list"]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].contains(ids[0]) && lines[0].contains("git fetch: no answer"), "{text}");
    assert!(lines[1].contains("timeout parse/3 of generation 7"), "{text}");
    let shown = cluster.ok(&["dead-letters", "show", ids[0]]);
    assert!(shown.contains("lane interactive") && shown.contains("runbooks/timeout.md"), "{shown}");
    assert!(shown.contains(&sync(request).to_json()), "{shown}");
    assert!(cluster.ok(&["dead-letters", "replay", ids[0]]).contains("is published again"));
    let arrived = cluster.runtime.block_on(async {
        let delivery = next(&broker, StageName::Sync).await;
        broker.settle(delivery.tag, Settlement::Ack).await.expect("settled");
        delivery
    });
    assert_eq!((arrived.job, arrived.lane, arrived.num_failed_attempts), (sync(request), Lane::Interactive, 0));
    let asked = cluster.json(&["dead-letters", "replay", "--all"]);
    assert_eq!((&asked["id"], &asked["outcome"]), (&json!(ids[1]), &json!("sync_requested")), "{asked}");
    assert_eq!(asked["request"], request, "the request that waits already");
    assert_eq!(letters(&cluster), Vec::<Value>::new());
    let (code, reported) = cluster.output(&["dead-letters", "replay", ids[0]]);
    assert!(code == 3 && reported.contains("does not exist"), "{reported}");
    drop(broker);
    cluster.close();
}

#[test]
fn dead_letters_are_dropped_while_the_ledger_is_down() {
    let Some(cluster) = Cluster::prepared() else { return };
    let broker = cluster.broker();
    let request = cluster.json(&["enqueue", URL])["request"].as_u64().expect("a number");
    give_up(&cluster, &broker, sync(request), "git fetch: no answer");
    give_up(&cluster, &broker, part(3), "blob store: timeout");
    let num = |filter: &[&str]| {
        let listed = cluster.json(&[&["dead-letters", "list"], filter].concat());
        listed["dead_letters"].as_array().map_or(0, Vec::len)
    };
    assert_eq!((num(&["--stage", "parse"]), num(&["--code", "timeout"]), num(&["--code", "crash"])), (1, 2, 0));
    assert_eq!((num(&["--repo", "shop"]), num(&["--repo", NAME, "--stage", "sync"]), num(&["--repo", "x"])), (2, 1, 0));
    let (code, reported) = cluster.output(&["dead-letters", "drop", "--stage", "pars"]);
    assert!(code == 2 && reported.contains("`pars` is not a stage"), "{reported}");
    let without = |arguments: &[&str]| {
        let mut command = cluster.command(arguments);
        let output = command.env("CAIRN__NEO4J__URL", "bolt://127.0.0.1:1").output().expect("the program starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout) + &text(&output.stderr))
    };
    let (code, reported) = without(&["dead-letters", "list"]);
    assert!(
        code == Some(0) && reported.contains("git fetch") && reported.contains("without their names"),
        "{reported}"
    );
    let (code, reported) = without(&["dead-letters", "drop", "--stage", "parse"]);
    assert!(code == Some(0) && !reported.contains("Neo4j"), "{reported}");
    assert_eq!(num(&[]), 1, "a command must drop exactly the chosen letter");
    let (code, reported) = without(&["dead-letters", "replay", "--all"]);
    assert!(code == Some(1) && reported.contains("Neo4j"), "{reported}");
    assert_eq!(num(&[]), 1);
    drop(broker);
    cluster.close();
}

#[test]
fn replay_publishes_a_job_only_if_its_part_is_open() {
    let Some(cluster) = Cluster::prepared() else { return };
    let broker = cluster.broker();
    cluster.ok(&["enqueue", URL]);
    let run = cluster.begin(repository());
    let runs = cluster.runs();
    let record = cluster.runtime.block_on(runs.run(run)).expect("a run");
    let part = PartId { stage: StageName::Parse, number: 0 };
    give_up(&cluster, &broker, Job::Part(record.job(part)), "first");
    let outcome = || cluster.json(&["dead-letters", "replay", "--all"])["outcome"].clone();
    assert_eq!(outcome(), "published_again");
    cluster.runtime.block_on(async {
        let delivery = next(&broker, StageName::Parse).await;
        assert_eq!(delivery.job, Job::Part(record.job(part)));
        broker.dead_letter(delivery.tag, FailureCode::Timeout, "second").await.expect("buried");
        broker.settle(delivery.tag, Settlement::Ack).await.expect("settled");
        // A worker ends the part. The run is unfinished until it is published.
        let end = PartEnd::Failed { code: cairn_domain::FailureCode::Timeout, message: "second".to_owned() };
        runs.end_part(run, part, end, "{}".to_owned(), 2_000).await.expect("ended");
    });
    assert_eq!(outcome(), "sync_requested");
    assert_eq!(letters(&cluster), Vec::<Value>::new());
    drop(broker);
    cluster.close();
}

#[test]
fn unusable_dead_letter_is_kept_until_it_is_dropped() {
    let Some(cluster) = Cluster::prepared() else { return };
    let broker = cluster.broker();
    // This job belongs to a repository that does not exist.
    give_up(&cluster, &broker, part(1), "gone");
    let foreign = json!({
        "properties": {}, "routing_key": "parse.bulk", "payload": "{\"version\":99}", "payload_encoding": "string"
    });
    let path = format!("/api/exchanges/{}/cairn.dead.v1/publish", cluster.vhost.name());
    cluster.runtime.block_on(cluster.vhost.request("POST", &path, &foreign.to_string())).expect("published");
    let (code, reported) = cluster.output(&["dead-letters", "replay", "--all"]);
    assert_eq!(code, 1, "{reported}");
    assert!(
        reported.contains("the repository was removed") && reported.contains("cannot read the body as a job"),
        "{reported}"
    );
    let found = letters(&cluster);
    assert_eq!(found.len(), 2, "{found:?}");
    let unreadable = found.iter().find(|letter| letter["part"].is_null()).expect("the dead letter that is not a job");
    let id = unreadable["id"].as_str().expect("an id");
    assert!(cluster.ok(&["dead-letters", "show", id]).contains("{\"version\":99}"));
    assert!(cluster.ok(&["dead-letters", "drop", id]).contains("is dropped"));
    assert_eq!(letters(&cluster).len(), 1);
    cluster.ok(&["dead-letters", "drop", "--all"]);
    assert_eq!(letters(&cluster), Vec::<Value>::new());
    let (code, reported) = cluster.output(&["dead-letters", "show", "nonsense"]);
    assert!(code == 2 && reported.contains("`nonsense` is not the id"), "{reported}");
    drop(broker);
    cluster.close();
}
