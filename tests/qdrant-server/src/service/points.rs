//! The requests that write, read and search points.

use ::qdrant_client::qdrant::points_server::Points;
use ::qdrant_client::qdrant::*;
use qdrant_edge::{CountRequest, FacetRequest, OrderByInterface, ScrollRequest};
use tonic::{Request, Response, Status};

use super::Service;
use crate::collection::Collection;
use crate::convert::points::{ids, path, retrieved, scored, with_payload, with_vectors};
use crate::convert::{filter, query, status, unimplemented, wrong};
use crate::journal::Change;
use crate::store::Store;

impl Service {
    /// Applies a write before it is confirmed, even if the client does not ask to wait for the write.
    async fn change(
        &self,
        name: String,
        wait: Option<bool>,
        change: Change,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        let (number, time) = self.run(move |store| store.get(&name)?.change(change)).await?;
        let status = if wait == Some(true) { UpdateStatus::Completed } else { UpdateStatus::Acknowledged };
        let result = UpdateResult { operation_id: Some(number), status: status.into() };
        Ok(Response::new(PointsOperationResponse { result: Some(result), time, usage: None }))
    }
}

fn find(store: &Store, request: &QueryPoints) -> Result<Vec<ScoredPoint>, Status> {
    let collection = store.get(&request.collection_name)?;
    let found = collection.shard().query(query::query(request)?).map_err(status)?;
    // In Qdrant, the code that merges the answers of shards applies the offset; the engine does not.
    Ok(found.into_iter().skip(request.offset.unwrap_or(0) as usize).map(scored).collect())
}

/// Returns a page of points, ordered by id or by a payload field.
fn scroll(collection: &Collection, request: &ScrollPoints) -> Result<ScrollResponse, Status> {
    if request.limit == Some(0) {
        return Err(wrong("limit: value 0 invalid, must be 1 or larger"));
    }
    let order_by = request.order_by.as_ref().map(query::order_by).transpose()?;
    let offset = request.offset.as_ref().map(crate::convert::points::id).transpose()?;
    let page = collection.shard().scroll(ScrollRequest {
        offset,
        limit: request.limit.map(|limit| limit as usize),
        filter: filter::optional(request.filter.as_ref())?,
        with_payload: Some(with_payload(request.with_payload.as_ref(), true)?),
        with_vector: with_vectors(request.with_vectors.as_ref()),
        order_by: order_by.map(OrderByInterface::Struct),
    });
    let (records, next) = page.map_err(status)?;
    Ok(ScrollResponse {
        next_page_offset: next.map(crate::convert::points::id_out),
        result: records.into_iter().map(retrieved).collect(),
        time: 0.0,
        usage: None,
    })
}

fn facet(collection: &Collection, request: &FacetCounts) -> Result<Vec<FacetHit>, Status> {
    let response = collection.shard().facet(FacetRequest {
        key: path(&request.key)?,
        limit: request.limit.unwrap_or(10) as usize,
        filter: filter::optional(request.filter.as_ref())?,
        exact: request.exact.unwrap_or(false),
    });
    let hit = |hit: qdrant_edge::FacetValueHit| {
        let variant = match hit.value {
            qdrant_edge::FacetValue::Keyword(text) => facet_value::Variant::StringValue(text),
            qdrant_edge::FacetValue::Int(number) => facet_value::Variant::IntegerValue(number),
            qdrant_edge::FacetValue::Uuid(uuid) => {
                facet_value::Variant::StringValue(uuid::Uuid::from_u128(uuid).to_string())
            }
            qdrant_edge::FacetValue::Bool(flag) => facet_value::Variant::BoolValue(flag),
        };
        FacetHit { value: Some(FacetValue { variant: Some(variant) }), count: hit.count as u64 }
    };
    Ok(response.map_err(status)?.hits.into_iter().map(hit).collect())
}

