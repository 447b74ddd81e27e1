//! Tests that points are written in each mode, read, scrolled and deleted.

use ::qdrant_client::Payload;
use ::qdrant_client::qdrant::*;

use crate::server::{Case, number, point};

fn payload(point: &RetrievedPoint, field: &str) -> Option<Value> {
    point.payload.get(field).cloned()
}

#[tokio::test]
async fn points_are_read_as_written() {
    let case = Case::new(4).await;
    let nested = Value::from(Payload::from([("list", Value::from(vec![Value::from(1), Value::from("two")]))]));
    let fields = [
        ("largest", i64::MAX.into()),
        ("smallest", i64::MIN.into()),
        ("fraction", 0.1.into()),
        ("text", "a\0b\n\u{1F980}".into()),
        ("empty", "".into()),
        ("flag", false.into()),
        ("nested", nested),
        ("nothing", Value { kind: Some(value::Kind::NullValue(0)) }),
        ("none", Value::from(Vec::<Value>::new())),
    ];
    let uuid = "6361cafe-6e00-5000-8000-7265636f7264";
    let sparse = Vector::new_sparse(vec![u32::MAX - 1, 3], vec![255.0, 1.0]);
    let vectors =
        NamedVectors::default().add_vector("dense", vec![-127.0, 127.0, 0.0, 1.0]).add_vector("terms", sparse);
    case.upsert(vec![PointStruct::new(uuid, vectors, fields.clone()), point(u64::MAX, vec![1.0; 4], [])]).await;
    let found = case.get(uuid).await.expect("written");
    assert_eq!(found.id, Some(uuid.into()));
    for (field, value) in fields {
        assert_eq!(payload(&found, field), Some(value), "{field}");
    }
    let Some(vectors_output::VectorsOptions::Vectors(named)) =
        found.vectors.and_then(|vectors| vectors.vectors_options)
    else {
        panic!("no named vectors")
    };
    let dense = named.vectors["dense"].clone().into_vector();
    assert_eq!(dense, vector_output::Vector::Dense(DenseVector { data: vec![-127.0, 127.0, 0.0, 1.0] }));
    let sparse = named.vectors["terms"].clone().into_vector();
    let expected = SparseVector { indices: vec![3, u32::MAX - 1], values: vec![1.0, 255.0] };
    assert_eq!(sparse, vector_output::Vector::Sparse(expected));
    assert_eq!(case.get(u64::MAX).await.map(|point| number(point.id)), Some(u64::MAX));
    assert!(case.get(7).await.is_none());
    case.done().await;
}

#[tokio::test]
async fn upserts_obey_their_mode_and_filter() {
    let case = Case::new(1).await;
    case.index("version", FieldType::Integer).await;
    let write = async |mode: UpdateMode, filter: Option<Filter>, version: i64| {
        let points = [1, 2].map(|id| point(id, vec![version as f32], [("version", version.into())]));
        let mut request = UpsertPointsBuilder::new(&case.name, points).wait(true).update_mode(mode);
        if let Some(filter) = filter {
            request = request.update_filter(filter);
        }
        case.client.upsert_points(request).await.expect("upserted");
        let mut versions = Vec::new();
        for id in [1, 2] {
            versions.push(case.get(id).await.and_then(|point| payload(&point, "version")?.as_integer()));
        }
        versions
    };
    let only = |version: i64| Some(Filter::must([Condition::matches("version", version)]));
    assert_eq!(write(UpdateMode::UpdateOnly, None, 1).await, [None, None]);
    assert_eq!(write(UpdateMode::InsertOnly, None, 2).await, [Some(2), Some(2)]);
    assert_eq!(write(UpdateMode::InsertOnly, None, 3).await, [Some(2), Some(2)]);
    assert_eq!(write(UpdateMode::UpdateOnly, None, 4).await, [Some(4), Some(4)]);
    assert_eq!(write(UpdateMode::Upsert, None, 5).await, [Some(5), Some(5)]);
    assert_eq!(write(UpdateMode::Upsert, only(9), 6).await, [Some(5), Some(5)]);
    assert_eq!(write(UpdateMode::Upsert, only(5), 7).await, [Some(7), Some(7)]);
    // A deleted point may be inserted again.
    case.client
        .delete_points(DeletePointsBuilder::new(&case.name).points([PointId::from(1)]).wait(true))
        .await
        .expect("deleted");
    assert_eq!(write(UpdateMode::InsertOnly, None, 8).await, [Some(8), Some(7)]);
    case.done().await;
}

