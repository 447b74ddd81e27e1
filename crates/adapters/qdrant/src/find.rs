//! Finds the best hits, in the total order of the port.
//!
//! Qdrant returns the highest scores. If several points share the last score of the list, Qdrant returns an
//! arbitrary selection of these points. The code therefore works in three steps:
//!
//! 1. The code requests one hit more than the caller needs. In a full list, the hits with the last score may
//!    be incomplete. Only hits above that score are certain.
//! 2. If too few hits are certain because path patterns removed hits, the code looks up the matching paths
//!    and adds them to the filter.
//! 3. If too few hits are still certain because of equal scores, the code requests a longer list, down to the
//!    score of the last wanted hit. The code repeats this request until the list is complete (`is_whole`).

use std::sync::Arc;

use cairn_ports::Hit;
use qdrant_client::qdrant::{Condition, Query, QueryPoints, ScoredPoint, SearchParams, VectorInput};

use crate::collection::{Collection, is_whole};
use crate::conditions::FilterParts;
use crate::error::Fault;
use crate::fields::PATH;
use crate::places::{Places, PointPlace};
use crate::read::count_by_path;

/// A float represents every integer below this value exactly.
const EXACT_BELOW: f32 = (1 << 24) as f32;
const GROWTH: u64 = 4;
/// Maximum number of paths in the filter of one request.
const NAMED_PATHS: usize = 10_000;

/// The vector of a search, and the name of the stored vectors to compare it with.
pub(crate) struct VectorQuery {
    pub(crate) using: &'static str,
    pub(crate) vector: VectorInput,
    pub(crate) exact: bool,
    /// Points with lower scores are not returned as hits.
    pub(crate) lowest: Option<i64>,
}

/// A hit with the values by which hits are sorted.
#[derive(Debug)]
struct Candidate {
    score: i64,
    place: Arc<PointPlace>,
}

fn exact_score(point: &ScoredPoint) -> Result<i64, Fault> {
    if point.score.abs() >= EXACT_BELOW {
        return Err(Fault::invalid(format!("the score {} is too large for an exact float", point.score)));
    }
    Ok(point.score as i64)
}

/// One response of Qdrant.
struct List {
    /// The length of the list before path patterns removed hits.
    num_listed: u64,
    /// The score of the last entry in the list.
    last: i64,
    candidates: Vec<Candidate>,
}

impl List {
    async fn read(
        (collection, places): (&Collection, &Places),
        parts: &FilterParts,
        vector_query: &VectorQuery,
        wanted: &Wanted,
    ) -> Result<Self, Fault> {
        let points = query(collection, parts, vector_query, wanted).await?;
        let num_listed = points.len() as u64;
        let scores = points.iter().map(exact_score).collect::<Result<Vec<_>, _>>()?;
        let last = scores.last().copied().unwrap_or(i64::MIN);
        let ids: Vec<_> = points.into_iter().map(|point| point.id).collect();
        let places = places.of(collection, &ids).await?;
        // A point without a place was deleted after the search.
        let found =
            scores.into_iter().zip(places).filter_map(|(score, place)| Some(Candidate { score, place: place? }));
        let is_wanted =
            |candidate: &Candidate| parts.paths.as_ref().is_none_or(|paths| paths.matches(&candidate.place.path));
        Ok(Self { num_listed, last, candidates: found.filter(is_wanted).collect() })
    }
}

pub(crate) async fn best(
    store: (&Collection, &Places),
    parts: &FilterParts,
    vector_query: &VectorQuery,
    limit: usize,
) -> Result<Vec<Hit>, Fault> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    let first = Wanted { limit, num_listed: limit as u64 + 1, threshold: vector_query.lowest };
    let list = List::read(store, parts, vector_query, &first).await?;
    let Some(mut wanted) = first.after(&list) else { return Ok(ordered(list.candidates, limit)) };
    let mut with_paths = None;
    if let Some(paths) = &parts.paths {
        let mut matching = count_by_path(store.0, &parts.filter).await?;
        matching.retain(|(path, _)| paths.matches(path));
        if matching.is_empty() {
            return Ok(Vec::new());
        }
        // The filter gets paths only if their number is within the limit. If more paths match, many of the
        // best hits match too.
        if matching.len() <= NAMED_PATHS {
            let mut filter = parts.filter.clone();
            filter.must.push(Condition::matches(PATH, matching.into_iter().map(|(path, _)| path).collect::<Vec<_>>()));
            (with_paths, wanted) = (Some(FilterParts { filter, paths: None }), first);
        }
    }
    let parts = with_paths.as_ref().unwrap_or(parts);
    loop {
        let list = List::read(store, parts, vector_query, &wanted).await?;
        match wanted.after(&list) {
            Some(next) => wanted = next,
            None => return Ok(ordered(list.candidates, limit)),
        }
    }
}

