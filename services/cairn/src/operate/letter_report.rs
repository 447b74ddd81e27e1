//! Dead letters in the form in which they are printed.

use cairn_domain::RepositoryName;
use cairn_ports::DeadLetter;
use cairn_wire::{FailureName, Job};
use serde::Serialize;

/// A page of dead letters, oldest first.
#[derive(Debug, Serialize)]
pub(crate) struct LetterList {
    pub dead_letters: Vec<LetterReport>,
    pub has_more: bool,
}

/// A dead letter.
#[derive(Debug, Serialize)]
pub(crate) struct LetterReport {
    pub id: String,
    pub stage: &'static str,
    pub part: Option<u32>,
    pub generation: Option<u64>,
    pub request: Option<u64>,
    pub tenant: Option<String>,
    pub repository_id: Option<String>,
    /// Null if the repository was removed, or if the catalogue is not available.
    pub repository: Option<String>,
    pub lane: &'static str,
    pub code: FailureName,
    pub message: String,
    pub num_failed_attempts: u32,
    /// The body of the message. Set only if a single letter is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

/// The action that was taken for a dead letter.
#[derive(Debug, Serialize)]
pub(crate) struct DecisionReport {
    pub id: String,
    pub outcome: DecisionName,
    /// Number of the sync request.
    pub request: Option<u64>,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DecisionName {
    PublishedAgain,
    SyncRequested,
    Dropped,
}

impl LetterReport {
    pub fn of(letter: &DeadLetter, name: Option<&RepositoryName>) -> Self {
        let (part, generation, request) = match &letter.job {
            Some(Job::Part(job)) => (Some(job.part.number), Some(job.run.generation.0), None),
            Some(Job::Sync(job)) => (None, None, Some(job.request)),
            None => (None, None, None),
        };
        Self {
            id: letter.id.to_string(),
            stage: letter.stage.as_str(),
            part,
            generation,
            request,
            tenant: letter.job.as_ref().map(|job| job.tenant().to_string()),
            repository_id: letter.job.as_ref().map(|job| job.repository().to_string()),
            repository: name.map(ToString::to_string),
            lane: letter.lane.as_str(),
            code: letter.code.into(),
            message: letter.message.clone(),
            num_failed_attempts: letter.num_failed_attempts,
            body: None,
        }
    }
}
