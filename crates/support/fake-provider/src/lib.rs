//! A provider of embeddings for tests: strict about its quotas, and faulty by script.
//!
//! It speaks the shapes of Voyage, OpenAI and Text Embeddings Inference, refuses what they refuse, and answers 429 as soon as
//! a request or its tokens would exceed a window of the key. Every call is kept with its time, tokens and key, so that a test
//! can ask what was the most in any window and whether a call came earlier than the provider had said. `Provider` is a state
//! machine: time is an argument. `FakeServer` puts it behind a socket, the program `fake-provider` into a process.

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
