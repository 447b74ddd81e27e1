//! Compares the owner in a requested name with the owners of symbols.

use rustc_hash::FxHashMap;

use crate::fold::folded;
use crate::near::score_name;
use crate::wanted::WantedName;

/// Minimum score, in thousandths, at which an owner counts as the requested owner.
const MIN_OWNER_SCORE: u32 = 660;

/// Compares the requested owner with the owners of symbols. The score of each owner is computed once.
pub struct OwnerScores<'a> {
    requested: Option<&'a WantedName>,
    known: FxHashMap<String, u32>,
}

impl<'a> OwnerScores<'a> {
    pub fn new(wanted: &'a WantedName) -> Self {
        Self { requested: wanted.owners.last(), known: FxHashMap::default() }
    }

    /// Compares the owners of a symbol with the requested owner, and returns the highest score in
    /// thousandths. If the requested name is `Server.run`, the requested owner is `Server`. The owners of a
    /// symbol are the parts of its qualified name, its file and its module.
    pub fn best<'o>(&mut self, owners: impl Iterator<Item = &'o str>) -> u32 {
        let Some(requested) = self.requested else { return 0 };
        let mut best = 0;
        for owner in owners {
            let score = match self.known.get(owner) {
                Some(score) => *score,
                None => {
                    let score = score_owner(requested, owner);
                    self.known.insert(owner.to_owned(), score);
                    score
                }
            };
            best = best.max(score);
        }
        best
    }
}

fn score_owner(requested: &WantedName, owner: &str) -> u32 {
    let is_equal = folded(owner).replace(' ', "") == requested.flat;
    let near = || score_name(requested, owner).map(|near| near.score).filter(|score| *score >= MIN_OWNER_SCORE);
    if is_equal { 1_000 } else { near().unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn score_of_the_nearest_owner_is_returned() {
        let check = |asked: &str, owners: &[&str], expect: u32| {
            let wanted = WantedName::new(asked);
            let score = OwnerScores::new(&wanted).best(owners.iter().copied());
            assert_eq!(score, expect, "{asked} {owners:?}");
        };
        check("Server.run", &["net", "server"], 1_000);
        check("Server.run", &["net"], 0);
        check("Srever.run", &["Server"], 934);
        check("run", &["Server"], 0);
    }
}
