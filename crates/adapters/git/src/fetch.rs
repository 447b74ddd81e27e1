//! Fetches a remote into a bare clone of our own, with the `git` program in a cage.
//!
//! The remote is hostile until shown otherwise. So: no work tree, hooks, filters, submodules, tags or credential
//! helpers; one branch, one commit deep; no redirects; one protocol; objects checked as they arrive; an empty
//! environment and no configuration but ours; addresses resolved and checked here and pinned for the child; wall time
//! and bytes bounded, the process group killed. A clone whose content fails the check is thrown away.

use std::fs::{self, File};
use std::net::{IpAddr, ToSocketAddrs};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cairn_addresses::is_public;
use cairn_domain::{BlobId, Tenant};
use cairn_ports::{ErrorKind, SourceError, SyncMeter};
use git2::Oid;

use crate::child::{self, Bounds, ChildError, Growth, Output};
use crate::credentials;
use crate::failure::{failure, from_io, printable};
use crate::objects::{blob_of, open_repository};
use crate::remote_url::Scheme;
use crate::sources::ALONE;
use crate::{GitSettings, InvalidUrl, RemoteUrl, SshSettings};

/// Asks for the addresses of a host. A parameter so that tests can answer with more than one address.
pub(crate) type Resolve = dyn Fn(&str, u16) -> std::io::Result<Vec<IpAddr>> + Send + Sync;

pub(crate) fn resolve_by_system(host: &str, port: u16) -> std::io::Result<Vec<IpAddr>> {
    Ok((host, port).to_socket_addrs()?.map(|address| address.ip()).collect())
}

/// Settings that git learned in 2.37 (`http.curloptResolve`) are part of the cage.
const OLDEST_GIT: (u32, u32) = (2, 37);

/// What every child is told, whatever it does.
const CAGE: &[&str] = &[
    "protocol.allow=never",
    "http.followRedirects=false",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=30",
    "http.proxy=",
    "core.hooksPath=/dev/null",
    "core.symlinks=false",
    "core.fsmonitor=false",
    "core.askPass=",
    "core.attributesFile=/dev/null",
    "credential.helper=",
    "transfer.fsckObjects=true",
    "fetch.fsckObjects=true",
    // Old commits of honest projects have these faults, and nothing here depends on them.
    "fetch.fsck.badTimezone=warn",
    "fetch.fsck.missingSpaceBeforeDate=warn",
    "fetch.fsck.zeroPaddedFilemode=warn",
    "fetch.recurseSubmodules=false",
    "fetch.writeCommitGraph=false",
    "submodule.recurse=false",
    "transfer.unpackLimit=1",
    "transfer.bundleURI=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
    "init.defaultBranch=main",
];

/// A remote that passed the policy, with the addresses that may be talked to.
pub(crate) struct Remote<'s> {
    url: RemoteUrl,
    /// In whose name it is asked.
    tenant: Option<&'s Tenant>,
    settings: &'s GitSettings,
    /// Empty where nothing was resolved: files, literal addresses, and private addresses allowed.
    addresses: Vec<IpAddr>,
    since: Instant,
    /// How long everything that is asked of it may take, since then.
    patience: Duration,
}

/// What the remote says of the wanted branch.
pub(crate) struct RemoteHead {
    pub(crate) commit: BlobId,
    /// None if the remote's `HEAD` is on no branch.
    pub(crate) branch: Option<String>,
}

impl<'s> Remote<'s> {
    /// What is asked of it may take that long in all.
    pub(crate) fn new(
        text: &str,
        tenant: Option<&'s Tenant>,
        settings: &'s GitSettings,
        resolve: &Resolve,
        patience: Duration,
    ) -> Result<Self, SourceError> {
        let since = Instant::now();
        // Not the text: if it is refused it may be so for a credential in it.
        let invalid = |error: InvalidUrl| SourceError::new(ErrorKind::Invalid, "open", "URL").because(error);
        let url = RemoteUrl::parse(text, &settings.remotes).map_err(invalid)?;
        let may_ssh = settings.remotes.ssh.as_ref().is_none_or(|ssh| ssh.is_for(tenant));
        if url.scheme() == Some(Scheme::Ssh) && !may_ssh {
            return Err(failure(
                ErrorKind::Forbidden,
                "open",
                url.as_str(),
                "`sources.ssh_tenants` does not name the tenant",
            ));
        }
        let mut addresses = Vec::new();
        let is_local = url.scheme() == Some(Scheme::File);
        if !settings.remotes.allow_private_addresses && !is_local && !url.is_address() {
            addresses = resolve(url.host(), url.port())
                .map_err(|error| failure(ErrorKind::Unavailable, "resolve", url.host(), error.to_string()))?;
            if addresses.is_empty() || !addresses.iter().all(|address| is_public(*address)) {
                return Err(invalid(InvalidUrl::PrivateAddress));
            }
        }
        check_git_version(settings)?;
        Ok(Self { url, tenant, settings, addresses, since, patience })
    }

