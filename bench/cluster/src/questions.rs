//! Measures the answers of the query service while agents ask at steady rates.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use cairn_cluster::Environment;
use cairn_domain::Tenant;
use cairn_gateway::auth::KeyRequest;
use cairn_search::Fingerprint;

use crate::field::{Field, PATIENCE, ask, generated};
use crate::load::{Load, Measured};
use crate::processors;
use crate::vocabulary::Vocabulary;

/// Number of questions that are asked before the measurement, to warm up programs and caches.
const NUM_WARM: usize = 100;
const WARM_RATE: f64 = 10.0;

/// The options of the measurement.
pub(crate) struct Options {
    pub(crate) repositories: usize,
    pub(crate) files: usize,
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) agents: usize,
    pub(crate) seconds: f64,
    pub(crate) rates: Vec<f64>,
}

pub(crate) async fn run(options: Options) -> Result<()> {
    let mut vocabulary = Vocabulary::default();
    let made = if options.folders.is_empty() { generated(options.repositories, options.files) } else { Vec::new() };
    let of_folders = options.folders.iter().map(|folder| {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or("repository").to_owned();
        (name, folder.clone())
    });
    let of_made = made.iter().map(|(name, repository)| (name.clone(), repository.root().to_owned()));
    let repositories: Vec<(String, PathBuf)> = of_made.chain(of_folders).collect();
    let field = Field::start().await?;
    let mut environment = field.cluster().await?;
    let mut asked = Vec::new();
    for (name, folder) in &repositories {
        vocabulary.add(folder);
        asked.push(ask(&environment, name, folder).await?);
    }
    environment.inside.settled(&asked, PATIENCE).await?;
    let num_chunks: u64 = environment.inside.fingerprints().await?.iter().map(num_chunks).sum();
    println!("{} repositories, {num_chunks} chunks, {} agents", repositories.len(), options.agents);
    let mut keys = Vec::new();
    for _ in 0..options.agents {
        keys.push(key(&environment).await?);
    }
    let load = Load {
        host: environment.cluster.questions("query")?.trim_start_matches("http://").to_owned(),
        keys,
        questions: Vec::new(),
        rate: WARM_RATE,
    };
    let counts: Vec<usize> = options.rates.iter().map(|rate| (rate * options.seconds) as usize).collect();
    let mut questions = vocabulary.questions(NUM_WARM + counts.iter().sum::<usize>()).into_iter();
    let mut next = |load: &Load, rate: f64, count: usize| Load {
        host: load.host.clone(),
        keys: load.keys.clone(),
        questions: questions.by_ref().take(count).collect(),
        rate,
    };
    next(&load, WARM_RATE, NUM_WARM).run().await?;
    println!("| asked/s | answered/s | errors | p50 ms | p95 ms | p99 ms | ms of processor time per question |");
    println!("|---|---|---|---|---|---|---|");
    for (rate, count) in options.rates.iter().zip(counts) {
        let before = processors::seconds();
        let measured = next(&load, *rate, count).run().await?;
        print(*rate, &measured, &before, &processors::seconds());
    }
    environment.done();
    Ok(())
}

fn num_chunks(fingerprint: &Fingerprint) -> u64 {
    fingerprint.kinds.iter().filter(|kind| kind.kind == "chunks").map(|kind| kind.count).sum()
}

fn print(rate: f64, measured: &Measured, before: &BTreeMap<String, f64>, after: &BTreeMap<String, f64>) {
    let used = |(name, seconds): (&String, &f64)| {
        let milliseconds = (seconds - before.get(name).copied().unwrap_or_default()) * 1000.0;
        (milliseconds / measured.times.len().max(1) as f64, name.clone())
    };
    let mut used: Vec<(f64, String)> = after.iter().map(used).filter(|(used, _)| *used >= 0.05).collect();
    used.sort_by(|left, right| right.0.total_cmp(&left.0));
    let used: Vec<String> = used.iter().map(|(used, name)| format!("{name} {used:.1}")).collect();
    println!(
        "| {rate:.0} | {:.1} | {} | {:.0} | {:.0} | {:.0} | {} |",
        measured.rate(),
        measured.num_errors,
        measured.at(0.5),
        measured.at(0.95),
        measured.at(0.99),
        used.join(", ")
    );
}

async fn key(environment: &Environment) -> Result<String> {
    let request = KeyRequest {
        tenant: Tenant::local(),
        repositories: None,
        may_index: false,
        label: String::new(),
        expires_at_ms: None,
    };
    environment.inside.issue_key(request).await.context("no key could be issued for the questions")
}
