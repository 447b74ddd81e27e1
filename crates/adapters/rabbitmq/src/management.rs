//! The HTTP API of the management plugin, for operations that AMQP does not support.

use std::sync::Arc;
use std::time::Duration;

use lapin::uri::AMQPUri;
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use rustls::crypto::{CryptoProvider, ring};
use serde_json::Value;
use url::Url;

use crate::config::RabbitMqConfig;

/// Time limit of a request. A healthy broker replies much faster, and an operator can wait this long.
const TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) struct Management {
    client: Client,
    base: Url,
    user: String,
    password: String,
    vhost: String,
}

/// A failed request to the management API. The address is shown without credentials.
#[derive(Debug, thiserror::Error)]
pub enum ManagementError {
    #[error("`management_url` is not set")]
    NotConfigured,
    #[error("`management_url` cannot be used: {0}")]
    Unusable(String),
    #[error("{address} cannot be reached")]
    Unreachable { address: String, source: reqwest::Error },
    #[error("{address} returned {status}: {body}")]
    Refused { address: String, status: StatusCode, body: String },
}

impl Management {
    pub(crate) fn new(config: &RabbitMqConfig) -> Result<Self, ManagementError> {
        let url = config.management_url.as_ref().ok_or(ManagementError::NotConfigured)?;
        let mut base = Url::parse(url.expose()).map_err(|error| ManagementError::Unusable(error.to_string()))?;
        let (user, password) = (decoded(base.username()), decoded(base.password().unwrap_or_default()));
        // These calls fail only for a URL that cannot have a host.
        let _ = base.set_username("").and_then(|()| base.set_password(None));
        // Errors contain the address, and the query or fragment may contain a password by mistake.
        base.set_query(None);
        base.set_fragment(None);
        let broker = config.urls.first().and_then(|url| url.expose().parse::<AMQPUri>().ok());
        let vhost =
            broker.map(|uri| uri.vhost).ok_or_else(|| ManagementError::Unusable("`urls` is empty".to_owned()))?;
        Ok(Self { client: client()?, base, user, password, vhost })
    }

    pub(crate) fn vhost(&self) -> &str {
        &self.vhost
    }

    /// Sends a GET request. `path` is a list of segments; this function escapes them.
    pub(crate) async fn get(&self, path: &[&str]) -> Result<Value, ManagementError> {
        let response = self.send(path, |client, url| client.request(Method::GET, url)).await?;
        let address = response.url().to_string();
        response.json().await.map_err(|source| ManagementError::Unreachable { address, source })
    }

    pub(crate) async fn put(&self, path: &[&str], body: &Value) -> Result<(), ManagementError> {
        self.send(path, |client, url| client.request(Method::PUT, url).json(body)).await.map(drop)
    }

    async fn send(
        &self,
        path: &[&str],
        request: impl FnOnce(&Client, Url) -> RequestBuilder,
    ) -> Result<reqwest::Response, ManagementError> {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push("api").extend(path);
        }
        let address = url.to_string();
        let request = request(&self.client, url).basic_auth(&self.user, Some(&self.password));
        let response = request.send().await;
        let response = response.map_err(|source| ManagementError::Unreachable { address: address.clone(), source })?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let body = response.text().await.unwrap_or_default();
        Err(ManagementError::Refused { address, status, body })
    }
}

fn client() -> Result<Client, ManagementError> {
    if CryptoProvider::get_default().is_none() {
        // The installation fails if another thread has already installed a cryptography provider. The error
        // is ignored, because that provider works equally well.
        let _: Result<(), Arc<CryptoProvider>> = ring::default_provider().install_default();
    }
    let builder = Client::builder().timeout(TIMEOUT).no_proxy().redirect(reqwest::redirect::Policy::none());
    builder.build().map_err(|error| ManagementError::Unusable(error.to_string()))
}

fn decoded(text: &str) -> String {
    // Parsing the text as a form value decodes escapes such as `%2f`. A `+` is a literal character here, so
    // it is escaped first.
    let form = format!("x={}", text.replace('+', "%2B"));
    url::form_urlencoded::parse(form.as_bytes()).next().map(|(_, value)| value.into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_and_vhost_are_decoded() {
        let config = RabbitMqConfig {
            urls: vec!["amqp://h/a%2fb".into()],
            management_url: Some("http://us%40er:p%2Fa+s@h:1/base".into()),
            ..RabbitMqConfig::default()
        };
        let management = Management::new(&config).expect("a client");
        assert_eq!((management.user.as_str(), management.password.as_str()), ("us@er", "p/a+s"));
        assert_eq!((management.vhost(), management.base.as_str()), ("a/b", "http://h:1/base"));
    }
}
