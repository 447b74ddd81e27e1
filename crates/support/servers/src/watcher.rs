//! Ends a process group when this process ends for any reason.
//!
//! The watcher is a shell that reads from a pipe whose other end only this process has (Rust opens it
//! close-on-exec). If the pipe closes without the word `done`, this process has died and the group is killed.
//! Linux's parent-death signal is not sufficient: it is sent when the *thread* that started the child ends,
//! and it does not reach grandchildren.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::{Context, Result};

const SCRIPT: &str = r#"read -r group || exit 0; read -r word; [ "$word" = done ] || kill -s KILL -- "-$group""#;

pub(crate) struct Watcher {
    shell: Child,
    pipe: ChildStdin,
}

impl Watcher {
    /// Starts in a separate group, so that a kill of this process's group leaves the watcher alive.
    pub fn start() -> Result<Self> {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut shell = command.process_group(0).spawn().context("cannot start a shell")?;
        let pipe = shell.stdin.take().context("the watcher has no pipe")?;
        Ok(Self { shell, pipe })
    }

    pub fn watch(&mut self, group: u32) -> Result<()> {
        writeln!(self.pipe, "{group}").context("the watcher has ended")
    }

    /// The group has ended, or shall outlive this process.
    pub fn dismiss(mut self) {
        // A broken pipe means that the watcher has ended.
        let _ = writeln!(self.pipe, "done");
        drop(self.pipe);
        let _ = self.shell.wait();
    }
}
