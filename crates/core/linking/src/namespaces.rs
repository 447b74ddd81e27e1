//! Names that identify packages and namespaces.

use cairn_domain::RepoPath;

use crate::Family;
use crate::names::Name;

/// The name that identifies the package or namespace at the top level of a file.
pub(crate) fn namespace(family: Family, path: &RepoPath, package: Option<&str>) -> Name {
    match family {
        Family::Go => go_package(path.directory(), package),
        Family::Swift => swift_target(path.directory()).map_or(Name::EMPTY, swift_module),
        _ => package.map_or(Name::EMPTY, Name::of),
    }
}

/// The target that contains a file. The folders follow the layout of Swift's package manager:
/// `Sources/Library/Model` is in the target `Library`.
fn swift_target(directory: &str) -> Option<&str> {
    let mut parts = directory.split('/');
    parts.find(|part| matches!(*part, "Sources" | "Tests" | "Plugins"))?;
    parts.next()
}

/// The name of a Swift module. Each target is a module.
pub(crate) fn swift_module(target: &str) -> Name {
    Name::of("swift:").then(target)
}

/// The name of a Go package. Each folder is a package. If a folder contains external tests of its package,
/// these tests form a second package.
pub(crate) fn go_package(directory: &str, package: Option<&str>) -> Name {
    let folder = Name::of("go:").then(directory);
    if package.is_some_and(|package| package.ends_with("_test")) { folder.then("#test") } else { folder }
}
