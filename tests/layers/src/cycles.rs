//! Checks that the dependencies between the files of a crate form no cycle.
//!
//! A file depends on another file if a `use` declaration of the first file names an item of the second file.
//! The files of a cycle can only be understood together. Declarations of modules, re-exports by a parent, and
//! tests do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::Visit;
use syn::{Item, ItemMod, ItemUse, Visibility};

use crate::items::{attributes, flatten, is_test, named_file, names};
use crate::manifests::{Manifest, read_all, root};

/// The maximum number of re-exports through which a name is followed.
const MAX_RE_EXPORTS: usize = 8;

/// A module's path from the root of its crate, e.g. `["sweep", "names"]`; empty for the root.
type ModulePath = Vec<String>;

/// One imported name of a `use` declaration: the module that contains the declaration, the path of the item,
/// and the name that the item gets in this module.
#[derive(Clone, Debug)]
struct Import {
    module: ModulePath,
    path: Vec<String>,
    name: String,
    is_re_export: bool,
}

/// The modules of one crate root, without test code.
#[derive(Default)]
struct Crate {
    /// The file of each module. The file of an inline module is the file that contains it.
    files: BTreeMap<ModulePath, PathBuf>,
    /// The names of the items of each module, and all words in macro calls, because a macro may define items.
    names: BTreeSet<(ModulePath, String)>,
    imports: Vec<Import>,
}

impl Crate {
    fn read(root_file: &Path) -> Self {
        let mut found = Self::default();
        let folder = root_file.parent().expect("a folder").to_owned();
        found.read_file(root_file, &folder, &Vec::new());
        found
    }

    /// Reads the file of a module and the files of its child modules, which are in `folder`.
    fn read_file(&mut self, file: &Path, folder: &Path, module: &ModulePath) {
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.files.insert(module.clone(), file.to_owned());
        self.read_items(&parsed.items, file, folder, module);
    }

    fn read_items(&mut self, items: &[Item], file: &Path, folder: &Path, module: &ModulePath) {
        for item in items {
            self.names.extend(names(item).into_iter().map(|name| (module.clone(), name)));
            match item {
                Item::Mod(child) if is_test(&child.attrs) => {}
                Item::Mod(child) => self.read_module(child, file, folder, module),
                Item::Use(import) => self.add(import, module),
                other if is_test(attributes(other)) => {}
                // Functions may contain `use` declarations too.
                other => Inner { found: self, module }.visit_item(other),
            }
        }
    }

    fn read_module(&mut self, child: &ItemMod, file: &Path, folder: &Path, module: &ModulePath) {
        let name = child.ident.to_string();
        let path: ModulePath = module.iter().cloned().chain([name.clone()]).collect();
        if let Some((_, items)) = &child.content {
            self.files.insert(path.clone(), file.to_owned());
            return self.read_items(items, file, &folder.join(&name), &path);
        }
        let beside = folder.join(format!("{name}.rs"));
        let inside = folder.join(&name).join("mod.rs");
        let named = named_file(&child.attrs).map(|name| file.with_file_name(name));
        let found = named.unwrap_or(if beside.is_file() { beside } else { inside });
        self.read_file(&found, &folder.join(&name), &path);
    }

    fn add(&mut self, import: &ItemUse, module: &ModulePath) {
        if is_test(&import.attrs) {
            return;
        }
        let is_re_export = !matches!(import.vis, Visibility::Inherited);
        flatten(&import.tree, &mut Vec::new(), &mut |path, name| {
            self.imports.push(Import { module: module.clone(), path, name, is_re_export });
        });
    }

    /// Returns the file that defines the item at a path, if the file is in this crate.
    fn file_of(&self, from: &ModulePath, path: &[String], depth: usize) -> Option<&Path> {
        let (mut module, rest) = self.start(from, path)?;
        for (index, segment) in rest.iter().enumerate() {
            let child: ModulePath = module.iter().cloned().chain([segment.clone()]).collect();
            if self.files.contains_key(&child) {
                module = child;
                continue;
            }
            let rest = &rest[index..];
            if depth < MAX_RE_EXPORTS
                && let Some(file) = self.re_exported(&module, segment, rest, depth)
            {
                return Some(file);
            }
            break;
        }
        self.files.get(&module).map(PathBuf::as_path)
    }

    /// Returns the file that defines the item at the path `rest`, if the module re-exports the first segment
    /// of this path by name or with `*`.
    fn re_exported(&self, module: &ModulePath, segment: &str, rest: &[String], depth: usize) -> Option<&Path> {
        let is_here = |import: &&Import| import.is_re_export && import.module == *module;
        let from = |import: &Import, rest: &[String]| {
            let path: Vec<String> = import.path.iter().chain(rest).cloned().collect();
            self.file_of(&import.module, &path, depth + 1)
        };
        if let Some(import) = self.imports.iter().filter(is_here).find(|import| import.name == segment) {
            return from(import, &rest[1..]);
        }
        let globs = self.imports.iter().filter(is_here).filter(|import| import.name == "*");
        let defines = |import: &&Import| self.defines(&import.module, &import.path, segment, depth + 1);
        globs.into_iter().find(defines).and_then(|import| from(import, rest))
    }

