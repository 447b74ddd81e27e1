//! The files and directories that a search finds by their names.

use cairn_ports::FileHit;

use crate::repositories::{KnownRepository, name_of};

/// A file or directory whose name matches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundFile {
    pub repository: String,
    pub path: String,
    pub is_directory: bool,
    /// In percent, see [`FileHit::score`].
    pub score: u32,
    pub(crate) hit: FileHit,
}

/// The files of a search, best first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct FoundFiles {
    pub(crate) files: Vec<FoundFile>,
    pub(crate) role: FileRole,
}

/// The role of the files in the answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum FileRole {
    /// The files are shown in addition to the results.
    #[default]
    BesideResults,
    /// The files are the results, so the pages of the answer are pages of files. The first lines of the files
    /// are shown too.
    WithBeginnings,
    /// The files are the results, and only their names are shown.
    Names,
}

impl FoundFiles {
    pub(crate) fn of(hits: Vec<FileHit>, selected: &[KnownRepository], are_directories: bool) -> Vec<FoundFile> {
        let found = |hit: FileHit| FoundFile {
            repository: name_of(selected, hit.repository),
            path: hit.path.to_string(),
            is_directory: are_directories,
            score: hit.score,
            hit,
        };
        hits.into_iter().map(found).collect()
    }

    pub(crate) fn are_results(&self) -> bool {
        self.role != FileRole::BesideResults
    }

    /// The approximate memory of the files.
    pub(crate) fn size_bytes(&self) -> usize {
        self.files.len() * (size_of::<FoundFile>() + 256)
    }
}
