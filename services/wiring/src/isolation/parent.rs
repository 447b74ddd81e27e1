//! The parent process: starts the child, gives it jobs, and embeds texts for it.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use async_trait::async_trait;
use cairn_domain::{DenseVector, InputType, Lane};
use cairn_pipeline::{Isolated, Isolation, StageError};
use cairn_ports::{Embedder, EmbedderError, ErrorClass, FailureCode};
use cairn_wire::Job;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use super::CHILD;
use super::messages::{Model, ToChild, ToParent};

/// The time limit for a child to connect.
const STARTS_WITHIN: Duration = Duration::from_secs(60);
/// A child without a job is ended after this time, because it holds memory and connections.
const IDLE: Duration = Duration::from_secs(10);

/// The child of this process. The child is started for a suspect job, and is reused for further suspect jobs
/// until it has been idle for some time.
pub(crate) struct ChildProcess {
    command: std::sync::Mutex<Command>,
    /// Embeds the texts of the child, if the child must not call the provider.
    embedder: Option<Arc<dyn Embedder>>,
    kept: Arc<Mutex<Kept>>,
    idle: Duration,
}

/// The child that is kept for the next job.
#[derive(Default)]
struct Kept {
    running: Option<Running>,
    /// The number of attempted jobs. If this number has changed, the child was used in the meantime.
    num_attempts: u64,
}

struct Running {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl ChildProcess {
    /// Describes a child that runs this program with the arguments of this process.
    pub(crate) fn of_this_program(embedder: Option<Arc<dyn Embedder>>) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("cannot find the path of this program")?;
        let mut command = Command::new(program);
        command.args(std::env::args_os().skip(1));
        Ok(Self::new(command, embedder))
    }