    /// Returns whether the module at a path defines or re-exports a name.
    fn defines(&self, from: &ModulePath, path: &[String], name: &str, depth: usize) -> bool {
        let Some((start, rest)) = self.start(from, path) else { return false };
        let module: ModulePath = start.iter().chain(rest).cloned().collect();
        let is_here = |import: &&Import| import.is_re_export && import.module == module;
        self.names.contains(&(module.clone(), name.to_owned()))
            || self.imports.iter().filter(is_here).any(|import| match import.name.as_str() {
                "*" => depth < MAX_RE_EXPORTS && self.defines(&module, &import.path, name, depth + 1),
                other => other == name,
            })
    }

    /// Returns the module in which a path begins, and the remaining segments of the path. Returns `None` if
    /// the path leads to another crate.
    fn start<'a>(&self, from: &ModulePath, path: &'a [String]) -> Option<(ModulePath, &'a [String])> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some((Vec::new(), rest)),
            "self" => Some((from.clone(), rest)),
            "super" => {
                let parent = from[..from.len().checked_sub(1)?].to_vec();
                match rest.first().map(String::as_str) {
                    Some("super") => self.start(&parent, rest),
                    _ => Some((parent, rest)),
                }
            }
            name => {
                let child: ModulePath = from.iter().cloned().chain([name.to_owned()]).collect();
                self.files.contains_key(&child).then(|| (from.clone(), path))
            }
        }
    }

    /// Returns whether a module re-exports an item through one of the modules that it contains.
    fn is_re_export_by_parent(&self, import: &Import) -> bool {
        let Some((mut module, rest)) = self.start(&import.module, &import.path) else { return false };
        for segment in rest {
            let child: ModulePath = module.iter().cloned().chain([segment.clone()]).collect();
            if !self.files.contains_key(&child) {
                break;
            }
            module = child;
        }
        import.is_re_export && module.len() > import.module.len() && module.starts_with(&import.module)
    }

    fn arrows(&self) -> BTreeMap<&Path, BTreeSet<&Path>> {
        let mut arrows: BTreeMap<&Path, BTreeSet<&Path>> = BTreeMap::new();
        for import in self.imports.iter().filter(|import| !self.is_re_export_by_parent(import)) {
            let (Some(from), Some(to)) =
                (self.files.get(&import.module), self.file_of(&import.module, &import.path, 0))
            else {
                continue;
            };
            if from != to {
                arrows.entry(from).or_default().insert(to);
            }
        }
        arrows
    }

    /// Returns groups of files in which every file depends on every other file, directly or through other
    /// files.
    fn cycles(&self) -> Vec<BTreeSet<&Path>> {
        let arrows = self.arrows();
        let reached = |start: &'_ Path| {
            let mut seen: BTreeSet<&Path> = BTreeSet::new();
            let mut open: Vec<&Path> = arrows.get(start).into_iter().flatten().copied().collect();
            while let Some(file) = open.pop() {
                if seen.insert(file) {
                    open.extend(arrows.get(file).into_iter().flatten());
                }
            }
            seen
        };
        let reached: BTreeMap<&Path, BTreeSet<&Path>> = arrows.keys().map(|file| (*file, reached(file))).collect();
        let mut cycles: Vec<BTreeSet<&Path>> = Vec::new();
        for (file, others) in &reached {
            if others.contains(file) && !cycles.iter().any(|cycle| cycle.contains(file)) {
                let returns = |other: &&&Path| reached.get(**other).is_some_and(|back| back.contains(file));
                cycles.push(others.iter().filter(returns).copied().collect());
            }
        }
        cycles
    }
}

/// Adds the `use` declarations inside functions to `found`.
struct Inner<'a> {
    found: &'a mut Crate,
    module: &'a ModulePath,
}

impl<'ast> Visit<'ast> for Inner<'_> {
    fn visit_item_use(&mut self, import: &'ast ItemUse) {
        self.found.add(import, self.module);
    }
}

/// Returns the root files of a crate's library, programs, examples and tests.
fn roots(folder: &Path, manifest: &Manifest) -> BTreeSet<PathBuf> {
    let mut roots: BTreeSet<PathBuf> = ["src/lib.rs", "src/main.rs"].iter().map(|name| folder.join(name)).collect();
    for targets in ["src/bin", "examples", "tests"] {
        for entry in fs::read_dir(folder.join(targets)).into_iter().flatten().flatten() {
            let is_source = entry.path().extension().is_some_and(|extension| extension == "rs");
            roots.insert(if is_source { entry.path() } else { entry.path().join("main.rs") });
        }
    }
    roots.extend(manifest.target_files.iter().map(|file| folder.join(file)));
    roots.retain(|file| file.is_file());
    roots
}

