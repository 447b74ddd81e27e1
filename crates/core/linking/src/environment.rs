//! All that the files of a repository can find in each other, asked by key.

use std::sync::Arc;

use cairn_domain::{PackageManifest, RepoPath, RepositoryId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::entries::{Item, manifests_key};
use crate::names::{Space, key};
use crate::{Base, Contribution, Definition, Family, FieldType, ImportFact, Name};

/// Index of a file among those of the environment, which are sorted by path.
pub(crate) type FileId = u32;

type Entry = (FileId, Item);

/// A multimap from keys to what the files contribute under them. Immutable and `Sync`: files are linked against it
/// independently of each other.
#[derive(Debug)]
pub struct Environment<'a> {
    repository: RepositoryId,
    files: Vec<&'a Contribution>,
    path_names: Arc<Vec<Name>>,
    packages: Vec<&'a PackageManifest>,
    /// What the files contribute that both states of a change share.
    table: Arc<Table>,
    /// All entries of the keys under which the files of this state only contribute.
    overlay: FxHashMap<u64, Vec<Entry>>,
}

/// The files of one state that the other has not, or has with other contributions, and the packages of that state.
#[derive(Clone, Copy, Debug)]
pub struct State<'a> {
    pub files: &'a [Contribution],
    pub packages: &'a [PackageManifest],
}

impl<'a> Environment<'a> {
    /// From the contributions of all files and the packages that the repository declares, in any order.
    pub fn build(
        repository: RepositoryId,
        files: impl IntoIterator<Item = &'a Contribution>,
        packages: &'a [PackageManifest],
    ) -> Self {
        let state = State { files: &[], packages };
        let [environment, _] = Self::of_states(repository, files, [state, State { files: &[], packages: &[] }]);
        environment
    }

    /// Two states of a repository that share most files: what they share is sorted once.
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

    /// `files` holds the shared ones; at the places of the others stands that of either state, which no entry names
    /// unless it is put right here.
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
        let mut packages: Vec<&PackageManifest> = state.packages.iter().collect();
        packages.sort_unstable();
        Self { repository, files, path_names, packages, table, overlay }
    }

    pub(crate) fn repository(&self) -> RepositoryId {
        self.repository
    }

    /// Where a file stands among those of the environment.
    pub(crate) fn position(&self, path: &RepoPath) -> Option<FileId> {
        self.files.binary_search_by(|file| file.path.cmp(path)).ok().map(|index| index as FileId)
    }

    fn at(&self, key: u64) -> &[Entry] {
        if let Some(entries) = self.overlay.get(&key) {
            return entries;
        }
        self.table.at(key)
    }
}

/// Entries in buckets by the first bits of their keys, which are mixed well; sorted within a bucket.
#[derive(Debug)]
struct Table {
    /// Bits of a key behind those that name its bucket.
    shift: u32,
    /// Where each bucket starts, and the end of the last.
    starts: Vec<u32>,
    keys: Vec<u64>,
    entries: Vec<Entry>,
}

/// Entries of a bucket, on average.
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
        let count = keys[first..].iter().take_while(|other| **other == key).count();
        &self.entries[start + first..start + first + count]
    }
}

/// The environment as one file asks it: every key that is asked is written down, but for those under which only the
/// file itself can be found.
#[derive(Debug)]
pub(crate) struct Lookup<'e> {
    environment: &'e Environment<'e>,
    own: FileId,
    asked: Vec<u64>,
    /// Steps that may still be spent on the reference at hand, so that no web of re-exports takes long.
    pub(crate) fuel: u32,
}

/// Steps for one reference.
pub(crate) const FUEL: u32 = 300;

impl<'e> Lookup<'e> {
    pub(crate) fn new(environment: &'e Environment<'e>, own: FileId) -> Self {
        Self { environment, own, asked: Vec::new(), fuel: FUEL }
    }

    /// The keys that were asked, sorted, each once.
    pub(crate) fn into_asked(mut self) -> Vec<u64> {
        self.asked.sort_unstable();
        self.asked.dedup();
        self.asked
    }

