//! Opens the source of a sync. A caller may open the source before the sync, so that it can refuse invalid
//! settings before it registers or changes anything.

use std::sync::Arc;
use std::time::Duration;

use cairn_config::{RepositorySettings, SETTINGS_FILE};
use cairn_domain::{EntryKind, RepositoryName, Source};
use cairn_pipeline::StageError;
use cairn_ports::{
    ErrorKind, FailureCode, ListingLimit, ReadOptions, RepositoryRecord, SnapshotTree, SourceError, SyncMeter,
    TreeEntry,
};
use cairn_redaction::{Message, quoted};
use cairn_wire::RequestSettings;
use tokio::time::Instant;

use super::deadline::Deadline;
use super::listing_ceilings::ListingCeilings;
use super::on_change::OnChange;
use super::refusal;
use super::settings::{self, Effective};
use super::{Sync, SyncRequest};
use crate::threads::blocking;

/// Maximum size of `.cairn.yaml`. A larger file is invalid.
const MAX_SETTINGS_BYTES: u64 = 256 * 1024;

/// A source that was opened before its sync.
pub struct OpenedSource {
    /// The tree, or the error that occurred when the tree was opened or its settings were read.
    pub tree: Result<Arc<dyn SnapshotTree>, StageError>,
    /// How long the opening took. This time counts towards the time limit of the sync.
    pub(super) took: Duration,
}

impl Sync {
    /// Opens the source and checks its settings. Returns an error only if the settings are invalid; the
    /// caller must then change nothing. Any other error is part of the result, and the sync reports it.
    pub async fn check_source(&self, request: &SyncRequest) -> Result<OpenedSource, StageError> {
        let meter = Arc::new(SyncMeter::default());
        let opening = async {
            let tree = self.open(request, &meter).await?;
            self.settings(request, &tree, &meter, OnChange::ListAgain).await?;
            Ok(tree)
        };
        let began_at = Instant::now();
        let deadline = Deadline::new(began_at, self.operator.ceilings.sync_timeout_seconds);
        match deadline.limit(&meter, opening).await {
            Err(error) if error.code == FailureCode::InvalidSettings => Err(error),
            tree => Ok(OpenedSource { tree, took: began_at.elapsed() }),
        }
    }

    /// Opens the source. If neither the caller nor the operator has selected a branch, `.cairn.yaml` on the
    /// default branch may select a branch. A `.cairn.yaml` on the selected branch cannot select a further
    /// branch. For a working tree, the files on disk are read, regardless of the branch.
    pub(super) async fn open(
        &self,
        request: &SyncRequest,
        meter: &Arc<SyncMeter>,
    ) -> Result<Arc<dyn SnapshotTree>, StageError> {
        let RepositoryRecord { branch, source, .. } = &request.repository;
        let tree = self.open_branch(request, branch.clone(), meter).await?;
        let is_git = matches!(source, Source::Bare { .. } | Source::Url { .. });
        if branch.is_some() || !is_git {
            return Ok(tree);
        }
        let of_tree = Arc::clone(&tree);
        let declared = blocking(move || Ok(declared_branch(of_tree.as_ref()))).await?;
        let Some(declared) = declared.filter(|declared| tree.branch() != Some(declared)) else { return Ok(tree) };
        self.open_branch(request, Some(declared.clone()), meter).await.map_err(|error| match error.code {
            FailureCode::NotFound => {
                let message = Message::from("`branch` in `.cairn.yaml`: ").and(quoted(&declared));
                refusal::invalid(message.and(" does not exist"))
            }
            _ => error,
        })
    }

    async fn open_branch(
        &self,
        request: &SyncRequest,
        branch: Option<String>,
        meter: &Arc<SyncMeter>,
    ) -> Result<Arc<dyn SnapshotTree>, StageError> {
        let RepositoryRecord { tenant, source: location, .. } = request.repository.clone();
        let options = ReadOptions {
            tenant: Some(tenant),
            branch,
            cache: request.cache.clone(),
            meter: Arc::clone(meter),
            listing: self.listing_limit(),
        };
        let source = Arc::clone(&self.source);
        let tree = blocking(move || source.open(&location, &options).map_err(refusal::of_opening)).await?;
        Ok(Arc::from(tree))
    }

    pub(super) async fn settings(
        &self,
        request: &SyncRequest,
        tree: &Arc<dyn SnapshotTree>,
        meter: &Arc<SyncMeter>,
        on_change: OnChange,
    ) -> Result<Effective, StageError> {
        let request_settings = RequestSettings::from_json(&request.repository.settings)
            .map_err(|error| quoted(&error))
            .map_err(|why| refusal::invalid(Message::from("the stored settings cannot be read: ").and(why)))?;
        let (operator, tree, meter) = (Arc::clone(&self.operator), Arc::clone(tree), Arc::clone(meter));
        blocking(move || settings::read(tree.as_ref(), &operator, &request_settings, &meter, on_change)).await
    }

    /// Returns a limit that ends a listing as soon as the listing exceeds a ceiling of the operator.
    fn listing_limit(&self) -> ListingLimit {
        let ceilings = ListingCeilings::of(&self.operator);
        ListingLimit::new(move |listed| {
            ceilings
                .check(listed)
                .map_err(|message| SourceError::new(ErrorKind::TooLarge, "open", "tree").because(message))
        })
    }
}

/// The branch that `.cairn.yaml` in the root selects.
fn declared_branch(tree: &dyn SnapshotTree) -> Option<String> {
    settings_in(tree)?.branch
}

/// The name that `.cairn.yaml` in the root of an opened source declares.
pub async fn declared_name(tree: &Arc<dyn SnapshotTree>) -> Result<Option<RepositoryName>, StageError> {
    let tree = Arc::clone(tree);
    let settings = blocking(move || Ok(settings_in(tree.as_ref()))).await?;
    Ok(settings.and_then(|settings| settings.name).map(RepositoryName::new))
}

/// The settings from `.cairn.yaml` in the root. `None` if the file does not exist or cannot be read. If the
/// file cannot be read, the sync reports this later, when it reads all settings.
fn settings_in(tree: &dyn SnapshotTree) -> Option<RepositorySettings> {
    let is_settings = |entry: &&TreeEntry| entry.path.as_str() == SETTINGS_FILE;
    let entry = tree.entries().iter().find(is_settings)?;
    let is_file = matches!(entry.kind, EntryKind::File | EntryKind::Executable);
    if !is_file || entry.size_bytes > MAX_SETTINGS_BYTES {
        return None;
    }
    let bytes = tree.reader().ok()?.read(entry).ok()?;
    RepositorySettings::parse(&String::from_utf8(bytes).ok()?).ok()
}
