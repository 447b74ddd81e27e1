//! Answers about the contents of an index: every path with its outcome, the redacted secrets, and
//! fingerprints.

use std::collections::BTreeMap;

use cairn_domain::{ManifestEntry, RepoPath, SecretFinding};
use cairn_search::{Coverage, Fingerprint, Why};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::source::{PageInfo, SourceStamp};
use crate::time::rfc3339_of_seconds;

/// The outcome of one path, or of all paths.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CoverageAnswer {
    One(PathExplanation),
    All(CoverageReport),
}

/// The paths of a repository with their outcomes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CoverageReport {
    pub repository: String,
    pub num_paths: usize,
    /// Number of paths by outcome.
    pub counts: BTreeMap<String, u64>,
    /// Null if only a summary was requested.
    pub entries: Option<Vec<PathOutcome>>,
    pub sources: Vec<SourceStamp>,
    /// Absent if only a summary was requested.
    #[serde(flatten)]
    pub page: Option<PageInfo>,
}

/// A path and its outcome.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PathOutcome {
    pub path: String,
    pub outcome: String,
    pub language: Option<String>,
}

/// The reason why a path is, or is not, in the index.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PathExplanation {
    pub repository: String,
    pub path: String,
    pub outcome: String,
    pub explanation: String,
    pub changed_at: Option<String>,
    pub sources: Vec<SourceStamp>,
}

/// The redacted secrets of a repository.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SecretList {
    pub repository: String,
    pub findings: Vec<SecretPlace>,
    #[serde(flatten)]
    pub page: PageInfo,
}

/// The place of a redacted secret and the rule that found it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SecretPlace {
    pub path: String,
    pub line: u32,
    pub rule: String,
}

/// Digests of all records that readers can see.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FingerprintList {
    pub fingerprints: Vec<FingerprintReport>,
}

/// The digest of one repository.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FingerprintReport {
    pub repository: String,
    pub commit: String,
    pub digest: String,
    pub kinds: BTreeMap<String, KindReport>,
}

/// Number and digest of the records of one kind.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct KindReport {
    pub count: u64,
    pub digest: String,
}

impl CoverageReport {
    /// A report that contains only counts.
    pub fn summary(coverage: &Coverage) -> Self {
        Self {
            repository: coverage.repository.clone(),
            num_paths: coverage.entries.len(),
            counts: coverage.counts.clone(),
            entries: None,
            sources: SourceStamp::all(&coverage.stamps),
            page: None,
        }
    }

    /// A report that also lists the given entries.
    pub fn with_entries<'a>(
        coverage: &Coverage,
        entries: impl Iterator<Item = &'a ManifestEntry>,
        page: PageInfo,
    ) -> Self {
        let entry = |entry: &ManifestEntry| PathOutcome {
            path: entry.path.to_string(),
            outcome: entry.outcome.label(),
            language: entry.language.clone(),
        };
        Self { entries: Some(entries.map(entry).collect()), page: Some(page), ..Self::summary(coverage) }
    }
}

impl PathExplanation {
    pub fn of(why: &Why) -> Self {
        Self {
            repository: why.repository.clone(),
            path: why.path.clone(),
            outcome: why.outcome.clone(),
            explanation: why.explanation.clone(),
            changed_at: why.changed_at.map(rfc3339_of_seconds),
            sources: SourceStamp::all(&why.stamps),
        }
    }
}

impl SecretPlace {
    pub fn of((path, finding): &(RepoPath, SecretFinding)) -> Self {
        Self { path: path.to_string(), line: finding.line, rule: finding.rule.clone() }
    }
}

impl FingerprintReport {
    pub fn of(fingerprint: &Fingerprint) -> Self {
        let kinds = fingerprint.kinds.iter().map(|kind| {
            let report = KindReport { count: kind.count, digest: kind.digest.to_string() };
            (kind.kind.to_owned(), report)
        });
        Self {
            repository: fingerprint.repository.clone(),
            commit: fingerprint.commit.clone(),
            digest: fingerprint.digest.to_string(),
            kinds: kinds.collect(),
        }
    }
}