    /// What is found under a key that starts with the path of a file: nothing of any other file.
    fn ask_within(&mut self, file: FileId, space: Space, container: Name, name: Name) -> &'e [Entry] {
        let key = key(space, [self.path_name(file), container, name]);
        if file == self.own { self.environment.at(key) } else { self.ask(key) }
    }

    fn ask(&mut self, key: u64) -> &'e [Entry] {
        self.asked.push(key);
        self.environment.at(key)
    }

    /// False when the reference has used up its steps.
    pub(crate) fn spend(&mut self) -> bool {
        self.fuel = self.fuel.saturating_sub(1);
        self.fuel > 0
    }

    /// What a file contributes. Only for files that an answer named: what is read must be covered by its digest.
    pub(crate) fn contribution(&self, file: FileId) -> &'e Contribution {
        self.environment.files[file as usize]
    }

    pub(crate) fn definition(&self, file: FileId, index: u32) -> &'e Definition {
        &self.environment.files[file as usize].definitions[index as usize]
    }

    pub(crate) fn path_name(&self, file: FileId) -> Name {
        self.environment.path_names[file as usize]
    }

    pub(crate) fn file(&mut self, path: Name) -> Option<FileId> {
        self.ask(key(Space::File, [path, Name::EMPTY, Name::EMPTY])).first().map(|(file, _)| *file)
    }

    pub(crate) fn file_at(&mut self, path: &str) -> Option<FileId> {
        self.file(Name::of(path))
    }

    /// Files whose importable path ends so.
    pub(crate) fn files_with_suffix(
        &mut self,
        family: Family,
        suffix: Name,
    ) -> impl ExactSizeIterator<Item = FileId> + Clone + 'e {
        self.ask(key(Space::Suffix, [family.name(), suffix, Name::EMPTY])).iter().map(|(file, _)| *file)
    }

    pub(crate) fn members(
        &mut self,
        file: FileId,
        container: Name,
        name: Name,
    ) -> impl Iterator<Item = (FileId, u32)> + 'e {
        definitions(self.ask_within(file, Space::Member, container, name))
    }

    /// Definitions of a name in containers of a name, in any file.
    pub(crate) fn methods(
        &mut self,
        family: Family,
        class: Name,
        name: Name,
    ) -> impl Iterator<Item = (FileId, u32)> + 'e {
        definitions(self.ask(key(Space::Method, [family.name(), class, name])))
    }

    /// Definitions of a name anywhere that are not local to a function.
    pub(crate) fn named(&mut self, family: Family, name: Name) -> impl Iterator<Item = (FileId, u32)> + 'e {
        definitions(self.ask(key(Space::Named, [family.name(), name, Name::EMPTY])))
    }

    pub(crate) fn package_members(
        &mut self,
        family: Family,
        namespace: Name,
        name: Name,
    ) -> impl Iterator<Item = (FileId, u32)> + 'e {
        definitions(self.ask(key(Space::PackageMember, [family.name(), namespace, name])))
    }

    /// Files of a package, and files that declare it as a namespace.
    pub(crate) fn package_files(
        &mut self,
        family: Family,
        namespace: Name,
    ) -> impl ExactSizeIterator<Item = FileId> + 'e {
        self.ask(key(Space::Package, [family.name(), namespace, Name::EMPTY])).iter().map(|(file, _)| *file)
    }

    pub(crate) fn bindings(
        &mut self,
        file: FileId,
        container: Name,
        local: Name,
    ) -> impl Iterator<Item = &'e ImportFact> + 'e {
        imports(self.environment, self.ask_within(file, Space::Binding, container, local))
    }

    pub(crate) fn wildcards(&mut self, file: FileId, container: Name) -> impl Iterator<Item = &'e ImportFact> + 'e {
        imports(self.environment, self.ask_within(file, Space::Wildcard, container, Name::EMPTY))
    }

    pub(crate) fn fields(
        &mut self,
        family: Family,
        class: Name,
        name: Name,
    ) -> impl Iterator<Item = (FileId, &'e FieldType)> + 'e {
        let files = &self.environment.files;
        self.ask(key(Space::Field, [family.name(), class, name])).iter().filter_map(|(file, item)| match item {
            Item::Field(index) => Some((*file, &files[*file as usize].fields[*index as usize])),
            _ => None,
        })
    }

    /// Variables at the top of a file whose type is evident.
    pub(crate) fn typed_variables(&mut self, file: FileId, name: Name) -> impl Iterator<Item = &'e FieldType> + 'e {
        let files = &self.environment.files;
        let key = key(Space::Field, [self.path_name(file), Name::EMPTY, name]);
        self.ask(key).iter().filter_map(|(file, item)| match item {
            Item::Field(index) => Some(&files[*file as usize].fields[*index as usize]),
            _ => None,
        })
    }

    pub(crate) fn packages(&mut self, ecosystem: &'static str) -> impl Iterator<Item = &'e PackageManifest> + 'e {
        self.asked.push(manifests_key(ecosystem));
        self.environment.packages.iter().copied().filter(move |package| package.ecosystem.as_str() == ecosystem)
    }

    pub(crate) fn bases(&self, file: FileId, class: u32) -> &'e [Base] {
        self.environment.files[file as usize].bases_of(class)
    }
}

fn definitions(entries: &[Entry]) -> impl Iterator<Item = (FileId, u32)> {
    entries.iter().filter_map(|(file, item)| match item {
        Item::Definition(index) => Some((*file, *index)),
        _ => None,
    })
}

fn imports<'e>(environment: &'e Environment<'e>, entries: &'e [Entry]) -> impl Iterator<Item = &'e ImportFact> + 'e {
    entries.iter().filter_map(|(file, item)| match item {
        Item::Import(index) => Some(&environment.files[*file as usize].imports[*index as usize]),
        _ => None,
    })
}
