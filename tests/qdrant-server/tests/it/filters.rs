//! Tests every kind of condition, on fields with and without an index.

use ::qdrant_client::Payload;
use ::qdrant_client::qdrant::r#match::MatchValue;
use ::qdrant_client::qdrant::*;

use crate::server::{Case, point};

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn range(gt: Option<f64>, gte: Option<f64>, lt: Option<f64>, lte: Option<f64>) -> Range {
    Range { lt, gt, gte, lte }
}

fn part(kind: &str, size: i64) -> Value {
    Payload::from([("kind", Value::from(kind)), ("size", Value::from(size))]).into()
}

fn points() -> Vec<PointStruct> {
    let null = Value { kind: Some(value::Kind::NullValue(0)) };
    let list = |values: &[&str]| Value::from(values.iter().map(|value| Value::from(*value)).collect::<Vec<_>>());
    vec![
        point(0, vec![1.0], [("name", "a".into()), ("size", 1.into()), ("test", true.into())]),
        point(1, vec![1.0], [("name", "b".into()), ("size", 2.into()), ("test", false.into())]),
        point(2, vec![1.0], [("name", list(&["a", "c"])), ("size", i64::MAX.into())]),
        point(3, vec![1.0], [("name", list(&[])), ("size", (i64::MAX - 1_000_000).into())]),
        point(4, vec![1.0], [("name", null), ("size", (-5).into())]),
        point(5, vec![1.0], [("parts", Value::from(vec![part("x", 1), part("y", 9)]))]),
        point(6, vec![1.0], [("parts", Value::from(vec![part("x", 9), part("y", 1)]))]),
        PointStruct::new(7, NamedVectors::default(), [("name", Value::from("Ä/ö b"))]),
    ]
}

fn cases() -> Vec<(&'static str, Filter, &'static [u64])> {
    let is = |condition: Condition| Filter::must([condition]);
    let name = |value: &str| Condition::matches("name", value.to_owned());
    let sizes = |from: i64| range(None, Some(from as f64), None, None);
    let nested = Filter::must([
        Condition::matches("kind", "x".to_owned()),
        Condition::range("size", range(Some(5.0), None, None, None)),
    ]);
    let apart = Filter::must([
        Condition::matches("parts[].kind", "x".to_owned()),
        Condition::range("parts[].size", range(Some(5.0), None, None, None)),
    ]);
    let values_count =
        |gte: u64| Condition::values_count("name", ValuesCount { gte: Some(gte), ..ValuesCount::default() });
    let min_should = |count: u64| Filter {
        min_should: Some(MinShould {
            min_count: count,
            conditions: vec![name("a"), Condition::matches("test", true), Condition::matches("size", 2)],
        }),
        ..Filter::default()
    };
    vec![
        ("everything", Filter::default(), &[0, 1, 2, 3, 4, 5, 6, 7]),
        ("keyword", is(name("a")), &[0, 2]),
        ("keyword of one value", is(name("Ä/ö b")), &[7]),
        ("keyword without a point", is(name("")), &[]),
        ("any of keywords", is(Condition::matches("name", texts(&["b", "c", "z"]))), &[1, 2]),
        ("any of no keywords", is(Condition::matches("name", texts(&[]))), &[]),
        ("except keywords", is(Condition::matches("name", !MatchValue::from(texts(&["a"])))), &[1, 2, 7]),
        ("integer", is(Condition::matches("size", 2)), &[1]),
        ("largest integer", is(Condition::matches("size", i64::MAX)), &[2]),
        ("any of integers", is(Condition::matches("size", vec![1, -5, i64::MAX])), &[0, 2, 4]),
        ("except integers", is(Condition::matches("size", !MatchValue::from(vec![1, i64::MAX]))), &[1, 3, 4]),
        ("true", is(Condition::matches("test", true)), &[0]),
        ("false", is(Condition::matches("test", false)), &[1]),
        ("lower than", is(Condition::range("size", range(None, None, Some(2.0), None))), &[0, 4]),
        ("at most", is(Condition::range("size", range(None, None, None, Some(2.0)))), &[0, 1, 4]),
        ("between", is(Condition::range("size", range(Some(-5.0), None, None, Some(2.0)))), &[0, 1]),
        ("from the largest", is(Condition::range("size", sizes(i64::MAX))), &[2]),
        ("from a large one", is(Condition::range("size", sizes(1 << 62))), &[2, 3]),
        ("ids", is(Condition::has_id([1, 3, 99].map(PointId::from))), &[1, 3]),
        ("no ids", is(Condition::has_id(Vec::<PointId>::new())), &[]),
        ("empty", is(Condition::is_empty("name")), &[3, 4, 5, 6]),
        ("not empty", Filter::must_not([Condition::is_empty("name")]), &[0, 1, 2, 7]),
        ("null", is(Condition::is_null("name")), &[4]),
        ("number of values", is(values_count(2)), &[2]),
        ("nested", is(Condition::nested("parts", nested)), &[6]),
        ("fields of several objects", apart, &[5, 6]),
        (
            "vector",
            is(Condition {
                condition_one_of: Some(condition::ConditionOneOf::HasVector(HasVectorCondition {
                    has_vector: "dense".into(),
                })),
            }),
            &[0, 1, 2, 3, 4, 5, 6],
        ),
        (
            "must and must_not",
            Filter { must: vec![name("a")], must_not: vec![Condition::matches("size", 1)], ..Filter::default() },
            &[2],
        ),
        ("should", Filter::should([name("b"), Condition::matches("size", -5)]), &[1, 4]),
        (
            "filter within",
            Filter::must([
                Filter::should([name("a"), name("b")]).into(),
                Filter::must_not([Condition::matches("test", true)]).into(),
            ]),
            &[1, 2],
        ),
        ("one of three", min_should(1), &[0, 1, 2]),
        ("two of three", min_should(2), &[0]),
        ("three of three", min_should(3), &[]),
    ]
}

