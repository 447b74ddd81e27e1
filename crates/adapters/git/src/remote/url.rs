//! Parses URLs of remotes, and decides which of them the settings allow.

use url::{Host, Url};

use crate::failure::printable;
use crate::settings::RemotePolicy;

/// A URL that the policy allows. Git, curl and the name resolution all get the same normalized form of the
/// URL.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RemoteUrl {
    url: Url,
}

/// The protocol by which a remote is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scheme {
    Https,
    Http,
    Ssh,
    File,
}

/// The reason why a URL is refused. The error never contains the URL, because the URL may contain a
/// credential.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidUrl {
    #[error("not a URL of a repository; expected for example `https://host/owner/name.git`")]
    Malformed,
    #[error("the scheme `{0}` is not supported; use https or ssh")]
    Scheme(String),
    #[error("`{scheme}` URLs are refused unless `{setting}` is set")]
    NotAllowed { scheme: &'static str, setting: &'static str },
    #[error(
        "the URL contains a credential; remove it, and in `sources.tokens`, name the variable that contains the token"
    )]
    Credentials,
    #[error("the URL has no host")]
    NoHost,
    #[error("the URL has no path to a repository")]
    NoPath,
    #[error("the URL has a query or a fragment; URLs of repositories have none")]
    Query,
    #[error("the URL has a character that is not allowed in the URL of a repository")]
    BadCharacter,
    #[error(
        "the host is on this machine or in a private network, or is a metadata service; `sources.allow_private_addresses` permits such hosts"
    )]
    PrivateAddress,
}

impl RemoteUrl {
    /// Whether a text looks like a URL (or `user@host:path`), not like a path on this machine.
    pub fn looks_like_one(text: &str) -> bool {
        text.contains("://") || text.contains("::") || scp_form(text).is_some()
    }

    /// Parses a URL and performs all checks that need no name resolution.
    pub fn parse(text: &str, policy: &RemotePolicy) -> Result<Self, InvalidUrl> {
        if text.chars().any(|character| character.is_control() || character.is_whitespace() || character == '\\') {
            return Err(InvalidUrl::BadCharacter);
        }
        let expanded = scp_form(text).map(|(login, path)| format!("ssh://{login}/{path}"));
        let url = Url::parse(expanded.as_deref().unwrap_or(text)).map_err(|_| InvalidUrl::Malformed)?;
        if !text.contains("://") && expanded.is_none() {
            return Err(InvalidUrl::Scheme(printable(url.scheme())));
        }
        let remote = Self { url };
        remote.check_scheme(policy)?;
        remote.check_parts()?;
        if !policy.allow_private_addresses && remote.scheme() != Some(Scheme::File) {
            remote.check_host()?;
        }
        Ok(remote)
    }

    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    pub(crate) fn scheme(&self) -> Option<Scheme> {
        match self.url.scheme() {
            "https" => Some(Scheme::Https),
            "http" => Some(Scheme::Http),
            "ssh" => Some(Scheme::Ssh),
            "file" => Some(Scheme::File),
            _ => None,
        }
    }

    /// The host to resolve. Empty for `file` URLs.
    pub(crate) fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// Whether the host is an IP address, which needs no name resolution.
    pub(crate) fn is_address(&self) -> bool {
        let host = self.host().trim_start_matches('[').trim_end_matches(']');
        host.parse::<std::net::IpAddr>().is_ok()
    }

    pub(crate) fn port(&self) -> u16 {
        let default = if self.scheme() == Some(Scheme::Ssh) { 22 } else { 443 };
        self.url.port_or_known_default().unwrap_or(default)
    }

    /// The scheme, host and port to which a token may be sent.
    pub(crate) fn origin(&self) -> String {
        match self.url.port() {
            Some(port) => format!("{}://{}:{port}/", self.url.scheme(), self.host()),
            None => format!("{}://{}/", self.url.scheme(), self.host()),
        }
    }