#[tonic::async_trait]
impl Points for Service {
    async fn upsert(&self, request: Request<UpsertPoints>) -> Result<Response<PointsOperationResponse>, Status> {
        let request = request.into_inner();
        let (name, wait) = (request.collection_name.clone(), request.wait);
        self.change(name, wait, Change::Upsert(request)).await
    }

    async fn delete(&self, request: Request<DeletePoints>) -> Result<Response<PointsOperationResponse>, Status> {
        let request = request.into_inner();
        let (name, wait) = (request.collection_name.clone(), request.wait);
        self.change(name, wait, Change::Delete(request)).await
    }

    async fn set_payload(
        &self,
        request: Request<SetPayloadPoints>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        let request = request.into_inner();
        let (name, wait) = (request.collection_name.clone(), request.wait);
        self.change(name, wait, Change::SetPayload(request)).await
    }

    async fn overwrite_payload(
        &self,
        request: Request<SetPayloadPoints>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        let request = request.into_inner();
        let (name, wait) = (request.collection_name.clone(), request.wait);
        self.change(name, wait, Change::OverwritePayload(request)).await
    }

    async fn delete_payload(
        &self,
        request: Request<DeletePayloadPoints>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        let request = request.into_inner();
        let (name, wait) = (request.collection_name.clone(), request.wait);
        self.change(name, wait, Change::DeletePayload(request)).await
    }

    async fn clear_payload(
        &self,
        request: Request<ClearPayloadPoints>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        let request = request.into_inner();
        let (name, wait) = (request.collection_name.clone(), request.wait);
        self.change(name, wait, Change::ClearPayload(request)).await
    }

    async fn create_field_index(
        &self,
        request: Request<CreateFieldIndexCollection>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        let request = request.into_inner();
        let (name, wait) = (request.collection_name.clone(), request.wait);
        self.change(name, wait, Change::CreateIndex(request)).await
    }

    async fn delete_field_index(
        &self,
        request: Request<DeleteFieldIndexCollection>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        let request = request.into_inner();
        let (name, wait) = (request.collection_name.clone(), request.wait);
        self.change(name, wait, Change::DeleteIndex(request)).await
    }

    async fn get(&self, request: Request<GetPoints>) -> Result<Response<GetResponse>, Status> {
        let request = request.into_inner();
        let read = move |store: &Store| {
            let collection = store.get(&request.collection_name)?;
            let payload = with_payload(request.with_payload.as_ref(), true)?;
            let vectors = with_vectors(request.with_vectors.as_ref());
            let found = collection.shard().retrieve(&ids(&request.ids)?, Some(payload), Some(vectors));
            Ok(found.map_err(status)?.into_iter().map(retrieved).collect())
        };
        let (result, time) = self.run(read).await?;
        Ok(Response::new(GetResponse { result, time, usage: None }))
    }

    async fn scroll(&self, request: Request<ScrollPoints>) -> Result<Response<ScrollResponse>, Status> {
        let request = request.into_inner();
        let (response, time) = self.run(move |store| scroll(&*store.get(&request.collection_name)?, &request)).await?;
        Ok(Response::new(ScrollResponse { time, ..response }))
    }

    async fn count(&self, request: Request<CountPoints>) -> Result<Response<CountResponse>, Status> {
        let request = request.into_inner();
        let count = move |store: &Store| {
            let filter = filter::optional(request.filter.as_ref())?;
            let count = CountRequest { filter, exact: request.exact.unwrap_or(true) };
            store.get(&request.collection_name)?.shard().count(count).map_err(status)
        };
        let (count, time) = self.run(count).await?;
        let result = Some(CountResult { count: count as u64 });
        Ok(Response::new(CountResponse { result, time, usage: None }))
    }

    async fn query(&self, request: Request<QueryPoints>) -> Result<Response<QueryResponse>, Status> {
        let request = request.into_inner();
        let (result, time) = self.run(move |store| find(store, &request)).await?;
        Ok(Response::new(QueryResponse { result, time, usage: None }))
    }

