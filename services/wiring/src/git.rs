//! Creates the Git sources of the cloner. These sources follow the operator's rules, and use no folder on
//! disk except the folder that contains the cloner's clones.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cairn_config::Operator;
use cairn_git::{GitSettings, GitSources, Limits, ReadingPlan, RemotePolicy};
use cairn_pipeline::StageError;
use cairn_wire::RequestSettings;

use crate::coordinator::every;
use crate::{Cluster, isolation};

/// The Git sources of a cluster.
pub fn sources(cluster: &Cluster) -> Arc<GitSources> {
    Arc::new(sources_below(&cluster.operator, cluster.cache_directory().join("clones")))
}

/// Starts a task that removes the clones of repositories that are no longer registered. These clones must not
/// be kept, because they contain texts that are redacted everywhere else. A clone is removed only if the time
/// since it was last opened is longer than a handler may run.
pub fn sweep_clones(cluster: &Cluster, sources: &Arc<GitSources>) {
    if isolation::is_child() {
        return;
    }
    let config = &cluster.config.pipeline;
    // Tests may shorten both times: the pause between two sweeps, and the time for which a clone must be
    // unused.
    let in_tests = cairn_faults::sweep_grace_ms();
    let duration = |ms: i64| Duration::from_millis(in_tests.unwrap_or(ms).max(1).unsigned_abs());
    let (grace, unused_for) = (duration(config.grace_ms), duration((config.longest_seconds * 1_000) as i64));
    let (runs, sources) = (Arc::clone(&cluster.runs), Arc::clone(sources));
    let step = move || {
        let (runs, sources) = (Arc::clone(&runs), Arc::clone(&sources));
        async move {
            let live = runs.urls().await?;
            let swept = tokio::task::spawn_blocking(move || sources.sweep(&live, unused_for)).await;
            Ok(swept.map_err(|error| StageError::panicked(error.to_string()))??)
        }
    };
    tokio::spawn(every(grace, "swept clones", step));
}

fn sources_below(operator: &Arc<Operator>, clones: PathBuf) -> GitSources {
    let remotes = RemotePolicy::from(&operator.sources);
    let limits = Limits::from(&operator.sources);
    GitSources::new(GitSettings { clones, remotes, limits, reading_plan: Some(plan(operator)) })
}

/// Decides which files of a tree on disk may be opened. Sync later applies the same rules to the whole tree.
fn plan(operator: &Arc<Operator>) -> Arc<ReadingPlan> {
    let operator = Arc::clone(operator);
    Arc::new(move |files, meter| {
        let files = files.iter().map(|file| (file.path.clone(), file.bytes.clone())).collect();
        match cairn_stages::path_rules(files, &operator, &RequestSettings::default(), meter) {
            Ok(rules) => Box::new(move |path, kind, size_bytes| rules.decide_path(path, kind, size_bytes).is_none()),
            Err(_) => Box::new(|_, _, _| false),
        }
    })
}
