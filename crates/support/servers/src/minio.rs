//! MinIO, an S3 server with conditional writes.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::install::installed;
use crate::process::{ServerProcess, folder, on_free_ports};
use crate::{http, loopback};

const USER: &str = "cairn";
const PASSWORD: &str = "cairn-secret";

pub struct MinIo {
    process: ServerProcess,
    url: String,
}

impl MinIo {
    /// Starts the server. The data and the log of the server are stored in `directory`.
    pub async fn start(directory: &Path) -> Result<Self> {
        let program = installed("minio").await?;
        on_free_ports(async || start(&program, directory).await).await
    }

    /// Returns `http://KEY:SECRET@127.0.0.1:PORT`.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn into_process(self) -> ServerProcess {
        self.process
    }
}

async fn start(program: &Path, directory: &Path) -> Result<MinIo> {
    let [port] = loopback::free_ports()?;
    let data = folder(directory, "data")?;
    let mut command = Command::new(program);
    command.args(["server", "--address", &format!("127.0.0.1:{port}")]).arg(data);
    command.env("MINIO_ROOT_USER", USER).env("MINIO_ROOT_PASSWORD", PASSWORD).env("MINIO_BROWSER", "off");
    // `MINIO_UPDATE=off` disables the check for updates and the sending of statistics.
    command.env("MINIO_UPDATE", "off").env("HOME", folder(directory, "home")?);
    let server = format!("http://127.0.0.1:{port}");
    let probe = Box::new(move || Box::pin(http::is_ok(server.clone(), "/minio/health/ready")) as _);
    let log = folder(directory, "")?.join("minio.log");
    let process = ServerProcess::start("MinIO", command, log, probe).await?;
    Ok(MinIo { process, url: format!("http://{USER}:{PASSWORD}@127.0.0.1:{port}") })
}

impl Deref for MinIo {
    type Target = ServerProcess;

    fn deref(&self) -> &ServerProcess {
        &self.process
    }
}

impl DerefMut for MinIo {
    fn deref_mut(&mut self) -> &mut ServerProcess {
        &mut self.process
    }
}
