//! Unpacks archives.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::command::run;

/// Unpacks the only archive in `download` to `folder`. If the archive has one folder at its top, the contents
/// of this folder are the sources.
pub(super) fn only_archive(download: &Path, folder: &Path) -> anyhow::Result<()> {
    let archives = entries(download)?.into_iter().filter(|path| path.is_file()).collect::<Vec<_>>();
    let [archive] = archives.as_slice() else {
        anyhow::bail!("the download has {} archives instead of one", archives.len());
    };
    let unpacked = download.join("unpacked");
    fs::create_dir_all(&unpacked).context("creating a folder")?;
    let name = archive.to_str().context("the name of an archive is not UTF-8")?;
    let is_zip = [".zip", ".jar"].iter().any(|end| name.ends_with(end));
    if is_zip {
        run(&unpacked, "unzip", &["-q", name])?
    } else {
        run(&unpacked, "tar", &["-xf", name])?
    };
    move_sources(&unpacked, folder)
}

/// Moves the unpacked sources to `folder`. If all sources are in one folder, only the contents of this folder
/// are moved.
fn move_sources(unpacked: &Path, folder: &Path) -> anyhow::Result<()> {
    let top = entries(unpacked)?;
    let sources = match top.as_slice() {
        [only] if only.is_dir() => only,
        _ => unpacked,
    };
    fs::rename(sources, folder).with_context(|| format!("cannot move the sources to {}", folder.display()))
}

pub(super) fn entries(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let found = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    let paths: Result<Vec<PathBuf>, _> = found.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut paths = paths.with_context(|| format!("reading {}", folder.display()))?;
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_folder_around_the_sources_is_dropped() {
        for (files, expect) in [(&["top/a", "top/b"][..], ["a", "b"]), (&["a", "b"], ["a", "b"])] {
            let directory = tempfile::tempdir().expect("a directory");
            let (unpacked, folder) = (directory.path().join("unpacked"), directory.path().join("sources"));
            for file in files {
                let path = unpacked.join(file);
                fs::create_dir_all(path.parent().expect("a parent")).expect("created");
                fs::write(path, "x").expect("written");
            }
            move_sources(&unpacked, &folder).expect("moved");
            let names: Vec<PathBuf> = expect.iter().map(|name| folder.join(name)).collect();
            assert_eq!(entries(&folder).expect("read"), names);
        }
    }
}
