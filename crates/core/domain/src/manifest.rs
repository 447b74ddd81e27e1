//! The inventory of a snapshot. Every path has an entry, including skipped paths.

use std::sync::Arc;

use crate::{ArtifactRef, BlobId, Digest, Digester, FactsKey, RepoPath};

/// The kind of an entry in the tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EntryKind {
    File,
    Executable,
    Symlink,
    Submodule,
}

/// The reason why a path is not in the index. For `NoParser`, `ParseTimeout` and `ParseCrash`, the path is in
/// the index, but only as text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reason {
    Excluded,
    NotIncluded,
    TooLarge,
    Binary,
    Sensitive,
    Generated,
    Submodule,
    Symlink,
    Unreadable,
    NotUtf8,
    /// No grammar exists for this kind of file. The file is indexed as windows of text.
    NoParser,
    /// Parsing exceeded its limits. The file is indexed as windows of text.
    ParseTimeout,
    /// The parser process died on this file. The file is indexed as windows of text.
    ParseCrash,
}

impl Reason {
    pub const ALL: [Reason; 13] = [
        Reason::Excluded,
        Reason::NotIncluded,
        Reason::TooLarge,
        Reason::Binary,
        Reason::Sensitive,
        Reason::Generated,
        Reason::Submodule,
        Reason::Symlink,
        Reason::Unreadable,
        Reason::NotUtf8,
        Reason::NoParser,
        Reason::ParseTimeout,
        Reason::ParseCrash,
    ];

    /// The word for the reason in results and in `coverage`.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::Excluded => "excluded",
            Reason::NotIncluded => "not_included",
            Reason::TooLarge => "too_large",
            Reason::Binary => "binary",
            Reason::Sensitive => "sensitive",
            Reason::Generated => "generated",
            Reason::Submodule => "submodule",
            Reason::Symlink => "symlink",
            Reason::Unreadable => "unreadable",
            Reason::NotUtf8 => "not_utf8",
            Reason::NoParser => "no_parser",
            Reason::ParseTimeout => "parse_timeout",
            Reason::ParseCrash => "parse_crash",
        }
    }
}

/// The result of a run for a path: indexed, skipped or failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Indexed. The reason is present if the file is indexed only as text.
    Indexed(Option<Reason>),
    Skipped(Reason),
    /// The file is not indexed because of a failure. The next run tries again, even if the commit is the
    /// same.
    Failed {
        reason: Reason,
        message: String,
    },
}

impl Outcome {
    pub fn is_indexed(&self) -> bool {
        matches!(self, Outcome::Indexed(_))
    }

    /// Returns a text like `indexed`, `indexed(no_parser)`, `skipped(binary)` or `failed(unreadable)`.
    pub fn label(&self) -> String {
        match self {
            Outcome::Indexed(None) => "indexed".to_owned(),
            Outcome::Indexed(Some(reason)) => format!("indexed({})", reason.as_str()),
            Outcome::Skipped(reason) => format!("skipped({})", reason.as_str()),
            Outcome::Failed { reason, .. } => format!("failed({})", reason.as_str()),
        }
    }
}

/// The location of the text or the facts of one file: an artifact, and the index of the slot in the artifact.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slot {
    pub artifact: ArtifactRef,
    pub index: u32,
}

/// The tags of a file, sorted. Files with the same tags, and the records of these files, may share one list
/// in memory.
pub type Tags = Arc<[String]>;

/// One path of the tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ManifestEntry {
    pub path: RepoPath,
    pub kind: EntryKind,
    pub blob: BlobId,
    pub size_bytes: u64,
    pub outcome: Outcome,
    /// Name of the language, determined from path and content; `None` for a file that is not indexed.
    pub language: Option<String>,
    pub facts_key: Option<FactsKey>,
    /// Location of the redacted text in a source pack.
    pub source: Option<Slot>,
    /// Number of redacted secrets.
    pub num_secrets: u32,
    pub num_lines: u32,
    /// Whether this is a generated file that a setting includes. Such a file has a low weight in ranking.
    pub low_weight: bool,
    /// Whether this is a navigation document: README, AGENTS.md, docs, or a path that the settings name.
    pub navigation: bool,
    /// Tags from the rules of `.cairn.yaml`.
    pub tags: Tags,
    /// The time at which this content was committed at this path, in seconds since 1970. `None` if the
    /// history is not known, or if the content differs from the commit.
    pub changed_at: Option<i64>,
    /// Directory of the module to which the path belongs, from manifests (`go.mod`, `package.json` …) or
    /// settings. The path is empty for the root directory.
    pub module: Option<String>,
}

impl ManifestEntry {
    /// Digest of all fields that a reader can see. The digest does not include the content of a path that is
    /// not indexed, because that content is not always read from disk.
    pub fn digest(&self) -> Digest {
        let digester = Digester::new("manifest-entry")
            .text(self.path.as_str())
            .number(self.kind as u64)
            .option(self.outcome.is_indexed().then_some(self.blob), |digester, blob| digester.bytes(&blob.0))
            .number(self.size_bytes)
            .text(&self.outcome.label())
            .option(self.language.as_deref(), Digester::text)
            .option(self.facts_key, |digester, key| digester.key_of(key.0))
            .number(u64::from(self.num_secrets))
            .number(u64::from(self.num_lines))
            .flag(self.low_weight)
            .flag(self.navigation)
            .list(&self.tags, |digester, tag| digester.text(tag))
            .option(self.changed_at, |digester, at| digester.number(at as u64))
            .option(self.module.as_deref(), Digester::text);
        digester.digest()
    }
}

/// The line and the rule of a redacted secret, but not its value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SecretFinding {
    /// Number of the line, starting at 1.
    pub line: u32,
    pub rule: String,
}

/// The redacted text of one blob. Source packs contain such texts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceText {
    pub facts_key: FactsKey,
    pub blob: BlobId,
    pub language: Option<String>,
    pub text: String,
    pub secrets: Vec<SecretFinding>,
}
