//! The parser turns source packs into facts packs. The parser parses files in child processes, because a
//! child process can be killed if a file takes too long.

use std::process::ExitCode;

use anyhow::Context;
use cairn_wiring::{Arguments, Cluster, ClusterConfig, Stop, start, workers};

/// The argument with which this program starts itself as a child process for parsing.
const PARSE_WORKER: &str = "parse-worker";

fn main() -> ExitCode {
    // The child process needs no settings, runtime, logs or stores, so it starts to work before they are
    // created.
    if std::env::args().nth(1).as_deref() == Some(PARSE_WORKER) {
        let served = cairn_local_parser::serve(&mut std::io::stdin().lock(), &mut std::io::stdout().lock());
        return served.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    start("parser", &Arguments::of("cairn-parser"), run)
}

async fn run(config: ClusterConfig, mut stop: Stop) -> anyhow::Result<()> {
    let cluster = stop.unless_asked(Cluster::connect(config)).await?;
    let program = std::env::current_exe().context("cannot find the path of this program")?;
    cluster.work(cluster.broker()?, workers::parsing(&cluster, program, PARSE_WORKER), stop).await
}
