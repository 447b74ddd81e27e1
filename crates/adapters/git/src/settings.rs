//! The settings and limits of the adapter. The service that creates the adapter sets them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cairn_config::Sources;
use cairn_domain::{EntryKind, RepoPath, Tenant};
use cairn_ports::SyncMeter;

/// A `.cairn.yaml` or `.cairnignore` of a tree on disk, from which the reading plan is built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettingsFile {
    pub path: RepoPath,
    pub bytes: Vec<u8>,
}

/// Decides which files of a tree on disk may be opened. The plan is called after the settings files of the
/// tree are read, and before any other content is read. The id of a file on disk must be computed from its
/// content. So without a plan, all of `node_modules` and all files with sensitive names would be read only to
/// get their ids.
///
/// The plan receives the settings files of the tree, and returns a function that decides by path, kind and
/// size. A file that this function refuses is listed with a zero id and cannot be read. Once the sync is
/// stopped, the function may return any result.
pub type ReadingPlan = dyn Fn(&[SettingsFile], &Arc<SyncMeter>) -> Box<MayOpen> + Send + Sync;
pub type MayOpen = dyn Fn(&RepoPath, EntryKind, u64) -> bool + Send + Sync;

/// The settings of the adapter.
#[derive(Clone)]
pub struct GitSettings {
    /// The directory for the bare clones of remotes. The directory is created on first use.
    pub clones: PathBuf,
    pub remotes: RemotePolicy,
    pub limits: Limits,
    /// `None`: every file up to `Limits::max_hashed_bytes` may be opened.
    pub reading_plan: Option<Arc<ReadingPlan>>,
}

/// The policy for remotes: which remotes may be reached, and how. The default allows only https to public
/// addresses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RemotePolicy {
    pub allow_http: bool,
    pub allow_file: bool,
    /// Allows URLs whose host has a loopback, private or link-local address.
    pub allow_private_addresses: bool,
    /// If `None`, ssh is not available.
    pub ssh: Option<SshSettings>,
    /// For each range (see `crate::remote::credentials`), the name of the environment variable that contains
    /// the token. The variable is read when the token is needed.
    pub token_variables: BTreeMap<String, String>,
}

/// The settings with which ssh authenticates the server and the client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SshSettings {
    /// The file of the trusted host keys. No other host key is trusted.
    pub known_hosts: PathBuf,
    /// The file of the private key. If `None`, the ssh agent chooses a key.
    pub key: Option<PathBuf>,
    /// Tenants whose repositories may be fetched by ssh. An empty list allows all tenants.
    pub tenants: Vec<String>,
}

impl SshSettings {
    pub(crate) fn is_for(&self, tenant: Option<&Tenant>) -> bool {
        self.tenants.is_empty() || tenant.is_some_and(|tenant| self.tenants.iter().any(|own| own == tenant.as_str()))
    }
}

/// Limits that no source can exceed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Maximum wall time for one read of a remote: the wait for another fetch of the same remote, the request
    /// for the head, and the fetch.
    pub fetch_timeout: Duration,
    /// Maximum size of a clone on disk.
    pub max_fetch_bytes: u64,
    /// Maximum private memory of each git process. Mapped files are not included.
    pub max_git_memory_bytes: u64,
    /// Maximum processor time of each git process.
    pub max_git_cpu_seconds: u64,
    /// Maximum number of paths in one tree.
    pub max_entries: usize,
    /// Maximum number of directories above a path.
    pub max_depth: usize,
    pub max_path_bytes: usize,
    /// Maximum number of commits of a history. A longer history is not walked, so the times at which its
    /// paths were last changed are unknown.
    pub max_commits: u64,
    /// A larger file on disk is listed with a zero id. No stage reads files of that size.
    pub max_hashed_bytes: u64,
}

