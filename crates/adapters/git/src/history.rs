//! Computes the time at which each path of a commit was last changed. The result equals that of `git log -1
//! -- path`.
//!
//! For each path, one line of commits is followed from the commit to its ancestors. If no parent of a commit
//! has the path with the same content, this commit is the last change of the path. If some parents have the
//! path with the same content, the line continues at the first of these parents. So the result depends only
//! on the commit, not on the order of the walk or on earlier results.
//!
//! All paths are followed together, newest commit first. A saved history contains the results for an earlier
//! head. Its paths are followed in the same way, from the earlier head. If the line from the new head and the
//! line from the earlier head reach the same commit, both lines are the same from there on. The saved result
//! of the path is then reused. After a commit, a merge or a change of branch, the walk visits only commits
//! that are reachable from exactly one of the two heads.

mod commits;
mod paths;
mod saved;
mod trees;

use std::collections::{BinaryHeap, HashMap, HashSet};
use std::path::Path;

use cairn_domain::BlobId;
use cairn_ports::SyncMeter;
use cairn_redaction::quoted;
use git2::{Commit, Oid};

use crate::objects::repository::OpenRepository;
use crate::settings::Limits;
use commits::Commits;
pub(crate) use paths::History;
use paths::PathHistory;
use trees::Trees;

impl History {
    /// The history of a commit. If possible, this function uses the saved history of an earlier commit, so
    /// that it walks fewer commits. If the history exceeds the limits, it contains no paths. It must be saved
    /// nevertheless, so that its commits are not counted again. `None` if the history cannot be read. If the
    /// history is too long or cannot be read, the log contains the reason.
    pub(crate) fn of(
        path: &Path,
        commit: BlobId,
        saved: Option<History>,
        limits: &Limits,
        meter: &SyncMeter,
    ) -> Option<History> {
        match walk(path, commit, saved, limits, meter) {
            _ if meter.is_stopped() => None,
            Ok(history) if history.num_commits > limits.max_commits => {
                let (num_commits, max_commits) = (history.num_commits, limits.max_commits);
                tracing::warn!(path = %path.display(), num_commits, max_commits, "the history is too long to walk");
                Some(history)
            }
            Ok(history) => Some(history),
            Err(error) => {
                let error = quoted(error.message());
                tracing::warn!(path = %path.display(), %error, "the history cannot be read");
                None
            }
        }
    }
}

fn walk(
    path: &Path,
    commit: BlobId,
    saved: Option<History>,
    limits: &Limits,
    meter: &SyncMeter,
) -> Result<History, git2::Error> {
    let repository = OpenRepository::open(path)?;
    let commits = Commits::of(&repository, meter)?;
    let saved = saved.filter(|saved| is_usable(saved, &commits, limits));
    if let Some(saved) = saved.as_ref().filter(|saved| saved.commit == commit) {
        return Ok(saved.clone());
    }
    let num_commits = count_commits(&commits, id_of(commit), saved.as_ref(), limits.max_commits)?;
    let mut history = History { commit, boundary: commits.boundary(), num_commits, paths: Vec::new() };
    if num_commits <= limits.max_commits {
        let trees = Trees::new(&repository)?;
        history.paths = dated_paths(&commits, trees, id_of(commit), saved.as_ref(), limits)?;
    }
    Ok(history)
}

/// Whether a saved history can help to compute the history of another commit of the same clone.
fn is_usable(saved: &History, commits: &Commits<'_>, limits: &Limits) -> bool {
    // A history that was too long for earlier limits is walked if it may fit now.
    let is_complete = !saved.paths.is_empty() || saved.num_commits > limits.max_commits;
    saved.boundary == commits.boundary() && commits.find(id_of(saved.commit)).is_ok() && is_complete
}

