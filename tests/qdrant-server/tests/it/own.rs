//! Tests that start a separate server process: restarts, SIGKILL, refused methods.

use ::qdrant_client::qdrant::points_client::PointsClient;
use ::qdrant_client::qdrant::*;
use ::qdrant_client::{Payload, Qdrant};
use tonic::Code;

use crate::server::{Process, create, is_foreign, number, point};

/// Creates a storage folder for a separate process. Returns `None` if the Qdrant at `CAIRN_QDRANT_URL` is
/// tested.
fn storage() -> Option<tempfile::TempDir> {
    if is_foreign() {
        println!("not run: CAIRN_QDRANT_URL names a server that this test must not restart");
        return None;
    }
    Some(tempfile::tempdir().expect("a folder"))
}

async fn upsert(client: &Qdrant, ids: impl Iterator<Item = u64>, mode: UpdateMode) {
    let points: Vec<_> = ids.map(|id| point(id, vec![id as f32, 1.0], [("to", i64::MAX.into())])).collect();
    let request = UpsertPointsBuilder::new("kept", points).wait(true).update_mode(mode);
    client.upsert_points(request).await.expect("upserted");
}

/// Returns the id and the payload field `to` of each point.
async fn stored(client: &Qdrant) -> Vec<(u64, i64)> {
    let request = ScrollPointsBuilder::new("kept").limit(100_000).with_payload(true);
    let found = client.scroll(request).await.expect("scrolled").result;
    found.into_iter().map(|point| (number(point.id), point.payload["to"].as_integer().expect("a number"))).collect()
}

async fn fill(client: &Qdrant) {
    client.create_collection(create("kept", 2)).await.expect("created");
    let index = CreateFieldIndexCollectionBuilder::new("kept", "to", FieldType::Integer).wait(true);
    client.create_field_index(index).await.expect("indexed");
    client.create_alias(CreateAliasBuilder::new("kept", "alias")).await.expect("made");
    upsert(client, 0..100, UpdateMode::InsertOnly).await;
}

fn retired(ids: &[u64]) -> SetPayloadPoints {
    let payload = Payload::from([("to", Value::from(5))]);
    let open =
        Filter::must([Condition::has_id(ids.iter().map(|id| PointId::from(*id))), Condition::matches("to", i64::MAX)]);
    SetPayloadPointsBuilder::new("kept", payload).points_selector(open).wait(true).build()
}

fn expected() -> Vec<(u64, i64)> {
    let to = |id: u64| if id == 3 || id == 150 { 5 } else { i64::MAX };
    (0..200).filter(|id| *id != 4).map(|id| (id, to(id))).collect()
}

#[tokio::test]
async fn confirmed_writes_survive_sigkill() {
    let Some(storage) = storage() else { return };
    let process = Process::start(storage.path());
    fill(&process.client()).await;
    process.kill();
    let process = Process::start(storage.path());
    let client = process.client();
    upsert(&client, 50..200, UpdateMode::InsertOnly).await;
    client.set_payload(retired(&[3, 150])).await.expect("set");
    client
        .delete_points(DeletePointsBuilder::new("kept").points([PointId::from(4)]).wait(true))
        .await
        .expect("deleted");
    process.kill();
    for _ in 0..3 {
        let process = Process::start(storage.path());
        let client = process.client();
        assert_eq!(stored(&client).await, expected());
        assert!(client.collection_exists("alias").await.expect("asked"));
        let info = client.collection_info("kept").await.expect("info").result.expect("a result");
        assert!(info.payload_schema.contains_key("to"));
        process.kill();
    }
}

#[tokio::test]
async fn killed_server_keeps_every_confirmed_write() {
    let Some(storage) = storage() else { return };
    let process = Process::start(storage.path());
    process.client().create_collection(create("kept", 2)).await.expect("created");
    let mut num_answered = 0;
    let mut process = Some(process);
    for round in 0..4 {
        let running = process.take().expect("running");
        let client = running.client();
        // The number of writes is so large that the background flush happens during some rounds.
        for _ in 0..30 * (round + 1) {
            upsert(&client, num_answered..num_answered + 10, UpdateMode::InsertOnly).await;
            num_answered += 10;
        }
        let late = tokio::spawn(async move { upsert_quietly(&client, num_answered).await });
        running.kill();
        late.await.expect("ended");
        let restarted = Process::start(storage.path());
        let ids: Vec<u64> = stored(&restarted.client()).await.into_iter().map(|(id, _)| id).collect();
        assert!(ids.len() as u64 >= num_answered, "{} points of {num_answered}", ids.len());
        assert_eq!(ids[..num_answered as usize], (0..num_answered).collect::<Vec<_>>());
        num_answered = ids.len() as u64;
        process = Some(restarted);
    }
}

/// Sends a write and ignores its result, so the write may or may not be applied.
async fn upsert_quietly(client: &Qdrant, id: u64) {
    let points = [point(id, vec![1.0, 1.0], [("to", i64::MAX.into())])];
    client.upsert_points(UpsertPointsBuilder::new("kept", points).wait(true)).await.ok();
}

#[tokio::test]
async fn terminated_server_keeps_everything() {
    let Some(storage) = storage() else { return };
    let process = Process::start(storage.path());
    fill(&process.client()).await;
    process.terminate();
    let process = Process::start(storage.path());
    let client = process.client();
    assert_eq!(stored(&client).await.len(), 100);
    client.delete_collection("kept").await.expect("deleted");
    process.terminate();
    let client = Process::start(storage.path());
    assert!(client.client().list_collections().await.expect("listed").collections.is_empty());
}

#[tokio::test]
async fn unsupported_methods_are_refused_by_name() {
    let Some(storage) = storage() else { return };
    let process = Process::start(storage.path());
    assert!(process.client().health_check().await.expect("healthy").version.starts_with("1."));
    let mut points = PointsClient::connect(process.url.clone()).await.expect("connected");
    let status = points.query_groups(QueryPointGroups::default()).await.expect_err("unknown");
    assert_eq!(status.code(), Code::Unimplemented);
    assert!(status.message().contains("query_groups"), "{status}");
}
