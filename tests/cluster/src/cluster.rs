//! The services of a cluster as processes that share one settings file.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};
use cairn_servers::{ServerProcess, free_ports, get, look};
use tokio::task::JoinSet;
use toml::Table;

use crate::settings::{self, random_digits};
use crate::{Servers, Space, program};

/// One replica of each service.
pub const STANDARD: [&str; 7] =
    ["scheduler", "cloner", "parser", "embedder", "graph-writer", "pattern-aggregator", "query"];

/// Operator settings that allow repositories on this machine: local files, and servers with a private address
/// or without TLS.
const OPERATOR: &str = "[sources]\nallow_file = true\nallow_private_addresses = true\nallow_http = true\n";

/// The length of the random key that encrypts cursors.
const CURSOR_KEY_BYTES: usize = 32;

/// The endpoints that report the health and the readiness of a service.
const ALIVE: &str = "/healthz";
const READY: &str = "/readyz";

/// The name of a replica to start, and the environment variables for this replica.
pub type Wanted = (String, Vec<(&'static str, String)>);

/// The services of one cluster. The services share one `Space` on the servers, and end when this value is
/// dropped.
pub struct LocalCluster {
    directory: PathBuf,
    services: BTreeMap<String, Service>,
}

struct Service {
    process: ServerProcess,
    /// `HOST:PORT` of the pages for health and metrics.
    address: String,
    /// `HOST:PORT` of the API, if this is the query service.
    questions: String,
}

impl LocalCluster {
    /// Writes the settings and prepares the servers, but starts no service. `directory` will contain
    /// settings, logs and clones.
    pub fn prepare(directory: &Path, servers: &Servers, space: &Space, overrides: &Table) -> Result<Self> {
        let directory = std::path::absolute(directory)?;
        fs::create_dir_all(directory.join("logs"))?;
        private(&directory.join("operator.toml"), OPERATOR)?;
        if !directory.join("cursor-key").exists() {
            private(&directory.join("cursor-key"), &random_digits(CURSOR_KEY_BYTES)?)?;
        }
        private(&directory.join("cluster.toml"), &settings::text(servers, space, &directory, overrides)?)?;
        let cluster = Self { directory, services: BTreeMap::new() };
        cluster.cairn(&["topology", "apply"])?;
        Ok(cluster)
    }

    pub fn settings(&self) -> PathBuf {
        self.directory.join("cluster.toml")
    }

    /// Starts a service and waits until it is ready. `replica` is the service's name, or the name of one of
    /// several replicas, such as `embedder-2`.
    pub async fn start(&mut self, replica: &str, variables: &[(&str, String)]) -> Result<()> {
        let service = self.starting(replica, variables, READY)?.await?;
        self.services.insert(replica.to_owned(), service);
        Ok(())
    }

    /// Like `start`, for a service that may not become ready: waits until the service is alive.
    pub async fn start_alive(&mut self, replica: &str, variables: &[(&str, String)]) -> Result<()> {
        let service = self.starting(replica, variables, ALIVE)?.await?;
        self.services.insert(replica.to_owned(), service);
        Ok(())
    }

    /// Starts services in parallel, each with its own environment variables. Returns the result of each
    /// start.
    pub async fn start_together(&mut self, wanted: Vec<Wanted>) -> Result<Vec<(String, Result<()>)>> {
        let mut starting = JoinSet::new();
        for (replica, variables) in wanted {
            let service = self.starting(&replica, &variables, READY)?;
            starting.spawn(async move { (replica, service.await) });
        }
        let mut outcomes = Vec::new();
        while let Some(started) = starting.join_next().await {
            let (replica, started) = started?;
            let outcome = started.map(|service| drop(self.services.insert(replica.clone(), service)));
            outcomes.push((replica, outcome));
        }
        Ok(outcomes)
    }

    fn starting(
        &self,
        replica: &str,
        variables: &[(&str, String)],
        page: &str,
    ) -> Result<impl Future<Output = Result<Service>> + Send + use<>> {
        let service = replica.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
        let [port, questions_port] = free_ports()?;
        let (address, questions) = (format!("127.0.0.1:{port}"), format!("127.0.0.1:{questions_port}"));
        let mut command = Command::new(program(&format!("cairn-{service}"))?);
        fs::create_dir_all(self.temporary(replica))?;
        command
            .env("TMPDIR", self.temporary(replica))
            .env("CAIRN_CLUSTER_CONFIG", self.settings())
            .env("CAIRN__HTTP__LISTEN", &address)
            .env("CAIRN__CACHE_DIRECTORY", self.cache(replica))
            .envs(variables.iter().map(|(name, value)| (*name, value.as_str())));
        match service {
            "scheduler" => command.arg("run"),
            "query" => command.env("CAIRN__QUERY__LISTEN", &questions),
            _ => &mut command,
        };
        let (name, log, page) = (replica.to_owned(), self.log(replica), format!("http://{address}{page}"));
        Ok(async move {
            let process = ServerProcess::start_over_http(&name, command, log, &page).await?;
            Ok(Service { process, address, questions })
        })
    }

    /// Starts one replica of each service.
    pub async fn start_all(&mut self) -> Result<()> {
        let wanted = STANDARD.map(|service| (service.to_owned(), Vec::new()));
        self.start_together(wanted.into()).await?.into_iter().try_for_each(|(_, started)| started)
    }

    /// Names of the running services.
    pub fn replicas(&self) -> impl Iterator<Item = &str> {
        self.services.keys().map(String::as_str)
    }

    /// The running services that process jobs, and so have connections to the broker.
    pub fn workers(&self) -> impl Iterator<Item = &str> {
        self.replicas().filter(|replica| !replica.starts_with("query"))
    }

    /// The folder in which a replica stores its clones.
    pub fn cache(&self, replica: &str) -> PathBuf {
        self.directory.join("cache").join(replica)
    }

    /// The folder of a replica's temporary files.
    pub fn temporary(&self, replica: &str) -> PathBuf {
        self.directory.join("temporary").join(replica)
    }

    /// The log file of a replica, with the output of all its starts.
    pub fn log(&self, replica: &str) -> PathBuf {
        self.directory.join("logs").join(format!("{replica}.log"))
    }

    /// The base URL of a query service.
    pub fn questions(&self, replica: &str) -> Result<String> {
        let service = self.services.get(replica).with_context(|| format!("{replica} is not running"))?;
        Ok(format!("http://{}", service.questions))
    }

    /// `HOST:PORT` of the pages for health and metrics of a running service.
    pub fn address(&self, replica: &str) -> Result<&str> {
        Ok(&self.services.get(replica).with_context(|| format!("{replica} is not running"))?.address)
    }

    /// Whether a service reports that it is alive.
    pub async fn is_alive(&self, replica: &str) -> Result<bool> {
        Ok(look(&format!("http://{}", self.address(replica)?), ALIVE).await?.0 == 200)
    }

    /// The reason why a service is not ready; None if it is ready.
    pub async fn not_ready(&self, replica: &str) -> Result<Option<String>> {
        let (status, reported) = look(&format!("http://{}", self.address(replica)?), READY).await?;
        Ok((status != 200).then_some(reported))
    }

    /// The peak memory of each running service, in bytes: the peak of the service process or of its child
    /// processes, whichever is larger.
    pub fn peak_memory(&self) -> impl Iterator<Item = (&str, u64)> {
        self.services.iter().map(|(replica, service)| (replica.as_str(), service.process.peak_memory_bytes()))
    }

    /// The process of a service, so that a test can kill, freeze or restart it.
    pub fn process(&mut self, replica: &str) -> Result<&mut ServerProcess> {
        Ok(&mut self.services.get_mut(replica).with_context(|| format!("{replica} is not running"))?.process)
    }

    /// The sum of the metrics of a running service whose lines begin with `start`, such as
    /// `cairn_jobs_total{answer="ack"`.
    pub async fn metric(&self, replica: &str, start: &str) -> Result<u64> {
        let text = get(&format!("http://{}", self.address(replica)?), "/metrics").await?;
        let values = text.lines().filter(|line| line.starts_with(start)).filter_map(|line| line.rsplit_once(' '));
        Ok(values.filter_map(|(_, value)| value.parse::<u64>().ok()).sum())
    }

    /// Stops a service with SIGTERM.
    pub async fn stop(&mut self, replica: &str) -> Result<()> {
        self.process(replica)?.stop().await?;
        self.services.remove(replica);
        Ok(())
    }

    /// Stops services in parallel.
    pub async fn stop_together(&mut self, replicas: impl IntoIterator<Item = &str>) -> Result<()> {
        let mut stopping = JoinSet::new();
        for replica in replicas {
            let service = self.services.remove(replica).with_context(|| format!("{replica} is not running"))?;
            let mut process = service.process;
            stopping.spawn(async move { process.stop().await });
        }
        while let Some(stopped) = stopping.join_next().await {
            stopped??;
        }
        Ok(())
    }

    /// Runs `cairn` against this cluster and returns its standard output. Fails if `cairn` fails.
    pub fn cairn(&self, arguments: &[&str]) -> Result<String> {
        let output = self.try_cairn(arguments)?;
        let errors = String::from_utf8_lossy(&output.stderr);
        let reported = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success(), "cairn {} failed: {errors}{reported}", arguments.join(" "));
        Ok(reported.into_owned())
    }

    /// Runs `cairn` against this cluster and returns its output, even if `cairn` fails.
    pub fn try_cairn(&self, arguments: &[&str]) -> Result<Output> {
        let mut command = Command::new(program("cairn")?);
        command.args(arguments).env("CAIRN_CLUSTER_CONFIG", self.settings());
        command.output().context("cannot start cairn")
    }

    /// The processes of the services.
    pub fn into_processes(self) -> Vec<ServerProcess> {
        self.services.into_values().map(|service| service.process).collect()
    }
}

/// Writes a file that only its owner may read, because it contains credentials.
fn private(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(())
}
