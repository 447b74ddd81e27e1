//! Faults of settings, as users see them.

use std::fmt;

/// One thing that is wrong, and where.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Fault {
    /// From 1; none for the environment and for faults of the file as a whole.
    pub line: Option<u32>,
    /// Dotted, e.g. `pattern_detection.min_cluster_size`; the variable's name for the environment; may be empty.
    pub key: String,
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(formatter, "line {line}: ")?;
        }
        if !self.key.is_empty() {
            write!(formatter, "`{}`: ", self.key)?;
        }
        formatter.write_str(&self.message)
    }
}

/// Settings that cannot be used: all their faults, in the order of their lines. A run that meets them ends as
/// `invalid_settings` and leaves what was published in place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidSettings {
    /// What was read, e.g. `.cairn.yaml`.
    pub file: String,
    pub faults: Vec<Fault>,
}

impl std::error::Error for InvalidSettings {}

impl fmt::Display for InvalidSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "invalid settings in {}", self.file)?;
        for (index, fault) in self.faults.iter().enumerate() {
            write!(formatter, "{} {fault}", if index == 0 { ":" } else { ";" })?;
        }
        Ok(())
    }
}
