//! Faults that a test plants in blob stores. Each wrapper adds exactly one fault.

use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use cairn_ports::{BlobMeta, BlobStore, BlobStoreError, Put};

use crate::faulty::{Faulty, planted};
use crate::suite::PlantedFault;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    LosesWrites,
    Overwrites,
    LetsBothWritersWin,
    WritesHalf,
    ListsBackwards,
    ListsTooMuch,
    ListsWithoutOne,
    KeepsDeleted,
    ShiftsRanges,
    TruncatesRanges,
}

const ALL: [(&str, Fault, &str); 10] = [
    ("loses writes", Fault::LosesWrites, "object_is_read_as_written"),
    ("overwrites", Fault::Overwrites, "the_first_writer_wins"),
    ("reports to both writers that they created the object", Fault::LetsBothWritersWin, "the_first_writer_wins"),
    ("writes half", Fault::WritesHalf, "object_is_read_as_written"),
    ("lists backwards", Fault::ListsBackwards, "lists_are_sorted_and_complete"),
    ("lists keys without the prefix", Fault::ListsTooMuch, "lists_are_sorted_and_complete"),
    ("lists all objects except the last", Fault::ListsWithoutOne, "lists_are_sorted_and_complete"),
    ("keeps deleted objects", Fault::KeepsDeleted, "deleted_object_is_not_found"),
    ("shifts ranges", Fault::ShiftsRanges, "ranges_are_exact"),
    ("cuts off the end of a range", Fault::TruncatesRanges, "ranges_are_exact"),
];

pub fn faults() -> Vec<PlantedFault<dyn BlobStore>> {
    planted(ALL, |faulty| Box::new(faulty))
}

#[async_trait]
impl BlobStore for Faulty<dyn BlobStore, Fault> {
    async fn put(&self, key: &str, bytes: Bytes) -> Result<Put, BlobStoreError> {
        match self.fault {
            Fault::LosesWrites => Ok(Put::Created),
            Fault::Overwrites => {
                self.inner.delete(key).await?;
                self.inner.put(key, bytes).await
            }
            Fault::LetsBothWritersWin => self.inner.put(key, bytes).await.map(|_| Put::Created),
            Fault::WritesHalf => self.inner.put(key, bytes.slice(..bytes.len() / 2)).await,
            _ => self.inner.put(key, bytes).await,
        }
    }

    async fn get(&self, key: &str) -> Result<Bytes, BlobStoreError> {
        self.inner.get(key).await
    }

    async fn get_range(&self, key: &str, range: Range<u64>) -> Result<Bytes, BlobStoreError> {
        match self.fault {
            Fault::ShiftsRanges => self.inner.get_range(key, range.start + 1..range.end + 1).await,
            Fault::TruncatesRanges => {
                let size = self.inner.get(key).await?.len() as u64;
                self.inner.get_range(key, range.start.min(size)..range.end.min(size)).await
            }
            _ => self.inner.get_range(key, range).await,
        }
    }

    async fn list(&self, prefix: &str) -> Result<Vec<BlobMeta>, BlobStoreError> {
        let prefix = match (self.fault, prefix.rsplit_once('/')) {
            (Fault::ListsTooMuch, Some((directory, _))) => directory,
            _ => prefix,
        };
        let mut found = self.inner.list(prefix).await?;
        match self.fault {
            Fault::ListsBackwards => found.reverse(),
            Fault::ListsWithoutOne => drop(found.pop()),
            _ => {}
        }
        Ok(found)
    }

    async fn delete(&self, key: &str) -> Result<(), BlobStoreError> {
        if self.fault == Fault::KeepsDeleted { Ok(()) } else { self.inner.delete(key).await }
    }
}
