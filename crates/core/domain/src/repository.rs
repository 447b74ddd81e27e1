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
    /// The owner of repositories. Local mode always uses `local`.
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

/// The state of a repository that was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Revision {
    /// A commit of git.
    Commit(BlobId),
    /// A working tree on disk. `commit` is its HEAD (none before the first commit). `dirty` means that the
    /// tree differs from HEAD. `tree` is a digest of paths, modes and contents, so two dirty states have
    /// different ids.
    WorkTree { commit: Option<BlobId>, dirty: bool, tree: Digest },
    /// A plain directory, by the digest of its paths and contents.
    Directory { tree: Digest },
}

impl Revision {
    /// The form for users and answers: the commit id, with `-dirty` if needed, or `content-<digest>` for
    /// plain directories.
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
    /// The branch that was read, if any.
    pub branch: Option<String>,
}

/// The source of a repository. Stored with the repository, so that later syncs can read it again.
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

/// The organisation listing that contained a repository, and the hosting service's data about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hosted {
    /// Issuer of the id: the host of the service's API, with the port if it is not the default.
    pub host: String,
    /// The service's own id. Renames and transfers do not change it, so it identifies the repository.
    pub id: String,
    /// The organisation, group or user whose listing contains the repository, as named in the settings.
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
