//! Opens repositories on disk, and resolves their branches to commits.

use std::path::{Path, PathBuf};
use std::sync::Once;

use cairn_domain::{BlobId, EntryKind};
use cairn_ports::{ErrorKind, SourceError};
use cairn_redaction::quoted;
use git2::{Commit, Odb, Oid, Repository};

use super::config::Config;
use super::git_directory::{GitDirectory, is_absent};
use super::index_file::{self, TrackedFile};
use super::loose::LooseObjects;
use super::memory::{self, MAX_SMALL_BYTES, Work, small};
use super::object_files::{ObjectDirectories, open_objects};
use super::references::{self, short_name};
use crate::failure::{failure, from_git, printable};
use crate::regular_file::{open_regular, read_regular};

/// Maximum number of tags between a reference and its commit.
const MAX_TAGS: usize = 10;

/// These paths are listed only if the files cannot be read or used.
pub(crate) const CONFIG_FILE: &[u8] = b".git/config";
const ALTERNATES_FILE: &[u8] = b".git/objects/info/alternates";
const SHALLOW_FILE: &[u8] = b".git/shallow";

const UNUSABLE_CONFIG: &str = "the configuration of git cannot be used, so its settings have no effect";
const UNUSABLE_ALTERNATES: &str =
    "the list of other object directories cannot be used in full, so objects may be missing";
const UNUSABLE_SHALLOW: &str =
    "the list of shallow commits cannot be used, so the times at which files were changed are missing";

/// Maximum size of the list of commits whose parents a shallow clone does not contain.
const MAX_SHALLOW_BYTES: u64 = 64 << 20;

/// An index with up to this number of paths is read even if the limit on the paths of a tree is lower.
const MIN_INDEX_PATHS: usize = 1_000_000;

/// An open repository.
///
/// libgit2 reads only the objects. It never opens the repository itself. Otherwise it would open the
/// configuration with its includes, the references, the list of grafts and the commit graph, and would hang
/// if one of these files were a pipe.
pub(crate) struct OpenRepository {
    directory: GitDirectory,
    config: Config,
    /// Why the configuration cannot be read or used. The defaults apply instead.
    config_fault: Option<String>,
    object_directories: Vec<PathBuf>,
    /// Why a list of alternates cannot be used in full.
    alternates_fault: Option<String>,
    /// A repository of libgit2 that consists only of the objects.
    objects: Repository,
}

/// The head of a repository: its commit, and the name of its branch.
pub(crate) struct Head {
    pub(crate) id: Oid,
    pub(crate) branch: Option<String>,
}

impl OpenRepository {
    /// Opens the repository at exactly this path. The directories above are not searched. The code of the
    /// error is `NotFound` if no repository is there.
    pub(crate) fn open(path: &Path) -> Result<Self, git2::Error> {
        static ALLOCATOR: Once = Once::new();
        ALLOCATOR.call_once(memory::install);
        let directory = GitDirectory::find(path)?;
        let (config, config_fault) = match Config::read(&directory) {
            Ok(config) => (config, None),
            Err(why) => (Config::default(), Some(why)),
        };
        config.check_format()?;
        let ObjectDirectories { all: object_directories, fault: alternates_fault } =
            ObjectDirectories::find(directory.common());
        let objects = Repository::from_odb(open_objects(&object_directories)?)?;
        Ok(Self { directory, config, config_fault, object_directories, alternates_fault, objects })
    }

    /// The files of git that cannot be read or used, with the reasons. Each path is the path in a working
    /// tree, for example `.git/config`.
    pub(crate) fn faults(&self) -> Vec<(&'static [u8], String)> {
        let faults = [
            (CONFIG_FILE, UNUSABLE_CONFIG, self.config_fault.clone()),
            (ALTERNATES_FILE, UNUSABLE_ALTERNATES, self.alternates_fault.clone()),
            (SHALLOW_FILE, UNUSABLE_SHALLOW, self.shallow_commits().err()),
        ];
        let faults = faults.into_iter().filter_map(|(file, effect, why)| Some((file, effect, why?)));
        faults.map(|(file, effect, why)| (file, format!("{effect}: {}; run `git status`", quoted(&why)))).collect()
    }

