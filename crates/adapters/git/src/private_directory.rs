//! Creates and checks directories that only their owner may enter.
//!
//! The clones contain texts that are redacted everywhere else, and Cairn trusts the files of the index. So
//! each of these directories has mode 0700. A directory of another user is refused: its owner could replace
//! every file in it.
//!
//! The parents of the directory are checked too. If every user may write to a parent, any user can replace
//! the directory with another directory while Cairn runs. If the parent has the sticky bit (like `/tmp`),
//! other users cannot do this. The owners of the parents and the members of their groups are trusted, because
//! an index is often in a shared project with `umask 002`, or in a mounted directory of a container.

use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The reason why a directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NotPrivate {
    #[error(
        "the directory `{}` belongs to the user with id {owner}, but this process runs as the user with id {user}; \
         run as its owner, change its owner (`chown`), or configure another directory",
        .path.display()
    )]
    ForeignOwner { path: PathBuf, owner: u32, user: u32 },
    #[error(
        "every user may replace `{}`, because its parent `{}` is writable by all users and has no sticky bit; \
         protect the parent (`chmod o-w`), or configure another directory",
        .path.display(), .parent.display()
    )]
    ReplaceableByOthers { path: PathBuf, parent: PathBuf },
    #[error("`{}` is not a directory; remove it, or configure another directory", .0.display())]
    NotADirectory(PathBuf),
    #[error("cannot create or protect the directory `{}`", .path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Creates the directory with mode 0700 if it does not exist. If it exists, this function checks its owner
/// and removes the permissions of all other users. Returns an error if a parent without the sticky bit is
/// writable by every user.
pub fn create_private_directory(path: &Path) -> Result<(), NotPrivate> {
    create_for(path, rustix::process::geteuid().as_raw())
}

fn create_for(path: &Path, user: u32) -> Result<(), NotPrivate> {
    let failed = |source| NotPrivate::Io { path: path.to_owned(), source };
    check_parents(path, &std::path::absolute(path).map_err(failed)?)?;
    if !path.exists() {
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
    }
    // The owner of a link can change its target, so this owner is checked too.
    check_owner(path, &fs::symlink_metadata(path).map_err(failed)?, user)?;
    let metadata = fs::metadata(path).map_err(failed)?;
    if !metadata.is_dir() {
        return Err(NotPrivate::NotADirectory(path.to_owned()));
    }
    // The target of a link may have different parents, so these are checked too.
    check_parents(path, &path.canonicalize().map_err(failed)?)?;
    check_owner(path, &metadata, user)?;
    if metadata.mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(failed)?;
    }
    Ok(())
}

/// Checks the parents that exist.
fn check_parents(path: &Path, full: &Path) -> Result<(), NotPrivate> {
    for parent in full.ancestors().skip(1) {
        let Ok(metadata) = fs::metadata(parent) else { continue };
        let (is_open, is_sticky) = (metadata.mode() & 0o002 != 0, metadata.mode() & 0o1000 != 0);
        if is_open && !is_sticky {
            return Err(NotPrivate::ReplaceableByOthers { path: path.to_owned(), parent: parent.to_owned() });
        }
    }
    Ok(())
}

fn check_owner(path: &Path, metadata: &Metadata, user: u32) -> Result<(), NotPrivate> {
    if metadata.uid() == user {
        return Ok(());
    }
    Err(NotPrivate::ForeignOwner { path: path.to_owned(), owner: metadata.uid(), user })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("a directory").mode() & 0o777
    }

    #[test]
    fn new_and_old_directories_become_private() {
        let directory = tempfile::tempdir().expect("directory");
        let new = directory.path().join("a/b");
        create_private_directory(&new).expect("created");
        assert_eq!((mode(&new), mode(&directory.path().join("a"))), (0o700, 0o700));
        let old = directory.path().join("old");
        fs::create_dir(&old).expect("created");
        fs::set_permissions(&old, Permissions::from_mode(0o777)).expect("opened");
        create_private_directory(&old).expect("protected");
        assert_eq!(mode(&old), 0o700);
    }

    #[test]
    fn parents_writable_for_every_user_are_refused() {
        let directory = tempfile::tempdir().expect("directory");
        let parent = directory.path().join("shared");
        fs::create_dir_all(parent.join("between")).expect("created");
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(parent.join("between"), &link).expect("linked");
        let check = |mode: u32, is_refused: bool| {
            fs::set_permissions(&parent, Permissions::from_mode(mode)).expect("changed");
            for path in [parent.join("between/index"), parent.join("between"), link.clone(), link.join("other")] {
                let created = create_private_directory(&path);
                let refused = matches!(&created, Err(NotPrivate::ReplaceableByOthers { parent: open, .. })
                    if open.ends_with("shared"));
                assert_eq!(refused, is_refused, "{mode:o} {}: {created:?}", path.display());
                assert_eq!(created.is_err(), is_refused, "{mode:o} {}: {created:?}", path.display());
            }
        };
        check(0o777, true);
        assert!(!parent.join("between/index").exists(), "a refused directory is created");
        check(0o1777, false);
        check(0o775, false);
    }

    #[test]
    fn foreign_directories_and_links_are_refused() {
        let directory = tempfile::tempdir().expect("directory");
        let user = rustix::process::geteuid().as_raw();
        let error = create_for(directory.path(), user + 1).expect_err("another user's").to_string();
        assert!(error.contains("chown") && error.contains(&format!("id {user},")), "{error}");
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(directory.path(), &link).expect("linked");
        assert!(matches!(create_for(&link, user + 1), Err(NotPrivate::ForeignOwner { .. })));
        create_for(&link, user).expect("a link that the same user owns");
        let file = directory.path().join("file");
        fs::write(&file, "").expect("written");
        assert!(matches!(create_for(&file, user), Err(NotPrivate::NotADirectory(_))));
    }
}
