//! Decides which URLs of remotes are allowed, and fetches remotes into clones.

mod cage;
mod child;
pub(crate) mod clone;
mod complaint;
mod credentials;
pub(crate) mod fetch;
mod fsck;
mod ssh;
pub(crate) mod url;
