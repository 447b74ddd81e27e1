//! Tests the program `cairn-servers`. Only MinIO is started, because it is ready quickly. The other servers
//! are declared as external.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result};
use cairn_servers::given;
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::waiting::{accepts, until};

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cairn-servers"));
    command.env(given::RABBITMQ_URL, "amqp://given").env(given::NEO4J_URL, "bolt://given");
    command.env(given::QDRANT_URL, "http://given").env_remove(given::S3_URL).kill_on_drop(true);
    command
}

async fn run(script: &str) -> Result<(Child, Lines<BufReader<ChildStdout>>)> {
    let mut child = program().args(["run", "--", "sh", "-c", script]).stdout(Stdio::piped()).spawn()?;
    let output = child.stdout.take().context("its output")?;
    Ok((child, BufReader::new(output).lines()))
}

/// Sources the file with the addresses in a shell, runs `print` there, and returns its output.
async fn sourced(directory: &Path, print: &str) -> Result<String> {
    let file = directory.join("env");
    let script = format!(". '{}' && printf %s \"{print}\"", file.display());
    let output = Command::new("sh").args(["-c", &script]).output().await?;
    Ok(String::from_utf8(output.stdout)?)
}

#[tokio::test]
async fn run_passes_addresses_and_returns_the_exit_code() -> Result<()> {
    if given::is_left_out("a test of `cairn-servers run`") {
        return Ok(());
    }
    let (mut child, mut output) = run(r#"echo "$CAIRN_S3_URL"; echo "$CAIRN_NEO4J_URL"; exit 7"#).await?;
    let url = output.next_line().await?.context("the output has no address of MinIO")?;
    assert!(url.starts_with("http://cairn:"), "{url}");
    assert_eq!(output.next_line().await?.as_deref(), Some("bolt://given"));
    assert_eq!(child.wait().await?.code(), Some(7));
    assert!(!accepts(&url).await, "the server is still running");
    Ok(())
}

#[tokio::test]
async fn servers_end_when_the_program_is_killed() -> Result<()> {
    if given::is_left_out("a test of `cairn-servers run`") {
        return Ok(());
    }
    let (mut child, mut output) = run(r#"echo "$CAIRN_S3_URL"; echo $$; exec tail -f /dev/null"#).await?;
    let url = output.next_line().await?.context("the output has no address of MinIO")?;
    let command: i32 = output.next_line().await?.context("the output has no process id of the command")?.parse()?;
    assert!(accepts(&url).await);
    child.kill().await?;
    until("the server has ended", async || !accepts(&url).await).await?;
    kill_process(Pid::from_raw(command).context("a process")?, Signal::KILL)?;
    Ok(())
}

#[tokio::test]
async fn signals_reach_the_command() -> Result<()> {
    if given::is_left_out("a test of `cairn-servers run`") {
        return Ok(());
    }
    let (mut child, mut output) =
        run(r#"trap 'kill $!; exit 9' TERM; tail -f /dev/null & echo "$CAIRN_S3_URL"; wait"#).await?;
    output.next_line().await?.context("the output has no address of MinIO")?;
    let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    kill_process(pid.context("a process")?, Signal::TERM)?;
    assert_eq!(child.wait().await?.code(), Some(9));
    Ok(())
}

#[tokio::test]
async fn servers_run_until_down() -> Result<()> {
    if given::is_left_out("a test of `cairn-servers up`") {
        return Ok(());
    }
    let directory = tempfile::tempdir()?;
    let call = async |action: &str| program().arg(action).arg("--directory").arg(directory.path()).status().await;
    assert!(call("up").await?.success());
    let url = sourced(directory.path(), "$CAIRN_S3_URL").await?;
    assert!(accepts(&url).await);
    assert!(!call("up").await?.success(), "a second set of servers in one folder");
    assert!(accepts(&url).await);
    assert!(call("down").await?.success());
    assert!(!accepts(&url).await);
    assert!(call("down").await?.success());
    assert!(!directory.path().join("env").exists());
    Ok(())
}
