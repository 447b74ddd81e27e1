//! Checks at the start of a service whether conditional writes of the server are create-only.

use std::process;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use cairn_ports::{BlobStore, BlobStoreError, Put};
use futures::future::try_join_all;

use crate::S3BlobStore;

const FOLDER: &str = "self-test";
const NUM_WRITERS: u8 = 8;
/// Number of rounds of concurrent writers. A server that checks and writes in two separate steps fails in at
/// least one of these rounds.
const NUM_RACES: usize = 4;
/// Objects of an interrupted self-test are removed when they reach this age.
const FORGOTTEN_AFTER_SECONDS: i64 = 3600;

/// The reason why the server is not suitable for artifacts.
#[derive(Debug, thiserror::Error)]
pub enum SelfTestError {
    #[error(
        "the S3 server ignores conditional writes: a second `PutObject` with `If-None-Match: *` on one key was accepted. \
         Artifacts would be overwritten; use AWS S3, MinIO or another server that honours the header"
    )]
    Overwrites,
    #[error(
        "the conditional writes of the S3 server are not atomic: {NUM_WRITERS} writers wrote one key at once with \
         `If-None-Match: *`, and {num_winners} writers succeeded instead of one. Use AWS S3, MinIO or another server that \
         checks and writes in one step"
    )]
    Races { num_winners: usize },
    #[error("for a key that was written twice, the S3 server does not return the bytes of the first writer")]
    OtherBytes,
    #[error("the self-test of the S3 server failed")]
    Store(#[from] BlobStoreError),
}

impl S3BlobStore {
    /// Writes a few small objects below `self-test/` with competing writers, and removes them. Call this
    /// function before the store is used.
    pub async fn self_test(&self) -> Result<(), SelfTestError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let space = format!("{FOLDER}/{:x}-{}", now.as_nanos(), process::id());
        let tested = self.test_in(&space).await;
        let removed = self.remove_tests(&space, now.as_secs() as i64).await;
        tested.and(removed.map_err(SelfTestError::Store))
    }

    async fn test_in(&self, space: &str) -> Result<(), SelfTestError> {
        let key = format!("{space}/second");
        self.put(&key, Bytes::from_static(b"first")).await?;
        if self.put(&key, Bytes::from_static(b"second")).await? == Put::Created {
            return Err(SelfTestError::Overwrites);
        }
        if self.get(&key).await? != "first" {
            return Err(SelfTestError::OtherBytes);
        }
        for race in 0..NUM_RACES {
            self.race(&format!("{space}/race-{race}")).await?;
        }
        Ok(())
    }

    async fn race(&self, key: &str) -> Result<(), SelfTestError> {
        let puts = (0..NUM_WRITERS).map(|writer| self.put(key, Bytes::from(vec![writer; 64])));
        let puts = try_join_all(puts).await?;
        let winners: Vec<usize> = (0..puts.len()).filter(|writer| puts[*writer] == Put::Created).collect();
        // All writers may report that the object exists. This happens if the response to the first writer was
        // lost, and the retry of this writer found its own object.
        let (num_winners, bytes) = (winners.len(), self.get(key).await?);
        match winners.first() {
            _ if num_winners > 1 => Err(SelfTestError::Races { num_winners }),
            Some(winner) if bytes != vec![*winner as u8; 64] => Err(SelfTestError::OtherBytes),
            _ => Ok(()),
        }
    }

    async fn remove_tests(&self, space: &str, now: i64) -> Result<(), BlobStoreError> {
        for object in self.list(&format!("{FOLDER}/")).await? {
            let is_forgotten = object.modified_at + FORGOTTEN_AFTER_SECONDS < now;
            if is_forgotten || object.key.starts_with(space) {
                self.delete(&object.key).await?;
            }
        }
        Ok(())
    }
}
