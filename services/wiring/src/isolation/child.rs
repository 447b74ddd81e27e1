//! The child process: runs jobs from its input, and sends texts to its parent to embed them.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context;
use async_trait::async_trait;
use cairn_domain::{DenseVector, InputType, Lane, ModelId};
use cairn_metastore::Metastore;
use cairn_pipeline::{Runner, Worker};
use cairn_ports::{Embedder, EmbedderError, ErrorKind};
use cairn_wire::Job;
use tokio::sync::{mpsc, oneshot};

use super::messages::{EmbedFailure, Model, ToChild, ToParent};

/// The child's OOM score. When memory runs out, the kernel kills the child before its parent because of this
/// score.
const FIRST_TO_BE_KILLED: &str = "1000";

type Embedded = Result<Vec<Vec<i8>>, EmbedFailure>;

/// Embeds passages through the parent process, which owns the key of the provider. So one limiter counts all
/// calls with the key.
pub struct ParentEmbedder {
    model: ModelId,
    requests: Mutex<Requests>,
}

/// The requests of the current job that the parent has not answered yet.
#[derive(Default)]
struct Requests {
    num_sent: u64,
    waiting: HashMap<u64, oneshot::Sender<Embedded>>,
}

impl ParentEmbedder {
    pub(crate) fn new(model: ModelId) -> Self {
        Self { model, requests: Mutex::default() }
    }

    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a request. Returns the number of the request and the receiver of its result.
    fn register(&self) -> (u64, oneshot::Receiver<Embedded>) {
        let (sender, receiver) = oneshot::channel();
        let mut requests = self.requests();
        requests.num_sent += 1;
        let request = requests.num_sent;
        requests.waiting.insert(request, sender);
        (request, receiver)
    }

    fn answered(&self, request: u64, result: Embedded) {
        if let Some(waiting) = self.requests().waiting.remove(&request) {
            // If the handler of the request was stopped, the receiver no longer exists.
            let _unused = waiting.send(result);
        }
    }

    /// Removes the requests of a job that has ended, because the parent does not answer these requests.
    fn end_job(&self) {
        self.requests().waiting.clear();
    }
}

#[async_trait]
impl Embedder for ParentEmbedder {
    fn model(&self) -> &ModelId {
        &self.model
    }

    async fn embed(&self, input_type: InputType, texts: &[&str]) -> Result<Vec<DenseVector>, EmbedderError> {
        let key = format!("{} ({} texts)", self.model.name, texts.len());
        let error = |kind| EmbedderError::new(kind, "embed", key.clone());
        if input_type != InputType::Passage {
            return Err(error(ErrorKind::Invalid).because("a child process embeds only passages"));
        }
        let (request, result) = self.register();
        let texts_sent = texts.iter().map(|text| (*text).to_owned()).collect();
        let sent = send(&ToParent::Embed { request, texts: texts_sent });
        sent.map_err(|cause| error(ErrorKind::ConnectionLost).because(cause))?;
        match result.await {
            Ok(Ok(vectors)) => Ok(vectors.into_iter().map(DenseVector).collect()),
            Ok(Err(failure)) => Err(failure.error("embed", key)),
            Err(ended) => Err(error(ErrorKind::ConnectionLost).because(ended)),
        }
    }
}

/// Runs the jobs from the standard input until the input ends. `embedder` is the embedder of the workers, if
/// the parent embeds their texts.
pub(crate) async fn serve(
    runner: &Arc<Runner<Metastore>>,
    workers: &[Worker],
    embedder: Option<Arc<ParentEmbedder>>,
) -> anyhow::Result<()> {
    // A process needs no privileges to raise its own OOM score. An error is ignored: without this score, the
    // kernel kills the process that uses the most memory.
    let _best_effort = std::fs::write("/proc/self/oom_score_adj", FIRST_TO_BE_KILLED);
    let model = embedder.as_ref().map(|embedder| Model::from(embedder.model()));
    let mut jobs = jobs(embedder.clone());
    send(&ToParent::Ready { model })?;
    while let Some((lane, job)) = jobs.recv().await {
        let job = Job::from_json(&job).map_err(anyhow::Error::msg)?;
        let lane = Lane::parse(&lane).context("the lane of the job is unknown")?;
        let worker = workers
            .iter()
            .find(|worker| worker.stage() == job.stage())
            .context("this process has no worker for the stage of the job")?;
        let result = runner.attempt_alone(worker, lane, &job).await;
        if let Some(embedder) = &embedder {
            embedder.end_job();
        }
        send(&ToParent::Ended { failure: result.err().map(Into::into) })?;
    }
    Ok(())
}

/// The jobs from the input, each with its lane. The results of `embedder` also come from the input. If the
/// input ends, the parent has ended, so this process exits at once.
fn jobs(embedder: Option<Arc<ParentEmbedder>>) -> mpsc::Receiver<(String, String)> {
    let (sender, receiver) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            let is_read = match serde_json::from_str(&line) {
                Ok(ToChild::Job { lane, job }) => sender.blocking_send((lane, job)).is_ok(),
                Ok(ToChild::Embedded { request, result }) => {
                    if let Some(embedder) = &embedder {
                        embedder.answered(request, result);
                    }
                    true
                }
                Err(error) => {
                    tracing::error!("cannot read a line from the parent process: {error}");
                    false
                }
            };
            if !is_read {
                break;
            }
        }
        std::process::exit(0);
    });
    receiver
}

/// Sends a message to the parent.
fn send(message: &ToParent) -> anyhow::Result<()> {
    let line = serde_json::to_string(message)?;
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}").and_then(|()| output.flush()).context("the parent process has ended")
}
