//! Fetches a remote into a bare clone that Cairn manages.
//!
//! The remote is treated as hostile (see `cage`). A fetch transfers one commit of one branch, without tags.
//! Addresses are resolved and checked here, and the child may only use these addresses. Wall time and bytes
//! are limited. If a limit is exceeded, the process group is killed. A clone whose content fails git's checks
//! is discarded.

use std::net::{IpAddr, ToSocketAddrs};
use std::process::Command;
use std::time::{Duration, Instant};

use cairn_addresses::is_public;
use cairn_domain::BlobId;
use cairn_ports::{ErrorKind, ReadOptions, SourceError};
use git2::Oid;

use super::cage::{Access, check_git_version, resources};
use super::child::{self, Bounds, ChildError, ChildOutput, Growth};
use super::clone::{CloneDirectory, local_reference};
use super::complaint::explain;
use super::url::{InvalidUrl, RemoteUrl, Scheme};
use crate::failure::{failure, printable};
use crate::objects::repository::{blob_of, commit_id};
use crate::settings::GitSettings;

/// Resolves a host to addresses. The resolver is a parameter, so that tests can return several addresses.
pub(crate) type Resolve = dyn Fn(&str, u16) -> std::io::Result<Vec<IpAddr>> + Send + Sync;

pub(crate) fn resolve_by_system(host: &str, port: u16) -> std::io::Result<Vec<IpAddr>> {
    Ok((host, port).to_socket_addrs()?.map(|address| address.ip()).collect())
}

/// A remote that the policy allows, with the addresses that may be contacted.
pub(crate) struct Remote<'s> {
    url: RemoteUrl,
    options: &'s ReadOptions,
    settings: &'s GitSettings,
    /// Empty if no name was resolved: for files, for literal addresses, and if private addresses are allowed.
    addresses: Vec<IpAddr>,
    since: Instant,
    /// The maximum time for all requests to the remote together, measured from `since`.
    patience: Duration,
}

/// The commit of the requested branch, tag or commit id at the remote.
pub(crate) struct RemoteHead {
    pub(crate) commit: BlobId,
    /// The name of the branch or tag. `None` for a commit id, and if the remote's `HEAD` does not refer to a
    /// branch.
    pub(crate) branch: Option<String>,
    /// The reference or commit id to fetch.
    from: String,
}

impl<'s> Remote<'s> {
    /// All requests to the remote together may take at most `patience`.
    pub(crate) fn new(
        text: &str,
        options: &'s ReadOptions,
        settings: &'s GitSettings,
        resolve: &Resolve,
        patience: Duration,
    ) -> Result<Self, SourceError> {
        let since = Instant::now();
        // The error does not contain the text: one reason to refuse a URL is that it contains a credential.
        let invalid = |error: InvalidUrl| SourceError::new(ErrorKind::Invalid, "open", "URL").because(error);
        let url = RemoteUrl::parse(text, &settings.remotes).map_err(invalid)?;
        let may_ssh = settings.remotes.ssh.as_ref().is_none_or(|ssh| ssh.is_for(options.tenant.as_ref()));
        if url.scheme() == Some(Scheme::Ssh) && !may_ssh {
            let message = "`sources.ssh_tenants` does not contain the tenant";
            return Err(failure(ErrorKind::Forbidden, "open", url.as_str(), message));
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
        check_git_version(&settings.limits)?;
        Ok(Self { url, options, settings, addresses, since, patience })
    }

    /// The time that the next request may take.
    pub(crate) fn time_left(&self) -> Duration {
        self.patience.saturating_sub(self.since.elapsed())
    }

    /// Reads the commit of the requested revision from the remote, without a fetch. The revision is a branch,
    /// a tag or a commit id, tried in this order.
    pub(crate) fn head(&self, revision: Option<&str>) -> Result<RemoteHead, SourceError> {
        let names = match revision {
            None => vec!["HEAD".to_owned()],
            // `^{}` marks the commit to which an annotated tag points.
            Some(name) => ["refs/heads/NAME", "refs/tags/NAME^{}", "refs/tags/NAME"]
                .map(|form| form.replace("NAME", name))
                .to_vec(),
        };
        let mut command = self.git()?;
        command.args(["ls-remote", "--symref", "--", self.url.as_str()]).args(&names);
        let output = self.run(&mut command, None)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once('\t')).collect();
        for name in &names {
            let values = || lines.iter().filter(|(_, found)| found == name).map(|(value, _)| *value);
            let Some(id) = values().find(|value| !value.starts_with("ref: ")) else { continue };
            let id = Oid::from_str(id)
                .map_err(|_| self.fault(ErrorKind::Invalid, "the remote's object ids are not SHA-1"))?;
            let symbolic = values().find_map(|value| value.strip_prefix("ref: refs/heads/")).map(printable);
            let branch = revision.map(str::to_owned).or(symbolic);
            return Ok(RemoteHead { commit: blob_of(id), branch, from: name.trim_end_matches("^{}").to_owned() });
        }
        let message = match revision.map(|revision| (revision, commit_id(revision))) {
            None => "the remote has no commit yet".to_owned(),
            Some((_, Some(id))) => return Ok(RemoteHead { commit: blob_of(id), branch: None, from: id.to_string() }),
            Some((revision, None)) => format!("the remote has no branch, tag or commit `{}`", printable(revision)),
        };
        Err(self.fault(ErrorKind::NotFound, message))
    }

