//! Ends a process group when this process is gone, however it went.
//!
//! The watcher is a shell that waits on a pipe whose other end only this process holds (Rust opens it close-on-exec). If
//! the pipe closes without the word `done`, this process died and the group is killed. Linux's parent-death signal
//! would not do: it comes when the *thread* ends that started the child, and it reaches no grandchildren.

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
    /// In a group of its own, so that what kills this process's group leaves the watcher alive.
    pub fn start() -> Result<Self> {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut shell = command.process_group(0).spawn().context("cannot start a shell")?;
        let pipe = shell.stdin.take().context("the watcher has no pipe")?;
        Ok(Self { shell, pipe })
    }

    pub fn watch(&mut self, group: u32) -> Result<()> {
        writeln!(self.pipe, "{group}").context("the watcher is gone")
    }

    /// The group needs no end any more, or is to outlive this process.
    pub fn dismiss(mut self) {
        // If the pipe is broken, the watcher is gone already.
        let _ = writeln!(self.pipe, "done");
        drop(self.pipe);
        let _ = self.shell.wait();
    }
}