    /// The content of the list of commits whose parents a shallow clone does not contain. It is empty if the
    /// clone is not shallow. The error states why the list cannot be read.
    pub(crate) fn shallow_commits(&self) -> Result<Vec<u8>, String> {
        let file = open_regular(&self.directory.common().join("shallow"));
        match file.and_then(|file| read_regular(file, MAX_SHALLOW_BYTES)) {
            Ok((bytes, _)) => Ok(bytes),
            Err(error) if is_absent(&error) => Ok(Vec::new()),
            Err(error) => Err(format!("the list cannot be read ({error})")),
        }
    }

    /// Whether the repository has no working tree. The working trees of a bare repository share its
    /// configuration, so `core.bare` does not apply to them.
    pub(crate) fn is_bare(&self) -> bool {
        self.directory.own() == self.directory.common() && self.config.flag("core.bare") == Some(true)
    }

    /// Whether the permission to execute a file counts as part of the file.
    pub(crate) fn tracks_modes(&self) -> bool {
        self.config.flag("core.filemode") != Some(false)
    }

    /// The URL of the remote `origin`.
    pub(crate) fn origin(&self) -> Option<&str> {
        self.config.get("remote.origin.url")
    }

    /// The directory that contains the data that all working trees of the repository share.
    pub(crate) fn common_directory(&self) -> &Path {
        self.directory.common()
    }

    pub(crate) fn index_path(&self) -> PathBuf {
        self.directory.own().join("index")
    }

    /// Reads the index. The index is empty if its file does not exist.
    pub(crate) fn index(&self, max_entries: usize) -> Result<Vec<TrackedFile>, git2::Error> {
        // The maximum is not based on the limit alone, because the index of a sparse working tree also
        // contains the paths that are not on disk.
        index_file::read(&self.index_path(), max_entries.max(MIN_INDEX_PATHS) as u64)
    }

    pub(crate) fn odb(&self) -> Result<Odb<'_>, git2::Error> {
        self.objects.odb()
    }

    pub(crate) fn loose(&self) -> LooseObjects {
        LooseObjects::new(self.object_directories.clone())
    }

    /// A new counter of the work for reading objects, which starts at zero.
    pub(crate) fn work(&self) -> Work {
        Work::new(self.loose())
    }

    /// The head of the repository. `None` if its branch has no commit yet.
    pub(crate) fn head(&self) -> Result<Option<Head>, git2::Error> {
        let head = references::head(&self.directory)?;
        Ok(head.map(|target| Head { id: target.id, branch: short_name(&target.name).map(str::to_owned) }))
    }

    /// The object that a reference names. The code of the error is `NotFound` if the reference does not
    /// exist.
    pub(crate) fn find_reference(&self, name: &str) -> Result<Oid, git2::Error> {
        references::find(&self.directory, name).map(|target| target.id)
    }

    pub(crate) fn find_commit(&self, id: Oid) -> Result<Commit<'_>, git2::Error> {
        self.find_checked_commit(&self.loose(), id)
    }

    /// Like `find_commit`, for a caller that reads many commits and uses the same `loose` for all of them.
    pub(crate) fn find_checked_commit(&self, loose: &LooseObjects, id: Oid) -> Result<Commit<'_>, git2::Error> {
        loose.check(id, MAX_SMALL_BYTES)?;
        small(|| self.objects.find_commit(id))
    }

    /// The commit with this id, or the commit to which the tag with this id points.
    pub(crate) fn commit_behind(&self, mut id: Oid) -> Result<Commit<'_>, git2::Error> {
        let loose = self.loose();
        for _ in 0..MAX_TAGS {
            loose.check(id, MAX_SMALL_BYTES)?;
            let object = small(|| self.objects.find_object(id, None))?;
            match object.into_tag() {
                Ok(tag) => id = tag.target_id(),
                Err(object) => return object.peel_to_commit(),
            }
        }
        Err(git2::Error::from_str("the tag does not lead to a commit: it points to a chain of too many other tags"))
    }
}

