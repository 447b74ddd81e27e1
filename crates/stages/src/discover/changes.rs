//! The types for the input and the result of a discovery.

use std::fmt;

use cairn_domain::{RepositoryName, Source};

/// Returns the source and the name for an address, or the reason why the address is refused. The rules are
/// the same as when a person runs `cairn index`.
pub type Locate = dyn Fn(&str) -> Result<(Source, RepositoryName), String> + Send + Sync;

/// The changes that a discovery found and made for one organisation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Changes {
    pub num_listed: u64,
    pub added: Vec<RepositoryName>,
    /// Old and new name.
    pub renamed: Vec<(RepositoryName, RepositoryName)>,
    /// Number of repositories whose address, description or topics have changed.
    pub num_updated: u64,
    /// Number of listed repositories that the rules exclude, or that are empty or disabled.
    pub num_left_out: u64,
    /// Number of listed repositories that a person registered. Discovery does not change them.
    pub num_by_hand: u64,
    /// The listed repositories that cannot be used, each with the reason.
    pub refused: Vec<String>,
    pub vanished: Vec<Vanished>,
}

/// A repository that was registered from an organisation's list and is no longer on this list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vanished {
    pub name: RepositoryName,
    pub absence: Absence,
    pub is_deleted: bool,
}

/// The reason why a repository is not on the list, if it is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Absence {
    /// The service has no repository with this id that the token may see.
    Gone,
    /// Another owner has the repository. The value is its present full name.
    Elsewhere(String),
    /// The repository exists, but the settings exclude it. The value is the reason.
    Unwanted(&'static str),
    /// The state is unknown, because the service did not answer or too many repositories are missing. The
    /// value is the reason.
    Unknown(String),
}

impl fmt::Display for Absence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Absence::Gone => formatter.write_str("the service does not have this id, or does not show it"),
            Absence::Elsewhere(path) => {
                write!(formatter, "it is now `{path}`, which belongs to no configured organisation")
            }
            Absence::Unwanted(reason) => write!(formatter, "it {reason}"),
            Absence::Unknown(reason) => write!(formatter, "its state is unknown: {reason}"),
        }
    }
}
