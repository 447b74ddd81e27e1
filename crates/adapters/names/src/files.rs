//! Looks up files and directories in the layers of one repository.

use std::collections::BTreeMap;

use cairn_domain::{RepoPath, RepositoryId, View};
use cairn_name_match::{PathPart, PathScore, WantedFile};
use cairn_ports::{FileHit, FileMatch};
use globset::{GlobBuilder, GlobMatcher};

use crate::format::{DamagedLayer, PathEntry};
use crate::layer::Layer;
use crate::names::RepositoryNames;

const EXACT: PathScore = PathScore { score: 100, rank: 0 };

/// A requested file name. The values for the comparison are computed once for all paths.
pub(crate) enum RequestedFile {
    Path(String),
    Name(WantedFile),
    Directory(WantedFile),
    Glob(PathGlob),
    DirectoryGlob(PathGlob),
    /// A glob that is not valid.
    Nothing,
}

impl RequestedFile {
    pub(crate) fn new(name: &str, matching: FileMatch) -> Self {
        let wanted = |part, similar| WantedFile::new(name, part, similar);
        match matching {
            FileMatch::Path => Self::Path(name.to_owned()),
            FileMatch::Name => Self::Name(wanted(PathPart::Whole, false)),
            FileMatch::Similar => Self::Name(wanted(PathPart::Whole, true)),
            FileMatch::BaseName { similar } => Self::Name(wanted(PathPart::BaseName, similar)),
            FileMatch::Directory { similar } => Self::Directory(wanted(PathPart::Whole, similar)),
            FileMatch::Glob => PathGlob::new(name).map_or(Self::Nothing, Self::Glob),
            FileMatch::DirectoryGlob => PathGlob::new(name).map_or(Self::Nothing, Self::DirectoryGlob),
        }
    }
}

/// A glob for paths. A glob without `/` is compared only with the last part of each path. The difference
/// between upper and lower case is ignored, as in names without wildcards.
pub(crate) struct PathGlob {
    glob: GlobMatcher,
    is_base_name: bool,
}

impl PathGlob {
    /// `None` if the glob is not valid.
    fn new(name: &str) -> Option<Self> {
        let glob = GlobBuilder::new(name).literal_separator(true).case_insensitive(true).build().ok()?;
        Some(Self { glob: glob.compile_matcher(), is_base_name: !name.contains('/') })
    }

    fn score(&self, path: &str) -> Option<PathScore> {
        let base = path.rsplit('/').next().unwrap_or(path);
        self.glob.is_match(if self.is_base_name { base } else { path }).then_some(EXACT)
    }
}

impl RepositoryNames {
    /// The visible files or directories whose names match, in arbitrary order.
    pub(crate) fn files(&self, view: &View, requested: &RequestedFile) -> Result<Vec<FileHit>, DamagedLayer> {
        match requested {
            RequestedFile::Path(path) => self.scored_files(view, |_, _, entry| (entry.path == *path).then_some(EXACT)),
            RequestedFile::Name(wanted) => {
                self.scored_files(view, |layer, number, entry| wanted.score(&entry.path, layer.lower_path(number)))
            }
            RequestedFile::Directory(wanted) => {
                self.directories(view, |directory| wanted.score(directory, &directory.to_lowercase()))
            }
            RequestedFile::Glob(glob) => self.scored_files(view, |_, _, entry| glob.score(&entry.path)),
            RequestedFile::DirectoryGlob(glob) => self.directories(view, |directory| glob.score(directory)),
            RequestedFile::Nothing => Ok(Vec::new()),
        }
    }

    /// The visible files for which `score` returns a score.
    fn scored_files(
        &self,
        view: &View,
        score: impl Fn(&Layer, usize, &PathEntry) -> Option<PathScore>,
    ) -> Result<Vec<FileHit>, DamagedLayer> {
        let mut hits = Vec::new();
        for layer in &self.layers {
            for (number, entry) in layer.header.paths.iter().enumerate().filter(|(_, entry)| entry.is_file) {
                let Some(score) = score(layer, number, entry) else { continue };
                if self.sees(view, entry) {
                    hits.push(hit(layer.repository(), &entry.path, score)?);
                }
            }
        }
        Ok(hits)
    }

    /// The directories of visible files for which `score` returns a score.
    fn directories(
        &self,
        view: &View,
        score: impl Fn(&str) -> Option<PathScore>,
    ) -> Result<Vec<FileHit>, DamagedLayer> {
        // Each directory is compared only once, even if several files are below it.
        let mut known: BTreeMap<&str, Option<PathScore>> = BTreeMap::new();
        let mut visible: BTreeMap<&str, (RepositoryId, PathScore)> = BTreeMap::new();
        for layer in &self.layers {
            for entry in layer.header.paths.iter().filter(|entry| entry.is_file) {
                for (end, _) in entry.path.match_indices('/') {
                    let directory = &entry.path[..end];
                    let score = *known.entry(directory).or_insert_with(|| score(directory));
                    let Some(score) = score else { continue };
                    if !visible.contains_key(directory) && self.sees(view, entry) {
                        visible.insert(directory, (layer.repository(), score));
                    }
                }
            }
        }
        visible.into_iter().map(|(path, (repository, score))| hit(repository, path, score)).collect()
    }
}

fn hit(repository: RepositoryId, path: &str, PathScore { score, rank }: PathScore) -> Result<FileHit, DamagedLayer> {
    let path = RepoPath::parse(path).map_err(|_| DamagedLayer("a path is not valid"))?;
    Ok(FileHit { repository, path, score, rank })
}
