//! All that the files of a repository can find in each other, asked by key.

use std::sync::{Arc, Mutex, PoisonError};

use cairn_domain::{PackageManifest, RepoPath, RepositoryId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::entries::{Item, manifests_key};
use crate::names::{Space, key};
use crate::packages::Packages;
use crate::places::Finding;
use crate::questions::{Asked, Question};
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
    packages: Packages<'a>,
    /// What the files contribute that both states of a change share.
    table: Arc<Table>,
    /// All entries of the keys under which the files of this state only contribute.
    overlay: FxHashMap<u64, Vec<Entry>>,
    /// Answers over many entries that are the same whoever asks.
    shared: Mutex<FxHashMap<Question, Finding>>,
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
        let packages = Packages::new(state.packages);
        Self { repository, files, path_names, packages, table, overlay, shared: Mutex::default() }
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
        let count = keys[first..].partition_point(|other| *other == key);
        &self.entries[start + first..start + first + count]
    }
}

/// The environment as one file asks it: every key that is asked is written down, but for those under which only the
/// file itself can be found.
#[derive(Debug)]
pub(crate) struct Lookup<'e> {
    environment: &'e Environment<'e>,
    own: FileId,
    asked: Asked,
    /// Steps that may still be spent on the reference at hand, so that no web of re-exports takes long.
    fuel: u32,
    /// Entries that the file may still look at.
    work: u64,
    /// Answers to what the file asks again and again.
    remembered: FxHashMap<Question, Finding>,
}

/// Steps for one reference.
const FUEL: u32 = 300;

/// Entries and steps for one file, a hundred times what large files take. A file that is made to take more finds nothing
/// any more, at the same place on every machine.
const WORK: u64 = 50_000_000;

/// Answers over fewer entries are found again as fast as they are remembered.
const MANY_ENTRIES: usize = 16;

impl<'e> Lookup<'e> {
    pub(crate) fn new(environment: &'e Environment<'e>, own: FileId) -> Self {
        let (asked, remembered) = (Asked::default(), FxHashMap::default());
        Self { environment, own, asked, fuel: FUEL, work: WORK, remembered }
    }

    /// The keys that were asked, sorted, each once.
    pub(crate) fn into_asked(self) -> Vec<u64> {
        self.asked.into_keys()
    }

