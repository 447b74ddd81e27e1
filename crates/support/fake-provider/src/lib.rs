//! A provider of embeddings for tests, with strict quotas and scripted faults.
//!
//! The provider imitates Voyage, OpenAI or Text Embeddings Inference, and refuses the requests that the
//! imitated provider would refuse. The provider returns 429 as soon as a request or its tokens would exceed
//! the limit of a key in a window. The provider records every call with its time, tokens and key. So a test
//! can check the maximum usage in any window, and whether a call came earlier than the provider permitted.
//! `Provider` is a state machine that gets the time as an argument. `FakeServer` serves the provider on a
//! socket. The program `fake-provider` runs the server as a separate process.

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
