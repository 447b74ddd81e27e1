//! Builds the command that runs `git` as a restricted child process.
//!
//! A remote is treated as hostile. So git gets an empty environment and only the configuration below. Git
//! does not read the configuration of the directory in which this process runs. Git may use only the protocol
//! of the URL. Redirects, hooks, filters, submodules and credential helpers are off. Objects are checked when
//! they arrive (see `fsck`). Memory and processor time are limited.

use std::net::IpAddr;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cairn_domain::Tenant;
use cairn_ports::{ErrorKind, SourceError, SyncMeter};

use super::child::{self, Bounds, Resources};
use super::credentials;
use super::fsck::ignored_checks;
use super::ssh::ssh_command;
use super::url::{RemoteUrl, Scheme};
use crate::failure::failure;
use crate::settings::{GitSettings, Limits};

/// The oldest supported version: git 2.37 introduced the setting `http.curloptResolve`.
const OLDEST_GIT: (u32, u32) = (2, 37);

/// Git settings of every child process.
const SETTINGS: &[&str] = &[
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
    "fetch.recurseSubmodules=false",
    "fetch.writeCommitGraph=false",
    "submodule.recurse=false",
    // Objects stay in a pack, so that no fetch writes thousands of files.
    "fetch.unpackLimit=1",
    "transfer.unpackLimit=1",
    "transfer.bundleURI=false",
    // Larger files are streamed to save memory. Files of this size are never indexed.
    "core.bigFileThreshold=32m",
    "core.packedGitWindowSize=32m",
    "core.packedGitLimit=256m",
    "core.deltaBaseCacheLimit=32m",
    "pack.threads=2",
    "pack.windowMemory=64m",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
];

/// The properties of a remote that determine how git connects to the remote.
pub(super) struct Access<'s> {
    pub(super) url: &'s RemoteUrl,
    /// The tenant whose repository is read.
    pub(super) tenant: Option<&'s Tenant>,
    pub(super) settings: &'s GitSettings,
    /// The addresses that were resolved and checked. Empty if no name was resolved.
    pub(super) addresses: &'s [IpAddr],
}