    /// What is found under a key that starts with the path of a file: nothing of any other file.
    fn ask_within(&mut self, file: FileId, space: Space, container: Name, name: Name) -> &'e [Entry] {
        let key = key(space, [self.path_name(file), container, name]);
        if file == self.own { self.environment.at(key) } else { self.ask(key) }
    }

    fn ask(&mut self, key: u64) -> &'e [Entry] {
        self.asked.add(key);
        self.environment.at(key)
    }

    /// Begins with a reference.
    pub(crate) fn refuel(&mut self) {
        self.fuel = FUEL;
    }

    /// False when the reference has used up its steps.
    pub(crate) fn spend(&mut self) -> bool {
        self.fuel = self.fuel.saturating_sub(1);
        self.work = self.work.saturating_sub(1);
        self.has_fuel()
    }

    pub(crate) fn has_fuel(&self) -> bool {
        self.fuel > 0 && self.work > 0
    }

    /// Whether the file may look at so many entries more.
    pub(crate) fn afford(&mut self, num_entries: usize) -> bool {
        self.work = self.work.saturating_sub(num_entries as u64);
        self.work > 0
    }

    /// The answer to a question, found once. What a reference found that had used up its steps is not the whole answer.
    pub(crate) fn remembered(&mut self, question: Question, find: impl FnOnce(&mut Self) -> Finding) -> Finding {
        if let Some(found) = self.remembered.get(&question).copied() {
            self.spend();
            return found;
        }
        let found = find(self);
        if self.has_fuel() {
            self.remembered.insert(question, found);
        }
        found
    }

    /// The same for an answer out of so many entries.
    pub(crate) fn remembered_if_long(
        &mut self,
        question: Question,
        num_entries: usize,
        find: impl FnOnce(&mut Self) -> Finding,
    ) -> Finding {
        if num_entries <= MANY_ENTRIES { find(self) } else { self.remembered(question, find) }
    }

    /// The answer to a question that does not depend on who asks, out of so many entries: found once for all files, at
    /// no cost to the one that comes first, so that what a file may still look at does not depend on their order.
    pub(crate) fn shared(
        &mut self,
        question: Question,
        num_entries: usize,
        find: impl FnOnce(&mut Self) -> Finding,
    ) -> Finding {
        if num_entries <= MANY_ENTRIES {
            return find(self);
        }
        if !self.afford(1) {
            return Finding::Nothing;
        }
        let shared = &self.environment.shared;
        if let Some(found) = shared.lock().unwrap_or_else(PoisonError::into_inner).get(&question).copied() {
            return found;
        }
        let (fuel, work) = (self.fuel, self.work);
        (self.fuel, self.work) = (u32::MAX, u64::MAX);
        let found = find(self);
        (self.fuel, self.work) = (fuel, work);
        shared.lock().unwrap_or_else(PoisonError::into_inner).insert(question, found);
        found
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
        self.ask(key(Space::Suffix, [Name::of_family(family), suffix, Name::EMPTY])).iter().map(|(file, _)| *file)
    }

    pub(crate) fn members(&mut self, file: FileId, container: Name, name: Name) -> Definitions<'e> {
        Definitions(self.ask_within(file, Space::Member, container, name))
    }

    /// Definitions of a name in a container of that full name, in any file.
    pub(crate) fn methods(&mut self, family: Family, holder: Name, name: Name) -> Definitions<'e> {
        Definitions(self.ask(key(Space::Method, [Name::of_family(family), holder, name])))
    }

    /// Types of a full name, in any file.
    pub(crate) fn types(&mut self, family: Family, full: Name) -> Definitions<'e> {
        Definitions(self.ask(key(Space::Type, [Name::of_family(family), full, Name::EMPTY])))
    }

    /// Definitions of a name anywhere that are not local to a function.
    pub(crate) fn named(&mut self, family: Family, name: Name) -> Definitions<'e> {
        Definitions(self.ask(key(Space::Named, [Name::of_family(family), name, Name::EMPTY])))
    }

    pub(crate) fn package_members(&mut self, family: Family, namespace: Name, name: Name) -> Definitions<'e> {
        Definitions(self.ask(key(Space::PackageMember, [Name::of_family(family), namespace, name])))
    }

    /// Files of a package, and files that declare it as a namespace.
    pub(crate) fn package_files(
        &mut self,
        family: Family,
        namespace: Name,
    ) -> impl ExactSizeIterator<Item = FileId> + 'e {
        self.ask(key(Space::Package, [Name::of_family(family), namespace, Name::EMPTY])).iter().map(|(file, _)| *file)
    }

    pub(crate) fn bindings(
        &mut self,
        file: FileId,
        container: Name,
        local: Name,
    ) -> impl Iterator<Item = &'e ImportFact> + 'e {
        imports(self.environment, self.ask_within(file, Space::Binding, container, local))
    }

    /// With their index among the imports of the file.
    pub(crate) fn wildcards(
        &mut self,
        file: FileId,
        container: Name,
    ) -> impl Iterator<Item = (u32, &'e ImportFact)> + 'e {
        let imports = &self.environment.files[file as usize].imports;
        let entries = self.ask_within(file, Space::Wildcard, container, Name::EMPTY);
        entries.iter().filter_map(|(_, item)| match item {
            Item::Import(index) => Some((*index, &imports[*index as usize])),
            _ => None,
        })
    }

    pub(crate) fn fields(
        &mut self,
        family: Family,
        class: Name,
        name: Name,
    ) -> impl Iterator<Item = (FileId, &'e FieldType)> + 'e {
        let files = &self.environment.files;
        self.ask(key(Space::Field, [Name::of_family(family), class, name])).iter().filter_map(|(file, item)| match item
        {
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

    /// The packages of the repository, of which those of one ecosystem are going to be asked.
    pub(crate) fn packages(&mut self, ecosystem: &'static str) -> &'e Packages<'e> {
        self.asked.add(manifests_key(ecosystem));
        &self.environment.packages
    }

    pub(crate) fn bases(&self, file: FileId, class: u32) -> &'e [Base] {
        self.environment.files[file as usize].bases_of(class)
    }
}

/// The definitions under one key, sorted by file and position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Definitions<'e>(&'e [Entry]);

impl<'e> Definitions<'e> {
    pub(crate) fn len(self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = (FileId, u32)> + 'e {
        self.0.iter().filter_map(|(file, item)| match item {
            Item::Definition(index) => Some((*file, *index)),
            _ => None,
        })
    }

    pub(crate) fn to_vec(self) -> Vec<(FileId, u32)> {
        self.iter().collect()
    }

    /// Those of one file.
    pub(crate) fn of_file(self, file: FileId) -> Self {
        let start = self.0.partition_point(|(other, _)| *other < file);
        let end = self.0.partition_point(|(other, _)| *other <= file);
        Self(&self.0[start..end])
    }
}

fn imports<'e>(environment: &'e Environment<'e>, entries: &'e [Entry]) -> impl Iterator<Item = &'e ImportFact> + 'e {
    entries.iter().filter_map(|(file, item)| match item {
        Item::Import(index) => Some(&environment.files[*file as usize].imports[*index as usize]),
        _ => None,
    })
}
