//! Converts queries.

use qdrant_client::qdrant::query::Variant;
use qdrant_client::qdrant::vector_input::Variant as Input;
use qdrant_client::qdrant::{Direction, Fusion, OrderBy, PrefetchQuery, Query, QueryPoints, SearchParams, start_from};
use qdrant_edge::external::ordered_float::OrderedFloat;
use qdrant_edge::{NamedQuery, Prefetch, QueryEnum, QueryRequest, ScoringQuery, VectorInternal};
use serde_json::json;
use tonic::Status;

use super::points::{sparse_vector, with_payload, with_vectors};
use super::{filter, from_json, unimplemented, wrong};

const DEFAULT_LIMIT: u64 = 10;

pub fn query(request: &QueryPoints) -> Result<QueryRequest, Status> {
    if request.lookup_from.is_some() {
        return Err(unimplemented("looking up vectors in other collections"));
    }
    Ok(QueryRequest {
        prefetches: request.prefetch.iter().map(prefetch).collect::<Result<_, _>>()?,
        query: request.query.as_ref().map(|query| scoring(query, request.using.as_deref())).transpose()?,
        filter: filter::optional(request.filter.as_ref())?,
        score_threshold: request.score_threshold.map(OrderedFloat),
        limit: (request.limit.unwrap_or(DEFAULT_LIMIT) + request.offset.unwrap_or(0)) as usize,
        offset: 0,
        params: request.params.as_ref().map(params).transpose()?,
        with_vector: with_vectors(request.with_vectors.as_ref()),
        with_payload: with_payload(request.with_payload.as_ref(), false)?,
    })
}

fn prefetch(prefetch: &PrefetchQuery) -> Result<Prefetch, Status> {
    Ok(Prefetch {
        prefetches: prefetch.prefetch.iter().map(self::prefetch).collect::<Result<_, _>>()?,
        query: prefetch.query.as_ref().map(|query| scoring(query, prefetch.using.as_deref())).transpose()?,
        limit: prefetch.limit.unwrap_or(DEFAULT_LIMIT) as usize,
        params: prefetch.params.as_ref().map(params).transpose()?,
        filter: filter::optional(prefetch.filter.as_ref())?,
        score_threshold: prefetch.score_threshold.map(OrderedFloat),
    })
}

fn scoring(query: &Query, using: Option<&str>) -> Result<ScoringQuery, Status> {
    match query.variant.as_ref().ok_or_else(|| wrong("the query has no content"))? {
        Variant::Nearest(input) => {
            let vector = match input.variant.as_ref().ok_or_else(|| wrong("the vector is empty"))? {
                Input::Dense(dense) => VectorInternal::Dense(dense.data.clone()),
                Input::Sparse(sparse) => VectorInternal::Sparse(sparse_vector(&sparse.indices, &sparse.values)?),
                _ => return Err(unimplemented("queries by id, by several vectors or by inference")),
            };
            Ok(ScoringQuery::Vector(QueryEnum::Nearest(NamedQuery::new(vector, using.unwrap_or_default()))))
        }
        Variant::OrderBy(order) => Ok(ScoringQuery::OrderBy(order_by(order)?)),
        Variant::Fusion(fusion) if *fusion == Fusion::Dbsf as i32 => {
            Ok(ScoringQuery::Fusion(qdrant_edge::Fusion::Dbsf))
        }
        Variant::Fusion(_) => Ok(ScoringQuery::Fusion(qdrant_edge::Fusion::Rrf { k: 2, weights: None })),
        Variant::Rrf(rrf) => {
            let weights = rrf.weights.iter().copied().map(OrderedFloat).collect::<Vec<_>>();
            let weights = (!weights.is_empty()).then_some(weights);
            Ok(ScoringQuery::Fusion(qdrant_edge::Fusion::Rrf { k: rrf.k.unwrap_or(2) as usize, weights }))
        }
        _ => Err(unimplemented("this kind of query")),
    }
}

pub fn order_by(order: &OrderBy) -> Result<qdrant_edge::OrderBy, Status> {
    let start = match order.start_from.as_ref().and_then(|start| start.value.as_ref()) {
        None => None,
        Some(start_from::Value::Float(number)) => Some(json!(number)),
        Some(start_from::Value::Integer(number)) => Some(json!(number)),
        Some(_) => return Err(unimplemented("an order by times")),
    };
    let direction = if order.direction == Some(Direction::Desc as i32) { "desc" } else { "asc" };
    from_json("order", json!({"key": order.key, "direction": direction, "start_from": start}))
}

fn params(params: &SearchParams) -> Result<qdrant_edge::SearchParams, Status> {
    if params.quantization.is_some() || params.acorn.is_some() || params.idf.is_some() {
        return Err(unimplemented("quantization, ACORN and IDF in searches"));
    }
    from_json(
        "search parameters",
        json!({
            "hnsw_ef": params.hnsw_ef,
            "exact": params.exact.unwrap_or(false),
            "indexed_only": params.indexed_only.unwrap_or(false),
        }),
    )
}
