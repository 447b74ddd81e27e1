//! A provider of embeddings for tests, with strict quotas and scripted faults.
//!
//! It supports the shapes of Voyage, OpenAI and Text Embeddings Inference, and refuses the same requests as
//! they do. It returns 429 as soon as a request or its tokens would exceed a window of the key. It records
//! every call with time, tokens and key, so that a test can check the maximum of any window, and whether a
//! call came earlier than the provider allowed. `Provider` is a state machine: time is an argument.
//! `FakeServer` serves it on a socket, the program `fake-provider` in a process.

mod calls;
mod faults;
mod provider;
mod server;
mod settings;
mod shapes;
mod texts;
mod usage;

pub use calls::{Call, Report};
pub use faults::Fault;
pub use provider::{Provider, Reply, Request};
pub use server::FakeServer;
pub use settings::Settings;
pub use shapes::Shape;