impl Access<'_> {
    /// The `git` command with all restrictions, without a subcommand.
    pub(super) fn git(&self) -> Result<Command, SourceError> {
        let mut command = Command::new("git");
        command.env_clear();
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        let protocol = self.url.as_str().split(':').next().unwrap_or_default();
        command.env("LC_ALL", "C").env("HOME", "/nonexistent").env("GIT_CONFIG_NOSYSTEM", "1");
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_TERMINAL_PROMPT", "0");
        command.env("GIT_PROTOCOL_FROM_USER", "0").env("GIT_ALLOW_PROTOCOL", protocol);
        command.env("GIT_NO_REPLACE_OBJECTS", "1").env("GIT_ATTR_NOSYSTEM", "1");
        // Without this variable, git would read the configuration of a repository that contains the current
        // directory. `--git-dir` overrides the variable.
        command.env("GIT_DIR", "/nonexistent");
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        for setting in ignored_checks() {
            command.args(["-c", &setting]);
        }
        command.args(["-c", &format!("protocol.{protocol}.allow=always")]);
        match self.url.scheme() {
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

    fn prepare_ssh(&self, command: &mut Command) -> Result<(), SourceError> {
        let Some(ssh) = &self.settings.remotes.ssh else { return Ok(()) };
        let alias = match self.url.port() {
            22 => self.url.host().to_owned(),
            port => format!("[{}]:{port}", self.url.host()),
        };
        let line = ssh_command(ssh, &alias, self.addresses.first()).ok_or_else(|| {
            self.invalid(
                "the host, or the path of one of the files for ssh, contains quotes or is not UTF-8".to_owned(),
            )
        })?;
        command.env("GIT_SSH_COMMAND", line).env("GIT_SSH_VARIANT", "ssh");
        if let Some(agent) = std::env::var_os("SSH_AUTH_SOCK").filter(|_| ssh.key.is_none()) {
            command.env("SSH_AUTH_SOCK", agent);
        }
        Ok(())
    }

    /// Passes the token in the environment, only for this origin and only with https.
    fn authenticate(&self, command: &mut Command) -> Result<(), SourceError> {
        let variables = &self.settings.remotes.token_variables;
        let Some(variable) = credentials::variable(variables, self.url, self.tenant) else { return Ok(()) };
        if self.url.scheme() != Some(Scheme::Https) {
            return Ok(());
        }
        let token = std::env::var(variable).unwrap_or_default();
        if token.trim().is_empty() || token.chars().any(char::is_control) {
            return Err(self.invalid(format!("the environment variable `{variable}` does not contain a token")));
        }
        let credentials = STANDARD.encode(format!("x-access-token:{}", token.trim()));
        command.env("GIT_CONFIG_COUNT", "1");
        command.env("GIT_CONFIG_KEY_0", format!("http.{}.extraHeader", self.url.origin()));
        command.env("GIT_CONFIG_VALUE_0", format!("Authorization: Basic {credentials}"));
        Ok(())
    }

    fn invalid(&self, message: String) -> SourceError {
        failure(ErrorKind::Invalid, "fetch", self.url.as_str(), message)
    }
}

/// The limits of each git process.
pub(super) fn resources(limits: &Limits) -> Resources {
    Resources { max_memory_bytes: limits.max_git_memory_bytes, max_cpu_seconds: limits.max_git_cpu_seconds }
}

/// Returns an error if the installed git is too old or missing.
pub(super) fn check_git_version(limits: &Limits) -> Result<(), SourceError> {
    static VERSION: OnceLock<Option<(u32, u32)>> = OnceLock::new();
    let version = *VERSION.get_or_init(|| {
        let timeout = limits.fetch_timeout.max(Duration::from_secs(1));
        let meter = SyncMeter::default();
        let bounds = Bounds { timeout, meter: &meter, resources: resources(&Limits::default()), directory: None };
        let mut command = Command::new("git");
        // Git must not read the configuration of the user, because even this command fails if that
        // configuration is damaged.
        command.arg("--version").env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        command.env("GIT_DIR", "/nonexistent");
        let output = child::run(&mut command, &bounds).ok()?;
        parse_version(&String::from_utf8_lossy(&output.stdout))
    });
    let (major, minor) = OLDEST_GIT;
    let message = match version {
        Some(version) if version >= OLDEST_GIT => return Ok(()),
        Some((found_major, found_minor)) => {
            format!("git {major}.{minor} or newer is needed, but git {found_major}.{found_minor} is installed")
        }
        None => format!("the program `git` ({major}.{minor} or newer) is needed to fetch, but it cannot be run"),
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
    fn versions_are_parsed() {
        let check = |text: &str, expect: Option<(u32, u32)>| assert_eq!(parse_version(text), expect, "{text}");
        check("git version 2.39.5\n", Some((2, 39)));
        check("git version 2.39.3 (Apple Git-146)", Some((2, 39)));
        check("git version 3.0.rc1", Some((3, 0)));
        check("something else", None);
    }

    #[test]
    fn checked_addresses_are_pinned() {
        let settings = GitSettings::new("unused");
        let url = RemoteUrl::parse("https://git.example.com/a/b", &settings.remotes).expect("a URL");
        let addresses = ["1.1.1.1", "2606:4700::1111"].map(|text| text.parse().expect("address"));
        let access = Access { url: &url, tenant: None, settings: &settings, addresses: &addresses };
        let command = access.git().expect("command");
        let arguments: Vec<String> = command.get_args().map(|text| text.to_string_lossy().into_owned()).collect();
        assert!(arguments.contains(&"http.curloptResolve=git.example.com:443:1.1.1.1,[2606:4700::1111]".to_owned()));
        assert!(arguments.contains(&"protocol.https.allow=always".to_owned()));
    }

    #[test]
    fn git_ignores_config_of_the_current_directory() {
        let directory = tempfile::tempdir().expect("directory");
        let git = |arguments: &[&str]| {
            let status = Command::new("git").args(arguments).current_dir(directory.path()).status();
            assert!(status.expect("git runs").success(), "{arguments:?}");
        };
        git(&["init", "--quiet"]);
        git(&["config", "user.name", "planted"]);
        let settings = GitSettings::new("unused");
        let url = RemoteUrl::parse("https://git.example.com/a/b", &settings.remotes).expect("a URL");
        let access = Access { url: &url, tenant: None, settings: &settings, addresses: &[] };
        let mut command = access.git().expect("command");
        let output = command.args(["config", "user.name"]).current_dir(directory.path()).output().expect("git runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    }
}
