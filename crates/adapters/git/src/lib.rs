//! Reads sources: working trees, bare repositories and plain directories on disk, and remotes.
//!
//! The adapter uses a library and a program. The library libgit2 only reads objects: it never checks out
//! files, fetches, or runs a command. The program `git` fetches remotes. The program runs as a restricted
//! child process (see `remote::cage`). Contents come from the object store by id, or from files on disk. When
//! a file on disk is read, its bytes are hashed again. The hash must equal the object id that the listing
//! contains for the file. A path in a git tree is only data: no file with this path is opened.
//!
//! Invariants: each path of a tree is listed once, and the paths are sorted. No path leads out of the root.
//! No limit can be exceeded (entries, depth, bytes, time, memory of children). No URL, error or log line
//! contains a credential.

mod blob_id;
mod disk;
mod failure;
mod history;
mod listing;
mod locate;
mod objects;
mod private_directory;
mod regular_file;
mod remote;
mod settings;
mod sources;
mod work_tree_size;

pub use blob_id::blob_id;
pub use disk::read_beneath;
pub use locate::{locate, repository_name};
pub use objects::repository::stored_revision;
pub use private_directory::{NotPrivate, create_private_directory};
pub use remote::clone::UnusedClone;
pub use remote::url::{InvalidUrl, RemoteUrl};
pub use settings::{GitSettings, Limits, MayOpen, ReadingPlan, RemotePolicy, SettingsFile, SshSettings};
pub use sources::GitSources;
pub use work_tree_size::{TreeSize, tree_size, work_tree_root};
