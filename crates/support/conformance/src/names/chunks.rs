//! Checks that the definitions in given chunks are found.

use anyhow::Result;
use cairn_domain::{ChunkKey, Key128, Scope, SymbolEntry, Tenant};
use cairn_ports::{Names, StagedNames};

use crate::case::view;
use crate::names::fixture::{Index, path};
use crate::suite::expect_eq;

fn chunk(number: u8) -> ChunkKey {
    ChunkKey(Key128([number; 16]))
}

fn shown(symbol: SymbolEntry, number: u8) -> SymbolEntry {
    SymbolEntry { chunk: Some(chunk(number)), ..symbol }
}

pub(super) async fn symbols_of_chunks_come_in_the_order_of_the_chunks(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "chunks");
    let (first, second) = (shown(index.symbol("first", "a", 1), 2), shown(index.symbol("second", "a", 9), 2));
    let third = shown(index.symbol("third", "b", 4), 1);
    let without_chunk = SymbolEntry { chunk: None, ..index.symbol("fourth", "b", 8) };
    let symbols = vec![second.clone(), third.clone(), without_chunk, first.clone()];
    index.stage(1, StagedNames { symbols, files: vec![path("a"), path("b")], ..StagedNames::default() }).await?;
    let other = shown(index.symbol_of("other", "first", "a", 1), 3);
    index.stage_in("other", 1, StagedNames { symbols: vec![other.clone()], ..StagedNames::default() }).await?;
    // In generation 2, `second` is in a chunk of its own.
    let moved = shown(index.symbol("second", "a", 20), 4);
    let symbols = vec![first.clone(), moved.clone()];
    index.stage(2, StagedNames { replaced: vec![path("a")], symbols, files: vec![path("a")] }).await?;
    let chunks = [("r", 2), ("other", 3), ("r", 1), ("r", 2), ("r", 4), ("r", 9)];
    let chunks = chunks.map(|(repository, number)| (index.case.repository(repository), chunk(number)));
    let found = async |next_gen: u64, scope: &Scope| store.symbols_in(&view(next_gen, &[]), scope, &chunks).await;
    expect_eq!(found(2, &index.case.scope()).await?, [first.clone(), second, other.clone(), third.clone()]);
    expect_eq!(found(3, &index.case.scope()).await?, [first, other.clone(), third, moved]);
    expect_eq!(found(3, &index.case.scope_of(&["other"])).await?, [other]);
    expect_eq!(found(3, &Scope::all(Tenant::new(format!("{}-not", index.case.tenant)))).await?, []);
    Ok(())
}
