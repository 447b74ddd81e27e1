//! The entries of an answer, with the parts of their scores.

use cairn_domain::{ChunkKey, ChunkRecord, LineSpan, RepoPath, RepositoryId};

use crate::candidate::{Definition, Exactness, RelationRank};
use crate::priors::Prior;
use crate::via::Via;

/// A place that contains the text of a hit.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    pub repository: RepositoryId,
    pub path: RepoPath,
    pub span: LineSpan,
    pub key: ChunkKey,
}

/// A part of a score.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contribution {
    /// `dense`, `terms`, `names`, `file`, `relation`, `pattern`, `path`, `file_kind`, `definition`, `graph`
    /// or `flow`. In the second stage also `match`, `path_match`, `best_of_file`, `literals`, `mentioned`,
    /// `prior`, `same_file`, `pattern_not_asked_for` and `base`.
    pub name: &'static str,
    /// The rank in the list; the first rank is 1. `None` for parts that do not come from a list.
    pub rank: Option<u32>,
    /// In millionths. In the first stage, the points are already multiplied by the priors. In the second
    /// stage, points may be negative, and only those of `path` and `names` are multiplied by the priors.
    pub points: i64,
}

/// The scores of a chunk from which the second stage computes its points.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Scores {
    /// The vector score.
    pub dense: i64,
    /// The highest vector score of any candidate in the file.
    pub best_of_file: i64,
    /// The sum of the term weights.
    pub terms: i64,
}

/// An entry of an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RankedHit {
    pub chunk: ChunkRecord,
    /// The sum of the contributions. For a further hit in a file, and for a pattern that the question does
    /// not ask for, the sum is multiplied by a factor.
    pub score: u64,
    pub contributions: Vec<Contribution>,
    pub scores: Scores,
    /// All factors that changed the score. The priors apply to the contributions. The factors for a further
    /// hit in a file, and for a pattern that the question does not ask for, apply to the sum. In the second
    /// stage, the contribution `prior` is the logarithm of the product of these factors.
    pub priors: Vec<Prior>,
    pub relation_rank: Option<RelationRank>,
    /// The edges over which the hit was found, the best first.
    pub via: Vec<Via>,
    pub pattern_rank: Option<u32>,
    /// The position on the path that answers a flow question; the first position is 1.
    pub step: Option<u32>,
    pub named: Option<Exactness>,
    pub definition: Option<Definition>,
    /// Other places that contain the same text, sorted.
    pub also_at: Vec<Place>,
}

impl RankedHit {
    /// A hit without points.
    pub fn new(chunk: ChunkRecord) -> Self {
        Self {
            chunk,
            score: 0,
            contributions: Vec::new(),
            scores: Scores::default(),
            priors: Vec::new(),
            relation_rank: None,
            via: Vec::new(),
            pattern_rank: None,
            step: None,
            named: None,
            definition: None,
            also_at: Vec::new(),
        }
    }
}
