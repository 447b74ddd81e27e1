//! The packages that a repository declares, by name and by folder: a repository may hold thousands, and every import of
//! what stands outside asks for them.

use cairn_domain::PackageManifest;
use rustc_hash::FxHashMap;

use crate::Name;

/// Sorted; the indices of each key ascend.
#[derive(Debug)]
pub(crate) struct Packages<'a> {
    all: Vec<&'a PackageManifest>,
    by_name: FxHashMap<(Name, Name), Vec<u32>>,
    by_root: FxHashMap<(Name, Name), Vec<u32>>,
}

impl<'a> Packages<'a> {
    pub(crate) fn new(packages: &'a [PackageManifest]) -> Self {
        let mut all: Vec<&PackageManifest> = packages.iter().collect();
        all.sort_unstable();
        let mut packages = Self { all, by_name: FxHashMap::default(), by_root: FxHashMap::default() };
        for (package, index) in packages.all.iter().zip(0..) {
            let ecosystem = package.ecosystem.as_str();
            if let Some(name) = &package.name {
                packages.by_name.entry((Name::of(ecosystem), in_code(ecosystem, name))).or_default().push(index);
            }
            packages.by_root.entry((Name::of(ecosystem), Name::of(&package.root))).or_default().push(index);
        }
        packages
    }

    /// Those of a name, as code writes it.
    pub(crate) fn named(&self, ecosystem: &str, name: &str) -> impl Iterator<Item = &'a PackageManifest> {
        self.at(self.by_name.get(&(Name::of(ecosystem), in_code(ecosystem, name))))
    }

    /// The first of those that are called as a beginning of the name, up to a `/`.
    pub(crate) fn first_around(&self, ecosystem: &str, name: &str) -> Option<&'a PackageManifest> {
        let first = |name: &str| self.by_name.get(&(Name::of(ecosystem), in_code(ecosystem, name)))?.first().copied();
        let index = beginnings(name, '/').filter_map(first).min()?;
        Some(self.all[index as usize])
    }

    /// Those in whose folders the path lies.
    pub(crate) fn above(&self, ecosystem: &str, path: &str) -> impl Iterator<Item = &'a PackageManifest> {
        let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
        let roots = std::iter::once("").chain(folders);
        let found = roots.filter_map(|root| self.by_root.get(&(Name::of(ecosystem), Name::of(root))));
        let mut found: Vec<u32> = found.flatten().copied().collect();
        found.sort_unstable();
        found.into_iter().map(|index| self.all[index as usize])
    }

    fn at(&self, indices: Option<&Vec<u32>>) -> impl Iterator<Item = &'a PackageManifest> {
        indices.into_iter().flatten().map(|index| self.all[*index as usize])
    }
}

/// Code of Rust writes `_` for the `-` of a crate's name.
fn in_code(ecosystem: &str, name: &str) -> Name {
    match ecosystem {
        "cargo" => Name::of(&name.replace('-', "_")),
        _ => Name::of(name),
    }
}

/// The parts of a name that end before a separator, and the whole name, from the shortest.
pub(crate) fn beginnings(name: &str, separator: char) -> impl DoubleEndedIterator<Item = &str> {
    name.match_indices(separator).map(|(at, _)| &name[..at]).chain(std::iter::once(name))
}
