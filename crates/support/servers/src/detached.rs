//! Starts processes that outlive the command that starts them, and ends them later.
//!
//! A folder contains the data of the processes, the file `env` with their addresses, and the file
//! `processes`. This file has one line `ID STARTED` for each process, in the order in which the processes
//! must be ended. `STARTED` is the start time of the process in the kernel. The start time ensures that
//! another process with a reused id is never ended.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::time::{Instant, sleep};

use crate::Fleet;
use crate::group::{self, started_at};
use crate::process::ServerProcess;

const PROCESSES: &str = "processes";
const ENVIRONMENT: &str = "env";
const STOP_DEADLINE: Duration = Duration::from_secs(60);
const POLL_EVERY: Duration = Duration::from_millis(50);

/// Starts the servers and leaves them running. After `down`, their data stays in the folder for the next
/// `up`.
pub async fn up(directory: &Path) -> Result<()> {
    check_none_runs(directory)?;
    let fleet = Fleet::start(directory).await?;
    let variables = fleet.variables();
    let lines: Vec<String> = variables.iter().map(|(name, url)| format!("export {name}='{url}'\n")).collect();
    write(directory, ENVIRONMENT, &lines.concat())?;
    keep(directory, fleet.into_processes())
}

/// Leaves processes running until `down` ends them in the given order. The folder must exist.
pub fn keep(directory: &Path, processes: Vec<ServerProcess>) -> Result<()> {
    check_none_runs(directory)?;
    let lines: Vec<String> = processes.iter().map(record).collect::<Result<_>>()?;
    write(directory, PROCESSES, &lines.concat())?;
    processes.into_iter().for_each(ServerProcess::detach);
    Ok(())
}

fn check_none_runs(directory: &Path) -> Result<()> {
    let living = read_processes(directory)?.into_iter().filter(Recorded::is_alive).count();
    ensure!(living == 0, "the servers in {} are already running; end them with `down` first", directory.display());
    Ok(())
}

fn record(process: &ServerProcess) -> Result<String> {
    let pid = process.pid().context("a server has ended")?;
    let started = started_at(pid).context("a server has ended")?;
    Ok(format!("{pid} {started}\n"))
}

/// Ends the servers that `up` started in the folder. Also succeeds if no servers are running.
pub async fn down(directory: &Path) -> Result<()> {
    for process in read_processes(directory)?.into_iter().filter(Recorded::is_alive) {
        process.end().await?;
    }
    for file in [PROCESSES, ENVIRONMENT] {
        let path = directory.join(file);
        if path.exists() {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    Ok(())
}

/// Writes a file that only its owner can read, because the addresses contain passwords.
fn write(directory: &Path, file: &str, text: &str) -> Result<()> {
    let path = directory.join(file);
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    fs::set_permissions(&path, Permissions::from_mode(0o600))?;
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Recorded {
    pid: u32,
    started: u64,
}

impl Recorded {
    fn is_alive(&self) -> bool {
        started_at(self.pid) == Some(self.started)
    }

    async fn end(&self) -> Result<()> {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw).context("the process id is invalid")?;
        kill_process(pid, Signal::TERM).with_context(|| format!("cannot end process {}", self.pid))?;
        let deadline = Instant::now() + STOP_DEADLINE;
        while group::is_alive(self.pid) && Instant::now() < deadline {
            sleep(POLL_EVERY).await;
        }
        if group::is_alive(self.pid) {
            kill_process_group(pid, Signal::KILL).with_context(|| format!("cannot kill process {}", self.pid))?;
        }
        Ok(())
    }
}

fn read_processes(directory: &Path) -> Result<Vec<Recorded>> {
    let path = directory.join(PROCESSES);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    text.lines().map(|line| parse(line).with_context(|| format!("{}: `{line}`", path.display()))).collect()
}

fn parse(line: &str) -> Option<Recorded> {
    let (pid, started) = line.split_once(' ')?;
    Some(Recorded { pid: pid.parse().ok()?, started: started.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reused_process_id_is_not_alive() {
        let pid = std::process::id();
        let started = started_at(pid).expect("this process");
        assert!(Recorded { pid, started }.is_alive());
        assert!(!Recorded { pid, started: started + 1 }.is_alive());
        assert_eq!(parse(&format!("{pid} {started}")), Some(Recorded { pid, started }));
        assert_eq!(parse("12"), None);
    }
}
