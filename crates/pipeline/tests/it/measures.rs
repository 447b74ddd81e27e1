//! Tests of the metrics and log lines of jobs.

use std::io;
use std::sync::{Arc, Mutex};

use cairn_ports::ErrorKind;
use cairn_telemetry::metrics::{JOB_SECONDS, JOBS, JOBS_IN_HAND};
use serde_json::Value;
use tracing_subscriber::fmt::MakeWriter;

use crate::worker::{ALONE, Script, ScriptedResult, close_when_done, publish, repository, runner};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Lines {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

impl Lines {
    fn read(&self) -> Vec<Value> {
        let bytes = self.0.lock().expect("no panic");
        bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }
}

fn answers() -> [u64; 4] {
    ["ack", "retry", "requeue", "dead_letter"].map(|answer| JOBS.with_label_values(&["sync", answer]).get())
}

fn num_timed() -> u64 {
    JOB_SECONDS.with_label_values(&["sync"]).get_sample_count()
}

#[tokio::test(start_paused = true)]
async fn settlements_are_counted_and_logs_name_their_job() -> anyhow::Result<()> {
    let _alone = ALONE.lock().await;
    let (answers_before, timed_before) = (answers(), num_timed());
    let lines = Lines::default();
    let subscriber = tracing_subscriber::fmt().json().flatten_event(true).with_writer(lines.clone());
    let _guard = tracing::subscriber::set_default(subscriber.finish());
    let (broker, runner) = runner();
    let away = ErrorKind::Unavailable;
    let script = Script::new(&[
        ScriptedResult::Fails(ErrorKind::Timeout),
        ScriptedResult::Fails(away),
        ScriptedResult::Fails(ErrorKind::Corrupt),
    ]);
    let working = tokio::spawn(Arc::clone(&runner).run(vec![script.worker()]));
    publish(&broker, 1).await?;
    while runner.waits().is_empty() {
        tokio::time::advance(std::time::Duration::from_millis(1)).await;
    }
    assert_eq!(runner.waits(), ["sync waits: blob store: get of `k` failed: unavailable"]);
    assert_eq!(JOBS_IN_HAND.with_label_values(&["sync"]).get(), 1);
    close_when_done(&broker).await?;
    working.await??;
    assert_eq!(runner.waits(), Vec::<String>::new());
    let since = |before: [u64; 4]| std::array::from_fn(|kind| answers()[kind] - before[kind]);
    assert_eq!(since(answers_before), [0, 1, 0, 1]);
    assert_eq!(num_timed() - timed_before, 2);
    assert_eq!(JOBS_IN_HAND.with_label_values(&["sync"]).get(), 0);
    let lines = lines.read();
    assert_eq!(lines.len(), 3, "{lines:#?}");
    for (line, num_failed_attempts) in lines.iter().zip([0, 1, 1]) {
        let job = &line["spans"][0];
        assert_eq!((&job["stage"], &job["request"]), (&"sync".into(), &1.into()), "{line}");
        assert_eq!(job["repository"], repository().to_string(), "{line}");
        assert_eq!(job["num_failed_attempts"], num_failed_attempts, "{line}");
        assert!(job["message"].as_str().is_some_and(|id| id.len() == 32), "{line}");
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn series_of_a_stage_exist_before_its_first_job() -> anyhow::Result<()> {
    let _alone = ALONE.lock().await;
    let (broker, runner) = runner();
    let working = tokio::spawn(Arc::clone(&runner).run(vec![Script::new(&[]).worker()]));
    close_when_done(&broker).await?;
    working.await??;
    let shown = cairn_telemetry::metrics::text();
    // No test loses a delivery, so these series exist only because the runner creates them at the start.
    for series in ["cairn_jobs_total{answer=\"lost\",stage=\"sync\"} 0", "cairn_jobs_in_hand{stage=\"sync\"} 0"] {
        assert!(shown.lines().any(|line| line == series), "{series} is missing: {shown}");
    }
    Ok(())
}
