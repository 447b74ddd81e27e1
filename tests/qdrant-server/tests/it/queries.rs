//! Tests searches with dense and sparse vectors: exact scores, filters, thresholds, pages, batches and
//! fusion.

use ::qdrant_client::qdrant::*;

use crate::server::{Case, integers, noise, number, point};

const DIMENSIONS: usize = 256;
const NUM_POINTS: u64 = 500;

fn sparse(seed: u64) -> (Vec<u32>, Vec<f32>) {
    let mut pairs: Vec<(u32, f32)> =
        noise(seed).take(12).map(|value| (value % 60, (value >> 8 & 127) as f32 + 1.0)).collect();
    pairs.sort_by_key(|(term, _)| *term);
    pairs.dedup_by_key(|(term, _)| *term);
    pairs.into_iter().unzip()
}

async fn filled() -> Case {
    let case = Case::new(DIMENSIONS as u64).await;
    case.index("group", FieldType::Integer).await;
    let points = (1..=NUM_POINTS).map(|id| {
        let (indices, values) = sparse(id);
        let vectors = NamedVectors::default()
            .add_vector("dense", integers(id, DIMENSIONS))
            .add_vector("terms", Vector::new_sparse(indices, values));
        PointStruct::new(id, vectors, [("group", Value::from((id % 5) as i64)), ("text", "long".into())])
    });
    case.upsert(points.collect()).await;
    case
}

fn dense_score(id: u64, question: &[f32]) -> i64 {
    integers(id, DIMENSIONS).iter().zip(question).map(|(left, right)| *left as i64 * *right as i64).sum()
}

fn sparse_score(id: u64, question: &[(u32, f32)]) -> i64 {
    let (indices, values) = sparse(id);
    let weight = |term: u32| indices.iter().position(|index| *index == term).map_or(0, |at| values[at] as i64);
    question.iter().map(|(term, wanted)| weight(*term) * *wanted as i64).sum()
}

/// Returns the scores and ids of the wanted points, the highest score first.
fn ranked(score: impl Fn(u64) -> i64, wanted: impl Fn(u64) -> bool) -> Vec<(i64, u64)> {
    let mut all: Vec<(i64, u64)> = (1..=NUM_POINTS).filter(|id| wanted(*id)).map(|id| (score(id), id)).collect();
    all.sort_by_key(|(score, id)| (-score, *id));
    all
}

/// Checks that the scores are the expected scores, and that each point has the score that was computed for
/// its id. Ids with equal scores may be in any order.
fn check(found: Vec<ScoredPoint>, expected: &[(i64, u64)], score: impl Fn(u64) -> i64) {
    let scores: Vec<i64> = found.iter().map(|point| point.score as i64).collect();
    assert_eq!(scores, expected.iter().map(|(score, _)| *score).collect::<Vec<_>>());
    for point in found {
        assert_eq!(point.score, score(number(point.id)) as f32);
    }
}

#[tokio::test]
async fn dense_scores_are_exact() {
    let case = filled().await;
    for seed in [1, 1_000, 1_001] {
        let question = integers(seed, DIMENSIONS);
        let score = |id| dense_score(id, &question);
        let query = || QueryPointsBuilder::new(&case.name).query(question.clone()).using("dense");
        let all = ranked(score, |_| true);
        check(case.client.query(query().limit(7)).await.expect("found").result, &all[..7], score);
        check(case.client.query(query().limit(5).offset(3)).await.expect("found").result, &all[3..8], score);
        let exact = query().limit(1_000).params(SearchParamsBuilder::default().exact(true));
        check(case.client.query(exact).await.expect("found").result, &all, score);
        let group = ranked(score, |id| id % 5 == 2);
        let filter = Filter::must([Condition::matches("group", 2)]);
        check(case.client.query(query().filter(filter).limit(20)).await.expect("found").result, &group[..20], score);
        // All points above the threshold must be found. Whether points exactly at the threshold are found
        // depends on the server.
        let threshold = all[10].0;
        let above: Vec<_> = all.iter().copied().filter(|(score, _)| *score >= threshold).collect();
        let query = query().score_threshold((threshold as f32).next_down()).limit(1_000);
        check(case.client.query(query).await.expect("found").result, &above, score);
    }
    case.done().await;
}

