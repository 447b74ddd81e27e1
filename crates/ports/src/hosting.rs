//! Hosting services: the repositories of an organisation.

use async_trait::async_trait;

use crate::error::port_error;

port_error!(
    /// An error of a hosting service. Contains no credentials.
    HostingError,
    "hosting service"
);

/// An owner of repositories on a hosting service: an organisation, a group with all its subgroups, or a user.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Organisation {
    /// Host of the service's API, with the port if it is not the default port. Ids of repositories are unique
    /// within one host.
    pub host: String,
    /// The name of the organisation in the settings. For a nested group, the name is the whole path.
    pub name: String,
}

/// The data of one repository in the list of a hosting service.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostedRepository {
    /// The id of the repository in the service. The id does not change when the repository is renamed or
    /// transferred.
    pub id: String,
    /// Name within the organisation. In a group, the name is a path, e.g. `tools/ci`.
    pub name: String,
    /// The address from which the repository is cloned. The host of the address is always the host from which
    /// repositories of this service are cloned. The adapter that reads sources decides whether a connection
    /// to this address is allowed.
    pub clone_url: String,
    pub default_branch: Option<String>,
    /// Untrusted text from the service, limited in length and on one line.
    pub description: Option<String>,
    pub topics: Vec<String>,
    pub is_archived: bool,
    pub is_fork: bool,
    /// The service reports that the repository has no commit yet.
    pub is_empty: bool,
    /// The repository cannot be cloned, because it is disabled or is being deleted.
    pub is_disabled: bool,
}

/// An unusable entry of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefusedEntry {
    /// The id of the repository, if it can be read.
    pub id: Option<String>,
    /// The reason why the entry cannot be used. The reason contains untrusted text from the service, limited
    /// in length and on one line.
    pub reason: String,
}

/// The whole list of an organisation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Listing {
    /// The repositories in the order of the list. Each id occurs once.
    pub repositories: Vec<HostedRepository>,
    pub refused: Vec<RefusedEntry>,
}

/// Lists one organisation.
#[async_trait]
pub trait Hosting: Send + Sync {
    fn organisation(&self) -> &Organisation;

    /// Returns all pages of the list, or an error if a page cannot be read. If repositories are added or
    /// removed during the call, a repository that existed during the whole call may be missing from the list.
    /// Therefore the caller must call `whereabouts` before it treats a repository as removed.
    async fn list(&self) -> Result<Listing, HostingError>;

    /// Returns the current name of a repository, including the owner (`acme/shop`). `None` if the service has
    /// no repository with this id that the token may see.
    async fn whereabouts(&self, id: &str) -> Result<Option<String>, HostingError>;
}