/// The number of commits that are reachable from the head, derived from the saved number if possible.
/// Counting stops when the number exceeds the maximum.
fn count_commits(commits: &Commits<'_>, head: Oid, saved: Option<&History>, max: u64) -> Result<u64, git2::Error> {
    let Some(saved) = saved else { return commits.count(head, max) };
    let (begun, ended) = commits.count_difference(head, id_of(saved.commit), max)?;
    let num_commits = (saved.num_commits + begun).saturating_sub(ended);
    // If the saved history contains no paths, counting ended at the maximum, so the saved number of commits
    // may be too small.
    let is_exact = !saved.paths.is_empty() || num_commits > max;
    if is_exact { Ok(num_commits) } else { commits.count(head, max) }
}

/// The paths of the head, each with the time of its last change.
fn dated_paths(
    commits: &Commits<'_>,
    mut trees: Trees<'_>,
    head: Oid,
    saved: Option<&History>,
    limits: &Limits,
) -> Result<Vec<PathHistory>, git2::Error> {
    let mut paths = trees.list(commits.find(head)?.tree_id(), limits)?;
    let mut descent = Descent::new(commits, trees, &mut paths);
    descent.want_all(head)?;
    if let Some(saved) = saved {
        descent.know(id_of(saved.commit), saved)?;
    }
    descent.run()?;
    drop(descent);
    Ok(paths)
}

fn id_of(blob: BlobId) -> Oid {
    Oid::from_bytes(&blob.0).unwrap_or(Oid::ZERO_SHA1)
}

/// The paths that are looked up in one commit, because their lines of commits pass through it. Each path is
/// given by its index in `Descent::paths`. `known` contains the paths of the saved history with their
/// results.
#[derive(Default)]
struct Load {
    wanted: HashSet<u32>,
    known: HashMap<u32, Option<i64>>,
}

impl Load {
    fn len(&self) -> usize {
        self.wanted.len() + self.known.len()
    }

    fn join(&mut self, mut other: Load) {
        if other.len() > self.len() {
            std::mem::swap(self, &mut other);
        }
        self.wanted.extend(other.wanted);
        self.known.extend(other.known);
    }
}

/// Up to this number of paths are looked up one by one. For more paths, the two trees are compared.
const FEW: usize = 8;

struct Descent<'r> {
    commits: &'r Commits<'r>,
    trees: Trees<'r>,
    paths: &'r mut [PathHistory],
    numbers: HashMap<Vec<u8>, u32>,
    loads: HashMap<Oid, Load>,
    /// The commits with an entry in `loads`, newest first. A commit with a wrong time may be processed twice,
    /// which does not change the result.
    queue: BinaryHeap<(i64, Oid)>,
    num_wanted: usize,
}

impl<'r> Descent<'r> {
    fn new(commits: &'r Commits<'r>, mut trees: Trees<'r>, paths: &'r mut [PathHistory]) -> Self {
        let numbers: HashMap<Vec<u8>, u32> = paths.iter().map(|known| known.path.clone()).zip(0..).collect();
        trees.watch(numbers.keys());
        let (loads, queue) = (HashMap::new(), BinaryHeap::new());
        Self { commits, trees, paths, numbers, loads, queue, num_wanted: 0 }
    }

    fn want_all(&mut self, head: Oid) -> Result<(), git2::Error> {
        self.num_wanted = self.paths.len();
        let wanted = (0..self.paths.len() as u32).collect();
        self.send(head, Load { wanted, known: HashMap::new() })
    }

    fn know(&mut self, head: Oid, saved: &History) -> Result<(), git2::Error> {
        let number = |known: &PathHistory| Some((*self.numbers.get(&known.path)?, known.changed_at));
        let known = saved.paths.iter().filter_map(number).collect();
        self.send(head, Load { wanted: HashSet::new(), known })
    }

    fn send(&mut self, commit: Oid, load: Load) -> Result<(), git2::Error> {
        if load.len() == 0 {
            return Ok(());
        }
        match self.loads.get_mut(&commit) {
            Some(there) => there.join(load),
            None => {
                self.queue.push((self.commits.find(commit)?.time().seconds(), commit));
                self.loads.insert(commit, load);
            }
        }
        Ok(())
    }

