//! Neo4j Community, started from its jars.

use std::fs;
use std::net::Ipv4Addr;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::install::installed;
use crate::loopback;
use crate::process::{ServerProcess, folder, on_free_ports};

const JAVA_OPTIONS: [&str; 11] = [
    "-Xms256m",
    "-Xmx768m",
    "-XX:+UseG1GC",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
    "-Djol.skipHotspotSAAttach=true",
    "-Dlog4j2.disable.jmx=true",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dfile.encoding=UTF-8",
];
/// The first bytes that a client sends: the magic number and the supported versions of Bolt, here only 4.4.
const BOLT_HANDSHAKE: [u8; 20] = [0x60, 0x60, 0xB0, 0x17, 0, 0, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

pub struct Neo4j {
    process: ServerProcess,
    url: String,
}

impl Neo4j {
    /// Starts a server without authentication. The data and the log of the server are stored in `directory`.
    pub async fn start(directory: &Path) -> Result<Self> {
        Self::start_with(directory, None).await
    }

    /// Starts a server with the user `neo4j` and this password. The password is set at the first start in
    /// `directory`, and does not change later.
    pub async fn start_with_password(directory: &Path, password: &str) -> Result<Self> {
        Self::start_with(directory, Some(password)).await
    }

    async fn start_with(directory: &Path, password: Option<&str>) -> Result<Self> {
        let home = Home { jars: installed("neo4j").await?, folder: folder(directory, "neo4j")? };
        if let Some(password) = password {
            home.set_password(password).await?;
        }
        on_free_ports(async || home.start(password).await).await
    }

    /// Returns `bolt://127.0.0.1:PORT`, or `bolt://neo4j:PASSWORD@127.0.0.1:PORT`.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn into_process(self) -> ServerProcess {
        self.process
    }
}

struct Home {
    jars: PathBuf,
    folder: PathBuf,
}

impl Home {
    async fn start(&self, password: Option<&str>) -> Result<Neo4j> {
        let [port] = loopback::free_ports()?;
        self.write_settings(port, password.is_some())?;
        let mut command = self.java();
        command.arg("org.neo4j.server.CommunityEntryPoint").arg("--console-mode");
        command.arg(format!("--home-dir={}", self.folder.display()));
        command.arg(format!("--config-dir={}", self.folder.join("conf").display()));
        let probe = Box::new(move || Box::pin(speaks_bolt(port)) as _);
        let process = ServerProcess::start("Neo4j", command, self.folder.join("console.log"), probe).await?;
        let login = password.map(|password| format!("neo4j:{password}@")).unwrap_or_default();
        Ok(Neo4j { process, url: format!("bolt://{login}127.0.0.1:{port}") })
    }

    fn java(&self) -> Command {
        let mut command = Command::new("java");
        command.args(JAVA_OPTIONS).arg("-cp").arg(self.jars.join("*"));
        command.env("NEO4J_HOME", &self.folder).env("NEO4J_CONF", self.folder.join("conf"));
        command
    }

    /// Query plans are kept for a day. Otherwise, the server would discard its plans all the time, because
    /// tests fill and empty the database all the time.
    fn write_settings(&self, port: u16, has_password: bool) -> Result<()> {
        let mut settings = format!(
            "server.default_listen_address=127.0.0.1\n\
             server.bolt.enabled=true\n\
             server.bolt.listen_address=127.0.0.1:{port}\n\
             server.bolt.advertised_address=127.0.0.1:{port}\n\
             server.http.enabled=false\n\
             server.https.enabled=false\n\
             dbms.security.auth_enabled={has_password}\n\
             dbms.usage_report.enabled=false\n\
             server.memory.pagecache.size=64m\n\
             dbms.cypher.min_replan_interval=1d\n\
             db.transaction.timeout=60s\n\
             db.lock.acquisition.timeout=30s\n"
        );
        for (kind, name) in
            [("data", "data"), ("logs", "logs"), ("run", "run"), ("plugins", "plugins"), ("import", "import")]
        {
            let path = folder(&self.folder, name)?;
            settings.push_str(&format!("server.directories.{kind}={}\n", path.display()));
        }
        let path = folder(&self.folder, "conf")?.join("neo4j.conf");
        fs::write(&path, settings).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Sets the password. At its first start, the server copies the password from `auth.ini` into the
    /// database. After the first start, this function has no effect.
    async fn set_password(&self, password: &str) -> Result<()> {
        if self.folder.join("data/databases").exists() {
            return Ok(());
        }
        self.write_settings(0, true)?;
        let mut command = self.java();
        command.args(["org.neo4j.cli.AdminTool", "dbms", "set-initial-password", password]);
        let run = tokio::process::Command::from(command).kill_on_drop(true).output().await;
        let run = run.context("cannot start java")?;
        ensure!(run.status.success(), "Neo4j did not accept the password: {}", String::from_utf8_lossy(&run.stderr));
        Ok(())
    }
}

/// Whether the server accepts a version of Bolt. A server listens only when its databases are online.
async fn speaks_bolt(port: u16) -> bool {
    let agreed = async {
        let mut connection = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
        connection.write_all(&BOLT_HANDSHAKE).await?;
        connection.read_u32().await
    };
    agreed.await.is_ok_and(|version| version == 0x0404)
}

impl Deref for Neo4j {
    type Target = ServerProcess;

    fn deref(&self) -> &ServerProcess {
        &self.process
    }
}

impl DerefMut for Neo4j {
    fn deref_mut(&mut self) -> &mut ServerProcess {
        &mut self.process
    }
}
