//! A client of a query service over HTTP.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use cairn_gateway::answers::{ErrorReport, SuggestedCall};
use cairn_gateway::questions::{Answer, Question};
use reqwest::header::RETRY_AFTER;
use reqwest::{Client, Response, StatusCode, Url};
use serde::Deserialize;

use crate::cli::Arguments;
use crate::reported::ReportedError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The time limit for a request, which is longer than any time limit of the query service.
const TIMEOUT: Duration = Duration::from_secs(90);
/// Maximum number of attempts to read an answer with several pages. An attempt fails if a generation is
/// published between two pages.
const READINGS: usize = 5;
const KEY: &str = "CAIRN_API_KEY";

/// The error for a question that was not answered.
#[derive(Debug)]
pub struct Unanswered {
    pub error: anyhow::Error,
    /// The waiting time before the next attempt. `None` if a retry would not help.
    pub again_after: Option<Duration>,
    /// True if the server returned an error. False if the server could not be reached, or if the connection
    /// was lost.
    pub was_reached: bool,
}

impl Unanswered {
    fn lost(error: reqwest::Error, what: String) -> Self {
        let error = anyhow::Error::new(error.without_url()).context(what);
        Self { error, again_after: Some(Duration::ZERO), was_reached: false }
    }
}

/// The field of an empty answer that contains suggestions.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Suggestions {
    tool_suggestions: Vec<SuggestedCall>,
}

/// A query service, and the API key for it.
pub struct Remote {
    base: Url,
    key: String,
    client: Client,
}

impl Remote {
    /// The service that `--server` or `CAIRN_SERVER` names. `None` if neither is set.
    pub fn of(arguments: &Arguments) -> anyhow::Result<Option<Self>> {
        let Some(server) = arguments.server.as_deref() else { return Ok(None) };
        // Messages do not show the URL, because the URL may contain a password by mistake.
        let base = Url::parse(server).map_err(|_| anyhow!("the value of `--server` or CAIRN_SERVER is not a URL"))?;
        if !matches!(base.scheme(), "http" | "https") {
            bail!("`--server` must begin with https:// or http://");
        }
        if !base.username().is_empty() || base.password().is_some() {
            bail!("`--server` must not contain credentials: put the key into {KEY} or into a file (--api-key-file)");
        }
        if base.query().is_some() || base.fragment().is_some() {
            bail!("`--server` must contain only scheme, host, port and path");
        }
        let key = key(arguments.api_key_file.as_deref())?;
        // This call fails if a TLS crypto provider is already installed; that error can be ignored.
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

    /// Returns the whole answer, which consists of all pages that the service returns.
    pub async fn ask(&self, question: &Question) -> anyhow::Result<Answer> {
        for _ in 0..READINGS {
            if let Some(whole) = self.whole(question.clone()).await? {
                return Ok(whole);
            }
        }
        bail!("the index of {} changes faster than it can be read; try again", self.base)
    }

    /// Reads all pages of an answer. `None` if the index changed between two pages.
    async fn whole(&self, mut question: Question) -> anyhow::Result<Option<Answer>> {
        let mut whole: Option<Answer> = None;
        loop {
            let mut answer = self.attempt(&question).await.map_err(|unanswered| unanswered.error)?;
            let next_offset = answer.page_mut().and_then(|page| {
                page.offset = 0;
                page.next_offset.take()
            });
            if let Some(whole) = &mut whole {
                if !whole.append(answer) {
                    return Ok(None);
                }
            } else {
                whole = Some(answer);
            }
            match (next_offset, question.offset_mut()) {
                (Some(next_offset), Some(offset)) => *offset = next_offset,
                _ => return Ok(whole),
            }
        }
    }

    /// The calls that the service suggests after an empty answer to this question.
    pub async fn suggestions(&self, question: &Question) -> Vec<SuggestedCall> {
        self.answered(question).await.map_or_else(|_| Vec::new(), |(_, suggestions)| suggestions)
    }

    /// Sends the question once. The error states whether a retry may help.
    pub async fn attempt(&self, question: &Question) -> Result<Answer, Unanswered> {
        self.answered(question).await.map(|(answer, _)| answer)
    }

    async fn answered(&self, question: &Question) -> Result<(Answer, Vec<SuggestedCall>), Unanswered> {
        let path = format!("{}{}", self.base.path().trim_end_matches('/'), question.path());
        let mut url = self.base.clone();
        url.set_path(&path);
        let sent = self.client.post(url).bearer_auth(&self.key).json(&question.body()).send().await;
        let response = sent.map_err(|error| Unanswered::lost(error, format!("asking {}", self.base)))?;
        let (status, again_after) = (response.status(), again_after(&response));
        let body = response.bytes().await;
        let body = body.map_err(|error| Unanswered::lost(error, "reading the answer".to_owned()))?;
        let foreign = || anyhow!("{} returned status {status} with a body that is not a reply from Cairn", self.base);
        let error = if status == StatusCode::OK {
            match question.parse_answer(&body) {
                Ok(answer) => {
                    let suggested = serde_json::from_slice::<Suggestions>(&body).unwrap_or_default();
                    return Ok((answer, suggested.tool_suggestions));
                }
                Err(error) => anyhow::Error::new(error).context(foreign()),
            }
        } else {
            serde_json::from_slice::<ErrorReport>(&body).map_or_else(|_| foreign(), |error| ReportedError(error).into())
        };
        Err(Unanswered { error, again_after, was_reached: true })
    }
}

/// The waiting time before the next attempt, if the server throttles or is temporarily unavailable.
fn again_after(response: &Response) -> Option<Duration> {
    let status = response.status();
    let reported = response.headers().get(RETRY_AFTER).and_then(|header| header.to_str().ok());
    let reported = reported.and_then(|seconds| seconds.trim().parse().ok()).map(Duration::from_secs);
    let passes = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
    passes.then(|| reported.unwrap_or_default())
}

/// The key from the environment or a file. The key is not read from the command line, because other users can
/// read the command line.
fn key(file: Option<&Path>) -> anyhow::Result<String> {
    if let Some(file) = file {
        let text =
            std::fs::read_to_string(file).with_context(|| format!("cannot read the key in {}", file.display()))?;
        return Ok(text.trim().to_owned());
    }
    match std::env::var(KEY) {
        Ok(key) if !key.trim().is_empty() => Ok(key.trim().to_owned()),
        _ => bail!("no API key: set {KEY}, or name the file with the key (--api-key-file)"),
    }
}
