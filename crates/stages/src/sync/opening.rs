//! Opens the source of a sync. A caller may open the source before the sync, so that it can refuse invalid
//! settings before it registers or changes anything.

use std::sync::Arc;
use std::time::Duration;

use cairn_pipeline::StageError;
use cairn_ports::{
    ErrorKind, FailureCode, ListingLimit, ReadOptions, RepositoryRecord, SnapshotTree, SourceError, SyncMeter,
};
use cairn_wire::RequestSettings;

use super::refusal::{self, over_budget};
use super::settings::{self, Effective};
use super::{Sync, SyncRequest};
use crate::threads::blocking;

/// A source that was opened before its sync, or the error of opening it or of reading its settings.
pub type OpenedSource = Result<Arc<dyn SnapshotTree>, StageError>;

impl Sync {
    /// Opens the source and checks its settings. Returns an error only for invalid settings, so that the
    /// caller changes nothing. Every other error is part of the result, and the sync reports it.
    pub async fn check_source(&self, request: &SyncRequest) -> Result<OpenedSource, StageError> {
        let meter = Arc::new(SyncMeter::default());
        let opening = async {
            let tree = self.open(request, &meter).await?;
            self.settings(request, &tree).await?;
            Ok(tree)
        };
        let limit_seconds = self.operator.ceilings.sync_timeout_seconds;
        let opened = tokio::time::timeout(Duration::from_secs(limit_seconds), opening).await;
        match opened.unwrap_or_else(|_| Err(too_long(limit_seconds, limit_seconds))) {
            Err(error) if error.code == FailureCode::InvalidSettings => Err(error),
            opened => Ok(opened),
        }
    }

    pub(super) async fn open(&self, request: &SyncRequest, meter: &Arc<SyncMeter>) -> OpenedSource {
        let RepositoryRecord { tenant, branch, source: location, .. } = request.repository.clone();
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
    ) -> Result<Effective, StageError> {
        let request_settings = RequestSettings::from_json(&request.repository.settings)
            .map_err(|error| refusal::invalid(format!("stored settings: {error}")))?;
        let (operator, tree) = (Arc::clone(&self.operator), Arc::clone(tree));
        blocking(move || settings::read(tree.as_ref(), &operator, &request_settings)).await
    }

    /// Returns a limit that ends a listing when it exceeds the operator's maximum number of paths.
    fn listing_limit(&self) -> ListingLimit {
        let limit = self.operator.sources.max_entries;
        ListingLimit::new(move |listed| {
            if listed.num_paths <= limit {
                return Ok(());
            }
            let message = format!("the tree has more than {limit} paths (`sources.max_entries`)");
            Err(SourceError::new(ErrorKind::TooLarge, "open", "tree").because(message))
        })
    }
}

pub(super) fn too_long(figure: u64, limit_seconds: u64) -> StageError {
    over_budget("seconds of wall time", figure, limit_seconds, "ceilings.sync_timeout_seconds")
}
