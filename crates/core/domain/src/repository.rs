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
    /// Name of a repository. The name is set explicitly, or derived from the remote (`host/owner/name`) or
    /// from the folder.
    RepositoryName
);

impl Tenant {
    pub fn local() -> Self {
        Self::new("local")
    }
}

/// The state of the repository that a sync read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Revision {
    /// A git commit.
    Commit(BlobId),
    /// A working tree on disk. `commit` is the HEAD of the tree (`None` before the first commit). `dirty`
    /// means that the tree differs from HEAD. `tree` is a digest of paths, modes and contents, so different
    /// dirty states have different digests.
    WorkTree { commit: Option<BlobId>, dirty: bool, tree: Digest },
    /// A plain directory. `tree` is the digest of the directory's paths and contents.
    Directory { tree: Digest },
}

impl Revision {
    /// The text for users and answers. With a commit, it is the commit id, with `-dirty` added for a dirty
    /// tree. Without a commit, it is `uncommitted-<digest>` for a working tree and `content-<digest>` for a
    /// plain directory.
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

/// The source of a repository. The source is stored with the repository, so that later syncs can read it
/// again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// A git working tree with its absolute path.
    WorkTree { path: String },
    /// A bare repository on disk with its absolute path.
    Bare { path: String },
    /// A plain directory with its absolute path.
    Directory { path: String },
    /// A remote repository with its URL, without credentials.
    Url { url: String },
}

/// A hosting service's data about a repository, and the organisation whose listing contained it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hosted {
    /// The host of the service's API, with the port if it is not the default one. `id` is unique within this
    /// host.
    pub host: String,
    /// The service's own id. Renames and transfers do not change this id, so it identifies the repository.
    pub id: String,
    /// The organisation, group or user whose listing contains the repository, as named in the settings.
    pub organisation: String,
    pub default_branch: Option<String>,
    /// The description after redaction, on one line.
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
