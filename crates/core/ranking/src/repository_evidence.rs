//! Weighs the hits of a question by the keywords that their repositories contain, and leaves out repositories
//! that have nothing to do with the question.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::RepositoryId;

use crate::fixed::ONE;
use crate::priors::Prior;
use crate::rank::{RankedHit, sum};

/// The factor for a repository that contains no keyword, in percent. The repository with the highest share of
/// the keywords has 100.
const LEAST_PERCENT: u64 = 60;
/// A repository can be left out if its share of the keywords is below this percentage of the highest share.
const MIN_SHARE_PERCENT: u64 = 65;
/// A repository can be left out if its best score is below this percentage of the best score of all.
const MIN_SCORE_PERCENT: u64 = 65;
/// The parts of a score that do not depend on the words of the repository: the question names the code, or an
/// edge of the graph leads to it.
const DIRECT: [&str; 3] = ["relation", "pattern", "definition"];

/// Multiplies the points of each hit by a factor for the share of the keywords that its repository contains.
/// `shares` are relative to the highest share, in millionths.
pub(crate) fn weigh_repositories(hits: &mut [RankedHit], shares: &BTreeMap<RepositoryId, u64>) {
    for hit in hits {
        let share = shares.get(&hit.chunk.repository).copied().unwrap_or(ONE);
        let percent = LEAST_PERCENT + (100 - LEAST_PERCENT) * share / ONE;
        if percent == 100 {
            continue;
        }
        for part in hit.contributions.iter_mut().filter(|part| !DIRECT.contains(&part.name)) {
            part.points = part.points * percent / 100;
        }
        hit.score = sum(&hit.contributions);
        hit.priors.push(Prior { name: "repository_words", percent: percent as u32 });
    }
}

/// The repositories of the hits that have nothing to do with the question: the question names no code in
/// them, they contain clearly fewer of its keywords than another repository, and their best hit is clearly
/// worse than the best hit of all.
pub fn unrelated_repositories(hits: &[RankedHit], shares: &BTreeMap<RepositoryId, u64>) -> BTreeSet<RepositoryId> {
    let best = hits.iter().map(|hit| hit.score).max().unwrap_or_default();
    let is_related = |hit: &&RankedHit| {
        let share = shares.get(&hit.chunk.repository).copied().unwrap_or(ONE);
        let is_direct = hit.named.is_some() || hit.relation_rank.is_some() || hit.pattern_rank.is_some();
        is_direct || share * 100 >= MIN_SHARE_PERCENT * ONE || hit.score * 100 >= MIN_SCORE_PERCENT * best
    };
    let related: BTreeSet<RepositoryId> = hits.iter().filter(is_related).map(|hit| hit.chunk.repository).collect();
    hits.iter().map(|hit| hit.chunk.repository).filter(|repository| !related.contains(repository)).collect()
}