    /// How long what is asked of it now may take.
    pub(crate) fn time_left(&self) -> Duration {
        self.patience.saturating_sub(self.since.elapsed())
    }

    /// Reads the head without fetching.
    pub(crate) fn head(&self, branch: Option<&str>) -> Result<RemoteHead, SourceError> {
        let wanted = branch.map_or("HEAD".to_owned(), |branch| format!("refs/heads/{branch}"));
        let mut command = self.git()?;
        command.args(["ls-remote", "--symref", "--", self.url.as_str(), &wanted]);
        let output = self.run(&mut command, None)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut head = RemoteHead { commit: BlobId([0; 20]), branch: branch.map(str::to_owned) };
        let mut found = false;
        for (value, _) in text.lines().filter_map(|line| line.split_once('\t')).filter(|(_, name)| *name == wanted) {
            match value.strip_prefix("ref: refs/heads/") {
                Some(symbolic) => head.branch = head.branch.or(Some(printable(symbolic))),
                None => {
                    let id = Oid::from_str(value)
                        .map_err(|_| self.fault(ErrorKind::Invalid, "the remote's object ids are not SHA-1"))?;
                    head.commit = blob_of(id);
                    found = true;
                }
            }
        }
        if found {
            return Ok(head);
        }
        let what = branch
            .map_or("the remote has no commit yet".to_owned(), |branch| format!("the remote has no branch `{branch}`"));
        Err(self.fault(ErrorKind::NotFound, what))
    }

    /// Brings the wanted branch into `clone`, which is made if need be; gives the commit that arrived.
    pub(crate) fn fetch(&self, clone: &Path, branch: Option<&str>, meter: &SyncMeter) -> Result<BlobId, SourceError> {
        let _alone = self.alone(clone)?;
        let limit = self.settings.limits.max_fetch_bytes;
        if child::size_of(clone) > limit / 2 {
            // Old snapshots pile up, since nothing here ever collects garbage.
            self.discard(clone)?;
        }
        if !clone.join("HEAD").exists() {
            self.init(clone)?;
        }
        let from = branch.map_or("HEAD".to_owned(), |branch| format!("refs/heads/{branch}"));
        let to = local_reference(branch);
        let mut command = self.git()?;
        command.arg("--git-dir").arg(clone).args(["fetch", "--quiet", "--depth", "1", "--no-tags", "--force"]);
        command.args(["--no-recurse-submodules", "--no-auto-maintenance", "--no-write-fetch-head", "--"]);
        command.args([self.url.as_str(), &format!("+{from}:{to}")]);
        let before = child::size_of(clone);
        let told = |size_bytes: u64| meter.fetched_so_far(size_bytes.saturating_sub(before));
        match self.run(&mut command, Some((clone, &told))) {
            Ok(_) => {
                told(child::size_of(clone));
                self.fetched(clone, branch).ok_or_else(|| self.fault(ErrorKind::Corrupt, "the fetch left no commit"))
            }
            Err(error) => {
                if matches!(error.kind, ErrorKind::Corrupt | ErrorKind::TooLarge)
                    || self.fetched(clone, branch).is_none()
                {
                    self.discard(clone)?;
                }
                Err(error)
            }
        }
    }

