//! Creates collections and their indexes if they are missing, and checks them if they exist.
//!
//! Several service instances may prepare the same collection at the same time. A later instance finds the
//! objects that an earlier instance created.

use cairn_domain::ModelId;
use cairn_ports::ErrorKind;
use qdrant_client::qdrant::vectors_config::Config;
use qdrant_client::qdrant::{
    CollectionExistsRequest, CollectionInfo, CollectionParams, CreateCollection, CreateFieldIndexCollection, Datatype,
    Distance, GetCollectionInfoRequest, HnswConfigDiff, SparseVectorConfig, SparseVectorParams, StrictModeConfig,
    UpdateCollection, VectorParams, VectorParamsMap, VectorsConfig,
};

use crate::collection::{Collection, applied};
use crate::config::QdrantConfig;
use crate::error::Fault;
use crate::fields::{CACHE_INDEXES, CHUNK_INDEXES, DENSE, Index, TERMS};
use crate::version;

/// The required properties of a collection.
pub(crate) struct Plan {
    dimensions: u16,
    datatype: Option<Datatype>,
    /// Number of links per point in the HNSW index; 0 means that the collection has no such index.
    links: u64,
    has_terms: bool,
    indexes: &'static [(&'static str, Index)],
}

impl Plan {
    pub(crate) fn of_chunks(config: &QdrantConfig, model: &ModelId) -> Self {
        let links = if config.exact { 0 } else { 16 };
        Self { dimensions: model.dimensions, datatype: None, links, has_terms: true, indexes: &CHUNK_INDEXES }
    }

    /// The plan of a vector cache. The vectors of a cache are bytes on disk and are never searched.
    pub(crate) fn of_cache(model: &ModelId) -> Self {
        let datatype = Some(Datatype::Uint8);
        Self { dimensions: model.dimensions, datatype, links: 0, has_terms: false, indexes: &CACHE_INDEXES }
    }
}

/// Returns `PREFIX-MODEL-DIMENSIONS`. Characters that a folder name cannot contain are replaced. A digest
/// then distinguishes models whose names differ only in such characters.
pub(crate) fn collection_name(config: &QdrantConfig, model: &ModelId) -> String {
    const LONGEST_MODEL: usize = 80;
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '-' | '.');
    let plain: String =
        model.name.chars().map(|sign| if is_plain(sign) { sign } else { '_' }).take(LONGEST_MODEL).collect();
    let digest = match plain == model.name {
        true => String::new(),
        false => format!("-{}", &blake3::hash(model.name.as_bytes()).to_hex()[..8]),
    };
    format!("{}-{plain}{digest}-{}", config.collection_prefix, model.dimensions)
}

pub(crate) async fn prepare(collection: &Collection, config: &QdrantConfig, plan: &Plan) -> Result<(), Fault> {
    version::check(&collection.connection).await?;
    if !exists(collection).await? {
        create(collection, config, plan).await?;
    }
    let info = info(collection).await?;
    check(&collection.name, plan, &info)?;
    set_links(collection, plan, &info).await?;
    for (field, index) in unindexed(plan, &info) {
        create_index(collection, field, index).await?;
    }
    Ok(())
}

/// Returns the objects that `prepare` would create.
pub(crate) async fn missing(collection: &Collection, plan: &Plan) -> Result<Vec<String>, Fault> {
    let name = &collection.name;
    version::check(&collection.connection).await?;
    if !exists(collection).await? {
        return Ok(vec![format!("collection `{name}`")]);
    }
    let info = info(collection).await?;
    check(name, plan, &info)?;
    Ok(unindexed(plan, &info).map(|(field, _)| format!("index `{field}` of collection `{name}`")).collect())
}

/// Returns the missing indexes. Existing indexes are not created again: in a Qdrant cluster, all nodes vote
/// on each such request, so a starting service would have to wait for their leader.
fn unindexed(plan: &Plan, info: &CollectionInfo) -> impl Iterator<Item = (&'static str, Index)> {
    plan.indexes.iter().copied().filter(|(field, _)| !info.payload_schema.contains_key(*field))
}

async fn exists(collection: &Collection) -> Result<bool, Fault> {
    let request = CollectionExistsRequest { collection_name: collection.name.clone() };
    let mut client = collection.connection.collections();
    let answer = collection.connection.call(request, async |request| client.collection_exists(request).await).await?;
    Ok(answer.result.is_some_and(|result| result.exists))
}

async fn info(collection: &Collection) -> Result<CollectionInfo, Fault> {
    let request = GetCollectionInfoRequest { collection_name: collection.name.clone() };
    let mut client = collection.connection.collections();
    let answer = collection.connection.call(request, async |request| client.get(request).await).await?;
    Ok(answer.result.unwrap_or_default())
}

