//! The command-line options that select one of several values.

use clap::ValueEnum;

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Half {
    Tuning,
    Kept,
}

/// Nonsense questions about the tuning repositories.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum NonsenseSet {
    /// The weights of the relevance score were fitted to these questions.
    Fitting,
    /// These questions have the same authors as the questions for fitting, but were not used for fitting.
    Aside,
    /// These questions were written after the weights were fixed.
    Late,
    /// These questions were written after the last changes of the rule, by an author who saw no other set.
    Fresh,
}

impl NonsenseSet {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            NonsenseSet::Fitting => "fitting",
            NonsenseSet::Aside => "aside",
            NonsenseSet::Late => "late",
            NonsenseSet::Fresh => "fresh",
        }
    }
}

impl Half {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Half::Tuning => "tuning",
            Half::Kept => "kept",
        }
    }
}

/// The way in which a name is requested.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Way {
    /// Call only the resolver, without a search or a read.
    Resolver,
    /// Request the code of the name. The found names are the name of the code in the answer, and then the
    /// suggested names.
    Read,
    /// Make an ordinary search. The found names are the names of the results.
    Search,
    /// Make a search for symbols. The found names are the names of the results.
    Symbol,
}
