//! Runs suspect jobs, which may crash the process, in a child process. The child process runs the same
//! program with the same arguments and settings.
//!
//! The child connects to the stores, creates the same workers, and reads jobs from its standard input, one
//! per line. For each job, the child writes one line with the result to its standard output. The child ends
//! at once when its input ends, so it never outlives its parent.

use std::io::Write;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use async_trait::async_trait;
use cairn_domain::Lane;
use cairn_metastore::Metastore;
use cairn_pipeline::{Isolated, Isolation, Runner, StageError, Worker};
use cairn_ports::{ErrorClass, FailureCode};
use cairn_wire::{FailureName, Job};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{Mutex, mpsc};

use crate::{OwnersWork, Owning};

/// The environment variable that marks a process as a child for suspect jobs.
const CHILD: &str = "CAIRN_ISOLATED_WORKER";
/// The child's OOM score. When memory runs out, the kernel kills the child before its parent because of this
/// score.
const FIRST_TO_BE_KILLED: &str = "1000";
/// The time limit for a child to connect.
const STARTS_WITHIN: Duration = Duration::from_secs(60);
/// A child without a job is ended after this time, because it holds memory and connections.
const IDLE: Duration = Duration::from_secs(10);
/// The first line that a child prints. The child prints this line when it has connected to the stores.
const READY: &str = "ready";

/// Whether this process is a child that runs suspect jobs.
pub(crate) fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

#[derive(Serialize, Deserialize)]
struct Order {
    lane: String,
    job: String,
}

#[derive(Serialize, Deserialize)]
struct Reply {
    failure: Option<Failure>,
}

#[derive(Serialize, Deserialize)]
struct Failure {
    code: FailureName,
    class: Class,
    message: String,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Class {
    Transient,
    Pause { retry_after_ms: Option<u64> },
    Busy,
    Permanent,
    Decide,
    Cancelled,
}

impl From<ErrorClass> for Class {
    fn from(class: ErrorClass) -> Self {
        match class {
            ErrorClass::Transient => Self::Transient,
            ErrorClass::Pause { retry_after } => {
                Self::Pause { retry_after_ms: retry_after.map(|after| after.as_millis() as u64) }
            }
            ErrorClass::Busy => Self::Busy,
            ErrorClass::Permanent => Self::Permanent,
            ErrorClass::Decide => Self::Decide,
            ErrorClass::Cancelled => Self::Cancelled,
        }
    }
}

impl From<Class> for ErrorClass {
    fn from(class: Class) -> Self {
        match class {
            Class::Transient => Self::Transient,
            Class::Pause { retry_after_ms } => Self::Pause { retry_after: retry_after_ms.map(Duration::from_millis) },
            Class::Busy => Self::Busy,
            Class::Permanent => Self::Permanent,
            Class::Decide => Self::Decide,
            Class::Cancelled => Self::Cancelled,
        }
    }
}

impl From<StageError> for Failure {
    fn from(error: StageError) -> Self {
        Self { code: error.code.into(), class: error.class.into(), message: error.chain() }
    }
}

impl From<Failure> for StageError {
    fn from(failure: Failure) -> Self {
        StageError::new(failure.code.into(), failure.class.into(), failure.message)
    }
}

/// The child of this process. The child is started for a suspect job, and is reused for further suspect jobs
/// until it has been idle for some time.
pub(crate) struct ChildProcess {
    command: std::sync::Mutex<Command>,
    kept: Arc<Mutex<Kept>>,
    idle: Duration,
}

/// The child that is kept for the next job.
#[derive(Default)]
struct Kept {
    running: Option<Running>,
    /// The number of attempted jobs. It shows whether the child was used in the meantime.
    num_attempts: u64,
}

struct Running {
    child: Child,
    orders: ChildStdin,
    replies: Lines<BufReader<ChildStdout>>,
}

impl ChildProcess {
    /// Describes a child that runs this program with the arguments of this process.
    pub(crate) fn of_this_program() -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("cannot find the path of this program")?;
        let mut command = Command::new(program);
        command.args(std::env::args_os().skip(1));
        Ok(Self::new(command))
    }

