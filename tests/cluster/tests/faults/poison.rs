//! Tests a job that kills its worker.

use anyhow::{Context, Result, bail, ensure};
use cairn_cluster::{Servers, Traces, Workload};
use cairn_domain::{PartEnd, RepositoryId, RunState, StageName};
use cairn_ports::{LedgerRead, RunRecord};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::bench::{Bench, PATIENCE, POLL, seed, without_reconciler};

/// The number of jobs of one worker: the poisoned job, and the other jobs that run at the same time.
const NUM_JOBS: usize = 16;
/// The number of times that the job kills the worker process. After that, the job runs in a child process.
const NUM_DEATHS: usize = 2;

/// Case 11: a worker has sixteen jobs, and one of them overflows the stack at each attempt. Only this job is
/// abandoned. Its files are missing until its dead letter is replayed without the poison.
#[tokio::test(flavor = "multi_thread")]
async fn job_that_kills_its_worker_is_dead_lettered() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    // The workload also contains the marked repository, so the total is `NUM_JOBS`.
    let workload = Workload::new(seed()?, NUM_JOBS - 1, 3);
    let mut bench = Bench::prepare_with(servers, &without_reconciler(), workload).await?;
    bench.begin().await?;
    let before = bench.environment.index_locally("before", &bench.workload)?;
    bench.environment.cluster.stop("parser").await?;
    bench.workload.grow();
    bench.ask().await?;
    let victim = bench.asked.first().context("the list of repositories is empty")?.0;
    let run = all_wait(&bench, victim).await?;
    let poison = format!("parse/0 of run {}", run.id);
    let sixteen = NUM_JOBS.to_string();
    let variables = [
        ("CAIRN_POISON", poison),
        ("CAIRN__RABBITMQ__PREFETCH", sixteen.clone()),
        ("CAIRN__PIPELINE__CONCURRENCY", sixteen),
    ];
    let num_deaths = bench.keep_running("parser", &variables).await?;
    ensure!(num_deaths == NUM_DEATHS, "the worker died {num_deaths} times instead of {NUM_DEATHS} times");
    only_the_poison_failed(&bench, &run).await?;
    bench.environment.inside.each_was_published_once().await?;
    its_files_alone_are_absent(&bench, &before).await?;
    heal(&mut bench, victim).await?;
    let traces = Traces { num_failed_parts: 1, ..Traces::default() };
    bench.check_traces("a job kills its worker", traces).await?;
    Ok(())
}

/// Waits until the only open jobs are the parse parts, one for each repository. Returns the run of the given
/// repository.
async fn all_wait(bench: &Bench, repository: RepositoryId) -> Result<RunRecord> {
    let raw = bench.raw()?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        let (num_waiting, _) = raw.messages().await?;
        let runs = bench.environment.inside.cluster.runs.unfinished().await?;
        // On a loaded machine, the confirmation of a job may arrive so late that the coordinator sends the
        // job again. So more messages than jobs may be waiting. A copy of a job does no work.
        if num_waiting >= NUM_JOBS as u64 && runs.len() == NUM_JOBS {
            return runs.into_iter().find(|run| run.id.repository == repository).context("the repository has no run");
        }
        if Instant::now() >= deadline {
            let queues = raw.queues().await?.into_iter().filter(|queue| queue.messages > 0);
            let waiting: Vec<String> = queues.map(|queue| format!("{} in {}", queue.messages, queue.name)).collect();
            bail!("{num_waiting} jobs of {} runs are still waiting: {}", runs.len(), waiting.join(", "));
        }
        sleep(POLL).await;
    }
}

/// Checks that the run is published once, as partial, with one failed part and one dead letter.
async fn only_the_poison_failed(bench: &Bench, run: &RunRecord) -> Result<()> {
    let runs = &bench.environment.inside.cluster.runs;
    let newest = runs.runs(Some(run.id.repository), 1).await?.pop().context("a run")?;
    ensure!((newest.id, newest.state) == (run.id, RunState::Partial), "{newest:?}");
    let parts = runs.parts(run.id).await?;
    let failed: Vec<_> = parts.iter().filter(|part| matches!(part.end, Some(PartEnd::Failed { .. }))).collect();
    let [part] = failed.as_slice() else { bail!("expected one failed part, but found {failed:?}") };
    ensure!((part.id.stage, part.id.number) == (StageName::Parse, 0), "{part:?}");
    let letters = letters(bench)?;
    let [letter] = letters.as_slice() else { bail!("expected one dead letter, but found {letters:?}") };
    ensure!(letter["code"] == "crash" && letter["stage"] == "parse", "{letter:#}");
    ensure!(letter["generation"] == run.id.generation.0, "{letter:#}");
    Ok(())
}

fn letters(bench: &Bench) -> Result<Vec<Value>> {
    let reported = bench.environment.cluster.cairn(&["dead-letters", "list", "--json"])?;
    let reported: Value = serde_json::from_str(&reported)?;
    Ok(reported["dead_letters"].as_array().cloned().unwrap_or_default())
}

/// Checks that the other repositories equal an undisturbed index. The repository of the poisoned job must
/// have its earlier content; only its list of files has changed.
async fn its_files_alone_are_absent(bench: &Bench, before: &[Value]) -> Result<()> {
    let now = bench.environment.index_locally("undisturbed", &bench.workload)?;
    let found: Vec<Value> = bench.environment.inside.fingerprint_reports().await?;
    ensure!(found.len() == NUM_JOBS && now.len() == NUM_JOBS, "{} and {} repositories", found.len(), now.len());
    let (victim, neighbours) = found.split_first().context("the list of repositories is empty")?;
    for (found, expected) in neighbours.iter().zip(&now[1..]) {
        ensure!(found == expected, "another repository is\n{found:#}\nwithout the poison it is\n{expected:#}");
    }
    for kind in ["chunks", "vectors", "nodes", "edges", "patterns", "names"] {
        let (found, expected) = (&victim["kinds"][kind], &before[0]["kinds"][kind]);
        ensure!(
            found == expected,
            "the {kind} of the poisoned repository are {found}; before the poison they were {expected}"
        );
    }
    let count = |fingerprint: &Value| fingerprint["kinds"]["files"]["count"].as_u64().unwrap_or_default();
    ensure!(count(victim) == count(&before[0]) + 1, "the new file is not listed");
    Ok(())
}

/// Removes the poison and replays the dead letter. The replay requests the sync that repairs the repository.
async fn heal(bench: &mut Bench, victim: RepositoryId) -> Result<()> {
    bench.environment.cluster.stop("parser").await?;
    bench.start("parser", &[]).await?;
    let reported = bench.environment.cluster.cairn(&["dead-letters", "replay", "--all", "--json"])?;
    let reported: Value = serde_json::from_str(&reported)?;
    let request = reported["request"].as_u64().with_context(|| format!("no sync was requested: {reported}"))?;
    bench.asked.push((victim, request));
    bench.settle().await?;
    ensure!(
        bench.environment.inside.last_state(victim).await? == Some(RunState::Published),
        "the poisoned repository was not repaired"
    );
    Ok(())
}
