//! Stores the documents of the metastore and the ledger, the graph, and the vector cache of local mode in
//! SQLite.
//!
//! The store consists of two files in one directory. `cairn.db` contains all data that must be consistent, so
//! a generation is published in the file that contains its graph. `vectors.db` contains the vector cache,
//! which may be lost. The directory can be copied. Any number of processes may open it; `database` describes
//! sharing and durability.
//!
//! Invariants: `View::sees` decides which records are visible. A commit is complete or absent. Except for the
//! source of a repository, the files contain no path on the local machine.

mod database;
mod fault;
mod graph;
mod runs;
mod schema;
mod vectors;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cairn_ports::{MaintenanceError, PortError};
use rusqlite::Transaction;

use crate::database::{Database, Durability, LazyDatabase};
use crate::fault::Fault;

/// The names of the write operations of local mode. Each operation has the fail points
/// `store::commit::<name>` and `store::committed::<name>`, directly before and directly after its commit.
pub const WRITE_OPERATIONS: [&str; 19] = [
    "abort",
    "begin",
    "compact",
    "delete",
    "end_part",
    "forget_aborted",
    "forget_deletion",
    "forget_publications",
    "lease",
    "mark_swept",
    "publish",
    "register",
    "remove_repository",
    "renew",
    "stage_graph",
    "sweep_aborted",
    "sweep_retired",
    "sweep_vectors",
    "put_vectors",
];

/// The reason why a store cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("cannot create the index directory `{path}`")]
    Directory { path: PathBuf, source: io::Error },
    /// The file is damaged, has a newer version, or cannot be read. The error in `source` states the reason
    /// and the remedy.
    #[error("cannot open the index in `{path}`")]
    Database { path: PathBuf, source: cairn_ports::CatalogueError },
}

/// The store of one directory. Cloning is cheap.
#[derive(Clone)]
pub struct LocalStore {
    index: Arc<Database>,
    vectors: Arc<LazyDatabase>,
}

impl LocalStore {
    /// Opens the store in `directory`. Creates the directory and the store if they do not exist. This call
    /// blocks.
    pub fn open(directory: &Path) -> Result<Self, OpenError> {
        std::fs::create_dir_all(directory)
            .map_err(|source| OpenError::Directory { path: directory.to_owned(), source })?;
        let index = Database::open(directory, &schema::INDEX).map_err(|fault| OpenError::Database {
            path: directory.to_owned(),
            source: PortError::of(fault.kind, "open", schema::INDEX.file_name.to_owned(), fault.cause),
        })?;
        let vectors = LazyDatabase::new(directory.to_owned(), &schema::VECTORS);
        Ok(Self { index: Arc::new(index), vectors: Arc::new(vectors) })
    }

    /// Verifies the whole file that contains the graph, the metastore and the ledger.
    pub async fn verify_index(&self) -> Result<(), MaintenanceError> {
        let index = Arc::clone(&self.index);
        blocking("verify", schema::INDEX.file_name.to_owned(), move || index.verify()).await
    }

    /// Verifies the file of cached vectors and each vector in it. A missing file is valid, because it is
    /// created when it is needed.
    pub async fn verify_vectors(&self) -> Result<(), MaintenanceError> {
        if !self.vectors.exists() {
            return Ok(());
        }
        let vectors = Arc::clone(&self.vectors);
        blocking("verify", schema::VECTORS.file_name.to_owned(), move || vectors::verify(&vectors)).await
    }

    /// The number of cached vectors of all tenants.
    pub async fn num_vectors(&self) -> Result<u64, MaintenanceError> {
        if !self.vectors.exists() {
            return Ok(0);
        }
        let vectors = Arc::clone(&self.vectors);
        blocking("count", schema::VECTORS.file_name.to_owned(), move || vectors.get()?.read(vectors::count)).await
    }

    async fn read<T, E>(
        &self,
        operation: &'static str,
        key: impl ToString,
        query: impl FnOnce(&Transaction<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: PortError,
    {
        let index = Arc::clone(&self.index);
        blocking(operation, key.to_string(), move || index.read(query)).await
    }

    async fn write<T, E>(
        &self,
        operation: &'static str,
        key: impl ToString,
        durability: Durability,
        change: impl FnOnce(&Transaction<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: PortError,
    {
        let index = Arc::clone(&self.index);
        blocking(operation, key.to_string(), move || index.write(operation, durability, change)).await
    }
}

/// Runs `work` on a thread that may block.
async fn blocking<T, E>(
    operation: &'static str,
    key: String,
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: PortError,
{
    let outcome = match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => Err(Fault { kind: cairn_ports::ErrorKind::Cancelled, cause: None }),
    };
    outcome.map_err(|fault| E::of(fault.kind, operation, key, fault.cause))
}
