//! Resolves Rust imports: paths through crates, the tree of modules, `use`, and re-exports.

use cairn_domain::{Resolution, SymbolKind};

use crate::bindings::BoundName;
use crate::lookup::Lookup;
use crate::names::FileId;
use crate::names::Name;
use crate::paths;
use crate::queries::{LinkQuery, Topic};
use crate::referents::{Ask, Finding, Referent, Referents};

pub(super) fn target(
    lookup: &mut Lookup<'_>,
    file: FileId,
    container: Name,
    import: &BoundName<'_>,
    ask: Ask,
) -> Finding {
    let mut parts: Vec<&str> = import.module.split('.').filter(|part| !part.is_empty()).collect();
    parts.extend(import.name);
    let mut referent = Referent::File { file, container };
    for _ in 0..import.level {
        match parent_module(lookup, referent) {
            Some(parent) => referent = parent,
            None => return Finding::Nothing,
        }
    }
    if import.level > 0 {
        return walk(lookup, referent, &parts, ask);
    }
    path(lookup, file, container, &parts, ask, Some(import.local))
}

/// Resolves the path of a `use` or of an expression. `own` is the name that the current `use` binds. The path
/// of this `use` cannot start with `own`.
fn path(
    lookup: &mut Lookup<'_>,
    file: FileId,
    container: Name,
    parts: &[&str],
    ask: Ask,
    own: Option<Name>,
) -> Finding {
    let here = Referent::File { file, container };
    let Some((first, rest)) = parts.split_first() else { return Finding::of(Referents::one(here), Resolution::Exact) };
    match *first {
        "crate" => match crate_root(lookup, file) {
            Some(root) => walk(lookup, Referent::File { file: root, container: Name::EMPTY }, rest, ask),
            None => Finding::Nothing,
        },
        "self" => walk(lookup, here, rest, ask),
        "super" => match parent_module(lookup, here) {
            Some(Referent::File { file, container }) if rest.first() == Some(&"super") => {
                path(lookup, file, container, rest, ask, None)
            }
            Some(parent) => walk(lookup, parent, rest, ask),
            None => Finding::Nothing,
        },
        "std" | "core" | "alloc" => Finding::External,
        first => {
            let is_own = own == Some(Name::of(first));
            let start = if is_own { local_module(lookup, file, container, first) } else { Finding::Nothing };
            let start = if start.is_nothing() { member_crate(lookup, first) } else { start };
            let start = if start.is_nothing() && !is_own {
                start_of_path(lookup, file, container, first, rest.is_empty().then_some(ask))
            } else {
                start
            };
            continue_from(lookup, start, rest, ask)
        }
    }
}

/// Resolves a path in an expression.
pub(crate) fn expression_path(
    lookup: &mut Lookup<'_>,
    file: FileId,
    container: Name,
    parts: &[&str],
    ask: Ask,
) -> Finding {
    path(lookup, file, container, parts, ask, None)
}

fn start_of_path(lookup: &mut Lookup<'_>, file: FileId, container: Name, first: &str, ask: Option<Ask>) -> Finding {
    let found = lookup.exported(file, container, first, ask.unwrap_or(Ask::ANY));
    if found.is_nothing() { Finding::External } else { found }
}

fn local_module(lookup: &mut Lookup<'_>, file: FileId, container: Name, name: &str) -> Finding {
    let members = lookup.members(file, container, Name::of(name));
    let query = LinkQuery::new(Topic::Module, file, container, Name::of(name), Ask::ANY);
    let inline = lookup.remembered_if_long(query, members.len(), |lookup| {
        let is_module = |(file, index): &(FileId, u32)| lookup.definition(*file, *index).kind == SymbolKind::Module;
        let first = members.iter().find(is_module);
        first.map_or(Finding::Nothing, |(file, index)| {
            Finding::of(Referents::one(Referent::Definition { file, index }), Resolution::Exact)
        })
    });
    if inline.is_nothing() && container.is_empty() { submodule(lookup, file, name) } else { inline }
}

fn continue_from(lookup: &mut Lookup<'_>, start: Finding, rest: &[&str], ask: Ask) -> Finding {
    match start {
        Finding::Found(referents, resolution) if !rest.is_empty() => match referents.single() {
            Some(referent) => walk(lookup, referent, rest, ask).at_most(resolution),
            None => Finding::Nothing,
        },
        other => other,
    }
}