#[tokio::test]
async fn sparse_scores_are_exact() {
    let case = filled().await;
    let questions: [&[(u32, f32)]; 4] =
        [&[(3, 2.0)], &[(0, 1.0), (7, 300.0), (39, 5.0)], &[(59, 9.0), (60, 1.0)], &[(99, 1.0)]];
    for question in questions {
        let score = |id| sparse_score(id, question);
        let mut expected = ranked(score, |_| true);
        expected.retain(|(score, _)| *score > 0);
        let query = || QueryPointsBuilder::new(&case.name).query(question.to_vec()).using("terms");
        let positive =
            |found: Vec<ScoredPoint>| found.into_iter().filter(|point| point.score > 0.0).collect::<Vec<_>>();
        check(positive(case.client.query(query().limit(1_000)).await.expect("found").result), &expected, score);
        let some = expected.len().min(5);
        check(positive(case.client.query(query().limit(5)).await.expect("found").result), &expected[..some], score);
        let filter = Filter::must([Condition::matches("group", vec![1, 4])]);
        let mut expected = ranked(score, |id| id % 5 == 1 || id % 5 == 4);
        expected.retain(|(score, _)| *score > 0);
        check(
            positive(case.client.query(query().filter(filter).limit(1_000)).await.expect("found").result),
            &expected,
            score,
        );
    }
    case.done().await;
}

#[tokio::test]
async fn larger_limit_returns_all_points_of_equal_score() {
    let case = Case::new(2).await;
    case.upsert((0..300).map(|id| point(id, vec![1.0, id as f32], [])).collect()).await;
    let query = |limit| QueryPointsBuilder::new(&case.name).query(vec![5.0, 0.0]).using("dense").limit(limit);
    let few = case.client.query(query(20)).await.expect("found").result;
    assert_eq!(few.len(), 20);
    let all = case.client.query(query(1_000).score_threshold(5f32.next_down())).await.expect("found").result;
    let mut ids: Vec<u64> = all.into_iter().map(|point| number(point.id)).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..300).collect::<Vec<_>>());
    case.done().await;
}

#[tokio::test]
async fn payloads_and_vectors_are_returned_on_request() {
    let case = filled().await;
    let query = || QueryPointsBuilder::new(&case.name).query(integers(1, DIMENSIONS)).using("dense").limit(1);
    let one = async |query: QueryPointsBuilder| case.client.query(query).await.expect("found").result.remove(0);
    let bare = one(query()).await;
    assert!(bare.payload.is_empty() && bare.vectors.is_none());
    let mut fields: Vec<String> = one(query().with_payload(true)).await.payload.into_keys().collect();
    fields.sort();
    assert_eq!(fields, ["group", "text"]);
    let include = PayloadIncludeSelector { fields: vec!["group".to_owned(), "missing".to_owned()] };
    assert_eq!(one(query().with_payload(include)).await.payload.into_keys().collect::<Vec<_>>(), ["group"]);
    let exclude = PayloadExcludeSelector { fields: vec!["group".to_owned()] };
    assert_eq!(one(query().with_payload(exclude)).await.payload.into_keys().collect::<Vec<_>>(), ["text"]);
    let vectors =
        one(query().with_vectors(VectorsSelector { names: vec!["terms".to_owned()] })).await.vectors.expect("vectors");
    let Some(vectors_output::VectorsOptions::Vectors(named)) = vectors.vectors_options else { panic!("no names") };
    assert_eq!(named.vectors.into_keys().collect::<Vec<_>>(), ["terms"]);
    case.done().await;
}

#[tokio::test]
async fn batch_and_fusion_return_each_query() {
    let case = filled().await;
    let dense = |seed| QueryPointsBuilder::new(&case.name).query(integers(seed, DIMENSIONS)).using("dense").limit(3);
    let batch = QueryBatchPointsBuilder::new(&case.name, vec![dense(1).build(), dense(2).build()]);
    let found = case.client.query_batch(batch).await.expect("found").result;
    let first = |batch: &BatchResult| number(batch.result[0].id.clone());
    assert_eq!(found.iter().map(first).collect::<Vec<_>>(), [1, 2]);
    // Point 9 is the first point in both lists.
    let (indices, values) = sparse(9);
    let question: Vec<(u32, f32)> = indices.into_iter().zip(values).collect();
    let hybrid = QueryPointsBuilder::new(&case.name)
        .add_prefetch(PrefetchQueryBuilder::default().query(integers(9, DIMENSIONS)).using("dense").limit(20u64))
        .add_prefetch(PrefetchQueryBuilder::default().query(question).using("terms").limit(20u64))
        .query(Fusion::Rrf)
        .limit(5);
    let found = case.client.query(hybrid).await.expect("found").result;
    assert_eq!((number(found[0].id.clone()), found.len()), (9, 5));
    case.done().await;
}
