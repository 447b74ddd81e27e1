//! Sources against real repositories, directories and servers, all made for the occasion.

mod conformance;
mod directory;
mod history;
mod objects;
mod remote;
mod support;
mod work_tree;
