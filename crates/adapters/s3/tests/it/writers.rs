//! Tests many concurrent writers of one key.

use std::sync::Arc;

use anyhow::Result;
use bytes::Bytes;
use cairn_ports::{BlobStore, BlobStoreExt, ErrorKind, Put};
use cairn_s3::S3BlobStore;
use futures::future::try_join_all;

use crate::bucket;

const NUM_KEYS: usize = 200;
const NUM_WRITERS: u8 = 16;

/// Each writer has its own connections, like a separate service.
#[tokio::test(flavor = "multi_thread")]
async fn one_of_sixteen_writers_creates_the_object() -> Result<()> {
    let Some(config) = bucket::new().await? else { return Ok(()) };
    let writers: Vec<S3BlobStore> = (0..NUM_WRITERS).map(|_| S3BlobStore::open(&config)).collect::<Result<_, _>>()?;
    let writers = Arc::new(writers);
    let mut num_winners = 0;
    for number in 0..NUM_KEYS {
        let key = format!("race/{number}");
        let put = |writer: u8| {
            let (writers, key) = (Arc::clone(&writers), key.clone());
            // Each writer has its own task, so that the writers run on all cores at the same time.
            tokio::spawn(async move { writers[usize::from(writer)].put(&key, Bytes::from(vec![writer; 512])).await })
        };
        let puts: Vec<Put> = try_join_all((0..NUM_WRITERS).map(put)).await?.into_iter().collect::<Result<_, _>>()?;
        let winners: Vec<usize> = (0..puts.len()).filter(|writer| puts[*writer] == Put::Created).collect();
        num_winners += winners.len();
        assert_eq!(winners.len(), 1, "{key}");
        assert_eq!(writers[0].get(&key).await?, vec![winners[0] as u8; 512], "the losers read the winner's bytes");
    }
    assert_eq!(num_winners, NUM_KEYS);
    bucket::empty(&config).await
}

#[tokio::test]
async fn different_bytes_under_one_key_conflict() -> Result<()> {
    let Some(config) = bucket::new().await? else { return Ok(()) };
    let store = S3BlobStore::open(&config)?;
    let (mine, theirs) = (Bytes::from_static(b"mine"), Bytes::from_static(b"theirs"));
    let (first, second) = futures::join!(store.put_artifact("a", mine.clone()), store.put_artifact("a", theirs));
    let (won, lost) = if first.is_ok() { (first, second) } else { (second, first) };
    assert_eq!(lost.expect_err("one of two").kind, ErrorKind::Conflict);
    store.get_artifact(&won?).await?;
    bucket::empty(&config).await
}
