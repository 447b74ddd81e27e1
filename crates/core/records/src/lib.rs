//! Facts of a blob, placed at a path: the records that stores hold.
//!
//! Facts know nothing of their path, so that equal blobs share them. Here they meet the path, and with it everything
//! that comes from it: module path, whether it is test code, weight, tags.

mod chunks;
mod names;

pub use chunks::{chunk_records, passage};
pub use names::symbol_names;

use cairn_domain::{ManifestEntry, RepositoryId};

/// Counts up when records of the same facts come out differently.
pub const VERSION: u64 = 2;

/// Where facts are placed.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    pub repository: RepositoryId,
    pub entry: &'a ManifestEntry,
}

impl Place<'_> {
    fn language(&self) -> &str {
        self.entry.language.as_deref().unwrap_or("text")
    }

    fn is_test(&self) -> bool {
        cairn_syntax::is_test_path(self.language(), &self.entry.path)
    }

    fn module_path(&self) -> String {
        cairn_syntax::module_path(self.language(), &self.entry.path)
    }
}
