//! A single RabbitMQ node.
//!
//! `/usr/lib/rabbitmq/bin/rabbitmq-server` is called directly, because the wrapper in `/usr/sbin` changes the
//! user and removes the environment. The first node would start Erlang's port mapper (epmd) as a daemon that
//! outlives the node. Therefore the port mapper is started here as a separate process with its own port.

use std::fs;
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};

use crate::install::installed;
use crate::process::{ServerProcess, folder, on_free_ports};
use crate::{http, loopback};

const USER: &str = "guest";
const PASSWORD: &str = "guest";
/// The cookie of all nodes in these tests. The cookie need not be secret, because the nodes listen only on
/// 127.0.0.1.
const COOKIE: &str = "cairn-tests";

pub struct RabbitMq {
    process: ServerProcess,
    node: NodeFolder,
    ports: Ports,
    /// The port mapper, which all nodes of a cluster share. The port mapper ends with the last node that uses
    /// it.
    port_mapper: Arc<PortMapper>,
}

impl RabbitMq {
    /// Starts a node. The data and the log of the node are stored in `directory`.
    pub async fn start(directory: &Path) -> Result<Self> {
        Self::start_with(directory, "").await
    }

    /// Starts a node with additional lines for `rabbitmq.conf`, for example `consumer_timeout = 10000`.
    pub async fn start_with(directory: &Path, settings: &str) -> Result<Self> {
        let program = installed("rabbitmq").await?;
        on_free_ports(async || {
            let port_mapper = Arc::new(PortMapper::start(directory).await?);
            start_node(&program, directory, "rabbit", settings, &port_mapper).await
        })
        .await
    }

    /// Returns `amqp://guest:guest@127.0.0.1:PORT/%2f`.
    pub fn url(&self) -> String {
        format!("amqp://{USER}:{PASSWORD}@127.0.0.1:{}/%2f", self.ports.amqp)
    }

    /// Returns `http://guest:guest@127.0.0.1:PORT`.
    pub fn management_url(&self) -> String {
        management_url(self.ports.management)
    }

    /// Returns `http://127.0.0.1:PORT`; the metrics are at `/metrics`.
    pub fn metrics_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.metrics)
    }

    /// Runs `rabbitmqctl` on this node and returns its output. Each call starts an Erlang virtual machine,
    /// which takes one to four seconds.
    pub async fn rabbitmqctl(&self, arguments: &[&str]) -> Result<String> {
        // The program in `PATH` would change the user.
        let program = self.node.program.with_file_name("rabbitmqctl");
        let mut command = self.node.command(&program, &self.ports, self.port_mapper.port);
        command.arg("-q").args(arguments);
        let run = tokio::process::Command::from(command).kill_on_drop(true).output().await;
        let run = run.context("cannot start rabbitmqctl")?;
        let errors = String::from_utf8_lossy(&run.stderr);
        ensure!(run.status.success(), "`rabbitmqctl {}` failed: {errors}", arguments.join(" "));
        Ok(String::from_utf8_lossy(&run.stdout).into_owned())
    }

    /// The processes of the node and the port mapper. The port mapper must end after the node.
    pub(crate) fn into_processes(self) -> [Option<ServerProcess>; 2] {
        let port_mapper = Arc::into_inner(self.port_mapper).map(|port_mapper| port_mapper.process);
        [Some(self.process), port_mapper]
    }
}

/// Starts one node that finds other nodes through the port mapper.
pub(crate) async fn start_node(
    program: &Path,
    directory: &Path,
    name: &str,
    settings: &str,
    port_mapper: &Arc<PortMapper>,
) -> Result<RabbitMq> {
    let [amqp, distribution, management, metrics] = loopback::free_ports()?;
    let ports = Ports { amqp, distribution, management, metrics };
    let node =
        NodeFolder { program: program.to_owned(), path: folder(directory, name)?, name: format!("{name}@localhost") };
    node.prepare(&ports, settings)?;
    let command = node.command(&node.program, &ports, port_mapper.port);
    let log = node.path.join("console.log");
    let probe = Box::new(move || Box::pin(is_up(ports)) as _);
    let process = ServerProcess::start(&format!("RabbitMQ ({name})"), command, log, probe).await?;
    Ok(RabbitMq { process, node, ports, port_mapper: Arc::clone(port_mapper) })
}

