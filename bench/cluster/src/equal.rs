//! Real repositories: the cluster's index has to be that of local mode.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use cairn_cluster::LocalMode;
use cairn_gateway::json;
use serde_json::Value;

use crate::field::{Field, PATIENCE, ask, url};
use crate::sizes::lines;

pub(crate) async fn run(repositories: &[PathBuf]) -> Result<()> {
    let field = Field::start().await?;
    let ground = field.cluster().await?;
    let root = ground.directory.path();
    let local = LocalMode::new(&root.join("local"), &root.join("operator.toml"));
    println!(
        "| repository | lines | files | chunks | edges | cluster | local mode | ratio |\n|---|---|---|---|---|---|---|---|"
    );
    for path in repositories {
        let path = path.canonicalize().with_context(|| format!("no folder {}", path.display()))?;
        let name = name(&path)?;
        let started = Instant::now();
        let asked = ask(&ground, name, &path).await?;
        ground.inside.settled(&[asked], PATIENCE).await?;
        let of_cluster = started.elapsed().as_secs_f64();
        let started = Instant::now();
        local.index(name, &url(&path))?;
        let of_local = started.elapsed().as_secs_f64();
        let found: Vec<Value> = ground.inside.fingerprints().await?.iter().map(json::fingerprint).collect();
        let expected = local.fingerprints()?;
        ensure!(found == expected, "cluster {found:#?}\nlocal mode {expected:#?}");
        let this = expected.iter().find(|repository| repository["repository"] == name).context("a fingerprint")?;
        let count = |kind: &str| this["kinds"][kind]["count"].as_u64().unwrap_or_default();
        println!(
            "| {name} | {} | {} | {} | {} | {of_cluster:.1} s | {of_local:.1} s | {:.1} |",
            lines(&path),
            count("files"),
            count("chunks"),
            count("edges"),
            of_cluster / of_local
        );
    }
    println!("all fingerprints are equal");
    Ok(())
}

fn name(path: &Path) -> Result<&str> {
    path.file_name().and_then(|name| name.to_str()).with_context(|| format!("no name in {}", path.display()))
}
