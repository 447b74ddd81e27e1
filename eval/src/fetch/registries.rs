//! Fetches packages from the registries of programming languages.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Deserialize;

use super::command::run;
use super::unpack::only_archive;
use crate::questions::SourcePackage;

/// Fetches a Go module. `go mod download` prints the folder to which it has unpacked the module.
pub(super) fn go(package: &SourcePackage, download: &Path, folder: &Path) -> anyhow::Result<()> {
    #[derive(Deserialize)]
    struct Downloaded {
        #[serde(rename = "Dir")]
        directory: PathBuf,
    }
    let wanted = format!("{}@{}", package.package, package.version);
    let printed = run(download, "go", &["mod", "download", "-json", &wanted])?;
    let downloaded: Downloaded = serde_json::from_str(&printed).context("cannot read the output of go")?;
    copy(&downloaded.directory, folder)
}

/// Fetches the source distribution of a Python package. Only the package itself must be a source
/// distribution. The build tools of the package may be wheels.
pub(super) fn pypi(package: &SourcePackage, download: &Path, folder: &Path) -> anyhow::Result<()> {
    let wanted = format!("{}=={}", package.package, package.version);
    run(download, "pip", &["download", "--quiet", "--no-deps", "--no-binary", &package.package, &wanted])?;
    only_archive(download, folder)
}

/// Fetches a crate. Cargo has no command that fetches a single crate. Therefore a package that depends on the
/// crate is created, and cargo fetches the dependencies of this package.
pub(super) fn crates(package: &SourcePackage, download: &Path, folder: &Path) -> anyhow::Result<()> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    #[derive(Deserialize)]
    struct Package {
        name: String,
        manifest_path: PathBuf,
    }
    let manifest = format!(
        "[package]\nname = \"fetched\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n\n[dependencies.{}]\n\
         version = \"={}\"\ndefault-features = false\n",
        package.package, package.version
    );
    fs::create_dir_all(download.join("src")).context("creating a package")?;
    fs::write(download.join("src/lib.rs"), "").context("creating a package")?;
    fs::write(download.join("Cargo.toml"), manifest).context("creating a package")?;
    let printed = run(download, "cargo", &["metadata", "--quiet", "--format-version", "1"])?;
    let metadata: Metadata = serde_json::from_str(&printed).context("cannot read the output of cargo")?;
    let found = metadata.packages.into_iter().find(|found| found.name == package.package);
    let manifest = found.context("cargo does not list the crate")?.manifest_path;
    copy(manifest.parent().context("the path of the manifest has no folder")?, folder)
}

pub(super) fn npm(package: &SourcePackage, download: &Path, folder: &Path) -> anyhow::Result<()> {
    let wanted = format!("{}@{}", package.package, package.version);
    run(download, "npm", &["pack", "--silent", &wanted])?;
    only_archive(download, folder)
}

/// Fetches the archive of sources that is published together with the binary archive.
pub(super) fn maven(package: &SourcePackage, download: &Path, folder: &Path) -> anyhow::Result<()> {
    let artifact = format!("-Dartifact={}:{}:jar:sources", package.package, package.version);
    let output = format!("-DoutputDirectory={}", download.display());
    run(download, "mvn", &["--quiet", "--batch-mode", "dependency:copy", &artifact, &output])?;
    only_archive(download, folder)
}

/// Copies sources from the cache of a tool. The files in this cache may be read-only.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to).with_context(|| format!("creating {}", to.display()))?;
    for path in super::unpack::entries(from)? {
        let target = to.join(path.file_name().context("an entry has no name")?);
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            let text = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
            fs::write(&target, text).with_context(|| format!("writing {}", target.display()))?;
        }
    }
    Ok(())
}
