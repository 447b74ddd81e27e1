//! Registers and syncs repositories on request. The operator's rules apply to every caller.

use std::sync::Arc;

use cairn_domain::{RepositoryName, Source};
use cairn_gateway::LedgerIndexing;
use cairn_git::{RemotePolicy, RemoteUrl, repository_name};
use cairn_metastore::Metastore;
use cairn_ports::Clock;

/// Creates the port through which callers request indexing in the ledger of a cluster. An address is checked
/// against the rules for cloning before anything is written. One rule cannot be checked here: only the cloner
/// can detect that a host name resolves to a private address.
pub fn indexing(runs: &Arc<Metastore>, clock: &Arc<dyn Clock>, policy: RemotePolicy) -> LedgerIndexing {
    LedgerIndexing {
        catalogue: runs.clone(),
        requests: runs.clone(),
        ledger: runs.clone(),
        clock: Arc::clone(clock),
        locate: Box::new(move |text| RemoteUrl::looks_like_one(text).then(|| remote(text, &policy)).transpose()),
    }
}

/// Turns an address into a source and a repository name. A path on this machine is always refused, whether
/// the path exists or not. The error does not quote the address, because the address may contain a
/// credential.
pub fn remote(url: &str, policy: &RemotePolicy) -> Result<(Source, RepositoryName), String> {
    let url = RemoteUrl::parse(url, policy).map_err(|refusal| refusal.to_string())?;
    let source = Source::Url { url: url.as_str().to_owned() };
    let name = repository_name(&source);
    Ok((source, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_addresses_obey_the_cloning_rules() {
        let check = |url: &str, expect: Option<&str>| {
            let found = remote(url, &RemotePolicy::default());
            assert_eq!(found.ok().map(|(_, name)| name.to_string()).as_deref(), expect, "{url}");
        };
        check("https://github.com/acme/shop.git", Some("github.com/acme/shop"));
        check("https://gitlab.com/acme/tools/ci.git", Some("gitlab.com/acme/tools/ci"));
        for refused in [
            "http://github.com/acme/shop.git",
            "git@github.com:acme/shop.git",
            "https://user:secret@github.com/acme/shop.git",
            "https://169.254.169.254/acme/shop.git",
            "https://localhost/acme/shop.git",
            "file:///etc",
            "/etc",
            "/",
            "ext::sh -c x",
        ] {
            check(refused, None);
        }
    }
}
