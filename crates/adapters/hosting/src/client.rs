//! Sends one GET request within its limits, repeats the request after a transient failure, and waits when the
//! service requests a wait.

use std::error::Error;
use std::time::{Duration, SystemTime};

use cairn_config::{Secret, Sources};
use cairn_ports::{ErrorKind, HostingError};
use reqwest::Client;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use url::Url;

use crate::config::{HostingConfig, ServiceKind};
use crate::foreign::ForeignText;
use crate::http_reply::HttpReply;
use crate::resolver::{PrivateAddress, PublicOnly};
use crate::wait::wait_of;

/// Maximum length of one reply. GitHub has the longest entries; a hundred of its repositories take about a
/// megabyte.
const MAX_BODY_BYTES: usize = 32 << 20;
/// Maximum number of times that a request is sent before the listing fails.
const ATTEMPTS: u32 = 3;

#[derive(Debug)]
pub(crate) struct ServiceClient {
    client: Client,
    foreign: ForeignText,
    max_wait: Duration,
    retry_pause: Duration,
}

/// The reason why a request has no reply. The error contains neither the address nor the token.
type NoReply = (ErrorKind, Box<dyn Error + Send + Sync>);

impl ServiceClient {
    pub(crate) fn new(
        config: &HostingConfig,
        token: Option<Secret>,
        sources: &Sources,
    ) -> Result<Self, reqwest::Error> {
        // A process uses only the first cryptography provider that is installed. Any cryptography provider
        // works, but the builder panics if none is installed.
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
        Ok(Self { client: builder.build()?, foreign: ForeignText::new(token), max_wait, retry_pause })
    }

    /// Sends the request again after an internal failure of the service and after a refusal by its rate
    /// limit. In errors, `key` identifies the object of the request.
    pub(crate) async fn get(&self, url: &Url, operation: &'static str, key: &str) -> Result<HttpReply, HostingError> {
        let mut attempt = 1;
        loop {
            let failure = match self.once(url).await {
                Ok(reply) if matches!(reply.status, 403 | 429 | 503) => match wait_of(&reply, SystemTime::now()) {
                    Some(wait) => {
                        self.wait(wait, operation, key).await?;
                        continue;
                    }
                    None if reply.status == 503 => self.refused(&reply, operation, key),
                    None => return Ok(reply),
                },
                Ok(reply) if reply.status >= 500 => self.refused(&reply, operation, key),
                Ok(reply) => return Ok(reply),
                Err((kind, cause)) => HostingError::new(kind, operation, key).because(cause),
            };
            let is_transient =
                matches!(failure.kind, ErrorKind::Timeout | ErrorKind::ConnectionLost | ErrorKind::Unavailable);
            if !is_transient || attempt == ATTEMPTS {
                return Err(failure);
            }
            tokio::time::sleep(self.retry_pause * 2_u32.pow(attempt - 1)).await;
            attempt += 1;
        }
    }

    /// Waits as long as the service requests. Returns `Throttled` at once if that wait is too long.
    pub(crate) async fn wait(&self, wait: Duration, operation: &'static str, key: &str) -> Result<(), HostingError> {
        if wait > self.max_wait {
            let message = format!("the rate limit of the service is used up for another {} s", wait.as_secs());
            let kind = ErrorKind::Throttled { retry_after: Some(wait) };
            return Err(HostingError::new(kind, operation, key).because(message));
        }
        tracing::debug!(
            organisation = key,
            seconds = wait.as_secs(),
            "waiting before the next request, because the hosting service requires it"
        );
        // Without a minimum, a wait of zero would repeat the same request without a pause.
        tokio::time::sleep(wait.max(self.retry_pause)).await;
        Ok(())
    }

    pub(crate) fn refused(&self, reply: &HttpReply, operation: &'static str, key: &str) -> HostingError {
        let (kind, message) = reply.refusal(&self.foreign);
        HostingError::new(kind, operation, key).because(message)
    }

    pub(crate) fn foreign(&self) -> &ForeignText {
        &self.foreign
    }

    async fn once(&self, url: &Url) -> Result<HttpReply, NoReply> {
        let mut response = self.client.get(url.clone()).send().await.map_err(no_reply)?;
        let named = |(name, value): (&HeaderName, &HeaderValue)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        };
        let status = response.status().as_u16();
        let headers = response.headers().iter().filter_map(named).collect();
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(no_reply)? {
            if body.len() + piece.len() > MAX_BODY_BYTES {
                return Err((ErrorKind::TooLarge, format!("a reply is longer than {MAX_BODY_BYTES} bytes").into()));
            }
            body.extend_from_slice(&piece);
        }
        Ok(HttpReply { status, headers, body })
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
    // The result is always `Ok`, because a secret cannot be created unless it is valid in a header.
    if let Some(mut value) = token.and_then(|token| HeaderValue::try_from(format!("{scheme} {}", token.expose())).ok())
    {
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    headers
}

fn no_reply(error: reqwest::Error) -> NoReply {
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
