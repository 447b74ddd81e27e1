//! What an operator does to a cluster, over the same connections as its services: the topology, requests, dead letters.

mod dead_letters;
mod enqueue;
mod topology;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use cairn_wiring::{Cluster, ClusterConfig};

use crate::cli::{DeadLettersCommand, EnqueueArguments, TopologyCommand};

/// A command that works on a cluster only.
#[derive(Debug)]
pub enum Operation {
    Topology(TopologyCommand),
    DeadLetters(DeadLettersCommand),
    Enqueue(EnqueueArguments),
}

pub async fn run(operation: Operation, file: Option<&Path>, json: bool) -> anyhow::Result<ExitCode> {
    let file = file.context("this works on a cluster: name its settings with --cluster FILE (or CAIRN_CLUSTER_CONFIG)")?;
    let config = ClusterConfig::load(Some(file))?;
    config.validate()?;
    match operation {
        Operation::Topology(TopologyCommand::Apply) => topology::apply(&config, json).await,
        Operation::Topology(TopologyCommand::Check) => topology::check(config, json).await,
        Operation::DeadLetters(command) => dead_letters::run(&Cluster::connect(config).await?, command, json).await,
        Operation::Enqueue(arguments) => enqueue::run(&Cluster::connect(config).await?, &arguments, json).await,
    }
}
