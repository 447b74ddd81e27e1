//! Reads the environment for one file. The work for each file is limited.

use std::sync::PoisonError;

use rustc_hash::FxHashMap;

use crate::Family;
use crate::contribution::{Base, Contribution, Definition, FieldType, ImportFact, Item};
use crate::entries::manifests_key;
use crate::environment::{Entry, Environment};
use crate::names::{FileId, Name, Space, key};
use crate::packages::Packages;
use crate::queries::{LinkQuery, RequestedKeys};
use crate::referents::Finding;

/// Reads the environment for one file. Records every key that the file requests, except keys under which only
/// the file itself can be found.
#[derive(Debug)]
pub(crate) struct Lookup<'e> {
    environment: &'e Environment<'e>,
    own: FileId,
    asked: RequestedKeys,
    /// The remaining steps for the current reference. This limit bounds the time for a reference that leads
    /// into a large network of re-exports.
    fuel: u32,
    /// The number of entries that the file may still examine.
    work: u64,
    /// The results of queries that the file may repeat.
    remembered: FxHashMap<LinkQuery, Finding>,
}

/// The maximum number of steps for one reference.
const FUEL: u32 = 300;

/// The maximum number of entries and steps that the lookups of one file may use. Large files need about a
/// hundredth of this number. When a file has reached this limit, its remaining lookups find nothing. The
/// limit is reached at the same point on every machine.
const WORK: u64 = 50_000_000;

/// A result is remembered only if it was computed from more entries than this number. Other results can be
/// computed again as fast as they can be looked up.
const MANY_ENTRIES: usize = 16;

impl<'e> Lookup<'e> {
    pub(crate) fn new(environment: &'e Environment<'e>, own: FileId) -> Self {
        let (asked, remembered) = (RequestedKeys::default(), FxHashMap::default());
        Self { environment, own, asked, fuel: FUEL, work: WORK, remembered }
    }

    /// The requested keys, sorted and without duplicates.
    pub(crate) fn into_asked(self) -> Vec<u64> {
        self.asked.into_keys()
    }

    /// Returns the entries under a key that starts with the path of a file. All these entries belong to that
    /// file.
    fn ask_within(&mut self, file: FileId, space: Space, container: Name, name: Name) -> &'e [Entry] {
        let key = key(space, [self.path_name(file), container, name]);
        if file == self.own { self.environment.at(key) } else { self.ask(key) }
    }

    fn ask(&mut self, key: u64) -> &'e [Entry] {
        self.asked.add(key);
        self.environment.at(key)
    }

    /// Resets the number of steps, for the next reference.
    pub(crate) fn refuel(&mut self) {
        self.fuel = FUEL;
    }

    /// Takes one step. Returns false if the limit of the reference or of the file is reached.
    pub(crate) fn spend(&mut self) -> bool {
        self.fuel = self.fuel.saturating_sub(1);
        self.work = self.work.saturating_sub(1);
        self.has_fuel()
    }

    pub(crate) fn has_fuel(&self) -> bool {
        self.fuel > 0 && self.work > 0
    }

    /// Subtracts this number of entries from the number that the file may still examine. Returns false if no
    /// entries remain.
    pub(crate) fn afford(&mut self, num_entries: usize) -> bool {
        self.work = self.work.saturating_sub(num_entries as u64);
        self.work > 0
    }

    /// Returns the result of a query, which is computed only once. If the reference has no steps left, the
    /// result may be incomplete, so it is not remembered.
    pub(crate) fn remembered(&mut self, query: LinkQuery, find: impl FnOnce(&mut Self) -> Finding) -> Finding {
        if let Some(found) = self.remembered.get(&query).copied() {
            self.spend();
            return found;
        }
        let found = find(self);
        if self.has_fuel() {
            self.remembered.insert(query, found);
        }
        found
    }

    /// Like `remembered`, but remembers a result only if it is computed from many entries.
    pub(crate) fn remembered_if_long(
        &mut self,
        query: LinkQuery,
        num_entries: usize,
        find: impl FnOnce(&mut Self) -> Finding,
    ) -> Finding {
        if num_entries <= MANY_ENTRIES { find(self) } else { self.remembered(query, find) }
    }

    /// Returns the result of a query that examines `num_entries` entries. The result does not depend on the
    /// requesting file, so the result is computed once for all files. The computation is not counted as work
    /// of the file that requests it first. Therefore the remaining work of a file does not depend on the
    /// order of the files.
    pub(crate) fn shared(
        &mut self,
        query: LinkQuery,
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
        if let Some(found) = shared.lock().unwrap_or_else(PoisonError::into_inner).get(&query).copied() {
            return found;
        }
        let (fuel, work) = (self.fuel, self.work);
        (self.fuel, self.work) = (u32::MAX, u64::MAX);
        let found = find(self);
        (self.fuel, self.work) = (fuel, work);
        shared.lock().unwrap_or_else(PoisonError::into_inner).insert(query, found);
        found
    }

    /// The contribution of a file. Call this function only for files that a lookup returned. The digests of
    /// the returned entries change if these files change, so the requesting file is then linked again. A
    /// change in any other file would not be noticed.
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

    /// The files whose importable path ends with this suffix.
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

    /// The definitions of a name in containers with this full name, in any file.
    pub(crate) fn methods(&mut self, family: Family, holder: Name, name: Name) -> Definitions<'e> {
        Definitions(self.ask(key(Space::Method, [Name::of_family(family), holder, name])))
    }

    /// The types with this full name, in any file.
    pub(crate) fn types(&mut self, family: Family, full: Name) -> Definitions<'e> {
        Definitions(self.ask(key(Space::Type, [Name::of_family(family), full, Name::EMPTY])))
    }

    /// The definitions of a name in any file, except definitions that are local to a function.
    pub(crate) fn named(&mut self, family: Family, name: Name) -> Definitions<'e> {
        Definitions(self.ask(key(Space::Named, [Name::of_family(family), name, Name::EMPTY])))
    }

    pub(crate) fn package_members(&mut self, family: Family, namespace: Name, name: Name) -> Definitions<'e> {
        Definitions(self.ask(key(Space::PackageMember, [Name::of_family(family), namespace, name])))
    }

    /// The files of a package, and the files that declare the package as a namespace.
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

    /// The wildcard imports of a container, each with its index among the imports of the file.
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

    /// The top-level variables of a file that have this name and an evident type.
    pub(crate) fn typed_variables(&mut self, file: FileId, name: Name) -> impl Iterator<Item = &'e FieldType> + 'e {
        let files = &self.environment.files;
        let key = key(Space::Field, [self.path_name(file), Name::EMPTY, name]);
        self.ask(key).iter().filter_map(|(file, item)| match item {
            Item::Field(index) => Some(&files[*file as usize].fields[*index as usize]),
            _ => None,
        })
    }

    /// The packages of the repository. Only the request for the packages of this ecosystem is recorded, so
    /// the caller may look up only these packages.
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

    /// The definitions in one file.
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
