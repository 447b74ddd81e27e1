//! Measures how long many small repositories wait if a huge repository is enqueued before them.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result};
use cairn_domain::RepositoryId;
use cairn_ports::LedgerRead;
use cairn_testkit::Mutation;
use cairn_testkit::work_tree::git;

use crate::field::{Field, PATIENCE, ask, generated};

/// Number of files of a small repository.
const SMALL: usize = 3;

pub(crate) async fn run(num_repositories: usize, num_files: usize) -> Result<()> {
    let small = generated(num_repositories, SMALL);
    // The repository gets fewer files than requested, because some of the generated names are equal.
    let huge = Mutation::new(u64::MAX, num_files + num_files / 20);
    let field = Field::start().await?;
    let alone = waits(&field, &small, None).await?;
    let behind = waits(&field, &small, Some(huge.root())).await?;
    println!(
        "| seconds from enqueue to published, {num_repositories} repositories | median | 95 % | last |\n|---|---|---|---|"
    );
    for (what, waits) in [("alone", &alone), ("behind a huge repository", &behind)] {
        println!("| {what} | {:.1} | {:.1} | {:.1} |", at(waits, 0.5), at(waits, 0.95), at(waits, 1.0));
    }
    let ratio = at(&behind, 0.95) / at(&alone, 0.95);
    println!(
        "ratio of the 95th percentiles (behind the huge repository of {} files, and alone): {ratio:.2}",
        git(huge.root(), &["ls-files"]).lines().count()
    );
    Ok(())
}

/// Returns the seconds from the request to the publication of each small repository, sorted.
async fn waits(field: &Field, small: &[(String, Mutation)], huge: Option<&Path>) -> Result<Vec<f64>> {
    let mut environment = field.cluster().await?;
    let mut asked = Vec::new();
    if let Some(huge) = huge {
        asked.push(ask(&environment, "huge", huge).await?);
    }
    let mut asked_at: HashMap<RepositoryId, i64> = HashMap::new();
    for (name, repository) in small {
        let now_ms = environment.inside.cluster.clock.now_ms();
        let (id, request) = ask(&environment, name, repository.root()).await?;
        asked_at.insert(id, now_ms);
        asked.push((id, request));
    }
    environment.inside.settled(&asked, PATIENCE).await?;
    let mut waits = Vec::new();
    for (id, asked_ms) in asked_at {
        let runs = environment.inside.cluster.runs.runs(Some(id), 1).await?;
        let ended_ms = runs.first().and_then(|run| run.ended_at_ms).context("a small repository has no ended run")?;
        waits.push((ended_ms - asked_ms) as f64 / 1000.0);
    }
    waits.sort_by(f64::total_cmp);
    environment.done();
    Ok(waits)
}

/// Returns the quantile `share` of the sorted values.
fn at(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * share).round() as usize).copied().unwrap_or_default()
}
