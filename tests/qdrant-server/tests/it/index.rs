//! Tests a real HNSW index. Checks that searches use the index, that its recall is sufficient, and that the
//! index includes later writes.

use std::collections::BTreeSet;

use ::qdrant_client::Payload;
use ::qdrant_client::qdrant::*;

use crate::server::{Case, integers, noise, number};

const DIMENSIONS: usize = 64;
const NUM_POINTS: u64 = 20_000;
const LIMIT: u64 = 10;

/// Returns vectors around several centres, like real embeddings. The vectors are spread so widely that a
/// search with a small `hnsw_ef` misses some points.
fn vector(id: u64) -> Vec<f32> {
    let centre = integers(1_000_000 + id % 400, DIMENSIONS);
    let own = integers(id + 1, DIMENSIONS);
    centre.iter().zip(own).map(|(centre, own)| ((centre + own) / 2.0).round()).collect()
}

fn points(ids: impl Iterator<Item = u64>) -> Vec<PointStruct> {
    let point = |id: u64| {
        let terms = noise(id).take(8).map(|value| value % 5_000).collect::<BTreeSet<_>>();
        let weights = vec![1.0; terms.len()];
        let sparse = Vector::new_sparse(terms.into_iter().collect::<Vec<_>>(), weights);
        let vectors = NamedVectors::default().add_vector("dense", vector(id)).add_vector("terms", sparse);
        PointStruct::new(id, vectors, [("group", Value::from((id % 10) as i64)), ("id", Value::from(id as i64))])
    };
    ids.map(point).collect()
}

async fn indexed() -> Case {
    let case = Case::empty();
    let create = case
        .create(DIMENSIONS as u64)
        .hnsw_config(HnswConfigDiffBuilder::default().m(16).ef_construct(100).full_scan_threshold(10))
        .optimizers_config(OptimizersConfigDiffBuilder::default().indexing_threshold(1_000).default_segment_number(1));
    case.client.create_collection(create).await.expect("created");
    case.index("group", FieldType::Integer).await;
    for start in (0..NUM_POINTS).step_by(1_000) {
        case.upsert(points(start..start + 1_000)).await;
    }
    case
}

async fn find(case: &Case, seed: u64, params: SearchParamsBuilder, filter: Option<Filter>) -> Vec<u64> {
    let question = vector(NUM_POINTS + seed);
    let mut query = QueryPointsBuilder::new(&case.name).query(question).using("dense").limit(LIMIT).params(params);
    if let Some(filter) = filter {
        query = query.filter(filter);
    }
    case.client.query(query).await.expect("found").result.into_iter().map(|point| number(point.id)).collect()
}

/// Returns the share of the exact results that the index finds, averaged over many questions.
async fn recall(case: &Case, ef: u64, filter: Option<Filter>) -> f64 {
    let (mut num_found, mut num_wanted) = (0, 0);
    for seed in 0..100 {
        let exact: BTreeSet<u64> =
            find(case, seed, SearchParamsBuilder::default().exact(true), filter.clone()).await.into_iter().collect();
        let found = find(case, seed, SearchParamsBuilder::default().exact(false).hnsw_ef(ef), filter.clone()).await;
        num_wanted += exact.len();
        num_found += found.iter().filter(|id| exact.contains(id)).count();
    }
    f64::from(num_found as u32) / f64::from(num_wanted as u32)
}

#[tokio::test]
async fn index_is_built_used_and_updated() {
    let case = indexed().await;
    // `indexed_vectors_count` counts both vectors of each point. A tenth of the vectors may be missing,
    // because the last segment, to which new points are added, may have no index.
    let info = case.settled(|info| info.indexed_vectors_count.unwrap_or(0) >= NUM_POINTS * 2 * 9 / 10).await;
    assert_eq!(info.points_count, Some(NUM_POINTS));
    let group = Some(Filter::must([Condition::matches("group", 3)]));
    let (narrow, wide) = (recall(&case, 4, None).await, recall(&case, 128, None).await);
    let filtered = recall(&case, 128, group.clone()).await;
    println!(
        "indexed vectors: {:?} of {NUM_POINTS} points with two each; recall@{LIMIT}: narrowest {narrow:.3}, ef 128 {wide:.3}, ef 128 with a filter {filtered:.3}",
        info.indexed_vectors_count
    );
    // A scan without the index would find all points at any search width.
    assert!(narrow < wide, "the width of the search changes nothing: the index is not used");
    assert!(wide >= 0.95, "recall {wide}");
    assert!(filtered >= 0.9, "recall with a filter {filtered}");
    writes_beside_the_index_are_seen(&case, group).await;
    case.done().await;
}

async fn writes_beside_the_index_are_seen(case: &Case, group: Option<Filter>) {
    let exact = || SearchParamsBuilder::default().exact(true);
    let before = find(case, 5, exact(), None).await;
    let delete = DeletePointsBuilder::new(&case.name).points([PointId::from(before[0])]).wait(true);
    case.client.delete_points(delete).await.expect("deleted");
    assert_eq!(find(case, 5, exact(), None).await[..9], before[1..]);
    assert!(!find(case, 5, SearchParamsBuilder::default(), None).await.contains(&before[0]));
    // In insert-only mode, a write does not change indexed points.
    let mut late = points(before[1]..before[1] + 1);
    late[0].payload.insert("group".to_owned(), 99.into());
    let request = UpsertPointsBuilder::new(&case.name, late).wait(true).update_mode(UpdateMode::InsertOnly);
    case.client.upsert_points(request).await.expect("upserted");
    assert_eq!(case.matching(Filter::must([Condition::matches("group", 99)])).await, Vec::<u64>::new());
    // The changed payload moves the point to a different group. The index must reflect this change.
    let moved = find(case, 7, exact(), group.clone()).await;
    let set = SetPayloadPointsBuilder::new(&case.name, Payload::from([("group", Value::from(99))]));
    case.client.set_payload(set.points_selector([PointId::from(moved[0])]).wait(true)).await.expect("set");
    assert_eq!(find(case, 7, exact(), group.clone()).await[..9], moved[1..]);
    assert!(!find(case, 7, SearchParamsBuilder::default().hnsw_ef(128), group).await.contains(&moved[0]));
    assert_eq!(case.matching(Filter::must([Condition::matches("group", 99)])).await, [moved[0]]);
    let info = case.settled(|_| true).await;
    assert_eq!(info.points_count, Some(NUM_POINTS - 1));
}
