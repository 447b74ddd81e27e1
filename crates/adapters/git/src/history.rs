//! Last change per path, from the newest commits.
//!
//! Each commit's tree is compared with its parents' by object id, so only what changed is walked. A path counts as
//! changed by a commit if it differs from all of its parents: a merge that only brings changes together made none.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

use cairn_domain::{BlobId, RepoPath};
use cairn_ports::{LastChange, SourceError};
use git2::{Commit, Oid, Repository, Sort, Tree};

use crate::failure::{from_git, printable};
use crate::objects::open_repository;

pub(crate) fn last_changes(path: &Path, max_commits: usize, head: BlobId) -> Result<Vec<LastChange>, SourceError> {
    let walk = || -> Result<Vec<LastChange>, git2::Error> {
        let repository = open_repository(path)?;
        let mut commits = repository.revwalk()?;
        commits.set_sorting(Sort::TIME)?;
        commits.push(Oid::from_bytes(&head.0)?)?;
        let mut newest: HashMap<Vec<u8>, (i64, String)> = HashMap::new();
        for id in commits.take(max_commits) {
            let commit = repository.find_commit(id?)?;
            // Where a shallow clone ends, the commit's own changes are not known.
            if commit.parent_count() == 0 && repository.is_shallow() {
                continue;
            }
            for path in changed_by(&repository, &commit)? {
                if let Entry::Vacant(vacant) = newest.entry(path) {
                    let author = printable(&String::from_utf8_lossy(commit.author().name_bytes()));
                    vacant.insert((commit.time().seconds(), author));
                }
            }
        }
        Ok(sorted(newest))
    };
    walk().map_err(|error| from_git("last changes", &path.display().to_string(), error))
}

fn sorted(newest: HashMap<Vec<u8>, (i64, String)>) -> Vec<LastChange> {
    let change = |(path, (changed_at, author)): (Vec<u8>, (i64, String))| {
        Some(LastChange { path: RepoPath::from_bytes(&path).ok()?, changed_at, author })
    };
    let mut changes: Vec<LastChange> = newest.into_iter().filter_map(change).collect();
    changes.sort_unstable_by(|left, right| left.path.cmp(&right.path));
    changes
}

/// Paths of the commit that differ from every parent's.
fn changed_by(repository: &Repository, commit: &Commit<'_>) -> Result<Vec<Vec<u8>>, git2::Error> {
    let tree = commit.tree()?;
    let mut parents = commit.parents().map(|parent| parent.tree());
    let mut changed = Vec::new();
    let first = parents.next().transpose()?;
    compare(repository, &tree, first.as_ref(), &mut Vec::new(), &mut changed)?;
    for parent in parents {
        let parent = parent?;
        let is_other = |path: &Vec<u8>| id_at(repository, &parent, path) != id_at(repository, &tree, path);
        changed.retain(is_other);
    }
    Ok(changed)
}

/// Adds the files of `new` that are not the same in `old`.
fn compare(
    repository: &Repository,
    new: &Tree<'_>,
    old: Option<&Tree<'_>>,
    prefix: &mut Vec<u8>,
    changed: &mut Vec<Vec<u8>>,
) -> Result<(), git2::Error> {
    let length = prefix.len();
    for entry in new {
        let before = old.and_then(|old| old.get_name_bytes(entry.name_bytes()));
        let same =
            before.as_ref().is_some_and(|old| old.id() == entry.id() && old.filemode_raw() == entry.filemode_raw());
        if same {
            continue;
        }
        prefix.extend_from_slice(entry.name_bytes());
        if entry.kind() == Some(git2::ObjectType::Tree) {
            prefix.push(b'/');
            let below = repository.find_tree(entry.id())?;
            let below_before = before.and_then(|old| repository.find_tree(old.id()).ok());
            compare(repository, &below, below_before.as_ref(), prefix, changed)?;
        } else {
            changed.push(prefix.clone());
        }
        prefix.truncate(length);
    }
    Ok(())
}

fn id_at(repository: &Repository, tree: &Tree<'_>, path: &[u8]) -> Option<(Oid, i32)> {
    let (first, rest) = match path.iter().position(|byte| *byte == b'/') {
        Some(slash) => (&path[..slash], Some(&path[slash + 1..])),
        None => (path, None),
    };
    let entry = tree.get_name_bytes(first)?;
    match rest {
        Some(rest) => id_at(repository, &repository.find_tree(entry.id()).ok()?, rest),
        None => Some((entry.id(), entry.filemode_raw())),
    }
}
