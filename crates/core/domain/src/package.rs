//! Packages that a repository declares.

use crate::RepoPath;

/// The kind of a package, named after its registry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Ecosystem {
    Pypi,
    Npm,
    Go,
    Cargo,
    Maven,
    Composer,
    Nuget,
}

impl Ecosystem {
    /// The word for the ecosystem in the keys of package nodes.
    pub fn as_str(self) -> &'static str {
        match self {
            Ecosystem::Pypi => "pypi",
            Ecosystem::Npm => "npm",
            Ecosystem::Go => "go",
            Ecosystem::Cargo => "cargo",
            Ecosystem::Maven => "maven",
            Ecosystem::Composer => "composer",
            Ecosystem::Nuget => "nuget",
        }
    }
}

/// The names of package manifests: the files in which a package states its name and its dependencies. A
/// folder with a package manifest is a module.
pub const PACKAGE_MANIFESTS: [&str; 11] = [
    "Cargo.toml",
    "build.gradle",
    "build.gradle.kts",
    "composer.json",
    "go.mod",
    "mix.exs",
    "package.json",
    "pom.xml",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
];

/// The contents of one package manifest.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PackageManifest {
    pub ecosystem: Ecosystem,
    /// The manifest file.
    pub path: RepoPath,
    /// Name of the package that the manifest publishes; `None` if the manifest only lists dependencies. For
    /// Maven, the name is `group:artifact`.
    pub name: Option<String>,
    /// Folder of the package; empty for the repository's root.
    pub root: String,
    /// Names of the package's dependencies, without versions, sorted and without duplicates.
    pub dependencies: Vec<String>,
    /// Files to which an import of the package name alone can refer, as paths in the repository, best first.
    pub entries: Vec<String>,
}
