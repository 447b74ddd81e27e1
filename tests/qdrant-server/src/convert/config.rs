//! Converts the settings of collections and indexes.

use qdrant_client::qdrant::payload_index_params::IndexParams;
use qdrant_client::qdrant::vectors_config::Config;
use qdrant_client::qdrant::{
    BoolIndexParams, CreateCollection, CreateFieldIndexCollection, Datatype, Distance, FieldType, FloatIndexParams,
    HnswConfigDiff, IntegerIndexParams, KeywordIndexParams, OptimizersConfigDiff, PayloadIndexParams,
    PayloadSchemaInfo, PayloadSchemaType, SparseVectorParams, UuidIndexParams, VectorParams,
};
use qdrant_edge::{EdgeConfig, EdgeOptimizersConfig, HnswIndexConfig, PayloadFieldSchema, PayloadIndexInfo};
use serde_json::{Map, Value, json};
use tonic::Status;

use super::{from_json, unimplemented, wrong};

/// Converts the settings of a collection to the engine's settings.
#[expect(deprecated, reason = "clients of 1.19 still send `on_disk_payload`")]
pub fn edge(collection: &CreateCollection) -> Result<EdgeConfig, Status> {
    if collection.quantization_config.is_some() {
        return Err(unimplemented("quantization"));
    }
    let common = collection.hnsw_config.unwrap_or_default();
    let mut vectors = Map::new();
    for (name, params) in dense_vectors(collection) {
        vectors.insert(name.to_owned(), dense_json(params, &common)?);
    }
    let mut sparse = Map::new();
    for (name, params) in collection.sparse_vectors_config.iter().flat_map(|config| &config.map) {
        sparse.insert(name.clone(), sparse_json(params)?);
    }
    from_json(
        "collection",
        json!({
            "on_disk_payload": collection.on_disk_payload.unwrap_or(true),
            "vectors": vectors,
            "sparse_vectors": sparse,
            "hnsw_config": hnsw_json(&common),
            "optimizers": optimizers_json(&collection.optimizers_config.unwrap_or_default()),
        }),
    )
}

/// Returns the names and parameters of the dense vectors. The name of a single unnamed vector is empty.
pub fn dense_vectors(collection: &CreateCollection) -> Vec<(&str, &VectorParams)> {
    match collection.vectors_config.as_ref().and_then(|config| config.config.as_ref()) {
        None => Vec::new(),
        Some(Config::Params(params)) => vec![("", params)],
        Some(Config::ParamsMap(map)) => map.map.iter().map(|(name, params)| (name.as_str(), params)).collect(),
    }
}

#[expect(deprecated, reason = "clients of 1.19 still send `on_disk`")]
fn dense_json(params: &VectorParams, common: &HnswConfigDiff) -> Result<Value, Status> {
    if params.quantization_config.is_some() || params.multivector_config.is_some() {
        return Err(unimplemented("quantization and multivectors"));
    }
    let distance = match params.distance() {
        Distance::Cosine => "Cosine",
        Distance::Euclid => "Euclid",
        Distance::Dot => "Dot",
        Distance::Manhattan => "Manhattan",
        Distance::UnknownDistance => return Err(wrong("Unknown distance")),
    };
    let own = params.hnsw_config.as_ref().map(|own| hnsw_json(&merged_hnsw(common, own)));
    Ok(json!({
        "size": params.size,
        "distance": distance,
        "on_disk": params.on_disk,
        "datatype": datatype(params.datatype.map(|_| params.datatype()))?,
        "hnsw_config": own,
    }))
}

#[expect(deprecated, reason = "clients of 1.19 still send `on_disk`")]
fn sparse_json(params: &SparseVectorParams) -> Result<Value, Status> {
    let index = params.index.unwrap_or_default();
    Ok(json!({
        "full_scan_threshold": index.full_scan_threshold,
        "on_disk": index.on_disk,
        "modifier": (params.modifier == Some(1)).then_some("idf"),
        "datatype": datatype(index.datatype.map(|_| index.datatype()))?,
    }))
}

