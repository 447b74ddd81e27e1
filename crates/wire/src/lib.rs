//! The formats of everything that is sent and stored: versioned jobs and artifacts.
//!
//! The types of the domain contain no serialisation; this crate contains it. Jobs are JSON with a `version`.
//! Results, reports and settings are JSON whose readers fill in fields that an older writer did not know.
//! Artifacts are binary: an envelope with kind and version (`envelope`), fields in a fixed order (`codec`),
//! and many records in one compressed file with checksums (`pack`). Every version that was ever written has a
//! golden file and keeps its reader.

mod codec;
mod documents;
mod envelope;
mod job;
mod links;
mod manifest;
mod pack;
mod plan;
mod records;
mod result;
mod settings;

pub use codec::{Decode, DecodeError, Encode, Reader};
pub use documents::{decode_document, encode_document};
pub use envelope::{ArtifactKind, decode, encode};
pub use job::{Job, PartJob, SyncJob};
pub use links::{AskedKeys, FileUnresolved, LinkGroup, LinkState, LinkSummary, LinkedFile, UnresolvedSite};
pub use manifest::Manifest;
pub use pack::{PackReader, PackWriter};
pub use plan::{ChangedPath, Plan, PlannedRefusal};
pub use result::{FileError, PartReport, RunResult, SlotStatus, StageDuration, WrittenArtifact};
pub use settings::{GivenSettings, RequestSettings};
