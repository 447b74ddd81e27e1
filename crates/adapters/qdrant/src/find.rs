//! The best hits, in the port's total order.
//!
//! Qdrant gives the highest scores, but of equal ones at the end of its list it takes any. So one more hit than wanted
//! is asked for, and what has the last score of a full list counts as cut off: only what lies above it is known to be
//! complete. If that is too little, because of ties or because patterns sorted paths out, more is asked for, down to
//! the score of the last hit that is wanted, until the list is not full any more.

use cairn_domain::{ChunkKey, RepositoryId};
use cairn_ports::Hit;
use qdrant_client::qdrant::{Query, QueryPoints, ScoredPoint, SearchParams, VectorInput};

use crate::collection::{Collection, only};
use crate::conditions::Question;
use crate::error::Fault;
use crate::fields::{KEY, PATH, REPOSITORY, START_LINE};
use crate::payload::Fields;

/// Floats hold every integer up to here.
const EXACT_BELOW: f32 = (1 << 24) as f32;
const GROWTH: u64 = 4;

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

pub(crate) async fn best(
    collection: &Collection,
    question: &Question,
    target: &Target,
    limit: usize,
) -> Result<Vec<Hit>, Fault> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    let mut wanted = limit as u64 + 1;
    let mut threshold = target.lowest;
    loop {
        let found = query(collection, question, target, wanted, threshold).await?;
        let is_complete = (found.len() as u64) < wanted;
        let mut candidates = found.into_iter().map(Candidate::new).collect::<Result<Vec<_>, _>>()?;
        let last = candidates.last().map_or(i64::MIN, |candidate| candidate.score);
        if let Some(paths) = &question.paths {
            candidates.retain(|candidate| paths.lets_through(&candidate.path));
        }
        let num_certain = candidates.iter().filter(|candidate| candidate.score > last).count();
        if is_complete || num_certain >= limit {
            return Ok(ordered(candidates, limit));
        }
        threshold = candidates.get(limit - 1).map(|candidate| candidate.score).or(threshold);
        wanted = wanted.saturating_mul(GROWTH);
    }
}

async fn query(
    collection: &Collection,
    question: &Question,
    target: &Target,
    limit: u64,
    threshold: Option<i64>,
) -> Result<Vec<ScoredPoint>, Fault> {
    let request = QueryPoints {
        collection_name: collection.name.clone(),
        query: Some(Query::from(target.vector.clone())),
        using: Some(target.using.to_owned()),
        filter: Some(question.filter.clone()),
        params: Some(SearchParams { exact: Some(target.exact), ..SearchParams::default() }),
        // The threshold itself is not let through.
        score_threshold: threshold.map(|score| (score as f32).next_down()),
        limit: Some(limit),
        with_payload: only(&[REPOSITORY, KEY, PATH, START_LINE]),
        read_consistency: collection.connection.consistency(),
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
