//! Finds the server programs. `scripts/servers` installs missing programs.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use tokio::process::Command;

/// The path of a server program (for Neo4j, the folder of its jars). Installs the program if it is missing.
pub(crate) async fn installed(name: &str) -> Result<PathBuf> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../scripts/servers");
    let run = Command::new(&script)
        .args(["install", name])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .output()
        .await
        .with_context(|| format!("cannot run {}", script.display()))?;
    ensure!(run.status.success(), "`scripts/servers install {name}` failed; the reason is printed above");
    let printed = String::from_utf8_lossy(&run.stdout);
    let path = printed.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    Ok(path.with_context(|| format!("`scripts/servers install {name}` printed no path"))?.into())
}
