//! The repository and the manifest entry whose path is combined with facts to form records.

use cairn_domain::{ManifestEntry, RepositoryId};

/// An entry of a manifest, with its repository. The path of the entry becomes part of the records.
#[derive(Clone, Copy, Debug)]
pub struct Placement<'a> {
    pub repository: RepositoryId,
    pub entry: &'a ManifestEntry,
}

impl Placement<'_> {
    fn language(&self) -> &str {
        self.entry.language.as_deref().unwrap_or("text")
    }

    pub(crate) fn is_test(&self) -> bool {
        cairn_syntax::is_test_path(self.language(), &self.entry.path)
    }

    pub(crate) fn module_path(&self) -> String {
        cairn_syntax::module_path(self.language(), &self.entry.path)
    }
}
