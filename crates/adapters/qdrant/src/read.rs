//! Reads chunks by key, reads all chunks of a repository, and counts chunks.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{ChunkKey, ChunkRecord, Digest, RepositoryId, RepositoryScope, Scope, View};
use cairn_ports::{ChunkPage, ChunkPlace};
use qdrant_client::qdrant::{Condition, FacetCounts, Filter, RetrievedPoint, WithPayloadSelector, facet_value};

use crate::collection::{Collection, Page, is_whole, only, whole_payload};
use crate::conditions::{FilterParts, visible_in_scope};
use crate::error::Fault;
use crate::fields::{END_LINE, KEY, KEY_ORDER, PATH, REPOSITORY, START_LINE, TEXT};
use crate::payload::{Fields, RECORD, key_order, uuid_text};

/// Maximum number of keys per request.
const KEYS: usize = 256;
/// Number of chunks per page. A page also contains the texts of its chunks.
const CHUNKS_OF_A_PAGE: u32 = 1_000;
/// A limit that is higher than the number of distinct paths in any collection.
const PATHS: u64 = u32::MAX as u64;

type Wanted = (RepositoryId, ChunkKey);

/// Returns the visible chunks with these keys, in the order of the keys.
pub(crate) async fn fetch(
    collection: &Collection,
    view: &View,
    scope: &Scope,
    keys: &[Wanted],
    with_text: bool,
) -> Result<Vec<ChunkRecord>, Fault> {
    let wanted: BTreeSet<Wanted> = keys.iter().copied().filter(|(repository, _)| scope.contains(*repository)).collect();
    let wanted: Vec<Wanted> = wanted.into_iter().collect();
    let mut found: BTreeMap<Wanted, ChunkRecord> = BTreeMap::new();
    for some in wanted.chunks(KEYS) {
        for chunk in fetch_some(collection, view, scope, some, with_text).await? {
            found.insert((chunk.repository, chunk.key), chunk);
        }
    }
    Ok(keys.iter().filter_map(|key| found.get(key).cloned()).collect())
}

async fn fetch_some(
    collection: &Collection,
    view: &View,
    scope: &Scope,
    keys: &[Wanted],
    with_text: bool,
) -> Result<Vec<ChunkRecord>, Fault> {
    let repositories = keys.iter().map(|(repository, _)| *repository).collect();
    let named = Scope { repositories: RepositoryScope::Only(repositories), ..scope.clone() };
    let Some(mut filter) = visible_in_scope(view, &named) else { return Ok(Vec::new()) };
    filter.must.push(has_key(keys.iter().map(|(_, key)| *key)));
    let mut chunks = Vec::with_capacity(keys.len());
    let with_payload = if with_text { record_with_text() } else { only(&RECORD) };
    let take = |points: Vec<RetrievedPoint>| {
        for point in points {
            chunks.push(Fields::of(point.id.as_ref(), point.payload).chunk()?);
        }
        Ok(())
    };
    collection.each_page(filter, with_payload, false, take).await?;
    Ok(chunks)
}

pub(crate) fn of_repository(repository: RepositoryId) -> Condition {
    Condition::matches(REPOSITORY, repository.to_string())
}

pub(crate) fn has_key(keys: impl Iterator<Item = ChunkKey>) -> Condition {
    Condition::matches(KEY, keys.map(|key| uuid_text(key.0)).collect::<Vec<_>>())
}

fn record_with_text() -> Option<WithPayloadSelector> {
    only(&RECORD.into_iter().chain([TEXT]).collect::<Vec<_>>())
}

