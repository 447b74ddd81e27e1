//! Creates the edges of imports: to files, to imported symbols, and to packages outside the repository.

use cairn_domain::{EdgeKind, Import, NodeKey, PackageManifest, Resolution, Unresolved};
use cairn_languages::is_standard_module;

use crate::bindings::{BoundName, bound_names};
use crate::link_file::{FileLinker, UnresolvedReference};
use crate::manifest::normal_python_name;
use crate::modules::import_target;
use crate::packages::beginnings;
use crate::queries::{LinkQuery, Topic};
use crate::referents::{Ask, Finding, Referent, Referents};
use crate::rules::Rules;
use crate::{Family, Name};

/// Python packages that are imported under a name that differs from their published name.
const PYTHON_DISTRIBUTIONS: &[(&str, &str)] = &[
    ("attr", "attrs"),
    ("bs4", "beautifulsoup4"),
    ("cv2", "opencv-python"),
    ("dateutil", "python-dateutil"),
    ("dotenv", "python-dotenv"),
    ("git", "gitpython"),
    ("google", "protobuf"),
    ("jwt", "pyjwt"),
    ("magic", "python-magic"),
    ("PIL", "pillow"),
    ("serial", "pyserial"),
    ("sklearn", "scikit-learn"),
    ("yaml", "pyyaml"),
];

impl FileLinker<'_> {
    pub(crate) fn imports(&mut self) {
        let family = self.resolver.family;
        // The empty module of an import means the file itself. An import with an empty module exports a name
        // of the file under a different name.
        let is_own = |import: &Import| matches!(family, Family::Script | Family::Lua) && import.module.is_empty();
        for import in self.resolver.facts.imports.iter().filter(|import| !is_own(import)) {
            let container = self.resolver.scopes.module_around(import.enclosing);
            let mut targets: Vec<(NodeKey, Resolution)> = Vec::new();
            let mut missing: Option<Unresolved> = None;
            for bound in bound_names(import, family) {
                self.import_one(import, container, &bound, &mut targets, &mut missing);
            }
            targets.sort_unstable();
            targets.dedup_by_key(|(target, _)| *target);
            for (target, resolution) in &targets {
                self.edges.add(self.node, EdgeKind::Imports, *target, import.line, *resolution, 1);
            }
            if let Some(reason) = missing.filter(|_| targets.is_empty()) {
                self.keep_import(import, reason);
            }
        }
    }

    fn keep_import(&mut self, import: &Import, reason: Unresolved) {
        let name = match import.names.first() {
            Some(first) if import.module.is_empty() => first.name.clone(),
            _ => import.module.clone(),
        };
        self.unresolved.push(UnresolvedReference { line: import.line, name, receiver: None, reason });
    }

    fn import_one(
        &mut self,
        import: &Import,
        container: Name,
        bound: &BoundName<'_>,
        targets: &mut Vec<(NodeKey, Resolution)>,
        missing: &mut Option<Unresolved>,
    ) {
        self.resolver.lookup.refuel();
        let file = self.resolver.file;
        // Resolves the whole module, because the edge must lead to the imported module. In Python, an import
        // may bind only the first part of the module's name: `import a.b` binds `a`.
        let module = BoundName { name: None, local: Name::EMPTY, wildcard: true, ..*bound };
        let whole = import_target(&mut self.resolver.lookup, file, container, &module, Ask::ANY);
        let named = match bound.name {
            Some(_) => import_target(&mut self.resolver.lookup, file, container, bound, Ask::ANY),
            None => Finding::Nothing,
        };
        for (found, is_whole) in [(whole, true), (named, false)] {
            let Finding::Found(referents, resolution) = found else { continue };
            for referent in referents.as_slice() {
                if !is_whole || !self.is_better_match(*referent, &named) {
                    self.add_referent(*referent, resolution.max(Resolution::Import), targets);
                }
            }
        }
        if matches!(whole, Finding::External) && matches!(named, Finding::External | Finding::Nothing) {
            match self.dependency(import) {
                Some(package) => targets.push((package, Resolution::Import)),
                None if is_standard_module(self.resolver.family, &import.module) => {
                    *missing = Some(Unresolved::Builtin);
                }
                None => *missing = Some(Unresolved::External),
            }
        } else if matches!(whole, Finding::Nothing) && named.is_nothing() {
            *missing = Some(Unresolved::NoDefinition);
        }
    }

    /// Whether the imported name is a better target of the import than the module. The result is true if the
    /// name refers to a file of a package, or in Rust to an inner module.
    fn is_better_match(&self, module: Referent, named: &Finding) -> bool {
        let Finding::Found(referents, _) = named else { return false };
        let is_module = |referent: &Referent| matches!(referent, Referent::File { .. });
        matches!(module, Referent::Package(..))
            || self.resolver.family == Family::Rust && referents.as_slice().iter().all(is_module)
    }

    fn add_referent(&mut self, referent: Referent, resolution: Resolution, targets: &mut Vec<(NodeKey, Resolution)>) {
        match referent {
            Referent::Definition { file, index } => {
                targets.push((self.resolver.lookup.contribution(file).node(index), resolution));
                if file != self.resolver.file {
                    targets.push((self.file_node(file), resolution));
                }
            }
            Referent::File { file, .. } if file == self.resolver.file => return,
            Referent::File { file, .. } => targets.push((self.file_node(file), resolution)),
            Referent::Package(family, namespace) => match self.face_of_package(family, namespace) {
                Some(file) if file == self.resolver.file => return,
                Some(file) => {
                    targets.push((self.file_node(file), resolution));
                    return self.reach(Referent::File { file, container: Name::EMPTY });
                }
                None => return,
            },
        }
        self.reach(referent);
    }

    /// The file that represents a package of many files. This is the file with the same name as the folder.
    /// If no file has this name, the file with the documentation of the package is used, or else the first
    /// file.
    fn face_of_package(&mut self, family: Family, namespace: Name) -> Option<u32> {
        if family == Family::Python {
            return None;
        }
        let files = self.resolver.lookup.package_files(family, namespace);
        let query = LinkQuery::new(Topic::Face, family as u32, namespace, Name::EMPTY, Ask::ANY);
        let found = self.resolver.lookup.shared(query, files.len(), |lookup| {
            let rank = |file: &u32| {
                let contribution = lookup.contribution(*file);
                let path = &contribution.path;
                let folder = path.directory().rsplit('/').next().unwrap_or_default();
                (contribution.is_test, path.stem() != folder, path.stem() != "doc", *file)
            };
            let face = files.min_by_key(rank).map(|file| Referent::File { file, container: Name::EMPTY });
            face.map_or(Finding::Nothing, |face| Finding::of(Referents::one(face), Resolution::Import))
        });
        match found {
            Finding::Found(referents, _) => referents.single().and_then(Referent::file),
            _ => None,
        }
    }

    /// The imported package outside the repository, if a manifest in a folder above the file declares this
    /// package.
    fn dependency(&mut self, import: &Import) -> Option<NodeKey> {
        let family = self.resolver.family;
        let ecosystem = Rules::of(family).ecosystem;
        if ecosystem.is_empty() || import.level > 0 {
            return None;
        }
        let module = import.module.trim_matches(['"', '\'']);
        let path = self.resolver.contribution.path.as_str();
        let packages = self.resolver.lookup.packages(ecosystem).above(ecosystem, path);
        let name =
            packages.filter_map(|package| dependency_name(family, package, module)).max_by_key(|name| name.len())?;
        Some(NodeKey::package(self.environment.repository(), ecosystem, name))
    }
}

