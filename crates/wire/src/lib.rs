//! The formats of all jobs and artifacts that are sent or stored. All formats are versioned.
//!
//! The types of the domain contain no serialisation code. This crate contains all serialisation code. Jobs
//! are JSON with a `version`. Results, reports and settings are also JSON. If an older writer did not write a
//! field, the reader uses a default value. Artifacts are binary: an envelope with kind and version
//! (`envelope`), fields in a fixed order (`codec`), and many records in one compressed file with checksums
//! (`pack`). Every version that was ever written has a golden file, and this crate can still read it.

mod codec;
mod documents;
mod envelope;
mod failure_name;
mod job;
mod links;
mod manifest;
mod pack;
mod plan;
mod records;
mod result;
mod run_document;
mod settings;
mod term_counts;

pub use codec::{Decode, DecodeError, Encode, Reader};
pub use documents::{decode_document, encode_document};
pub use envelope::{ArtifactKind, decode, encode};
pub use failure_name::FailureName;
pub use job::{Job, PartJob, SyncJob};
pub use links::{AskedKeys, FileUnresolved, LinkGroup, LinkState, LinkSummary, LinkedFile, UnresolvedSite};
pub use manifest::{Manifest, SkipRules};
pub use pack::{Pack, PackReader, PackWriter};
pub use plan::{ChangedPath, Plan, PlannedRefusal};
pub use result::{FileError, PartReport, RunResult, SlotStatus, StageDuration, WrittenArtifact};
pub use settings::{GivenSettings, RequestSettings};
