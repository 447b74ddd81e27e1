//! Measures the throughput of a cluster and of local mode while many repositories are indexed.

use std::time::Instant;

use anyhow::{Result, ensure};
use cairn_cluster::LocalMode;

use crate::field::{Field, PATIENCE, ask, generated, write_list};
use crate::sizes::{Memory, bytes, lines, num_messages};

const SERVERS: [&str; 4] = ["rabbitmq", "minio", "neo4j", "qdrant"];

pub(crate) async fn run(num_repositories: usize, num_files: usize) -> Result<()> {
    let repositories = generated(num_repositories, num_files);
    let num_lines: u64 = repositories.iter().map(|(_, repository)| lines(repository.root())).sum();
    let field = Field::start().await?;
    let mut environment = field.cluster().await?;
    let before = SERVERS.map(|server| bytes(&field.data(server)));
    let memory = Memory::watch(&mut environment)?;
    let started = Instant::now();
    let mut asked = Vec::new();
    for (name, repository) in &repositories {
        asked.push(ask(&environment, name, repository.root()).await?);
    }
    environment.inside.settled(&asked, PATIENCE).await?;
    let of_cluster = started.elapsed().as_secs_f64();
    let memory = memory.stop().await?;

    let root = environment.directory.path();
    let list = root.join("list.yaml");
    write_list(&list, repositories.iter().map(|(name, repository)| (name.as_str(), repository.root())))?;
    let local = LocalMode::new(&root.join("local"), &root.join("operator.toml"));
    let started = Instant::now();
    local.ok(&["index", &list.to_string_lossy()])?;
    let of_local = started.elapsed().as_secs_f64();
    let num_indexed = environment.inside.fingerprints().await?.len();
    ensure!(num_indexed == num_repositories, "only {num_indexed} of {num_repositories} repositories are indexed");

    println!("{num_repositories} repositories of {num_files} files, {num_lines} lines");
    println!("| | cluster | local mode | ratio |\n|---|---|---|---|");
    let per_minute = |count: f64, seconds: f64| count / seconds * 60.0;
    for (what, count) in [("repositories", num_repositories as f64), ("lines", num_lines as f64)] {
        let (cluster, local) = (per_minute(count, of_cluster), per_minute(count, of_local));
        println!("| {what} per minute | {cluster:.0} | {local:.0} | {:.1} |", of_cluster / of_local);
    }
    println!("messages per repository: {:.1}", num_messages(&environment).await? as f64 / num_repositories as f64);
    for (server, before) in SERVERS.iter().zip(before) {
        let grown = bytes(&field.data(server)).saturating_sub(before);
        println!("bytes per line in {server}: {:.0}", grown as f64 / num_lines as f64);
    }
    println!("peak memory in MiB: {memory:?}");
    environment.done();
    Ok(())
}
