//! Hosting services: the repositories of an organisation.

use async_trait::async_trait;

use crate::error::port_error;

port_error!(
    /// An error of a hosting service. Contains no credentials.
    HostingError,
    "hosting service"
);

/// The owner of the listed repositories: an organisation, a group with all its subgroups, or a user.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Organisation {
    /// Host of the service's API, and its port if that is not the default. Ids of repositories are unique for
    /// one host.
    pub host: String,
    /// The name from the settings; for nested groups the whole path.
    pub name: String,
}

/// A repository as the list describes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostedRepository {
    /// The service's id. It does not change when the repository is renamed or transferred.
    pub id: String,
    /// Name within the organisation. In a group it is a path, e.g. `tools/ci`.
    pub name: String,
    /// An address on the host from which the repositories of this service are cloned. The source decides
    /// whether it may be reached.
    pub clone_url: String,
    pub default_branch: Option<String>,
    /// Untrusted text of the service, bounded and on one line.
    pub description: Option<String>,
    pub topics: Vec<String>,
    pub is_archived: bool,
    pub is_fork: bool,
    /// The service reports that the repository has no commit yet.
    pub is_empty: bool,
    /// It cannot be cloned: it is disabled, or is being deleted.
    pub is_disabled: bool,
}

/// Part of a list that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefusedEntry {
    /// The id of the repository, if it can be read.
    pub id: Option<String>,
    /// The fault. Contains untrusted text of the service, bounded and on one line.
    pub reason: String,
}

/// The whole list of an organisation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Listing {
    /// Each id once, in the order of the list.
    pub repositories: Vec<HostedRepository>,
    pub refused: Vec<RefusedEntry>,
}

/// Lists one organisation.
#[async_trait]
pub trait Hosting: Send + Sync {
    fn organisation(&self) -> &Organisation;

    /// Returns all pages of the list, or an error: never a part as if it were the whole. If repositories are
    /// added or removed while the list is read, a repository that existed all the time may be missing. Before
    /// a caller treats a repository as vanished, it calls `whereabouts`.
    async fn list(&self) -> Result<Listing, HostingError>;

    /// The present name of a repository with its owner (`acme/shop`). `None` if the service has no repository
    /// with this id that the token may see.
    async fn whereabouts(&self, id: &str) -> Result<Option<String>, HostingError>;
}
