//! Finds the module of a path: the nearest directory above the path that the settings describe or that
//! contains a package manifest.

use cairn_config::RepositorySettings;
use cairn_domain::{PACKAGE_MANIFESTS, RepoPath};
use cairn_ports::TreeEntry;
use rustc_hash::FxHashSet;

/// The directories of a snapshot that are modules.
pub(crate) struct Modules {
    directories: FxHashSet<String>,
}

impl Modules {
    pub(crate) fn detect(settings: &RepositorySettings, entries: &[TreeEntry]) -> Self {
        let mut directories: FxHashSet<String> = FxHashSet::default();
        for entry in entries {
            let name = entry.path.file_name();
            if PACKAGE_MANIFESTS.contains(&name) || name == "__init__.py" {
                directories.insert(entry.path.directory().to_owned());
            }
        }
        directories.extend(settings.modules.iter().map(|module| module.path.as_str().to_owned()));
        Self { directories }
    }

    /// Returns the directory of the module that contains the path. The result is an empty text for the root
    /// directory, and `None` if no module contains the path.
    pub(crate) fn of(&self, path: &RepoPath) -> Option<String> {
        let mut directory = path.directory();
        loop {
            if self.directories.contains(directory) {
                return Some(directory.to_owned());
            }
            if directory.is_empty() {
                return None;
            }
            directory = directory.rsplit_once('/').map_or("", |(parent, _)| parent);
        }
    }
}
