//! Computes embeddings with a provider over HTTP: Voyage, any OpenAI-compatible endpoint, or Text Embeddings
//! Inference (TEI).
//!
//! The crate has three layers. The state machines `control` (when to call) and `batches` (what to send) make
//! all decisions, without I/O and without a clock. Time is an argument: a `Duration` since an origin that the
//! caller chooses. A seeded simulation can therefore run the same code as the client. `provider` builds
//! requests and parses replies; it checks a whole reply before any part of it is used. The client connects
//! these two layers with the provider through a `Transport`.
//!
//! Guarantees:
//!
//! - The provider's limits are not exceeded in any window, even when another process takes over the key.
//! - The client respects each wait that the provider requests.
//! - No wrong vector is returned.
//! - The client does not sleep through long waits. It returns a long wait as `Throttled` or `Unavailable`, so
//!   that the consumer pauses.
//! - A key has one owner: only the owner may use the whole quota.

pub mod batches;
mod client;
mod config;
pub mod control;
mod provider;
mod transport;

pub use client::{EmbedderCounters, HttpEmbedder};
pub use config::{EmbeddingHttpConfig, Encoding, InvalidConfig, ProviderKind, QuotaConfig, Share};
pub use transport::{HttpReply, ReqwestTransport, Transport, TransportError};
