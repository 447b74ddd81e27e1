//! Converts ids, payloads, vectors and points.

use std::collections::HashMap;

use qdrant_client::qdrant::point_id::PointIdOptions;
use qdrant_client::qdrant::points_selector::PointsSelectorOneOf;
use qdrant_client::qdrant::value::Kind;
use qdrant_client::qdrant::vectors::VectorsOptions;
use qdrant_client::qdrant::with_payload_selector::SelectorOptions as PayloadOptions;
use qdrant_client::qdrant::with_vectors_selector::SelectorOptions as VectorOptions;
use qdrant_client::qdrant::{
    DenseVector, ListValue, MultiDenseVector, NamedVectorsOutput, OrderValue, PointId, PointStruct, PointsSelector,
    RetrievedPoint, ScoredPoint, SparseVector, Struct, Value, Vector, VectorOutput, Vectors, VectorsOutput,
    WithPayloadSelector, WithVectorsSelector, order_value, vector, vector_output, vectors_output,
};
use qdrant_edge::{
    Payload, PointStructPersisted, VectorInternal, VectorPersisted, VectorStructInternal, VectorStructPersisted,
    WithPayloadInterface, WithVector,
};
use serde_json::json;
use tonic::Status;

use super::{from_json, status, unimplemented, wrong};

pub fn id_json(id: &PointId) -> Result<serde_json::Value, Status> {
    match id.point_id_options.as_ref().ok_or_else(|| wrong("a point id is empty"))? {
        PointIdOptions::Num(number) => Ok(json!(number)),
        PointIdOptions::Uuid(text) => {
            let uuid = uuid::Uuid::parse_str(text).map_err(|_| wrong(format!("Unable to parse UUID: {text}")))?;
            Ok(json!(uuid.to_string()))
        }
    }
}

pub fn id(id: &PointId) -> Result<qdrant_edge::PointId, Status> {
    from_json("point id", id_json(id)?)
}

pub fn ids(ids: &[PointId]) -> Result<Vec<qdrant_edge::PointId>, Status> {
    ids.iter().map(id).collect()
}

pub fn id_out(id: qdrant_edge::PointId) -> PointId {
    let options = match id {
        qdrant_edge::PointId::NumId(number) => PointIdOptions::Num(number),
        qdrant_edge::PointId::Uuid(uuid) => PointIdOptions::Uuid(uuid.to_string()),
    };
    PointId { point_id_options: Some(options) }
}

/// The ids or the filter that a request uses to select points.
pub type Selected = (Option<Vec<qdrant_edge::PointId>>, Option<qdrant_edge::Filter>);

pub fn selected(selector: Option<&PointsSelector>) -> Result<Selected, Status> {
    match selector.and_then(|selector| selector.points_selector_one_of.as_ref()) {
        Some(PointsSelectorOneOf::Points(list)) => Ok((Some(ids(&list.ids)?), None)),
        Some(PointsSelectorOneOf::Filter(filter)) => Ok((None, Some(super::filter::filter(filter)?))),
        None => Err(wrong("Either list of point ids or filter must be provided")),
    }
}

pub fn payload(fields: &HashMap<String, Value>) -> Result<Payload, Status> {
    let fields = fields.iter().map(|(name, value)| Ok((name.clone(), value_json(value)?)));
    Ok(Payload(fields.collect::<Result<_, Status>>()?))
}

pub fn value_json(value: &Value) -> Result<serde_json::Value, Status> {
    Ok(match value.kind.as_ref() {
        None | Some(Kind::NullValue(_)) => serde_json::Value::Null,
        Some(Kind::BoolValue(flag)) => json!(flag),
        Some(Kind::IntegerValue(number)) => json!(number),
        Some(Kind::DoubleValue(number)) => serde_json::Number::from_f64(*number)
            .map(serde_json::Value::Number)
            .ok_or_else(|| wrong("cannot convert to json number"))?,
        Some(Kind::StringValue(text)) => json!(text),
        Some(Kind::ListValue(list)) => list.values.iter().map(value_json).collect::<Result<_, _>>()?,
        Some(Kind::StructValue(fields)) => {
            let fields = fields.fields.iter().map(|(name, value)| Ok((name.clone(), value_json(value)?)));
            serde_json::Value::Object(fields.collect::<Result<_, Status>>()?)
        }
    })
}

