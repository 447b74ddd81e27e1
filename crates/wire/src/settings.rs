//! The settings of a call that indexes, which are combined with the repository's own settings.

use serde::{Deserialize, Serialize};

/// Stored with the repository as JSON, so that later syncs use them too.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RequestSettings {
    /// Replaces the repository's own list, if not empty.
    pub include: Vec<String>,
    /// Added to the repository's own list.
    pub exclude: Vec<String>,
    /// Added to the repository's own list.
    pub include_override: Vec<String>,
    /// Bytes; replaces the repository's own.
    pub max_file_size: Option<u64>,
}

impl RequestSettings {
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a struct of texts and numbers is JSON")
    }

    /// An empty text means no settings.
    pub fn from_json(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        serde_json::from_str(text).map_err(|error| error.to_string())
    }
}
