//! A query service, asked over HTTP.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use cairn_gateway::questions::Question;
use reqwest::{Client, StatusCode, Url};
use serde_json::Value;

use crate::cli::Arguments;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Longer than a service lets any question take.
const TIMEOUT: Duration = Duration::from_secs(90);
const KEY: &str = "CAIRN_API_KEY";

/// An answer that is an error, in the form that all front ends share.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0["message"].as_str().unwrap_or("the server refuses without a reason"))]
pub struct RemoteError(pub Value);

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

    pub async fn ask(&self, question: &Question) -> anyhow::Result<Value> {
        let path = format!("{}{}", self.base.path().trim_end_matches('/'), question.path());
        let mut url = self.base.clone();
        url.set_path(&path);
        let sent = self.client.post(url).bearer_auth(&self.key).json(&question.body()).send().await;
        let response = sent.map_err(reqwest::Error::without_url).with_context(|| format!("asking {}", self.base))?;
        let status = response.status();
        let body = response.bytes().await.map_err(reqwest::Error::without_url).context("reading the answer")?;
        let answer: Option<Value> = serde_json::from_slice(&body).ok();
        match answer {
            Some(answer) if status == StatusCode::OK => Ok(answer),
            Some(error) if error["code"].is_string() => bail!(RemoteError(error)),
            _ => bail!("{} answered {status}, which is no answer of Cairn", self.base),
        }
    }
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
