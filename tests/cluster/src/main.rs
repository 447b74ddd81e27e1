//! `cairn-cluster` starts and stops a cluster for users on this machine.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use cairn_cluster::{LocalCluster, STANDARD, Servers, Space};
use clap::{Parser, Subcommand};
use toml::Table;

/// Runs RabbitMQ, MinIO, Neo4j, a server with Qdrant's protocol, and one replica of each service, on
/// 127.0.0.1. If CAIRN_RABBITMQ_URL, CAIRN_S3_URL, CAIRN_NEO4J_URL or CAIRN_QDRANT_URL is set, the server at
/// that address is used instead of a new one.
#[derive(Parser)]
struct Arguments {
    /// The folder for data, settings, logs and process ids.
    #[arg(long)]
    directory: PathBuf,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Starts servers and services, and leaves them running.
    Up,
    /// Stops the processes that `up` started. The data stays.
    Down,
}

#[tokio::main]
async fn main() -> ExitCode {
    let Arguments { directory, action } = Arguments::parse();
    let outcome = match action {
        Action::Up => up(&directory).await,
        Action::Down => down(&directory).await,
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cluster: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn up(directory: &Path) -> Result<()> {
    let servers = directory.join("servers");
    fs::create_dir_all(&servers).with_context(|| format!("cannot make {}", servers.display()))?;
    println!("starting RabbitMQ, MinIO, Neo4j and the Qdrant test server");
    cairn_servers::up(&servers).await?;
    let started = start_services(directory, &servers).await;
    if started.is_err() {
        cairn_servers::down(&servers).await?;
    }
    started
}

async fn start_services(directory: &Path, servers: &Path) -> Result<()> {
    let servers = Servers::read(&fs::read_to_string(servers.join("env"))?)?;
    let space = Space::of_folder(&servers, directory)?;
    let mut cluster = LocalCluster::prepare(directory, &servers, &space, &Table::new())?;
    println!("starting {}", STANDARD.join(", "));
    cluster.start_all().await?;
    let reported = cluster.cairn(&["keys", "create", "--label", "local", "--may-index"])?;
    let key = reported.lines().next().context("no key was created")?;
    say(directory, &servers, &cluster, key.trim())?;
    cairn_servers::keep(directory, cluster.into_processes())
}

/// Prints the addresses, and writes a file `env` that sets the variables in a shell.
fn say(directory: &Path, servers: &Servers, cluster: &LocalCluster, key: &str) -> Result<()> {
    println!();
    for (server, address) in servers.addresses()? {
        println!("{server:20} {address}");
    }
    for service in STANDARD {
        println!("{service:20} http://{}/metrics", cluster.address(service)?);
    }
    let questions = cluster.questions("query")?;
    println!("{:20} {questions}/v1 {questions}/mcp", "questions");
    let lines = [format!("export CAIRN_SERVER='{questions}'\n"), format!("export CAIRN_API_KEY='{key}'\n")];
    let env = std::path::absolute(directory)?.join("env");
    fs::write(&env, lines.concat())?;
    // The file contains the key.
    fs::set_permissions(&env, Permissions::from_mode(0o600))?;
    println!(
        "\ncairn --cluster {} enqueue URL    # and all other commands of the operator",
        cluster.settings().display()
    );
    println!("source {} && cairn search WORDS    # as a client of the query service", env.display());
    Ok(())
}

async fn down(directory: &Path) -> Result<()> {
    cairn_servers::down(directory).await?;
    cairn_servers::down(&directory.join("servers")).await
}