#[expect(deprecated, reason = "servers of 1.19 support `on_disk` but not its successor")]
async fn create(collection: &Collection, config: &QdrantConfig, plan: &Plan) -> Result<(), Fault> {
    let dense = VectorParams {
        size: u64::from(plan.dimensions),
        distance: Distance::Dot.into(),
        datatype: plan.datatype.map(i32::from),
        on_disk: (!plan.has_terms).then_some(true),
        ..VectorParams::default()
    };
    let vectors = VectorParamsMap { map: [(DENSE.to_owned(), dense)].into() };
    let terms = SparseVectorConfig { map: [(TERMS.to_owned(), SparseVectorParams::default())].into() };
    let request = CreateCollection {
        collection_name: collection.name.clone(),
        hnsw_config: Some(links(plan)),
        shard_number: Some(config.shard_number),
        on_disk_payload: Some(true),
        vectors_config: Some(VectorsConfig { config: Some(Config::ParamsMap(vectors)) }),
        replication_factor: Some(config.replication_factor),
        write_consistency_factor: Some(config.write_consistency_factor),
        sparse_vectors_config: plan.has_terms.then_some(terms),
        // Strict mode is disabled explicitly, because the server would use its own default for an omitted
        // setting.
        strict_mode_config: Some(StrictModeConfig { enabled: Some(false), ..StrictModeConfig::default() }),
        ..CreateCollection::default()
    };
    let mut client = collection.connection.collections();
    match collection.connection.call(request, async |request| client.create(request).await).await {
        Ok(_) => Ok(()),
        // Qdrant returns one of these two errors if another process created the collection first.
        Err(fault) if matches!(fault.kind, ErrorKind::AlreadyExists | ErrorKind::Invalid) => {
            if exists(collection).await? { Ok(()) } else { Err(fault) }
        }
        Err(fault) => Err(fault),
    }
}

/// Returns the settings of the links in the HNSW index. With links only among all points, a search within one
/// tenant, repository or language has low recall: a measured search found 72 of 100 hits. `Index::has_links`
/// selects the fields that get additional links.
fn links(plan: &Plan) -> HnswConfigDiff {
    HnswConfigDiff { m: Some(plan.links), payload_m: Some(plan.links), ..HnswConfigDiff::default() }
}

/// Updates the links, because the setting `exact` may have changed since the collection was created.
async fn set_links(collection: &Collection, plan: &Plan, info: &CollectionInfo) -> Result<(), Fault> {
    let current = info.config.as_ref().and_then(|config| config.hnsw_config).and_then(|hnsw| hnsw.m);
    if current == Some(plan.links) {
        return Ok(());
    }
    let request = UpdateCollection {
        collection_name: collection.name.clone(),
        hnsw_config: Some(links(plan)),
        ..UpdateCollection::default()
    };
    let mut client = collection.connection.collections();
    collection.connection.call(request, async |request| client.update(request).await).await.map(drop)
}

/// Creates an index. The request also succeeds if the index exists.
async fn create_index(collection: &Collection, field: &str, index: Index) -> Result<(), Fault> {
    let request = CreateFieldIndexCollection {
        collection_name: collection.name.clone(),
        wait: Some(true),
        field_name: field.to_owned(),
        field_type: Some(index.field_type().into()),
        field_index_params: Some(index.params()),
        ordering: collection.connection.ordering(),
        ..CreateFieldIndexCollection::default()
    };
    let mut client = collection.connection.points();
    applied(&collection.connection.call(request, async |request| client.create_field_index(request).await).await?)
}

fn check(name: &str, plan: &Plan, info: &CollectionInfo) -> Result<(), Fault> {
    let params = info.config.as_ref().and_then(|config| config.params.as_ref());
    let faults = faults(plan, params);
    if faults.is_empty() {
        return Ok(());
    }
    let faults = faults.join(", ");
    Err(Fault::invalid(format!(
        "collection `{name}` does not fit: {faults}; set another `collection_prefix`, or delete the collection and \
         index again"
    )))
}

fn faults(plan: &Plan, params: Option<&CollectionParams>) -> Vec<String> {
    let mut faults = Vec::new();
    match params.and_then(dense) {
        None => faults.push(format!("it has no vectors `{DENSE}`")),
        Some(dense) => {
            if dense.size != u64::from(plan.dimensions) {
                faults.push(format!("its vectors have {} dimensions, not {}", dense.size, plan.dimensions));
            }
            if dense.distance() != Distance::Dot {
                faults.push(format!("its distance function is {}, not Dot", dense.distance().as_str_name()));
            }
        }
    }
    let terms = params.and_then(|params| params.sparse_vectors_config.as_ref()?.map.get(TERMS));
    match terms {
        None if plan.has_terms => faults.push(format!("it has no sparse vectors `{TERMS}`")),
        // The stored weights are final, so the server must not change them with its statistics.
        Some(terms) if terms.modifier.is_some_and(|modifier| modifier != 0) => {
            faults.push(format!("its setting `modifier` changes the weights of the sparse vectors `{TERMS}`"));
        }
        _ => {}
    }
    faults
}

fn dense(params: &CollectionParams) -> Option<&VectorParams> {
    match params.vectors_config.as_ref()?.config.as_ref()? {
        Config::ParamsMap(map) => map.map.get(DENSE),
        Config::Params(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_distinguish_models() {
        let config = QdrantConfig::new("http://h:1");
        let name = |model: &str, dimensions| collection_name(&config, &ModelId { name: model.to_owned(), dimensions });
        assert_eq!(name("cairn-static-1.2", 256), "cairn-cairn-static-1.2-256");
        assert_ne!(name("a/b", 4), name("a_b", 4));
        assert_ne!(name("a/b", 4), name("a:b", 4));
        assert_ne!(name("a", 4), name("a", 5));
        assert!(name("a/../b", 4).chars().all(|sign| sign != '/'));
        assert!(name(&"x".repeat(500), 4).len() < 200);
    }
}
