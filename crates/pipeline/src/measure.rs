//! The span and the metrics of a delivery. Log lines contain the fields of the span. No metric has a label
//! for the repository, because each repository would add a time series, and the number of repositories is not
//! limited.

use std::time::Instant;

use cairn_domain::StageName;
use cairn_ports::{Delivery, Settlement};
use cairn_telemetry::metrics::{JOB_SECONDS, JOBS, JOBS_IN_HAND};
use cairn_wire::Job;
use tracing::Span;
use tracing::field::{Empty, display};

use crate::settle::Settled;
use crate::trace;

/// Creates the span of a delivery. The parent of the span is the span in which the job was published.
pub(crate) fn span(delivery: &Delivery) -> Span {
    let job = &delivery.job;
    let parent = delivery.traceparent.as_deref().and_then(trace::ids);
    let trace = parent.map_or_else(|| trace::trace_of(job).to_string(), |(trace, _)| trace.to_owned());
    let span = tracing::info_span!(
        "job",
        stage = job.stage().as_str(),
        repository = %job.repository(),
        run = Empty,
        part = Empty,
        request = Empty,
        message = %job.id().0,
        trace,
        parent = Empty,
        lane = delivery.lane.as_str(),
        num_failed_attempts = delivery.num_failed_attempts,
        num_unanswered = delivery.num_unanswered,
    );
    if let Some((_, parent)) = parent {
        span.record("parent", parent);
    }
    match job {
        Job::Sync(job) => span.record("request", job.request),
        Job::Part(job) => span.record("run", job.run.generation.0).record("part", display(job.part)),
    };
    span
}

/// The values of the label `answer`.
const ANSWERS: [&str; 5] = ["ack", "retry", "requeue", "dead_letter", "lost"];

/// Creates the metric series of a stage, so that they exist before its first job.
pub(crate) fn begin(stage: StageName) {
    let stage = stage.as_str();
    for answer in ANSWERS {
        JOBS.with_label_values(&[stage, answer]);
    }
    JOB_SECONDS.with_label_values(&[stage]);
    JOBS_IN_HAND.with_label_values(&[stage]);
}

/// Counts a job, and measures the time from its delivery to its answer.
pub(crate) struct InHand {
    stage: &'static str,
    since: Instant,
}

impl InHand {
    pub(crate) fn new(stage: StageName) -> Self {
        let stage = stage.as_str();
        JOBS_IN_HAND.with_label_values(&[stage]).inc();
        Self { stage, since: Instant::now() }
    }

    pub(crate) fn answered(&self, answer: &Settled) {
        self.count(match answer {
            Settled::Abandoned => "dead_letter",
            Settled::By(Settlement::Ack) => "ack",
            Settled::By(Settlement::Retry { .. }) => "retry",
            Settled::By(Settlement::Requeue { .. }) => "requeue",
        });
    }

    /// The delivery was lost before it was answered.
    pub(crate) fn lost(&self) {
        self.count("lost");
    }

    fn count(&self, answer: &str) {
        JOBS.with_label_values(&[self.stage, answer]).inc();
        JOB_SECONDS.with_label_values(&[self.stage]).observe(self.since.elapsed().as_secs_f64());
        tracing::debug!(answer, "answered");
    }
}

impl Drop for InHand {
    fn drop(&mut self) {
        JOBS_IN_HAND.with_label_values(&[self.stage]).dec();
    }
}