/// The limit on the total length of the paths that a walk keeps in memory has a fixed part, and a part for
/// each path that a tree may have. A limit on the number of paths alone would allow gigabytes of paths.
const TOTAL_PATH_BYTES: u64 = 16 << 20;
const BYTES_PER_PATH: u64 = 160;

impl Limits {
    /// Maximum total length of the paths that a walk over one tree keeps in memory.
    pub(crate) fn max_total_path_bytes(&self) -> u64 {
        (self.max_entries as u64).saturating_mul(BYTES_PER_PATH).saturating_add(TOTAL_PATH_BYTES)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            fetch_timeout: Duration::from_secs(20 * 60),
            max_fetch_bytes: 2 << 30,
            max_git_memory_bytes: 512 << 20,
            max_git_cpu_seconds: 600,
            max_entries: 1_000_000,
            max_depth: 1_000,
            max_path_bytes: 4_096,
            max_commits: 1_000_000,
            max_hashed_bytes: 16 << 20,
        }
    }
}

impl From<&Sources> for RemotePolicy {
    fn from(sources: &Sources) -> Self {
        let ssh = sources.ssh_known_hosts.clone();
        Self {
            allow_http: sources.allow_http,
            allow_file: sources.allow_file,
            allow_private_addresses: sources.allow_private_addresses,
            ssh: ssh.map(|known_hosts| SshSettings {
                known_hosts,
                key: sources.ssh_key.clone(),
                tenants: sources.ssh_tenants.clone(),
            }),
            token_variables: sources.tokens.iter().cloned().collect(),
        }
    }
}

impl From<&Sources> for Limits {
    fn from(sources: &Sources) -> Self {
        Self {
            fetch_timeout: Duration::from_secs(sources.fetch_timeout_seconds),
            max_fetch_bytes: sources.max_fetch_bytes,
            max_git_memory_bytes: sources.max_git_memory_bytes,
            max_git_cpu_seconds: sources.max_git_cpu_seconds,
            max_entries: usize::try_from(sources.max_entries).unwrap_or(usize::MAX),
            ..Self::default()
        }
    }
}

impl GitSettings {
    pub fn new(clones: impl Into<PathBuf>) -> Self {
        Self { clones: clones.into(), remotes: RemotePolicy::default(), limits: Limits::default(), reading_plan: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operator_settings_become_policy_and_limits() {
        let sources = Sources {
            allow_http: true,
            allow_file: true,
            allow_private_addresses: true,
            ssh_known_hosts: Some("/keys/known_hosts".into()),
            ssh_key: Some("/keys/id".into()),
            ssh_tenants: vec!["acme".to_owned()],
            tokens: vec![("git.example".to_owned(), "GIT_TOKEN".to_owned())],
            fetch_timeout_seconds: 7,
            max_fetch_bytes: 8,
            max_git_memory_bytes: 10,
            max_git_cpu_seconds: 11,
            max_entries: 9,
        };
        let tenants = vec!["acme".to_owned()];
        let ssh = SshSettings { known_hosts: "/keys/known_hosts".into(), key: Some("/keys/id".into()), tenants };
        let expected = RemotePolicy {
            allow_http: true,
            allow_file: true,
            allow_private_addresses: true,
            ssh: Some(ssh),
            token_variables: BTreeMap::from([("git.example".to_owned(), "GIT_TOKEN".to_owned())]),
        };
        assert_eq!(RemotePolicy::from(&sources), expected);
        let limits = Limits::from(&sources);
        assert_eq!((limits.fetch_timeout.as_secs(), limits.max_fetch_bytes, limits.max_entries), (7, 8, 9));
        assert_eq!((limits.max_git_memory_bytes, limits.max_git_cpu_seconds), (10, 11));
    }

    #[test]
    fn default_settings_give_the_default_limits() {
        assert_eq!(RemotePolicy::from(&Sources::default()), RemotePolicy::default());
        assert_eq!(Limits::from(&Sources::default()), Limits::default());
    }
}
