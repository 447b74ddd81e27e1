//! The ceilings that stages check, each with its setting and the advice for a snapshot that exceeds it.

/// A ceiling of a snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ceiling {
    ExpandedBytes,
    RepeatedBytes,
    RepeatedRecords,
    Chunks,
    Records,
    RuleFiles,
    RuleFileBytes,
    RulePatterns,
    RulePatternBytes,
    SecretPatterns,
    SecretPatternBytes,
    TagRules,
    TagPatterns,
    TagsPerFile,
    SyncTimeout,
}

const FEWER_FILES: &str = "exclude files in `.cairn.yaml`";
const FEWER_COPIES: &str = "exclude the copies in `.cairn.yaml`";
const FEWER_RULE_FILES: &str = "remove `.cairnignore` and `.gitattributes` files, or make them shorter";
const FEWER_PATTERNS: &str = "remove patterns from the `.cairnignore` and `.gitattributes` files";
const FEWER_SECRET_PATTERNS: &str = "remove patterns from `secrets.ignore` in `.cairn.yaml`";
const FEWER_TAG_RULES: &str = "remove rules from `tags` in `.cairn.yaml`";

impl Ceiling {
    /// The name of the operator's setting.
    pub(super) fn setting(self) -> &'static str {
        self.setting_and_advice().0
    }

    /// A change with which the owners of the repository can stay below the ceiling.
    pub(super) fn advice(self) -> &'static str {
        self.setting_and_advice().1
    }

    fn setting_and_advice(self) -> (&'static str, &'static str) {
        match self {
            Self::ExpandedBytes => ("ceilings.max_expanded_bytes", FEWER_FILES),
            Self::RepeatedBytes => ("ceilings.max_repeated_bytes", FEWER_COPIES),
            Self::RepeatedRecords => ("ceilings.max_repeated_records", "exclude these files in `.cairn.yaml`"),
            Self::Chunks => ("ceilings.max_chunks", FEWER_FILES),
            Self::Records => ("ceilings.max_records", FEWER_FILES),
            Self::RuleFiles => ("ceilings.max_rule_files", "remove `.cairnignore` and `.gitattributes` files"),
            Self::RuleFileBytes => ("ceilings.max_rule_file_bytes", FEWER_RULE_FILES),
            Self::RulePatterns => ("ceilings.max_rule_patterns", FEWER_PATTERNS),
            Self::RulePatternBytes => ("ceilings.max_rule_pattern_bytes", FEWER_PATTERNS),
            Self::SecretPatterns => ("ceilings.max_secret_patterns", FEWER_SECRET_PATTERNS),
            Self::SecretPatternBytes => ("ceilings.max_secret_pattern_bytes", FEWER_SECRET_PATTERNS),
            Self::TagRules => ("ceilings.max_tag_rules", FEWER_TAG_RULES),
            Self::TagPatterns => ("ceilings.max_tag_patterns", "remove patterns from `tags` in `.cairn.yaml`"),
            Self::TagsPerFile => {
                ("ceilings.max_tags_per_file", "change `tags` in `.cairn.yaml`, so that fewer rules match one file")
            }
            Self::SyncTimeout => {
                ("ceilings.sync_timeout_seconds", "make sure that the source answers quickly, or exclude files")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const ALL: &[Ceiling] = &[
        Ceiling::ExpandedBytes,
        Ceiling::RepeatedBytes,
        Ceiling::RepeatedRecords,
        Ceiling::Chunks,
        Ceiling::Records,
        Ceiling::RuleFiles,
        Ceiling::RuleFileBytes,
        Ceiling::RulePatterns,
        Ceiling::RulePatternBytes,
        Ceiling::SecretPatterns,
        Ceiling::SecretPatternBytes,
        Ceiling::TagRules,
        Ceiling::TagPatterns,
        Ceiling::TagsPerFile,
        Ceiling::SyncTimeout,
    ];

    /// A listing is checked by `ListingCeilings`, whose advice is the same for all its ceilings.
    const OF_LISTINGS: &[&str] = &["max_total_path_bytes", "max_repeated_paths"];

    #[test]
    fn every_documented_ceiling_has_an_advice() {
        let text = include_str!("../../../../docs/configuration.md");
        let rows = text.split("| setting in `ceilings` |").nth(1).expect("a table").split("\n\n").next();
        let names = rows.unwrap_or_default().lines().filter_map(|row| row.strip_prefix("| `")?.split('`').next());
        let documented: BTreeSet<&str> = names.filter(|name| !OF_LISTINGS.contains(name)).collect();
        let ours: BTreeSet<&str> =
            ALL.iter().map(|ceiling| ceiling.setting().trim_start_matches("ceilings.")).collect();
        assert_eq!(ours, documented);
        assert!(ALL.iter().all(|ceiling| !ceiling.advice().is_empty()));
    }

    #[test]
    fn advice_names_the_settings_that_must_change() {
        for (ceiling, part) in [
            (Ceiling::SecretPatterns, "`secrets.ignore`"),
            (Ceiling::SecretPatternBytes, "`secrets.ignore`"),
            (Ceiling::TagRules, "`tags`"),
            (Ceiling::TagPatterns, "`tags`"),
            (Ceiling::TagsPerFile, "`tags`"),
            (Ceiling::RulePatterns, "`.cairnignore`"),
            (Ceiling::RuleFiles, "`.gitattributes`"),
            (Ceiling::SyncTimeout, "the source answers quickly"),
            (Ceiling::Chunks, "exclude files in `.cairn.yaml`"),
            (Ceiling::RepeatedBytes, "exclude the copies"),
        ] {
            assert!(ceiling.advice().contains(part), "{ceiling:?}: {}", ceiling.advice());
        }
    }
}
