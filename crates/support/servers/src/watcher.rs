//! Ends a process group when this process ends for any reason.
//!
//! The watcher is a shell that reads from a pipe. Only this process has the other end of the pipe, because
//! Rust opens it close-on-exec. If the pipe closes before the watcher has read the word `done`, this process
//! has died, and the watcher kills the group. Linux's parent-death signal is not sufficient, because it is
//! sent when the *thread* that started the child ends, and it does not reach grandchildren.

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
    /// Starts the watcher in a separate group, so that killing the group of this process does not end the
    /// watcher.
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

    /// Ends the watcher, which then does not kill the group. Call this method when the group has ended, or if
    /// the group must outlive this process.
    pub fn dismiss(mut self) {
        // A broken pipe means that the watcher has already ended.
        let _ = writeln!(self.pipe, "done");
        drop(self.pipe);
        let _ = self.shell.wait();
    }
}
