//! What services share, over real servers.

mod key;
mod registration;
mod replica;
