//! The packages that a repository declares, indexed by name and by folder. An index is needed because a
//! repository may declare thousands of packages, and every import from outside the repository causes a
//! lookup.

use cairn_domain::PackageManifest;
use rustc_hash::FxHashMap;

use crate::Name;

/// The declared packages and their indices. `all` is sorted. The indices under each key are in ascending
/// order.
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

    /// The packages with this name. `name` has the form in which code writes the name of the package.
    pub(crate) fn named(&self, ecosystem: &str, name: &str) -> impl Iterator<Item = &'a PackageManifest> {
        self.at(self.by_name.get(&(Name::of(ecosystem), in_code(ecosystem, name))))
    }

    /// The first package that contains `name`: the package's name is equal to `name`, or to a prefix of
    /// `name` that ends before a `/`.
    pub(crate) fn first_around(&self, ecosystem: &str, name: &str) -> Option<&'a PackageManifest> {
        let first = |name: &str| self.by_name.get(&(Name::of(ecosystem), in_code(ecosystem, name)))?.first().copied();
        let index = beginnings(name, '/').filter_map(first).min()?;
        Some(self.all[index as usize])
    }

    /// The packages whose folder contains the path.
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

/// The form in which code writes the name of a package. Rust code writes `_` for each `-` in the name of a
/// crate.
fn in_code(ecosystem: &str, name: &str) -> Name {
    match ecosystem {
        "cargo" => Name::of(&name.replace('-', "_")),
        _ => Name::of(name),
    }
}

/// The prefixes of the name that end before a separator, followed by the whole name. The shortest prefix
/// comes first.
pub(crate) fn beginnings(name: &str, separator: char) -> impl DoubleEndedIterator<Item = &str> {
    name.match_indices(separator).map(|(at, _)| &name[..at]).chain(std::iter::once(name))
}
