//! The environment: all items that files of a repository can find in other files, looked up by key.

use std::sync::{Arc, Mutex};

use cairn_domain::{PackageManifest, RepoPath, RepositoryId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::contribution::{Contribution, Item};
use crate::names::{FileId, Name};
use crate::packages::Packages;
use crate::queries::LinkQuery;
use crate::referents::Finding;

/// An item and the file that contains it.
pub(crate) type Entry = (FileId, Item);

/// A multimap from keys to the entries of all files. The environment is immutable and `Sync`, so files can be
/// linked in parallel.
#[derive(Debug)]
pub struct Environment<'a> {
    repository: RepositoryId,
    pub(crate) files: Vec<&'a Contribution>,
    pub(crate) path_names: Arc<Vec<Name>>,
    pub(crate) packages: Packages<'a>,
    /// The entries of the files that both states of a change contain.
    table: Arc<Table>,
    /// The keys under which at least one file has an entry in this state only. Each key has all its entries,
    /// including the entries of shared files.
    overlay: FxHashMap<u64, Vec<Entry>>,
    /// Results that are computed from many entries and are the same for every file.
    pub(crate) shared: Mutex<FxHashMap<LinkQuery, Finding>>,
}

/// The files of one state that differ from the other state, and the packages. `files` are the files that the
/// other state does not contain, or for which the other state has a different contribution. `packages` are
/// all packages of this state.
#[derive(Clone, Copy, Debug)]
pub struct State<'a> {
    pub files: &'a [Contribution],
    pub packages: &'a [PackageManifest],
}

impl<'a> Environment<'a> {
    /// Builds the environment from the contributions of all files and the declared packages. The order of the
    /// contributions and packages does not matter.
    pub fn build(
        repository: RepositoryId,
        files: impl IntoIterator<Item = &'a Contribution>,
        packages: &'a [PackageManifest],
    ) -> Self {
        let state = State { files: &[], packages };
        let [environment, _] = Self::of_states(repository, files, [state, State { files: &[], packages: &[] }]);
        environment
    }

    /// Builds the environments of two states that share most files. The entries of the shared files are
    /// sorted only once.
    pub fn of_states(
        repository: RepositoryId,
        shared: impl IntoIterator<Item = &'a Contribution>,
        states: [State<'a>; 2],
    ) -> [Self; 2] {
        let mut files: Vec<&Contribution> = shared.into_iter().collect();
        let shared_paths: FxHashSet<&RepoPath> = files.iter().map(|file| &file.path).collect();
        let mut own_paths = FxHashSet::default();
        for file in states.iter().flat_map(|state| state.files).filter(|file| !shared_paths.contains(&file.path)) {
            if own_paths.insert(&file.path) {
                files.push(file);
            }
        }
        files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let shared = (0..).zip(&files).filter(|(_, file)| !own_paths.contains(&file.path));
        let table = Arc::new(Table::build(shared.map(|(id, file)| (id, file.entries.as_slice()))));
        let path_names = Arc::new(files.iter().map(|file| Name::of(file.path.as_str())).collect());
        states
            .map(|state| Self::of_state(repository, files.clone(), Arc::clone(&path_names), Arc::clone(&table), state))
    }

    /// `files` contains the files of both states. If the state has a different version of a file, the version
    /// of the state replaces the other version. Files that exist only in the other state remain in `files`,
    /// but no entry of this environment refers to them.
    fn of_state(
        repository: RepositoryId,
        mut files: Vec<&'a Contribution>,
        path_names: Arc<Vec<Name>>,
        table: Arc<Table>,
        state: State<'a>,
    ) -> Self {
        let mut overlay: FxHashMap<u64, Vec<Entry>> = FxHashMap::default();
        for file in state.files {
            let Ok(index) = files.binary_search_by(|other| other.path.cmp(&file.path)) else { continue };
            files[index] = file;
            for (key, item) in &file.entries {
                overlay.entry(*key).or_insert_with(|| table.at(*key).to_vec()).push((index as FileId, *item));
            }
        }
        overlay.values_mut().for_each(|entries| entries.sort_unstable());
        let packages = Packages::new(state.packages);
        Self { repository, files, path_names, packages, table, overlay, shared: Mutex::default() }
    }

    pub(crate) fn repository(&self) -> RepositoryId {
        self.repository
    }

    /// The index of a file in the environment.
    pub(crate) fn position(&self, path: &RepoPath) -> Option<FileId> {
        self.files.binary_search_by(|file| file.path.cmp(path)).ok().map(|index| index as FileId)
    }

    pub(crate) fn at(&self, key: u64) -> &[Entry] {
        if let Some(entries) = self.overlay.get(&key) {
            return entries;
        }
        self.table.at(key)
    }
}

/// Entries in buckets. The first bits of the key of an entry select its bucket, and the entries of a bucket
/// are sorted. The keys are well mixed, so the buckets have similar sizes.
#[derive(Debug)]
struct Table {
    /// The number of key bits after the bits that select the bucket.
    shift: u32,
    /// The start of each bucket, and the end of the last bucket.
    starts: Vec<u32>,
    keys: Vec<u64>,
    entries: Vec<Entry>,
}

/// The average number of entries in a bucket.
const BUCKET_ENTRIES: usize = 8;

impl Table {
    fn build<'c>(files: impl Iterator<Item = (FileId, &'c [(u64, Item)])> + Clone) -> Self {
        let num_entries: usize = files.clone().map(|(_, entries)| entries.len()).sum();
        let bits = (num_entries / BUCKET_ENTRIES).max(2).next_power_of_two().trailing_zeros();
        let shift = u64::BITS - bits;
        let mut starts = vec![0_u32; (1 << bits) + 1];
        for (key, _) in files.clone().flat_map(|(_, entries)| entries) {
            starts[(key >> shift) as usize + 1] += 1;
        }
        for bucket in 1..starts.len() {
            starts[bucket] += starts[bucket - 1];
        }
        let mut next = starts.clone();
        let mut sorted = vec![(0, 0, Item::File); num_entries];
        for (id, entries) in files {
            for (key, item) in entries {
                let place = &mut next[(key >> shift) as usize];
                sorted[*place as usize] = (*key, id, *item);
                *place += 1;
            }
        }
        for bucket in starts.windows(2) {
            sorted[bucket[0] as usize..bucket[1] as usize].sort_unstable();
        }
        let keys = sorted.iter().map(|(key, ..)| *key).collect();
        Self { shift, starts, keys, entries: sorted.into_iter().map(|(_, id, item)| (id, item)).collect() }
    }

    fn at(&self, key: u64) -> &[Entry] {
        let bucket = (key >> self.shift) as usize;
        let (start, end) = (self.starts[bucket] as usize, self.starts[bucket + 1] as usize);
        let keys = &self.keys[start..end];
        let first = keys.partition_point(|other| *other < key);
        let count = keys[first..].partition_point(|other| *other == key);
        &self.entries[start + first..start + first + count]
    }
}
