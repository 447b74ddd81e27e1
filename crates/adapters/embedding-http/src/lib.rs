//! Embedding by a provider over HTTP: Voyage, any OpenAI-compatible endpoint, Text Embeddings Inference.
//!
//! Three layers. All decisions about when to call (`control`) and what to send (`batches`) are plain state machines without
//! I/O and without a clock: time is an argument, a `Duration` since an origin of the caller's choice. A seeded simulation
//! drives the same code as the client does. `provider` knows the shapes of requests and answers; it checks every answer
//! before anything of it is used. The client puts both around a `Transport`.
//!
//! What holds: the provider's limits are not exceeded in any window, also when another process takes the key over; a wait that
//! the provider asks for is kept; nothing wrong is returned; long waits are not slept here but returned as `Throttled`
//! or `Unavailable`, so that the consumer pauses. A key has one owner: only it may use this with the whole quota.

pub mod batches;
mod client;
mod config;
pub mod control;
mod provider;
mod transport;

pub use client::{EmbedderCounters, HttpEmbedder};
pub use config::{EmbeddingHttpConfig, Encoding, InvalidConfig, ProviderKind, QuotaConfig, Share};
pub use transport::{HttpAnswer, ReqwestTransport, Transport, TransportError};
