//! The test server with Qdrant's protocol (`tests/qdrant-server`).

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::install::installed;
use crate::loopback;
use crate::process::{ServerProcess, folder, on_free_ports};

pub struct QdrantServer {
    process: ServerProcess,
    url: String,
}

impl QdrantServer {
    /// Starts the server. The data and the log of the server are stored in `directory`.
    pub async fn start(directory: &Path) -> Result<Self> {
        let program = installed("qdrant").await?;
        on_free_ports(async || start(&program, directory).await).await
    }

    /// Returns `http://127.0.0.1:PORT`, with the gRPC port.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn into_process(self) -> ServerProcess {
        self.process
    }
}

async fn start(program: &Path, directory: &Path) -> Result<QdrantServer> {
    let [port] = loopback::free_ports()?;
    let mut command = Command::new(program);
    command.args(["--listen", &format!("127.0.0.1:{port}"), "--storage"]).arg(folder(directory, "storage")?);
    let probe = Box::new(move || Box::pin(loopback::accepts(port)) as _);
    let log = folder(directory, "")?.join("qdrant.log");
    let process = ServerProcess::start("the Qdrant test server", command, log, probe).await?;
    Ok(QdrantServer { process, url: format!("http://127.0.0.1:{port}") })
}

impl Deref for QdrantServer {
    type Target = ServerProcess;

    fn deref(&self) -> &ServerProcess {
        &self.process
    }
}

impl DerefMut for QdrantServer {
    fn deref_mut(&mut self) -> &mut ServerProcess {
        &mut self.process
    }
}
