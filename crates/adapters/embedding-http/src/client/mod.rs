//! The client: it takes texts, calls the provider through the gate and the transport, and returns vectors.

mod batch;
mod counters;
mod embedder;
mod gate;
mod kept;
mod remainders;

pub use counters::EmbedderCounters;
pub use embedder::HttpEmbedder;