fn value_out(value: serde_json::Value) -> Value {
    let kind = match value {
        serde_json::Value::Null => Kind::NullValue(0),
        serde_json::Value::Bool(flag) => Kind::BoolValue(flag),
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => Kind::IntegerValue(integer),
            (None, float) => Kind::DoubleValue(float.unwrap_or_default()),
        },
        serde_json::Value::String(text) => Kind::StringValue(text),
        serde_json::Value::Array(values) => {
            Kind::ListValue(ListValue { values: values.into_iter().map(value_out).collect() })
        }
        serde_json::Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, value)| (name, value_out(value)));
            Kind::StructValue(Struct { fields: fields.collect() })
        }
    };
    Value { kind: Some(kind) }
}

pub fn payload_out(payload: Option<Payload>) -> HashMap<String, Value> {
    payload.into_iter().flat_map(|payload| payload.0).map(|(name, value)| (name, value_out(value))).collect()
}

pub fn point(point: &PointStruct) -> Result<PointStructPersisted, Status> {
    Ok(PointStructPersisted {
        id: id(point.id.as_ref().ok_or_else(|| wrong("Expected ID"))?)?,
        vector: vectors(point.vectors.as_ref())?,
        payload: Some(payload(&point.payload)?),
    })
}

fn vectors(vectors: Option<&Vectors>) -> Result<VectorStructPersisted, Status> {
    let named = match vectors.and_then(|vectors| vectors.vectors_options.as_ref()) {
        None => HashMap::new(),
        Some(VectorsOptions::Vector(single)) => HashMap::from([(String::new(), vector_in(single)?)]),
        Some(VectorsOptions::Vectors(named)) => {
            let named = named.vectors.iter().map(|(name, vector)| Ok((name.clone(), vector_in(vector)?)));
            named.collect::<Result<_, Status>>()?
        }
    };
    Ok(VectorStructPersisted::Named(named))
}

fn vector_in(vector: &Vector) -> Result<VectorPersisted, Status> {
    match &vector.vector {
        Some(vector::Vector::Dense(dense)) => Ok(VectorPersisted::Dense(dense.data.clone())),
        Some(vector::Vector::Sparse(sparse)) => sparse_vector(&sparse.indices, &sparse.values)
            .map(|sparse| VectorPersisted::from(VectorInternal::Sparse(sparse))),
        Some(vector::Vector::MultiDense(_)) => Err(unimplemented("multivectors")),
        Some(_) => Err(unimplemented("inference")),
        #[expect(deprecated, reason = "older clients send their vectors in these fields")]
        None => match (&vector.indices, vector.vectors_count) {
            (Some(indices), _) => sparse_vector(&indices.data, &vector.data)
                .map(|sparse| VectorPersisted::from(VectorInternal::Sparse(sparse))),
            (None, None) => Ok(VectorPersisted::Dense(vector.data.clone())),
            (None, Some(_)) => Err(unimplemented("multivectors")),
        },
    }
}

/// Converts a sparse vector. The entries are sorted by index, because the engine requires this order.
pub fn sparse_vector(indices: &[u32], values: &[f32]) -> Result<qdrant_edge::SparseVector, Status> {
    if indices.len() != values.len() {
        return Err(wrong("sparse indices does not match sparse vector values"));
    }
    let mut pairs: Vec<(u32, f32)> = indices.iter().copied().zip(values.iter().copied()).collect();
    pairs.sort_by_key(|(index, _)| *index);
    let (indices, values) = pairs.into_iter().unzip();
    qdrant_edge::SparseVector::new(indices, values).map_err(|error| wrong(format!("{error:?}")))
}

fn vector_out(vector: VectorInternal) -> VectorOutput {
    let vector = match vector {
        VectorInternal::Dense(data) => vector_output::Vector::Dense(DenseVector { data }),
        VectorInternal::Sparse(sparse) => {
            vector_output::Vector::Sparse(SparseVector { values: sparse.values, indices: sparse.indices })
        }
        VectorInternal::MultiDense(multi) => {
            let vectors = multi.into_multi_vectors().into_iter().map(|data| DenseVector { data }).collect();
            vector_output::Vector::MultiDense(MultiDenseVector { vectors })
        }
    };
    VectorOutput { vector: Some(vector), ..VectorOutput::default() }
}

