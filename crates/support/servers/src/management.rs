//! The parts of RabbitMQ's management API that tests use to give each test its own vhost.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use url::Url;

use crate::http;

/// A vhost: a separate space for queues and exchanges.
#[derive(Clone, Debug)]
pub struct Vhost {
    name: String,
    amqp_url: String,
    management_url: String,
}

impl Vhost {
    /// Creates a vhost with a unique name. The addresses come from `given` or `RabbitMq`.
    pub async fn create(amqp_url: &str, management_url: &str) -> Result<Self> {
        let name = unique_name();
        let amqp_url = inside(amqp_url, &name)?;
        let vhost = Self { name, amqp_url, management_url: management_url.to_owned() };
        vhost.request("PUT", &format!("/api/vhosts/{}", vhost.name), "").await?;
        let management_url = Url::parse(management_url).context("the management address is invalid")?;
        let path = format!("/api/permissions/{}/{}", vhost.name, management_url.username());
        vhost.request("PUT", &path, r#"{"configure":".*","write":".*","read":".*"}"#).await?;
        Ok(vhost)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address for clients: `amqp://USER:PASSWORD@HOST:PORT/NAME`.
    pub fn url(&self) -> &str {
        &self.amqp_url
    }

    /// The address of this vhost for clients that connect to another node of the same cluster.
    pub fn url_at(&self, node_url: &str) -> Result<String> {
        inside(node_url, &self.name)
    }

    /// Deletes the vhost with its contents. The server then closes all connections to the vhost.
    pub async fn delete(self) -> Result<()> {
        self.request("DELETE", &format!("/api/vhosts/{}", self.name), "").await?;
        Ok(())
    }

    /// Sends a request to the management API, for example `GET /api/queues/NAME`. Returns the body of a
    /// successful response.
    pub async fn request(&self, method: &str, path: &str, body: &str) -> Result<String> {
        let response = http::send(&self.management_url, method, path, body).await?;
        let is_success = (200..300).contains(&response.status);
        ensure!(is_success, "RabbitMQ returned {} for {method} {path}: {}", response.status, response.body);
        Ok(response.body)
    }
}

fn inside(amqp_url: &str, vhost: &str) -> Result<String> {
    let mut url = Url::parse(amqp_url).with_context(|| format!("{amqp_url} is not an address"))?;
    url.set_path(vhost);
    Ok(url.into())
}

/// A name that is unique among all test processes that share a server.
fn unique_name() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let nanoseconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("test-{nanoseconds:x}-{}-{number}", std::process::id())
}
