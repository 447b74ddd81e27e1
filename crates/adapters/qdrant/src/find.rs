//! Finds the best hits, in the total order of the port.
//!
//! Qdrant returns the highest scores. If several points have the lowest score of the list, Qdrant returns an
//! arbitrary selection of these points. The code therefore works in three steps:
//!
//! 1. The code requests at least one hit more than the caller needs. If the list is full, some hits with the
//!    lowest listed score may be missing from it. Only hits above that score are certain.
//! 2. If too few hits are certain because path patterns removed hits, the code looks up the matching paths
//!    and adds them to the filter.
//! 3. If there are still too few certain hits, because several hits have equal scores, the code requests a
//!    longer list, down to the score of the last wanted hit. The code repeats this request until the list is
//!    complete (`is_whole`).
//!
//! The first requests of all lists are one batch. A second batch reads the fields of the points that are not
//! in the cache (`points.rs`).

use std::sync::Arc;

use cairn_domain::ChunkRecord;
use cairn_ports::{Hit, HitLists};
use qdrant_client::qdrant::{Condition, PointId, Query, QueryPoints, ScoredPoint, SearchParams, VectorInput};

use crate::collection::{Collection, is_whole};
use crate::conditions::FilterParts;
use crate::error::Fault;
use crate::fields::PATH;
use crate::points::{KnownPoints, ListedPoint, WantedPoint};
use crate::read::count_by_path;

/// A float represents every integer below this value exactly.
const EXACT_BELOW: f32 = (1 << 24) as f32;
const GROWTH: u64 = 4;
/// An exact list requests `limit / SPARE` more hits than its limit.
const SPARE: usize = 4;
/// Maximum number of paths in the filter of one request.
const NAMED_PATHS: usize = 10_000;

/// The vector of a search, and the name of the stored vectors to compare it with.
pub(crate) struct VectorQuery {
    pub(crate) using: &'static str,
    pub(crate) vector: VectorInput,
    pub(crate) exact: bool,
    /// The lowest score of a hit: points with lower scores are not returned.
    pub(crate) lowest: Option<i64>,
    /// Maximum number of hits.
    pub(crate) limit: usize,
}

/// A hit with the values by which hits are sorted.
#[derive(Debug)]
struct Candidate {
    score: i64,
    id: PointId,
    point: Arc<ListedPoint>,
}

fn exact_score(point: &ScoredPoint) -> Result<i64, Fault> {
    if point.score.abs() >= EXACT_BELOW {
        return Err(Fault::invalid(format!("the score {} is too large for exact arithmetic with floats", point.score)));
    }
    Ok(point.score as i64)
}

/// One response of Qdrant: the ids of points with their scores, best first.
struct Response(Vec<(PointId, i64)>);

impl Response {
    fn new(points: Vec<ScoredPoint>) -> Result<Self, Fault> {
        let scored = |point: ScoredPoint| {
            let score = exact_score(&point)?;
            Ok(point.id.map(|id| (id, score)))
        };
        Ok(Self(points.into_iter().map(scored).filter_map(Result::transpose).collect::<Result<_, Fault>>()?))
    }

    /// Returns all points of the list. A point needs its record if it may be one of the first `num_records`
    /// hits. This is possible if its score is not below the score of entry `num_records` in the list.
    fn wanted(&self, num_records: usize) -> impl Iterator<Item = WantedPoint<'_>> {
        let lowest = num_records.checked_sub(1).map(|last| self.0.get(last).map_or(i64::MIN, |(_, score)| *score));
        self.0
            .iter()
            .map(move |(id, score)| WantedPoint { id, needs_record: lowest.is_some_and(|lowest| *score >= lowest) })
    }

    /// Adds the fields of the points to the response, and removes hits that do not match the path patterns. A
    /// point that is `None` was deleted after the search.
    fn into_list(self, points: impl Iterator<Item = Option<Arc<ListedPoint>>>, parts: &FilterParts) -> List {
        let (num_listed, last) = (self.0.len() as u64, self.0.last().map_or(i64::MIN, |(_, score)| *score));
        let found = self.0.into_iter().zip(points);
        let found = found.filter_map(|((id, score), point)| Some(Candidate { score, id, point: point? }));
        let is_wanted =
            |candidate: &Candidate| parts.paths.as_ref().is_none_or(|paths| paths.matches(&candidate.point.path));
        List { num_listed, last, candidates: found.filter(is_wanted).collect() }
    }
}

/// One response of Qdrant, with the fields of its points.
struct List {
    /// The length of the list before path patterns removed hits.
    num_listed: u64,
    /// The score of the last entry in the list.
    last: i64,
    candidates: Vec<Candidate>,
}

/// The collection, the cached points, and the number of best hits that are returned with their records.
#[derive(Clone, Copy)]
pub(crate) struct Store<'a> {
    pub(crate) collection: &'a Collection,
    pub(crate) points: &'a KnownPoints,
    pub(crate) num_records: usize,
}

