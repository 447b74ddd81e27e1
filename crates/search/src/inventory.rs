//! Reports which paths are in the index, and why other paths are not.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use cairn_domain::{ManifestEntry, Outcome, RepoPath, SecretFinding};
use cairn_name_match::{PathPart, PathScore, WantedFile};
use cairn_redaction::{Given, Message, Own, quoted};
use cairn_wire::Manifest;

use crate::bounds;
use crate::file_names::num_same_directories;
use crate::resolve::NUM_SIMILAR;
use crate::{KnownRepository, NextCall, QueryError, QueryErrorCode, Searcher, Stamp};

/// Maximum number of repositories in which a file that is not indexed is looked up.
const MAX_MANIFESTS: usize = 3;

/// Every path of a repository with its outcome.
#[derive(Clone, PartialEq, Debug)]
pub struct Coverage {
    pub repository: String,
    pub counts: BTreeMap<String, u64>,
    pub entries: Vec<ManifestEntry>,
    pub stamps: Vec<Stamp>,
}

/// The reason why a path is or is not in the index.
#[derive(Clone, PartialEq, Debug)]
pub struct Why {
    pub repository: String,
    pub path: String,
    /// The outcome: `indexed`, `skipped(binary)` …
    pub outcome: String,
    /// The outcome as a sentence that users can read.
    pub explanation: String,
    /// The time of the commit that gave the file its current content, in seconds since 1970.
    pub changed_at: Option<i64>,
    pub stamps: Vec<Stamp>,
}

impl Searcher {
    pub async fn coverage(&self, repository: &str) -> Result<Coverage, QueryError> {
        let view = self.catalogue.view().await?;
        let known = self.select_one(&view, repository).await?;
        let manifest = self.manifest(&known).await?.unwrap_or_default();
        self.coverage_of(known, manifest).await
    }

    async fn coverage_of(&self, known: KnownRepository, manifest: Manifest) -> Result<Coverage, QueryError> {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for entry in &manifest.entries {
            *counts.entry(entry.outcome.label()).or_default() += 1;
        }
        let id = known.record.id;
        Ok(Coverage {
            repository: known.record.name.to_string(),
            counts,
            entries: manifest.entries,
            stamps: self.stamps(&[known], &[id]).await?,
        })
    }

    /// The redacted secrets, sorted by path and line.
    pub async fn secrets(&self, repository: &str) -> Result<Vec<(RepoPath, SecretFinding)>, QueryError> {
        let view = self.catalogue.view().await?;
        let known = self.select_one(&view, repository).await?;
        let manifest = self.manifest(&known).await?.unwrap_or_default();
        let mut found = Vec::new();
        for entry in manifest.entries.iter().filter(|entry| entry.num_secrets > 0) {
            let Some(source) = self.text(entry).await? else { continue };
            found.extend(source.secrets.into_iter().map(|finding| (entry.path.clone(), finding)));
        }
        Ok(found)
    }

    /// A sentence about the first path with this name that exists, but is not indexed. At most
    /// `MAX_MANIFESTS` repositories are considered.
    pub(crate) async fn note_of_skipped_file(
        &self,
        selected: &[KnownRepository],
        name: &str,
    ) -> Result<Option<Message>, QueryError> {
        let name = name.trim_start_matches("./");
        let has_name = |path: &RepoPath| path.as_str() == name || path.file_name() == name;
        for known in selected.iter().take(MAX_MANIFESTS) {
            let Some(manifest) = self.manifest(known).await? else { continue };
            let skipped = manifest.entries.iter().find(|entry| !entry.outcome.is_indexed() && has_name(&entry.path));
            if let Some(entry) = skipped {
                let message = Message::default().and(quoted(entry.path.as_str())).and(" in ").and(&known.record.name);
                let message = message.and(" is not indexed: ").and(Own(entry.outcome.label()));
                return Ok(Some(message.and("; `coverage --why PATH` (tool `index_status`) explains why.")));
            }
        }
        Ok(None)
    }

