//! The chunks that are ranked, and the lists in which they were found.

use cairn_domain::{ChunkRecord, LineSpan};

use crate::list_points::{Listed, ScoreRange};
use crate::via::Via;

/// A chunk that may become a hit, with its positions in the lists.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    pub chunk: ChunkRecord,
    /// `None` if the chunk is not in the list of vectors.
    pub dense: Option<Listed>,
    /// The vector score. It may be known even if the list ends before the chunk. `None` if it is not known.
    pub dense_score: Option<i64>,
    /// `None` if the chunk contains no term of the question.
    pub terms: Option<Listed>,
    /// The rank in the list of names; the first rank is 1.
    pub name_rank: Option<u32>,
    /// The position in the list of code that has the requested relation to a name in the question.
    pub relation_rank: Option<RelationRank>,
    /// The edges that relate the chunk to a name of the question.
    pub via: Vec<Via>,
    /// The rank among the patterns that the question names; the first rank is 1.
    pub pattern_rank: Option<u32>,
    /// Set if the whole question is the name of a definition in the chunk, or the path of the chunk's file.
    pub named: Option<Exactness>,
    /// A definition that the question names and that is not the chunk's own symbol.
    pub definition: Option<Definition>,
}

/// The ranks of code that has the requested relation to a definition of a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RelationRank {
    /// The zero-based position of the definition. All code that is related to the first definition comes
    /// first, then all code that is related to the second definition, and so on. Code for different
    /// definitions is not mixed, because the definitions have only their name in common.
    pub definition: u32,
    /// The rank among the code that is related to any of the definitions; the first rank is 1.
    pub rank: u32,
}

/// One of the definitions in a chunk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definition {
    /// Qualified name.
    pub symbol: String,
    /// The lines of the definition.
    pub span: LineSpan,
}

/// How exactly a question spells a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Exactness {
    /// The question is the name, its qualified form, or the end of the path.
    Exact,
    /// The question is the name in a different style or case, such as `get_user` for `getUser`.
    OtherStyle,
    /// The question is a misspelled name. The value is the rank of this definition among the definitions of
    /// near names; the first rank is 1. These definitions come before all other hits.
    Near(u32),
}

/// The lists in which the candidates were found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Lists {
    pub dense: ScoreRange,
    pub terms: ScoreRange,
    /// The lowest known vector score. It is lower than the last score of `dense` if the scores of further
    /// chunks are known.
    pub last_dense: i64,
}
