//! Organisations of hosting services: GitHub, GitLab, and Gitea with Forgejo, over their REST APIs.
//!
//! The service is believed in what it says of its repositories and in nothing else. It never says where to send the next request:
//! of a link to the next page only the query is used. It is not followed to another place, nor over private addresses that the
//! operator has not allowed. What it sends is bounded in bytes, pages, entries, repositories and time.
//!
//! What holds: a listing has all pages or is an error; what cannot be used of it is named and does not hide the rest; waits that
//! the service asks for are kept, and long ones returned as `Throttled`; no token is in a URL, an error, a log or a `Debug`.

mod answer;
mod client;
mod config;
mod page;
mod resolver;
mod service;
mod shape;
mod wait;

pub use config::{CloneOver, HostingConfig, InvalidConfig, Owner, ServiceKind};
pub use service::HostingService;