impl Store<'_> {
    /// Reads the lists of all requests with one batch. A second batch reads the fields of the listed points
    /// that are not in the cache.
    async fn lists(&self, parts: &FilterParts, wanted: &[(&VectorQuery, Wanted)]) -> Result<Vec<List>, Fault> {
        let requests = wanted.iter().map(|(query, wanted)| wanted.request(query, parts)).collect();
        let responses = self.collection.query(requests).await?;
        let responses: Vec<Response> = responses.into_iter().map(Response::new).collect::<Result<_, _>>()?;
        let points: Vec<WantedPoint<'_>> = responses.iter().flat_map(|list| list.wanted(self.num_records)).collect();
        let mut points = self.points.of(self.collection, &points).await?.into_iter();
        let list = |list: Response| {
            let num_points = list.0.len();
            list.into_list(points.by_ref().take(num_points), parts)
        };
        Ok(responses.into_iter().map(list).collect())
    }

    async fn list(&self, parts: &FilterParts, query: &VectorQuery, wanted: Wanted) -> Result<List, Fault> {
        self.lists(parts, &[(query, wanted)])
            .await?
            .pop()
            .ok_or_else(|| Fault::invalid("the answer to the search contains no list of points"))
    }

    /// The best hits, in order, from the first list and from longer lists if the first list is too short.
    async fn complete(
        &self,
        parts: &FilterParts,
        query: &VectorQuery,
        (first, list): (Wanted, List),
    ) -> Result<Vec<Candidate>, Fault> {
        let limit = query.limit;
        let Some(mut wanted) = first.after(&list) else { return Ok(ordered(list.candidates, limit)) };
        let mut with_paths = None;
        if let Some(paths) = &parts.paths {
            let mut matching = count_by_path(self.collection, &parts.filter).await?;
            matching.retain(|(path, _)| paths.matches(path));
            if matching.is_empty() {
                return Ok(Vec::new());
            }
            // The paths are added to the filter only if there are at most `NAMED_PATHS` of them. If more
            // paths match, many of the best hits have one of these paths, so the list contains enough hits
            // without this filter.
            if matching.len() <= NAMED_PATHS {
                let mut filter = parts.filter.clone();
                let paths = matching.into_iter().map(|(path, _)| path).collect::<Vec<_>>();
                filter.must.push(Condition::matches(PATH, paths));
                (with_paths, wanted) = (Some(FilterParts { filter, paths: None }), first);
            }
        }
        let parts = with_paths.as_ref().unwrap_or(parts);
        loop {
            let list = self.list(parts, query, wanted).await?;
            match wanted.after(&list) {
                Some(next) => wanted = next,
                None => return Ok(ordered(list.candidates, limit)),
            }
        }
    }

    /// The records of the first hits of both lists, sorted and without duplicates.
    async fn records(&self, lists: [&[Candidate]; 2]) -> Result<Vec<ChunkRecord>, Fault> {
        let first = lists.iter().flat_map(|list| list.iter().take(self.num_records));
        let mut points: Vec<Arc<ListedPoint>> = Vec::new();
        let mut missing: Vec<WantedPoint<'_>> = Vec::new();
        for candidate in first {
            match candidate.point.record {
                Some(_) => points.push(Arc::clone(&candidate.point)),
                None => missing.push(WantedPoint { id: &candidate.id, needs_record: true }),
            }
        }
        // Path patterns removed some hits, so the first hits may include later entries of the list, whose
        // records were not read yet.
        points.extend(self.points.of(self.collection, &missing).await?.into_iter().flatten());
        let mut records: Vec<ChunkRecord> = points.iter().filter_map(|point| point.record.clone()).collect();
        records.sort_by_key(|record| (record.repository, record.key));
        records.dedup_by_key(|record| (record.repository, record.key));
        Ok(records)
    }
}

/// Returns the best hits of the queries.
pub(crate) async fn best(
    store: Store<'_>,
    parts: &FilterParts,
    (dense, sparse): (Option<VectorQuery>, Option<VectorQuery>),
) -> Result<HitLists, Fault> {
    let first: Vec<(&VectorQuery, Wanted)> =
        [&dense, &sparse].into_iter().flatten().map(|query| (query, Wanted::first(query))).collect();
    if first.is_empty() {
        return Ok(HitLists::default());
    }
    let lists = store.lists(parts, &first).await?;
    let mut complete = Vec::with_capacity(lists.len());
    for ((query, wanted), list) in first.into_iter().zip(lists) {
        complete.push(store.complete(parts, query, (wanted, list)).await?);
    }
    let mut complete = complete.into_iter();
    let mut next = |query: Option<VectorQuery>| query.and_then(|_| complete.next()).unwrap_or_default();
    let (dense, sparse) = (next(dense), next(sparse));
    let records = store.records([&dense, &sparse]).await?;
    let hits = |candidates: Vec<Candidate>| {
        let hit = |Candidate { score, point, .. }| Hit { repository: point.repository, key: point.key, score };
        candidates.into_iter().map(hit).collect()
    };
    Ok(HitLists { dense: hits(dense), sparse: hits(sparse), records })
}

/// A request that should return the best `limit` hits.
#[derive(Clone, Copy)]
struct Wanted {
    limit: usize,
    num_listed: u64,
    threshold: Option<i64>,
}

