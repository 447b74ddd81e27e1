//! Fetches the sources of packages with the tool of each registry, so that the user's settings for proxies
//! and mirrors apply. The tools check the sources against the checksums of the registry.

mod command;
mod debian;
mod registries;
mod unpack;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::questions::{Registry, SourcePackage};

/// Returns the folder with the sources of a package. The sources are fetched if the cache does not contain
/// them.
pub(crate) fn sources(cache: &Path, package: &SourcePackage) -> anyhow::Result<PathBuf> {
    let folder = cache.join("sources").join(&package.id);
    let mark = cache.join("sources").join(format!("{}.fetched", package.id));
    let identity = format!("{} {}\n", package.package, package.version);
    if fs::read_to_string(&mark).is_ok_and(|fetched| fetched == identity) {
        return Ok(folder);
    }
    eprintln!("fetching {} {}", package.package, package.version);
    let download = cache.join("downloads").join(&package.id);
    remove(&download)?;
    remove(&folder)?;
    fs::create_dir_all(&download).with_context(|| format!("creating {}", download.display()))?;
    fs::create_dir_all(cache.join("sources")).context("cannot create the folder of the sources")?;
    let fetch = || -> anyhow::Result<()> {
        match package.registry {
            Registry::Go => registries::go(package, &download, &folder),
            Registry::Pypi => registries::pypi(package, &download, &folder),
            Registry::Crates => registries::crates(package, &download, &folder),
            Registry::Npm => registries::npm(package, &download, &folder),
            Registry::Maven => registries::maven(package, &download, &folder),
            Registry::Debian => debian::source(package, cache, &download, &folder),
        }
    };
    fetch().with_context(|| format!("fetching {} {}", package.package, package.version))?;
    for excluded in &package.exclude {
        remove(&folder.join(excluded))?;
    }
    remove(&download)?;
    fs::write(&mark, identity).with_context(|| format!("writing {}", mark.display()))?;
    Ok(folder)
}

fn remove(folder: &Path) -> anyhow::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("removing {}", folder.display()))
        }
        _ => Ok(()),
    }
}