/// Whether the node is ready: it accepts clients, and its management API answers. A node accepts clients only
/// when its start is complete.
async fn is_up(ports: Ports) -> bool {
    loopback::accepts(ports.amqp).await && http::is_ok(management_url(ports.management), "/api/overview").await
}

fn management_url(port: u16) -> String {
    format!("http://{USER}:{PASSWORD}@127.0.0.1:{port}")
}

#[derive(Clone, Copy, Debug)]
struct Ports {
    amqp: u16,
    distribution: u16,
    management: u16,
    metrics: u16,
}

struct NodeFolder {
    program: PathBuf,
    path: PathBuf,
    /// The name of the node with its host, in Erlang's form.
    name: String,
}

impl NodeFolder {
    fn prepare(&self, ports: &Ports, settings: &str) -> Result<()> {
        let Ports { amqp, management, metrics, .. } = ports;
        let cookie = folder(&self.path, "home")?.join(".erlang.cookie");
        if !cookie.exists() {
            fs::write(&cookie, COOKIE)?;
            // Erlang refuses a cookie file that other users can read.
            fs::set_permissions(&cookie, fs::Permissions::from_mode(0o400))?;
        }
        let own = format!(
            "listeners.tcp.1 = 127.0.0.1:{amqp}\n\
             management.tcp.ip = 127.0.0.1\n\
             management.tcp.port = {management}\n\
             prometheus.tcp.ip = 127.0.0.1\n\
             prometheus.tcp.port = {metrics}\n\
             log.console = true\n\
             log.file = false\n\
             vm_memory_high_watermark.absolute = 1GB\n\
             disk_free_limit.absolute = 200MB\n"
        );
        for (file, text) in [
            ("rabbitmq.conf", format!("{own}{settings}\n")),
            ("enabled_plugins", "[rabbitmq_management,rabbitmq_prometheus].\n".to_owned()),
            ("rabbitmq-env.conf", String::new()),
        ] {
            let path = self.path.join(file);
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        for name in ["mnesia", "log", "schema"] {
            folder(&self.path, name)?;
        }
        Ok(())
    }

    fn command(&self, program: &Path, ports: &Ports, port_mapper: u16) -> Command {
        let at = |name: &str| self.path.join(name);
        let mut command = Command::new(program);
        command.env("HOME", at("home")).env("RABBITMQ_NODENAME", &self.name);
        command.env("ERL_EPMD_ADDRESS", "127.0.0.1").env("ERL_EPMD_PORT", port_mapper.to_string());
        command.env("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1").env("RABBITMQ_NODE_PORT", ports.amqp.to_string());
        command.env("RABBITMQ_DIST_PORT", ports.distribution.to_string());
        command.env("RABBITMQ_BASE", &self.path).env("RABBITMQ_MNESIA_BASE", at("mnesia"));
        command.env("RABBITMQ_LOG_BASE", at("log")).env("RABBITMQ_GENERATED_CONFIG_DIR", at("schema"));
        command.env("RABBITMQ_CONFIG_FILE", at("rabbitmq.conf"));
        command.env("RABBITMQ_CONF_ENV_FILE", at("rabbitmq-env.conf"));
        command.env("RABBITMQ_ENABLED_PLUGINS_FILE", at("enabled_plugins"));
        command.env("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", "-kernel inet_dist_use_interface {127,0,0,1}");
        command
    }
}

/// Erlang's port mapper.
pub(crate) struct PortMapper {
    process: ServerProcess,
    port: u16,
}

impl PortMapper {
    pub async fn start(directory: &Path) -> Result<Self> {
        let [port] = loopback::free_ports()?;
        let mut command = Command::new("epmd");
        command.args(["-port", &port.to_string(), "-address", "127.0.0.1"]);
        let probe = Box::new(move || Box::pin(loopback::accepts(port)) as _);
        let log = folder(directory, "")?.join("epmd.log");
        let process = ServerProcess::start("epmd", command, log, probe).await?;
        Ok(Self { process, port })
    }
}

impl Deref for RabbitMq {
    type Target = ServerProcess;

    fn deref(&self) -> &ServerProcess {
        &self.process
    }
}

impl DerefMut for RabbitMq {
    fn deref_mut(&mut self) -> &mut ServerProcess {
        &mut self.process
    }
}
