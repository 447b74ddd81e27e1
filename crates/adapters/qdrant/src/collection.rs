//! Requests to one collection: they read pages, count points, set marks, and insert and delete points.

use std::collections::HashMap;

use cairn_ports::ErrorKind;
use qdrant_client::qdrant::points_selector::PointsSelectorOneOf;
use qdrant_client::qdrant::with_payload_selector::SelectorOptions;
use qdrant_client::qdrant::{
    CountPoints, DeletePoints, Filter, OrderBy, PayloadIncludeSelector, PointId, PointStruct, PointsOperationResponse,
    PointsSelector, QueryBatchPoints, QueryPoints, RetrievedPoint, ScoredPoint, ScrollPoints, SetPayloadPoints,
    UpdateMode, UpdateResult, UpdateStatus, UpsertPoints, Value, WithPayloadSelector, WithVectorsSelector, start_from,
};

use crate::connection::Connection;
use crate::error::Fault;

/// Number of points per page, for pages that are only used internally and not returned to a caller.
pub(crate) const PAGE: u32 = 1_000;

#[derive(Clone)]
pub(crate) struct Collection {
    pub(crate) connection: Connection,
    pub(crate) name: String,
}

/// The points to read, and the fields to return.
#[derive(Default)]
pub(crate) struct Page {
    pub(crate) filter: Filter,
    pub(crate) limit: u32,
    pub(crate) offset: Option<PointId>,
    pub(crate) with_payload: Option<WithPayloadSelector>,
    pub(crate) with_vectors: bool,
    /// An indexed integer field by which the points are ordered, and the value to start at.
    pub(crate) order_by: Option<(&'static str, i64)>,
}

pub(crate) fn only(fields: &[&str]) -> Option<WithPayloadSelector> {
    let fields = fields.iter().map(|field| (*field).to_owned()).collect();
    Some(WithPayloadSelector { selector_options: Some(SelectorOptions::Include(PayloadIncludeSelector { fields })) })
}

pub(crate) fn whole_payload() -> Option<WithPayloadSelector> {
    Some(WithPayloadSelector { selector_options: Some(SelectorOptions::Enable(true)) })
}

/// True if a list ended because no more entries exist. A list may also be short for two other reasons:
/// entries were deleted after the search and before their payload was read, or shards returned fewer entries
/// than requested for a large approximate search. Neither of these reasons removes more than half of a list.
pub(crate) fn is_whole(num_listed: u64, wanted: u64) -> bool {
    num_listed.saturating_mul(2) < wanted
}

/// Fails if the server reports a write that is not applied yet. A server that exceeds its own limit
/// (`cluster.grpc_timeout_ms`) reports success; only the status of the write shows that the write is pending.
pub(crate) fn applied(answer: &PointsOperationResponse) -> Result<(), Fault> {
    match answer.result.as_ref().map(UpdateResult::status) {
        Some(status @ (UpdateStatus::WaitTimeout | UpdateStatus::ClockRejected)) => {
            let text = format!("the write is not applied yet ({})", status.as_str_name());
            Err(Fault::new(ErrorKind::Timeout, text))
        }
        _ => Ok(()),
    }
}

fn selector(which: PointsSelectorOneOf) -> Option<PointsSelector> {
    Some(PointsSelector { points_selector_one_of: Some(which) })
}

impl Collection {
    /// Inserts the points that do not exist yet.
    pub(crate) async fn insert(&self, points: Vec<PointStruct>) -> Result<(), Fault> {
        let request = UpsertPoints {
            collection_name: self.name.clone(),
            wait: Some(true),
            points,
            ordering: self.connection.ordering(),
            update_mode: Some(UpdateMode::InsertOnly.into()),
            ..UpsertPoints::default()
        };
        let mut client = self.connection.points();
        applied(&self.connection.call(request, async |request| client.upsert(request).await).await?)
    }

    /// Sets fields of the points that match the filter at the time of the write.
    pub(crate) async fn set(&self, fields: HashMap<String, Value>, filter: Filter) -> Result<(), Fault> {
        let request = SetPayloadPoints {
            collection_name: self.name.clone(),
            wait: Some(true),
            payload: fields,
            points_selector: selector(PointsSelectorOneOf::Filter(filter)),
            ordering: self.connection.ordering(),
            ..SetPayloadPoints::default()
        };
        let mut client = self.connection.points();
        applied(&self.connection.call(request, async |request| client.set_payload(request).await).await?)
    }