#[tokio::test]
async fn conditions_select_the_expected_points() {
    let case = Case::new(1).await;
    case.upsert(points()).await;
    for (what, filter, expected) in cases() {
        assert_eq!(case.matching(filter).await, expected, "{what}, without indexes");
    }
    case.index("name", FieldType::Keyword).await;
    case.index("size", FieldType::Integer).await;
    case.index("test", FieldType::Bool).await;
    for (what, filter, expected) in cases() {
        assert_eq!(case.matching(filter.clone()).await, expected, "{what}, with indexes");
        let with_vector = expected.iter().filter(|id| **id != 7).count();
        let query = QueryPointsBuilder::new(&case.name).query(vec![1.0]).using("dense").filter(filter).limit(100);
        assert_eq!(case.client.query(query).await.expect("found").result.len(), with_vector, "{what}, by vector");
    }
    case.done().await;
}

/// Tests two long filters that Cairn sends: a list of many hidden generations, and a scope of many
/// repositories.
#[tokio::test]
async fn long_lists_are_accepted() {
    let case = Case::new(1).await;
    case.index("repository", FieldType::Keyword).await;
    case.index("from", FieldType::Integer).await;
    let repository = |id: u64| format!("repository-{id}");
    let payload = |id: u64| [("repository", repository(id % 5_000).into()), ("from", (id as i64).into())];
    case.upsert((0..6_000).map(|id| point(id, vec![1.0], payload(id))).collect()).await;
    let scope: Vec<String> = (0..3_000).map(repository).collect();
    let hidden: Vec<i64> = (0..256).map(|number| number * 3).collect();
    let filter = Filter {
        must: vec![
            Condition::matches("repository", scope),
            Condition::range("from", Range { lt: Some(5_500.0), ..Range::default() }),
        ],
        must_not: vec![Condition::matches("from", hidden)],
        ..Filter::default()
    };
    let visible = |id: u64| id % 5_000 < 3_000 && id < 5_500 && !(id < 768 && id % 3 == 0);
    let count = CountPointsBuilder::new(&case.name).filter(filter).exact(true);
    let found = case.client.count(count).await.expect("counted").result.expect("a result").count;
    assert_eq!(found as usize, (0..6_000).filter(|id| visible(*id)).count());
    case.done().await;
}