    fn new(mut command: Command, embedder: Option<Arc<dyn Embedder>>) -> Self {
        command.env(CHILD, "1").stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        for fault in cairn_faults::OF_ONE_PROCESS {
            command.env_remove(fault);
        }
        Self { command: std::sync::Mutex::new(command), embedder, kept: Arc::default(), idle: IDLE }
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

    /// Whether this process computes vectors with the model that the child expects. The settings may have
    /// changed since this process read them.
    fn is_own(&self, model: Option<&Model>) -> bool {
        match (model, &self.embedder) {
            (Some(model), Some(embedder)) => *model == Model::from(embedder.model()),
            (None, _) => true,
            (Some(_), None) => false,
        }
    }

    async fn start(&self) -> Result<Running, StageError> {
        let spawned = self.command.lock().unwrap_or_else(std::sync::PoisonError::into_inner).spawn();
        let mut child = spawned.map_err(|error| not_started(&error.to_string()))?;
        let pipes = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = pipes else { return Err(not_started("the child has no pipes")) };
        let mut running = Running { child, input, output: BufReader::new(output).lines() };
        match tokio::time::timeout(STARTS_WITHIN, read(&mut running.output)).await {
            Ok(Some(ToParent::Ready { model })) if self.is_own(model.as_ref()) => Ok(running),
            Ok(Some(ToParent::Ready { .. })) => {
                Err(not_started("its settings name another model: start this service again"))
            }
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

type JobResult = Result<(), StageError>;

/// The reason why the child has not finished its job.
enum Unfinished {
    /// The child has died, or sent a message that is not expected.
    Died,
    /// The embedder of this process panicked. The text describes the panic.
    Panicked(String),
}

impl Running {
    /// Sends a job to the child and waits for the result. Meanwhile embeds the texts that the child sends.
    async fn run(&mut self, job: &ToChild, embedder: Option<&Arc<dyn Embedder>>) -> Result<JobResult, Unfinished> {
        self.write(job).await?;
        // Each request is a task, so that a panic ends this job and not this process.
        let mut embedding = JoinSet::new();
        loop {
            let message = tokio::select! {
                message = read(&mut self.output) => message.ok_or(Unfinished::Died)?,
                Some(embedded) = embedding.join_next() => {
                    match embedded {
                        Ok(embedded) => self.write(&embedded).await?,
                        Err(panicked) => return Err(Unfinished::Panicked(panicked.to_string())),
                    }
                    continue;
                }
            };
            match (message, embedder) {
                (ToParent::Embed { request, texts }, Some(embedder)) => {
                    let embedder = Arc::clone(embedder);
                    embedding.spawn(async move { ToChild::embedded(request, embed(embedder.as_ref(), &texts).await) });
                }
                (ToParent::Ended { failure }, _) => return Ok(failure.map_or(Ok(()), |failure| Err(failure.into()))),
                (ToParent::Embed { .. }, None) | (ToParent::Ready { .. }, _) => return Err(Unfinished::Died),
            }
        }
    }

    async fn write(&mut self, message: &ToChild) -> Result<(), Unfinished> {
        let line = serde_json::to_string(message).map_err(|_| Unfinished::Died)? + "\n";
        self.input.write_all(line.as_bytes()).await.map_err(|_| Unfinished::Died)
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
        let message = ToChild::Job { lane: lane.as_str().to_owned(), job: job.to_json() };
        match running.run(&message, self.embedder.as_ref()).await {
            Ok(result) => {
                kept.running = Some(running);
                self.end_when_idle(kept.num_attempts);
                Isolated::Ended(result)
            }
            // The child still runs the job, so it is killed here.
            Err(Unfinished::Panicked(how)) => Isolated::Ended(Err(StageError::panicked(how))),
            Err(Unfinished::Died) => Isolated::Died(running.fate().await),
        }
    }
}

/// The next message of the child. `None` if the child has closed its output or sent something else.
async fn read(output: &mut Lines<BufReader<ChildStdout>>) -> Option<ToParent> {
    let line = output.next_line().await.ok()??;
    serde_json::from_str(&line).ok()
}

async fn embed(embedder: &dyn Embedder, texts: &[String]) -> Result<Vec<DenseVector>, EmbedderError> {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    embedder.embed(InputType::Passage, &texts).await
}

#[cfg(test)]
mod tests {
    use cairn_domain::{ModelId, RepositoryId, RepositoryName, Tenant};
    use cairn_ports::ErrorKind;
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
        ChildProcess::new(command, None)
    }

    #[tokio::test]
    async fn child_that_replies_is_kept_for_the_next_job() {
        let child = child(
            r#"echo '{"ready":{"model":null}}'; n=0; while read line; do n=$((n+1)); echo '{"ended":{"failure":{"code":"io","class":"transient","message":"'$n'"}}}'; done"#,
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
            r#"echo '{"ready":{"model":null}}'; while read line; do echo '{"ended":{"failure":{"code":"io","class":"transient","message":"'$$'"}}}'; done"#,
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
        let dies = child(r#"echo '{"ready":{"model":null}}'; read line; kill -9 $$"#);
        let Isolated::Died(how) = dies.attempt(Lane::Bulk, &job()).await else { panic!("it died") };
        assert!(how.contains("signal: 9"), "{how}");
        let Isolated::Ended(Err(error)) = child("exit 1").attempt(Lane::Bulk, &job()).await else { panic!("no child") };
        assert_eq!((error.code, error.class), (FailureCode::Unavailable, ErrorClass::Busy));
    }

    /// An embedder whose vectors contain the lengths of the texts. It refuses empty texts, and panics at the
    /// text `panic`.
    struct Lengths(ModelId);

    #[async_trait]
    impl Embedder for Lengths {
        fn model(&self) -> &ModelId {
            &self.0
        }

        async fn embed(&self, _: InputType, texts: &[&str]) -> Result<Vec<DenseVector>, EmbedderError> {
            assert!(!texts.contains(&"panic"), "a planted panic");
            if texts.contains(&"") {
                return Err(EmbedderError::new(ErrorKind::TooLarge, "embed", "model"));
            }
            Ok(texts.iter().map(|text| DenseVector(vec![text.len() as i8])).collect())
        }
    }

    /// Prints the message of a child that expects vectors of the model.
    fn ready(model: &str) -> String {
        format!(r#"echo '{{"ready":{{"model":{{"name":"{model}","dimensions":1}}}}}}'; read job"#)
    }

    fn child_with_embedder(script: &str) -> ChildProcess {
        let model = ModelId { name: "lengths".to_owned(), dimensions: 1 };
        ChildProcess { embedder: Some(Arc::new(Lengths(model))), ..child(script) }
    }

    #[tokio::test]
    async fn texts_of_the_child_are_embedded_by_the_parent() {
        let requests = r#"
            echo '{"embed":{"request":1,"texts":["ab","c"]}}'; read first
            echo '{"embed":{"request":2,"texts":[""]}}'; read second
            echo "$first $second" | sed 's/"/ /g; s/.*/{"ended":{"failure":{"code":"io","class":"transient","message":"&"}}}/'"#;
        let child = child_with_embedder(&(ready("lengths") + requests));
        let Isolated::Ended(Err(error)) = child.attempt(Lane::Bulk, &job()).await else { panic!("it failed") };
        let message = error.chain();
        assert!(message.contains("{ embedded :{ request :1, result :{ Ok :[[2],[1]]}}}"), "{message}");
        assert!(message.contains("request :2, result :{ Err :{ code : too_large "), "{message}");
    }

    #[tokio::test]
    async fn panic_while_texts_are_embedded_ends_only_the_job() {
        let request = r#"; echo '{"embed":{"request":1,"texts":["panic"]}}'; read reply"#;
        let child = child_with_embedder(&(ready("lengths") + request));
        let Isolated::Ended(Err(error)) = child.attempt(Lane::Bulk, &job()).await else { panic!("it failed") };
        assert_eq!((error.code, error.class), (FailureCode::Panic, ErrorClass::Permanent));
    }

    #[tokio::test]
    async fn child_that_expects_another_model_is_not_used() {
        for child in [child_with_embedder(&ready("other")), child(&ready("lengths"))] {
            let Isolated::Ended(Err(error)) = child.attempt(Lane::Bulk, &job()).await else { panic!("no child") };
            assert_eq!(error.class, ErrorClass::Busy);
            assert!(error.chain().contains("another model"), "{}", error.chain());
        }
    }
}
