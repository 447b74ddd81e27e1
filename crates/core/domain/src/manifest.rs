//! The inventory of a snapshot: every path has a record, also the skipped ones.

use crate::{ArtifactRef, BlobId, Digest, Digester, FactsKey, RepoPath};

/// What a path is in the tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EntryKind {
    File,
    Executable,
    Symlink,
    Submodule,
}

/// Why a path is not in the index (or only as text, for `NoParser` and `ParseTimeout`).
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
    /// No grammar for this kind of file: still indexed, as windows of text.
    NoParser,
    /// The grammar did not finish within its bounds: still indexed, as windows of text.
    ParseTimeout,
    /// The parser's process died on this file: still indexed, as windows of text.
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

/// What became of a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Indexed. The reason says why only as text, if so.
    Indexed(Option<Reason>),
    Skipped(Reason),
    /// Not indexed because something went wrong; tried again by the next run, also at the same commit.
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

/// Where the text or the facts of one file lie: an artifact and the slot inside it.
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
    /// Name of the language, from path and content; none for what is not indexed.
    pub language: Option<String>,
    pub facts_key: Option<FactsKey>,
    /// Where the redacted text lies in a source pack.
    pub source: Option<Slot>,
    /// Number of secrets that were redacted.
    pub num_secrets: u32,
    pub num_lines: u32,
    /// A generated file that a setting keeps, with low weight.
    pub low_weight: bool,
    /// A navigation document: README, AGENTS.md, docs, or what the settings name.
    pub navigation: bool,
    /// Tags by the rules of `.cairn.yaml`.
    pub tags: Vec<String>,
    /// When this content came to this path by history, in seconds since 1970. None where no history is at hand, and for
    /// what is not committed as it is.
    pub changed_at: Option<i64>,
    /// Directory of the module that owns the path, from manifests (`go.mod`, `package.json` …) or settings; empty for the root.
    pub module: Option<String>,
}

impl ManifestEntry {
    /// All that a reader can see of the entry. The content of what is not indexed is not seen: on disk it may not even have been read.
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

/// A secret that was redacted: where and by which rule, never the value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SecretFinding {
    /// From 1.
    pub line: u32,
    pub rule: String,
}

/// The redacted text of one blob, as it lies in a source pack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceText {
    pub facts_key: FactsKey,
    pub blob: BlobId,
    pub language: Option<String>,
    pub text: String,
    pub secrets: Vec<SecretFinding>,
}
