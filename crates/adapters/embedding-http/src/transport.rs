//! The transport to the provider. The transport sends one POST request, and limits the time of the request
//! and the size of the reply.

use std::time::Duration;

use async_trait::async_trait;
use cairn_config::Secret;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};

/// A reply. Header names are in lower case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HttpReply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl HttpReply {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The reason why no reply arrived. The error contains neither the address nor the key.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    #[error("no reply in time")]
    Timeout,
    #[error("the connection failed")]
    NoConnection(#[source] reqwest::Error),
    #[error("the connection was lost")]
    Lost(#[source] Option<reqwest::Error>),
    #[error("the reply is longer than {max_bytes} bytes")]
    TooLong { max_bytes: usize },
}

/// Sends request bodies to one address with one key. Tests use a simulated provider in virtual time instead
/// of connections.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Reads at most `max_bytes` of the body of the reply.
    async fn post(&self, body: Vec<u8>, max_bytes: usize) -> Result<HttpReply, TransportError>;
}

/// Sends requests with reqwest: no proxy, no redirects, and TLS by rustls with ring.
#[derive(Debug)]
pub struct ReqwestTransport {
    client: Client,
    url: Url,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Timeouts {
    pub connect: Duration,
    /// Time limit between two pieces of a reply.
    pub read: Duration,
}

impl ReqwestTransport {
    pub(crate) fn new(url: Url, key: Option<&Secret>, timeouts: Timeouts) -> Result<Self, reqwest::Error> {
        // Only the first installed cryptography provider in the process has an effect. Any cryptography
        // provider works, but the builder panics if none is installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        // The result is always `Ok`, because an earlier check ensures that the key is valid in a header.
        if let Some(mut value) = key.and_then(|key| HeaderValue::try_from(format!("Bearer {}", key.expose())).ok()) {
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let client = Client::builder()
            .default_headers(headers)
            .user_agent("cairn")
            .redirect(Policy::none())
            .no_proxy()
            .connect_timeout(timeouts.connect)
            .read_timeout(timeouts.read)
            .build()?;
        Ok(Self { client, url })
    }
}

#[async_trait]
impl Transport for ReqwestTransport {
    async fn post(&self, body: Vec<u8>, max_bytes: usize) -> Result<HttpReply, TransportError> {
        let mut response = self.client.post(self.url.clone()).body(body).send().await.map_err(failure)?;
        let named = |(name, value): (&reqwest::header::HeaderName, &HeaderValue)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        };
        let status = response.status().as_u16();
        let headers = response.headers().iter().filter_map(named).collect();
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(failure)? {
            if body.len() + piece.len() > max_bytes {
                return Err(TransportError::TooLong { max_bytes });
            }
            body.extend_from_slice(&piece);
        }
        Ok(HttpReply { status, headers, body })
    }
}

fn failure(error: reqwest::Error) -> TransportError {
    let error = error.without_url();
    if error.is_connect() {
        TransportError::NoConnection(error)
    } else if error.is_timeout() {
        TransportError::Timeout
    } else {
        TransportError::Lost(Some(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_never_displayed() {
        let key = Secret::new("sk-secret").expect("a key");
        let url = Url::parse("https://provider.example/v1/embeddings").expect("a URL");
        let second = Duration::from_secs(1);
        let transport = ReqwestTransport::new(url, Some(&key), Timeouts { connect: second, read: second });
        let shown = format!("{:?}", transport.expect("a client"));
        assert!(!shown.contains("secret"), "{shown}");
    }
}
