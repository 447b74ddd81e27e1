//! Tests that payloads are set, overwritten and deleted, and that points are counted by payload values.

use ::qdrant_client::Payload;
use ::qdrant_client::qdrant::*;

use crate::server::{Case, point};

/// Returns the payloads of points 1 to 3 as sorted pairs.
async fn payloads(case: &Case) -> Vec<Vec<(String, i64)>> {
    let mut all = Vec::new();
    for id in 1..=3u64 {
        let payload = case.get(id).await.expect("written").payload;
        let mut pairs: Vec<(String, i64)> =
            payload.into_iter().map(|(name, value)| (name, value.as_integer().expect("a number"))).collect();
        pairs.sort();
        all.push(pairs);
    }
    all
}

fn pairs(pairs: &[(&str, i64)]) -> Vec<(String, i64)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

fn fields<const N: usize>(fields: [(&str, i64); N]) -> Payload {
    Payload::from(fields.map(|(name, value)| (name, Value::from(value))))
}

async fn three() -> Case {
    let case = Case::new(1).await;
    case.index("a", FieldType::Integer).await;
    case.upsert((1..=3u64).map(|id| point(id, vec![1.0], [("a", (id as i64).into()), ("b", 0.into())])).collect())
        .await;
    case
}

#[tokio::test]
async fn payloads_are_set_by_id_and_by_filter() {
    let case = three().await;
    let set = SetPayloadPointsBuilder::new(&case.name, fields([("b", 5), ("c", 6)])).wait(true);
    case.client.set_payload(set.points_selector([PointId::from(1)])).await.expect("set");
    let above = Filter::must([Condition::range("a", Range { gte: Some(2.0), ..Range::default() })]);
    let set = SetPayloadPointsBuilder::new(&case.name, fields([("c", 7)])).wait(true);
    case.client.set_payload(set.points_selector(above)).await.expect("set");
    let expected = [[("a", 1), ("b", 5), ("c", 6)], [("a", 2), ("b", 0), ("c", 7)], [("a", 3), ("b", 0), ("c", 7)]];
    assert_eq!(payloads(&case).await, expected.map(|fields| pairs(&fields)));
    case.done().await;
}

#[tokio::test]
async fn payloads_are_overwritten_deleted_and_cleared() {
    let case = three().await;
    let overwrite = SetPayloadPointsBuilder::new(&case.name, fields([("z", 1)])).wait(true);
    case.client.overwrite_payload(overwrite.points_selector([PointId::from(1)])).await.expect("overwritten");
    let delete = DeletePayloadPointsBuilder::new(&case.name, ["b".to_owned()]).wait(true);
    let two = Filter::must([Condition::matches("a", 2)]);
    case.client.delete_payload(delete.points_selector(two)).await.expect("deleted");
    case.client
        .clear_payload(ClearPayloadPointsBuilder::new(&case.name).points([PointId::from(3)]).wait(true))
        .await
        .expect("cleared");
    assert_eq!(payloads(&case).await, [pairs(&[("z", 1)]), pairs(&[("a", 2)]), pairs(&[])]);
    case.done().await;
}

#[tokio::test]
async fn mark_is_set_only_where_its_filter_allows() {
    let case = Case::new(1).await;
    case.index("to", FieldType::Integer).await;
    let open = i64::MAX;
    case.upsert((1..=3u64).zip([open, 5, 6]).map(|(id, to)| point(id, vec![1.0], [("to", to.into())])).collect()).await;
    let retire = async |generation: i64, aborted: Vec<i64>| {
        let free = Filter::should([Condition::matches("to", open), Condition::matches("to", aborted)]);
        let filter = Filter::must([Condition::has_id([1, 2, 3].map(PointId::from)), free.into()]);
        let set = SetPayloadPointsBuilder::new(&case.name, fields([("to", generation)])).wait(true);
        case.client.set_payload(set.points_selector(filter)).await.expect("set");
        payloads(&case).await.into_iter().map(|payload| payload[0].1).collect::<Vec<_>>()
    };
    assert_eq!(retire(9, vec![5]).await, [9, 9, 6]);
    assert_eq!(retire(11, vec![]).await, [9, 9, 6]);
    case.done().await;
}

#[tokio::test]
async fn values_are_counted() {
    let case = Case::new(1).await;
    case.index("path", FieldType::Keyword).await;
    case.index("number", FieldType::Integer).await;
    let path = |id: u64| format!("p{}", id % 7 % 4);
    let points =
        (0..100).map(|id| point(id, vec![1.0], [("path", path(id).into()), ("number", (id as i64 % 3).into())]));
    case.upsert(points.collect()).await;
    let facet = async |request: FacetCountsBuilder| {
        let hits = case.client.facet(request.exact(true)).await.expect("counted").hits;
        let mut hits: Vec<(String, u64)> = hits
            .into_iter()
            .map(|hit| match hit.value.and_then(|value| value.variant) {
                Some(facet_value::Variant::StringValue(text)) => (text, hit.count),
                Some(facet_value::Variant::IntegerValue(number)) => (number.to_string(), hit.count),
                other => panic!("{other:?}"),
            })
            .collect();
        hits.sort();
        hits
    };
    let count = |wanted: &dyn Fn(u64) -> bool| (0..100).filter(|id| wanted(*id)).count() as u64;
    let expected: Vec<_> = (0..4).map(|name| (format!("p{name}"), count(&|id| id % 7 % 4 == name))).collect();
    assert_eq!(facet(FacetCountsBuilder::new(&case.name, "path").limit(100)).await, expected);
    let third = Filter::must([Condition::matches("number", 2)]);
    let expected: Vec<_> =
        (0..4).map(|name| (format!("p{name}"), count(&|id| id % 7 % 4 == name && id % 3 == 2))).collect();
    assert_eq!(facet(FacetCountsBuilder::new(&case.name, "path").filter(third).limit(100)).await, expected);
    let expected: Vec<_> = (0..3).map(|rest| (rest.to_string(), count(&|id| id % 3 == rest))).collect();
    assert_eq!(facet(FacetCountsBuilder::new(&case.name, "number")).await, expected);
    assert_eq!(facet(FacetCountsBuilder::new(&case.name, "path").limit(2)).await.len(), 2);
    case.done().await;
}
