//! Addresses of the test servers, from the environment.
//!
//! A test without an address fails, because a suite that silently runs without its servers proves nothing.
//! Only `CAIRN_TESTS=local` skips these tests, and each skipped test prints a message.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, Write};

use url::Url;

pub const RABBITMQ_URL: &str = "CAIRN_RABBITMQ_URL";
pub const RABBITMQ_MANAGEMENT_URL: &str = "CAIRN_RABBITMQ_MANAGEMENT_URL";
pub const S3_URL: &str = "CAIRN_S3_URL";
pub const QDRANT_URL: &str = "CAIRN_QDRANT_URL";
pub const NEO4J_URL: &str = "CAIRN_NEO4J_URL";

const AMQP_PORT: u16 = 5672;
const MANAGEMENT_ABOVE: u16 = 10_000;

/// `amqp://USER:PASSWORD@HOST:PORT/VHOST`. `None`: return from the test without a message; it is skipped.
#[track_caller]
pub fn rabbitmq_url() -> Option<String> {
    url(RABBITMQ_URL)
}

/// `http://USER:PASSWORD@HOST:PORT`; by default on the host of the broker.
#[track_caller]
pub fn rabbitmq_management_url() -> Option<String> {
    take(RABBITMQ_MANAGEMENT_URL, management_url())
}

/// The management address of an external broker, if one is configured.
pub(crate) fn management_url() -> Option<String> {
    let given = |variable| env::var(variable).ok().filter(|url| !url.is_empty());
    given(RABBITMQ_MANAGEMENT_URL).or_else(|| management_beside(&given(RABBITMQ_URL)?))
}

/// The default address of RabbitMQ's management interface: its port is 10,000 above the port of the broker.
fn management_beside(rabbitmq_url: &str) -> Option<String> {
    let mut url = Url::parse(rabbitmq_url).ok()?;
    let port = url.port().unwrap_or(AMQP_PORT).checked_add(MANAGEMENT_ABOVE)?;
    url.set_port(Some(port)).ok()?;
    url.set_path("");
    url.set_query(None);
    Some(url.as_str().replacen(url.scheme(), "http", 1))
}

/// `http://KEY:SECRET@HOST:PORT`
#[track_caller]
pub fn s3_url() -> Option<String> {
    url(S3_URL)
}

/// `http://HOST:PORT`, the gRPC port.
#[track_caller]
pub fn qdrant_url() -> Option<String> {
    url(QDRANT_URL)
}

/// `bolt://USER:PASSWORD@HOST:PORT`, or without user and password.
#[track_caller]
pub fn neo4j_url() -> Option<String> {
    url(NEO4J_URL)
}

/// True if this run has no servers. For tests that start their own servers: if true, return.
pub fn is_left_out(test: &str) -> bool {
    let is_local = is_local();
    if is_local {
        print_uncaptured(&format!("{test} is skipped: CAIRN_TESTS=local"));
    }
    is_local
}

#[track_caller]
fn url(variable: &str) -> Option<String> {
    take(variable, env::var(variable).ok())
}

#[track_caller]
fn take(variable: &str, url: Option<String>) -> Option<String> {
    match decide(variable, is_local(), url) {
        Ok(Some(url)) => Some(url),
        Ok(None) => {
            print_uncaptured(&format!("a test that needs {variable} is skipped: CAIRN_TESTS=local"));
            None
        }
        Err(message) => panic!("{message}"),
    }
}

fn is_local() -> bool {
    env::var("CAIRN_TESTS").is_ok_and(|tests| tests == "local")
}

fn decide(variable: &str, is_local: bool, url: Option<String>) -> Result<Option<String>, String> {
    match url.filter(|url| !url.is_empty()) {
        _ if is_local => Ok(None),
        Some(url) => Ok(Some(url)),
        None => Err(format!(
            "{variable} is not set. Run the tests with `make test`, or these alone with `scripts/servers run -- cargo \
             test -p PACKAGE`; set {variable} to use your own server; CAIRN_TESTS=local skips such tests."
        )),
    }
}

/// Bypasses the output capture of the test harness, so that skipped tests are visible in a successful run.
fn print_uncaptured(message: &str) {
    // Standard error may be closed; the message is then lost.
    let _ = writeln!(io::stderr(), "{message}");
    if let Some(path) = env::var_os("CAIRN_TESTS_LEFT_OUT") {
        let list = OpenOptions::new().append(true).create(true).open(path);
        let _ = list.and_then(|mut list| writeln!(list, "{message}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_local_skips_a_test() {
        let url = || Some("amqp://localhost".to_owned());
        assert_eq!(decide(RABBITMQ_URL, false, url()), Ok(url()));
        assert_eq!(decide(RABBITMQ_URL, true, url()), Ok(None));
        assert_eq!(decide(RABBITMQ_URL, true, None), Ok(None));
        for url in [None, Some(String::new())] {
            let message = decide(RABBITMQ_URL, false, url).expect_err("no address");
            assert!(message.contains("CAIRN_RABBITMQ_URL") && message.contains("make test"), "{message}");
        }
    }

    #[test]
    fn management_address_follows_from_the_broker() {
        let beside = |url| management_beside(url).expect("an address");
        assert_eq!(beside("amqp://u:p%40@rabbit:5672/%2f"), "http://u:p%40@rabbit:15672");
        assert_eq!(beside("amqp://rabbit"), "http://rabbit:15672");
        assert_eq!(management_beside("rabbit"), None);
    }
}
