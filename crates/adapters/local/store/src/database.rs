//! Manages one SQLite file: its writer, its readers and their threads.
//!
//! The file has a write-ahead log, so that readers (including those of other processes) see the last commit
//! while a writer writes. One connection, which a mutex protects, makes all writes of a process. Other
//! processes wait for SQLite's own lock for up to `BUSY_TIMEOUT`. All operations run on tokio's blocking
//! threads.
//!
//! Durability: every commit survives the end of the process. A commit with `Durability::Synced` also survives
//! a power cut, because it syncs the log, which contains all earlier commits. A commit with
//! `Durability::Ordered` does not sync, so a power cut can remove the most recent commits. In the log, the
//! staged records of a part come before the end record, which marks the part as ended. If a power cut removes
//! the end record, the run repeats the part. Commits that allocate or publish a generation are synced.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::fault::Fault;
use crate::schema::Schema;

const BUSY_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum number of idle readers that stay open. More readers are opened when needed, and closed after use.
const IDLE_READERS: usize = 8;
const CACHED_STATEMENTS: usize = 128;

/// Whether a commit waits for the disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Durability {
    Synced,
    Ordered,
}

/// A file that is opened on first use. For example, a search right after the start does not need the vector
/// cache.
pub(crate) struct LazyDatabase {
    directory: PathBuf,
    schema: &'static Schema,
    opened: Mutex<Option<Arc<Database>>>,
}

impl LazyDatabase {
    pub(crate) fn new(directory: PathBuf, schema: &'static Schema) -> Self {
        Self { directory, schema, opened: Mutex::default() }
    }

    /// Whether the file exists.
    pub(crate) fn exists(&self) -> bool {
        self.directory.join(self.schema.file_name).exists()
    }

    pub(crate) fn get(&self) -> Result<Arc<Database>, Fault> {
        let mut opened = lock(&self.opened);
        if let Some(database) = &*opened {
            return Ok(Arc::clone(database));
        }
        let database = Arc::new(Database::open(&self.directory, self.schema)?);
        *opened = Some(Arc::clone(&database));
        Ok(database)
    }
}

pub(crate) struct Database {
    path: PathBuf,
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
}

impl Database {
    pub(crate) fn open(directory: &Path, schema: &Schema) -> Result<Self, Fault> {
        let path = directory.join(schema.file_name);
        let mut writer = connect(&path)?;
        prepare_file(&writer)?;
        schema.apply(&mut writer)?;
        Ok(Self { path, writer: Mutex::new(writer), readers: Mutex::default() })
    }

    /// Runs `change` in a transaction that has the write lock from its first statement, and commits the
    /// transaction. `operation` names the fail points around the commit.
    pub(crate) fn write<T>(
        &self,
        operation: &'static str,
        durability: Durability,
        change: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let mut connection = lock(&self.writer);
        let synchronous = if durability == Durability::Synced { "FULL" } else { "NORMAL" };
        connection.pragma_update(None, "synchronous", synchronous)?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let value = change(&transaction)?;
        fail_at("store::commit", operation)?;
        transaction.commit()?;
        fail_at("store::committed", operation)?;
        Ok(value)
    }

    /// Runs `query` in one read transaction, so that it reads one state of the file.
    pub(crate) fn read<T>(&self, query: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>) -> Result<T, Fault> {
        let pooled = lock(&self.readers).pop();
        let mut connection = match pooled {
            Some(connection) => connection,
            None => self.open_reader()?,
        };
        let transaction = connection.transaction()?;
        let value = query(&transaction)?;
        transaction.commit()?;
        let mut readers = lock(&self.readers);
        if readers.len() < IDLE_READERS {
            readers.push(connection);
        }
        Ok(value)
    }

    /// Runs SQLite's own check of pages, tables and indexes.
    pub(crate) fn verify(&self) -> Result<(), Fault> {
        let verdict: String =
            self.read(|connection| Ok(connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?))?;
        if verdict == "ok" { Ok(()) } else { Err(Fault::damaged(verdict)) }
    }

    /// Runs `maintain` outside any transaction, for the vacuum and for checkpoints.
    pub(crate) fn maintain(&self, maintain: impl FnOnce(&Connection) -> Result<(), Fault>) -> Result<(), Fault> {
        maintain(&lock(&self.writer))
    }

    fn open_reader(&self) -> Result<Connection, Fault> {
        let connection = connect(&self.path)?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    }
}

/// Locks a mutex, even if it is poisoned: a panic rolls the transaction back while it unwinds, so the
/// connection is usable.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn connect(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    connection.pragma_update(None, "cache_size", -32_768)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // Deleted data is overwritten if its page stays in use. The vacuum returns the other pages to the file
    // system.
    connection.pragma_update_and_check(None, "secure_delete", "FAST", |_| Ok(()))?;
    Ok(connection)
}

/// Sets the options of the file, and of the one connection that writes to it.
fn prepare_file(connection: &Connection) -> Result<(), Fault> {
    // This setting takes effect only while the file is empty.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode != "wal" {
        return Err(Fault::invalid(format!(
            "the file system of the index directory does not support a write-ahead log (mode `{mode}`); use a directory on a local disk"
        )));
    }
    // With this setting, a large staging transaction copies its pages into the file only once, instead of
    // after every four megabytes.
    connection.pragma_update_and_check(None, "wal_autocheckpoint", 8192, |_| Ok(()))?;
    connection.pragma_update_and_check(None, "journal_size_limit", 32 << 20, |_| Ok(()))?;
    Ok(())
}

/// A point at which a test can return an error or kill the process. Without the feature `failpoints`, the
/// function does nothing.
#[cfg_attr(not(feature = "failpoints"), expect(unused_variables, reason = "used by fail points only"))]
fn fail_at(point: &str, operation: &str) -> Result<(), Fault> {
    cairn_faults::fail_point!(&format!("{point}::{operation}"), |message: String| Err(Fault::new(
        cairn_ports::ErrorKind::Io,
        message
    )));
    Ok(())
}
