//! Tests that collections are created, listed, shown, changed, aliased and deleted.

use ::qdrant_client::QdrantError;
use ::qdrant_client::qdrant::*;
use tonic::Code;

use crate::server::{Case, point};

fn code(error: QdrantError) -> Code {
    match error {
        QdrantError::ResponseError { status } => status.code(),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn collections_are_created_listed_and_deleted() {
    let case = Case::empty();
    let (client, name) = (&case.client, &case.name);
    assert!(!client.collection_exists(name).await.expect("asked"));
    assert_eq!(code(client.collection_info(name).await.expect_err("nothing is there")), Code::NotFound);
    assert!(client.create_collection(case.create(4)).await.expect("created").result);
    assert!(client.collection_exists(name).await.expect("asked"));
    let again = code(client.create_collection(case.create(4)).await.expect_err("it is there"));
    assert!(matches!(again, Code::AlreadyExists | Code::InvalidArgument), "{again:?}");
    let list = client.list_collections().await.expect("listed").collections;
    assert_eq!(list.iter().filter(|collection| collection.name == *name).count(), 1);
    client.delete_collection(name).await.expect("deleted");
    assert!(!client.collection_exists(name).await.expect("asked"));
    client.create_collection(case.create(8)).await.expect("the name is free again");
    case.done().await;
}

#[tokio::test]
async fn collection_shows_its_settings() {
    let case = Case::empty();
    let hnsw = HnswConfigDiffBuilder::default().m(0).payload_m(8);
    case.client.create_collection(case.create(4).hnsw_config(hnsw)).await.expect("created");
    case.index("tenant", FieldType::Keyword).await;
    let tenant = KeywordIndexParamsBuilder::default().is_tenant(true);
    let index = CreateFieldIndexCollectionBuilder::new(&case.name, "repository", FieldType::Keyword);
    case.client.create_field_index(index.field_index_params(tenant).wait(true)).await.expect("indexed");
    case.index("at", FieldType::Integer).await;
    // Creating an existing index again is not an error.
    case.index("at", FieldType::Integer).await;
    case.upsert((0..5).map(|id| point(id, vec![1.0; 4], [("tenant", "t".into())])).collect()).await;
    let info = case.settled(|_| true).await;
    assert_eq!(info.points_count, Some(5));
    let config = info.config.expect("a config");
    assert_eq!(config.hnsw_config.map(|hnsw| (hnsw.m, hnsw.payload_m)), Some((Some(0), Some(8))));
    let params = config.params.expect("parameters");
    assert!(params.sparse_vectors_config.expect("sparse").map.contains_key("terms"));
    let Some(vectors_config::Config::ParamsMap(map)) = params.vectors_config.and_then(|config| config.config) else {
        panic!("no named vectors")
    };
    assert_eq!((map.map["dense"].size, map.map["dense"].distance()), (4, Distance::Dot));
    let kind = |field: &str| info.payload_schema.get(field).map(|schema| schema.data_type());
    assert_eq!(kind("tenant"), Some(PayloadSchemaType::Keyword));
    assert_eq!(kind("at"), Some(PayloadSchemaType::Integer));
    let params = info.payload_schema["repository"].params.and_then_params();
    assert!(
        matches!(params, Some(payload_index_params::IndexParams::KeywordIndexParams(params)) if params.is_tenant == Some(true))
    );
    case.client
        .delete_field_index(DeleteFieldIndexCollectionBuilder::new(&case.name, "at").wait(true))
        .await
        .expect("gone");
    assert!(!case.settled(|_| true).await.payload_schema.contains_key("at"));
    let update = UpdateCollectionBuilder::new(&case.name).hnsw_config(HnswConfigDiffBuilder::default().m(16));
    case.client.update_collection(update).await.expect("updated");
    let config = case.settled(|_| true).await.config.expect("a config");
    assert_eq!(config.hnsw_config.map(|hnsw| (hnsw.m, hnsw.payload_m)), Some((Some(16), Some(8))));
    case.done().await;
}

trait AndThenParams {
    fn and_then_params(&self) -> Option<&payload_index_params::IndexParams>;
}

impl AndThenParams for Option<PayloadIndexParams> {
    fn and_then_params(&self) -> Option<&payload_index_params::IndexParams> {
        self.as_ref().and_then(|params| params.index_params.as_ref())
    }
}

#[tokio::test]
async fn alias_names_its_collection() {
    let case = Case::new(2).await;
    let (alias, renamed) = (format!("{}-alias", case.name), format!("{}-renamed", case.name));
    case.client.create_alias(CreateAliasBuilder::new(&case.name, &alias)).await.expect("made");
    case.client
        .upsert_points(UpsertPointsBuilder::new(&alias, [point(1, vec![1.0, 2.0], [])]).wait(true))
        .await
        .expect("written");
    assert!(case.get(1).await.is_some());
    case.client.rename_alias(RenameAliasBuilder::new(&alias, &renamed)).await.expect("renamed");
    let aliases = case.client.list_collection_aliases(&case.name).await.expect("listed").aliases;
    assert_eq!(aliases.iter().map(|alias| alias.alias_name.as_str()).collect::<Vec<_>>(), [renamed.as_str()]);
    case.client.delete_alias(&renamed).await.expect("gone");
    assert_eq!(code(case.client.count(CountPointsBuilder::new(&renamed)).await.expect_err("no alias")), Code::NotFound);
    case.done().await;
}

#[tokio::test]
async fn invalid_requests_are_refused() {
    let case = Case::new(4).await;
    let upsert = |point| case.client.upsert_points(UpsertPointsBuilder::new(&case.name, [point]).wait(true));
    assert_eq!(code(upsert(point(1, vec![1.0; 3], [])).await.expect_err("too short")), Code::InvalidArgument);
    let other =
        PointStruct::new(1, NamedVectors::default().add_vector("other", vec![1.0; 4]), [("a", Value::from("b"))]);
    assert_eq!(code(upsert(other).await.expect_err("unknown vector")), Code::InvalidArgument);
    assert_eq!(code(upsert(point("no-uuid", vec![1.0; 4], [])).await.expect_err("no uuid")), Code::InvalidArgument);
    let query = QueryPointsBuilder::new(&case.name).query(vec![1.0; 5]).using("dense");
    assert_eq!(code(case.client.query(query).await.expect_err("too long")), Code::InvalidArgument);
    assert_eq!(case.matching(Filter::default()).await, Vec::<u64>::new());
    upsert(point(1, vec![1.0; 4], [("unindexed", "a".into())])).await.expect("upserted");
    let facet = FacetCountsBuilder::new(&case.name, "unindexed");
    assert_eq!(code(case.client.facet(facet).await.expect_err("no index")), Code::InvalidArgument);
    let missing = format!("{}-missing", case.name);
    let upsert = UpsertPointsBuilder::new(missing, [point(1, vec![1.0; 4], [])]);
    assert_eq!(code(case.client.upsert_points(upsert).await.expect_err("no collection")), Code::NotFound);
    case.done().await;
}
