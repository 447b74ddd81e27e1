//! Resolves imports to files and packages. Each submodule covers one language or one group of languages.

mod dotted;
mod elixir;
mod include;
mod python;
mod rust;
mod script;

pub(crate) use python::folder_member;
pub(crate) use rust::{expression_path as rust_path, member_crate as rust_crate};

use cairn_domain::Resolution;

use crate::bindings::BoundName;
use crate::lookup::Lookup;
use crate::names::FileId;
use crate::packages::beginnings;
use crate::referents::{Ask, Finding, Referent, Referents};
use crate::{Family, Name};

/// Resolves an import to a module, or to a name that is imported from a module.
pub(crate) fn import_target(
    lookup: &mut Lookup<'_>,
    file: FileId,
    container: Name,
    import: &BoundName<'_>,
    ask: Ask,
) -> Finding {
    if !lookup.spend() {
        return Finding::Nothing;
    }
    match lookup.contribution(file).family {
        Family::Python => python::target(lookup, file, import, ask),
        Family::Script => script::target(lookup, file, import, ask),
        Family::Go => go_target(lookup, file, import),
        Family::Rust => rust::target(lookup, file, container, import, ask),
        Family::C | Family::Ruby | Family::Lua | Family::Bash | Family::Zig => {
            include::target(lookup, file, import, ask)
        }
        Family::Jvm | Family::CSharp | Family::Php | Family::Haskell => dotted::target(lookup, file, import, ask),
        Family::Elixir => elixir::target(lookup, container, import, ask),
        Family::Swift => swift_target(lookup, import, ask),
        Family::Other => Finding::External,
    }
}

/// Finds a submodule of a file's module in the folders where the language expects submodules.
pub(crate) fn submodule(lookup: &mut Lookup<'_>, file: FileId, container: Name, name: &str) -> Finding {
    match lookup.contribution(file).family {
        Family::Python if container.is_empty() => python::submodule(lookup, file, name),
        Family::Rust if container.is_empty() => rust::submodule(lookup, file, name),
        _ => Finding::Nothing,
    }
}

/// Resolves a Swift import. A Swift import names a target of the repository, or one item in a target.
fn swift_target(lookup: &mut Lookup<'_>, import: &BoundName<'_>, ask: Ask) -> Finding {
    let target = import.module.split('.').next().unwrap_or(import.module);
    let module = crate::namespaces::swift_module(target);
    if lookup.package_files(Family::Swift, module).len() == 0 {
        return Finding::External;
    }
    match import.name {
        Some(name) => lookup.in_package(Family::Swift, module, name, ask).at_most(Resolution::Import),
        None => Finding::of(Referents::one(Referent::Package(Family::Swift, module)), Resolution::Import),
    }
}

/// Resolves a Go import. A Go import names a folder below a module of the repository.
fn go_target(lookup: &mut Lookup<'_>, file: FileId, import: &BoundName<'_>) -> Finding {
    let path = import.module.trim_matches('"');
    let Some(folder) = go_folder(lookup, file, path) else { return Finding::External };
    let package = crate::namespaces::go_package(&folder, None);
    if lookup.package_files(Family::Go, package).len() == 0 {
        return Finding::Nothing;
    }
    Finding::of(Referents::one(Referent::Package(Family::Go, package)), Resolution::Import)
}

/// The folder of a package, relative to the repository. Modules may be nested, so the module with the longest
/// path takes precedence.
fn go_folder(lookup: &mut Lookup<'_>, file: FileId, path: &str) -> Option<String> {
    if path.starts_with('.') {
        return crate::paths::join(lookup.contribution(file).path.directory(), path);
    }
    let packages = lookup.packages("go");
    let modules = beginnings(path, '/').rev().find_map(|name| {
        let rest = path[name.len()..].trim_start_matches('/');
        packages.named("go", name).map(|module| (module.root.as_str(), rest)).max()
    });
    let (root, rest) = modules?;
    Some(crate::paths::join(root, rest).unwrap_or_default())
}
