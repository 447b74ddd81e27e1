//! Measures a cluster on this machine, and local mode on the same processors in the same run.

mod equal;
mod fairness;
mod field;
mod load;
mod processors;
mod questions;
mod sizes;
mod throughput;
mod vocabulary;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Starts servers and services, measures them, prints a table, and stops them. The programs must be in the
/// folder of this program, or in the folder that CAIRN_PROGRAMS names.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    what: Bench,
}

#[derive(Subcommand)]
enum Bench {
    /// Indexes real repositories in the cluster and in local mode, and compares fingerprints and times.
    Equal {
        /// The folders of the git repositories to index.
        #[arg(required = true)]
        repositories: Vec<PathBuf>,
    },
    /// Measures repositories and lines per minute, messages per repository, stored bytes per line, and memory
    /// of each service.
    Throughput {
        #[arg(long, default_value_t = 200)]
        repositories: usize,
        /// Number of files of each repository.
        #[arg(long, default_value_t = 20)]
        files: usize,
    },
    /// Measures how long small repositories wait: first alone, then behind a huge repository.
    Fairness {
        #[arg(long, default_value_t = 2_000)]
        repositories: usize,
        /// Number of files of the huge repository.
        #[arg(long, default_value_t = 10_000)]
        files: usize,
    },
    /// Measures the times of answers while agents ask different questions at steady rates, and the processor
    /// time of each program per question.
    Questions {
        /// Number of generated repositories, if no folders are given.
        #[arg(long, default_value_t = 20)]
        repositories: usize,
        /// Number of files of each generated repository.
        #[arg(long, default_value_t = 250)]
        files: usize,
        #[arg(long, default_value_t = 50)]
        agents: usize,
        /// Duration of the measurement at each rate.
        #[arg(long, default_value_t = 20.0)]
        seconds: f64,
        /// Rates in questions per second. Each rate is measured separately.
        #[arg(long, value_delimiter = ',', default_value = "10,25,50,75,100")]
        rates: Vec<f64>,
        /// The folders of git repositories to index instead of generated repositories.
        folders: Vec<PathBuf>,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    let outcome = match Arguments::parse().what {
        Bench::Equal { repositories } => equal::run(&repositories).await,
        Bench::Throughput { repositories, files } => throughput::run(repositories, files).await,
        Bench::Fairness { repositories, files } => fairness::run(repositories, files).await,
        Bench::Questions { repositories, files, agents, seconds, rates, folders } => {
            questions::run(questions::Options { repositories, files, folders, agents, seconds, rates }).await
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}
