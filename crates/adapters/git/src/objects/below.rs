//! The numbers of paths and directories below a tree object.

/// The numbers of paths and directories below a tree, at all levels. The paths are relative to this tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Below {
    pub(crate) num_paths: u64,
    /// Sum of the lengths of these paths, and of the paths of filled directories.
    pub(crate) path_bytes: u64,
    /// Directories that contain at least one path. Only these directories are entered.
    pub(super) num_filled_directories: u64,
    pub(crate) num_directories: u64,
    /// Sum of the lengths of the paths of all directories.
    pub(crate) directory_bytes: u64,
}

impl Below {
    /// A directory that is listed as one path.
    pub(super) const ONE_PATH: Below =
        Below { num_paths: 1, path_bytes: 0, num_filled_directories: 0, num_directories: 0, directory_bytes: 0 };

    pub(super) fn add_path(&mut self, name: &[u8]) {
        self.num_paths = self.num_paths.saturating_add(1);
        self.path_bytes = self.path_bytes.saturating_add(name.len() as u64);
    }

    /// Adds a directory to the counts, with the paths and directories below it.
    pub(super) fn add_directory(&mut self, name: &[u8], below: Below) {
        let name_bytes = name.len() as u64;
        // Each path below the directory begins with the name of the directory and a slash.
        let added = |bytes: u64, num: u64| bytes.saturating_add(num.saturating_mul(name_bytes + 1));
        self.num_directories = self.num_directories.saturating_add(below.num_directories).saturating_add(1);
        let directory_bytes = added(below.directory_bytes, below.num_directories).saturating_add(name_bytes);
        self.directory_bytes = self.directory_bytes.saturating_add(directory_bytes);
        if below.num_paths == 0 {
            return;
        }
        self.num_paths = self.num_paths.saturating_add(below.num_paths);
        self.num_filled_directories =
            self.num_filled_directories.saturating_add(below.num_filled_directories).saturating_add(1);
        let num_longer = below.num_paths.saturating_add(below.num_filled_directories);
        let path_bytes = added(below.path_bytes, num_longer).saturating_add(name_bytes);
        self.path_bytes = self.path_bytes.saturating_add(path_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_paths_are_added() {
        // `a`, `de/bcd` and `de/f/a`; `de`, `de/f` and `de/f/empty` are directories.
        let mut inner = Below::default();
        inner.add_path(b"a");
        inner.add_directory(b"empty", Below::default());
        let mut middle = Below::default();
        middle.add_path(b"bcd");
        middle.add_directory(b"f", inner);
        let mut root = Below::default();
        root.add_path(b"a");
        root.add_directory(b"de", middle);
        let path_bytes = ["a", "de/bcd", "de/f/a", "de", "de/f"].map(str::len).iter().sum::<usize>() as u64;
        let directory_bytes = ["de", "de/f", "de/f/empty"].map(str::len).iter().sum::<usize>() as u64;
        let expected =
            Below { num_paths: 3, path_bytes, num_filled_directories: 2, num_directories: 3, directory_bytes };
        assert_eq!(root, expected);
    }

    #[test]
    fn huge_numbers_do_not_overflow() {
        let mut below = Below::ONE_PATH;
        for _ in 0..100 {
            let mut above = Below::default();
            above.add_directory(b"left", below);
            above.add_directory(b"right", below);
            below = above;
        }
        assert_eq!((below.num_paths, below.path_bytes, below.directory_bytes), (u64::MAX, u64::MAX, u64::MAX));
    }
}