/// A request that should return the best `limit` hits.
struct Wanted {
    limit: usize,
    num_listed: u64,
    threshold: Option<i64>,
}

impl Wanted {
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

async fn query(
    collection: &Collection,
    parts: &FilterParts,
    vector_query: &VectorQuery,
    wanted: &Wanted,
) -> Result<Vec<ScoredPoint>, Fault> {
    let request = QueryPoints {
        collection_name: collection.name.clone(),
        query: Some(Query::from(vector_query.vector.clone())),
        using: Some(vector_query.using.to_owned()),
        filter: Some(parts.filter.clone()),
        params: Some(SearchParams { exact: Some(vector_query.exact), ..SearchParams::default() }),
        // The threshold is one step below the score, because the score itself must be included.
        score_threshold: wanted.threshold.map(|score| (score as f32).next_down()),
        limit: Some(wanted.num_listed),
        ..QueryPoints::default()
    };
    let mut client = collection.connection.points();
    let answer = collection.connection.call(request, async |request| client.query(request).await).await?;
    Ok(answer.result)
}

/// Returns the hits sorted by score (high first), repository, path, line, and key.
fn ordered(mut candidates: Vec<Candidate>, limit: usize) -> Vec<Hit> {
    candidates.sort_by(|left, right| {
        let place = |candidate: &Candidate| (candidate.place.repository, candidate.place.line, candidate.place.key);
        let ((repository, line, key), (other_repository, other_line, other_key)) = (place(left), place(right));
        let by_score = right.score.cmp(&left.score);
        let by_path =
            by_score.then(repository.cmp(&other_repository)).then_with(|| left.place.path.cmp(&right.place.path));
        by_path.then(line.cmp(&other_line)).then(key.cmp(&other_key))
    });
    candidates.truncate(limit);
    let hit = |Candidate { score, place }| Hit { repository: place.repository, key: place.key, score };
    candidates.into_iter().map(hit).collect()
}

#[cfg(test)]
mod tests {
    use cairn_domain::{ChunkKey, RepositoryId, RepositoryName, Tenant};

    use super::*;

    fn candidate(score: i64) -> Candidate {
        let repository = RepositoryId::derive(&Tenant::new("acme"), &RepositoryName::new("r"));
        let place = PointPlace { repository, path: format!("{score}.rs"), line: 1, key: ChunkKey(repository.0) };
        Candidate { score, place: Arc::new(place) }
    }

    /// Queries a fake server that has one hit per score from `best` down to 1. `listed` selects the hits that
    /// the server returns. Returns the hits, and the requested length of each list.
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
    fn list_with_deleted_entries_is_not_the_end() {
        // The server finds eleven hits. The three best hits are deleted before the server reads any of them.
        let listed = |wanted, scores: Vec<i64>| match wanted {
            11 => first(11, scores).split_off(3),
            _ => first(wanted, scores.into_iter().skip(3).collect()),
        };
        assert_eq!(hits(100, 10, listed), ((88..=97).rev().collect(), vec![11, 44]));
    }

    #[test]
    fn list_shortened_by_shards_is_not_the_end() {
        // If 128 or more hits are requested, each of several shards returns only as many as are probably
        // needed.
        let listed = |wanted, scores| first(if wanted == 201 { 150 } else { wanted }, scores);
        assert_eq!(hits(1_000, 200, listed), ((801..=1_000).rev().collect(), vec![201, 804]));
    }

    #[test]
    fn few_hits_need_one_request() {
        assert_eq!(hits(4, 10, first), (vec![4, 3, 2, 1], vec![11]));
        assert_eq!(hits(0, 1, first), (vec![], vec![2]));
    }
}
