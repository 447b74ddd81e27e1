//! The conformance suite of the port `BlobStore`.

mod faults;

use anyhow::{Result, anyhow, ensure};
use bytes::Bytes;
use cairn_domain::ArtifactRef;
use cairn_ports::{BlobMeta, BlobStore, BlobStoreExt, Put};
use futures::future::join_all;

pub use faults::faults;

use crate::Case;
use crate::suite::{Check, checks, expect_eq, expect_kind};

pub fn checks() -> Vec<Check<dyn BlobStore>> {
    checks![
        object_is_read_as_written,
        a_missing_key_is_not_found,
        the_first_writer_wins,
        one_of_many_writers_creates,
        ranges_are_exact,
        lists_are_sorted_and_complete,
        deleted_object_is_not_found,
        vector_written_after_the_listing_stays,
        bad_keys_are_refused,
        artifacts_are_verified,
    ]
}

/// A key prefix that no other check uses.
fn space(check: &str) -> String {
    Case::new(check).tenant.as_str().to_owned()
}

async fn object_is_read_as_written(store: &dyn BlobStore) -> Result<()> {
    let space = space("back");
    let large: Vec<u8> = (0..3_000_000_u32).map(|number| (number % 251) as u8).collect();
    for (name, bytes) in [("empty", Vec::new()), ("small", b"cairn".to_vec()), ("deep/er/large", large)] {
        let key = format!("{space}/{name}");
        expect_eq!(store.put(&key, Bytes::from(bytes.clone())).await?, Put::Created);
        ensure!(store.get(&key).await? == bytes, "the store returned different bytes for `{name}` than it received");
    }
    Ok(())
}

async fn a_missing_key_is_not_found(store: &dyn BlobStore) -> Result<()> {
    let space = space("missing");
    store.put(&format!("{space}/there"), Bytes::from_static(b"x")).await?;
    for key in ["other", "ther", "there2", "there/below"] {
        let key = format!("{space}/{key}");
        expect_kind!(store.get(&key).await, NotFound);
        expect_kind!(store.get_range(&key, 0..1).await, NotFound);
    }
    Ok(())
}

async fn the_first_writer_wins(store: &dyn BlobStore) -> Result<()> {
    let key = format!("{}/object", space("first"));
    expect_eq!(store.put(&key, Bytes::from_static(b"first")).await?, Put::Created);
    expect_eq!(store.put(&key, Bytes::from_static(b"second")).await?, Put::AlreadyThere);
    expect_eq!(store.get(&key).await?.as_ref(), b"first");
    Ok(())
}

async fn one_of_many_writers_creates(store: &dyn BlobStore) -> Result<()> {
    let space = space("race");
    for round in 0..8 {
        let key = format!("{space}/{round}/object");
        let put = |writer: u8| {
            let key = &key;
            async move { Ok::<_, anyhow::Error>((writer, store.put(key, Bytes::from(vec![writer; 1000])).await?)) }
        };
        let puts: Vec<(u8, Put)> = join_all((0..16).map(put)).await.into_iter().collect::<Result<_>>()?;
        let winners: Vec<u8> =
            puts.into_iter().filter(|(_, put)| *put == Put::Created).map(|(writer, _)| writer).collect();
        expect_eq!(winners.len(), 1);
        ensure!(
            store.get(&key).await? == vec![winners[0]; 1000],
            "the object does not contain the bytes of the writer that created it"
        );
    }
    Ok(())
}

async fn ranges_are_exact(store: &dyn BlobStore) -> Result<()> {
    let key = format!("{}/object", space("range"));
    store.put(&key, Bytes::from_static(b"0123456789")).await?;
    for (range, expected) in [(0..10, "0123456789"), (0..1, "0"), (3..7, "3456"), (9..10, "9"), (4..4, "")] {
        expect_eq!(store.get_range(&key, range).await?.as_ref(), expected.as_bytes());
    }
    for range in [0..11, 10..11, 50..60] {
        expect_kind!(store.get_range(&key, range).await, Invalid);
    }
    Ok(())
}

