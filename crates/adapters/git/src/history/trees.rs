//! Compares the trees of commits. Subtrees with the same id are skipped without being read. This saves most
//! of the work, because most commits change few trees.

use std::collections::HashSet;

use git2::Oid;

use super::paths::PathHistory;
use crate::objects::repository::OpenRepository;
use crate::objects::tree_bytes::Entries;
use crate::objects::tree_store::TreeStore;
use crate::settings::Limits;

pub(super) struct Trees<'r> {
    store: TreeStore<'r>,
    /// The directories of the wanted paths. No other directory is entered, even if an old tree contains many
    /// other directories.
    watched: HashSet<Vec<u8>>,
}

/// The content of a path: its mode and object.
pub(super) type Content = (u32, Oid);

impl<'r> Trees<'r> {
    pub(super) fn new(repository: &'r OpenRepository) -> Result<Self, git2::Error> {
        Ok(Self { store: TreeStore::new(repository)?, watched: HashSet::new() })
    }

    pub(super) fn watch<'p>(&mut self, paths: impl Iterator<Item = &'p Vec<u8>>) {
        for path in paths {
            let mut directory = path.as_slice();
            while let Some(slash) = directory.iter().rposition(|byte| *byte == b'/') {
                directory = &directory[..slash];
                if !self.watched.insert(directory.to_vec()) {
                    break;
                }
            }
        }
    }

    /// Every path of a tree, sorted. The times of the last changes are not set yet.
    pub(super) fn list(&mut self, root: Oid, limits: &Limits) -> Result<Vec<PathHistory>, git2::Error> {
        let mut paths = Vec::new();
        let (mut num_directories, mut path_bytes) = (0, 0);
        let mut pending = vec![(root, Vec::new(), 0)];
        while let Some((id, prefix, depth)) = pending.pop() {
            let tree = self.store.read(id)?;
            for entry in Entries::new(&tree) {
                let path = [prefix.as_slice(), entry.name].concat();
                // A path that is too long or too deep is listed without its content, and has no history.
                if path.len() > limits.max_path_bytes {
                    continue;
                }
                path_bytes += path.len() as u64;
                if path_bytes > limits.max_total_path_bytes() {
                    return Err(git2::Error::from_str("the paths of the tree are longer than the limit"));
                }
                if !entry.is_directory() {
                    paths.push(PathHistory::undated(path, entry.id));
                } else if depth < limits.max_depth {
                    pending.push((entry.id, [path.as_slice(), b"/"].concat(), depth + 1));
                }
            }
            // Trees without files also count towards the limit, because a few objects can represent a billion
            // such trees.
            num_directories += 1;
            if num_directories > limits.max_entries || paths.len() + pending.len() > limits.max_entries {
                return Err(git2::Error::from_str("the tree has more paths than the limit"));
            }
        }
        paths.sort_unstable_by(|left, right| left.path.cmp(&right.path));
        Ok(paths)
    }

    /// Finds the content of a path in a tree. Returns `None` if the tree does not contain the path.
    pub(super) fn find(&mut self, root: Oid, path: &[u8]) -> Result<Option<Content>, git2::Error> {
        let mut id = root;
        let mut parts = path.split(|byte| *byte == b'/').peekable();
        while let Some(part) = parts.next() {
            let tree = self.store.read(id)?;
            let Some(entry) = Entries::new(&tree).find(|entry| entry.name == part) else { return Ok(None) };
            if parts.peek().is_none() {
                return Ok(Some((entry.mode, entry.id)));
            }
            if !entry.is_directory() {
                return Ok(None);
            }
            id = entry.id;
        }
        Ok(None)
    }

    /// The files that are in the watched directories of `new` and have different contents in `old`. (Other
    /// directories are not entered.)
    pub(super) fn changed(&mut self, new: Oid, old: Oid) -> Result<Vec<Vec<u8>>, git2::Error> {
        let mut changed = Vec::new();
        let mut pending = vec![(new, Some(old), Vec::new())];
        while let Some((new, old, prefix)) = pending.pop() {
            let new = self.store.read(new)?;
            let old = old.map(|old| self.store.read(old)).transpose()?;
            let mut before = Entries::new(old.as_ref().map_or(&[], |tree| tree.as_slice())).peekable();
            for entry in Entries::new(&new) {
                while before.next_if(|old| old.order(&entry).is_lt()).is_some() {}
                let same_name = before.next_if(|old| old.order(&entry).is_eq());
                if same_name.as_ref().is_some_and(|old| old.id == entry.id && old.mode == entry.mode) {
                    continue;
                }
                let path = [prefix.as_slice(), entry.name].concat();
                if !entry.is_directory() {
                    changed.push(path);
                } else if self.watched.contains(&path) {
                    pending.push((entry.id, same_name.map(|old| old.id), [path.as_slice(), b"/"].concat()));
                }
            }
        }
        Ok(changed)
    }
}
