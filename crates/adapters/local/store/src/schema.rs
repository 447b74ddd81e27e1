//! Defines the tables of the index, and their migrations.
//!
//! `PRAGMA user_version` contains the version; version 0 is an empty file. The first migration creates the
//! version after `too_old`, and each further migration creates the next version. Files with a version up to
//! `too_old` are refused. The contents of such files can be recreated by indexing again. A released migration
//! never changes; new migrations are appended.

use rusqlite::{Connection, TransactionBehavior};

use crate::fault::Fault;

/// The application id of this store's files: the letters `CARN`.
const APPLICATION_ID: i32 = 0x4341_524E;

/// The tables of one file.
pub(crate) struct Schema {
    pub(crate) file_name: &'static str,
    /// The newest version that is no longer supported, or 0 if all versions are supported.
    too_old: usize,
    migrations: &'static [&'static str],
}

pub(crate) static INDEX: Schema = Schema {
    file_name: "cairn.db",
    too_old: 1,
    migrations: &[concat!(include_str!("runs.sql"), include_str!("graph.sql"))],
};

pub(crate) static VECTORS: Schema =
    Schema { file_name: "vectors.db", too_old: 0, migrations: &[include_str!("vectors.sql"), VECTORS_WITH_CHECKS] };

/// Since version 2, a checksum follows each vector. Vectors without a checksum are deleted and computed
/// again.
const VECTORS_WITH_CHECKS: &str = "DELETE FROM vector;";

impl Schema {
    /// Creates the tables of an empty file, or migrates the tables of an older version, in one transaction.
    pub(crate) fn apply(&self, connection: &mut Connection) -> Result<(), Fault> {
        if self.version(connection)? == self.newest() {
            return Ok(());
        }
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // The version is read after the lock is taken, because another process may have migrated the file in
        // the meantime.
        let version = self.version(&transaction)?;
        for migration in &self.migrations[version.saturating_sub(self.too_old)..] {
            transaction.execute_batch(migration)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", self.newest() as i64)?;
        Ok(transaction.commit()?)
    }

    fn newest(&self) -> usize {
        self.too_old + self.migrations.len()
    }

    fn version(&self, connection: &Connection) -> Result<usize, Fault> {
        let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let application = pragma("application_id")?;
        let version = pragma("user_version")?;
        let known = self.newest();
        if (application, version) != (0, 0) && application != i64::from(APPLICATION_ID) {
            return Err(Fault::damaged(format!("`{}` is not a file of Cairn", self.file_name)));
        }
        match usize::try_from(version) {
            Ok(version) if (1..=self.too_old).contains(&version) => Err(Fault::invalid(format!(
                "`{}` was written by an earlier Cairn (version {version} of its tables; this build reads {} to {known}): \
                 delete the index directory and index again",
                self.file_name,
                self.too_old + 1
            ))),
            Ok(version) if version <= known => Ok(version),
            _ => Err(Fault::invalid(format!(
                "`{}` was written by a newer Cairn (version {version} of its tables; this build reads up to {known}): use the \
                 newer Cairn, or delete the index directory and index again",
                self.file_name
            ))),
        }
    }
}
