//! Tables of the index, and the way from one version of them to the next.
//!
//! The version stands in `PRAGMA user_version`. `MIGRATIONS[n]` brings a file of version `n` to `n + 1`; version 0 is an
//! empty file. A released migration is never changed: what comes later is appended.

use rusqlite::{Connection, TransactionBehavior};

use crate::fault::Fault;

/// `CARN`: tells the files of this store from any other SQLite file.
const APPLICATION_ID: i32 = 0x4341_524E;

/// Tables of one file.
pub(crate) struct Schema {
    pub(crate) file_name: &'static str,
    migrations: &'static [&'static str],
}

pub(crate) static INDEX: Schema =
    Schema { file_name: "cairn.db", migrations: &[concat!(include_str!("ledger.sql"), include_str!("graph.sql"))] };

pub(crate) static VECTORS: Schema =
    Schema { file_name: "vectors.db", migrations: &[include_str!("vectors.sql"), VECTORS_WITH_CHECKS] };

/// Since version 2 a check of its bytes stands behind each vector. What was cached without is made again.
const VECTORS_WITH_CHECKS: &str = "DELETE FROM vector;";

impl Schema {
    /// Creates the tables of an empty file, or migrates those of an older version, in one transaction.
    pub(crate) fn apply(&self, connection: &mut Connection) -> Result<(), Fault> {
        if self.version(connection)? == self.migrations.len() {
            return Ok(());
        }
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have migrated while this one waited for the lock.
        let version = self.version(&transaction)?;
        for migration in &self.migrations[version..] {
            transaction.execute_batch(migration)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", self.migrations.len() as i64)?;
        Ok(transaction.commit()?)
    }

    fn version(&self, connection: &Connection) -> Result<usize, Fault> {
        let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let application = pragma("application_id")?;
        let version = pragma("user_version")?;
        let known = self.migrations.len();
        if (application, version) != (0, 0) && application != i64::from(APPLICATION_ID) {
            return Err(Fault::damaged(format!("`{}` is not a file of Cairn", self.file_name)));
        }
        match usize::try_from(version) {
            Ok(version) if version <= known => Ok(version),
            _ => Err(Fault::invalid(format!(
                "`{}` was written by a newer Cairn (version {version} of its tables; this build knows {known}): use that \
                 build, or delete the index directory and index again",
                self.file_name
            ))),
        }
    }
}