    /// Waits until no other process fetches into `clone`, and takes away the locks of one that was killed: git leaves them,
    /// and refuses to go on for as long as they are there. The kernel takes ours back with the process.
    fn alone(&self, clone: &Path) -> Result<File, SourceError> {
        let from_io = |error| from_io("fetch", self.url.as_str(), error);
        fs::create_dir_all(clone.parent().unwrap_or(clone)).map_err(from_io)?;
        let lock = File::create(clone.with_extension(ALONE)).map_err(from_io)?;
        lock.lock().map_err(from_io)?;
        remove_locks(clone, false);
        remove_locks(&clone.join("refs"), true);
        Ok(lock)
    }

    /// The commit that an earlier fetch left in `clone`, if it is there with its tree.
    pub(crate) fn fetched(&self, clone: &Path, branch: Option<&str>) -> Option<BlobId> {
        let repository = open_repository(clone).ok()?;
        let commit = repository.find_reference(&local_reference(branch)).ok()?.peel_to_commit().ok()?;
        commit.tree().ok()?;
        Some(blob_of(commit.id()))
    }

    fn init(&self, clone: &Path) -> Result<(), SourceError> {
        self.discard(clone)?;
        let mut command = self.git()?;
        command.args(["init", "--quiet", "--bare", "--template=", "--"]).arg(clone);
        self.run(&mut command, Some((clone, &|_| ()))).map(drop)
    }

    fn discard(&self, clone: &Path) -> Result<(), SourceError> {
        match fs::remove_dir_all(clone) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(from_io("fetch", self.url.as_str(), error))
            }
            _ => Ok(()),
        }
    }

    /// `git` with the cage around it and nothing to do yet.
    fn git(&self) -> Result<Command, SourceError> {
        let mut command = Command::new("git");
        command.env_clear();
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        let scheme = self.url.scheme();
        let protocol = self.url.as_str().split(':').next().unwrap_or_default();
        command.env("LC_ALL", "C").env("HOME", "/nonexistent").env("GIT_CONFIG_NOSYSTEM", "1");
        command
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_PROTOCOL_FROM_USER", "0");
        command.env("GIT_ALLOW_PROTOCOL", protocol).env("GIT_NO_REPLACE_OBJECTS", "1").env("GIT_ATTR_NOSYSTEM", "1");
        for setting in CAGE {
            command.args(["-c", setting]);
        }
        command.args(["-c", &format!("protocol.{protocol}.allow=always")]);
        match scheme {
            Some(Scheme::Https | Scheme::Http) => self.pin_http(&mut command),
            Some(Scheme::Ssh) => self.prepare_ssh(&mut command)?,
            _ => {}
        }
        self.authenticate(&mut command)?;
        Ok(command)
    }

    fn pin_http(&self, command: &mut Command) {
        if self.addresses.is_empty() {
            return;
        }
        let show = |address: &IpAddr| match address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        };
        let addresses: Vec<String> = self.addresses.iter().map(show).collect();
        let pin = format!("http.curloptResolve={}:{}:{}", self.url.host(), self.url.port(), addresses.join(","));
        command.args(["-c", &pin]);
    }

    /// Only the pinned host keys, no configuration, no questions, no detours.
    fn prepare_ssh(&self, command: &mut Command) -> Result<(), SourceError> {
        let Some(ssh) = &self.settings.remotes.ssh else { return Ok(()) };
        let alias = match self.url.port() {
            22 => self.url.host().to_owned(),
            port => format!("[{}]:{port}", self.url.host()),
        };
        let line = ssh_command(ssh, &alias, self.addresses.first()).ok_or_else(|| {
            self.fault(ErrorKind::Invalid, "the paths of ssh's files, or the host, have quotes or are not UTF-8")
        })?;
        command.env("GIT_SSH_COMMAND", line).env("GIT_SSH_VARIANT", "ssh");
        if let Some(agent) = std::env::var_os("SSH_AUTH_SOCK").filter(|_| ssh.key.is_none()) {
            command.env("SSH_AUTH_SOCK", agent);
        }
        Ok(())
    }

    /// The token goes through the environment, to this origin only, and over https only.
    fn authenticate(&self, command: &mut Command) -> Result<(), SourceError> {
        let variables = &self.settings.remotes.token_variables;
        let Some(variable) = credentials::variable(variables, &self.url, self.tenant) else { return Ok(()) };
        if self.url.scheme() != Some(Scheme::Https) {
            return Ok(());
        }
        let token = std::env::var(variable).unwrap_or_default();
        if token.trim().is_empty() || token.chars().any(char::is_control) {
            let message = format!("the environment variable `{variable}` should hold the token and does not");
            return Err(self.fault(ErrorKind::Invalid, message));
        }
        let credentials = STANDARD.encode(format!("x-access-token:{}", token.trim()));
        command.env("GIT_CONFIG_COUNT", "1");
        command.env("GIT_CONFIG_KEY_0", format!("http.{}.extraHeader", self.url.origin()));
        command.env("GIT_CONFIG_VALUE_0", format!("Authorization: Basic {credentials}"));
        Ok(())
    }

    /// Of a clone that grows meanwhile it is told now and then how large it is.
    fn run(&self, command: &mut Command, clone: Option<(&Path, &dyn Fn(u64))>) -> Result<Output, SourceError> {
        let max_bytes = self.settings.limits.max_fetch_bytes;
        let directory = clone.map(|(path, told)| Growth { path, max_bytes, told });
        let output =
            child::run(command, &Bounds { timeout: self.time_left(), directory }).map_err(|error| match error {
                ChildError::Start(error) => self.fault(ErrorKind::Invalid, format!("git cannot be started: {error}")),
                ChildError::Timeout => {
                    self.fault(ErrorKind::Timeout, format!("no end after {} s", self.patience.as_secs()))
                }
                ChildError::TooLarge => self.too_large(),
            })?;
        if output.status.success() {
            return Ok(output);
        }
        if clone.is_some_and(|(clone, _)| child::size_of(clone) >= max_bytes) {
            return Err(self.too_large());
        }
        let (kind, message) = explain(&output.stderr, self.url.as_str());
        Err(self.fault(kind, message))
    }

    fn too_large(&self) -> SourceError {
        let message = format!("more than {} bytes (`sources.max_fetch_bytes`)", self.settings.limits.max_fetch_bytes);
        self.fault(ErrorKind::TooLarge, message)
    }

    fn fault(&self, kind: ErrorKind, message: impl Into<String>) -> SourceError {
        failure(kind, "fetch", self.url.as_str(), message)
    }
}

