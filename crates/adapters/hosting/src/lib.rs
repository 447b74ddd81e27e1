//! Lists the repositories of organisations on hosting services: GitHub, GitLab, Gitea and Forgejo. The
//! adapter uses the REST APIs of these services.
//!
//! The service is trusted only for the data about its repositories. The service does not decide where the
//! next request is sent: the adapter uses only the query of a link to the next page. Redirects are not
//! followed, and private addresses are refused unless the operator allows them. There are limits on bytes,
//! pages, entries, repositories and time.
//!
//! Invariants:
//!
//! - A listing contains all pages, or the adapter returns an error.
//! - An entry that cannot be used is reported, and the other entries are listed normally.
//! - The adapter respects the waiting times that the service requests. The adapter sleeps during a short
//!   wait, and returns a long wait as `Throttled`.
//! - No URL, error, log or `Debug` output contains a token.
//! - Text from the service is redacted and limited in length before it becomes part of a message or a record.

mod client;
mod config;
mod foreign;
mod http_reply;
mod page;
mod resolver;
mod service;
mod shape;
mod wait;

pub use config::{CloneOver, HostingConfig, InvalidConfig, Owner, ServiceKind};
pub use service::HostingService;
