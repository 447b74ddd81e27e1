//! The best hits, in the port's total order.
//!
//! Qdrant gives the highest scores, but of equal ones at the end of its list it takes any. So one more hit than wanted
//! is asked for, and what has the last score of a full list counts as cut off: only what lies above it is known to be
//! complete. If that is too little because patterns sorted paths out, the paths that they let through are looked up, and
//! named; if it still is, because of ties, more is asked for, down to the score of the last hit that is wanted, until
//! the list is whole (`is_whole`).

use cairn_domain::{ChunkKey, RepositoryId};
use cairn_ports::Hit;
use qdrant_client::qdrant::{Condition, Query, QueryPoints, ScoredPoint, SearchParams, VectorInput};

use crate::collection::{Collection, is_whole, only};
use crate::conditions::Question;
use crate::error::Fault;
use crate::fields::{KEY, PATH, REPOSITORY, START_LINE};
use crate::payload::Fields;
use crate::read::count_by_path;

/// Floats hold every integer up to here.
const EXACT_BELOW: f32 = (1 << 24) as f32;
const GROWTH: u64 = 4;
/// Paths that one request names at most.
const NAMED_PATHS: usize = 10_000;

/// What is looked for, in which vectors.
pub(crate) struct Target {
    pub(crate) using: &'static str,
    pub(crate) vector: VectorInput,
    pub(crate) exact: bool,
    /// Lower scores are no hits.
    pub(crate) lowest: Option<i64>,
}

/// A hit with what orders it.
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
            return Err(Fault::invalid(format!("the score {} is beyond what a float holds exactly", point.score)));
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

/// One answer of Qdrant.
struct List {
    /// How long it was, before patterns sorted out.
    num_listed: u64,
    /// The score of its last entry.
    last: i64,
    candidates: Vec<Candidate>,
}

impl List {
    fn new(points: Vec<ScoredPoint>, question: &Question) -> Result<Self, Fault> {
        let num_listed = points.len() as u64;
        let mut candidates = points.into_iter().map(Candidate::new).collect::<Result<Vec<_>, _>>()?;
        let last = candidates.last().map_or(i64::MIN, |candidate| candidate.score);
        if let Some(paths) = &question.paths {
            candidates.retain(|candidate| paths.lets_through(&candidate.path));
        }
        Ok(Self { num_listed, last, candidates })
    }
}

pub(crate) async fn best(
    collection: &Collection,
    question: &Question,
    target: &Target,
    limit: usize,
) -> Result<Vec<Hit>, Fault> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    let first = Wanted { limit, num_listed: limit as u64 + 1, threshold: target.lowest };
    let list = List::new(query(collection, question, target, &first).await?, question)?;
    let Some(mut wanted) = first.after(&list) else { return Ok(ordered(list.candidates, limit)) };
    let mut spelled_out = None;
    if let Some(paths) = &question.paths {
        let mut seen = count_by_path(collection, &question.filter).await?;
        seen.retain(|(path, _)| paths.lets_through(path));
        if seen.is_empty() {
            return Ok(Vec::new());
        }
        // Where many are let through, so are many of the best hits.
        if seen.len() <= NAMED_PATHS {
            let mut filter = question.filter.clone();
            filter.must.push(Condition::matches(PATH, seen.into_iter().map(|(path, _)| path).collect::<Vec<_>>()));
            (spelled_out, wanted) = (Some(Question { filter, paths: None }), first);
        }
    }
    let question = spelled_out.as_ref().unwrap_or(question);
    loop {
        let list = List::new(query(collection, question, target, &wanted).await?, question)?;
        match wanted.after(&list) {
            Some(next) => wanted = next,
            None => return Ok(ordered(list.candidates, limit)),
        }
    }
}

/// What is asked for, to learn the best `limit` hits.
struct Wanted {
    limit: usize,
    num_listed: u64,
    threshold: Option<i64>,
}

impl Wanted {
    /// What to ask for next; nothing if the best hits are in the list.
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
    question: &Question,
    target: &Target,
    wanted: &Wanted,
) -> Result<Vec<ScoredPoint>, Fault> {
    let request = QueryPoints {
        collection_name: collection.name.clone(),
        query: Some(Query::from(target.vector.clone())),
        using: Some(target.using.to_owned()),
        filter: Some(question.filter.clone()),
        params: Some(SearchParams { exact: Some(target.exact), ..SearchParams::default() }),
        // The threshold itself is not let through.
        score_threshold: wanted.threshold.map(|score| (score as f32).next_down()),
        limit: Some(wanted.num_listed),
        with_payload: only(&[REPOSITORY, KEY, PATH, START_LINE]),
        ..QueryPoints::default()
    };
    let mut client = collection.connection.points();
    let answer = collection.connection.call(request, async |request| client.query(request).await).await?;
    Ok(answer.result)
}

/// Score (high first), repository, path, line, key.
fn ordered(mut candidates: Vec<Candidate>, limit: usize) -> Vec<Hit> {
    candidates.sort_by(|left, right| {
        let place = |candidate: &Candidate| (candidate.repository, candidate.line, candidate.key);
        let ((repository, line, key), (other_repository, other_line, other_key)) = (place(left), place(right));
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

    /// Asks a server that has a hit of each score from `best` down to 1, of which it lists what `listed` makes of them.
    /// Gives the hits, and how long a list was wanted each time.
    fn hits(best: i64, limit: usize, listed: fn(u64, Vec<i64>) -> Vec<i64>) -> (Vec<i64>, Vec<u64>) {
        let mut wanted = Wanted { limit, num_listed: limit as u64 + 1, threshold: None };
        let mut asked = Vec::new();
        loop {
            asked.push(wanted.num_listed);
            let above = (1..=best).rev().filter(|score| wanted.threshold.is_none_or(|threshold| *score >= threshold));
            let scores = listed(wanted.num_listed, above.collect());
            let last = scores.last().copied().unwrap_or(i64::MIN);
            let candidates = scores.iter().copied().map(candidate).collect();
            match wanted.after(&List { num_listed: scores.len() as u64, last, candidates }) {
                Some(next) => wanted = next,
                None => return (first(limit as u64, scores), asked),
            }
        }
    }

    fn first(number: u64, mut scores: Vec<i64>) -> Vec<i64> {
        scores.truncate(number as usize);
        scores
    }

    #[test]
    fn a_list_that_lost_entries_is_not_taken_for_the_end() {
        // The three best are deleted when eleven were found and none was read yet.
        let listed = |wanted, scores: Vec<i64>| match wanted {
            11 => first(11, scores).split_off(3),
            _ => first(wanted, scores.into_iter().skip(3).collect()),
        };
        assert_eq!(hits(100, 10, listed), ((88..=97).rev().collect(), vec![11, 44]));
    }

    #[test]
    fn a_list_that_shards_cut_short_is_not_taken_for_the_end() {
        // From 128 on, each of several gives what is likely to be enough.
        let listed = |wanted, scores| first(if wanted == 201 { 150 } else { wanted }, scores);
        assert_eq!(hits(1_000, 200, listed), ((801..=1_000).rev().collect(), vec![201, 804]));
    }

    #[test]
    fn few_hits_are_asked_for_once() {
        assert_eq!(hits(4, 10, first), (vec![4, 3, 2, 1], vec![11]));
        assert_eq!(hits(0, 1, first), (vec![], vec![2]));
    }
}