/// Removes git's lock files in a folder; what cannot be removed git will tell of.
fn remove_locks(folder: &Path, with_folders: bool) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if with_folders && path.is_dir() {
            remove_locks(&path, true);
        } else if path.extension().is_some_and(|extension| extension == "lock") {
            let _ = fs::remove_file(path);
        }
    }
}

/// Where the fetched branch is kept in the clone.
fn local_reference(branch: Option<&str>) -> String {
    branch.map_or("refs/cairn/head".to_owned(), |branch| format!("refs/cairn/heads/{branch}"))
}

/// `None` if a path or the alias cannot be quoted.
fn ssh_command(ssh: &SshSettings, host_key_alias: &str, address: Option<&IpAddr>) -> Option<String> {
    let is_quotable = |text: &&str| !text.contains(['\'', '"', '\n']);
    let quoted = |path: &Path| path.to_str().filter(is_quotable).map(str::to_owned);
    let (known_hosts, host_key_alias) = (quoted(&ssh.known_hosts)?, Some(host_key_alias).filter(is_quotable)?);
    let mut line =
        format!("ssh -F /dev/null -o 'UserKnownHostsFile=\"{known_hosts}\"' -o 'HostKeyAlias={host_key_alias}'");
    let fixed = "BatchMode=yes StrictHostKeyChecking=yes GlobalKnownHostsFile=/dev/null UpdateHostKeys=no CheckHostIP=no \
                 ProxyCommand=none ForwardAgent=no ClearAllForwardings=yes PermitLocalCommand=no ConnectTimeout=30";
    for option in fixed.split_whitespace() {
        line.push_str(&format!(" -o {option}"));
    }
    if let Some(key) = &ssh.key {
        line.push_str(&format!(" -o IdentitiesOnly=yes -i '{}'", quoted(key)?));
    }
    if let Some(address) = address {
        line.push_str(&format!(" -o HostName={address}"));
    }
    Some(line)
}