    pub async fn why(&self, repository: &str, path: &str) -> Result<Why, QueryError> {
        bounds::word("path", path)?;
        let view = self.catalogue.view().await?;
        let known = self.select_one(&view, repository).await?;
        let manifest = self.manifest(&known).await?.unwrap_or_default();
        let rule = manifest.skip_rule(path.strip_prefix("./").unwrap_or(path)).map(str::to_owned);
        let coverage = self.coverage_of(known, manifest).await?;
        let path = path.strip_prefix("./").unwrap_or(path);
        let entry = coverage.entries.iter().find(|entry| entry.path.as_str() == path);
        let Some(entry) = entry else { return Err(not_in_snapshot(&coverage, path)) };
        Ok(Why {
            repository: coverage.repository.clone(),
            path: path.to_owned(),
            outcome: entry.outcome.label(),
            explanation: rule.unwrap_or_else(|| explanation(&entry.outcome)),
            changed_at: entry.changed_at,
            stamps: coverage.stamps,
        })
    }
}

/// The error for a path that the snapshot does not contain, with the most similar paths of the snapshot.
fn not_in_snapshot(coverage: &Coverage, path: &str) -> QueryError {
    let directory = path.trim_end_matches('/');
    let is_below =
        |entry: &ManifestEntry| entry.path.as_str().strip_prefix(directory).is_some_and(|below| below.starts_with('/'));
    let is_directory = coverage.entries.iter().any(is_below);
    let fact = if is_directory { " is a directory of the snapshot of " } else { " is not a path of the snapshot of " };
    let message = Message::default().and(Given(path)).and(fact);
    let mut error = QueryError::new(QueryErrorCode::NotFound, message.and(Given(&coverage.repository)));
    error.similar_files = similar_paths(&coverage.entries, path);
    if let Some(best) = error.similar_files.first().cloned() {
        error = error.next(NextCall {
            tool: "index_status",
            reason: "explains the outcome of the most similar path in the snapshot".into(),
            arguments: vec![("repository", coverage.repository.clone()), ("path", best)],
        });
    }
    error.hint(match is_directory {
        true => "pass the path of a file; each file has its own outcome",
        false => "git ignores it, it is newer than the index, or the path is mistyped",
    })
}

/// The most similar paths, whatever their outcome is. A path is similar if the whole path or its base name is
/// similar.
fn similar_paths(entries: &[ManifestEntry], path: &str) -> Vec<String> {
    let base_name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    let wanted = [path, base_name].map(|name| WantedFile::new(name, PathPart::Whole, true));
    let key = |found: &str| {
        let lower = found.to_lowercase();
        let PathScore { score, rank } = wanted.iter().filter_map(|wanted| wanted.score(found, &lower)).max()?;
        Some(Reverse((score, num_same_directories(path, found), rank)))
    };
    let scored = entries.iter().filter_map(|entry| Some((key(entry.path.as_str())?, &entry.path)));
    let mut scored: Vec<_> = scored.collect();
    scored.sort_unstable();
    scored.iter().take(NUM_SIMILAR).map(|(_, path)| path.to_string()).collect()
}

fn explanation(outcome: &Outcome) -> String {
    use cairn_domain::Reason;
    let text = match outcome {
        Outcome::Indexed(None) => "it is in the index",
        Outcome::Indexed(Some(Reason::ParseTimeout)) => {
            "it is in the index as plain text: parsing it exceeded its limits"
        }
        Outcome::Indexed(Some(Reason::ParseCrash)) => {
            "it is in the index as plain text: the process that parsed it died"
        }
        Outcome::Indexed(Some(_)) => "it is in the index as plain text: no grammar can parse it",
        Outcome::Failed { message, .. } => {
            return format!("it could not be read ({message}); the next run tries again");
        }
        Outcome::Skipped(reason) => match reason {
            // Manifests of older versions contain no rules.
            Reason::Excluded => {
                "an exclude pattern, a `.cairnignore` or a default exclude excludes it (`include_override` includes defaults again)"
            }
            Reason::NotIncluded => "`include` is set and none of its patterns matches",
            Reason::TooLarge => "it is larger than `max_file_size`",
            Reason::Binary => "its content is binary",
            Reason::Sensitive => "files with this name may contain secrets and are never read",
            Reason::Generated => "it is generated or minified",
            Reason::Submodule => "submodules are recorded, but their content is never read",
            Reason::Symlink => "symbolic links are recorded, but they are not followed",
            Reason::Unreadable => "it could not be read",
            Reason::NotUtf8 => "its encoding is unknown",
            Reason::NoParser | Reason::ParseTimeout | Reason::ParseCrash => "it could not be parsed",
        },
    };
    text.to_owned()
}
