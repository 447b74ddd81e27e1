//! Hosting services: which repositories an organisation has.

use async_trait::async_trait;

use crate::error::port_error;

port_error!(
    /// An error of a hosting service. Says nothing of credentials.
    HostingError,
    "hosting service"
);

/// Whose repositories are listed: an organisation, a group with all below it, or a user.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Organisation {
    /// Host of the service's API, and its port if that is not the usual one. Ids of repositories are unique within it.
    pub host: String,
    /// As the settings name it; for groups within groups the whole path.
    pub name: String,
}

/// A repository as the list shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostedRepository {
    /// The service's own id: stays through renames and transfers.
    pub id: String,
    /// Name within the organisation; below a group its path, e.g. `tools/ci`.
    pub name: String,
    /// On the host that repositories of this service are cloned from. Whether it may be reached is for the source to say.
    pub clone_url: String,
    pub default_branch: Option<String>,
    /// A text of somebody else's, on one line and bounded.
    pub description: Option<String>,
    pub topics: Vec<String>,
    pub is_archived: bool,
    pub is_fork: bool,
    /// There is no commit yet, as far as the service says.
    pub is_empty: bool,
    /// It cannot be cloned: switched off, or about to be deleted.
    pub is_disabled: bool,
}

/// Part of a list that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefusedEntry {
    /// Of the repository, if that much can be read.
    pub id: Option<String>,
    /// Says what is wrong with it. Holds texts of somebody else's, on one line and bounded.
    pub reason: String,
}

/// All that an organisation has.
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

    /// All pages of the list, or an error: never a part of it as if it were the whole. While repositories come and go, one that was
    /// there all the time may still be missing: who draws a conclusion from that asks `whereabouts` first.
    async fn list(&self) -> Result<Listing, HostingError>;

    /// The name that a repository has now, with whoever it belongs to (`acme/shop`); `None` if the service has none of that id, or
    /// none that may be seen.
    async fn whereabouts(&self, id: &str) -> Result<Option<String>, HostingError>;
}