fn datatype(datatype: Option<Datatype>) -> Result<Value, Status> {
    match datatype {
        None | Some(Datatype::Default) => Ok(Value::Null),
        Some(Datatype::Float32) => Ok(json!("float32")),
        Some(Datatype::Uint8) => Ok(json!("uint8")),
        Some(Datatype::Float16) => Ok(json!("float16")),
        Some(other) => Err(unimplemented(other.as_str_name())),
    }
}

#[expect(deprecated, reason = "clients of 1.19 still send `on_disk`")]
fn hnsw_json(config: &HnswConfigDiff) -> Value {
    json!({
        "m": config.m.unwrap_or(16),
        "ef_construct": config.ef_construct.unwrap_or(100),
        "full_scan_threshold": config.full_scan_threshold.unwrap_or(10_000),
        "max_indexing_threads": config.max_indexing_threads.unwrap_or(0),
        "on_disk": config.on_disk,
        "payload_m": config.payload_m,
    })
}

pub fn hnsw(config: &HnswConfigDiff) -> Result<HnswIndexConfig, Status> {
    from_json("HNSW settings", hnsw_json(config))
}

fn optimizers_json(config: &OptimizersConfigDiff) -> Value {
    json!({
        "deleted_threshold": config.deleted_threshold,
        "vacuum_min_vector_number": config.vacuum_min_vector_number,
        "default_segment_number": config.default_segment_number,
        "max_segment_size": config.max_segment_size,
        "indexing_threshold": config.indexing_threshold,
    })
}

pub fn optimizers(config: &OptimizersConfigDiff) -> Result<EdgeOptimizersConfig, Status> {
    from_json("optimizer settings", optimizers_json(config))
}

/// Returns the fields of `new`. A field that is not set in `new` has the value of `old`.
#[expect(deprecated, reason = "clients of 1.19 still send `on_disk`")]
pub fn merged_hnsw(old: &HnswConfigDiff, new: &HnswConfigDiff) -> HnswConfigDiff {
    HnswConfigDiff {
        m: new.m.or(old.m),
        ef_construct: new.ef_construct.or(old.ef_construct),
        full_scan_threshold: new.full_scan_threshold.or(old.full_scan_threshold),
        max_indexing_threads: new.max_indexing_threads.or(old.max_indexing_threads),
        on_disk: new.on_disk.or(old.on_disk),
        payload_m: new.payload_m.or(old.payload_m),
        inline_storage: new.inline_storage.or(old.inline_storage),
        memory: new.memory.or(old.memory),
    }
}

pub fn merged_optimizers(old: &OptimizersConfigDiff, new: &OptimizersConfigDiff) -> OptimizersConfigDiff {
    OptimizersConfigDiff {
        deleted_threshold: new.deleted_threshold.or(old.deleted_threshold),
        vacuum_min_vector_number: new.vacuum_min_vector_number.or(old.vacuum_min_vector_number),
        default_segment_number: new.default_segment_number.or(old.default_segment_number),
        max_segment_size: new.max_segment_size.or(old.max_segment_size),
        indexing_threshold: new.indexing_threshold.or(old.indexing_threshold),
        ..*old
    }
}

/// Replaces missing settings with their defaults.
pub fn with_defaults(config: &HnswConfigDiff) -> HnswConfigDiff {
    let defaults = HnswConfigDiff {
        m: Some(16),
        ef_construct: Some(100),
        full_scan_threshold: Some(10_000),
        max_indexing_threads: Some(0),
        ..HnswConfigDiff::default()
    };
    merged_hnsw(&defaults, config)
}

