//! Reads the records of the previous generation, with which a run compares its own records.

use std::sync::Arc;

use cairn_domain::PackageManifest;
use cairn_wire::ChangedPath;
use rustc_hash::FxHashMap;

use super::kept::KeptLinks;
use crate::snapshot::Snapshot;

/// The paths whose records a run may change.
pub(crate) type ChangedPaths = FxHashMap<String, ChangedPath>;

/// The data of the previous generation that the run compares with its own records.
pub(crate) struct Before {
    /// The files that have changed since the previous generation, in their previous state.
    pub(crate) snapshot: Snapshot,
    pub(crate) kept: Option<Arc<KeptLinks>>,
    pub(crate) packages: Vec<PackageManifest>,
    /// True if every record is new, because no previous generation exists or all records of the previous
    /// generation end.
    pub(crate) is_none: bool,
}
