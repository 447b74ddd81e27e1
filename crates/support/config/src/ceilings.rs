//! The ceilings for one snapshot. The operator sets them to limit the cost of one repository.

use crate::reader::{At, Reader, Setting, set};

/// Each row defines one ceiling: field, variable, default, and reader.
macro_rules! ceilings {
    ($($(#[$doc:meta])* $field:ident, $variable:literal, $default:expr, $read:expr;)*) => {
        /// The ceilings for one snapshot. If a snapshot exceeds a ceiling, its sync fails with `over_budget`,
        /// and the published generation stays published.
        ///
        /// The number of paths is limited by `sources.max_entries`.
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
    /// The total length of all paths of a source, including the paths of its directories. For each path, 160
    /// more bytes are allowed.
    max_total_path_bytes, "CAIRN_MAX_TOTAL_PATH_BYTES", 16 << 20, bytes;
    /// The number of paths of a source whose content is also at an earlier path, whether these paths are
    /// indexed or not. For each distinct content, one more path is allowed.
    max_repeated_paths, "CAIRN_MAX_REPEATED_PATHS", 250_000, number;
    /// The total size of all files to be indexed. Content at several paths counts once for each path.
    max_expanded_bytes, "CAIRN_MAX_EXPANDED_BYTES", 4 << 30, bytes;
    /// The total size of the copies among the files to be indexed. If several paths have the same content,
    /// every path after the first is a copy.
    max_repeated_bytes, "CAIRN_MAX_REPEATED_BYTES", 256 << 20, bytes;
    /// The number of records for the copies among the files to be indexed. A record counts once more for each
    /// 256 bytes of its path. For each 128 bytes of distinct content in the snapshot, one more record is
    /// allowed.
    max_repeated_records, "CAIRN_MAX_REPEATED_RECORDS", 250_000, number;
    max_chunks, "CAIRN_MAX_CHUNKS", 4_000_000, number;
    /// The number of records for new and changed contents. Files, chunks and symbols count as one record
    /// each, and four references count as one record.
    max_records, "CAIRN_MAX_RECORDS", 40_000_000, number;
    /// The number of `.cairnignore` and `.gitattributes` files together.
    max_rule_files, "CAIRN_MAX_RULE_FILES", 10_000, number;
    /// The total size of the `.cairnignore` and `.gitattributes` files.
    max_rule_file_bytes, "CAIRN_MAX_RULE_FILE_BYTES", 4 << 20, bytes;
    /// The number of patterns in these files. Equal lines of one file count once. A line of a
    /// `.gitattributes` file counts only if it marks generated files.
    max_rule_patterns, "CAIRN_MAX_RULE_PATTERNS", 50_000, number;
    /// The memory that the compiled patterns of these files use, estimated from their text.
    max_rule_pattern_bytes, "CAIRN_MAX_RULE_PATTERN_BYTES", 64 << 20, bytes;
    /// The number of patterns in `secrets.ignore`.
    max_secret_patterns, "CAIRN_MAX_SECRET_PATTERNS", 500, number;
    /// The memory that the compiled patterns of `secrets.ignore` use.
    max_secret_pattern_bytes, "CAIRN_MAX_SECRET_PATTERN_BYTES", 16 << 20, bytes;
    /// The number of rules in `tags`.
    max_tag_rules, "CAIRN_MAX_TAG_RULES", 200, number;
    /// The number of globs and languages in all rules of `tags`.
    max_tag_patterns, "CAIRN_MAX_TAG_PATTERNS", 1_000, number;
    /// The number of tags that one file gets. The tag of its extension is included.
    max_tags_per_file, "CAIRN_MAX_TAGS_PER_FILE", 20, number;
    /// The wall time of one sync, from the time when its source is opened until everything is read.
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
