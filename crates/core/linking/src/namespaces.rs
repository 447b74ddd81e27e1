//! The identity of packages and namespaces.

use cairn_domain::RepoPath;

use crate::Family;
use crate::names::Name;

/// The identity of the package or namespace at the top of a file.
pub(crate) fn namespace(family: Family, path: &RepoPath, package: Option<&str>) -> Name {
    match family {
        Family::Go => go_package(path.directory(), package),
        Family::Swift => swift_target(path.directory()).map_or(Name::EMPTY, swift_module),
        _ => package.map_or(Name::EMPTY, Name::of),
    }
}

/// The target that contains a file in the layout of the package manager: `Sources/Library/Model` is in
/// `Library`.
fn swift_target(directory: &str) -> Option<&str> {
    let mut parts = directory.split('/');
    parts.find(|part| matches!(*part, "Sources" | "Tests" | "Plugins"))?;
    parts.next()
}

/// The key of a Swift module, which is a target.
pub(crate) fn swift_module(target: &str) -> Name {
    Name::of("swift:").then(target)
}

/// The key of a Go package, which is a folder. External tests of a package are a second package in the same
/// folder.
pub(crate) fn go_package(directory: &str, package: Option<&str>) -> Name {
    let folder = Name::of("go:").then(directory);
    if package.is_some_and(|package| package.ends_with("_test")) { folder.then("#test") } else { folder }
}
