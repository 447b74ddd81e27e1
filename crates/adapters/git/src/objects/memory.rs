//! Limits the memory and the work for reading one object with libgit2.
//!
//! An object may be stored as a delta against another object, its base, which can be a delta too. The size of
//! the object does not limit the sizes of its bases. A pack of a few kilobytes can contain a small file whose
//! base is gigabytes in size. The library libgit2 builds every base in memory and has no setting to limit
//! this. So this module replaces libgit2's allocator. While a thread reads an object, the new allocator
//! refuses allocations that are too large. An object that needs such an allocation is unreadable, but the
//! sync continues.
//!
//! In the whole process, only one object that needs large allocations is read at a time. So the memory of a
//! sync does not grow with its number of threads.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use git2::{ObjectType, Odb, Oid};

use super::loose::LooseObjects;

/// The largest single allocation that every thread may make while it reads an object.
const EACH_THREAD: usize = 16 << 20;
/// The largest single allocation for large objects. Only one thread at a time may use this limit.
const ONE_THREAD: usize = 96 << 20;
/// The largest commit or tag that is read.
pub(super) const MAX_SMALL_BYTES: u64 = EACH_THREAD as u64;
/// Only allocations of at least this size count as work (see `FREE_WORK`).
const LARGE: usize = 1 << 20;
/// If an allocation of more than this size remains after a failed read, libgit2 has leaked it. The cache of
/// libgit2 stores no object of 1 MiB or more. The leaked memory is the base of a delta that cannot be
/// unpacked.
const LEAK: usize = 2 << 20;
/// Maximum number of listed allocations. At most three are in use at once: a base, a delta and a result.
const MAX_LIVE: usize = 8;

/// The maximum work of a snapshot, in bytes of large allocations: a fixed number of bytes, plus a number of
/// bytes for each byte that was read. A normal chain of deltas has at most 50 deltas of about the same size,
/// so it stays below this maximum.
const FREE_WORK: u64 = 8 << 30;
const WORK_PER_BYTE: u64 = 64;

thread_local! {
    /// The largest allocation that is granted. While no object is read, libgit2 has no limit.
    static LIMIT: Cell<usize> = const { Cell::new(usize::MAX) };
    static IS_REFUSED: Cell<bool> = const { Cell::new(false) };
    static WORK: Cell<u64> = const { Cell::new(0) };
    /// Addresses of the allocations above `LEAK` that are in use. 0 marks a free slot.
    static LIVE: Cell<[usize; MAX_LIVE]> = const { Cell::new([0; MAX_LIVE]) };
}

static TURN: Mutex<()> = Mutex::new(());

/// The reason why an object was not read.
pub(crate) enum Unread {
    Git(git2::Error),
    /// The object or one of its bases is too large.
    TooLarge,
}

/// The work that the objects of one snapshot have caused.
pub(crate) struct Work {
    loose: LooseObjects,
    allocated: AtomicU64,
    read: AtomicU64,
}

impl Work {
    pub(super) fn new(loose: LooseObjects) -> Self {
        Self { loose, allocated: AtomicU64::new(0), read: AtomicU64::new(0) }
    }

    /// Reads the type and the size of an object.
    pub(super) fn header(&self, odb: &Odb<'_>, id: Oid) -> Result<(usize, ObjectType), git2::Error> {
        self.loose.check_kind(id)?;
        odb.read_header(id)
    }

    /// Reads the bytes of an object.
    pub(crate) fn read(&self, odb: &Odb<'_>, id: Oid) -> Result<Vec<u8>, Unread> {
        self.loose.check(id, ONE_THREAD as u64).map_err(Unread::Git)?;
        let copy = || odb.read(id).map(|object| object.data().to_vec());
        if self.is_spent() {
            return self.within(LARGE, copy);
        }
        match self.within(EACH_THREAD, copy) {
            Err(Unread::TooLarge) => {
                let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
                self.within(ONE_THREAD, copy)
            }
            read => read,
        }
    }

    fn is_spent(&self) -> bool {
        let allowed = self.read.load(Ordering::Relaxed).saturating_mul(WORK_PER_BYTE).saturating_add(FREE_WORK);
        self.allocated.load(Ordering::Relaxed) > allowed
    }

