//! Lists and reads sources whose files come from the file system: working trees and plain directories.

mod directory;
mod dirty;
mod identify;
mod ignore_rules;
mod parallel;
mod reader;
mod root;
mod stat_cache;
mod tree;
mod work_tree;

pub(crate) use directory::{count as count_directory, open as open_directory};
pub use root::read_beneath;
pub(crate) use work_tree::{count as count_work_tree, open as open_work_tree};
