//! Finds the programs of this build. The programs are in the folder of the running program, because one build
//! creates all of them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// The path of a program of this build. The variable `CAIRN_PROGRAMS` can set a different folder.
pub fn program(name: &str) -> Result<PathBuf> {
    let folder = match std::env::var_os("CAIRN_PROGRAMS") {
        Some(folder) => PathBuf::from(folder),
        None => beside_this().context("cannot find the folder of this program")?,
    };
    let path = folder.join(name);
    ensure!(path.is_file(), "{} is not built: `cargo build --workspace` builds it", path.display());
    Ok(path)
}

/// The folder of the programs. Test programs are in a subfolder of this folder.
fn beside_this() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?;
    let is_of_tests = folder.file_name().is_some_and(|name| name == "deps");
    let folder = if is_of_tests { folder.parent()? } else { folder };
    Some(Path::to_owned(folder))
}
