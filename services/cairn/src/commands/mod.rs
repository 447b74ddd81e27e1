//! The commands for a local index and for a server, and the functions that print their answers.

mod bars;
pub(crate) mod command_line;
pub(crate) mod doctor;
pub(crate) mod first_use;
mod guide_text;
pub(crate) mod index;
pub(crate) mod index_remote;
mod organisation;
pub(crate) mod print;
mod print_index;
pub(crate) mod print_inventory;
pub(crate) mod question;
pub(crate) mod suggest;
pub(crate) mod watch;
