//! Traces in the W3C `traceparent` format. Each run has one trace, and the trace id is derived from the run.
//! So if a process crashes and the coordinator sends its jobs again, the work before and after the crash
//! belongs to the same trace. The parent of a job is the message whose handler published it.

use cairn_domain::{Digester, Key128, MessageId, RunId};
use cairn_wire::Job;

tokio::task_local! {
    static CURRENT: String;
}

/// Returns the `traceparent` for jobs that the current task publishes, if the task works for a run. Brokers
/// that transport trace contexts send this value with each job.
pub fn traceparent() -> Option<String> {
    CURRENT.try_with(Clone::clone).ok()
}

/// Returns the trace id of a job. A sync does not belong to a run yet, so the sync has a separate trace.
pub(crate) fn trace_of(job: &Job) -> Key128 {
    match job {
        Job::Sync(_) => job.id().0,
        Job::Part(job) => trace_of_run(job.run),
    }
}

/// Parses a `traceparent` into the trace id and the span id. Returns `None` for any other text.
pub(crate) fn ids(traceparent: &str) -> Option<(&str, &str)> {
    let mut parts = traceparent.split('-');
    let (version, trace, span) = (parts.next()?, parts.next()?, parts.next()?);
    let is_id = |id: &str, digits: usize| {
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        id.len() == digits && id.bytes().all(is_hex) && id.bytes().any(|byte| byte != b'0')
    };
    (version == "00" && is_id(trace, 32) && is_id(span, 16)).then_some((trace, span))
}

fn trace_of_run(run: RunId) -> Key128 {
    Digester::new("trace").key_of(run.repository.0).number(run.generation.0).key()
}

/// Runs `publishing` in the trace of the run, with the message as the parent of the published jobs.
pub(crate) async fn within<T>(run: RunId, message: MessageId, publishing: impl Future<Output = T>) -> T {
    let (trace, span) = (trace_of_run(run), message.0.to_string());
    CURRENT.scope(format!("00-{trace}-{}-01", &span[..16]), publishing).await
}

#[cfg(test)]
mod tests {
    use cairn_domain::{GenerationId, RepositoryId, RepositoryName, Tenant};

    use super::*;

    #[tokio::test]
    async fn jobs_of_a_run_belong_to_its_trace() {
        let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new("r"));
        let run = RunId { repository, generation: GenerationId(3) };
        let sync = MessageId::derive_sync(repository, 1);
        let reported = within(run, sync, async { traceparent() }).await.expect("within a run");
        let parts: Vec<&str> = reported.split('-').collect();
        assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [2, 32, 16, 2], "{reported}");
        assert_eq!((parts[1], parts[2]), (trace_of_run(run).to_string().as_str(), &sync.0.to_string()[..16]));
        assert_eq!(traceparent(), None);
        assert_eq!(ids(&reported), Some((parts[1], parts[2])));
    }

    #[test]
    fn invalid_traceparents_are_ignored() {
        let zeros = format!("00-{}-{}-01", "0".repeat(32), "1".repeat(16));
        let upper = format!("00-{}-{}-01", "A".repeat(32), "1".repeat(16));
        let other = format!("ff-{}-{}-01", "a".repeat(32), "1".repeat(16));
        for text in ["", "00", "00--", "00-a-b-01", &zeros, &upper, &other] {
            assert_eq!(ids(text), None, "{text}");
        }
    }
}
