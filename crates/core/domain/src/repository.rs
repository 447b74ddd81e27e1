//! Repositories and their snapshots.

use std::fmt;

use crate::{BlobId, Digest};

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(String);

        impl $name {
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

text_id!(
    /// Who owns repositories. Locally always `local`.
    Tenant
);
text_id!(
    /// Name of a repository: explicit, or derived from the remote (`host/owner/name`) or the folder.
    RepositoryName
);

impl Tenant {
    pub fn local() -> Self {
        Self::new("local")
    }
}

/// Which state of a repository was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Revision {
    /// A commit, as it is in git.
    Commit(BlobId),
    /// A working tree as it was on disk. `commit` is its HEAD (none before the first commit); `dirty` says that the
    /// tree differs from it; `tree` is a digest of paths, modes and contents, so that two dirty states can be told
    /// apart.
    WorkTree { commit: Option<BlobId>, dirty: bool, tree: Digest },
    /// A plain directory, by digest of paths and contents.
    Directory { tree: Digest },
}

impl Revision {
    /// For people and for answers: the commit id, with `-dirty`, or `content-<digest>` for plain directories.
    pub fn label(&self) -> String {
        match self {
            Revision::Commit(commit) => commit.to_string(),
            Revision::WorkTree { commit: Some(commit), dirty: false, .. } => commit.to_string(),
            Revision::WorkTree { commit: Some(commit), dirty: true, .. } => format!("{commit}-dirty"),
            Revision::WorkTree { commit: None, tree, .. } => format!("uncommitted-{}", &tree.to_string()[..16]),
            Revision::Directory { tree } => format!("content-{}", &tree.to_string()[..16]),
        }
    }
}

/// A repository at a revision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    pub repository: crate::RepositoryId,
    pub revision: Revision,
    /// Branch that was read, where there is one.
    pub branch: Option<String>,
}

/// How a repository is reached. Stored with the repository so that it can be synced again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// Working tree of git, by absolute path.
    WorkTree { path: String },
    /// Bare repository on disk, by absolute path.
    Bare { path: String },
    /// Plain directory, by absolute path.
    Directory { path: String },
    /// Remote, by URL without credentials.
    Url { url: String },
}

/// How a repository was found by listing an organisation, and what its hosting service says of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hosted {
    /// Who gave the id: host and, if it is not the usual one, port of the service's API.
    pub host: String,
    /// The service's own id. Stays through renames and transfers, so it says which repository is meant.
    pub id: String,
    /// The organisation, group or user whose list it stands on, as the settings name it.
    pub organisation: String,
    pub default_branch: Option<String>,
    /// Redacted, on one line.
    pub description: Option<String>,
    pub topics: Vec<String>,
}

impl Source {
    pub fn location(&self) -> &str {
        match self {
            Source::WorkTree { path } | Source::Bare { path } | Source::Directory { path } => path,
            Source::Url { url } => url,
        }
    }
}
