//! All that the files of a repository can find in each other, asked by key.

use cairn_domain::RepositoryId;
use rustc_hash::FxHashMap;

use crate::entries::{Item, each_entry, manifests_key};
use crate::names::{Space, key};
use crate::{Base, Contribution, Definition, Family, FieldType, ImportFact, Name, PackageManifest};

/// Index of a file among those of the environment, which are sorted by path.
pub(crate) type FileId = u32;

type Entry = (FileId, Item);

/// A multimap from keys to what the files contribute under them. Immutable and `Sync`: files are linked against it
/// independently of each other.
#[derive(Debug)]
pub struct Environment<'a> {
    repository: RepositoryId,
    files: Vec<&'a Contribution>,
    path_names: Vec<Name>,
    packages: Vec<&'a PackageManifest>,
    entries: Vec<Entry>,
    ranges: FxHashMap<u64, (u32, u32)>,
}

impl<'a> Environment<'a> {
    /// From the contributions of all files and the packages that the repository declares, in any order.
    pub fn build(
        repository: RepositoryId,
        files: impl IntoIterator<Item = &'a Contribution>,
        packages: impl IntoIterator<Item = &'a PackageManifest>,
    ) -> Self {
        let mut files: Vec<&Contribution> = files.into_iter().collect();
        files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let mut packages: Vec<&PackageManifest> = packages.into_iter().collect();
        packages.sort_unstable();
        let mut keyed: Vec<(u64, FileId, Item)> = Vec::new();
        for (id, file) in files.iter().enumerate() {
            each_entry(file, |key, item| keyed.push((key, id as FileId, item)));
        }
        keyed.sort_unstable();
        let mut ranges = FxHashMap::default();
        let mut start = 0;
        for run in keyed.chunk_by(|a, b| a.0 == b.0) {
            ranges.insert(run[0].0, (start, start + run.len() as u32));
            start += run.len() as u32;
        }
        let path_names = files.iter().map(|file| Name::of(file.path.as_str())).collect();
        let entries = keyed.into_iter().map(|(_, file, item)| (file, item)).collect();
        Self { repository, files, path_names, packages, entries, ranges }
    }

    pub(crate) fn repository(&self) -> RepositoryId {
        self.repository
    }

    /// Where a file stands among those of the environment.
    pub(crate) fn position(&self, path: &cairn_domain::RepoPath) -> Option<FileId> {
        self.files.binary_search_by(|file| file.path.cmp(path)).ok().map(|index| index as FileId)
    }

    fn at(&self, key: u64) -> &[Entry] {
        self.ranges.get(&key).map_or(&[], |(start, end)| &self.entries[*start as usize..*end as usize])
    }
}

/// The environment as one file asks it: every key that is asked is written down.
#[derive(Debug)]
pub(crate) struct Lookup<'e> {
    environment: &'e Environment<'e>,
    asked: Vec<u64>,
    /// Steps that may still be spent on the reference at hand, so that no web of re-exports takes long.
    pub(crate) fuel: u32,
}

/// Steps for one reference.
pub(crate) const FUEL: u32 = 300;

impl<'e> Lookup<'e> {
    pub(crate) fn new(environment: &'e Environment<'e>) -> Self {
        Self { environment, asked: Vec::new(), fuel: FUEL }
    }

    /// The keys that were asked, sorted, each once.
    pub(crate) fn into_asked(mut self) -> Vec<u64> {
        self.asked.sort_unstable();
        self.asked.dedup();
        self.asked
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
        definitions(self.ask(key(Space::Member, [self.path_name(file), container, name])))
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
        imports(self.environment, self.ask(key(Space::Binding, [self.path_name(file), container, local])))
    }

    pub(crate) fn wildcards(&mut self, file: FileId, container: Name) -> impl Iterator<Item = &'e ImportFact> + 'e {
        imports(self.environment, self.ask(key(Space::Wildcard, [self.path_name(file), container, Name::EMPTY])))
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
