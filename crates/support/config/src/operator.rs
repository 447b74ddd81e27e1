//! The settings of the operator of this machine.

use std::path::PathBuf;

use cairn_inventory::GeneratedPolicy;

use crate::Ceilings;

/// The operator's settings after validation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operator {
    /// The directory of the index. None means `.cairn` in the current directory.
    pub home: Option<PathBuf>,
    pub sources: Sources,
    /// The maximum file size, in bytes, for repositories that set no limit. 0 means the hard cap.
    pub max_file_size: Option<u64>,
    pub generated: GeneratedPolicy,
    /// Globs of sensitive names, in addition to the built-in globs.
    pub sensitive_add: Vec<String>,
    /// Globs of names that are not sensitive. Only the operator can set these globs.
    pub sensitive_allow: Vec<String>,
    /// Words that may replace a word of a question, in addition to the built-in table. Sorted by word.
    pub synonyms: Vec<(String, Vec<String>)>,
    /// The number of worker threads. 0 means one thread per core.
    pub num_workers: u64,
    pub ceilings: Ceilings,
    pub first_use: FirstUse,
}

/// The limits for indexing a working tree when the first question about it is asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FirstUse {
    /// If a working tree has more files than this number, a question does not index it. 0 means that no
    /// question indexes a working tree.
    pub max_files: u64,
    pub max_bytes: u64,
    /// Maximum time for which a question waits for the index.
    pub timeout_seconds: u64,
}

impl Default for FirstUse {
    fn default() -> Self {
        Self { max_files: 20_000, max_bytes: 256 << 20, timeout_seconds: 120 }
    }
}

/// The rules and limits for fetching.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sources {
    pub allow_http: bool,
    pub allow_file: bool,
    /// Permits URLs with loopback, private or link-local addresses.
    pub allow_private_addresses: bool,
    /// The file with the host keys that ssh trusts. Without this file, ssh is not used.
    pub ssh_known_hosts: Option<PathBuf>,
    pub ssh_key: Option<PathBuf>,
    /// The tenants whose repositories may be fetched by ssh. Empty means all tenants.
    pub ssh_tenants: Vec<String>,
    /// The name of the environment variable that contains the token, for each place. The token itself is
    /// never stored here. A place has the form `TENANT@HOST/PATH`; the tenant and the path are optional.
    /// Sorted by place.
    pub tokens: Vec<(String, String)>,
    pub fetch_timeout_seconds: u64,
    pub max_fetch_bytes: u64,
    /// The maximum memory of each git process that fetches.
    pub max_git_memory_bytes: u64,
    /// The maximum processor time of each git process that fetches.
    pub max_git_cpu_seconds: u64,
    /// The maximum number of paths in one tree.
    pub max_entries: u64,
}

impl Default for Operator {
    fn default() -> Self {
        Self {
            home: None,
            sources: Sources::default(),
            max_file_size: None,
            generated: GeneratedPolicy::Skip,
            sensitive_add: Vec::new(),
            sensitive_allow: Vec::new(),
            synonyms: Vec::new(),
            num_workers: 0,
            ceilings: Ceilings::default(),
            first_use: FirstUse::default(),
        }
    }
}

impl Default for Sources {
    fn default() -> Self {
        Self {
            allow_http: false,
            allow_file: false,
            allow_private_addresses: false,
            ssh_known_hosts: None,
            ssh_key: None,
            ssh_tenants: Vec::new(),
            tokens: Vec::new(),
            fetch_timeout_seconds: 20 * 60,
            max_fetch_bytes: 2 << 30,
            max_git_memory_bytes: 512 << 20,
            max_git_cpu_seconds: 600,
            max_entries: 1_000_000,
        }
    }
}
