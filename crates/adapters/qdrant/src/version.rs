//! Checks that the version of the server is supported.
//!
//! An older server accepts our requests but behaves differently. Before version 1.17, an insert-only request
//! overwrites an existing point. Before 1.19, a filter is evaluated again when the server replays
//! a request after a crash. The version is therefore checked before anything is prepared or reported as
//! healthy.

use crate::connection::Connection;
use crate::error::Fault;

/// Major and minor version of the oldest supported server.
const OLDEST: (u64, u64) = (1, 19);

pub(crate) async fn check(connection: &Connection) -> Result<(), Fault> {
    let version = connection.health().await?.version;
    suits(&version).map_err(Fault::invalid)
}

fn suits(version: &str) -> Result<(), String> {
    let (major, minor) = OLDEST;
    match parse(version) {
        Some(found) if found >= OLDEST => Ok(()),
        Some(_) => Err(format!(
            "the server is Qdrant {version}; Cairn needs {major}.{minor} or newer. An older server overwrites points \
             on insert-only requests, or repeats deletions wrongly after a crash. Upgrade it one minor version \
             at a time"
        )),
        None => Err(format!(
            "the server reports the version `{version}`, which is not a version of Qdrant; Cairn needs Qdrant {major}.{minor} \
             or newer: set `url` to the gRPC port of such a server"
        )),
    }
}

/// Parses a version such as `1.19.0`, which may also have a suffix.
fn parse(version: &str) -> Option<(u64, u64)> {
    let mut parts = version.split('.');
    let (major, minor) = (parts.next()?.parse().ok()?, parts.next()?);
    let digits = minor.find(|sign: char| !sign.is_ascii_digit()).map_or(minor, |end| &minor[..end]);
    Some((major, digits.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        for version in ["1.19.0", "1.19.3-dev", "1.20", "1.100.0", "2.0.0", "1.19-rc1"] {
            assert_eq!(suits(version), Ok(()), "{version}");
        }
        for version in ["1.18.3", "1.2.0", "0.99.0", "1.9.7"] {
            let fault = suits(version).expect_err(version);
            assert!(fault.contains(&format!("Qdrant {version}; Cairn needs 1.19")), "{fault}");
        }
    }

    #[test]
    fn invalid_versions_are_refused() {
        for version in ["", "latest", "1", "1.x", ".19", "one.two"] {
            let fault = suits(version).expect_err(version);
            assert!(fault.contains(&format!("reports the version `{version}`")), "{fault}");
        }
    }
}
