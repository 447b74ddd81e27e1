//! Faults of settings, as users see them.

use std::fmt;

/// One fault and its place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Fault {
    /// From 1. None for the environment and for faults of the file as a whole.
    pub line: Option<u32>,
    /// A dotted key, e.g. `pattern_detection.min_cluster_size`, or the name of a variable. May be empty.
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

/// Settings that cannot be used, with all their faults in the order of their lines. A run with such settings
/// ends as `invalid_settings`; the published generation stays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidSettings {
    /// The name of the settings, e.g. `.cairn.yaml`.
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
