//! Estimates the size of a working tree without reading its files.

use std::path::{Path, PathBuf};

use crate::objects::repository::open_repository;

/// A working tree, and the number and size of its tracked files according to git's index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkTreeSize {
    pub root: PathBuf,
    pub num_files: u64,
    pub size_bytes: u64,
}

/// The working tree that contains this directory. `None` if the directory is not in a working tree, or if its
/// repository cannot be read. The sizes come from git's index, so untracked files are not counted.
pub fn work_tree_around(directory: &Path) -> Option<WorkTreeSize> {
    let root = directory.ancestors().find(|directory| directory.join(".git").exists())?;
    let repository = open_repository(root).ok()?;
    if repository.is_bare() {
        return None;
    }
    let index = repository.index().ok()?;
    let size_bytes = index.iter().map(|entry| u64::from(entry.file_size)).sum();
    Some(WorkTreeSize { root: root.to_owned(), num_files: index.len() as u64, size_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracked_files_are_counted_from_any_directory_of_the_tree() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path().canonicalize().expect("a path");
        assert_eq!(work_tree_around(&root), None);
        let repository = git2::Repository::init(&root).expect("a repository");
        std::fs::create_dir_all(root.join("src/deep")).expect("created");
        std::fs::write(root.join("src/a.py"), "x = 1\n").expect("written");
        std::fs::write(root.join("src/untracked.py"), "x = 1\n").expect("written");
        let mut index = repository.index().expect("an index");
        index.add_path(Path::new("src/a.py")).and_then(|()| index.write()).expect("added");
        let expect = WorkTreeSize { root: root.clone(), num_files: 1, size_bytes: 6 };
        assert_eq!(work_tree_around(&root.join("src/deep")), Some(expect.clone()));
        assert_eq!(work_tree_around(&root), Some(expect));
    }
}