    /// `host/owner/name` without `.git`. A port that is not the default is included as `host+port`.
    pub(crate) fn name(&self) -> String {
        let host = self.host().trim_matches(['[', ']']).trim_end_matches('.').replace(':', "-");
        let host = match self.url.port() {
            Some(port) => format!("{host}+{port}"),
            None => host,
        };
        let path = self.repository_path();
        if self.scheme() == Some(Scheme::File) {
            return path.rsplit('/').next().unwrap_or(path).to_owned();
        }
        format!("{host}/{path}")
    }

    /// `owner/name`, without `.git`.
    pub(crate) fn repository_path(&self) -> &str {
        let path = self.url.path().trim_matches('/');
        path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/')
    }

    fn check_scheme(&self, policy: &RemotePolicy) -> Result<(), InvalidUrl> {
        let (scheme, setting, allowed) = match self.scheme() {
            Some(Scheme::Https) => return Ok(()),
            Some(Scheme::Http) => ("http", "sources.allow_http", policy.allow_http),
            Some(Scheme::File) => ("file", "sources.allow_file", policy.allow_file),
            Some(Scheme::Ssh) => ("ssh", "sources.ssh_known_hosts", policy.ssh.is_some()),
            None => return Err(InvalidUrl::Scheme(printable(self.url.scheme()))),
        };
        if allowed { Ok(()) } else { Err(InvalidUrl::NotAllowed { scheme, setting }) }
    }

    fn check_parts(&self) -> Result<(), InvalidUrl> {
        let is_ssh = self.scheme() == Some(Scheme::Ssh);
        if self.url.password().is_some() || (!self.url.username().is_empty() && !is_ssh) {
            return Err(InvalidUrl::Credentials);
        }
        if self.url.query().is_some() || self.url.fragment().is_some() {
            return Err(InvalidUrl::Query);
        }
        let is_file = self.scheme() == Some(Scheme::File);
        match self.host() {
            "" if !is_file => return Err(InvalidUrl::NoHost),
            host if is_file && !host.is_empty() => return Err(InvalidUrl::BadCharacter),
            host if !is_plain_host(host) || self.url.username().starts_with('-') => {
                return Err(InvalidUrl::BadCharacter);
            }
            _ => {}
        }
        if !is_file && self.may_hold_password() {
            return Err(InvalidUrl::Credentials);
        }
        let path = self.url.path();
        if path.trim_matches('/').is_empty() {
            return Err(InvalidUrl::NoPath);
        }
        let lower = path.to_ascii_lowercase();
        let login = self.url.username().to_ascii_lowercase();
        let is_plain_login = login.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        let escaped = ["%00", "%0a", "%0d", "%25", "%2e%2e", "%2f", "%5c"].iter().any(|escape| lower.contains(escape));
        let is_option = path.trim_start_matches('/').starts_with('-') && is_ssh;
        if escaped || is_option || !is_plain_login { Err(InvalidUrl::BadCharacter) } else { Ok(()) }
    }

    /// The text before an `@` in the path may be part of a password. By the rules of URLs,
    /// `https://user:1/2@host/x` has the host `user`, the port `1` and the path `/2@host/x`. The only
    /// accepted form is `/@scope/name` after a host without a port, which cannot be part of a password.
    fn may_hold_password(&self) -> bool {
        let path = self.url.path().to_ascii_lowercase().replace("%40", "@");
        let is_scope = path.matches('@').count() == 1 && path.contains("/@") && self.url.port().is_none();
        path.contains('@') && !is_scope
    }

    /// Refuses addresses and host names that are always private.
    fn check_host(&self) -> Result<(), InvalidUrl> {
        // The URL parser recognises all notations of an IP address only for http and https. For ssh, the host
        // is parsed again here.
        let host = match self.url.host() {
            Some(Host::Domain(name)) => Host::parse(name).map_err(|_| InvalidUrl::Malformed)?,
            Some(Host::Ipv4(address)) => Host::Ipv4(address),
            Some(Host::Ipv6(address)) => Host::Ipv6(address),
            None => return Err(InvalidUrl::NoHost),
        };
        if cairn_addresses::may_be_public(Some(&host)) { Ok(()) } else { Err(InvalidUrl::PrivateAddress) }
    }
}

