//! Indexes the sources with the program `cairn`.

use std::path::Path;
use std::process::Command;

use anyhow::Context;

/// Indexes the sources of a repository into the index directory. An unchanged source is not indexed again.
pub(crate) fn index(program: &Path, home: &Path, source: &Path) -> anyhow::Result<()> {
    let mut command = Command::new(program);
    command.arg("--home").arg(home).arg("index").arg(source);
    for variable in ["CAIRN_SERVER", "CAIRN_CLUSTER_CONFIG", "CAIRN_CONFIG"] {
        command.env_remove(variable);
    }
    let output = command.output().with_context(|| format!("starting {}", program.display()))?;
    let message = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "indexing {} failed: {message}", source.display());
    Ok(())
}