    fn new(mut command: Command) -> Self {
        command.env(CHILD, "1").stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        for fault in cairn_faults::OF_ONE_PROCESS {
            command.env_remove(fault);
        }
        Self { command: std::sync::Mutex::new(command), kept: Arc::default(), idle: IDLE }
    }

    /// Ends the kept child if it is not used within the idle time after this attempt.
    fn end_when_idle(&self, num_attempts: u64) {
        let (kept, idle) = (Arc::clone(&self.kept), self.idle);
        tokio::spawn(async move {
            tokio::time::sleep(idle).await;
            let mut kept = kept.lock().await;
            if kept.num_attempts == num_attempts {
                kept.running = None;
            }
        });
    }

    async fn start(&self) -> Result<Running, StageError> {
        let spawned = self.command.lock().unwrap_or_else(std::sync::PoisonError::into_inner).spawn();
        let mut child = spawned.map_err(|error| not_started(&error.to_string()))?;
        let pipes = (child.stdin.take(), child.stdout.take());
        let (Some(orders), Some(output)) = pipes else { return Err(not_started("the child has no pipes")) };
        let mut running = Running { child, orders, replies: BufReader::new(output).lines() };
        match tokio::time::timeout(STARTS_WITHIN, running.replies.next_line()).await {
            Ok(Ok(Some(line))) if line == READY => Ok(running),
            Ok(_) => Err(not_started("the child ended before it was ready")),
            Err(_) => Err(not_started("the child was not ready in time")),
        }
    }
}

fn not_started(reason: &str) -> StageError {
    // The class is `Busy`, so that the other jobs of the stage, which do not need the child, are not delayed.
    let message = format!("no child process for a suspect: {reason}");
    StageError::new(FailureCode::Unavailable, ErrorClass::Busy, message)
}

impl Running {
    /// Sends a job to the child and waits for the result. `None` if the child has died.
    async fn ask(&mut self, order: &Order) -> Option<Result<(), StageError>> {
        let line = serde_json::to_string(order).ok()? + "\n";
        self.orders.write_all(line.as_bytes()).await.ok()?;
        let reply = self.replies.next_line().await.ok()??;
        let reply: Reply = serde_json::from_str(&reply).ok()?;
        Some(reply.failure.map_or(Ok(()), |failure| Err(failure.into())))
    }

    async fn fate(mut self) -> String {
        // The output has ended, so the child has usually ended too. If the child is still running, it is
        // killed when the handle is dropped.
        match tokio::time::timeout(Duration::from_secs(1), self.child.wait()).await {
            Ok(Ok(status)) => status.to_string(),
            _ => "it closed its output".to_owned(),
        }
    }
}

#[async_trait]
impl Isolation for ChildProcess {
    async fn attempt(&self, lane: Lane, job: &Job) -> Isolated {
        let mut kept = self.kept.lock().await;
        kept.num_attempts += 1;
        // While the child works, this future owns the handle, so that the child is killed if this future is
        // dropped.
        let mut running = match kept.running.take() {
            Some(running) => running,
            None => match self.start().await {
                Ok(running) => running,
                Err(error) => return Isolated::Ended(Err(error)),
            },
        };
        let order = Order { lane: lane.as_str().to_owned(), job: job.to_json() };
        match running.ask(&order).await {
            Some(result) => {
                kept.running = Some(running);
                self.end_when_idle(kept.num_attempts);
                Isolated::Ended(result)
            }
            None => Isolated::Died(running.fate().await),
        }
    }
}

