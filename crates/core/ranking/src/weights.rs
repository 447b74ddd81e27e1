//! The weights of the lists, which depend on the type of the question.

/// The weight of each list in percent, and whether the scores of further hits in a file are reduced.
///
/// The weights were chosen on the tuning half of the evaluation set. A cross-validation over the repositories
/// chose the same weights, or weights that differ from them by one step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Weights {
    pub(crate) dense: u64,
    pub(crate) terms: u64,
    pub(crate) names: u64,
    pub(crate) further_hits_count_less: bool,
}

impl Weights {
    pub fn reduces_further_hits(&self) -> bool {
        self.further_hits_count_less
    }

    /// The weights for a question of several words about a topic or a name.
    pub const TOPIC: Self = Self { dense: 40, terms: 60, names: 60, further_hits_count_less: true };
    /// The weights for a question that is one word, or one name with a lead-in such as "find".
    pub const ONE_WORD: Self = Self { dense: 30, terms: 70, ..Self::TOPIC };
    /// The weights for a question about the relations of a name. Vectors contain little information about
    /// names.
    pub const RELATION: Self = Self { dense: 20, terms: 80, ..Self::TOPIC };
    /// The weights for a question about a flow. The scores of further hits in a file are not reduced, because
    /// the steps of a flow are often in one file.
    pub const FLOW: Self = Self { further_hits_count_less: false, ..Self::TOPIC };
    /// The weights for a question about a pattern. Terms have a high weight, because the members of a pattern
    /// share words. The scores of further hits in a file are not reduced, because the members are often in
    /// one file.
    pub const PATTERN: Self = Self { dense: 20, terms: 80, names: 60, further_hits_count_less: false };
}
