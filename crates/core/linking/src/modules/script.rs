//! Resolves JavaScript and TypeScript imports: relative paths with omitted extensions, packages of the
//! workspace, and common aliases.

use crate::Name;
use crate::bindings::BoundName;
use crate::lookup::Lookup;
use crate::names::FileId;
use crate::paths;
use crate::referents::{Ask, Finding};

/// The file extensions to try, in the order that TypeScript and bundlers use.
const ENDINGS: &[&str] =
    &[".ts", ".tsx", ".mts", ".cts", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".json", ".vue", ".svelte"];

/// The extensions of build output, each with the extensions of its possible source files.
const BUILT: &[(&str, &[&str])] =
    &[(".js", &[".ts", ".tsx", ".d.ts", ".jsx"]), (".jsx", &[".tsx"]), (".mjs", &[".mts"]), (".cjs", &[".cts"])];

pub(super) fn target(lookup: &mut Lookup<'_>, file: FileId, import: &BoundName<'_>, ask: Ask) -> Finding {
    if import.module.is_empty() {
        // `export { a as b }` exports a name of the file itself.
        return import.name.map_or(Finding::Nothing, |name| lookup.visible(file, Name::EMPTY, name, ask));
    }
    let is_relative = import.module.starts_with('.');
    let Some(found) = module(lookup, file, import.module) else {
        return if is_relative { Finding::Nothing } else { Finding::External };
    };
    match import.name {
        None => Finding::file(found),
        Some("default") => default_export(lookup, found, ask),
        Some(name) => lookup.exported(found, Name::EMPTY, name, ask),
    }
}

/// The default export of a file. If no definition is the default export, returns the file itself.
fn default_export(lookup: &mut Lookup<'_>, file: FileId, ask: Ask) -> Finding {
    let found = lookup.exported(file, Name::EMPTY, "default", ask);
    if found.is_nothing() { Finding::file(file) } else { found }
}

/// Finds the file to which a module specifier refers.
fn module(lookup: &mut Lookup<'_>, file: FileId, specifier: &str) -> Option<FileId> {
    let directory = lookup.contribution(file).path.directory();
    let specifier = specifier.split(['?', '!']).next().unwrap_or(specifier);
    if specifier.starts_with('.') {
        let path = paths::join(directory, specifier).unwrap_or_default();
        return open(lookup, &path);
    }
    if let Some(rest) = ["@/", "~/", "~@/"].iter().find_map(|alias| specifier.strip_prefix(alias)) {
        return upwards(lookup, directory, rest);
    }
    if specifier.contains(':') {
        return None;
    }
    workspace_package(lookup, specifier)
        .or_else(|| specifier.contains('/').then(|| upwards(lookup, directory, specifier))?)
}

/// Finds a file or folder, with the extensions that an import may omit.
fn open(lookup: &mut Lookup<'_>, path: &str) -> Option<FileId> {
    let name = Name::of(path);
    if let Some(file) = lookup.file(name).filter(|_| !path.is_empty()) {
        return Some(file);
    }
    for (built, sources) in BUILT {
        if let Some(stem) = path.strip_suffix(built) {
            let stem = Name::of(stem);
            let found = sources.iter().find_map(|ending| lookup.file(stem.then(ending)));
            if found.is_some() {
                return found;
            }
        }
    }
    let index = if path.is_empty() { Name::of("index") } else { name.then("/index") };
    [name, index].into_iter().find_map(|stem| ENDINGS.iter().find_map(|ending| lookup.file(stem.then(ending))))
}

/// Aliases such as `@/` and base URLs are defined in settings of the build. These settings are not read. By
/// convention, an alias means a folder above the importing file, or the folder `src` in such a folder. The
/// nearest folder that contains the path is used.
fn upwards(lookup: &mut Lookup<'_>, directory: &str, path: &str) -> Option<FileId> {
    let mut folder = Some(directory);
    while let Some(current) = folder {
        for base in [paths::join(current, "src"), Some(current.to_owned())].into_iter().flatten() {
            if let Some(found) = paths::join(&base, path).and_then(|path| open(lookup, &path)) {
                return Some(found);
            }
        }
        folder = paths::parent(current);
    }
    None
}

/// Finds a file of a package in the same repository by the package's name.
fn workspace_package(lookup: &mut Lookup<'_>, specifier: &str) -> Option<FileId> {
    let package = lookup.packages("npm").first_around("npm", specifier)?;
    let rest = specifier.strip_prefix(package.name.as_deref()?)?.trim_start_matches('/');
    if rest.is_empty() {
        if let Some(found) = package.entries.iter().find_map(|entry| open(lookup, entry)) {
            return Some(found);
        }
        return ["src", "", "lib"]
            .iter()
            .find_map(|folder| open(lookup, &paths::join(&package.root, folder).unwrap_or_default()));
    }
    ["", "src"].iter().find_map(|folder| {
        let path = paths::join(&package.root, &format!("{folder}/{rest}"))?;
        open(lookup, &path)
    })
}