async fn lists_are_sorted_and_complete(store: &dyn BlobStore) -> Result<()> {
    let space = space("list");
    // The names are in byte order: `-` and `.` come before `/`.
    let names = ["a-b", "a.b", "a/b", "a/c/d", "a0", "b/1", "b/10", "b/2", "bc"];
    for (index, name) in names.iter().enumerate().rev() {
        store.put(&format!("{space}/{name}"), Bytes::from(vec![0; index])).await?;
    }
    let all: Vec<(String, u64)> =
        names.iter().enumerate().map(|(index, name)| (format!("{space}/{name}"), index as u64)).collect();
    for prefix in ["", "a", "a/", "a/c", "b/", "b/1", "b", "bc", "c", "a/b/"] {
        let prefix = format!("{space}/{prefix}");
        let found = store.list(&prefix).await?;
        let recent = 1_500_000_000;
        ensure!(found.iter().all(|meta| meta.modified_at > recent), "a modification time is not in seconds");
        let found: Vec<(String, u64)> = found.into_iter().map(|meta| (meta.key, meta.size_bytes)).collect();
        let expected: Vec<(String, u64)> = all.iter().filter(|(key, _)| key.starts_with(&prefix)).cloned().collect();
        expect_eq!(found, expected);
    }
    Ok(())
}

async fn deleted_object_is_not_found(store: &dyn BlobStore) -> Result<()> {
    let space = space("delete");
    let (key, other) = (format!("{space}/a/object"), format!("{space}/a/other"));
    store.put(&key, Bytes::from_static(b"x")).await?;
    store.put(&other, Bytes::from_static(b"y")).await?;
    store.delete(&key).await?;
    expect_kind!(store.get(&key).await, NotFound);
    expect_eq!(store.list(&space).await?.len(), 1);
    store.delete(&key).await?;
    store.delete(&format!("{space}/never/there")).await?;
    expect_eq!(store.put(&key, Bytes::from_static(b"again")).await?, Put::Created);
    expect_eq!(store.get(&key).await?.as_ref(), b"again");
    store.delete(&key).await?;
    store.delete(&other).await?;
    expect_eq!(store.list(&space).await?.len(), 0);
    Ok(())
}

async fn vector_written_after_the_listing_stays(store: &dyn BlobStore) -> Result<()> {
    let space = space("listed");
    let (key, longer) = (format!("{space}/object"), format!("{space}/object-2"));
    for key in [&key, &longer] {
        store.put(key, Bytes::from_static(b"x")).await?;
    }
    let [now, _] = <[BlobMeta; 2]>::try_from(store.list(&space).await?).map_err(|found| anyhow!("{found:?}"))?;
    let before = BlobMeta { modified_at: now.modified_at - 1, ..now.clone() };
    ensure!(!store.delete_listed(&before).await?, "an object was removed although it is newer than the list");
    expect_eq!(store.get(&key).await?.as_ref(), b"x");
    ensure!(store.delete_listed(&now).await?, "an object was kept although it is unchanged since the list");
    ensure!(store.delete_listed(&now).await?, "removing an object that does not exist was not reported as success");
    expect_kind!(store.get(&key).await, NotFound);
    expect_eq!(store.get(&longer).await?.as_ref(), b"x");
    Ok(())
}

async fn bad_keys_are_refused(store: &dyn BlobStore) -> Result<()> {
    for key in ["", "/a", "a/", "a//b", "..", "../a", "a/../../b", "a/.b", ".", "a b", "a\\b", "a\0b", "ä"] {
        expect_kind!(store.put(key, Bytes::from_static(b"x")).await, Invalid);
        expect_kind!(store.get(key).await, Invalid);
        expect_kind!(store.get_range(key, 0..1).await, Invalid);
        expect_kind!(store.delete(key).await, Invalid);
    }
    for prefix in ["/", "../", "a/../", "a\\"] {
        expect_kind!(store.list(prefix).await, Invalid);
    }
    Ok(())
}

async fn artifacts_are_verified(store: &dyn BlobStore) -> Result<()> {
    let key = format!("{}/artifact", space("artifact"));
    let reference = store.put_artifact(&key, Bytes::from_static(b"facts")).await?;
    expect_eq!(store.put_artifact(&key, Bytes::from_static(b"facts")).await?, reference);
    expect_kind!(store.put_artifact(&key, Bytes::from_static(b"other")).await, Conflict);
    expect_eq!(store.get_artifact(&reference).await?.as_ref(), b"facts");
    let other_hash = ArtifactRef { hash: [0; 32], ..reference.clone() };
    expect_kind!(store.get_artifact(&other_hash).await, Corrupt);
    let other_size = ArtifactRef { size_bytes: 4, ..reference };
    expect_kind!(store.get_artifact(&other_size).await, Corrupt);
    Ok(())
}
