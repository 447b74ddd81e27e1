//! Tests that stored layers of every version of the format can still be read.
//!
//! `tests/golden/layer.v<version>` is written once, by the first build of the version (`WRITE_GOLDEN=1`), and
//! never changed. All versions must stay readable.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use cairn_domain::{GenerationId, LineSpan, SymbolEntry, Tenant};
use cairn_names::NameIndex;
use cairn_ports::{BlobStore, Generations, NameMatch, Names, StagedNames};

use crate::memory::{MemoryBlobs, everything, index, path, repository, run, symbol, view};

fn golden(version: u32) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/layer.v{version}"))
}

async fn symbol_of(index: &NameIndex, generation: u64, name: &str) -> SymbolEntry {
    let hits = index.symbols(&view(generation + 1, &[]), &everything(), name, &[NameMatch::Exact], 9).await;
    let [hit] = &hits.expect("looked up")[..] else { panic!("the layer does not contain exactly one symbol `{name}`") };
    hit.symbol.clone()
}

#[tokio::test]
async fn layer_has_the_bytes_of_its_version() {
    let (_, blobs) = index().await;
    let written = blobs.get(&blobs.keys()[0]).await.expect("the layer");
    let path = golden(3);
    if std::env::var_os("WRITE_GOLDEN").is_some() && !path.exists() {
        std::fs::write(&path, &written).expect("a golden file");
    }
    let golden = std::fs::read(&path).expect("a golden file");
    assert!(written == golden, "the bytes of a layer changed: raise the version of its format");
}

/// A layer of an older version has no table of near names, so the layer is encoded again in memory.
#[tokio::test]
async fn near_names_are_found_in_layers_of_all_versions() {
    for version in 1..=3 {
        let blobs = Arc::new(MemoryBlobs::default());
        let bytes = Bytes::from(std::fs::read(golden(version)).expect("a golden file"));
        blobs.replace(&format!("names/{}/0000000000000001-0123456789abcdef", repository()), bytes);
        let index = NameIndex::new(blobs);
        for name in ["fetchUsrById", "user_by_id", "CACHE.get_usre"] {
            let hits = index.resolve(&view(2, &[]), &everything(), name, &[], 1).await.expect("resolved");
            let found: Vec<&str> = hits.iter().map(|hit| hit.symbol.qualified_name.as_str()).collect();
            let expect = if name.contains("usre") { "Cache.get_user" } else { "Store.getUserById" };
            assert_eq!(found.first(), Some(&expect), "{name} in version {version}");
        }
    }
}

/// A layer of version 1 contains no chunks.
#[tokio::test]
async fn symbols_of_chunks_are_found_in_layers_of_later_versions() {
    for version in 1..=3 {
        let blobs = Arc::new(MemoryBlobs::default());
        let bytes = Bytes::from(std::fs::read(golden(version)).expect("a golden file"));
        blobs.replace(&format!("names/{}/0000000000000001-0123456789abcdef", repository()), bytes);
        let index = NameIndex::new(blobs);
        let symbol = symbol_of(&index, 1, "GETUSER").await;
        let chunk = symbol.chunk.map(|chunk| (repository(), chunk));
        assert_eq!(chunk.is_some(), version > 1, "version {version}");
        let found = index.symbols_in(&view(2, &[]), &everything(), chunk.as_slice()).await.expect("looked up");
        assert_eq!(found.contains(&symbol), version > 1, "version {version}: {found:?}");
    }
}

#[tokio::test]
async fn layer_of_version_1_is_read_and_merged() {
    let blobs = Arc::new(MemoryBlobs::default());
    let bytes = Bytes::from(std::fs::read(golden(1)).expect("a golden file"));
    blobs.replace(&format!("names/{}/0000000000000001-0123456789abcdef", repository()), bytes);
    let index = NameIndex::new(Arc::<MemoryBlobs>::clone(&blobs));
    let old =
        |line, name: &str, at| SymbolEntry { span: LineSpan::new(line, line), chunk: None, ..symbol(at, line, name) };
    assert_eq!(symbol_of(&index, 1, "getUserById").await, old(9, "Store.getUserById", "src/store.rs"));
    let new = symbol("src/store.rs", 12, "Store.getUserById");
    // The second layer has as many names as the first layer, because a small layer is not merged into a large
    // one.
    let mut symbols: Vec<SymbolEntry> =
        (1..10).map(|line| symbol("src/new.rs", line, &format!("new_{line}"))).collect();
    symbols.push(new.clone());
    let files = vec![path("src/store.rs"), path("src/new.rs")];
    let staged = StagedNames { replaced: vec![path("src/store.rs")], symbols, files };
    index.stage(&Tenant::local(), run(2), staged).await.expect("staged");
    index.sweep_retired(repository(), &[GenerationId(1), GenerationId(2)]).await.expect("swept");
    assert!(blobs.keys().iter().any(|key| key.contains("/merged-")), "{:?}", blobs.keys());
    index.verify(repository()).await.expect("sound");
    assert_eq!(symbol_of(&index, 2, "getUserById").await, new);
    assert_eq!(symbol_of(&index, 2, "get_user").await, old(3, "Cache.get_user", "src/cache.rs"));
}
