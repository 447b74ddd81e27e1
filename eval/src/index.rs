//! Indexes the sources with the program `cairn`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use cairn_domain::Digester;

/// Number of hexadecimal digits in the names of folders.
const DIGITS: usize = 12;

/// The index directory for these sources. Each set of sources has its own directory, so that an index
/// contains exactly the sources of one run.
pub(crate) fn home(folder: &Path, sources: &[PathBuf]) -> PathBuf {
    let add = |digester: Digester, source: &PathBuf| digester.text(&source.to_string_lossy());
    folder.join(short(&Digester::new("sources of an index").list(sources, add)))
}

/// The first digits of a digest, which are used as the name of a folder.
pub(crate) fn short(digester: &Digester) -> String {
    digester.digest().to_string().chars().take(DIGITS).collect()
}

/// Indexes the sources of a repository into the index directory. An unchanged source is not indexed again.
pub(crate) fn index(program: &Path, home: &Path, source: &Path) -> anyhow::Result<()> {
    let output = command(program, home).arg("index").arg(source).output();
    let output = output.with_context(|| format!("starting {}", program.display()))?;
    let message = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "indexing {} failed: {message}", source.display());
    Ok(())
}

/// A command that runs the program with this index directory and without the user's settings.
pub(crate) fn command(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg("--home").arg(home);
    for variable in ["CAIRN_SERVER", "CAIRN_CLUSTER_CONFIG", "CAIRN_CONFIG"] {
        command.env_remove(variable);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_sources_use_different_indexes() {
        let home = |sources: &[&str]| home(Path::new("index"), &sources.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(home(&["a", "b"]), home(&["a", "b"]));
        assert_ne!(home(&["a", "b"]), home(&["a"]));
        assert_ne!(home(&["a", "b"]), home(&["ab"]));
    }
}
