//! Selects the token for a remote.
//!
//! A token is configured for a range `TENANT@HOST/PATH`. Without a tenant the token applies to the
//! repositories of all tenants. Without a path it applies to the whole host.

use std::collections::BTreeMap;

use cairn_domain::Tenant;

use super::url::RemoteUrl;

/// Returns the name of the environment variable that contains the token. A range with a tenant has priority
/// over a range without a tenant. If several ranges have the same priority, the range with the longest path
/// is selected.
pub(super) fn variable<'v>(
    variables: &'v BTreeMap<String, String>,
    url: &RemoteUrl,
    tenant: Option<&Tenant>,
) -> Option<&'v str> {
    let fitting = variables.iter().filter_map(|(range, variable)| Some((rank(range, url, tenant)?, variable)));
    fitting.max_by_key(|(rank, _)| *rank).map(|(_, variable)| variable.as_str())
}

fn rank(range: &str, url: &RemoteUrl, tenant: Option<&Tenant>) -> Option<(bool, usize)> {
    let (authority, prefix) = range.split_once('/').unwrap_or((range, ""));
    let (owner, host) = match authority.rsplit_once('@') {
        Some((owner, host)) => (Some(owner), host),
        None => (None, authority),
    };
    let is_owner = owner.is_none_or(|owner| tenant.is_some_and(|tenant| tenant.as_str() == owner));
    let prefix = prefix.trim_matches('/');
    let prefix = prefix.strip_suffix(".git").unwrap_or(prefix);
    let is_below = match url.repository_path().split_at_checked(prefix.len()) {
        Some((start, rest)) => {
            start.eq_ignore_ascii_case(prefix) && (prefix.is_empty() || rest.is_empty() || rest.starts_with('/'))
        }
        None => false,
    };
    (is_owner && is_below && host.eq_ignore_ascii_case(url.host())).then_some((owner.is_some(), prefix.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RemotePolicy;

    #[test]
    fn token_applies_to_its_tenant_and_range() {
        let ranges =
            ["git.example", "git.example/acme", "git.example/acme/secret.git", "beta@git.example", "one@other.example"];
        let variables = ranges.map(|range| (range.to_owned(), range.to_owned())).into();
        let check = |tenant: Option<&str>, url: &str, expect: Option<&str>| {
            let parsed = RemoteUrl::parse(url, &RemotePolicy::default()).expect(url);
            assert_eq!(variable(&variables, &parsed, tenant.map(Tenant::new).as_ref()), expect, "{tenant:?} {url}");
        };
        check(None, "https://git.example/x/y.git", Some("git.example"));
        check(Some("acme"), "https://git.example/acme/shop", Some("git.example/acme"));
        check(Some("acme"), "https://Git.Example/ACME/shop.git", Some("git.example/acme"));
        check(Some("acme"), "https://git.example/acme/secret.git", Some("git.example/acme/secret.git"));
        check(Some("acme"), "https://git.example/acme/secrets", Some("git.example/acme"));
        check(Some("acme"), "https://git.example/acme2/shop", Some("git.example"));
        check(Some("beta"), "https://git.example/acme/shop", Some("beta@git.example"));
        check(Some("one"), "https://other.example/x/y", Some("one@other.example"));
        check(Some("two"), "https://other.example/x/y", None);
        check(None, "https://other.example/x/y", None);
        check(Some("one"), "https://else.example/x/y", None);
    }
}
