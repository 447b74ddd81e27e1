//! Embedding by a provider over HTTP: Voyage, any OpenAI-compatible endpoint, Text Embeddings Inference.
//!
//! All decisions about when to call (`control`) and what to send (`batches`) are plain state machines without I/O and
//! without a clock: time is an argument, a `Duration` since an origin of the caller's choice. A seeded simulation drives the
//! same code as the client does.

pub mod batches;
pub mod control;
