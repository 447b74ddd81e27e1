//! Stamps: the repositories and commits from which an answer was computed, and the newer commits that are
//! known.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{RepositoryId, RunState, Source};
use cairn_ports::{PublishedGeneration, RunRecord};
use futures::future::join_all;

use crate::repositories::KnownRepository;
use crate::{QueryError, Searcher};

/// Maximum number of repositories whose current commit is read from the source.
const MAX_HEADS: usize = 16;
/// The suffix of the commit id for a working tree that differs from its commit.
const DIRTY: &str = "-dirty";

/// The state of a repository that contributed to an answer.
#[derive(Clone, PartialEq, Debug)]
pub struct Stamp {
    pub repository: String,
    /// Commit id, with `-dirty` for a changed working tree, or digest of the content.
    pub commit: String,
    /// Milliseconds since 1970.
    pub indexed_at_ms: i64,
    /// True if some files are missing because they could not be parsed.
    pub partial: bool,
    /// True if an unpublished run is in progress, so that a newer state may soon be published.
    pub run_in_progress: bool,
    /// A known commit that the answer does not contain.
    pub newer: Option<NewerCommit>,
    /// Why the repository has results, if several repositories were searched.
    pub reason: Option<String>,
}

/// A known state of the source that is newer than the commit from which the answer was computed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewerCommit {
    /// The commit, in the same form as `Stamp::commit`. `None` if the sync of the newer state failed before
    /// its commit was known.
    pub commit: Option<String>,
    pub state: NewerState,
}

/// The state of a newer commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NewerState {
    /// A run is indexing the commit.
    InProgress,
    /// The run that indexed the commit failed.
    Failed,
    /// The run that indexed the commit was cancelled.
    Cancelled,
    /// No run has indexed the commit yet.
    NotIndexed,
    /// The commit is published, and the answer is a page of an older state.
    Published,
}

impl NewerState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::NotIndexed => "not_indexed",
            Self::Published => "published",
        }
    }
}

impl Searcher {
    /// The stamps of the selected repositories that were used. To find newer commits, the newest run of each
    /// repository and the heads of sources on this machine are read.
    pub(crate) async fn stamps(
        &self,
        selected: &[KnownRepository],
        used: &[RepositoryId],
    ) -> Result<Vec<Stamp>, QueryError> {
        let used: BTreeSet<RepositoryId> = used.iter().copied().collect();
        let shown = selected.iter().filter(|known| used.contains(&known.record.id));
        let shown: Vec<(&KnownRepository, &PublishedGeneration)> =
            shown.filter_map(|known| Some((known, known.published.as_ref()?))).collect();
        if shown.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<RepositoryId> = shown.iter().map(|(known, _)| known.record.id).collect();
        let (runs, heads) = tokio::join!(self.ledger.runs_of(&ids, 1, ids.len()), self.heads_of(&shown));
        let newest: BTreeMap<RepositoryId, RunRecord> = runs?.into_iter().map(|run| (run.id.repository, run)).collect();
        let stamp = |(known, published): (&KnownRepository, &PublishedGeneration)| {
            let newest = newest.get(&known.record.id).filter(|run| run.id.generation > published.run.generation);
            Stamp {
                repository: known.record.name.to_string(),
                commit: published.revision.clone(),
                indexed_at_ms: published.indexed_at_ms,
                partial: published.state == RunState::Partial,
                run_in_progress: newest.is_some_and(|run| !run.state.is_finished()),
                newer: newer(known, published, newest, heads.get(&known.record.id).map(String::as_str)),
                reason: None,
            }
        };
        Ok(shown.into_iter().map(stamp).collect())
    }

    async fn heads_of(&self, shown: &[(&KnownRepository, &PublishedGeneration)]) -> BTreeMap<RepositoryId, String> {
        let Some(heads) = &self.heads else { return BTreeMap::new() };
        let read = async |known: &KnownRepository, published: &PublishedGeneration| {
            let mut record = known.record.clone();
            // `.cairn.yaml` may have selected the branch. A working tree has the branch that is checked out.
            if !matches!(record.source, Source::WorkTree { .. }) {
                record.branch = record.branch.or_else(|| published.branch.clone());
            }
            Some((record.id, heads.head(&record).await?))
        };
        let read = shown.iter().take(MAX_HEADS).map(|(known, published)| read(known, published));
        join_all(read).await.into_iter().flatten().collect()
    }
}

/// The known commit that is newer than the published commit. `newest` is the newest run, if it began after
/// the published run.
fn newer(
    known: &KnownRepository,
    published: &PublishedGeneration,
    newest: Option<&RunRecord>,
    head: Option<&str>,
) -> Option<NewerCommit> {
    let state = newest.and_then(|run| match run.state {
        RunState::Running => Some(NewerState::InProgress),
        RunState::Failed if is_still_newest(known, run, head) => Some(NewerState::Failed),
        RunState::Cancelled if is_still_newest(known, run, head) => Some(NewerState::Cancelled),
        RunState::Failed | RunState::Cancelled => None,
        RunState::Published | RunState::Partial => Some(NewerState::Published),
    });
    if let Some((run, state)) = newest.zip(state).filter(|(run, _)| run.revision != published.revision) {
        let commit = (!run.revision.is_empty()).then(|| run.revision.clone());
        return Some(NewerCommit { commit, state });
    }
    let head = head.filter(|head| *head != commit_of(&published.revision))?;
    Some(NewerCommit { commit: Some(head.to_owned()), state: NewerState::NotIndexed })
}

/// Whether the source may still have the commit of a run that was aborted. If the head of the source is
/// known, this head decides. Otherwise, the source has a different commit if a later sync succeeded and began
/// no run.
fn is_still_newest(known: &KnownRepository, run: &RunRecord, head: Option<&str>) -> bool {
    // A run of a refused sync has no commit that could be compared with the head.
    if let Some(head) = head.filter(|_| !run.revision.is_empty()) {
        return head == commit_of(&run.revision);
    }
    let last = known.record.last_sync.as_ref().filter(|last| last.failure.is_none());
    let ended_at_ms = run.ended_at_ms.unwrap_or_default();
    last.is_none_or(|last| last.at_ms <= ended_at_ms)
}

fn commit_of(revision: &str) -> &str {
    revision.strip_suffix(DIRTY).unwrap_or(revision)
}
