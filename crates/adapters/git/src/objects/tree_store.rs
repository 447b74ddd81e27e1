//! Reads tree objects, and caches the most recent ones.

use std::collections::HashMap;
use std::rc::Rc;

use git2::{ObjectType, Odb, Oid};

use super::memory::{Unread, Work, too_large};
use super::repository::OpenRepository;

/// Maximum size of the cached trees in bytes. The cache is useful because consecutive commits share most of
/// their trees.
const MAX_KEPT_BYTES: usize = 32 << 20;

/// A larger tree object is not read. A tree of a million entries has about this size.
const MAX_TREE_BYTES: usize = 64 << 20;

pub(crate) struct TreeStore<'r> {
    odb: Odb<'r>,
    work: Work,
    kept: HashMap<Oid, Rc<Vec<u8>>>,
    kept_bytes: usize,
}

impl<'r> TreeStore<'r> {
    pub(crate) fn new(repository: &'r OpenRepository) -> Result<Self, git2::Error> {
        let (odb, work) = (repository.odb()?, repository.work());
        Ok(Self { odb, work, kept: HashMap::new(), kept_bytes: 0 })
    }

    /// Returns the bytes of a tree object.
    pub(crate) fn read(&mut self, id: Oid) -> Result<Rc<Vec<u8>>, git2::Error> {
        if let Some(tree) = self.kept.get(&id) {
            return Ok(Rc::clone(tree));
        }
        match self.header(id)? {
            (size, ObjectType::Tree) if size <= MAX_TREE_BYTES => {}
            (_, ObjectType::Tree) => return Err(git2::Error::from_str("the tree object is too large")),
            _ => return Err(git2::Error::from_str("the object is not a tree")),
        }
        let tree = Rc::new(self.work.read(&self.odb, id).map_err(|unread| match unread {
            Unread::Git(error) => error,
            Unread::TooLarge => too_large(),
        })?);
        if self.kept_bytes + tree.len() > MAX_KEPT_BYTES {
            self.kept.clear();
            self.kept_bytes = 0;
        }
        self.kept_bytes += tree.len();
        self.kept.insert(id, Rc::clone(&tree));
        Ok(tree)
    }

    /// Reads the size and the type of an object, without its content.
    pub(crate) fn header(&self, id: Oid) -> Result<(usize, ObjectType), git2::Error> {
        self.work.header(&self.odb, id)
    }
}
