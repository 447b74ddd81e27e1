//! Trees as git stores them, compared without being parsed: most commits change few of them.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use git2::{Odb, Oid};

use super::{PathHistory, undated};
use crate::Limits;

/// Trees that are kept; consecutive commits share most of them.
const KEPT_BYTES: usize = 32 << 20;

pub(super) struct Trees<'r> {
    odb: Odb<'r>,
    kept: HashMap<Oid, Rc<Vec<u8>>>,
    kept_bytes: usize,
    /// Directories that hold a path that is asked about. Nothing else is entered, whatever an old tree holds.
    watched: HashSet<Vec<u8>>,
}

/// What a path is: its mode and object.
pub(super) type Content = (u32, Oid);

struct Entry<'t> {
    mode: u32,
    name: &'t [u8],
    id: Oid,
}

impl Entry<'_> {
    fn is_directory(&self) -> bool {
        self.mode & 0o170_000 == 0o040_000
    }

    /// Git sorts a directory as if its name ended in a slash, which no name holds.
    fn order(&self, other: &Entry<'_>) -> Ordering {
        let common = self.name.len().min(other.name.len());
        let next = |entry: &Entry<'_>| entry.name.get(common).copied().or_else(|| entry.is_directory().then_some(b'/'));
        self.name[..common].cmp(&other.name[..common]).then_with(|| next(self).cmp(&next(other)))
    }
}

/// The entries of a tree's bytes: mode, name, a zero, twenty bytes of id. Ends early where they are malformed.
struct Entries<'t>(&'t [u8]);

impl<'t> Iterator for Entries<'t> {
    type Item = Entry<'t>;

    fn next(&mut self) -> Option<Entry<'t>> {
        let space = self.0.iter().position(|byte| *byte == b' ')?;
        let mode = self.0[..space].iter().fold(0, |mode: u32, digit| (mode << 3) | u32::from(digit.wrapping_sub(b'0')));
        let rest = &self.0[space + 1..];
        let zero = rest.iter().position(|byte| *byte == 0)?;
        let (id, after) = rest[zero + 1..].split_at_checked(20)?;
        self.0 = after;
        Some(Entry { mode, name: &rest[..zero], id: Oid::from_bytes(id).ok()? })
    }
}

impl<'r> Trees<'r> {
    pub(super) fn new(odb: Odb<'r>) -> Self {
        Self { odb, kept: HashMap::new(), kept_bytes: 0, watched: HashSet::new() }
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

    fn read(&mut self, id: Oid) -> Result<Rc<Vec<u8>>, git2::Error> {
        if let Some(tree) = self.kept.get(&id) {
            return Ok(Rc::clone(tree));
        }
        let tree = Rc::new(self.odb.read(id)?.data().to_vec());
        if self.kept_bytes + tree.len() > KEPT_BYTES {
            self.kept.clear();
            self.kept_bytes = 0;
        }
        self.kept_bytes += tree.len();
        self.kept.insert(id, Rc::clone(&tree));
        Ok(tree)
    }

    /// Every path of a tree, sorted, without dates.
    pub(super) fn list(&mut self, root: Oid, limits: &Limits) -> Result<Vec<PathHistory>, git2::Error> {
        let mut paths = Vec::new();
        let mut pending = vec![(root, Vec::new(), 0)];
        while let Some((id, prefix, depth)) = pending.pop() {
            let tree = self.read(id)?;
            for entry in Entries(&tree) {
                let path = [prefix.as_slice(), entry.name].concat();
                if !entry.is_directory() {
                    paths.push(undated(path, entry.id));
                } else if depth < limits.max_depth {
                    pending.push((entry.id, [path.as_slice(), b"/"].concat(), depth + 1));
                }
            }
            if paths.len() + pending.len() > limits.max_entries {
                return Err(git2::Error::from_str("the tree has more paths than the limit"));
            }
        }
        paths.sort_unstable_by(|left, right| left.path.cmp(&right.path));
        Ok(paths)
    }

    /// What the path is in the tree.
    pub(super) fn find(&mut self, root: Oid, path: &[u8]) -> Result<Option<Content>, git2::Error> {
        let mut id = root;
        let mut parts = path.split(|byte| *byte == b'/').peekable();
        while let Some(part) = parts.next() {
            let tree = self.read(id)?;
            let Some(entry) = Entries(&tree).find(|entry| entry.name == part) else { return Ok(None) };
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

    /// The watched files of `new` that are not the same in `old`.
    pub(super) fn changed(&mut self, new: Oid, old: Oid) -> Result<Vec<Vec<u8>>, git2::Error> {
        let mut changed = Vec::new();
        let mut pending = vec![(new, Some(old), Vec::new())];
        while let Some((new, old, prefix)) = pending.pop() {
            let new = self.read(new)?;
            let old = old.map(|old| self.read(old)).transpose()?;
            let mut before = Entries(old.as_ref().map_or(&[], |tree| tree.as_slice())).peekable();
            for entry in Entries(&new) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(mode: u32, name: &str) -> Entry<'_> {
        Entry { mode, name: name.as_bytes(), id: Oid::ZERO_SHA1 }
    }

    #[test]
    fn entries_are_ordered_as_git_orders_them() {
        let (file, directory) = (0o100_644, 0o040_000);
        let sorted = [
            entry(file, "a"),
            entry(file, "a-b"),
            entry(file, "a.b"),
            entry(directory, "a"),
            entry(file, "a0"),
            entry(directory, "ab"),
            entry(file, "b"),
        ];
        for (left, first) in sorted.iter().enumerate() {
            for (right, second) in sorted.iter().enumerate() {
                assert_eq!(first.order(second), left.cmp(&right), "{left} {right}");
            }
        }
    }

    #[test]
    fn malformed_trees_end_where_they_break() {
        let mut bytes = b"100644 a\0".to_vec();
        bytes.extend([7; 20]);
        bytes.extend(b"40000 b\0");
        bytes.extend([8; 20]);
        let all: Vec<(u32, &[u8])> = Entries(&bytes).map(|entry| (entry.mode, entry.name)).collect();
        assert_eq!(all, [(0o100_644, b"a".as_slice()), (0o040_000, b"b".as_slice())]);
        for length in 0..bytes.len() {
            assert_eq!(Entries(&bytes[..length]).count(), usize::from(length >= 29), "{length}");
        }
    }
}
