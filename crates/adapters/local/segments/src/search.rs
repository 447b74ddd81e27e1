//! Finds the best rows: exact scores of all segments in scope, in a total order.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::Arc;

use cairn_domain::{ChunkKey, LineSpan, RepoPath, RepositoryId, View};
use cairn_ports::{ChunkPlace, Hit};

use crate::dot::QueryVector;
use crate::error::SegmentError;
use crate::filter::CompiledFilter;
use crate::format::Section;
use crate::repository::{OpenSegment, Snapshot};
use crate::rows::RowSet;
use crate::segment::Segment;

/// If a block of 64 rows contains fewer wanted rows than this, each wanted row is scored separately.
const DENSE_ENOUGH: u32 = 8;

/// The segments that a query searches.
pub(crate) struct Scene<'a> {
    pub(crate) view: &'a View,
    pub(crate) filter: &'a CompiledFilter,
    pub(crate) snapshots: &'a [Arc<Snapshot>],
}

impl<'a> Scene<'a> {
    /// Every segment in scope, with the rows that may be returned.
    fn segments(&self) -> impl Iterator<Item = (&'a OpenSegment, RowSet)> {
        let open = self.snapshots.iter().flat_map(|snapshot| snapshot.segments.values());
        open.map(|open| {
            let mut rows = open.visible(self.view);
            self.filter.restrict(&open.segment, &mut rows);
            (open, rows)
        })
    }

    /// The places of all rows in scope, sorted.
    pub(crate) fn places(&self) -> Result<Vec<ChunkPlace>, SegmentError> {
        let mut places = Vec::new();
        for (open, rows) in self.segments() {
            let segment = &*open.segment;
            for row in rows.iter() {
                let columns = segment.row(row);
                let path = RepoPath::parse(&segment.file_of(row).path);
                places.push(ChunkPlace {
                    repository: segment.repository(),
                    path: path.map_err(|_| segment.damaged("a path is not valid"))?,
                    span: LineSpan::new(columns.start_line, columns.end_line),
                    key: segment.key(row),
                });
            }
        }
        places.sort_unstable();
        Ok(places)
    }

    pub(crate) fn count(&self) -> u64 {
        self.segments().map(|(_, rows)| rows.len()).sum()
    }

    /// The rows with the highest dot products.
    pub(crate) fn dense(&self, vector: &QueryVector, limit: usize) -> Result<Vec<Hit>, SegmentError> {
        let mut best = Best::new(limit);
        for (open, rows) in self.segments() {
            let segment = &*open.segment;
            if segment.num_rows() == 0 || rows.len() == 0 {
                continue;
            }
            if segment.dimensions() != vector.dimensions() {
                let (asked, stored) = (vector.dimensions(), segment.dimensions());
                return Err(SegmentError::Invalid(format!(
                    "the query vector has {asked} dimensions, but the stored vectors have {stored}"
                )));
            }
            scan(segment, &rows, vector, &mut best);
        }
        Ok(best.into_hits())
    }

    /// The rows with the highest sums of weights over the terms.
    pub(crate) fn sparse(&self, terms: &[(u32, u32)], limit: usize) -> Result<Vec<Hit>, SegmentError> {
        let largest: u64 = terms.iter().map(|(_, weight)| u64::from(*weight) * 255).sum();
        if largest > u64::from(u32::MAX) {
            return Err(SegmentError::Invalid("the weights of the query's terms are too large".into()));
        }
        let mut best = Best::new(limit);
        let mut sums: Vec<u32> = Vec::new();
        for (open, rows) in self.segments() {
            let segment = &*open.segment;
            if rows.len() > 0 && add_postings(segment, terms, &mut sums)? {
                offer_sums(segment, &rows, &sums, &mut best);
            }
        }
        Ok(best.into_hits())
    }
}

fn scan<'a>(segment: &'a Segment, rows: &RowSet, vector: &QueryVector, best: &mut Best<'a>) {
    let (matrix, dimensions) = (segment.section(Section::Dense), vector.dimensions());
    let mut scores = [0; 64];
    for (first, word) in (0u32..).step_by(64).zip(rows.words()) {
        let count = (segment.num_rows() - first).min(64) as usize;
        if word.count_ones() >= DENSE_ENOUGH {
            let start = first as usize * dimensions;
            vector.score_rows(&matrix[start..start + count * dimensions], &mut scores[..count]);
        }
        let mut bits = *word;
        while bits != 0 {
            let bit = bits.trailing_zeros();
            bits &= bits - 1;
            if word.count_ones() < DENSE_ENOUGH {
                let start = (first + bit) as usize * dimensions;
                vector.score_rows(&matrix[start..start + dimensions], &mut scores[bit as usize..=bit as usize]);
            }
            best.offer(i64::from(scores[bit as usize]), segment, first + bit);
        }
    }
}