fn dependency_name<'p>(family: Family, package: &'p PackageManifest, module: &str) -> Option<&'p str> {
    let first = module.split('.').next().unwrap_or(module);
    let has = |name: &str| package.dependencies.binary_search_by(|dependency| dependency.as_str().cmp(name)).ok();
    let index = match family {
        Family::Python => {
            let published =
                PYTHON_DISTRIBUTIONS.iter().find(|(imported, _)| *imported == first).map(|(_, published)| *published);
            has(&normal_python_name(first)).or_else(|| has(published?))
        }
        Family::Script => {
            let num_parts = if module.starts_with('@') { 2 } else { 1 };
            let end = module.match_indices('/').nth(num_parts - 1).map_or(module.len(), |(at, _)| at);
            has(&module[..end])
        }
        Family::Rust => has(first).or_else(|| has(&first.replace('_', "-"))),
        // The dependency is the longest declared prefix of the module.
        Family::Go => beginnings(module, '/').rev().find_map(has),
        // The dependency is the last dependency whose group is a prefix of the module.
        Family::Jvm => beginnings(module, '.').filter_map(|group| last_of_group(&package.dependencies, group)).max(),
        _ => None,
    };
    index.map(|index| package.dependencies[index].as_str())
}

/// The index of the last `group:artifact` with this group in a sorted list.
fn last_of_group(dependencies: &[String], group: &str) -> Option<usize> {
    let behind = format!("{group};");
    let last = dependencies.partition_point(|name| *name < behind).checked_sub(1)?;
    let is_of_group = dependencies[last].strip_prefix(group).is_some_and(|rest| rest.starts_with(':'));
    if is_of_group { Some(last) } else { dependencies.binary_search_by(|name| name.as_str().cmp(group)).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_found_by_module_prefix() {
        let go: Vec<&str> = beginnings("a.b/c/d", '/').collect();
        assert_eq!(go, ["a.b", "a.b/c", "a.b/c/d"]);
        let names = ["com.a", "com.a-b:x", "com.a.b:y", "com.a:one", "com.a:two", "com.b:z"].map(str::to_owned);
        let check = |group: &str, expect: Option<usize>| assert_eq!(last_of_group(&names, group), expect, "{group}");
        check("com.a", Some(4));
        check("com.a.b", Some(2));
        check("com.b", Some(5));
        check("com", None);
        check("com.c", None);
        assert_eq!(last_of_group(&names[..3], "com.a"), Some(0));
    }
}
