//! The way to the service: one GET, with bounds; what passes is asked again, and waits are kept.

use std::error::Error;
use std::time::{Duration, SystemTime};

use cairn_config::{Secret, Sources};
use cairn_ports::{ErrorKind, HostingError};
use reqwest::Client;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use url::Url;

use crate::answer::Answer;
use crate::resolver::{PrivateAddress, PublicOnly};
use crate::wait::wait_of;
use crate::{HostingConfig, ServiceKind};

/// Of one answer: a hundred repositories are about a megabyte at GitHub, whose entries are the longest.
const MAX_BODY_BYTES: usize = 32 << 20;
/// A request is sent so often before its failure is the listing's.
const ATTEMPTS: u32 = 3;

#[derive(Debug)]
pub(crate) struct ServiceClient {
    client: Client,
    token: Option<Secret>,
    max_wait: Duration,
    retry_pause: Duration,
}

/// Why there is no answer. The error has neither address nor token.
type NoAnswer = (ErrorKind, Box<dyn Error + Send + Sync>);

impl ServiceClient {
    pub(crate) fn new(
        config: &HostingConfig,
        token: Option<Secret>,
        sources: &Sources,
    ) -> Result<Self, reqwest::Error> {
        // The first of the process wins; any provider will do, but without one the builder panics.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .default_headers(headers(config.kind, token.as_ref()))
            .user_agent(concat!("cairn/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .no_proxy()
            .connect_timeout(config.request_timeout())
            .timeout(config.request_timeout());
        if !sources.allow_private_addresses {
            builder = builder.dns_resolver(PublicOnly);
        }
        let (max_wait, retry_pause) = (config.max_wait(), Duration::from_millis(config.retry_pause_ms));
        Ok(Self { client: builder.build()?, token, max_wait, retry_pause })
    }

    /// Any answer that is neither a failure of the service's own nor a refusal for its rates. `key` names what is asked, in errors.
    pub(crate) async fn get(&self, url: &Url, operation: &'static str, key: &str) -> Result<Answer, HostingError> {
        let mut attempt = 1;
        loop {
            let failure = match self.once(url).await {
                Ok(answer) if matches!(answer.status, 403 | 429 | 503) => match wait_of(&answer, SystemTime::now()) {
                    Some(wait) => {
                        self.wait(wait, operation, key).await?;
                        continue;
                    }
                    None if answer.status == 503 => self.refused(&answer, operation, key),
                    None => return Ok(answer),
                },
                Ok(answer) if answer.status >= 500 => self.refused(&answer, operation, key),
                Ok(answer) => return Ok(answer),
                Err((kind, cause)) => HostingError::new(kind, operation, key).because(cause),
            };
            let passes =
                matches!(failure.kind, ErrorKind::Timeout | ErrorKind::ConnectionLost | ErrorKind::Unavailable);
            if !passes || attempt == ATTEMPTS {
                return Err(failure);
            }
            tokio::time::sleep(self.retry_pause * 2_u32.pow(attempt - 1)).await;
            attempt += 1;
        }
    }

    /// Keeps a wait that the service asks for, or hands it on if it is long.
    pub(crate) async fn wait(&self, wait: Duration, operation: &'static str, key: &str) -> Result<(), HostingError> {
        if wait > self.max_wait {
            let message = format!("the service's limit is used up for {} s more", wait.as_secs());
            let kind = ErrorKind::Throttled { retry_after: Some(wait) };
            return Err(HostingError::new(kind, operation, key).because(message));
        }
        tracing::debug!(organisation = key, seconds = wait.as_secs(), "the hosting service asks to wait");
        // A wait of no time would be asked for again and again.
        tokio::time::sleep(wait.max(self.retry_pause)).await;
        Ok(())
    }

    pub(crate) fn refused(&self, answer: &Answer, operation: &'static str, key: &str) -> HostingError {
        let (kind, message) = answer.refusal();
        HostingError::new(kind, operation, key).because(self.without_token(message))
    }

    /// A service may say in an answer what it was sent.
    pub(crate) fn without_token(&self, text: String) -> String {
        match &self.token {
            Some(token) => text.replace(token.expose(), "[token]"),
            None => text,
        }
    }

    async fn once(&self, url: &Url) -> Result<Answer, NoAnswer> {
        let mut response = self.client.get(url.clone()).send().await.map_err(no_answer)?;
        let named = |(name, value): (&HeaderName, &HeaderValue)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        };
        let status = response.status().as_u16();
        let headers = response.headers().iter().filter_map(named).collect();
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(no_answer)? {
            if body.len() + piece.len() > MAX_BODY_BYTES {
                return Err((ErrorKind::TooLarge, format!("an answer is longer than {MAX_BODY_BYTES} bytes").into()));
            }
            body.extend_from_slice(&piece);
        }
        Ok(Answer { status, headers, body })
    }
}

fn headers(kind: ServiceKind, token: Option<&Secret>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let accept = if kind == ServiceKind::Github { "application/vnd.github+json" } else { "application/json" };
    headers.insert(ACCEPT, HeaderValue::from_static(accept));
    if kind == ServiceKind::Github {
        headers.insert("x-github-api-version", HeaderValue::from_static("2022-11-28"));
    }
    let scheme = if kind == ServiceKind::Gitea { "token" } else { "Bearer" };
    // Secrets are checked to be usable in a header.
    if let Some(mut value) = token.and_then(|token| HeaderValue::try_from(format!("{scheme} {}", token.expose())).ok())
    {
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    headers
}

fn no_answer(error: reqwest::Error) -> NoAnswer {
    let error = error.without_url();
    let kind = if is_caused_by::<PrivateAddress>(&error) {
        ErrorKind::Forbidden
    } else if error.is_timeout() {
        ErrorKind::Timeout
    } else if error.is_connect() {
        ErrorKind::Unavailable
    } else {
        ErrorKind::ConnectionLost
    };
    (kind, Box::new(error))
}

fn is_caused_by<E: Error + 'static>(error: &dyn Error) -> bool {
    let mut cause = error.source();
    while let Some(error) = cause {
        if error.is::<E>() {
            return true;
        }
        cause = error.source();
    }
    false
}