/// Returns a page of the visible chunks of a repository. Chunks are ordered by the first bits of their keys,
/// starting at `from`.
pub(crate) async fn scroll(
    collection: &Collection,
    view: &View,
    scope: &Scope,
    repository: RepositoryId,
    from: u64,
) -> Result<ChunkPage, Fault> {
    let named = Scope { repositories: RepositoryScope::Only([repository].into()), ..scope.clone() };
    let in_scope = scope.contains(repository).then(|| visible_in_scope(view, &named)).flatten();
    let (Some(filter), Ok(start)) = (in_scope, i64::try_from(from)) else { return Ok(ChunkPage::default()) };
    let mut limit = CHUNKS_OF_A_PAGE;
    loop {
        let order_by = Some((KEY_ORDER, start));
        let (filter, with_payload) = (filter.clone(), whole_payload());
        let page = Page { filter, limit, with_payload, order_by, ..Page::default() };
        let (points, _) = collection.page(page).await?;
        let is_last = is_whole(points.len() as u64, u64::from(limit));
        let mut chunks = records(points)?;
        let Some(last) = chunks.last().map(|(chunk, _)| key_order(chunk.key)) else { return Ok(ChunkPage::default()) };
        if is_last {
            return Ok(ChunkPage { chunks, next: None });
        }
        // Some chunks with the last value of `key_order` on this page may be missing, so the next page starts
        // with all chunks that have this value.
        chunks.retain(|(chunk, _)| key_order(chunk.key) < last);
        if !chunks.is_empty() {
            return Ok(ChunkPage { chunks, next: u64::try_from(last).ok() });
        }
        limit = limit.saturating_mul(2);
    }
}

/// Returns the records sorted by key, without duplicate versions. Qdrant may list a point twice while the
/// point moves between segments.
fn records(points: Vec<RetrievedPoint>) -> Result<Vec<(ChunkRecord, Digest)>, Fault> {
    let mut records = BTreeMap::new();
    for point in points {
        let fields = Fields::of(point.id.as_ref(), point.payload);
        let chunk = fields.chunk()?;
        records.insert((chunk.key, fields.point().to_owned()), (chunk, fields.vector_digest()?));
    }
    Ok(records.into_values().collect())
}

/// Returns the places (path, lines and key) of the chunks that match, sorted.
pub(crate) async fn places(collection: &Collection, parts: FilterParts) -> Result<Vec<ChunkPlace>, Fault> {
    let mut places = BTreeSet::new();
    let take = |points: Vec<RetrievedPoint>| {
        for point in points {
            let place = Fields::of(point.id.as_ref(), point.payload).place()?;
            if parts.paths.as_ref().is_none_or(|paths| paths.matches(place.path.as_str())) {
                places.insert(place);
            }
        }
        Ok(())
    };
    let fields = only(&[REPOSITORY, PATH, START_LINE, END_LINE, KEY]);
    collection.each_page(parts.filter.clone(), fields, false, take).await?;
    Ok(places.into_iter().collect())
}

/// Counts the chunks that match.
pub(crate) async fn count(collection: &Collection, parts: FilterParts) -> Result<u64, Fault> {
    let Some(paths) = &parts.paths else { return collection.count(parts.filter).await };
    let counts = count_by_path(collection, &parts.filter).await?;
    Ok(counts.iter().filter(|(path, _)| paths.matches(path)).map(|(_, count)| count).sum())
}

/// Returns every path that matches the filter, with the number of its chunks.
pub(crate) async fn count_by_path(collection: &Collection, filter: &Filter) -> Result<Vec<(String, u64)>, Fault> {
    let request = FacetCounts {
        collection_name: collection.name.clone(),
        key: PATH.to_owned(),
        filter: Some(filter.clone()),
        limit: Some(PATHS),
        // An exact facet scans the points once for each path, and runs all these scans at the same time. An
        // approximate facet is a single scan for all paths. This scan reads all points if the number of paths
        // is below the limit. A point is counted wrongly (twice or not at all) only while the point is moving
        // between segments.
        exact: Some(false),
        ..FacetCounts::default()
    };
    let mut client = collection.connection.points();
    let answer = collection.connection.call(request, async |request| client.facet(request).await).await?;
    let text = |value: facet_value::Variant| match value {
        facet_value::Variant::StringValue(text) => Some(text),
        _ => None,
    };
    Ok(answer.hits.into_iter().filter_map(|hit| Some((text(hit.value?.variant?)?, hit.count))).collect())
}
