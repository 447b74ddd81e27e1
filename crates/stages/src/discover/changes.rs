//! The input and the result of a discovery that its parts share.

use std::fmt;

use cairn_domain::{RepositoryName, Source};

/// Source and name of an address, or the reason why it is refused. The rules are those of a person's `index`.
pub type Locate = dyn Fn(&str) -> Result<(Source, RepositoryName), String> + Send + Sync;

/// The changes that were found and made.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Changes {
    pub num_listed: u64,
    pub added: Vec<RepositoryName>,
    /// Old and new name.
    pub renamed: Vec<(RepositoryName, RepositoryName)>,
    /// Repositories with another address, description or topics than before.
    pub num_updated: u64,
    /// Listed, but excluded by the rules, empty or disabled.
    pub num_left_out: u64,
    /// Registered by a person: they are synced like the others, but not changed.
    pub num_by_hand: u64,
    /// Listed but not usable, with the reason.
    pub refused: Vec<String>,
    pub vanished: Vec<Vanished>,
}

/// A repository that an organisation's list registered and that is not on it now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vanished {
    pub name: RepositoryName,
    pub absence: Absence,
    pub is_deleted: bool,
}

/// The present place of the repository, if it is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Absence {
    /// The service has no repository with this id that the token may see.
    Gone,
    /// Another owner has it.
    Elsewhere(String),
    /// It exists, but the settings exclude it; the reason.
    Unwanted(&'static str),
    /// The service could not be asked, or too many repositories are missing.
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
