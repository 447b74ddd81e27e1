//! Stores the indexes of repositories as layers in a blob store.
//!
//! A run stages a layer with the records that it wrote. The sweep merges layers: a merged layer lists the
//! layers that it replaces, and the replaced layers are deleted later. A generation is *settled* if the sweep
//! has reported that no view in use is older than the generation. The sweep then writes a mark, which is
//! needed until the layers of the generation are merged. The format is the same for local storage and S3.
//!
//! An index decides what its layers contain and which layers are merged. `LayerStore` lists, reads, caches
//! and deletes layers.

mod cache;
pub mod keys;
mod maintenance;
mod store;

use bytes::Bytes;
use cairn_ports::PortError;

pub use maintenance::{Stored, maintenance_error, replaced_by};
pub use store::{LayerStore, NamedLayer, damaged, of_blobs};

/// A layer of an index: immutable records in one object of the blob store.
pub trait Layer: Sized + Send + Sync + 'static {
    /// The folder of the index in the blob store.
    const FOLDER: &'static str;
    /// Replaced layers are kept for this time, because a listing that began before the merge may miss the
    /// merged layer.
    const REPLACED_KEPT_SECONDS: i64;

    /// The error of the index's port.
    type Error: PortError;
    /// The error for bytes that are not a layer, or that are a damaged layer.
    type Damage: std::error::Error + Send + Sync + 'static;

    fn read(bytes: &Bytes) -> Result<Self, Self::Damage>;

    /// The approximate memory of the layer in bytes.
    fn size_bytes(&self) -> usize;

    fn tenant(&self) -> &str;

    /// The keys of the layers that this layer replaces.
    fn replaces(&self) -> &[String];
}
