//! The process of a server. The process can be started, stopped, killed, frozen, and restarted with the same
//! data and ports.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use futures::future::BoxFuture;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::time::{Instant, sleep, timeout};
use url::{Position, Url};

use crate::group;
use crate::http;
use crate::watcher::Watcher;

/// The time limit for a start. No server needs this much time, even on a very busy machine.
const READY_DEADLINE: Duration = Duration::from_secs(180);
/// The time limit for an orderly stop; Neo4j takes 12 s.
const STOP_DEADLINE: Duration = Duration::from_secs(60);
/// The time limit for a signal to take effect. A killed group ends when the kernel has freed its memory.
const SIGNAL_DEADLINE: Duration = Duration::from_secs(10);
const PROBE_DEADLINE: Duration = Duration::from_secs(5);
const POLL_EVERY: Duration = Duration::from_millis(50);
const LOG_TAIL_LINES: usize = 25;
/// Maximum number of attempts to start a server. If another process has taken the chosen ports, the next
/// attempt uses other ports.
const PORT_ATTEMPTS: usize = 3;

/// Checks whether the server is ready.
pub(crate) type Probe = Box<dyn Fn() -> BoxFuture<'static, bool> + Send + Sync>;

/// A server in a separate process group. The group ends when this value is dropped.
pub struct ServerProcess {
    name: String,
    command: Command,
    /// The log file, with the output of all starts of the process.
    log: PathBuf,
    probe: Probe,
    running: Option<Running>,
}

struct Running {
    leader: Child,
    watcher: Watcher,
}

impl ServerProcess {
    /// Starts the process, and waits until the probe succeeds.
    pub(crate) async fn start(name: &str, command: Command, log: PathBuf, probe: Probe) -> Result<Self> {
        let mut process = Self { name: name.to_owned(), command, log, probe, running: None };
        process.spawn()?;
        process.wait_until_ready().await?;
        Ok(process)
    }

    /// Starts a program, and waits until a GET request to `url` succeeds.
    pub async fn start_over_http(name: &str, command: Command, log: PathBuf, url: &str) -> Result<Self> {
        let url = Url::parse(url).with_context(|| format!("{url} is not an address"))?;
        let (server, path) = (url[..Position::BeforePath].to_owned(), url.path().to_owned());
        let probe = move || {
            let (server, path) = (server.clone(), path.clone());
            Box::pin(async move { http::is_ok(server, &path).await }) as _
        };
        Self::start(name, command, log, Box::new(probe)).await
    }

    /// The id of the process, which is also the id of its group. `None` if the process is not running.
    pub fn pid(&self) -> Option<u32> {
        self.running.as_ref().map(|running| running.leader.id())
    }

    /// The highest peak memory of a single process, among the process and its children, in bytes.
    pub fn peak_memory_bytes(&self) -> u64 {
        self.pid().map_or(0, group::peak_memory_bytes)
    }

    /// Whether the process has exited or was killed from outside.
    pub fn has_ended(&mut self) -> Result<bool> {
        Ok(!self.is_running()?)
    }

    /// Sends SIGKILL to the process and all its children. Returns when they have ended and their ports are
    /// free.
    pub async fn kill(&mut self) -> Result<()> {
        let Some(pid) = self.pid() else { return Ok(()) };
        self.end_group();
        let deadline = Instant::now() + SIGNAL_DEADLINE;
        while group::is_alive(pid) {
            self.check_deadline(deadline, "did not end after it was killed")?;
            sleep(POLL_EVERY).await;
        }
        Ok(())
    }

    /// Sends SIGTERM, and waits until the server has stopped.
    pub async fn stop(&mut self) -> Result<()> {
        let Some(pid) = self.pid() else { return Ok(()) };
        self.resume()?;
        kill_process(pid_of(pid)?, Signal::TERM)?;
        let deadline = Instant::now() + STOP_DEADLINE;
        while self.is_running()? {
            self.check_deadline(deadline, "did not stop")?;
            sleep(POLL_EVERY).await;
        }
        self.kill().await
    }

    /// Starts the server again with the same data and ports. A running server is stopped first.
    pub async fn restart(&mut self) -> Result<()> {
        self.stop().await?;
        self.spawn()?;
        self.wait_until_ready().await
    }

    /// Sends SIGSTOP. The process keeps its connections but does not respond. Returns when the process has
    /// stopped.
    pub async fn pause(&self) -> Result<()> {
        self.signal_group(Signal::STOP)?;
        let deadline = Instant::now() + SIGNAL_DEADLINE;
        while self.pid().is_some_and(|pid| !group::is_stopped(pid)) {
            self.check_deadline(deadline, "did not freeze")?;
            sleep(POLL_EVERY).await;
        }
        Ok(())
    }