/// Called in the child: runs the jobs from the standard input until the input ends.
pub(crate) async fn serve(
    runner: &Arc<Runner<Metastore>>,
    mut workers: Vec<Worker>,
    owners: Option<OwnersWork>,
) -> anyhow::Result<()> {
    // A process needs no privileges to raise its own OOM score. An error is ignored, because the kernel then
    // chooses the process to kill by memory size.
    let _best_effort = std::fs::write("/proc/self/oom_score_adj", FIRST_TO_BE_KILLED);
    if let Some(owners) = owners {
        if let Owning::Provider(embedder) = &owners.owning {
            // The child need not check who owns the key: the parent owns it, and does not call the provider
            // for this job while the child works on the job.
            embedder.take_over(|| true);
        }
        workers.extend(owners.workers);
    }
    let mut orders = orders();
    reply(READY)?;
    while let Some(line) = orders.recv().await {
        let order: Order = serde_json::from_str(&line).context("cannot read a line from the parent process")?;
        let job = Job::from_json(&order.job).map_err(anyhow::Error::msg)?;
        let lane = Lane::parse(&order.lane).context("the lane of the job is unknown")?;
        let worker = workers
            .iter()
            .find(|worker| worker.stage() == job.stage())
            .context("this process has no worker for the stage of the job")?;
        let result = runner.attempt_alone(worker, lane, &job).await;
        reply(&serde_json::to_string(&Reply { failure: result.err().map(Failure::from) })?)?;
    }
    Ok(())
}

/// The lines of the input. If the input ends, the parent has ended, so this process exits at once.
fn orders() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                break;
            }
        }
        std::process::exit(0);
    });
    receiver
}

fn reply(line: &str) -> anyhow::Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}").and_then(|()| output.flush()).context("the parent process has ended")
}

#[cfg(test)]
mod tests {
    use cairn_domain::{RepositoryId, RepositoryName, Tenant};
    use cairn_wire::SyncJob;

    use super::*;

    fn job() -> Job {
        let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new("r"));
        Job::Sync(SyncJob { tenant: Tenant::local(), repository, request: 1 })
    }

    /// A child process that runs this shell script.
    fn child(script: &str) -> ChildProcess {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        ChildProcess::new(command)
    }

    #[tokio::test]
    async fn child_that_replies_is_kept_for_the_next_job() {
        let child = child(
            r#"echo ready; n=0; while read line; do n=$((n+1)); echo '{"failure":{"code":"io","class":"transient","message":"'$n'"}}'; done"#,
        );
        for expected in ["1", "2"] {
            let Isolated::Ended(Err(error)) = child.attempt(Lane::Bulk, &job()).await else { panic!("it failed") };
            assert_eq!(
                (error.code, error.class, error.chain().as_str()),
                (FailureCode::Io, ErrorClass::Transient, expected)
            );
        }
    }

    #[tokio::test]
    async fn idle_child_is_ended() {
        let mut child = child(
            r#"echo ready; while read line; do echo '{"failure":{"code":"io","class":"transient","message":"'$$'"}}'; done"#,
        );
        child.idle = Duration::from_millis(1);
        let Isolated::Ended(Err(error)) = child.attempt(Lane::Bulk, &job()).await else { panic!("it failed") };
        let id = error.chain();
        while child.kept.lock().await.running.is_some() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let Isolated::Ended(Err(error)) = child.attempt(Lane::Bulk, &job()).await else { panic!("it failed") };
        assert_ne!(error.chain(), id, "the idle child was reused");
    }

    #[tokio::test]
    async fn death_during_a_job_differs_from_a_failed_start() {
        let dies = child("echo ready; read line; kill -9 $$");
        let Isolated::Died(how) = dies.attempt(Lane::Bulk, &job()).await else { panic!("it died") };
        assert!(how.contains("signal: 9"), "{how}");
        let Isolated::Ended(Err(error)) = child("exit 1").attempt(Lane::Bulk, &job()).await else { panic!("no child") };
        assert_eq!((error.code, error.class), (FailureCode::Unavailable, ErrorClass::Busy));
    }

    #[test]
    fn failures_reach_the_parent_unchanged() {
        let classes = [
            ErrorClass::Transient,
            ErrorClass::Pause { retry_after: Some(Duration::from_millis(5)) },
            ErrorClass::Pause { retry_after: None },
            ErrorClass::Busy,
            ErrorClass::Permanent,
            ErrorClass::Decide,
            ErrorClass::Cancelled,
        ];
        for class in classes {
            let failure = Failure::from(StageError::new(FailureCode::Corrupt, class, "m"));
            let text = serde_json::to_string(&failure).expect("JSON");
            let error = StageError::from(serde_json::from_str::<Failure>(&text).expect("a failure"));
            assert_eq!((error.code, error.class), (FailureCode::Corrupt, class));
        }
    }
}
