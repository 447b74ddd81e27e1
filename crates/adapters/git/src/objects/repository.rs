//! Opens repositories on disk, and resolves their branches to commits.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Once;

use cairn_domain::{BlobId, EntryKind};
use cairn_ports::{ErrorKind, SourceError};
use git2::{Oid, Repository, RepositoryOpenFlags};

use super::memory;
use crate::failure::{failure, from_git, printable};

/// Opens the repository at exactly this path. The directories above are not searched.
pub(crate) fn open_repository(path: &Path) -> Result<Repository, git2::Error> {
    static CONFIGURED: Once = Once::new();
    CONFIGURED.call_once(|| {
        // SAFETY: runs once, before this process opens a repository with this adapter. The call writes one
        // global flag. The check of the owner protects programs that run commands from a repository's
        // configuration. Here, libgit2 only reads.
        let _unused = unsafe { git2::opts::set_verify_owner_validation(false) };
        memory::install();
    });
    Repository::open_ext(path, RepositoryOpenFlags::NO_SEARCH, std::iter::empty::<&OsStr>())
}

pub(crate) fn blob_of(id: Oid) -> BlobId {
    let mut bytes = [0; 20];
    let length = id.as_bytes().len().min(20);
    bytes[..length].copy_from_slice(&id.as_bytes()[..length]);
    BlobId(bytes)
}

/// The kind of entry for a file mode of git. `None` for directories.
pub(crate) fn kind_of_mode(mode: u32) -> Option<EntryKind> {
    match mode & 0o170_000 {
        0o040_000 => None,
        0o120_000 => Some(EntryKind::Symlink),
        0o160_000 => Some(EntryKind::Submodule),
        _ if mode & 0o111 != 0 => Some(EntryKind::Executable),
        _ => Some(EntryKind::File),
    }
}

/// Returns the commit and the name of a branch of a repository on disk. If `branch` is `None`, returns those
/// of `HEAD`.
pub(crate) fn resolve(
    repository: &Repository,
    key: &str,
    branch: Option<&str>,
) -> Result<(BlobId, Option<String>), SourceError> {
    let found = match branch {
        Some(branch) => [format!("refs/heads/{branch}"), format!("refs/remotes/origin/{branch}")]
            .iter()
            .find_map(|name| repository.find_reference(name).ok())
            .ok_or_else(|| {
                let message = format!("the repository has no branch `{}`", printable(branch));
                failure(ErrorKind::NotFound, "resolve", key, message)
            })?,
        None => repository.head().map_err(|error| match error.code() {
            git2::ErrorCode::UnbornBranch | git2::ErrorCode::NotFound => {
                failure(ErrorKind::NotFound, "resolve", key, "the repository has no commit yet")
            }
            _ => from_git("resolve", key, &error),
        })?,
    };
    let commit = memory::small(|| found.peel_to_commit()).map_err(|error| from_git("resolve", key, &error))?;
    let name = branch.map(str::to_owned).or_else(|| found.shorthand().ok().map(str::to_owned));
    Ok((blob_of(commit.id()), name.filter(|name| name != "HEAD")))
}
