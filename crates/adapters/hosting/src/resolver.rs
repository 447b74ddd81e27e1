//! Resolves host names to addresses. A name with a private address is refused unless private addresses are
//! allowed. The connection uses exactly the addresses that were resolved and checked.

use std::net::SocketAddr;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// A resolver that refuses a name if any of its addresses is private.
pub(crate) struct PublicOnly;

/// The cause of a failed connection when the resolver refuses the name.
#[derive(Debug, thiserror::Error)]
#[error("the host has a private address; `sources.allow_private_addresses` permits private addresses")]
pub(crate) struct PrivateAddress;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            checked(found).map_err(Into::into)
        })
    }
}

fn checked(found: Vec<SocketAddr>) -> Result<Addrs, PrivateAddress> {
    if found.is_empty() || !found.iter().all(|address| cairn_addresses::is_public(address.ip())) {
        return Err(PrivateAddress);
    }
    Ok(Box::new(found.into_iter()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_with_one_private_address_is_refused() {
        let check = |answers: &[&str], expect: bool| {
            let answers = answers.iter().map(|text| SocketAddr::new(text.parse().expect("address"), 0)).collect();
            assert_eq!(checked(answers).is_ok(), expect);
        };
        check(&["1.1.1.1", "2606:4700::1111"], true);
        check(&["1.1.1.1", "127.0.0.1"], false);
        check(&["169.254.169.254"], false);
        check(&["::ffff:10.0.0.1"], false);
        check(&[], false);
    }
}
