//! The settings of a call that indexes a repository. These settings are combined with the repository's own
//! settings.

use serde::{Deserialize, Serialize};

/// The settings that calls have given for a repository. They are stored with the repository as JSON, so that
/// later syncs use them too.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RequestSettings {
    /// If this list is not empty, it replaces the repository's own list.
    pub include: Vec<String>,
    /// Added to the repository's own list.
    pub exclude: Vec<String>,
    /// Added to the repository's own list.
    pub include_override: Vec<String>,
    /// Maximum file size in bytes. This value replaces the repository's own value.
    pub max_file_size: Option<u64>,
}

/// The settings that a call gives. If a field is `None`, the stored value remains. An empty list removes the
/// stored patterns.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GivenSettings {
    pub include: Option<Vec<String>>,
    pub exclude: Option<Vec<String>>,
    pub include_override: Option<Vec<String>>,
    pub max_file_size: Option<u64>,
}

impl GivenSettings {
    /// Returns the settings of the repository after the call.
    pub fn over(self, stored: RequestSettings) -> RequestSettings {
        RequestSettings {
            include: self.include.unwrap_or(stored.include),
            exclude: self.exclude.unwrap_or(stored.exclude),
            include_override: self.include_override.unwrap_or(stored.include_override),
            max_file_size: self.max_file_size.or(stored.max_file_size),
        }
    }
}

impl RequestSettings {
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a struct of texts and numbers is JSON")
    }

    /// Parses stored settings. An empty text means no settings.
    pub fn from_json(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        serde_json::from_str(text).map_err(|error| error.to_string())
    }
}