    async fn query_batch(&self, request: Request<QueryBatchPoints>) -> Result<Response<QueryBatchResponse>, Status> {
        let request = request.into_inner();
        let query = move |store: &Store| {
            let one = |query: QueryPoints| {
                let query = QueryPoints { collection_name: request.collection_name.clone(), ..query };
                find(store, &query).map(|result| BatchResult { result })
            };
            request.query_points.clone().into_iter().map(one).collect()
        };
        let (result, time) = self.run(query).await?;
        Ok(Response::new(QueryBatchResponse { result, time, usage: None }))
    }

    async fn facet(&self, request: Request<FacetCounts>) -> Result<Response<FacetResponse>, Status> {
        let request = request.into_inner();
        let (hits, time) = self.run(move |store| facet(&*store.get(&request.collection_name)?, &request)).await?;
        Ok(Response::new(FacetResponse { hits, time, usage: None }))
    }

    async fn update_vectors(
        &self,
        _: Request<UpdatePointVectors>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        Err(unimplemented("the method `update_vectors`"))
    }

    async fn delete_vectors(
        &self,
        _: Request<DeletePointVectors>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        Err(unimplemented("the method `delete_vectors`"))
    }

    async fn create_vector_name(
        &self,
        _: Request<CreateVectorNameRequest>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        Err(unimplemented("the method `create_vector_name`"))
    }

    async fn delete_vector_name(
        &self,
        _: Request<DeleteVectorNameRequest>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        Err(unimplemented("the method `delete_vector_name`"))
    }

    async fn search(&self, _: Request<SearchPoints>) -> Result<Response<SearchResponse>, Status> {
        Err(unimplemented("the method `search`"))
    }

    async fn search_batch(&self, _: Request<SearchBatchPoints>) -> Result<Response<SearchBatchResponse>, Status> {
        Err(unimplemented("the method `search_batch`"))
    }

    async fn search_groups(&self, _: Request<SearchPointGroups>) -> Result<Response<SearchGroupsResponse>, Status> {
        Err(unimplemented("the method `search_groups`"))
    }

    async fn recommend(&self, _: Request<RecommendPoints>) -> Result<Response<RecommendResponse>, Status> {
        Err(unimplemented("the method `recommend`"))
    }

    async fn recommend_batch(
        &self,
        _: Request<RecommendBatchPoints>,
    ) -> Result<Response<RecommendBatchResponse>, Status> {
        Err(unimplemented("the method `recommend_batch`"))
    }

    async fn recommend_groups(
        &self,
        _: Request<RecommendPointGroups>,
    ) -> Result<Response<RecommendGroupsResponse>, Status> {
        Err(unimplemented("the method `recommend_groups`"))
    }

    async fn discover(&self, _: Request<DiscoverPoints>) -> Result<Response<DiscoverResponse>, Status> {
        Err(unimplemented("the method `discover`"))
    }

    async fn discover_batch(&self, _: Request<DiscoverBatchPoints>) -> Result<Response<DiscoverBatchResponse>, Status> {
        Err(unimplemented("the method `discover_batch`"))
    }

    async fn update_batch(&self, _: Request<UpdateBatchPoints>) -> Result<Response<UpdateBatchResponse>, Status> {
        Err(unimplemented("the method `update_batch`"))
    }

    async fn query_groups(&self, _: Request<QueryPointGroups>) -> Result<Response<QueryGroupsResponse>, Status> {
        Err(unimplemented("the method `query_groups`"))
    }

    async fn search_matrix_pairs(
        &self,
        _: Request<SearchMatrixPoints>,
    ) -> Result<Response<SearchMatrixPairsResponse>, Status> {
        Err(unimplemented("the method `search_matrix_pairs`"))
    }

    async fn search_matrix_offsets(
        &self,
        _: Request<SearchMatrixPoints>,
    ) -> Result<Response<SearchMatrixOffsetsResponse>, Status> {
        Err(unimplemented("the method `search_matrix_offsets`"))
    }
}