fn vectors_out(vectors: Option<VectorStructInternal>) -> Option<VectorsOutput> {
    let options = match vectors? {
        VectorStructInternal::Single(data) => {
            vectors_output::VectorsOptions::Vector(vector_out(VectorInternal::Dense(data)))
        }
        VectorStructInternal::MultiDense(multi) => {
            vectors_output::VectorsOptions::Vector(vector_out(VectorInternal::MultiDense(multi)))
        }
        VectorStructInternal::Named(mut named) => match (named.len(), named.remove("")) {
            (1, Some(single)) => vectors_output::VectorsOptions::Vector(vector_out(single)),
            (_, single) => {
                named.extend(single.map(|single| (String::new(), single)));
                let vectors = named.into_iter().map(|(name, vector)| (name, vector_out(vector))).collect();
                vectors_output::VectorsOptions::Vectors(NamedVectorsOutput { vectors })
            }
        },
    };
    Some(VectorsOutput { vectors_options: Some(options) })
}

fn order_value_out(value: qdrant_edge::OrderValue) -> OrderValue {
    let variant = match value {
        qdrant_edge::OrderValue::Int(number) => order_value::Variant::Int(number),
        qdrant_edge::OrderValue::Float(number) => order_value::Variant::Float(number),
    };
    OrderValue { variant: Some(variant) }
}

pub fn retrieved(record: qdrant_edge::Record) -> RetrievedPoint {
    RetrievedPoint {
        id: Some(id_out(record.id)),
        payload: payload_out(record.payload),
        vectors: vectors_out(record.vector),
        shard_key: None,
        order_value: record.order_value.map(order_value_out),
    }
}

pub fn scored(point: qdrant_edge::ScoredPoint) -> ScoredPoint {
    ScoredPoint {
        id: Some(id_out(point.id)),
        payload: payload_out(point.payload),
        score: point.score,
        version: point.version,
        vectors: vectors_out(point.vector),
        shard_key: None,
        order_value: point.order_value.map(order_value_out),
    }
}

pub fn with_payload(selector: Option<&WithPayloadSelector>, default: bool) -> Result<WithPayloadInterface, Status> {
    match selector.and_then(|selector| selector.selector_options.as_ref()) {
        None => Ok(WithPayloadInterface::Bool(default)),
        Some(PayloadOptions::Enable(enable)) => Ok(WithPayloadInterface::Bool(*enable)),
        Some(PayloadOptions::Include(include)) => from_json("payload selector", json!({"include": include.fields})),
        Some(PayloadOptions::Exclude(exclude)) => from_json("payload selector", json!({"exclude": exclude.fields})),
    }
}

pub fn with_vectors(selector: Option<&WithVectorsSelector>) -> WithVector {
    match selector.and_then(|selector| selector.selector_options.as_ref()) {
        None => WithVector::Bool(false),
        Some(VectorOptions::Enable(enable)) => WithVector::Bool(*enable),
        Some(VectorOptions::Include(include)) => WithVector::Selector(include.names.clone()),
    }
}

/// Parses a path to a payload field.
pub fn path(text: &str) -> Result<qdrant_edge::JsonPath, Status> {
    text.parse().map_err(|()| wrong(format!("Failed to parse json path: \"{text}\"")))
}

/// Checks that the vectors of all points match the collection, before any point is written.
pub fn check(points: &[PointStructPersisted], config: &qdrant_edge::EdgeConfig) -> Result<(), Status> {
    for point in points {
        let VectorStructPersisted::Named(named) = &point.vector else { continue };
        for (name, vector) in named {
            match (vector, config.vectors.get(name), config.sparse_vectors.get(name)) {
                (VectorPersisted::Dense(dense), Some(params), _) if dense.len() == params.size => {}
                (VectorPersisted::Dense(dense), Some(params), _) => {
                    return Err(status(qdrant_edge::OperationError::WrongVectorDimension {
                        expected_dim: params.size,
                        received_dim: dense.len(),
                    }));
                }
                (VectorPersisted::Sparse(_), _, Some(_)) => {}
                (_, None, None) => {
                    return Err(status(qdrant_edge::OperationError::VectorNameNotExists {
                        received_name: name.clone(),
                    }));
                }
                _ => return Err(wrong(format!("the vector `{name}` has the wrong kind"))),
            }
        }
    }
    Ok(())
}
