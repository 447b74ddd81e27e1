//! Organisations of hosting services: GitHub, GitLab, and Gitea with Forgejo, over their REST APIs.
//!
//! The service is trusted for the data about its repositories only. It does not decide where the next request
//! goes: only the query of a link to the next page is used. Redirects are not followed, and private addresses
//! are refused unless the operator allows them. Its replies have limits of bytes, pages, entries,
//! repositories and time.
//!
//! Invariants: a listing contains all pages, or it is an error. Entries that cannot be used are reported and
//! do not hide the others. The adapter keeps the waits that the service requests: it sleeps through a short
//! one and returns a long one as `Throttled`. No URL, error, log or `Debug` output contains a token. Text of
//! the service is redacted and bounded in messages and in records.

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