/// Whether the host is a name or an address without characters that have a special meaning in a shell or on a
/// command line. For schemes other than http and https, the parser does not change the host, so it may
/// contain quotes.
fn is_plain_host(host: &str) -> bool {
    let is_plain =
        |text: &str, others: &[u8]| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || others.contains(&byte));
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => is_plain(address, b":."),
        None => is_plain(host, b"._-") && !host.starts_with('-'),
    }
}

/// Splits `user@host:path`, which git reads as ssh, into the login and the path. A path on this machine has a
/// slash before the first colon.
fn scp_form(text: &str) -> Option<(&str, &str)> {
    let (login, path) = text.split_once(':')?;
    let is_login = login.contains('@') && !login.contains('/') && !path.starts_with("//");
    is_login.then_some((login, path.trim_start_matches('/')))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::settings::SshSettings;

    fn with_ssh() -> RemotePolicy {
        let ssh = Some(SshSettings { known_hosts: PathBuf::from("known_hosts"), key: None, tenants: Vec::new() });
        RemotePolicy { ssh, ..RemotePolicy::default() }
    }

    #[test]
    fn valid_urls_have_names() {
        let check = |text: &str, name: &str| {
            let url = RemoteUrl::parse(text, &with_ssh()).expect(text);
            assert_eq!(url.name(), name, "{text}");
        };
        check("https://github.com/Owner/Name.git", "github.com/Owner/Name");
        check("https://GitHub.com/owner/name/", "github.com/owner/name");
        check("https://git.example.com:8443/a/b/c.git", "git.example.com+8443/a/b/c");
        check("ssh://git@git.example.com/a/b.git", "git.example.com/a/b");
        check("git@git.example.com:a/b.git", "git.example.com/a/b");
        check("ssh://git@git.example.com:2222/a/b", "git.example.com+2222/a/b");
    }

    /// Hostile URLs, which the default policy with ssh must refuse. Each URL is listed with a word that its
    /// error message must contain.
    const HOSTILE: &[(&str, &str)] = &[
        ("http://github.com/a/b", "allow_http"),
        ("file:///etc", "allow_file"),
        ("file://host/etc", "allow_file"),
        ("git://github.com/a/b", "`git`"),
        ("ftp://github.com/a/b", "`ftp`"),
        ("gopher://github.com/a/b", "`gopher`"),
        ("ext::sh -c touch% /tmp/x", "character"),
        ("ext::sh", "`ext`"),
        ("fd::17", "`fd`"),
        ("javascript:alert(1)", "`javascript`"),
        ("--upload-pack=touch", "not a URL"),
        ("-oProxyCommand=x", "not a URL"),
        ("ssh://-oProxyCommand=x/a/b", "character"),
        ("ssh://-o@host.example/a", "character"),
        ("ssh://git@host.example/-oProxyCommand=x", "character"),
        ("git@-host.example:a/b", "character"),
        ("ssh://git@x';touch${IFS}y;'.example/a/b", "character"),
        ("ssh://git@x$(id).example/a/b", "character"),
        ("ssh://git@x`id`.example/a/b", "character"),
        ("ssh://git@x%27.example/a/b", "character"),
        ("git@x';id;'.example:a/b", "character"),
        ("https://127.0.0.1/a/b", "private"),
        ("https://127.1/a/b", "private"),
        ("https://2130706433/a/b", "private"),
        ("https://0x7f000001/a/b", "private"),
        ("https://0x7f.0.0.1/a/b", "private"),
        ("https://0177.0.0.1/a/b", "private"),
        ("https://017700000001/a/b", "private"),
        ("https://0/a/b", "private"),
        ("https://[::1]/a/b", "private"),
        ("https://[::ffff:127.0.0.1]/a/b", "private"),
        ("https://[::ffff:7f00:1]/a/b", "private"),
        ("https://[0:0:0:0:0:0:0:1]/a/b", "private"),
        ("https://[fe80::1]/a/b", "private"),
        ("https://[64:ff9b::7f00:1]/a/b", "private"),
        ("https://169.254.169.254/latest/meta-data", "private"),
        ("https://2852039166/latest", "private"),
        ("https://[fd00:ec2::254]/latest", "private"),
        ("https://metadata.google.internal/x", "private"),
        ("https://10.0.0.1/a/b", "private"),
        ("https://192.168.0.1/a/b", "private"),
        ("https://172.20.1.1/a/b", "private"),
        ("https://100.100.100.200/latest", "private"),
        ("https://localhost/a/b", "private"),
        ("https://localhost./a/b", "private"),
        ("https://LOCALHOST/a/b", "private"),
        ("https://x.localhost/a/b", "private"),
        ("https://printer.local/a/b", "private"),
        ("https://intranet/a/b", "private"),
        ("https://127.0.0.1./a/b", "private"),
        ("https://①②⑦.0.0.1/a/b", "private"),
        ("ssh://git@127.0.0.1/a/b", "private"),
        ("ssh://git@0x7f000001/a/b", "private"),
        ("git@localhost:a/b", "private"),
        ("https://user:pass@github.com/a/b", "credential"),
        ("https://token@github.com/a/b", "credential"),
        ("https://github.com@127.0.0.1/a/b", "credential"),
        ("https://github.com:x@evil.example/a/b", "credential"),
        ("ssh://git:pass@github.com/a/b", "credential"),
        ("https://bob:123/45@github.com/a", "credential"),
        ("https://bob.example:123/45@github.com/a", "credential"),
        ("https://bob.example:123/45%40github.com/a", "credential"),
        ("https://token/45@github.com/a", "credential"),
        ("https://github.com/a/b?x=1", "query"),
        ("https://github.com/a/b#x", "query"),
        ("https://github.com", "path"),
        ("https://github.com/", "path"),
        ("https:///a/b", "private"),
        ("https://", "not a URL"),
        ("https://github.com/a%0ab", "character"),
        ("https://github.com/a%00b", "character"),
        ("https://github.com/%2e%2e%2fb", "character"),
        ("https://github.com\\@127.0.0.1/a", "character"),
        ("https://github.com/a\nb", "character"),
        ("https://github.com /a", "character"),
        ("", "not a URL"),
    ];

    #[test]
    fn hostile_urls_are_refused_and_not_shown() {
        for (text, expect) in HOSTILE {
            let error = RemoteUrl::parse(text, &with_ssh()).expect_err(text).to_string();
            assert!(error.contains(expect), "{text}: {error}");
            assert!(!error.contains("pass") && !error.contains("token@"), "{text}: {error}");
        }
    }

    #[test]
    fn settings_allow_their_own_urls_only() {
        let open = RemotePolicy { allow_http: true, allow_file: true, allow_private_addresses: true, ..with_ssh() };
        for text in
            ["http://127.0.0.1:8080/a/b", "file:///srv/git/a.git", "https://localhost/a/b", "ssh://git@10.0.0.1/a"]
        {
            RemoteUrl::parse(text, &open).expect(text);
        }
        for text in ["https://user:pass@localhost/a", "ext::sh", "file://host/a", "http://127.0.0.1/a?x"] {
            RemoteUrl::parse(text, &open).expect_err(text);
        }
        // Git's command lines and settings will contain the host, so it must not contain these characters.
        for sign in "'\"`$;&|(){}<>*?!~,=+%^ \n".chars() {
            for text in [format!("ssh://git@x{sign}y.example/a"), format!("https://x{sign}y.example/a")] {
                let host = RemoteUrl::parse(&text, &open).map(|url| url.host().to_owned());
                assert!(!host.as_ref().is_ok_and(|host| host.contains(sign)), "{text}: {host:?}");
            }
        }
        let error = RemoteUrl::parse("ssh://git@github.com/a/b", &RemotePolicy::default()).expect_err("no host keys");
        assert!(error.to_string().contains("ssh_known_hosts"));
    }
}