/// What git's complaint about a URL means, and its last line that says something. The text is the remote's, in part.
fn explain(stderr: &str, url: &str) -> (ErrorKind, String) {
    let meanings: &[(&str, ErrorKind)] = &[
        ("returned error: 30", ErrorKind::Invalid),
        ("fsck", ErrorKind::Corrupt),
        ("index-pack failed", ErrorKind::Corrupt),
        ("error in object", ErrorKind::Corrupt),
        ("could not resolve host", ErrorKind::Unavailable),
        ("connection refused", ErrorKind::Unavailable),
        ("failed to connect", ErrorKind::Unavailable),
        ("returned error: 50", ErrorKind::Unavailable),
        ("returned error: 429", ErrorKind::Throttled { retry_after: None }),
        ("host key verification failed", ErrorKind::Forbidden),
        ("permission denied", ErrorKind::Forbidden),
        ("authentication failed", ErrorKind::Forbidden),
        ("could not read username", ErrorKind::Forbidden),
        ("returned error: 401", ErrorKind::Forbidden),
        ("returned error: 403", ErrorKind::Forbidden),
        ("dubious ownership", ErrorKind::Forbidden),
        ("returned error: 404", ErrorKind::NotFound),
        ("not found", ErrorKind::NotFound),
        ("does not appear to be a git repository", ErrorKind::NotFound),
        ("couldn't find remote ref", ErrorKind::NotFound),
        ("no space left", ErrorKind::Io),
    ];
    // A repository may be called like a complaint.
    let lower = stderr.to_ascii_lowercase().replace(&url.to_ascii_lowercase(), "URL");
    let kind =
        meanings.iter().find(|(words, _)| lower.contains(words)).map_or(ErrorKind::ConnectionLost, |(_, kind)| *kind);
    let says = |line: &&str| line.starts_with("fatal:") || line.starts_with("error:");
    let line = stderr.lines().find(says).or_else(|| stderr.lines().last()).unwrap_or("git failed without a word");
    let hint =
        if lower.contains("returned error: 30") { " (redirects are not followed: give the final URL)" } else { "" };
    (kind, format!("{}{hint}", printable(line)))
}

fn check_git_version(settings: &GitSettings) -> Result<(), SourceError> {
    static VERSION: OnceLock<Option<(u32, u32)>> = OnceLock::new();
    let version = *VERSION.get_or_init(|| {
        let bounds = Bounds { timeout: settings.limits.fetch_timeout, directory: None };
        let output = child::run(Command::new("git").arg("--version"), &bounds).ok()?;
        parse_version(&String::from_utf8_lossy(&output.stdout))
    });
    let (major, minor) = OLDEST_GIT;
    let message = match version {
        Some(version) if version >= OLDEST_GIT => return Ok(()),
        Some((found_major, found_minor)) => {
            format!("git {major}.{minor} or newer is needed, found {found_major}.{found_minor}")
        }
        None => format!("the program `git` ({major}.{minor} or newer) is needed to fetch and cannot be run"),
    };
    Err(failure(ErrorKind::Invalid, "fetch", "git", message))
}

fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.trim().strip_prefix("git version ")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        let check = |text: &str, expect: Option<(u32, u32)>| assert_eq!(parse_version(text), expect, "{text}");
        check("git version 2.39.5\n", Some((2, 39)));
        check("git version 2.39.3 (Apple Git-146)", Some((2, 39)));
        check("git version 3.0.rc1", Some((3, 0)));
        check("something else", None);
    }

    #[test]
    fn complaints_are_classified_and_made_printable() {
        let check = |stderr: &str, kind: ErrorKind, message: &str| {
            assert_eq!(explain(stderr, "https://x/fsck-503"), (kind, message.to_owned()), "{stderr}");
        };
        check(
            "fatal: repository 'https://x/fsck-503/' not found\n",
            ErrorKind::NotFound,
            "fatal: repository 'https://x/fsck-503/' not found",
        );
        let busy = "fatal: unable to access 'https://x/fsck-503/': The requested URL returned error: 503";
        check(busy, ErrorKind::Unavailable, busy);
        let throttled = busy.replace("error: 503", "error: 429");
        check(&throttled, ErrorKind::Throttled { retry_after: None }, &throttled);
        check(
            "fatal: repository 'https://x/y/' not found\n",
            ErrorKind::NotFound,
            "fatal: repository 'https://x/y/' not found",
        );
        check(
            "remote: \u{1b}[31mboo\nfatal: Authentication failed for 'x'\n",
            ErrorKind::Forbidden,
            "fatal: Authentication failed for 'x'",
        );
        check("\u{1b}]0;title\u{7}\n", ErrorKind::ConnectionLost, "]0;title");
        check("error: object 12: fsck error\n", ErrorKind::Corrupt, "error: object 12: fsck error");
        check("", ErrorKind::ConnectionLost, "git failed without a word");
    }

    #[test]
    fn names_with_any_private_answer_are_refused() {
        let settings = GitSettings::new("unused");
        let check = |answers: &[&str], refused: bool| {
            let answers: Vec<IpAddr> = answers.iter().map(|text| text.parse().expect("address")).collect();
            let resolve = move |_: &str, _: u16| Ok(answers.clone());
            let remote = Remote::new("https://git.example.com/a/b", None, &settings, &resolve, Duration::ZERO);
            assert_eq!(remote.is_err(), refused);
        };
        check(&["1.1.1.1"], false);
        check(&["1.1.1.1", "127.0.0.1"], true);
        check(&["2606:4700::1111", "fd00::1"], true);
        check(&["169.254.169.254"], true);
        check(&[], true);
    }

    #[test]
    fn ssh_is_for_the_tenants_that_are_named() {
        let resolve = |_: &str, _: u16| Ok(vec!["1.1.1.1".parse().expect("v4")]);
        let check = |tenants: &[&str], tenant: Option<&str>, url: &str, expect: Option<ErrorKind>| {
            let mut settings = GitSettings::new("unused");
            let tenants = tenants.iter().map(ToString::to_string).collect();
            settings.remotes.ssh = Some(SshSettings { known_hosts: "known_hosts".into(), key: None, tenants });
            let tenant = tenant.map(Tenant::new);
            let remote = Remote::new(url, tenant.as_ref(), &settings, &resolve, Duration::ZERO);
            assert_eq!(remote.err().map(|error| error.kind), expect, "{url}");
        };
        let (ssh, https) = ("ssh://git@git.example.com/a/b", "https://git.example.com/a/b");
        check(&[], None, ssh, None);
        check(&[], Some("acme"), ssh, None);
        check(&["acme", "beta"], Some("beta"), ssh, None);
        check(&["acme"], Some("beta"), ssh, Some(ErrorKind::Forbidden));
        check(&["acme"], None, ssh, Some(ErrorKind::Forbidden));
        check(&["acme"], Some("beta"), https, None);
    }

    #[test]
    fn the_checked_addresses_are_pinned() {
        let settings = GitSettings::new("unused");
        let resolve =
            |_: &str, _: u16| Ok(vec!["1.1.1.1".parse().expect("v4"), "2606:4700::1111".parse().expect("v6")]);
        let remote =
            Remote::new("https://git.example.com/a/b", None, &settings, &resolve, Duration::ZERO).expect("public");
        let command = remote.git().expect("command");
        let arguments: Vec<String> = command.get_args().map(|text| text.to_string_lossy().into_owned()).collect();
        assert!(arguments.contains(&"http.curloptResolve=git.example.com:443:1.1.1.1,[2606:4700::1111]".to_owned()));
        assert!(arguments.contains(&"protocol.https.allow=always".to_owned()));
        let ssh =
            SshSettings { known_hosts: "/keys/known hosts".into(), key: Some("/keys/id".into()), tenants: Vec::new() };
        let line = ssh_command(&ssh, "git.example.com", Some(&"1.1.1.1".parse().expect("address"))).expect("quotable");
        assert!(
            line.contains("-o 'UserKnownHostsFile=\"/keys/known hosts\"'") && line.ends_with("-o HostName=1.1.1.1"),
            "{line}"
        );
        let hostile = SshSettings { known_hosts: "/keys/'; touch x".into(), key: None, tenants: Vec::new() };
        assert_eq!(ssh_command(&hostile, "x", None), None);
        assert_eq!(ssh_command(&ssh, "x';touch y;'", None), None);
    }
}