    fn run(&mut self) -> Result<(), git2::Error> {
        while self.num_wanted > 0 {
            let Some((_, id)) = self.queue.pop() else { return Ok(()) };
            let load = self.loads.remove(&id).unwrap_or_default();
            let commit = self.commits.find(id)?;
            self.pass(&commit, load)?;
        }
        Ok(())
    }

    fn pass(&mut self, commit: &Commit<'_>, mut load: Load) -> Result<(), git2::Error> {
        if !load.known.is_empty() {
            self.meet(&mut load);
        }
        // The clone does not contain the parents of this commit, so the result stays `None`.
        if self.commits.is_end(commit.id()) {
            self.num_wanted -= load.wanted.len();
            return Ok(());
        }
        let Ok(first) = commit.parent_id(0) else {
            load.wanted.iter().for_each(|number| self.set_result(*number, Some(commit.time().seconds())));
            return Ok(());
        };
        let first_tree = self.commits.find(first)?.tree_id();
        for number in self.changed(commit.tree_id(), first_tree, &load)? {
            let parent = self.unchanged_parent(commit, number)?;
            let (is_wanted, known) = (load.wanted.remove(&number), load.known.remove(&number));
            match parent {
                Some(parent) => {
                    let wanted = is_wanted.then_some(number).into_iter().collect();
                    let known = known.map(|at| (number, at)).into_iter().collect();
                    self.send(parent, Load { wanted, known })?;
                }
                None if is_wanted => self.set_result(number, Some(commit.time().seconds())),
                None => {}
            }
        }
        self.send(first, load)
    }

    /// Sets the result of each path that is both wanted and known. If `load` contains many known paths, drops
    /// those that are no longer wanted.
    fn meet(&mut self, load: &mut Load) {
        let met: Vec<u32> = if load.wanted.len() < load.known.len() {
            load.wanted.iter().filter(|number| load.known.contains_key(number)).copied().collect()
        } else {
            load.known.keys().filter(|number| load.wanted.contains(number)).copied().collect()
        };
        for number in met {
            load.wanted.remove(&number);
            let at = load.known.remove(&number).flatten();
            self.set_result(number, at);
        }
        if load.known.len() > 2 * self.num_wanted + FEW {
            let wanted: HashSet<u32> = self.loads.values().flat_map(|load| load.wanted.iter().copied()).collect();
            load.known.retain(|number, _| wanted.contains(number));
        }
    }

    fn set_result(&mut self, number: u32, changed_at: Option<i64>) {
        self.paths[number as usize].changed_at = changed_at;
        self.num_wanted -= 1;
    }

    /// The indexes of those paths of `load` whose contents differ between the two trees.
    fn changed(&mut self, new: Oid, old: Oid, load: &Load) -> Result<Vec<u32>, git2::Error> {
        if new == old {
            return Ok(Vec::new());
        }
        let mut changed = Vec::new();
        if load.len() <= FEW {
            for number in load.wanted.iter().chain(load.known.keys()) {
                let path = &self.paths[*number as usize].path;
                if self.trees.find(new, path)? != self.trees.find(old, path)? {
                    changed.push(*number);
                }
            }
            return Ok(changed);
        }
        for path in self.trees.changed(new, old)? {
            changed.extend(self.numbers.get(&path));
        }
        changed.retain(|number| load.wanted.contains(number) || load.known.contains_key(number));
        Ok(changed)
    }

    /// The first parent that has the path with the same content as the commit. Parent 0 is not examined.
    fn unchanged_parent(&mut self, commit: &Commit<'_>, number: u32) -> Result<Option<Oid>, git2::Error> {
        if commit.parent_count() < 2 {
            return Ok(None);
        }
        let path = &self.paths[number as usize].path;
        let here = self.trees.find(commit.tree_id(), path)?;
        for parent in commit.parent_ids().skip(1) {
            if self.trees.find(self.commits.find(parent)?.tree_id(), path)? == here {
                return Ok(Some(parent));
            }
        }
        Ok(None)
    }
}
