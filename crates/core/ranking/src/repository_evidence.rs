//! Finds the repositories that have nothing to do with a question.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::RepositoryId;

use crate::fixed::ONE;

/// A repository can be left out if its share of the keywords is below this percentage of the highest share.
const MIN_SHARE_PERCENT: u64 = 65;
/// A repository can be left out if its best score is below this percentage of the best score in all
/// repositories.
const MIN_SCORE_PERCENT: u64 = 65;

/// The facts about a hit that decide whether its repository has to do with the question.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HitEvidence {
    pub(crate) repository: RepositoryId,
    pub(crate) score: u64,
    /// Whether the question names the code of the hit, or an edge of the graph leads to this code.
    pub(crate) is_direct: bool,
}

/// The repositories that have hits, but have nothing to do with the question. Such a repository meets three
/// conditions: the question names no code in it, its share of the keywords is clearly lower than the highest
/// share, and the score of its best hit is clearly lower than the best score in all repositories.
pub(crate) fn unrelated_repositories(
    hits: &[HitEvidence],
    shares: &BTreeMap<RepositoryId, u64>,
) -> BTreeSet<RepositoryId> {
    let best = hits.iter().map(|hit| hit.score).max().unwrap_or_default();
    let is_related = |hit: &&HitEvidence| {
        let share = shares.get(&hit.repository).copied().unwrap_or(ONE);
        hit.is_direct || share * 100 >= MIN_SHARE_PERCENT * ONE || hit.score * 100 >= MIN_SCORE_PERCENT * best
    };
    let related: BTreeSet<RepositoryId> = hits.iter().filter(is_related).map(|hit| hit.repository).collect();
    hits.iter().map(|hit| hit.repository).filter(|repository| !related.contains(repository)).collect()
}
