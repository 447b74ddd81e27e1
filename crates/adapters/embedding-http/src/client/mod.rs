//! The client: texts in, vectors out, through the gate and the transport.

mod batch;
mod counters;
mod embedder;
mod gate;
mod kept;
mod remainders;

pub use counters::EmbedderCounters;
pub use embedder::HttpEmbedder;
