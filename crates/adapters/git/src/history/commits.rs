//! Reads commits, and counts the commits that are reachable from another commit.

use std::collections::{BinaryHeap, HashMap, HashSet};

use cairn_ports::SyncMeter;
use git2::{Commit, Oid};

use crate::objects::loose::LooseObjects;
use crate::objects::repository::OpenRepository;

/// The commits of a repository.
pub(super) struct Commits<'r> {
    repository: &'r OpenRepository,
    loose: LooseObjects,
    /// The commits whose parents a shallow clone does not contain.
    ends: HashSet<Oid>,
    boundary: [u8; 32],
    meter: &'r SyncMeter,
}

/// Whether a commit is reachable from the first or from the second of two commits.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Reached {
    from_first: bool,
    from_second: bool,
}

impl Reached {
    fn and(self, other: Self) -> Self {
        Self { from_first: self.from_first || other.from_first, from_second: self.from_second || other.from_second }
    }

    fn by_both(self) -> bool {
        self.from_first && self.from_second
    }
}

impl<'r> Commits<'r> {
    pub(super) fn of(repository: &'r OpenRepository, meter: &'r SyncMeter) -> Result<Self, git2::Error> {
        let bytes = repository.shallow_commits().map_err(|why| git2::Error::from_str(&why))?;
        let text = String::from_utf8_lossy(&bytes);
        let ends = text.lines().filter_map(|line| Oid::from_str(line.trim()).ok()).collect();
        let boundary = *blake3::hash(text.as_bytes()).as_bytes();
        Ok(Self { repository, loose: repository.loose(), ends, boundary, meter })
    }

    /// A digest of the commits whose parents a shallow clone does not contain.
    pub(super) fn boundary(&self) -> [u8; 32] {
        self.boundary
    }

    /// Whether a shallow clone does not contain the parents of this commit.
    pub(super) fn is_end(&self, commit: Oid) -> bool {
        self.ends.contains(&commit)
    }

    /// Reads a commit. If the sync was stopped, returns an error, so that every walk ends.
    pub(super) fn find(&self, id: Oid) -> Result<Commit<'r>, git2::Error> {
        if self.meter.is_stopped() {
            return Err(git2::Error::from_str("the sync was stopped"));
        }
        self.repository.find_checked_commit(&self.loose, id)
    }

    /// The number of commits that are reachable from this commit, including the commit itself. Counting stops
    /// when the number exceeds the maximum.
    pub(super) fn count(&self, from: Oid, max: u64) -> Result<u64, git2::Error> {
        let mut seen = HashSet::from([from]);
        let mut pending = vec![from];
        while let Some(id) = pending.pop() {
            if seen.len() as u64 > max {
                break;
            }
            pending.extend(self.parents(&self.find(id)?).into_iter().filter(|parent| seen.insert(*parent)));
        }
        Ok(seen.len() as u64)
    }

    /// The number of commits that are reachable only from the first commit, and the number of those that are
    /// reachable only from the second. Commits are visited newest first, until all remaining commits are
    /// reachable from both. If commits have wrong times, the numbers may be too large. Counting stops when
    /// the number of visited commits exceeds twice the maximum.
    pub(super) fn count_difference(&self, first: Oid, second: Oid, max: u64) -> Result<(u64, u64), git2::Error> {
        let mut reached: HashMap<Oid, Reached> = HashMap::new();
        let mut queue = BinaryHeap::new();
        // The number of entries in the queue whose commits are not reachable from both.
        let mut num_open = 0u64;
        let starts = [
            (first, Reached { from_first: true, from_second: false }),
            (second, Reached { from_first: false, from_second: true }),
        ];
        let mut arrivals: Vec<(Oid, Reached)> = starts.into();
        loop {
            for (id, by) in arrivals.drain(..) {
                let before = reached.get(&id).copied();
                let now = before.unwrap_or_default().and(by);
                if before != Some(now) {
                    reached.insert(id, now);
                    queue.push((self.find(id)?.time().seconds(), id, now.by_both()));
                    num_open += u64::from(!now.by_both());
                }
            }
            if num_open == 0 || reached.len() as u64 > max.saturating_mul(2) {
                break;
            }
            let Some((_, id, was_closed)) = queue.pop() else { break };
            num_open -= u64::from(!was_closed);
            let by = reached[&id];
            arrivals.extend(self.parents(&self.find(id)?).into_iter().map(|parent| (parent, by)));
        }
        let only = |wanted: Reached| reached.values().filter(|reached| **reached == wanted).count() as u64;
        Ok((only(starts[0].1), only(starts[1].1)))
    }

    fn parents(&self, commit: &Commit<'_>) -> Vec<Oid> {
        if self.is_end(commit.id()) { Vec::new() } else { commit.parent_ids().collect() }
    }
}
