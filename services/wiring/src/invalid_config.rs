//! The error for settings that cannot be used.

/// All faults in the settings.
#[derive(Debug)]
pub struct InvalidConfig {
    faults: Vec<String>,
    /// Whether the file is not TOML, so that no setting was read.
    is_of_syntax: bool,
}

impl InvalidConfig {
    pub(crate) fn new(faults: Vec<String>) -> Self {
        Self { faults, is_of_syntax: false }
    }

    pub(crate) fn of_syntax(fault: String) -> Self {
        Self { faults: vec![fault], is_of_syntax: true }
    }

    pub fn is_of_syntax(&self) -> bool {
        self.is_of_syntax
    }

    /// Adds a fault that was found elsewhere, before the other faults.
    #[must_use]
    pub fn and(mut self, fault: String) -> Self {
        self.faults.insert(0, fault);
        self
    }
}

impl std::fmt::Display for InvalidConfig {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "the settings cannot be used:\n  {}", self.faults.join("\n  "))
    }
}

impl std::error::Error for InvalidConfig {}