    /// Deletes the points that match the filter, on every replica. The points are not counted first, because
    /// all replicas must receive the request even if one replica counts no points.
    pub(crate) async fn delete(&self, filter: Filter) -> Result<(), Fault> {
        let request = DeletePoints {
            collection_name: self.name.clone(),
            wait: Some(true),
            points: selector(PointsSelectorOneOf::Filter(filter)),
            ordering: self.connection.ordering(),
            ..DeletePoints::default()
        };
        let mut client = self.connection.points();
        applied(&self.connection.call(request, async |request| client.delete(request).await).await?)
    }

    /// Deletes the points. Returns how many of the points existed on one replica.
    pub(crate) async fn count_and_delete(&self, filter: Filter) -> Result<u64, Fault> {
        let num_points = self.count(filter.clone()).await?;
        self.delete(filter).await?;
        Ok(num_points)
    }

    pub(crate) async fn count(&self, filter: Filter) -> Result<u64, Fault> {
        let request = CountPoints {
            collection_name: self.name.clone(),
            filter: Some(filter),
            exact: Some(true),
            ..CountPoints::default()
        };
        let mut client = self.connection.points();
        let answer = self.connection.call(request, async |request| client.count(request).await).await?;
        Ok(answer.result.map_or(0, |result| result.count))
    }

    /// Sends the requests as one batch. Returns the points that each request finds.
    pub(crate) async fn query(&self, requests: Vec<QueryPoints>) -> Result<Vec<Vec<ScoredPoint>>, Fault> {
        let num_requests = requests.len();
        let of_collection = |request| QueryPoints { collection_name: self.name.clone(), ..request };
        let batch = QueryBatchPoints {
            collection_name: self.name.clone(),
            query_points: requests.into_iter().map(of_collection).collect(),
            ..QueryBatchPoints::default()
        };
        let mut client = self.connection.points();
        let answer = self.connection.call(batch, async |batch| client.query_batch(batch).await).await?;
        let found: Vec<Vec<ScoredPoint>> = answer.result.into_iter().map(|found| found.result).collect();
        if found.len() != num_requests {
            let text = format!("{} responses to a batch of {num_requests} requests", found.len());
            return Err(Fault::new(ErrorKind::Corrupt, text));
        }
        Ok(found)
    }

    /// Returns one page, and the start of the next page in the order of ids.
    pub(crate) async fn page(&self, page: Page) -> Result<(Vec<RetrievedPoint>, Option<PointId>), Fault> {
        let order = |(key, start): (&str, i64)| OrderBy {
            key: key.to_owned(),
            direction: None,
            start_from: Some(qdrant_client::qdrant::StartFrom { value: Some(start_from::Value::Integer(start)) }),
        };
        let request = ScrollPoints {
            collection_name: self.name.clone(),
            filter: Some(page.filter),
            offset: page.offset,
            limit: Some(page.limit),
            with_payload: page.with_payload,
            with_vectors: Some(WithVectorsSelector::from(page.with_vectors)),
            order_by: page.order_by.map(order),
            ..ScrollPoints::default()
        };
        let mut client = self.connection.points();
        let answer = self.connection.call(request, async |request| client.scroll(request).await).await?;
        Ok((answer.result, answer.next_page_offset))
    }

    /// Reads all pages and passes the points of each page to `take`.
    pub(crate) async fn each_page(
        &self,
        filter: Filter,
        with_payload: Option<WithPayloadSelector>,
        with_vectors: bool,
        mut take: impl FnMut(Vec<RetrievedPoint>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut offset = None;
        loop {
            let (filter, with_payload) = (filter.clone(), with_payload.clone());
            let page = Page { filter, limit: PAGE, offset, with_payload, with_vectors, order_by: None };
            let (points, next) = self.page(page).await?;
            take(points)?;
            offset = next;
            if offset.is_none() {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pending_write_is_an_error() {
        let answer = |status: UpdateStatus| {
            let result = UpdateResult { status: status.into(), ..UpdateResult::default() };
            applied(&PointsOperationResponse { result: Some(result), ..PointsOperationResponse::default() })
        };
        assert!(answer(UpdateStatus::Completed).is_ok() && answer(UpdateStatus::Acknowledged).is_ok());
        for status in [UpdateStatus::WaitTimeout, UpdateStatus::ClockRejected] {
            assert_eq!(answer(status).map_err(|fault| fault.kind), Err(ErrorKind::Timeout));
        }
    }
}
