//! Reads the addresses of the test servers from the environment.
//!
//! If an address is missing, the test fails, because a suite that silently runs without its servers proves
//! nothing. Only `CAIRN_TESTS=local` skips these tests, and each skipped test prints a message.

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

/// Returns `amqp://USER:PASSWORD@HOST:PORT/VHOST`. If this function returns `None`, the test is skipped and
/// must return without a message.
#[track_caller]
pub fn rabbitmq_url() -> Option<String> {
    url(RABBITMQ_URL)
}

/// Returns `http://USER:PASSWORD@HOST:PORT`. The default host is the host of the broker.
#[track_caller]
pub fn rabbitmq_management_url() -> Option<String> {
    take(RABBITMQ_MANAGEMENT_URL, management_url())
}

/// The management address of an external broker, if it is set.
pub(crate) fn management_url() -> Option<String> {
    let given = |variable| env::var(variable).ok().filter(|url| !url.is_empty());
    given(RABBITMQ_MANAGEMENT_URL).or_else(|| management_beside(&given(RABBITMQ_URL)?))
}

/// The default address of RabbitMQ's management interface. Its port number is the broker's port number plus
/// 10,000.
fn management_beside(rabbitmq_url: &str) -> Option<String> {
    let mut url = Url::parse(rabbitmq_url).ok()?;
    let port = url.port().unwrap_or(AMQP_PORT).checked_add(MANAGEMENT_ABOVE)?;
    url.set_port(Some(port)).ok()?;
    url.set_path("");
    url.set_query(None);
    Some(url.as_str().replacen(url.scheme(), "http", 1))
}

/// Returns `http://KEY:SECRET@HOST:PORT`.
#[track_caller]
pub fn s3_url() -> Option<String> {
    url(S3_URL)
}

/// Returns `http://HOST:PORT`, with the gRPC port.
#[track_caller]
pub fn qdrant_url() -> Option<String> {
    url(QDRANT_URL)
}

/// Returns `bolt://USER:PASSWORD@HOST:PORT`; user and password may be missing.
#[track_caller]
pub fn neo4j_url() -> Option<String> {
    url(NEO4J_URL)
}

/// Whether this test run skips all tests that use servers. Tests that start their own servers call this
/// function. If this function returns true, the test must return.
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

/// Prints a message that the test harness does not capture, so that skipped tests are visible in a successful
/// run.
fn print_uncaptured(message: &str) {
    // Standard error may be closed, and then the message is lost.
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
    fn management_address_is_derived_from_the_broker() {
        let beside = |url| management_beside(url).expect("an address");
        assert_eq!(beside("amqp://u:p%40@rabbit:5672/%2f"), "http://u:p%40@rabbit:15672");
        assert_eq!(beside("amqp://rabbit"), "http://rabbit:15672");
        assert_eq!(management_beside("rabbit"), None);
    }
}
