//! Tests sources with real repositories, directories and servers that each test creates.

mod clones;
mod conformance;
mod delta_bomb;
mod directory;
mod git_files;
mod history;
mod objects;
mod races;
mod remote;
mod special_files;
mod support;
mod work_tree;
