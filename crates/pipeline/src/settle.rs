//! Chooses the answer to the broker from the result of a handler. No other code makes this choice.

use std::time::Duration;

use cairn_ports::{Delivery, ErrorClass, Settlement};

use crate::StageError;

/// The delays between attempts. A job is abandoned after the last attempt.
#[derive(Clone, Debug)]
pub struct RetryLadder {
    pub delays: Vec<Duration>,
    /// The delay between two attempts while a dependency is unavailable.
    pub pause: Duration,
    /// How long this process retries a job while a dependency is unavailable. If the job still fails after
    /// this time, it goes back to the queue.
    pub longest_pause: Duration,
}

impl RetryLadder {
    /// The delays for work with remote services: at least two hours between the first and the last of
    /// six attempts.
    pub fn cluster() -> Self {
        let seconds = [10, 60, 600, 3600, 3600];
        let delays = seconds.map(Duration::from_secs).to_vec();
        Self { delays, pause: Duration::from_secs(5), longest_pause: Duration::from_secs(300) }
    }

    /// The delays for work within one process, where only the local disk can fail: six attempts within two
    /// seconds.
    pub fn local() -> Self {
        let milliseconds = [10, 50, 200, 500, 1000];
        let delays = milliseconds.map(Duration::from_millis).to_vec();
        Self { delays, pause: Duration::from_millis(500), longest_pause: Duration::from_secs(60) }
    }
}

/// The result of a delivery.
pub(crate) enum Settled {
    By(Settlement),
    /// The job is abandoned: its dead letter is published, and its failure is recorded.
    Abandoned,
}

impl Settled {
    pub(crate) fn settlement(&self) -> Settlement {
        match self {
            Settled::By(settlement) => *settlement,
            Settled::Abandoned => Settlement::Ack,
        }
    }
}

/// Returns the answer to a delivery whose handler failed. Returns `None` if the job must be abandoned: it
/// becomes a dead letter, and its part ends as failed.
pub fn settlement(error: &StageError, delivery: &Delivery, ladder: &RetryLadder) -> Option<Settlement> {
    match error.class {
        ErrorClass::Transient => {
            let delay = ladder.delays.get(delivery.num_failed_attempts as usize)?;
            Some(Settlement::Retry { after: *delay })
        }
        ErrorClass::Pause { retry_after } => Some(Settlement::Requeue { after: retry_after.unwrap_or(ladder.pause) }),
        ErrorClass::Busy => Some(Settlement::Requeue { after: ladder.pause }),
        ErrorClass::Permanent | ErrorClass::Decide => None,
        ErrorClass::Cancelled => Some(Settlement::Requeue { after: Duration::ZERO }),
    }
}

#[cfg(test)]
mod tests {
    use cairn_domain::{
        ArtifactRef, GenerationId, Lane, PartId, RepositoryId, RepositoryName, RunId, StageName, Tenant,
    };
    use cairn_ports::{BlobStoreError, ErrorKind};
    use cairn_wire::{Job, PartJob};

    use super::*;

    fn delivery(num_failed_attempts: u32) -> Delivery {
        let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new("r"));
        let job = Job::Part(PartJob {
            tenant: Tenant::local(),
            run: RunId { repository, generation: GenerationId(1) },
            part: PartId { stage: StageName::Parse, number: 0 },
            plan: ArtifactRef { key: "plans/x".to_owned(), size_bytes: 0, hash: [0; 32] },
        });
        Delivery {
            tag: 1,
            job,
            lane: Lane::Bulk,
            num_failed_attempts,
            num_unanswered: 0,
            is_suspect: false,
            traceparent: None,
        }
    }

    /// If the worker of a sync was killed, the lease of the worker is still active when the job is delivered
    /// again. The job is put back until the lease has expired, regardless of how often it was delivered.
    #[test]
    fn busy_job_is_requeued_without_an_attempt() {
        for attempts in [0, 5, 99] {
            let settlement = settlement(&StageError::busy("leased"), &delivery(attempts), &RetryLadder::cluster());
            assert_eq!(settlement, Some(Settlement::Requeue { after: Duration::from_secs(5) }));
        }
    }

    #[test]
    fn each_kind_of_error_has_its_settlement() {
        let check = |kind: ErrorKind, attempts: u32, expect: &str| {
            let error = StageError::from(BlobStoreError::new(kind, "get", "k"));
            let answer = settlement(&error, &delivery(attempts), &RetryLadder::cluster());
            let word = match &answer {
                Some(Settlement::Ack) => "ack".to_owned(),
                Some(Settlement::Retry { after }) => format!("retry {}", after.as_secs()),
                Some(Settlement::Requeue { after }) => format!("requeue {}", after.as_secs()),
                None => format!("abandoned: {}", error.code),
            };
            assert_eq!(word, expect, "{kind:?} after {attempts}");
        };
        check(ErrorKind::Timeout, 0, "retry 10");
        check(ErrorKind::Io, 4, "retry 3600");
        check(ErrorKind::Io, 5, "abandoned: io");
        check(ErrorKind::Unavailable, 99, "requeue 5");
        check(ErrorKind::Throttled { retry_after: Some(Duration::from_secs(7)) }, 99, "requeue 7");
        check(ErrorKind::Corrupt, 0, "abandoned: corrupt");
        check(ErrorKind::Conflict, 0, "abandoned: conflict");
        check(ErrorKind::Cancelled, 5, "requeue 0");
    }
}