#[tokio::test]
async fn points_are_deleted_by_id_and_by_filter() {
    let case = Case::new(1).await;
    case.index("group", FieldType::Keyword).await;
    let group = |id: u64| if id % 2 == 0 { "even" } else { "odd" };
    case.upsert((0..10).map(|id| point(id, vec![1.0], [("group", group(id).into())])).collect()).await;
    let delete = DeletePointsBuilder::new(&case.name).points([1, 2, 99].map(PointId::from)).wait(true);
    case.client.delete_points(delete).await.expect("deleted");
    assert_eq!(case.matching(Filter::default()).await, [0, 3, 4, 5, 6, 7, 8, 9]);
    let odd = Filter::must([Condition::matches("group", "odd".to_owned())]);
    case.client.delete_points(DeletePointsBuilder::new(&case.name).points(odd).wait(true)).await.expect("deleted");
    assert_eq!(case.matching(Filter::default()).await, [0, 4, 6, 8]);
    case.done().await;
}

#[tokio::test]
async fn points_are_scrolled_by_id() {
    let case = Case::new(1).await;
    let ids: Vec<u64> = (0..57).map(|index| index * 37 % 101).collect();
    case.upsert(ids.iter().map(|id| point(*id, vec![1.0], [])).collect()).await;
    let (mut found, mut offset, mut num_pages) = (Vec::new(), None, 0);
    loop {
        let mut request = ScrollPointsBuilder::new(&case.name).limit(10);
        if let Some(offset) = offset {
            request = request.offset::<PointId>(offset);
        }
        let page = case.client.scroll(request).await.expect("scrolled");
        found.extend(page.result.into_iter().map(|point| number(point.id)));
        num_pages += 1;
        offset = page.next_page_offset;
        if offset.is_none() {
            break;
        }
    }
    let mut sorted = ids;
    sorted.sort_unstable();
    assert_eq!((found, num_pages), (sorted, 6));
    case.done().await;
}

#[tokio::test]
async fn points_are_scrolled_by_an_indexed_integer() {
    let case = Case::new(1).await;
    case.index("order", FieldType::Integer).await;
    let order = |id: u64| (id * 7919 % 64) as i64 * (1 << 46);
    case.upsert((0..64).map(|id| point(id, vec![1.0], [("order", order(id).into())])).collect()).await;
    let mut expected: Vec<u64> = (0..64).collect();
    expected.sort_by_key(|id| order(*id));
    let scroll = async |direction: Direction, start: Option<i64>, limit: u32| {
        let mut by = OrderByBuilder::new("order").direction(direction.into());
        if let Some(start) = start {
            by = by.start_from(start_from::Value::Integer(start));
        }
        let request = ScrollPointsBuilder::new(&case.name).order_by(by).limit(limit);
        let found = case.client.scroll(request).await.expect("scrolled").result;
        for point in &found {
            let value = point.order_value.and_then(|value| value.variant);
            assert_eq!(value, Some(order_value::Variant::Int(order(number(point.id.clone())))));
        }
        found.into_iter().map(|point| number(point.id)).collect::<Vec<_>>()
    };
    assert_eq!(scroll(Direction::Asc, None, 100).await, expected);
    assert_eq!(scroll(Direction::Asc, Some(order(expected[20])), 10).await, expected[20..30]);
    assert_eq!(scroll(Direction::Asc, Some(order(expected[20]) + 1), 10).await, expected[21..31]);
    expected.reverse();
    assert_eq!(scroll(Direction::Desc, None, 64).await, expected);
    assert_eq!(scroll(Direction::Desc, Some(order(expected[50])), 5).await, expected[50..55]);
    case.done().await;
}
