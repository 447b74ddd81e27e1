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

use cairn_domain::{ChunkKey, RepositoryId};
use cairn_ports::Hit;
use qdrant_client::qdrant::{Condition, Query, QueryPoints, ScoredPoint, SearchParams, VectorInput};

use crate::collection::{Collection, is_whole, only};
use crate::conditions::FilterParts;
use crate::error::Fault;
use crate::fields::{KEY, PATH, REPOSITORY, START_LINE};
use crate::payload::Fields;
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
    repository: RepositoryId,
    path: String,
    line: u32,
    key: ChunkKey,
}

impl Candidate {
    fn new(point: ScoredPoint) -> Result<Self, Fault> {
        if point.score.abs() >= EXACT_BELOW {
            return Err(Fault::invalid(format!("the score {} is too large for an exact float", point.score)));
        }
        let fields = Fields::of(point.id.as_ref(), point.payload);
        Ok(Self {
            score: point.score as i64,
            repository: fields.repository()?,
            path: fields.text(PATH)?.to_owned(),
            line: fields.line()?,
            key: fields.key()?,
        })
    }
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
    fn new(points: Vec<ScoredPoint>, parts: &FilterParts) -> Result<Self, Fault> {
        let num_listed = points.len() as u64;
        let mut candidates = points.into_iter().map(Candidate::new).collect::<Result<Vec<_>, _>>()?;
        let last = candidates.last().map_or(i64::MIN, |candidate| candidate.score);
        if let Some(paths) = &parts.paths {
            candidates.retain(|candidate| paths.matches(&candidate.path));
        }
        Ok(Self { num_listed, last, candidates })
    }
}

pub(crate) async fn best(
    collection: &Collection,
    parts: &FilterParts,
    vector_query: &VectorQuery,
    limit: usize,
) -> Result<Vec<Hit>, Fault> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    let first = Wanted { limit, num_listed: limit as u64 + 1, threshold: vector_query.lowest };
    let list = List::new(query(collection, parts, vector_query, &first).await?, parts)?;
    let Some(mut wanted) = first.after(&list) else { return Ok(ordered(list.candidates, limit)) };
    let mut with_paths = None;
    if let Some(paths) = &parts.paths {
        let mut matching = count_by_path(collection, &parts.filter).await?;
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
        let list = List::new(query(collection, parts, vector_query, &wanted).await?, parts)?;
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
        with_payload: only(&[REPOSITORY, KEY, PATH, START_LINE]),
        ..QueryPoints::default()
    };
    let mut client = collection.connection.points();
    let answer = collection.connection.call(request, async |request| client.query(request).await).await?;
    Ok(answer.result)
}

/// Returns the hits sorted by score (high first), repository, path, line, and key.
fn ordered(mut candidates: Vec<Candidate>, limit: usize) -> Vec<Hit> {
    candidates.sort_by(|left, right| {
        let keys = |candidate: &Candidate| (candidate.repository, candidate.line, candidate.key);
        let ((repository, line, key), (other_repository, other_line, other_key)) = (keys(left), keys(right));
        let by_score = right.score.cmp(&left.score);
        let by_path = by_score.then(repository.cmp(&other_repository)).then_with(|| left.path.cmp(&right.path));
        by_path.then(line.cmp(&other_line)).then(key.cmp(&other_key))
    });
    candidates.truncate(limit);
    candidates.into_iter().map(|Candidate { score, repository, key, .. }| Hit { repository, key, score }).collect()
}

#[cfg(test)]
mod tests {
    use cairn_domain::{RepositoryName, Tenant};

    use super::*;

    fn candidate(score: i64) -> Candidate {
        let repository = RepositoryId::derive(&Tenant::new("acme"), &RepositoryName::new("r"));
        Candidate { score, repository, path: format!("{score}.rs"), line: 1, key: ChunkKey(repository.0) }
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
