//! Counts the files that an index run of a tree on disk would list. Their contents are not read.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cairn_domain::Source;
use cairn_ports::{ErrorKind, ListedSoFar, ListingLimit, SourceError};

use crate::disk::{count_directory, count_work_tree};
use crate::locate::has_git;
use crate::objects::repository::OpenRepository;
use crate::settings::Limits;

/// The number and the size of the files in a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TreeSize {
    pub num_files: u64,
    pub size_bytes: u64,
    /// False if counting ended because a limit was exceeded. The tree then has more files than counted, or is
    /// larger.
    pub is_complete: bool,
}

/// The root of the working tree that contains this directory. `None` if the directory is not in a working
/// tree.
pub fn work_tree_root(directory: &Path) -> Option<PathBuf> {
    // As in git, an empty `.git` in a directory does not separate this directory from the tree around it.
    let around = directory.ancestors().find(|directory| is_repository(directory));
    let root = around.or_else(|| has_git(directory).then_some(directory))?;
    // An index run lists the tree even if its repository cannot be opened.
    let is_tree = OpenRepository::open(root).map_or(true, |repository| !repository.is_bare());
    is_tree.then(|| root.to_owned())
}

/// Whether the directory contains a file `.git` or a directory `.git` with a `HEAD`.
fn is_repository(directory: &Path) -> bool {
    let git = directory.join(".git");
    git.is_file() || fs::symlink_metadata(git.join("HEAD")).is_ok()
}

/// Counts the files of a working tree or a plain directory. Counting ends when a maximum is exceeded, so its
/// cost is limited. Returns `None` for other sources. Files that cannot be listed are not counted; an index
/// run reports them.
pub fn tree_size(source: &Source, limits: &Limits, max_files: u64, max_bytes: u64) -> Option<TreeSize> {
    let seen = Arc::new(Mutex::new(ListedSoFar::default()));
    let counted = Arc::clone(&seen);
    let limit = ListingLimit::new(move |listed| {
        *counted.lock().unwrap_or_else(PoisonError::into_inner) = listed;
        let is_within = listed.num_paths <= max_files && listed.size_bytes <= max_bytes;
        if is_within { Ok(()) } else { Err(SourceError::new(ErrorKind::TooLarge, "count", "tree")) }
    });
    // An error other than the limit is ignored here: the index run fails with the same error and reports it.
    let _ = match source {
        Source::WorkTree { path } => count_work_tree(path, &limit, limits),
        Source::Directory { path } => count_directory(path, &limit, limits),
        Source::Bare { .. } | Source::Url { .. } => return None,
    };
    let listed = *seen.lock().unwrap_or_else(PoisonError::into_inner);
    let is_complete = listed.num_paths <= max_files && listed.size_bytes <= max_bytes;
    Some(TreeSize { num_files: listed.num_paths, size_bytes: listed.size_bytes, is_complete })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(source: &Source, max_files: u64, max_bytes: u64) -> (u64, u64, bool) {
        let size = tree_size(source, &Limits::default(), max_files, max_bytes).expect("a size");
        (size.num_files, size.size_bytes, size.is_complete)
    }

    #[test]
    fn root_is_found_from_any_directory_of_the_tree() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path().canonicalize().expect("a path");
        assert_eq!(work_tree_root(&root), None);
        git2::Repository::init(&root).expect("a repository");
        fs::create_dir_all(root.join("src/deep")).expect("created");
        assert_eq!(work_tree_root(&root.join("src/deep")), Some(root.clone()));
        assert_eq!(work_tree_root(&root), Some(root));
    }

    #[test]
    fn empty_git_directory_inside_a_work_tree_is_ignored() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path().canonicalize().expect("a path");
        fs::create_dir_all(root.join("mounted/.git")).expect("created");
        fs::create_dir_all(root.join("mounted/src")).expect("created");
        assert_eq!(work_tree_root(&root.join("mounted/src")), None, "no repository is there");
        assert_eq!(work_tree_root(&root.join("mounted")), Some(root.join("mounted")));
        git2::Repository::init(&root).expect("a repository");
        assert_eq!(work_tree_root(&root.join("mounted/src")), Some(root.clone()));
        assert_eq!(work_tree_root(&root.join("mounted")), Some(root));
    }

    #[test]
    fn tracked_and_untracked_files_are_counted_up_to_the_maximum() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path();
        let repository = git2::Repository::init(root).expect("a repository");
        fs::create_dir_all(root.join("src")).expect("created");
        for (name, text) in
            [(".gitignore", "*.log\n"), ("src/a.py", "x = 1\n"), ("src/b.py", "y = 1\n"), ("c.log", "text")]
        {
            fs::write(root.join(name), text).expect("written");
        }
        let path = root.display().to_string();
        let tree = Source::WorkTree { path: path.clone() };
        assert_eq!(size(&tree, 10, 1_000), (3, 18, true), "without any tracked file");
        let mut index = repository.index().expect("an index");
        index.add_path(Path::new("src/a.py")).and_then(|()| index.write()).expect("added");
        assert_eq!(size(&tree, 3, 18), (3, 18, true));
        assert!(!size(&tree, 2, 1_000).2, "too many files");
        assert!(!size(&tree, 10, 17).2, "too many bytes");
        fs::remove_dir_all(root.join(".git")).expect("removed");
        assert_eq!(size(&Source::Directory { path }, 10, 1_000), (4, 22, true), "a plain directory");
    }

    #[test]
    fn counting_stops_at_the_maximum() {
        let directory = tempfile::tempdir().expect("a directory");
        git2::Repository::init(directory.path()).expect("a repository");
        for number in 0..50 {
            fs::write(directory.path().join(format!("{number}.txt")), "text").expect("written");
        }
        let tree = Source::WorkTree { path: directory.path().display().to_string() };
        assert_eq!(size(&tree, 5, 1_000), (6, 24, false));
    }
}
