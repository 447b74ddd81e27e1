//! The commands of local mode and of a client of a server, and the printers of their answers.

pub(crate) mod doctor;
pub(crate) mod index;
pub(crate) mod index_remote;
mod organisation;
pub(crate) mod print;
mod print_index;
pub(crate) mod print_inventory;
pub(crate) mod question;
pub(crate) mod watch;
