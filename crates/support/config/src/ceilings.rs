//! Ceilings of one snapshot: the operator's limits on the cost of one repository.

use crate::reader::{At, Reader, Setting, set};

/// One row for each ceiling: field, variable, default, reader.
macro_rules! ceilings {
    ($($(#[$doc:meta])* $field:ident, $variable:literal, $default:expr, $read:expr;)*) => {
        /// A sync whose snapshot exceeds one of these fails as `over_budget`; the published generation stays.
        ///
        /// The number of paths has its limit in `sources.max_entries`.
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub struct Ceilings {
            $($(#[$doc])* pub $field: u64,)*
        }

        impl Default for Ceilings {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        /// The rows as settings of the section `ceilings`.
        pub(crate) const SETTINGS: &[Setting<Ceilings>] = &[
            $(Setting {
                key: concat!("ceilings.", stringify!($field)),
                variable: $variable,
                apply: |reader, at, ceilings| set(&mut ceilings.$field, $read(reader, at)),
            },)*
        ];
    };
}

ceilings! {
    /// Bytes of all files to be indexed; a file with several paths counts once per path.
    max_expanded_bytes, "CAIRN_MAX_EXPANDED_BYTES", 4 << 30, bytes;
    /// Bytes of files to be indexed whose content another path of the snapshot has too.
    max_repeated_bytes, "CAIRN_MAX_REPEATED_BYTES", 256 << 20, bytes;
    /// Records of files to be indexed whose content another path of the snapshot has too. A snapshot with
    /// large other files may have more.
    max_repeated_records, "CAIRN_MAX_REPEATED_RECORDS", 250_000, number;
    max_chunks, "CAIRN_MAX_CHUNKS", 4_000_000, number;
    /// Records of new and changed contents: files, chunks, symbols, and a quarter of the references.
    max_records, "CAIRN_MAX_RECORDS", 40_000_000, number;
    /// `.cairnignore` and `.gitattributes` files together.
    max_rule_files, "CAIRN_MAX_RULE_FILES", 10_000, number;
    /// The bytes of these files.
    max_rule_file_bytes, "CAIRN_MAX_RULE_FILE_BYTES", 4 << 20, bytes;
    /// Patterns in `secrets.ignore`.
    max_secret_patterns, "CAIRN_MAX_SECRET_PATTERNS", 500, number;
    /// The memory that these patterns take when compiled.
    max_secret_pattern_bytes, "CAIRN_MAX_SECRET_PATTERN_BYTES", 16 << 20, bytes;
    /// Wall time of one sync, from opening its source to the end of reading.
    sync_timeout_seconds, "CAIRN_SYNC_TIMEOUT_SECONDS", 3_600, seconds;
}

fn bytes(reader: &mut Reader, at: &At<'_>) -> Option<u64> {
    let bytes = reader.bytes(at)?;
    if bytes == 0 {
        reader.fault(at, "must be at least 1 byte");
        return None;
    }
    Some(bytes)
}

fn number(reader: &mut Reader, at: &At<'_>) -> Option<u64> {
    reader.integer(at, 1..=1_000_000_000)
}

fn seconds(reader: &mut Reader, at: &At<'_>) -> Option<u64> {
    reader.integer(at, 1..=86_400)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documentation_lists_every_ceiling() {
        let text = include_str!("../../../../docs/configuration.md");
        for setting in SETTINGS {
            let key = setting.key.trim_start_matches("ceilings.");
            let row = format!("| `{key}` | `{}` |", setting.variable);
            assert!(text.contains(&row), "docs/configuration.md lacks {row}");
        }
    }
}