impl Wanted {
    fn first(query: &VectorQuery) -> Self {
        // An exact list requests additional hits, so that a few equal scores at its end need no second
        // request. An approximate list requests none, because the length of the list influences which hits
        // Qdrant finds.
        let spare = if query.exact { query.limit / SPARE } else { 0 };
        Self { limit: query.limit, num_listed: (query.limit + spare) as u64 + 1, threshold: query.lowest }
    }

    fn request(&self, query: &VectorQuery, parts: &FilterParts) -> QueryPoints {
        QueryPoints {
            query: Some(Query::from(query.vector.clone())),
            using: Some(query.using.to_owned()),
            filter: Some(parts.filter.clone()),
            params: Some(SearchParams { exact: Some(query.exact), ..SearchParams::default() }),
            // The threshold is one step below the score, because the score itself must be included.
            score_threshold: self.threshold.map(|score| (score as f32).next_down()),
            limit: Some(self.num_listed),
            ..QueryPoints::default()
        }
    }

    /// Returns the next request, or `None` if the list contains the best hits.
    fn after(&self, list: &List) -> Option<Self> {
        let num_certain = list.candidates.iter().filter(|candidate| candidate.score > list.last).count();
        if is_whole(list.num_listed, self.num_listed) || num_certain >= self.limit {
            return None;
        }
        let last_wanted = list.candidates.get(self.limit - 1).map(|candidate| candidate.score);
        let num_listed = self.num_listed.saturating_mul(GROWTH);
        Some(Self { num_listed, threshold: last_wanted.or(self.threshold), ..*self })
    }
}

/// Returns the best candidates sorted by score (high first), repository, path, line, and key.
fn ordered(mut candidates: Vec<Candidate>, limit: usize) -> Vec<Candidate> {
    candidates.sort_by(|left, right| {
        let by_score = right.score.cmp(&left.score);
        let (left, right) = (&left.point, &right.point);
        let by_path = by_score.then(left.repository.cmp(&right.repository)).then_with(|| left.path.cmp(&right.path));
        by_path.then(left.line.cmp(&right.line)).then(left.key.cmp(&right.key))
    });
    candidates.truncate(limit);
    candidates
}

#[cfg(test)]
mod tests {
    use cairn_domain::{ChunkKey, RepositoryId, RepositoryName, Tenant};

    use super::*;

    fn candidate(score: i64) -> Candidate {
        let repository = RepositoryId::derive(&Tenant::new("acme"), &RepositoryName::new("r"));
        let (path, key) = (format!("{score}.rs"), ChunkKey(repository.0));
        let point = ListedPoint { repository, path, line: 1, key, record: None };
        Candidate { score, id: PointId::from(score.unsigned_abs()), point: Arc::new(point) }
    }

    /// Queries a fake server that has one hit for each score from `best` down to 1. `listed` selects the hits
    /// that the server returns. Returns the hits, and the requested length of each list.
    fn hits(best: i64, limit: usize, listed: fn(u64, Vec<i64>) -> Vec<i64>) -> (Vec<i64>, Vec<u64>) {
        let mut wanted = Wanted { limit, num_listed: limit as u64 + 1, threshold: None };
        let mut requested = Vec::new();
        loop {
            requested.push(wanted.num_listed);
            let above = (1..=best).rev().filter(|score| wanted.threshold.is_none_or(|threshold| *score >= threshold));
            let scores = listed(wanted.num_listed, above.collect());
            let last = scores.last().copied().unwrap_or(i64::MIN);
            let candidates = scores.iter().copied().map(candidate).collect();
            match wanted.after(&List { num_listed: scores.len() as u64, last, candidates }) {
                Some(next) => wanted = next,
                None => return (first(limit as u64, scores), requested),
            }
        }
    }

    fn first(number: u64, mut scores: Vec<i64>) -> Vec<i64> {
        scores.truncate(number as usize);
        scores
    }

    #[test]
    fn list_with_deleted_entries_is_not_taken_as_complete() {
        // The server finds eleven hits. The three best hits are deleted before the server reads any of them.
        let listed = |wanted, scores: Vec<i64>| match wanted {
            11 => first(11, scores).split_off(3),
            _ => first(wanted, scores.into_iter().skip(3).collect()),
        };
        assert_eq!(hits(100, 10, listed), ((88..=97).rev().collect(), vec![11, 44]));
    }

    #[test]
    fn list_shortened_by_shards_is_not_taken_as_complete() {
        // If 128 or more hits are requested, each of several shards returns only the number of hits that is
        // probably needed.
        let listed = |wanted, scores| first(if wanted == 201 { 150 } else { wanted }, scores);
        assert_eq!(hits(1_000, 200, listed), ((801..=1_000).rev().collect(), vec![201, 804]));
    }

    #[test]
    fn few_hits_need_one_request() {
        assert_eq!(hits(4, 10, first), (vec![4, 3, 2, 1], vec![11]));
        assert_eq!(hits(0, 1, first), (vec![], vec![2]));
    }
}