/// Sums up the weights of each row. Returns false if the segment contains none of the terms; `sums` then
/// still contains the sums of an earlier segment.
fn add_postings(segment: &Segment, terms: &[(u32, u32)], sums: &mut Vec<u32>) -> Result<bool, SegmentError> {
    let postings = segment.postings()?;
    let damaged = || segment.damaged("its postings cannot be read");
    let mut found = false;
    for (term, weight) in terms.iter().filter(|(_, weight)| *weight > 0) {
        let mut list = postings.list(*term).ok_or_else(damaged)?;
        if !found && !list.is_finished() {
            found = true;
            sums.clear();
            sums.resize(segment.num_rows() as usize, 0);
        }
        for (row, row_weight) in list.by_ref() {
            *sums.get_mut(row as usize).ok_or_else(damaged)? += weight * u32::from(row_weight);
        }
        if !list.is_finished() {
            return Err(damaged());
        }
    }
    Ok(found)
}

fn offer_sums<'a>(segment: &'a Segment, rows: &RowSet, sums: &[u32], best: &mut Best<'a>) {
    for ((first, word), sums) in (0u32..).step_by(64).zip(rows.words()).zip(sums.chunks(64)) {
        for (bit, sum) in (0u32..).zip(sums) {
            if *sum > 0 && word >> bit & 1 == 1 {
                best.offer(i64::from(*sum), segment, first + bit);
            }
        }
    }
}

/// A row with its score.
struct Candidate<'a> {
    score: i64,
    segment: &'a Segment,
    row: u32,
}

impl Candidate<'_> {
    /// Orders by score (highest first), repository, path, line and key.
    fn order(&self, other: &Self) -> Ordering {
        let by_score = other.score.cmp(&self.score);
        by_score.then_with(|| self.place().cmp(&other.place()))
    }

    fn place(&self) -> (RepositoryId, &str, u32, ChunkKey) {
        let (segment, row) = (self.segment, self.row);
        (segment.repository(), &segment.file_of(row).path, segment.row(row).start_line, segment.key(row))
    }
}

/// Collects candidates, and drops candidates that cannot be among the best.
struct Best<'a> {
    limit: usize,
    candidates: Vec<Candidate<'a>>,
    /// The best scores so far, at most `limit`. The lowest score is on top.
    scores: BinaryHeap<Reverse<i64>>,
    /// A candidate with a lower score cannot be among the best. A candidate with this score can be among the
    /// best, because the order of rows decides between equal scores.
    floor: i64,
}

impl<'a> Best<'a> {
    fn new(limit: usize) -> Self {
        let floor = if limit == 0 { i64::MAX } else { i64::MIN };
        Self { limit, candidates: Vec::new(), scores: BinaryHeap::new(), floor }
    }

    #[inline]
    fn offer(&mut self, score: i64, segment: &'a Segment, row: u32) {
        if score >= self.floor {
            self.add(Candidate { score, segment, row });
        }
    }

    fn add(&mut self, candidate: Candidate<'a>) {
        self.scores.push(Reverse(candidate.score));
        self.candidates.push(candidate);
        if self.scores.len() > self.limit {
            self.scores.pop();
        }
        if self.scores.len() == self.limit {
            self.floor = self.scores.peek().map_or(i64::MAX, |lowest| lowest.0);
        }
        if self.candidates.len() > 4 * self.limit + 1024 {
            self.prune();
        }
    }

    /// Keeps only the best `limit` candidates, in order.
    fn prune(&mut self) {
        self.candidates.retain(|candidate| candidate.score >= self.floor);
        self.candidates.sort_by(Candidate::order);
        self.candidates.truncate(self.limit);
    }

    fn into_hits(mut self) -> Vec<Hit> {
        self.prune();
        let hit = |candidate: &Candidate<'_>| Hit {
            repository: candidate.segment.repository(),
            key: candidate.segment.key(candidate.row),
            score: candidate.score,
        };
        self.candidates.iter().map(hit).collect()
    }
}
