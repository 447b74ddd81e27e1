//! Resolves Python imports: folders are packages, relative imports have levels, and submodules are
//! attributes.

use cairn_domain::Resolution;
use cairn_languages::is_standard_module;

use crate::bindings::BoundName;
use crate::lookup::Lookup;
use crate::names::FileId;
use crate::paths;
use crate::referents::{Ask, Finding, Referent, Referents};
use crate::{Family, Name};

pub(super) fn target(lookup: &mut Lookup<'_>, file: FileId, import: &BoundName<'_>, ask: Ask) -> Finding {
    let Some(module) = module(lookup, file, import) else {
        return if import.level > 0 { Finding::Nothing } else { Finding::External };
    };
    let Some(name) = import.name else { return bound_module(lookup, module, import) };
    match module {
        // A package imports its own submodule, and the import binds the name of the submodule in the package.
        Module::File(found) if found == file => match submodule(lookup, file, name) {
            Finding::Nothing => lookup.exported(found, Name::EMPTY, name, ask),
            inner => inner,
        },
        Module::File(found) => lookup.exported(found, Name::EMPTY, name, ask),
        Module::Folder(folder) => folder_member(lookup, Name::of(&folder), name),
    }
}

enum Module {
    File(FileId),
    /// A package folder without `__init__.py`, by its path.
    Folder(String),
}

/// Resolves the module that an import binds. `import a.b.c` without alias binds `a`.
fn bound_module(lookup: &mut Lookup<'_>, module: Module, import: &BoundName<'_>) -> Finding {
    let num_below = import.module.split('.').count() - 1;
    let binds_first = num_below > 0
        && !import.wildcard
        && import.local == Name::of(import.module.split('.').next().unwrap_or_default());
    if !binds_first {
        return match module {
            Module::File(file) => Finding::file(file),
            Module::Folder(folder) => folder_referent(Name::of(&folder)),
        };
    }
    let path = match &module {
        Module::File(file) => importable(lookup.contribution(*file).path.as_str()),
        Module::Folder(folder) => folder,
    };
    let mut top = path;
    for _ in 0..num_below {
        top = paths::parent(top).unwrap_or_default();
    }
    match file_of(lookup, top) {
        Some(file) => Finding::file(file),
        None => folder_referent(Name::of(top)),
    }
}

fn folder_referent(folder: Name) -> Finding {
    Finding::of(Referents::one(Referent::Package(Family::Python, folder)), Resolution::Import)
}

/// The path of a module without the parts that imports omit: the extension and `/__init__`.
fn importable(path: &str) -> &str {
    let path = path.strip_suffix(".pyi").or_else(|| path.strip_suffix(".py")).unwrap_or(path);
    path.strip_suffix("/__init__").unwrap_or(path)
}

fn module(lookup: &mut Lookup<'_>, file: FileId, import: &BoundName<'_>) -> Option<Module> {
    let path = import.module.replace('.', "/");
    if import.level == 0 {
        return absolute(lookup, file, &path).map(Module::File);
    }
    let mut folder = lookup.contribution(file).path.directory();
    for _ in 1..import.level {
        folder = paths::parent(folder)?;
    }
    let path = paths::join(folder, &path).unwrap_or_default();
    Some(match file_of(lookup, &path) {
        Some(found) => Module::File(found),
        None => Module::Folder(path),
    })
}

/// Finds the file `a/b.py` or `a/b/__init__.py`, or the stub of either, for the path `a/b`.
fn file_of(lookup: &mut Lookup<'_>, path: &str) -> Option<FileId> {
    module_file(lookup, Name::of(path)).filter(|_| !path.is_empty())
}

fn module_file(lookup: &mut Lookup<'_>, path: Name) -> Option<FileId> {
    [".py", "/__init__.py", ".pyi", "/__init__.pyi"].into_iter().find_map(|end| lookup.file(path.then(end)))
}

/// Finds the file with this path suffix whose package root is the nearest root above the importing file.
///
/// A package root is a folder that is not a package itself. If the standard library has a module with this
/// name, the name resolves only to a file in the folder of the importing file or in a folder above. Python,
/// too, would find such a file before the standard module.
fn absolute(lookup: &mut Lookup<'_>, file: FileId, path: &str) -> Option<FileId> {
    let first = path.split('/').next().unwrap_or(path);
    let mut best: Option<((bool, usize, bool, usize), FileId)> = None;
    let mut is_tie = false;
    let importing = lookup.contribution(file).path.as_str();
    for candidate in lookup.files_with_suffix(Family::Python, Name::of(path)) {
        let found = lookup.contribution(candidate).path.as_str();
        let named = importable(found);
        let root = named[..named.len() - path.len().min(named.len())].trim_end_matches('/');
        let is_above = paths::is_inside(importing, root);
        if !is_above && (is_standard_module(Family::Python, first) || !path.contains('/') && !is_source_root(root)) {
            continue;
        }
        if lookup.file(Name::of(root).then("/__init__.py")).is_some() && !root.is_empty() {
            continue;
        }
        let rank = (is_above, if is_above { root.len() } else { 0 }, found.ends_with(".py"), usize::MAX - root.len());
        is_tie = best.as_ref().is_some_and(|(other, _)| !rank.0 && !other.0 && rank.2 == other.2);
        if best.as_ref().is_none_or(|(other, _)| rank > *other) {
            best = Some((rank, candidate));
        }
    }
    best.filter(|(rank, _)| rank.0 || !is_tie).map(|(_, file)| file)
}

/// Folders that are usually on Python's search path.
fn is_source_root(root: &str) -> bool {
    matches!(root.rsplit('/').next(), Some("" | "src" | "lib" | "python" | "Lib" | "source"))
}

/// Resolves `package.name`, where `name` is a file or folder of the package.
pub(super) fn submodule(lookup: &mut Lookup<'_>, file: FileId, name: &str) -> Finding {
    let path = &lookup.contribution(file).path;
    if !path.file_name().starts_with("__init__.") {
        return Finding::Nothing;
    }
    let folder = path.directory();
    let inner = if folder.is_empty() { Name::of(name) } else { Name::of(folder).then("/").then(name) };
    module_file(lookup, inner).map_or(Finding::Nothing, Finding::file)
}

/// Resolves `folder.name` in a package without `__init__.py`.
pub(crate) fn folder_member(lookup: &mut Lookup<'_>, folder: Name, name: &str) -> Finding {
    let inner = if folder.is_empty() { Name::of(name) } else { folder.then("/").then(name) };
    module_file(lookup, inner).map_or_else(|| folder_referent(inner), Finding::file)
}
