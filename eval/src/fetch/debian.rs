//! Fetches source packages of Debian with apt.
//!
//! On most machines, the package lists of apt name only binary packages. Therefore the program writes copies
//! of the machine's lists that name source packages. Apt uses these copies, and separate folders for the
//! indexes. The settings of the machine are not changed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::command::run;
use super::unpack::{entries, only_archive};
use crate::questions::SourcePackage;

/// The files of this machine that list the package sources.
const LIST: &str = "/etc/apt/sources.list";
const LISTS: &str = "/etc/apt/sources.list.d";

pub(super) fn source(package: &SourcePackage, cache: &Path, download: &Path, folder: &Path) -> anyhow::Result<()> {
    let apt = cache.join("apt");
    if !apt.join("updated").exists() {
        update(&apt)?;
    }
    let mut arguments = options(&apt);
    let wanted = format!("{}={}", package.package, package.version);
    arguments.extend(["source", "--download-only", "-qq"].map(str::to_owned));
    arguments.push(wanted);
    let fetched = run(download, "apt-get", &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    if let Err(error) = fetched {
        return original_only(download, folder).context(error);
    }
    let description = entries(download)?.into_iter().find(|path| path.extension().is_some_and(|end| end == "dsc"));
    let description = description.context("the download has no description of a source package")?;
    let text = |path: &Path| path.to_str().map(str::to_owned).context("a path is not UTF-8");
    // The checksums in the description are checked. The signature of the description is not checked, because
    // the key of the package's maintainer is rarely installed. Apt has checked the signature of the archive.
    run(download, "dpkg-source", &["--no-check", "--no-copy", "--extract", &text(&description)?, &text(folder)?])?;
    // The folder `.pc` contains copies of the files as they were before Debian's patches.
    super::remove(&folder.join(".pc"))
}

/// Unpacks the original sources, without Debian's changes. This function is needed because some mirrors lack
/// the archive of the changes. The difference is small, because few packages change files of the original
/// sources.
fn original_only(download: &Path, folder: &Path) -> anyhow::Result<()> {
    for path in entries(download)? {
        if !path.to_string_lossy().contains(".orig.tar.") {
            fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
        }
    }
    only_archive(download, folder).context("the mirror has no original sources")?;
    eprintln!("using the original sources in {} without the changes of Debian", folder.display());
    Ok(())
}

/// Downloads the indexes of source packages. The file `updated` in the cache records that the indexes were
/// downloaded.
fn update(apt: &Path) -> anyhow::Result<()> {
    for folder in ["lists/partial", "archives/partial", "parts"] {
        fs::create_dir_all(apt.join(folder)).with_context(|| format!("creating {}", apt.display()))?;
    }
    let machine = entries(Path::new(LISTS)).unwrap_or_default();
    for list in machine.into_iter().chain([PathBuf::from(LIST)]) {
        let (Some(name), Ok(text)) = (list.file_name(), fs::read_to_string(&list)) else { continue };
        fs::write(apt.join("parts").join(name), of_sources(&text)).context("cannot write a list of sources")?;
    }
    let mut arguments = options(apt);
    arguments.extend(["update", "-qq"].map(str::to_owned));
    run(apt, "apt-get", &arguments.iter().map(String::as_str).collect::<Vec<_>>())?;
    fs::write(apt.join("updated"), "").context("cannot mark the lists as read")
}

/// A copy of a package list of this machine. The copy names source packages instead of binary packages.
fn of_sources(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix("deb ") {
        Some(rest) => format!("deb-src {rest}\n"),
        None if line.starts_with("Types:") => "Types: deb-src\n".to_owned(),
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

fn options(apt: &Path) -> Vec<String> {
    let folder = |name: &str| apt.join(name).display().to_string();
    [
        "Dir::Etc::SourceList=/dev/null".to_owned(),
        format!("Dir::Etc::SourceParts={}", folder("parts")),
        format!("Dir::State::Lists={}", folder("lists")),
        format!("Dir::Cache={}", apt.display()),
        "APT::Sandbox::User=".to_owned(),
    ]
    .into_iter()
    .flat_map(|option| ["--option".to_owned(), option])
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_name_source_packages() {
        let check = |list, expect| assert_eq!(of_sources(list), expect, "{list}");
        check("deb [arch=x] mirror suite main\n", "deb-src [arch=x] mirror suite main\n");
        check("deb-src mirror suite main\n", "deb-src mirror suite main\n");
        check("Types: deb\nURIs: mirror\n", "Types: deb-src\nURIs: mirror\n");
        check("# comment\n", "# comment\n");
    }
}
