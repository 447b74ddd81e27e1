//! Ceilings of one snapshot: the operator's limits on the cost of one repository.

use crate::reader::{At, Reader};

/// A sync whose snapshot exceeds one of these fails as `over_budget`; the published generation stays.
///
/// The number of paths has its limit in `sources.max_entries`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ceilings {
    /// Bytes of all files to be indexed; a file with several paths counts once per path.
    pub max_expanded_bytes: u64,
    /// Bytes of files to be indexed whose content another path of the snapshot has too.
    pub max_repeated_bytes: u64,
    pub max_chunks: u64,
    /// `.cairnignore` and `.gitattributes` files together, and their bytes.
    pub max_rule_files: u64,
    pub max_rule_file_bytes: u64,
    /// Patterns in `secrets.ignore`, and the memory that they take when compiled.
    pub max_secret_patterns: u64,
    pub max_secret_pattern_bytes: u64,
    /// Wall time of one sync, from opening its source to the end of reading.
    pub sync_timeout_seconds: u64,
}

impl Default for Ceilings {
    fn default() -> Self {
        Self {
            max_expanded_bytes: 4 << 30,
            max_repeated_bytes: 256 << 20,
            max_chunks: 4_000_000,
            max_rule_files: 10_000,
            max_rule_file_bytes: 4 << 20,
            max_secret_patterns: 500,
            max_secret_pattern_bytes: 16 << 20,
            sync_timeout_seconds: 3_600,
        }
    }
}

pub(crate) fn bytes(reader: &mut Reader, at: &At<'_>) -> Option<u64> {
    let bytes = reader.bytes(at)?;
    if bytes == 0 {
        reader.fault(at, "must be at least 1 byte");
        return None;
    }
    Some(bytes)
}

pub(crate) fn number(reader: &mut Reader, at: &At<'_>) -> Option<u64> {
    reader.integer(at, 1..=1_000_000_000)
}
