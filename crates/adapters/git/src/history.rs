//! When each path of a commit was last changed, as `git log -1 -- path` tells it.
//!
//! Each path has one line of commits to follow: a commit that no parent shares the path's content with has changed it;
//! otherwise the line goes on at the first parent that shares it. So the answer is a function of the commit alone, in
//! whatever order commits are walked and whatever was known before. All paths go down together, newest commit first.
//! What is known of an earlier head goes down its own lines with them: where a path meets a known one on the same commit,
//! both go on alike, and the answer is there. So after a commit, a merge or a change of branch only the commits on
//! either side of the fork are walked.

mod saved;
mod trees;

use std::collections::{BinaryHeap, HashMap, HashSet};
use std::fs;
use std::path::Path;

use cairn_domain::BlobId;
use git2::{Commit, Oid, Repository};

use crate::Limits;
use crate::objects::{blob_of, open_repository};
use trees::Trees;

/// The last change of every path of a commit's tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct History {
    commit: BlobId,
    /// Of the commits where a shallow clone ends: a deeper clone knows more of the same commit.
    boundary: [u8; 32],
    /// The commit and its ancestors.
    num_commits: u64,
    /// Sorted by path.
    paths: Vec<PathHistory>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct PathHistory {
    /// As git has it.
    path: Vec<u8>,
    blob: BlobId,
    /// Time of the commit, in seconds since 1970; none where a shallow clone ends before it.
    changed_at: Option<i64>,
}

impl History {
    /// The history of a commit, from what was saved of an earlier one as far as that helps. None if it cannot be read or
    /// is longer than the limits allow; why stands in the log.
    pub(crate) fn of(path: &Path, commit: BlobId, saved: Option<History>, limits: &Limits) -> Option<History> {
        match walk(path, commit, saved, limits) {
            Ok(history) if history.num_commits > limits.max_commits => {
                let (num_commits, max_commits) = (history.num_commits, limits.max_commits);
                tracing::warn!(path = %path.display(), num_commits, max_commits, "the history is too long to walk");
                None
            }
            Ok(history) => Some(history),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "the history cannot be read");
                None
            }
        }
    }

    /// When the path got this content. None if the commit has another (the file on disk was edited since), or no such path.
    pub(crate) fn changed_at(&self, path: &[u8], blob: BlobId) -> Option<i64> {
        let found = self.paths.binary_search_by(|known| known.path.as_slice().cmp(path)).ok()?;
        Some(&self.paths[found]).filter(|known| known.blob == blob)?.changed_at
    }
}

fn walk(path: &Path, commit: BlobId, saved: Option<History>, limits: &Limits) -> Result<History, git2::Error> {
    let repository = open_repository(path)?;
    let (ends, boundary) = shallow_ends(&repository);
    let saved = saved.filter(|saved| saved.boundary == boundary && repository.find_commit(id_of(saved.commit)).is_ok());
    if let Some(saved) = saved.as_ref().filter(|saved| saved.commit == commit) {
        return Ok(saved.clone());
    }
    let head = id_of(commit);
    let num_commits = match &saved {
        Some(saved) => {
            let (begun, ended) = (count(&repository, head, Some(id_of(saved.commit)))?, id_of(saved.commit));
            (saved.num_commits + begun).saturating_sub(count(&repository, ended, Some(head))?)
        }
        None => count(&repository, head, None)?,
    };
    let mut history = History { commit, boundary, num_commits, paths: Vec::new() };
    if num_commits > limits.max_commits {
        return Ok(history);
    }
    let mut trees = Trees::new(repository.odb()?);
    let mut paths = trees.list(repository.find_commit(head)?.tree_id(), limits)?;
    let mut descent = Descent::new(&repository, trees, ends, &mut paths);
    descent.want_all(head)?;
    if let Some(saved) = &saved {
        descent.know(id_of(saved.commit), saved)?;
    }
    descent.run()?;
    drop(descent);
    history.paths = paths;
    Ok(history)
}

fn id_of(blob: BlobId) -> Oid {
    Oid::from_bytes(&blob.0).unwrap_or(Oid::ZERO_SHA1)
}

/// Commits reachable from one and not from the other.
fn count(repository: &Repository, from: Oid, without: Option<Oid>) -> Result<u64, git2::Error> {
    let mut commits = repository.revwalk()?;
    commits.push(from)?;
    if let Some(without) = without {
        commits.hide(without)?;
    }
    Ok(commits.count() as u64)
}

/// The commits whose parents a shallow clone does not have, and a digest of them.
fn shallow_ends(repository: &Repository) -> (HashSet<Oid>, [u8; 32]) {
    let text = fs::read_to_string(repository.commondir().join("shallow")).unwrap_or_default();
    let ends = text.lines().filter_map(|line| Oid::from_str(line.trim()).ok()).collect();
    (ends, *blake3::hash(text.as_bytes()).as_bytes())
}