    /// Sends SIGCONT, so that a frozen process continues.
    pub fn resume(&self) -> Result<()> {
        self.signal_group(Signal::CONT)
    }

    /// Leaves the server running when this process ends.
    pub(crate) fn detach(mut self) {
        if let Some(running) = self.running.take() {
            running.watcher.dismiss();
        }
    }

    fn spawn(&mut self) -> Result<()> {
        let watcher = Watcher::start()?;
        let log = File::options().create(true).append(true).open(&self.log);
        let log = log.with_context(|| format!("cannot write {}", self.log.display()))?;
        let command = self.command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).process_group(0);
        let leader = command.spawn().with_context(|| format!("cannot start {}", self.name))?;
        let group = leader.id();
        self.running.insert(Running { leader, watcher }).watcher.watch(group)
    }

    async fn wait_until_ready(&mut self) -> Result<()> {
        let deadline = Instant::now() + READY_DEADLINE;
        while !timeout(PROBE_DEADLINE, (self.probe)()).await.unwrap_or(false) {
            if !self.is_running()? {
                bail!("{} ended before it was ready\n{}", self.name, self.log_tail());
            }
            self.check_deadline(deadline, "was not ready")?;
            sleep(POLL_EVERY).await;
        }
        Ok(())
    }

    fn is_running(&mut self) -> Result<bool> {
        match &mut self.running {
            Some(running) => Ok(running.leader.try_wait()?.is_none()),
            None => Ok(false),
        }
    }

    fn signal_group(&self, signal: Signal) -> Result<()> {
        let pid = self.pid().with_context(|| format!("{} is not running", self.name))?;
        kill_process_group(pid_of(pid)?, signal).with_context(|| format!("cannot signal {}", self.name))
    }

    /// Kills the group, and only after that reads the exit status of its leader, so that the id is not reused
    /// before the group is dead.
    fn end_group(&mut self) {
        let Some(Running { mut leader, watcher }) = self.running.take() else { return };
        if let Ok(pid) = pid_of(leader.id()) {
            // An error means that the group is empty.
            let _ = kill_process_group(pid, Signal::KILL);
        }
        let _ = leader.wait();
        watcher.dismiss();
    }

    fn check_deadline(&self, deadline: Instant, what: &str) -> Result<()> {
        if Instant::now() > deadline {
            bail!("{} {what} in time\n{}", self.name, self.log_tail());
        }
        Ok(())
    }

    fn log_tail(&self) -> String {
        let text = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        let tail = &lines[lines.len().saturating_sub(LOG_TAIL_LINES)..];
        format!("the last lines of {}:\n{}", self.log.display(), tail.join("\n"))
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.end_group();
    }
}

fn pid_of(id: u32) -> Result<Pid> {
    i32::try_from(id).ok().and_then(Pid::from_raw).with_context(|| format!("{id} is not a process id"))
}

/// Starts a server on free ports. If another process has taken these ports in the meantime, tries other
/// ports.
pub(crate) async fn on_free_ports<T>(start: impl AsyncFn() -> Result<T>) -> Result<T> {
    let mut attempt = 1;
    loop {
        match start().await {
            Err(error) if attempt < PORT_ATTEMPTS && is_port_conflict(&error) => attempt += 1,
            outcome => return outcome,
        }
    }
}

fn is_port_conflict(error: &anyhow::Error) -> bool {
    let text = format!("{error:#}").to_lowercase();
    ["eaddrinuse", "address already in use", "port is already in use", "port conflict"]
        .iter()
        .any(|sign| text.contains(sign))
}

/// The folder for the data of a server. The folder is created if it does not exist.
pub(crate) fn folder(parent: &Path, name: &str) -> Result<PathBuf> {
    let path = std::path::absolute(parent)?.join(name);
    fs::create_dir_all(&path).with_context(|| format!("cannot create {}", path.display()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn other_ports_are_tried_only_after_a_conflict() {
        let check = async |message: &str, expect: usize| {
            let starts = std::cell::Cell::new(0);
            let outcome: Result<()> = on_free_ports(async || {
                starts.set(starts.get() + 1);
                bail!("{message}")
            })
            .await;
            assert!(outcome.is_err());
            assert_eq!(starts.get(), expect, "{message}");
        };
        check("listen 127.0.0.1:80: bind: address already in use", PORT_ATTEMPTS).await;
        check("{failed_to_start,{error,eaddrinuse}}", PORT_ATTEMPTS).await;
        check("no such file", 1).await;
    }
}
