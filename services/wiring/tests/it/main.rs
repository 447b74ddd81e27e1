//! What services share, over real servers.

mod documented;
mod key;
mod registration;
mod replica;