    fn within(&self, limit: usize, read: impl Fn() -> Result<Vec<u8>, git2::Error>) -> Result<Vec<u8>, Unread> {
        let before = WORK.get();
        let found = bounded(limit, read);
        self.allocated.fetch_add(WORK.get() - before, Ordering::Relaxed);
        if let Ok(bytes) = &found {
            self.read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
        found
    }
}

/// Runs a function of libgit2 that reads small objects, for example commits and tags.
pub(crate) fn small<T>(read: impl FnOnce() -> Result<T, git2::Error>) -> Result<T, git2::Error> {
    bounded(EACH_THREAD, read).map_err(|unread| match unread {
        Unread::Git(error) => error,
        Unread::TooLarge => too_large(),
    })
}

pub(crate) fn too_large() -> git2::Error {
    git2::Error::from_str("the git object, or a base object of its delta, is too large")
}

fn bounded<T>(limit: usize, read: impl FnOnce() -> Result<T, git2::Error>) -> Result<T, Unread> {
    LIMIT.set(limit);
    IS_REFUSED.set(false);
    LIVE.set([0; MAX_LIVE]);
    let read = read();
    LIMIT.set(usize::MAX);
    let left = LIVE.replace([0; MAX_LIVE]);
    if read.is_err() {
        for address in left.into_iter().filter(|address| *address != 0) {
            // SAFETY: the memory is from `malloc`, and libgit2 no longer has its address (see `LEAK`).
            unsafe { libc::free(address as *mut c_void) }
        }
    }
    read.map_err(|error| if IS_REFUSED.get() { Unread::TooLarge } else { Unread::Git(error) })
}

/// The struct `git_allocator` of `git2/sys/alloc.h`.
#[repr(C)]
struct Allocator {
    allocate: extern "C" fn(usize, *const c_char, c_int) -> *mut c_void,
    reallocate: extern "C" fn(*mut c_void, usize, *const c_char, c_int) -> *mut c_void,
    free: extern "C" fn(*mut c_void),
}

/// Sets the allocator of libgit2. Call this function before the process opens a repository.
pub(crate) fn install() {
    let allocator = Allocator { allocate, reallocate, free };
    // SAFETY: `Allocator` has the layout of `git_allocator`. libgit2 copies the struct to which the pointer
    // refers. Memory that libgit2 has already allocated is from `malloc` too, so the new functions may free
    // it.
    let status = unsafe {
        libgit2_sys::git_libgit2_opts(libgit2_sys::GIT_OPT_SET_ALLOCATOR as c_int, std::ptr::from_ref(&allocator))
    };
    assert!(status == 0, "libgit2 refuses the replacement of its allocator");
}

fn is_granted(size: usize) -> bool {
    if size > LIMIT.get() {
        IS_REFUSED.set(true);
        return false;
    }
    if size >= LARGE {
        WORK.set(WORK.get().saturating_add(size as u64));
    }
    true
}

/// In the list `LIVE`, replaces the address `old` with `new`. 0 means no address. While no object is read,
/// the list is not changed.
fn note(old: usize, new: usize) {
    if LIMIT.get() == usize::MAX || old == new {
        return;
    }
    let mut live = LIVE.get();
    if let Some(place) = live.iter_mut().find(|address| **address == old) {
        *place = new;
        LIVE.set(live);
    }
}

extern "C" fn allocate(size: usize, _: *const c_char, _: c_int) -> *mut c_void {
    if !is_granted(size) {
        return std::ptr::null_mut();
    }
    // SAFETY: any size is valid, and libgit2 checks for null. At least one byte is allocated, as in libgit2's
    // own allocator.
    let new = unsafe { libc::malloc(size.max(1)) };
    if size > LEAK {
        note(0, new as usize);
    }
    new
}

extern "C" fn reallocate(old: *mut c_void, size: usize, _: *const c_char, _: c_int) -> *mut c_void {
    if !is_granted(size) {
        return std::ptr::null_mut();
    }
    // SAFETY: `old` is null or from `malloc`; libgit2 does not use `old` after a successful call.
    let new = unsafe { libc::realloc(old, size.max(1)) };
    if !new.is_null() {
        let now = if size > LEAK { new as usize } else { 0 };
        let is_listed = !old.is_null() && LIVE.get().contains(&(old as usize));
        note(if is_listed { old as usize } else { 0 }, now);
    }
    new
}

extern "C" fn free(old: *mut c_void) {
    if !old.is_null() {
        note(old as usize, 0);
    }
    // SAFETY: `old` is null or from `malloc`; libgit2 frees each address once.
    unsafe { libc::free(old) }
}
