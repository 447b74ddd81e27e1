//! Sends questions at a steady rate over a few connections, and measures the time of each answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

/// The questions and their rate.
pub(crate) struct Load {
    /// `HOST:PORT` of the query service.
    pub(crate) host: String,
    /// The API keys of the agents. Each key has a limit on the number of concurrent questions.
    pub(crate) keys: Vec<String>,
    pub(crate) questions: Vec<String>,
    /// Questions per second of all agents together.
    pub(crate) rate: f64,
}

/// The sorted times of the questions. Each measurement begins when the question is due, and ends when its
/// answer is complete.
pub(crate) struct Measured {
    pub(crate) times: Vec<Duration>,
    pub(crate) num_errors: usize,
    pub(crate) elapsed: Duration,
}

impl Measured {
    pub(crate) fn at(&self, share: f64) -> f64 {
        let last = self.times.len().saturating_sub(1);
        let time = self.times.get((last as f64 * share).round() as usize).copied().unwrap_or_default();
        time.as_secs_f64() * 1000.0
    }

    /// Answers per second.
    pub(crate) fn rate(&self) -> f64 {
        self.times.len() as f64 / self.elapsed.as_secs_f64()
    }
}

impl Load {
    /// Asks every question once. The time of a question is measured from the moment at which it was due. So
    /// if the service is slow, the measured time includes the wait for a free agent.
    pub(crate) async fn run(self) -> Result<Measured> {
        let (load, next, begin) = (Arc::new(self), Arc::new(AtomicUsize::new(0)), Instant::now());
        let mut agents = JoinSet::new();
        for key in load.keys.clone() {
            agents.spawn(agent(Arc::clone(&load), key, Arc::clone(&next), begin));
        }
        let mut measured = Measured { times: Vec::new(), num_errors: 0, elapsed: Duration::ZERO };
        while let Some(outcome) = agents.join_next().await {
            let (times, num_errors) = outcome??;
            measured.times.extend(times);
            measured.num_errors += num_errors;
        }
        measured.elapsed = begin.elapsed();
        measured.times.sort_unstable();
        Ok(measured)
    }
}

async fn agent(load: Arc<Load>, key: String, next: Arc<AtomicUsize>, begin: Instant) -> Result<(Vec<Duration>, usize)> {
    let (mut times, mut num_errors) = (Vec::new(), 0);
    let mut connection = BufReader::new(TcpStream::connect(&load.host).await?);
    connection.get_ref().set_nodelay(true)?;
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let Some(question) = load.questions.get(number) else { return Ok((times, num_errors)) };
        let due = begin + Duration::from_secs_f64(number as f64 / load.rate);
        sleep_until(due).await;
        let status = ask(&mut connection, (&load.host, &key), question).await?;
        if status == 200 { times.push(due.elapsed()) } else { num_errors += 1 }
    }
}

/// Sends one question and reads the whole answer. Returns the status.
async fn ask(connection: &mut BufReader<TcpStream>, (host, key): (&str, &str), question: &str) -> Result<u16> {
    let body = json!({ "query": question }).to_string();
    let head = format!(
        "POST /v1/search HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        host,
        key,
        body.len()
    );
    connection.get_mut().write_all(format!("{head}{body}").as_bytes()).await?;
    let mut line = String::new();
    connection.read_line(&mut line).await?;
    let status = line
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .context("the first line of an answer contains no status")?;
    let mut num_bytes = None;
    loop {
        line.clear();
        if connection.read_line(&mut line).await? == 0 {
            bail!("the connection ended before the answer was complete");
        }
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => num_bytes = value.parse().ok(),
            None => break,
            Some(_) => {}
        }
    }
    let mut answer = vec![0; num_bytes.context("an answer has no `Content-Length`")?];
    connection.read_exact(&mut answer).await?;
    Ok(status)
}