    /// Fetches `head`, which is the head of the requested revision, into the clone. The clone is created if
    /// it does not exist. Returns the fetched commit.
    pub(crate) fn fetch(
        &self,
        clone: &CloneDirectory<'_>,
        (branch, head): (Option<&str>, &RemoteHead),
    ) -> Result<BlobId, SourceError> {
        let _lock = clone.lock_for_writing()?;
        // A large clone is created again, because old snapshots accumulate without garbage collection.
        let is_large = clone.size_bytes() > self.settings.limits.max_fetch_bytes / 2;
        if is_large || !clone.path().join("HEAD").exists() {
            clone.create()?;
        }
        let (from, to) = (&head.from, local_reference(branch));
        let mut command = self.git()?;
        command.arg("--git-dir").arg(clone.path()).args(["fetch", "--quiet", "--depth", "1", "--no-tags", "--force"]);
        command.args(["--no-recurse-submodules", "--no-auto-maintenance", "--no-write-fetch-head", "--"]);
        command.args([self.url.as_str(), &format!("+{from}:{to}")]);
        let before = clone.size_bytes();
        let report = |size_bytes: u64| self.options.meter.fetched_so_far(size_bytes.saturating_sub(before));
        match self.run(&mut command, Some((clone, &report))) {
            Ok(_) => {
                report(clone.size_bytes());
                clone
                    .commit(branch)
                    .ok_or_else(|| self.fault(ErrorKind::Corrupt, "the clone has no commit after the fetch"))
            }
            Err(error) => {
                let is_spoiled = matches!(error.kind, ErrorKind::Corrupt | ErrorKind::TooLarge);
                if is_spoiled || clone.commit(branch).is_none() {
                    clone.discard()?;
                }
                Err(error)
            }
        }
    }

    fn git(&self) -> Result<Command, SourceError> {
        let Self { url, options, settings, addresses, .. } = self;
        Access { url, tenant: options.tenant.as_ref(), settings, addresses }.git()
    }