#[test]
fn files_form_no_cycles() {
    let workspace = root();
    let mut cycles = Vec::new();
    for manifest in read_all() {
        for file in roots(&workspace.join(&manifest.folder), &manifest) {
            for cycle in Crate::read(&file).cycles() {
                let names =
                    cycle.iter().map(|file| file.strip_prefix(&workspace).unwrap_or(file).display().to_string());
                cycles.push(names.collect::<Vec<_>>().join(" "));
            }
        }
    }
    assert!(cycles.is_empty(), "{} cycles of files:\n{}", cycles.len(), cycles.join("\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], expect: &[&[&str]]) {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().expect("a folder")).expect("a new folder");
            fs::write(file, text).expect("a new file");
        }
        let found = Crate::read(&folder.path().join("lib.rs"));
        let name = |file: &&Path| file.strip_prefix(folder.path()).expect("a file of the crate").display().to_string();
        let cycles: Vec<Vec<String>> = found.cycles().iter().map(|cycle| cycle.iter().map(name).collect()).collect();
        assert_eq!(cycles, expect);
    }

    #[test]
    fn cycle_of_two_files_is_found() {
        let a = ("a.rs", "use crate::b::B; pub struct A(B);");
        check(&[("lib.rs", "mod a; mod b;"), a, ("b.rs", "use super::a::A; pub struct B;")], &[&["a.rs", "b.rs"]]);
        check(&[("lib.rs", "mod a; mod b;"), a, ("b.rs", "pub struct B;")], &[]);
    }

    #[test]
    fn import_of_a_reexport_depends_on_the_defining_file() {
        let root = ("lib.rs", "mod a; mod b; pub use a::A; pub use b::B;");
        check(&[root, ("a.rs", "use crate::B;"), ("b.rs", "use crate::A;")], &[&["a.rs", "b.rs"]]);
        check(&[root, ("a.rs", "use crate::B;"), ("b.rs", "pub struct B;")], &[]);
    }

    /// Only a parent module may re-export an item without depending on the file of the item.
    #[test]
    fn reexport_of_another_module_is_a_dependency() {
        let root = ("lib.rs", "mod a; mod b;");
        for import in ["pub(crate) use crate::b::B;", "pub use super::b::B;", "pub(super) use crate::b::{self};"] {
            check(&[root, ("a.rs", import), ("b.rs", "use crate::a::A; pub struct B;")], &[&["a.rs", "b.rs"]]);
        }
        let parent = ("p/mod.rs", "mod child; pub use self::child::C; pub use crate::p::child::D;");
        check(&[("lib.rs", "mod p;"), parent, ("p/child.rs", "use super::P; pub struct C; pub struct D;")], &[]);
    }

    #[test]
    fn import_of_a_glob_reexport_counts_for_its_file() {
        let root = ("lib.rs", "mod a; mod b; pub use a::*; pub use b::*;");
        let a = ("a.rs", "use crate::B; pub struct A(B);");
        check(&[root, a, ("b.rs", "use crate::A; pub struct B;")], &[&["a.rs", "b.rs"]]);
        check(&[root, a, ("b.rs", "use crate::A; key!(/// A key. \n B);")], &[&["a.rs", "b.rs"]]);
        check(&[root, a, ("b.rs", "pub struct B;")], &[]);
        let nested = ("lib.rs", "mod a; mod b; mod c; pub use a::*; pub use c::*;");
        check(
            &[nested, a, ("b.rs", "use crate::A; pub struct B;"), ("c.rs", "pub use crate::b::*;")],
            &[&["a.rs", "b.rs"]],
        );
    }

    #[test]
    fn module_may_name_its_file() {
        let root = ("lib.rs", "#[path = \"x.rs\"] mod a; mod b;");
        let files = [root, ("x.rs", "use crate::b::B; pub struct A;"), ("b.rs", "use crate::a::A; pub struct B;")];
        check(&files, &[&["b.rs", "x.rs"]]);
    }

    #[test]
    fn parent_and_child_that_use_each_other_form_a_cycle() {
        let parent = ("p/mod.rs", "mod child; use child::f; pub struct P;");
        check(
            &[("lib.rs", "mod p;"), parent, ("p/child.rs", "use super::P; pub fn f() {}")],
            &[&["p/child.rs", "p/mod.rs"]],
        );
    }

    #[test]
    fn test_code_is_ignored_by_the_cycle_check() {
        let tested = ("b.rs", "pub struct B; #[cfg(test)] mod tests { use crate::a::A; }");
        check(&[("lib.rs", "mod a; mod b;"), ("a.rs", "use crate::b::B;"), tested], &[]);
        for cfg in ["feature = \"latest\"", "feature = \"test\"", "not(test)", "attest"] {
            let text = format!("pub struct B; #[cfg({cfg})] mod used {{ use crate::a::A; }}");
            let files = [("lib.rs", "mod a; mod b;"), ("a.rs", "use crate::b::B;"), ("b.rs", text.as_str())];
            check(&files, &[&["a.rs", "b.rs"]]);
        }
    }

    #[test]
    fn use_within_a_function_is_a_dependency() {
        let inner = ("b.rs", "pub struct B; fn f() { use crate::a::A; }");
        check(&[("lib.rs", "mod a; mod b;"), ("a.rs", "use crate::b::B;"), inner], &[&["a.rs", "b.rs"]]);
    }
}
