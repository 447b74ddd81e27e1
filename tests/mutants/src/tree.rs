//! A copy of the work tree, in which bugs are planted.
//!
//! In the copy, every used test binary gets a unique name: cargo selects binaries of the workspace by name,
//! and many are called `it`. If the binaries were selected by package, cargo would build their libraries with
//! different features. Unchanged files keep their modification times, so that cargo compiles only changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::{Bug, Edit, Test};

pub struct Tree {
    root: PathBuf,
}

impl Tree {
    /// Uses an existing tree.
    pub fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// Copies the files on disk in `source` that git tracks, and the new files that git does not ignore.
    pub fn copy(source: &Path, root: PathBuf) -> Result<Self> {
        let files = listed(source)?;
        for file in &files {
            copy_if_changed(&source.join(file), &root.join(file))?;
        }
        let tree = Self { root };
        tree.remove_others(&files)?;
        Ok(tree)
    }

    /// Adds a unique name for the binary of each of these tests to the manifests of the copy.
    pub fn name_binaries<'a>(&self, tests: impl IntoIterator<Item = &'a Test>) -> Result<()> {
        let binaries: BTreeMap<String, &Test> = tests.into_iter().map(|test| (test.target(), test)).collect();
        for (name, test) in binaries {
            let folder = self.folder_of(&test.package)?;
            let source = test.sources().into_iter().find(|source| folder.join(source).is_file());
            let source = source.with_context(|| format!("{} has no test binary `{}`", test.package, test.binary))?;
            let mut manifest = fs::OpenOptions::new().append(true).open(folder.join("Cargo.toml"))?;
            write!(manifest, "\n[[test]]\nname = \"{name}\"\npath = \"{source}\"\n")?;
        }
        Ok(())
    }

    /// Returns the folder of a package.
    pub fn folder_of(&self, package: &str) -> Result<PathBuf> {
        let line = format!("name = \"{package}\"\n");
        let mut folders: Vec<PathBuf> = ["crates", "services", "tests"].iter().map(|top| self.root.join(top)).collect();
        while let Some(folder) = folders.pop() {
            match fs::read_to_string(folder.join("Cargo.toml")) {
                Ok(manifest) if manifest.contains(&line) => return Ok(folder),
                Ok(_) => {}
                Err(_) => folders.extend(folders_in(&folder)?),
            }
        }
        bail!("no crate is called `{package}`")
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Plants a bug, runs `work`, and removes the bug again.
    pub fn with<T>(&self, bug: &Bug, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let mut before: Vec<(PathBuf, String)> = Vec::new();
        let planted = bug.edits.iter().try_for_each(|edit| {
            before.push(self.plant(edit)?);
            Ok(())
        });
        let outcome = planted.and_then(|()| work());
        // Reverts the edits in reverse order, because several edits can change the same file.
        for (file, text) in before.into_iter().rev() {
            fs::write(&file, text).with_context(|| format!("cannot restore {}", file.display()))?;
        }
        outcome
    }

    fn plant(&self, edit: &Edit) -> Result<(PathBuf, String)> {
        let file = self.root.join(&edit.file);
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", edit.file))?;
        fs::write(&file, edit.apply(&text)?).with_context(|| format!("cannot write {}", file.display()))?;
        Ok((file, text))
    }

    /// Removes the files of an earlier copy that no longer exist in the source.
    fn remove_others(&self, files: &BTreeSet<PathBuf>) -> Result<()> {
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let path = entry?.path();
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path);
                } else if !path.strip_prefix(&self.root).is_ok_and(|file| files.contains(file)) {
                    fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
                }
            }
        }
        Ok(())
    }
}

fn listed(source: &Path) -> Result<BTreeSet<PathBuf>> {
    let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let listed = Command::new("git").arg("-C").arg(source).args(arguments).output().context("cannot run git")?;
    ensure!(listed.status.success(), "git could not list the files of {}", source.display());
    let names = String::from_utf8(listed.stdout).context("a file's name is not UTF-8")?;
    // A tracked file may have been deleted from disk.
    let is_there = |file: &PathBuf| source.join(file).is_file();
    Ok(names.split_terminator('\0').map(PathBuf::from).filter(is_there).collect())
}

fn folders_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    Ok(entries.into_iter().map(|entry| entry.path()).filter(|path| path.is_dir()).collect())
}

fn copy_if_changed(from: &Path, to: &Path) -> Result<()> {
    let bytes = fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
    if fs::read(to).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    fs::copy(from, to).map(drop).with_context(|| format!("cannot copy to {}", to.display()))?;
    // The copy may have an old modification time. Without a new time, cargo would use the build of the
    // earlier text.
    fs::File::options().write(true).open(to)?.set_modified(std::time::SystemTime::now())?;
    Ok(())
}
