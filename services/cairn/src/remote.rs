//! A query service, asked over HTTP.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use cairn_gateway::questions::Question;
use reqwest::header::RETRY_AFTER;
use reqwest::{Client, Response, StatusCode, Url};
use serde_json::{Value, json};

use crate::cli::Arguments;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Longer than a service lets any question take.
const TIMEOUT: Duration = Duration::from_secs(90);
/// How often an answer in parts is begun anew, because something was published between them.
const READINGS: usize = 5;
const KEY: &str = "CAIRN_API_KEY";

/// An answer that is an error, in the form that all front ends share.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0["message"].as_str().unwrap_or("the server refuses without a reason"))]
pub struct RemoteError(pub Value);

/// A question that got no answer.
#[derive(Debug)]
pub struct Unanswered {
    pub error: anyhow::Error,
    /// How long to wait before asking again helps; none if it does not.
    pub again_after: Option<Duration>,
    /// The server itself said no; else it could not be reached, or the connection was lost.
    pub was_reached: bool,
}

impl Unanswered {
    fn lost(error: reqwest::Error, what: String) -> Self {
        let error = anyhow::Error::new(error.without_url()).context(what);
        Self { error, again_after: Some(Duration::ZERO), was_reached: false }
    }
}

/// A service and the key to it.
pub struct Remote {
    base: Url,
    key: String,
    client: Client,
}

impl Remote {
    /// The service that `--server` or `CAIRN_SERVER` names, if one does.
    pub fn of(arguments: &Arguments) -> anyhow::Result<Option<Self>> {
        let Some(server) = arguments.server.as_deref() else { return Ok(None) };
        let base = Url::parse(server).with_context(|| format!("`--server {server}` is no URL"))?;
        if !matches!(base.scheme(), "http" | "https") {
            bail!("`--server {server}` must begin with https:// or http://");
        }
        if !base.username().is_empty() || base.password().is_some() {
            bail!("`--server` holds no credentials: give the key in {KEY} or a file (--api-key-file)");
        }
        let key = key(arguments.api_key_file.as_deref())?;
        // Fails if there is one already, which is as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("cairn/", env!("CARGO_PKG_VERSION")))
            .build()
            .context("preparing HTTP")?;
        Ok(Some(Self { base, key, client }))
    }

    /// The answer, whole: what a service tells in parts is put together.
    pub async fn ask(&self, question: &Question) -> anyhow::Result<Value> {
        for _ in 0..READINGS {
            if let Some(whole) = self.whole(question.clone()).await? {
                return Ok(whole);
            }
        }
        bail!("what is indexed changes faster than it can be read from {}; ask again", self.base)
    }

    /// None if what is indexed changed between two parts.
    async fn whole(&self, mut question: Question) -> anyhow::Result<Option<Value>> {
        let mut whole: Option<Value> = None;
        loop {
            let mut answer = self.attempt(&question).await.map_err(|unanswered| unanswered.error)?;
            let next = answer["next_offset"].as_u64();
            let Some((list, offset)) = question.list() else { return Ok(Some(answer)) };
            if answer[list].is_null() {
                return Ok(Some(answer));
            }
            (answer["offset"], answer["next_offset"]) = (json!(0), Value::Null);
            let entries = answer[list].take();
            let Some(before) = &mut whole else {
                answer[list] = entries;
                let Some(next) = next else { return Ok(Some(answer)) };
                (whole, *offset) = (Some(answer), usize::try_from(next)?);
                continue;
            };
            if !put_together(before, list, entries, &answer) {
                return Ok(None);
            }
            let Some(next) = next else { return Ok(whole) };
            *offset = usize::try_from(next)?;
        }
    }

    /// Asks once, and says of a failure whether asking again may help.
    pub async fn attempt(&self, question: &Question) -> Result<Value, Unanswered> {
        let path = format!("{}{}", self.base.path().trim_end_matches('/'), question.path());
        let mut url = self.base.clone();
        url.set_path(&path);
        let sent = self.client.post(url).bearer_auth(&self.key).json(&question.body()).send().await;
        let response = sent.map_err(|error| Unanswered::lost(error, format!("asking {}", self.base)))?;
        let (status, again_after) = (response.status(), again_after(&response));
        let body = response.bytes().await;
        let body = body.map_err(|error| Unanswered::lost(error, "reading the answer".to_owned()))?;
        let answer: Option<Value> = serde_json::from_slice(&body).ok();
        let error = match answer {
            Some(answer) if status == StatusCode::OK => return Ok(answer),
            Some(error) if error["code"].is_string() => RemoteError(error).into(),
            _ => anyhow!("{} answered {status}, which is no answer of Cairn", self.base),
        };
        Err(Unanswered { error, again_after, was_reached: true })
    }
}

/// Adds a part to those before it; false if the rest of its answer is not what theirs was.
fn put_together(whole: &mut Value, list: &str, mut entries: Value, rest: &Value) -> bool {
    let mut before = whole[list].take();
    let is_same = whole == rest;
    if let (Some(before), Some(entries)) = (before.as_array_mut(), entries.as_array_mut()) {
        before.append(entries);
    }
    whole[list] = before;
    is_same
}

/// When a server that throttles or is not well may be asked again.
fn again_after(response: &Response) -> Option<Duration> {
    let status = response.status();
    let said = response.headers().get(RETRY_AFTER).and_then(|header| header.to_str().ok());
    let said = said.and_then(|seconds| seconds.trim().parse().ok()).map(Duration::from_secs);
    let passes = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
    passes.then(|| said.unwrap_or_default())
}

/// The key from the environment, or from a file; never from the command line, where others can read it.
fn key(file: Option<&Path>) -> anyhow::Result<String> {
    if let Some(file) = file {
        let text = std::fs::read_to_string(file).with_context(|| format!("reading the key in {}", file.display()))?;
        return Ok(text.trim().to_owned());
    }
    match std::env::var(KEY) {
        Ok(key) if !key.trim().is_empty() => Ok(key.trim().to_owned()),
        _ => bail!("no API key: set {KEY}, or name a file that holds it (--api-key-file)"),
    }
}
