//! Where repositories come from: working trees, bare repositories and plain directories on disk, and remotes.
//!
//! Two libraries share the work. libgit2 reads objects and the index, and nothing else: it never checks out, fetches or
//! runs anything. The `git` program fetches, as a child in a cage (see `fetch`). Contents come from the object store
//! by id, or from a file whose bytes are hashed again as they are read; a path of a tree is data, never opened.
//!
//! What holds: every path of a tree is listed once, sorted; no path leads out of the root; no bound can be passed
//! (entries, depth, bytes, time); no credential is in a URL, an error or a log.

mod blob_id;
mod child;
mod credentials;
mod directory;
mod failure;
mod fetch;
mod history;
mod listing;
mod locate;
mod objects;
mod on_disk;
mod remote_url;
mod settings;
mod sources;
mod stat_cache;
mod work_tree;

pub use blob_id::blob_id;
pub use locate::{locate, repository_name};
pub use remote_url::{InvalidUrl, RemoteUrl};
pub use settings::{GitSettings, Limits, ReadingPlan, RemotePolicy, SettingsFile, SshSettings};
pub use sources::{GitSources, UnusedClone};
