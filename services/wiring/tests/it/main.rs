//! What services share, over real servers.

mod key;
mod organisations;
mod registration;
mod replica;
