//! Opens repositories on disk, and resolves their branches to commits.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;

use cairn_domain::{BlobId, EntryKind};
use cairn_ports::{ErrorKind, SourceError};
use git2::{Commit, ConfigLevel, Oid, Reference, Repository, RepositoryOpenFlags};

use super::loose::LooseObjects;
use super::memory;
use crate::failure::{failure, from_git, printable};

/// Maximum number of tags between a reference and its commit.
const MAX_TAGS: usize = 10;

/// The files of a git directory that libgit2 reads when it opens a repository. If one of them were a pipe,
/// libgit2 would wait for a writer.
const READ_FIRST: &[&str] = &[
    "HEAD",
    "commondir",
    "config",
    "config.worktree",
    "gitdir",
    "info/grafts",
    "objects/info/alternates",
    "packed-refs",
    "shallow",
];

/// Extensions of the format that do not change how objects and the index are read.
const HARMLESS_EXTENSIONS: &[&str] = &["partialclone", "relativeworktrees"];

/// Opens the repository at exactly this path. The directories above are not searched, and the settings of the
/// user and of the machine are not read.
pub(crate) fn open_repository(path: &Path) -> Result<Repository, git2::Error> {
    static CONFIGURED: Once = Once::new();
    CONFIGURED.call_once(|| {
        // SAFETY: runs once, before this process opens a repository with this adapter. The calls write global
        // values. The check of the owner protects programs that run commands from a repository's
        // configuration. Here, libgit2 only reads.
        unsafe {
            let _unused = git2::opts::set_verify_owner_validation(false);
            let _unused = git2::opts::set_extensions(HARMLESS_EXTENSIONS);
            for level in [ConfigLevel::ProgramData, ConfigLevel::System, ConfigLevel::XDG, ConfigLevel::Global] {
                let _unused = git2::opts::set_search_path(level, "");
            }
        }
        memory::install();
    });
    check_regular(path)?;
    Repository::open_ext(path, RepositoryOpenFlags::NO_SEARCH, std::iter::empty::<&OsStr>())
}

fn check_regular(path: &Path) -> Result<(), git2::Error> {
    let inner = path.join(".git");
    let git_directory = if inner.is_dir() { &inner } else { path };
    let read_first = READ_FIRST.iter().map(|name| git_directory.join(name));
    // In a linked working tree, `.git` is a file.
    let linked = (!inner.is_dir()).then(|| inner.clone());
    let is_special = |path: &PathBuf| fs::metadata(path).is_ok_and(|found| !found.is_file());
    match read_first.chain(linked).find(is_special) {
        Some(special) => Err(git2::Error::from_str(&format!("`{}` is not a regular file", special.display()))),
        None => Ok(()),
    }
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

/// Returns the commit of a repository on disk that `revision` names, and the name of its branch or tag. The
/// revision is a branch, a tag or a commit id, tried in this order. `None` means `HEAD`.
pub(crate) fn resolve(
    repository: &Repository,
    key: &str,
    revision: Option<&str>,
) -> Result<(BlobId, Option<String>), SourceError> {
    let broken = |error: git2::Error| from_git("resolve", key, &error);
    let Some(revision) = revision else {
        let head = repository.head().map_err(|error| match error.code() {
            git2::ErrorCode::UnbornBranch | git2::ErrorCode::NotFound => {
                failure(ErrorKind::NotFound, "resolve", key, "the repository has no commit yet")
            }
            _ => broken(error),
        })?;
        let commit = commit_of(repository, &head).map_err(broken)?;
        let name = head.shorthand().ok().filter(|name| *name != "HEAD").map(str::to_owned);
        return Ok((blob_of(commit.id()), name));
    };
    let names = ["refs/heads", "refs/remotes/origin", "refs/tags"].map(|folder| format!("{folder}/{revision}"));
    if let Some(reference) = names.iter().find_map(|name| repository.find_reference(name).ok()) {
        let commit = commit_of(repository, &reference).map_err(broken)?;
        return Ok((blob_of(commit.id()), Some(revision.to_owned())));
    }
    let commit = commit_id(revision).and_then(|id| commit_behind(repository, id).ok());
    let commit = commit.ok_or_else(|| {
        let message = format!("the repository has no branch, tag or commit `{}`", printable(revision));
        failure(ErrorKind::NotFound, "resolve", key, message)
    })?;
    Ok((blob_of(commit.id()), None))
}

/// The id of a commit, if `revision` is a whole id. Abbreviated ids may become ambiguous later.
pub(crate) fn commit_id(revision: &str) -> Option<Oid> {
    let is_id = revision.len() == 40 && revision.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_id { Oid::from_str(revision).ok() } else { None }
}

/// The commit that a reference names, directly or through tags.
pub(crate) fn commit_of<'r>(repository: &'r Repository, reference: &Reference<'_>) -> Result<Commit<'r>, git2::Error> {
    let no_target = || git2::Error::from_str("the reference names no object");
    let id = memory::small(|| reference.resolve())?.target().ok_or_else(no_target)?;
    commit_behind(repository, id)
}

/// The commit with this id, or the commit that the tag with this id names.
fn commit_behind(repository: &Repository, mut id: Oid) -> Result<Commit<'_>, git2::Error> {
    let loose = LooseObjects::of(repository);
    for _ in 0..MAX_TAGS {
        loose.check(id)?;
        let object = memory::small(|| repository.find_object(id, None))?;
        match object.into_tag() {
            Ok(tag) => id = tag.target_id(),
            Err(object) => return object.peel_to_commit(),
        }
    }
    Err(git2::Error::from_str("the tag names a chain of too many tags"))
}