pub(crate) fn blob_of(id: Oid) -> BlobId {
    let mut bytes = [0; 20];
    let length = id.as_bytes().len().min(20);
    bytes[..length].copy_from_slice(&id.as_bytes()[..length]);
    BlobId(bytes)
}

/// The kind of a tree entry with this file mode. `None` for directories.
pub(crate) fn kind_of_mode(mode: u32) -> Option<EntryKind> {
    match mode & 0o170_000 {
        0o040_000 => None,
        0o120_000 => Some(EntryKind::Symlink),
        0o160_000 => Some(EntryKind::Submodule),
        _ if mode & 0o111 != 0 => Some(EntryKind::Executable),
        _ => Some(EntryKind::File),
    }
}

/// Returns the commit that `revision` names in a repository on disk, and the name of the branch or tag, if
/// any. The revision is a branch, a tag or a commit id, tried in this order. `None` means `HEAD`.
pub(crate) fn resolve(
    repository: &OpenRepository,
    key: &str,
    revision: Option<&str>,
) -> Result<(BlobId, Option<String>), SourceError> {
    let broken = |error: git2::Error| from_git("resolve", key, &error);
    let Some(revision) = revision else {
        let no_commit = || failure(ErrorKind::NotFound, "resolve", key, "the repository has no commit yet");
        let head = repository.head().map_err(broken)?.ok_or_else(no_commit)?;
        let commit = repository.commit_behind(head.id).map_err(broken)?;
        return Ok((blob_of(commit.id()), head.branch));
    };
    for folder in ["refs/heads", "refs/remotes/origin", "refs/tags"] {
        match repository.find_reference(&format!("{folder}/{revision}")) {
            Err(error) if matches!(error.code(), git2::ErrorCode::NotFound | git2::ErrorCode::InvalidSpec) => {}
            found => {
                let commit = found.and_then(|id| repository.commit_behind(id)).map_err(broken)?;
                return Ok((blob_of(commit.id()), Some(revision.to_owned())));
            }
        }
    }
    let commit = commit_id(revision).and_then(|id| repository.commit_behind(id).ok());
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

/// The shortest abbreviated commit id, as in git.
const MIN_ABBREVIATION: usize = 4;

/// The form in which a revision of a repository on disk is stored: the name of a branch or tag, or the whole
/// id of a commit. An abbreviated id and `HEAD` are accepted, but not stored, because they may have a
/// different meaning later.
///
/// # Errors
/// `NotFound` if there is no such branch, tag or commit, and `Invalid` if several objects have ids that start
/// with the abbreviation.
pub fn stored_revision(path: &Path, revision: &str) -> Result<String, SourceError> {
    let key = path.to_string_lossy();
    let repository = OpenRepository::open(path).map_err(|error| from_git("open", &key, &error))?;
    if revision == "HEAD" {
        return resolve(&repository, &key, None).map(|(commit, _)| commit.to_string());
    }
    let unknown = match resolve(&repository, &key, Some(revision)) {
        Ok(_) => return Ok(revision.to_owned()),
        Err(error) => error,
    };
    let is_id = revision.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_id || !(MIN_ABBREVIATION..40).contains(&revision.len()) {
        return Err(unknown);
    }
    let padded = Oid::from_str(&format!("{revision:0<40}")).map_err(|error| from_git("resolve", &key, &error))?;
    let found = repository.odb().and_then(|objects| objects.exists_prefix(padded, revision.len()));
    match found.and_then(|id| repository.commit_behind(id)) {
        Ok(commit) => Ok(commit.id().to_string()),
        Err(error) if error.code() == git2::ErrorCode::Ambiguous => {
            let message = format!("the abbreviated commit id `{revision}` is ambiguous");
            Err(failure(ErrorKind::Invalid, "resolve", &key, message))
        }
        Err(_) => Err(unknown),
    }
}
