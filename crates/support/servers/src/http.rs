//! Sends one plain HTTP request to a test server.
//!
//! This client is written by hand, because servers must start in any test. A client library would need a TLS
//! stack, and would panic in processes that have installed no crypto provider.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use url::Url;

/// The time limit of a request. No server needs this much time for these requests.
const DEADLINE: Duration = Duration::from_secs(60);

pub(crate) struct Response {
    pub status: u16,
    pub body: String,
}

/// Sends a request to `http://[USER:PASSWORD@]HOST:PORT`. The request uses HTTP/1.0, so that the body of the
/// response is not chunked and no other response follows.
pub(crate) async fn send(server: &str, method: &str, path: &str, body: &str) -> Result<Response> {
    let response = timeout(DEADLINE, exchange(server, method, path, body)).await;
    response.with_context(|| format!("{method} {path} got no response within {DEADLINE:?}"))?
}

async fn exchange(server: &str, method: &str, path: &str, body: &str) -> Result<Response> {
    let server = Url::parse(server).with_context(|| format!("{server} is not an address"))?;
    let host = server.host_str().context("the address has no host")?;
    let port = server.port_or_known_default().context("the address has no port")?;
    let mut connection = TcpStream::connect((host, port)).await?;
    let login = login(&server);
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.0\r\nHost: {host}:{port}\r\n{login}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    connection.write_all(format!("{head}{body}").as_bytes()).await?;
    let mut response = Vec::new();
    connection.read_to_end(&mut response).await?;
    parse(&String::from_utf8_lossy(&response)).with_context(|| format!("the response to {method} {path} is not HTTP"))
}

/// The authorisation header, if the address contains a password.
fn login(server: &Url) -> String {
    let Some(password) = server.password() else { return String::new() };
    let login = STANDARD.encode(format!("{}:{password}", server.username()));
    format!("Authorization: Basic {login}\r\n")
}

fn parse(response: &str) -> Option<Response> {
    let (head, body) = response.split_once("\r\n\r\n")?;
    let status = head.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.parse().ok()?;
    Some(Response { status, body: body.to_owned() })
}

/// The status and the body of a page below `http://HOST:PORT`.
pub async fn look(server: &str, path: &str) -> Result<(u16, String)> {
    let Response { status, body } = send(server, "GET", path, "").await?;
    Ok((status, body))
}

/// The body of a page below `http://HOST:PORT`. Fails unless the status is 200.
pub async fn get(server: &str, path: &str) -> Result<String> {
    let (status, body) = look(server, path).await?;
    ensure!(status == 200, "{server}{path} returned {status}: {body}");
    Ok(body)
}

/// Whether a GET request returns status 200.
pub(crate) async fn is_ok(server: String, path: &str) -> bool {
    send(&server, "GET", path, "").await.is_ok_and(|response| response.status == 200)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_parsed() {
        let response = parse("HTTP/1.1 204 No Content\r\nserver: Cowboy\r\n\r\n").expect("a response");
        assert_eq!((response.status, response.body.as_str()), (204, ""));
        assert_eq!(parse("HTTP/1.0 200 OK\r\n\r\n[1]").expect("a response").body, "[1]");
        for other in ["", "HTTP/1.1 200 OK", "AMQP\0\0\x09\x01"] {
            assert!(parse(other).is_none(), "{other}");
        }
    }

    #[test]
    fn login_is_read_from_the_address() {
        let check = |server: &str, expect: &str| assert_eq!(login(&Url::parse(server).expect("an address")), expect);
        check("http://guest:guest@127.0.0.1:1", "Authorization: Basic Z3Vlc3Q6Z3Vlc3Q=\r\n");
        check("http://127.0.0.1:1", "");
    }
}
