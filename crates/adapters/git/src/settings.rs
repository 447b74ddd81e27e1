//! What the adapter may do, as the service that wires it decides.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cairn_config::Sources;
use cairn_domain::{EntryKind, RepoPath, Tenant};

/// A `.cairn.yaml` or `.cairnignore` of a tree on disk, for the reading plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettingsFile {
    pub path: RepoPath,
    pub bytes: Vec<u8>,
}

/// Which files of a tree on disk may be opened at all, decided after its settings are known and before any other
/// content is read. The ids of contents must be computed on disk, and that reads them: without a plan a file with a
/// sensitive name would be read to learn its id, and so would all of `node_modules`.
///
/// Takes the settings files of the tree; gives a test of path, kind and size. What fails the test is listed with a zero
/// id and cannot be read.
pub type ReadingPlan =
    dyn Fn(&[SettingsFile]) -> Box<dyn Fn(&RepoPath, EntryKind, u64) -> bool + Send + Sync> + Send + Sync;

/// Settings of the adapter.
#[derive(Clone)]
pub struct GitSettings {
    /// Directory for the bare clones of remotes; made on first use.
    pub clones: PathBuf,
    pub remotes: RemotePolicy,
    pub limits: Limits,
    /// `None`: every file up to `Limits::max_hashed_bytes` may be opened.
    pub reading_plan: Option<Arc<ReadingPlan>>,
}

/// Which remotes may be reached, and how. The default is https to public addresses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RemotePolicy {
    pub allow_http: bool,
    pub allow_file: bool,
    /// Lets URLs lead to loopback, private and link-local addresses.
    pub allow_private_addresses: bool,
    /// Without it there is no ssh.
    pub ssh: Option<SshSettings>,
    /// By place (`crate::credentials`): the name of the environment variable that holds the token. The value is read when it is
    /// used.
    pub token_variables: BTreeMap<String, String>,
}

/// How ssh authenticates both sides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SshSettings {
    /// Host keys that are trusted, and no others.
    pub known_hosts: PathBuf,
    /// Private key; none leaves the choice to the agent.
    pub key: Option<PathBuf>,
    /// Whose repositories are fetched by ssh; empty is everybody's.
    pub tenants: Vec<String>,
}

impl SshSettings {
    pub(crate) fn is_for(&self, tenant: Option<&Tenant>) -> bool {
        self.tenants.is_empty() || tenant.is_some_and(|tenant| self.tenants.iter().any(|own| own == tenant.as_str()))
    }
}

/// Bounds that no source can pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Wall time of all that one reading asks of a remote: waiting for another that fetches the same, its head, the fetch.
    pub fetch_timeout: Duration,
    /// Bytes of a clone on disk.
    pub max_fetch_bytes: u64,
    /// Paths in one tree.
    pub max_entries: usize,
    /// Directories above a path.
    pub max_depth: usize,
    pub max_path_bytes: usize,
    /// Commits of a history. A longer one is not walked: no path then has a time of change.
    pub max_commits: u64,
    /// A file on disk above this is listed with a zero id: nothing reads files of that size.
    pub max_hashed_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            fetch_timeout: Duration::from_secs(20 * 60),
            max_fetch_bytes: 2 << 30,
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
    fn what_the_operator_says_is_what_the_adapter_may() {
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
    }

    #[test]
    fn an_operator_who_says_nothing_gets_the_defaults() {
        assert_eq!(RemotePolicy::from(&Sources::default()), RemotePolicy::default());
        assert_eq!(Limits::from(&Sources::default()), Limits::default());
    }
}
