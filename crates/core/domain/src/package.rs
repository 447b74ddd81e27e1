//! Packages that a repository declares.

use crate::RepoPath;

/// The registry of a kind of packages.
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
    /// The word in the keys of package nodes.
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

/// The contents of one package manifest.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PackageManifest {
    pub ecosystem: Ecosystem,
    /// The manifest file.
    pub path: RepoPath,
    /// Name of the package that the manifest publishes; none if it only lists dependencies. `group:artifact`
    /// for Maven.
    pub name: Option<String>,
    /// Folder of the package; empty for the repository's root.
    pub root: String,
    /// Names of its dependencies, sorted, without duplicates and without versions.
    pub dependencies: Vec<String>,
    /// Files that an import of the package itself opens, relative to the repository, best first.
    pub entries: Vec<String>,
}