fn walk(lookup: &mut Lookup<'_>, start: Referent, parts: &[&str], ask: Ask) -> Finding {
    let mut referent = start;
    let mut resolution = Resolution::Exact;
    for (index, part) in parts.iter().enumerate() {
        let is_last = index + 1 == parts.len();
        let found = lookup.member_of(referent, part, if is_last { ask } else { Ask::ANY }).at_most(resolution);
        let Finding::Found(referents, found_resolution) = found else { return found };
        if is_last {
            return found;
        }
        let Some(single) = referents.single() else { return Finding::Nothing };
        (referent, resolution) = (single, found_resolution);
    }
    Finding::of(Referents::one(referent), resolution)
}

/// Finds another crate of the repository by the name that code uses for the crate.
pub(crate) fn member_crate(lookup: &mut Lookup<'_>, name: &str) -> Finding {
    let is_it = |package: &str| {
        package.len() == name.len() && package.bytes().zip(name.bytes()).all(|(a, b)| a == b || a == b'-' && b == b'_')
    };
    let mut packages = lookup.packages("cargo").named("cargo", name);
    let Some(package) = packages.find(|package| package.name.as_deref().is_some_and(is_it)) else {
        return Finding::Nothing;
    };
    let library = paths::join(&package.root, "src/lib.rs");
    let root = package.entries.iter().chain(&library).find_map(|path| lookup.file_at(path));
    root.map_or(Finding::Nothing, Finding::file)
}

/// Splits the path of a file into the source folder of its crate and the path below that folder.
fn source_folder(path: &str) -> (&str, &str) {
    match path.rfind("/src/") {
        Some(at) => (&path[..at + 4], &path[at + 5..]),
        None if path.starts_with("src/") => ("src", &path[4..]),
        None => path.rsplit_once('/').unwrap_or(("", path)),
    }
}

fn crate_root(lookup: &mut Lookup<'_>, file: FileId) -> Option<FileId> {
    let path = lookup.contribution(file).path.as_str();
    let (folder, below) = source_folder(path);
    // Every file in `src/bin` is a separate crate. If `lib.rs` and `main.rs` are in one folder, each of them
    // is a separate crate.
    let is_own_root =
        matches!(below, "lib.rs" | "main.rs") || below.starts_with("bin/") && below.matches('/').count() == 1;
    if is_own_root || !path.starts_with("src/") && !path.contains("/src/") {
        return Some(file);
    }
    let base = Name::of(folder);
    lookup.file(base.then("/lib.rs")).or_else(|| lookup.file(base.then("/main.rs")))
}

/// The folder that contains the submodules of a file's module.
fn modules_folder(path: &str) -> String {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name {
        "lib.rs" | "main.rs" | "mod.rs" => directory.to_owned(),
        _ if directory.ends_with("/bin")
            || directory.ends_with("tests")
            || directory.ends_with("benches")
            || directory.ends_with("examples") =>
        {
            directory.to_owned()
        }
        _ => path.trim_end_matches(".rs").to_owned(),
    }
}

pub(super) fn submodule(lookup: &mut Lookup<'_>, file: FileId, name: &str) -> Finding {
    let folder = modules_folder(lookup.contribution(file).path.as_str());
    let base = if folder.is_empty() { Name::of(name) } else { Name::of(&folder).then("/").then(name) };
    let found = lookup.file(base.then(".rs")).or_else(|| lookup.file(base.then("/mod.rs")));
    found.map_or(Finding::Nothing, |file| {
        Finding::of(Referents::one(Referent::File { file, container: Name::EMPTY }), Resolution::Exact)
    })
}

fn parent_module(lookup: &mut Lookup<'_>, referent: Referent) -> Option<Referent> {
    let Referent::File { file, container } = referent else { return None };
    if let Some(module) = lookup.module_definition(file, container) {
        return Some(Referent::File { file, container: lookup.definition(file, module).container });
    }
    let path = lookup.contribution(file).path.as_str();
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    let module_folder = if name == "mod.rs" { paths::parent(directory)? } else { directory };
    let base = Name::of(module_folder);
    let within = ["/mod.rs", "/lib.rs", "/main.rs"]
        .into_iter()
        .filter(|_| !module_folder.is_empty())
        .find_map(|end| lookup.file(base.then(end)));
    let parent = within.or_else(|| lookup.file(base.then(".rs")))?;
    (parent != file).then_some(Referent::File { file: parent, container: Name::EMPTY })
}