/// Converts the schema of an index on a payload field.
#[expect(deprecated, reason = "clients of 1.19 still send `on_disk`")]
pub fn index(request: &CreateFieldIndexCollection) -> Result<PayloadFieldSchema, Status> {
    let params = request.field_index_params.as_ref().and_then(|params| params.index_params.as_ref());
    let Some(params) = params else {
        let kind = match request.field_type.map(|_| request.field_type()) {
            None => return Err(wrong("Field type is not specified")),
            Some(FieldType::Keyword) => "keyword",
            Some(FieldType::Integer) => "integer",
            Some(FieldType::Float) => "float",
            Some(FieldType::Text) => "text",
            Some(FieldType::Bool) => "bool",
            Some(FieldType::Datetime) => "datetime",
            Some(FieldType::Uuid) => "uuid",
            Some(FieldType::Geo) => "geo",
        };
        return from_json("index", json!(kind));
    };
    let json = match params {
        IndexParams::KeywordIndexParams(params) if params.prefix.is_some() => {
            return Err(unimplemented("indexes of prefixes"));
        }
        IndexParams::KeywordIndexParams(params) => {
            json!({"type": "keyword", "is_tenant": params.is_tenant, "on_disk": params.on_disk, "enable_hnsw": params.enable_hnsw})
        }
        IndexParams::IntegerIndexParams(params) => json!({
            "type": "integer", "lookup": params.lookup, "range": params.range, "is_principal": params.is_principal,
            "on_disk": params.on_disk, "enable_hnsw": params.enable_hnsw,
        }),
        IndexParams::FloatIndexParams(params) => {
            json!({"type": "float", "is_principal": params.is_principal, "on_disk": params.on_disk, "enable_hnsw": params.enable_hnsw})
        }
        IndexParams::BoolIndexParams(params) => {
            json!({"type": "bool", "on_disk": params.on_disk, "enable_hnsw": params.enable_hnsw})
        }
        IndexParams::UuidIndexParams(params) => {
            json!({"type": "uuid", "is_tenant": params.is_tenant, "on_disk": params.on_disk, "enable_hnsw": params.enable_hnsw})
        }
        _ => return Err(unimplemented("indexes of texts, places and times with parameters")),
    };
    from_json("index", json)
}

/// Converts the description of an index for the reply to `get`.
#[expect(deprecated, reason = "clients of 1.19 still read `on_disk`")]
pub fn index_info(info: &PayloadIndexInfo) -> PayloadSchemaInfo {
    let kind = match info.data_type {
        qdrant_edge::PayloadSchemaType::Keyword => PayloadSchemaType::Keyword,
        qdrant_edge::PayloadSchemaType::Integer => PayloadSchemaType::Integer,
        qdrant_edge::PayloadSchemaType::Float => PayloadSchemaType::Float,
        qdrant_edge::PayloadSchemaType::Geo => PayloadSchemaType::Geo,
        qdrant_edge::PayloadSchemaType::Text => PayloadSchemaType::Text,
        qdrant_edge::PayloadSchemaType::Bool => PayloadSchemaType::Bool,
        qdrant_edge::PayloadSchemaType::Datetime => PayloadSchemaType::Datetime,
        qdrant_edge::PayloadSchemaType::Uuid => PayloadSchemaType::Uuid,
    };
    let params = info.params.as_ref().and_then(|params| match params {
        qdrant_edge::PayloadSchemaParams::Keyword(params) => {
            Some(IndexParams::KeywordIndexParams(KeywordIndexParams {
                is_tenant: params.is_tenant,
                on_disk: params.on_disk,
                ..KeywordIndexParams::default()
            }))
        }
        qdrant_edge::PayloadSchemaParams::Integer(params) => {
            Some(IndexParams::IntegerIndexParams(IntegerIndexParams {
                lookup: params.lookup,
                range: params.range,
                is_principal: params.is_principal,
                on_disk: params.on_disk,
                ..IntegerIndexParams::default()
            }))
        }
        qdrant_edge::PayloadSchemaParams::Float(params) => Some(IndexParams::FloatIndexParams(FloatIndexParams {
            on_disk: params.on_disk,
            is_principal: params.is_principal,
            ..FloatIndexParams::default()
        })),
        qdrant_edge::PayloadSchemaParams::Bool(params) => Some(IndexParams::BoolIndexParams(BoolIndexParams {
            on_disk: params.on_disk,
            ..BoolIndexParams::default()
        })),
        qdrant_edge::PayloadSchemaParams::Uuid(params) => Some(IndexParams::UuidIndexParams(UuidIndexParams {
            is_tenant: params.is_tenant,
            on_disk: params.on_disk,
            ..UuidIndexParams::default()
        })),
        _ => None,
    });
    PayloadSchemaInfo {
        data_type: kind.into(),
        params: params.map(|params| PayloadIndexParams { index_params: Some(params) }),
        points: Some(info.points as u64),
    }
}