    /// Runs a git command. If the command fetches into a clone, the size of the clone is reported at
    /// intervals.
    fn run(
        &self,
        command: &mut Command,
        clone: Option<(&CloneDirectory<'_>, &dyn Fn(u64))>,
    ) -> Result<ChildOutput, SourceError> {
        let limits = &self.settings.limits;
        let max_bytes = limits.max_fetch_bytes;
        let directory = clone.map(|(clone, report)| Growth { path: clone.path(), max_bytes, report });
        let (timeout, meter) = (self.time_left(), &*self.options.meter);
        let bounds = Bounds { timeout, meter, resources: resources(limits), directory };
        let output = child::run(command, &bounds).map_err(|error| match error {
            ChildError::Start(error) => self.fault(ErrorKind::Invalid, format!("git cannot be started: {error}")),
            ChildError::Timeout => {
                let message = format!("git did not end within {} s", self.patience.as_secs());
                self.fault(ErrorKind::Timeout, message)
            }
            ChildError::Stopped => self.fault(ErrorKind::Cancelled, "the sync was stopped"),
            ChildError::TooLarge { size_bytes } => self.too_much_data(size_bytes),
        })?;
        if output.status.success() {
            return Ok(output);
        }
        if output.is_out_of_memory() {
            return Err(self.too_large("bytes of memory", limits.max_git_memory_bytes, "max_git_memory_bytes"));
        }
        if output.is_out_of_cpu_time() {
            return Err(self.too_large("seconds of processor time", limits.max_git_cpu_seconds, "max_git_cpu_seconds"));
        }
        if let Some(size_bytes) = clone.map(|(clone, _)| clone.size_bytes()).filter(|size| *size >= max_bytes) {
            return Err(self.too_much_data(size_bytes));
        }
        let (kind, message) = explain(&output.stderr, self.url.as_str());
        Err(self.fault(kind, message))
    }

    /// The error for a clone that exceeds its maximum size. `size_bytes` is the size of the clone when git
    /// was stopped.
    fn too_much_data(&self, size_bytes: u64) -> SourceError {
        let limit = self.settings.limits.max_fetch_bytes;
        let message = format!(
            "git has written {size_bytes} bytes to disk for this repository; the limit is {limit} \
             (`sources.max_fetch_bytes`)"
        );
        self.fault(ErrorKind::TooLarge, message)
    }

    /// The error for a fetch that reached the limit on memory or on processor time. The system ends git at
    /// such a limit, so the amount that git needs is not known.
    fn too_large(&self, unit: &str, limit: u64, setting: &str) -> SourceError {
        let message = format!(
            "git needs more than {limit} {unit} for this repository; the limit is {limit} (`sources.{setting}`)"
        );
        self.fault(ErrorKind::TooLarge, message)
    }

    fn fault(&self, kind: ErrorKind, message: impl Into<String>) -> SourceError {
        failure(kind, "fetch", self.url.as_str(), message)
    }
}

#[cfg(test)]
mod tests {
    use cairn_domain::Tenant;

    use super::*;
    use crate::settings::SshSettings;

    #[test]
    fn hosts_with_a_private_address_are_refused() {
        let settings = GitSettings::new("unused");
        let check = |answers: &[&str], refused: bool| {
            let answers: Vec<IpAddr> = answers.iter().map(|text| text.parse().expect("address")).collect();
            let resolve = move |_: &str, _: u16| Ok(answers.clone());
            let options = ReadOptions::default();
            let remote = Remote::new("https://git.example.com/a/b", &options, &settings, &resolve, Duration::ZERO);
            assert_eq!(remote.is_err(), refused);
        };
        check(&["1.1.1.1"], false);
        check(&["1.1.1.1", "127.0.0.1"], true);
        check(&["2606:4700::1111", "fd00::1"], true);
        check(&["169.254.169.254"], true);
        check(&[], true);
    }

    #[test]
    fn ssh_is_for_the_listed_tenants() {
        let resolve = |_: &str, _: u16| Ok(vec!["1.1.1.1".parse().expect("v4")]);
        let check = |tenants: &[&str], tenant: Option<&str>, url: &str, expect: Option<ErrorKind>| {
            let mut settings = GitSettings::new("unused");
            let tenants = tenants.iter().map(ToString::to_string).collect();
            settings.remotes.ssh = Some(SshSettings { known_hosts: "known_hosts".into(), key: None, tenants });
            let options = ReadOptions { tenant: tenant.map(Tenant::new), ..ReadOptions::default() };
            let remote = Remote::new(url, &options, &settings, &resolve, Duration::ZERO);
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
}