/// What goes down through one commit: numbers of paths.
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

/// So few paths are looked up one by one; for more, two trees are compared.
const FEW: usize = 8;

struct Descent<'r> {
    repository: &'r Repository,
    trees: Trees<'r>,
    ends: HashSet<Oid>,
    paths: &'r mut [PathHistory],
    numbers: HashMap<Vec<u8>, u32>,
    loads: HashMap<Oid, Load>,
    /// Commits with a load, newest first. A commit whose clock was wrong may be passed twice; its lines stay the same.
    queue: BinaryHeap<(i64, Oid)>,
    num_wanted: usize,
}

impl<'r> Descent<'r> {
    fn new(repository: &'r Repository, mut trees: Trees<'r>, ends: HashSet<Oid>, paths: &'r mut [PathHistory]) -> Self {
        let numbers: HashMap<Vec<u8>, u32> = paths.iter().map(|known| known.path.clone()).zip(0..).collect();
        trees.watch(numbers.keys());
        let (loads, queue) = (HashMap::new(), BinaryHeap::new());
        Self { repository, trees, ends, paths, numbers, loads, queue, num_wanted: 0 }
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
                self.queue.push((self.repository.find_commit(commit)?.time().seconds(), commit));
                self.loads.insert(commit, load);
            }
        }
        Ok(())
    }

    fn run(&mut self) -> Result<(), git2::Error> {
        while self.num_wanted > 0 {
            let Some((_, id)) = self.queue.pop() else { return Ok(()) };
            let load = self.loads.remove(&id).unwrap_or_default();
            let repository = self.repository;
            self.pass(&repository.find_commit(id)?, load)?;
        }
        Ok(())
    }

    fn pass(&mut self, commit: &Commit<'_>, mut load: Load) -> Result<(), git2::Error> {
        if !load.known.is_empty() {
            self.meet(&mut load);
        }
        // Nothing is known of what lies beyond: the answer stays `None`.
        if self.ends.contains(&commit.id()) {
            self.num_wanted -= load.wanted.len();
            return Ok(());
        }
        let Ok(first) = commit.parent(0) else {
            load.wanted.iter().for_each(|number| self.answer(*number, Some(commit.time().seconds())));
            return Ok(());
        };
        for number in self.changed(commit.tree_id(), first.tree_id(), &load)? {
            let parent = self.unchanged_parent(commit, number)?;
            let (is_wanted, known) = (load.wanted.remove(&number), load.known.remove(&number));
            match parent {
                Some(parent) => {
                    let wanted = is_wanted.then_some(number).into_iter().collect();
                    let known = known.map(|at| (number, at)).into_iter().collect();
                    self.send(parent, Load { wanted, known })?;
                }
                None if is_wanted => self.answer(number, Some(commit.time().seconds())),
                None => {}
            }
        }
        self.send(first.id(), load)
    }

    /// Answers what is both wanted and known, and forgets what nobody wants any more.
    fn meet(&mut self, load: &mut Load) {
        let met: Vec<u32> = if load.wanted.len() < load.known.len() {
            load.wanted.iter().filter(|number| load.known.contains_key(number)).copied().collect()
        } else {
            load.known.keys().filter(|number| load.wanted.contains(number)).copied().collect()
        };
        for number in met {
            load.wanted.remove(&number);
            let at = load.known.remove(&number).flatten();
            self.answer(number, at);
        }
        if load.known.len() > 2 * self.num_wanted + FEW {
            let wanted: HashSet<u32> = self.loads.values().flat_map(|load| load.wanted.iter().copied()).collect();
            load.known.retain(|number, _| wanted.contains(number));
        }
    }

    fn answer(&mut self, number: u32, changed_at: Option<i64>) {
        self.paths[number as usize].changed_at = changed_at;
        self.num_wanted -= 1;
    }

    /// Paths of the load that differ between the two trees.
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

    /// The first parent after the first that has the path as the commit has it.
    fn unchanged_parent(&mut self, commit: &Commit<'_>, number: u32) -> Result<Option<Oid>, git2::Error> {
        if commit.parent_count() < 2 {
            return Ok(None);
        }
        let path = &self.paths[number as usize].path;
        let here = self.trees.find(commit.tree_id(), path)?;
        for parent in commit.parents().skip(1) {
            if self.trees.find(parent.tree_id(), path)? == here {
                return Ok(Some(parent.id()));
            }
        }
        Ok(None)
    }
}

/// A path of the listing, before its change is known.
fn undated(path: Vec<u8>, id: Oid) -> PathHistory {
    PathHistory { path, blob: blob_of(id), changed_at: None }
}
