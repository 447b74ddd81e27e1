//! The inventory of a snapshot: every path has a record, skipped paths included.

use crate::{ArtifactRef, BlobId, Digest, Digester, FactsKey, RepoPath};

/// The kind of a path in the tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EntryKind {
    File,
    Executable,
    Symlink,
    Submodule,
}

/// Why a path is not in the index, or only as text (`NoParser` and `ParseTimeout`).
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
    /// No grammar for this kind of file. The file is indexed as windows of text.
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

    /// The word that users see, in results and in `coverage`.
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

/// The result for a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Indexed. The reason is present if the file is indexed only as text.
    Indexed(Option<Reason>),
    Skipped(Reason),
    /// Not indexed because of a failure. The next run tries again, also at the same commit.
    Failed {
        reason: Reason,
        message: String,
    },
}

impl Outcome {
    pub fn is_indexed(&self) -> bool {
        matches!(self, Outcome::Indexed(_))
    }

    /// `indexed`, `indexed(no_parser)`, `skipped(binary)`, `failed(unreadable)`.
    pub fn label(&self) -> String {
        match self {
            Outcome::Indexed(None) => "indexed".to_owned(),
            Outcome::Indexed(Some(reason)) => format!("indexed({})", reason.as_str()),
            Outcome::Skipped(reason) => format!("skipped({})", reason.as_str()),
            Outcome::Failed { reason, .. } => format!("failed({})", reason.as_str()),
        }
    }
}

/// The location of the text or the facts of one file: an artifact and the slot inside it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slot {
    pub artifact: ArtifactRef,
    pub index: u32,
}

/// One path of the tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ManifestEntry {
    pub path: RepoPath,
    pub kind: EntryKind,
    pub blob: BlobId,
    pub size_bytes: u64,
    pub outcome: Outcome,
    /// Name of the language, from path and content; none for a file that is not indexed.
    pub language: Option<String>,
    pub facts_key: Option<FactsKey>,
    /// Location of the redacted text in a source pack.
    pub source: Option<Slot>,
    /// Number of redacted secrets.
    pub num_secrets: u32,
    pub num_lines: u32,
    /// A generated file that a setting includes, with low weight.
    pub low_weight: bool,
    /// A navigation document: README, AGENTS.md, docs, or a path that the settings name.
    pub navigation: bool,
    /// Tags from the rules of `.cairn.yaml`.
    pub tags: Vec<String>,
    /// Time at which this content came to this path in the history, in seconds since 1970. None without a
    /// history, and for content that differs from the commit.
    pub changed_at: Option<i64>,
    /// Directory of the module that owns the path, from manifests (`go.mod`, `package.json` …) or settings.
    /// Empty for the root.
    pub module: Option<String>,
}

impl ManifestEntry {
    /// Digest of all fields that a reader can see. The content of a path that is not indexed is excluded: it
    /// may not have been read from disk.
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

/// A redacted secret: its line and rule, never its value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SecretFinding {
    /// Line, from 1.
    pub line: u32,
    pub rule: String,
}

/// The redacted text of one blob, as a source pack contains it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceText {
    pub facts_key: FactsKey,
    pub blob: BlobId,
    pub language: Option<String>,
    pub text: String,
    pub secrets: Vec<SecretFinding>,
}
