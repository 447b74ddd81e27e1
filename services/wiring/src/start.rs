//! Runs a service, from the command line to the drain.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use cairn_ports::plain;
use clap::{CommandFactory, FromArgMatches, Parser};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::ClusterConfig;
use crate::check::{Endpoint, check};

/// The request to stop the process.
pub struct Stop {
    terminate: Signal,
    interrupt: Signal,
}

impl Stop {
    fn listen() -> anyhow::Result<Self> {
        let on = |kind| signal(kind).context("cannot listen for signals");
        Ok(Self { terminate: on(SignalKind::terminate())?, interrupt: on(SignalKind::interrupt())? })
    }

    /// Runs work that needs no drain. If the process must stop, the work may be dropped at any point; the
    /// next process then continues it.
    pub async fn unless_asked<T>(&mut self, work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
        tokio::select! {
            biased;
            () = self.asked() => anyhow::bail!("the process was asked to stop"),
            done = work => done,
        }
    }

    /// Returns when the process receives SIGTERM or SIGINT.
    pub async fn asked(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// The command-line arguments of every service.
#[derive(Parser, Debug)]
#[command(version)]
pub struct Arguments {
    /// The settings file of the cluster, in TOML. Environment variables `CAIRN__SECTION__KEY` override its
    /// values.
    #[arg(long, global = true, env = "CAIRN_CLUSTER_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Do not run the service. Ask the service that runs on this machine with the same settings for its
    /// health, and exit with 0 if it reports no fault.
    #[arg(long, global = true, value_name = "ENDPOINT")]
    pub check: Option<Endpoint>,
}

impl Arguments {
    /// Reads the command line of the program with this name.
    pub fn of(program: &'static str) -> Self {
        let matches = Self::command().name(program).get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

/// Runs a service. `run` receives the settings and the stop signal. If `run` returns an error, the error and
/// its causes are printed. If the arguments request a check, only the check is run.
pub fn start<F>(name: &str, arguments: &Arguments, run: impl FnOnce(ClusterConfig, Stop) -> F) -> ExitCode
where
    F: Future<Output = anyhow::Result<()>>,
{
    let file = arguments.config.as_deref();
    if let Some(endpoint) = arguments.check {
        return check(file, endpoint);
    }
    cairn_faults::arm();
    cairn_telemetry::init_service();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let outcome = runtime.context("cannot start the runtime").and_then(|runtime| {
        let outcome = runtime.block_on(async {
            let config = ClusterConfig::load(file)?;
            config.validate()?;
            run(config, Stop::listen()?).await
        });
        // One second is enough, because threads that are still blocked have already had the drain time to
        // finish.
        runtime.shutdown_timeout(Duration::from_secs(1));
        outcome
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{name} ended with an error: {}", plain(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}
