//! The types of the input and the result of a discovery.

use std::fmt;

use cairn_domain::{RepositoryName, Source};

/// Returns the source and the name for an address, or the reason why the address is refused. The address must
/// satisfy the same rules as an address that a person gives to `cairn index`.
pub type Locate = dyn Fn(&str) -> Result<(Source, RepositoryName), String> + Send + Sync;

/// The result of a discovery for one organisation: the changes that it found, and the changes that it made in
/// the catalogue.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Changes {
    pub num_listed: u64,
    pub added: Vec<RepositoryName>,
    /// The old name and the new name of each renamed repository.
    pub renamed: Vec<(RepositoryName, RepositoryName)>,
    /// Number of repositories whose address, description or topics have changed.
    pub num_updated: u64,
    /// Number of listed repositories that the rules exclude, or that are empty or disabled.
    pub num_left_out: u64,
    /// Number of listed repositories that a person registered. Discovery does not change these repositories.
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
    /// The token cannot see a repository with this id.
    Gone,
    /// The repository belongs to another owner. The value is its current full name.
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
