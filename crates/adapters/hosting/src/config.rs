//! Settings of an organisation and its hosting service.

use std::time::Duration;

use cairn_config::{SecretReference, Sources};
use cairn_ports::Organisation;
use serde::Deserialize;
use url::Url;

/// The API of the service. Forgejo has the same API as Gitea.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServiceKind {
    Github,
    Gitlab,
    #[serde(alias = "forgejo")]
    Gitea,
}

/// The kind of account that owns the repositories.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// An organisation. On GitLab, this is a group together with all its subgroups.
    #[default]
    #[serde(alias = "group")]
    Organisation,
    User,
}

/// The kind of address that is used to clone a repository.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CloneOver {
    #[default]
    Https,
    Ssh,
}

/// Settings of one organisation of one service.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostingConfig {
    pub kind: ServiceKind,
    /// Name of the organisation, path of the group (`acme/tools`), or login of the user.
    pub owner: String,
    #[serde(default)]
    pub owner_is: Owner,
    /// Address of the API. For GitHub this is `https://api.github.com` (the default), or
    /// `https://HOST/api/v3` of an Enterprise server. For GitLab and Gitea it is the address of the web
    /// pages, such as `https://git.example`. The default for GitLab is `https://gitlab.com`.
    pub url: Option<String>,
    /// Token for the API. Without a token only public repositories are listed. The token needs only the
    /// permission to read the list.
    pub token: Option<SecretReference>,
    #[serde(default)]
    pub clone_over: CloneOver,
    /// The host from which repositories are cloned, if it differs from the host of the API.
    pub clone_host: Option<String>,
    /// Maximum number of repositories. A longer list is an error.
    #[serde(default = "default::max_repositories")]
    pub max_repositories: usize,
    /// Time limit for one reply.
    #[serde(default = "default::request_timeout_ms")]
    pub request_timeout_ms: u64,
    /// Time limit for the whole list, including waits.
    #[serde(default = "default::timeout_seconds")]
    pub timeout_seconds: u64,
    /// Longest wait that the service may request. A longer wait ends the listing.
    #[serde(default = "default::max_wait_seconds")]
    pub max_wait_seconds: u64,
    /// Pause before a failed request is sent again. The pause doubles after each attempt.
    #[serde(default = "default::retry_pause_ms")]
    pub retry_pause_ms: u64,
}

mod default {
    pub(super) fn max_repositories() -> usize {
        50_000
    }

    pub(super) fn request_timeout_ms() -> u64 {
        30_000
    }

    pub(super) fn timeout_seconds() -> u64 {
        900
    }

    pub(super) fn max_wait_seconds() -> u64 {
        60
    }

    pub(super) fn retry_pause_ms() -> u64 {
        500
    }
}

/// All faults of invalid settings. The messages contain no URL, because a URL may contain a credential by
/// mistake.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("invalid settings of the hosting service: {}", faults.join("; "))]
pub struct InvalidConfig {
    pub faults: Vec<String>,
}

