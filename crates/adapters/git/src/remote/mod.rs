//! Remotes: which URLs are allowed, and how they are fetched into clones.

mod cage;
mod child;
pub(crate) mod clone;
mod complaint;
mod credentials;
pub(crate) mod fetch;
mod ssh;
pub(crate) mod url;