impl HostingConfig {
    /// Reports all faults at once, except violations of the operator's rules on addresses.
    pub fn validate(&self) -> Result<(), InvalidConfig> {
        let mut faults = self.url_faults();
        let mut check = |is_right: bool, fault: &str| {
            if !is_right {
                faults.push(fault.to_owned());
            }
        };
        let parts: Vec<&str> = self.owner.split('/').collect();
        let is_name = |part: &&str| {
            !part.is_empty()
                && !part.starts_with('.')
                && part.chars().all(|character| character.is_ascii_alphanumeric() || "._-".contains(character))
        };
        check(
            self.owner.len() <= 255 && parts.iter().all(is_name),
            "`owner` must be the name of an organisation, group or user: letters, digits, `.`, `_`, `-`",
        );
        let has_path = self.kind == ServiceKind::Gitlab && self.owner_is == Owner::Organisation;
        check(parts.len() == 1 || has_path, "`owner` may contain `/` only if the owner is a group at GitLab");
        let is_host =
            |host: &str| !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || ".-:[]".contains(c));
        check(self.clone_host.as_deref().is_none_or(is_host), "`clone_host` must be a host name");
        check((1..=1_000_000).contains(&self.max_repositories), "`max_repositories` must be between 1 and 1000000");
        check((1..=600_000).contains(&self.request_timeout_ms), "`request_timeout_ms` must be between 1 and 600000");
        check((1..=86_400).contains(&self.timeout_seconds), "`timeout_seconds` must be between 1 and 86400");
        check(self.max_wait_seconds <= self.timeout_seconds, "`max_wait_seconds` must not exceed `timeout_seconds`");
        check(self.retry_pause_ms <= 60_000, "`retry_pause_ms` must not exceed 60000");
        if faults.is_empty() { Ok(()) } else { Err(InvalidConfig { faults }) }
    }

    fn url_faults(&self) -> Vec<String> {
        let Some(text) = self.url_text() else {
            return vec!["`url` is missing: Gitea and Forgejo have no default address".to_owned()];
        };
        let Ok(url) = Url::parse(text) else { return vec!["`url` is not a URL".to_owned()] };
        let mut faults = Vec::new();
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
            faults.push("`url` must not contain credentials, a query or a fragment: use `token`".to_owned());
        }
        if !matches!(url.scheme(), "https" | "http") || url.host().is_none() {
            faults.push("`url` must be an https address that contains a host".to_owned());
        }
        faults
    }

    /// Returns violations of the operator's rules on addresses. The same rules apply to cloning.
    pub(crate) fn policy_faults(&self, sources: &Sources) -> Vec<String> {
        let mut faults = Vec::new();
        let Some(url) = self.base() else { return faults };
        if url.scheme() == "http" && !sources.allow_http {
            faults.push("`url` has no TLS: use https, or set `sources.allow_http`".to_owned());
        }
        if !sources.allow_private_addresses && !cairn_addresses::may_be_public(url.host().as_ref()) {
            faults.push(
                "`url` leads to loopback, a private network or a metadata service; `sources.allow_private_addresses` \
                 permits that"
                    .to_owned(),
            );
        }
        faults
    }

    fn url_text(&self) -> Option<&str> {
        let usual = match self.kind {
            ServiceKind::Github => Some("https://api.github.com"),
            ServiceKind::Gitlab => Some("https://gitlab.com"),
            ServiceKind::Gitea => None,
        };
        self.url.as_deref().or(usual)
    }

    fn base(&self) -> Option<Url> {
        Url::parse(self.url_text()?).ok()
    }

    /// Returns an address of the API. This function escapes the parts of `path`.
    pub(crate) fn endpoint(&self, path: &[&str]) -> Option<Url> {
        let mut url = self.base()?;
        let prefix: &[&str] = match self.kind {
            ServiceKind::Github => &[],
            ServiceKind::Gitlab => &["api", "v4"],
            ServiceKind::Gitea => &["api", "v1"],
        };
        url.path_segments_mut().ok()?.pop_if_empty().extend(prefix).extend(path);
        Some(url)
    }

    /// Returns the organisation whose repositories are listed.
    pub fn organisation(&self) -> Organisation {
        let host = self.base().and_then(|url| {
            let host = url.host_str()?.to_owned();
            Some(url.port().map_or(host.clone(), |port| format!("{host}:{port}")))
        });
        Organisation { host: host.unwrap_or_default(), name: self.owner.clone() }
    }

    /// Returns the only host from which repositories may be cloned.
    pub(crate) fn clone_host(&self) -> String {
        let host = self.base().and_then(|url| url.host_str().map(ToOwned::to_owned)).unwrap_or_default();
        let host = self.clone_host.clone().unwrap_or(host).to_ascii_lowercase();
        // GitHub's API and its repositories have different hosts. For the other services, the API and the
        // repositories have the same host.
        if host == "api.github.com" { "github.com".to_owned() } else { host }
    }

    pub(crate) fn request_timeout(&self) -> Duration {
        Duration::from_millis(self.request_timeout_ms)
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds)
    }

    pub(crate) fn max_wait(&self) -> Duration {
        Duration::from_secs(self.max_wait_seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<HostingConfig, toml::de::Error> {
        toml::from_str(text)
    }

    #[test]
    fn few_settings_are_required() {
        let config = parse("kind = 'github'\nowner = 'acme'\ntoken = { env = 'GITHUB_TOKEN' }").expect("settings");
        config.validate().expect("valid");
        assert_eq!(config.policy_faults(&Sources::default()), Vec::<String>::new());
        let url = config.endpoint(&["orgs", "acme", "repos"]).expect("an address");
        assert_eq!(url.as_str(), "https://api.github.com/orgs/acme/repos");
        assert_eq!(config.clone_host(), "github.com");
        let forgejo = parse("kind = 'forgejo'\nowner = 'a'\nurl = 'https://git.example:3000/sub/'").expect("settings");
        assert_eq!(forgejo.endpoint(&["orgs"]).expect("url").as_str(), "https://git.example:3000/sub/api/v1/orgs");
        assert_eq!(forgejo.organisation(), Organisation { host: "git.example:3000".to_owned(), name: "a".to_owned() });
        assert_eq!(forgejo.clone_host(), "git.example");
        let gitlab = parse("kind = 'gitlab'\nowner = 'a/b'\nowner_is = 'group'").expect("settings");
        gitlab.validate().expect("valid");
        let url = gitlab.endpoint(&["groups", "a/b", "projects"]).expect("url");
        assert_eq!(url.as_str(), "https://gitlab.com/api/v4/groups/a%2Fb/projects");
    }

    #[test]
    fn all_faults_are_reported_without_credentials() {
        let text = "kind = 'gitea'\nowner = 'a/b'\nclone_host = 'x y'\nurl = 'ftp://u:hunter2@x/?q'\nmax_repositories = 0\n\
            request_timeout_ms = 0\ntimeout_seconds = 0\nmax_wait_seconds = 9\nretry_pause_ms = 100000";
        let faults = parse(text).expect("valid settings").validate().expect_err("faults").faults;
        assert_eq!(faults.len(), 9, "{faults:#?}");
        assert!(!faults.join(" ").contains("hunter2"), "{faults:?}");
        for owner in ["", "a/../b", "a?x", "a b", ".", "a%2fb", "a\n"] {
            let config =
                HostingConfig { owner: owner.to_owned(), ..parse("kind = 'gitlab'\nowner = 'x'").expect("form") };
            assert!(config.validate().is_err(), "{owner:?}");
        }
        assert!(parse("kind = 'gitea'\nowner = 'a'").expect("form").validate().is_err(), "Gitea needs an address");
        assert!(parse("kind = 'github'\nowner = 'a'\ntokn = 'x'").is_err());
    }

    #[test]
    fn api_addresses_obey_the_cloning_rules() {
        let check = |url: &str, allowed: &Sources, num_faults: usize| {
            let config = parse(&format!("kind = 'gitea'\nowner = 'a'\nurl = '{url}'")).expect("form");
            assert_eq!(config.policy_faults(allowed).len(), num_faults, "{url}");
        };
        let open = Sources { allow_http: true, allow_private_addresses: true, ..Sources::default() };
        check("https://git.example.com", &Sources::default(), 0);
        check("http://git.example.com", &Sources::default(), 1);
        check("http://169.254.169.254", &Sources::default(), 2);
        check("https://localhost:3000", &Sources::default(), 1);
        check("https://intranet", &Sources::default(), 1);
        check("http://127.0.0.1:3000", &open, 0);
    }
}
