//! Encodes the contents of a layer as bytes.

use cairn_domain::{ChunkKey, GenerationId, RepoPath, RepositoryId, SymbolEntry, SymbolKind, Tenant};
use cairn_name_match::{MemoryTable, folded};
use cairn_ranking::fold_style;

use crate::format::{
    DOCUMENTED, EXPORTED, Header, IS_TEST, NO_CHUNK, PathEntry, SymbolPosition, SymbolRecord, assemble,
};
use crate::near_table;

/// The contents of a layer.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct LayerContents {
    pub(crate) tenant: Tenant,
    pub(crate) repository: RepositoryId,
    /// Keys of the layers that this layer replaces.
    pub(crate) replaces: Vec<String>,
    /// Paths, each with the generation that wrote its names.
    pub(crate) files: Vec<(RepoPath, GenerationId)>,
    pub(crate) symbols: Vec<(SymbolEntry, GenerationId)>,
    /// Paths whose earlier names are no longer valid, each with the generation that ends these names.
    pub(crate) ended: Vec<(RepoPath, GenerationId)>,
}

/// Returns the bytes of a layer. The bytes depend only on the contents, not on the order of the contents.
pub(crate) fn encode(contents: &LayerContents) -> Result<Vec<u8>, fst::Error> {
    let paths = paths(contents);
    let languages = sorted(contents.symbols.iter().map(|(symbol, _)| symbol.language.clone()));
    let modules = sorted(contents.symbols.iter().map(|(symbol, _)| symbol.module_path.clone()));
    let chunks = sorted(contents.symbols.iter().filter_map(|(symbol, _)| symbol.chunk));
    let symbols = sorted_symbols(contents);
    let mut ends: Vec<u8> = Vec::new();
    let mut records: Vec<u8> = Vec::new();
    for Named { symbol, generation, .. } in &symbols {
        let record = record(symbol, *generation, &paths, &languages, &modules);
        records = postcard::to_extend(&record, records).map_err(std::io::Error::other)?;
        records = postcard::to_extend(&position(symbol, &chunks), records).map_err(std::io::Error::other)?;
        ends.extend((records.len() as u32).to_le_bytes());
    }
    let fst = name_map(&symbols)?;
    let mut ended: Vec<(String, u64)> =
        contents.ended.iter().map(|(path, generation)| (path.as_str().to_owned(), generation.0)).collect();
    ended.sort_unstable();
    ended.dedup();
    let header = Header {
        tenant: contents.tenant.as_str().to_owned(),
        repository: contents.repository.0.0,
        replaces: contents.replaces.clone(),
        paths,
        ended,
        languages,
        modules,
        fst_bytes: fst.len() as u64,
        num_symbols: symbols.len() as u32,
    };
    let header = postcard::to_stdvec(&header).map_err(std::io::Error::other)?;
    let mut chunk_keys = (chunks.len() as u32).to_le_bytes().to_vec();
    chunk_keys.extend(chunks.iter().flat_map(|chunk| chunk.0.0));
    Ok(assemble(&header, &[&fst, &ends, &chunk_keys, &near_names(&symbols), &records]))
}

/// A symbol with its folded name and the words of its name.
struct Named<'a> {
    folded: String,
    words: String,
    symbol: &'a SymbolEntry,
    generation: GenerationId,
}

/// The symbols in the order of their numbers.
fn sorted_symbols<'a>(contents: &'a LayerContents) -> Vec<Named<'a>> {
    let named = |(symbol, generation): &'a (SymbolEntry, GenerationId)| Named {
        folded: fold_style(&symbol.name),
        words: folded(&symbol.name),
        symbol,
        generation: *generation,
    };
    let mut symbols: Vec<Named<'a>> = contents.symbols.iter().map(named).collect();
    symbols.sort_by(|left, right| {
        let names = (&left.folded, &left.words, &left.symbol.path);
        let place = |named: &Named<'_>| (named.symbol.line, named.symbol.node, named.generation);
        names.cmp(&(&right.folded, &right.words, &right.symbol.path)).then_with(|| place(left).cmp(&place(right)))
    });
    symbols
}

/// The table of near names. Each name is a group of symbols with the same folded name and words.
fn near_names(symbols: &[Named<'_>]) -> Vec<u8> {
    let mut firsts = Vec::new();
    let mut first = 0;
    let groups = symbols.chunk_by(|left, right| left.folded == right.folded && left.words == right.words);
    let names: Vec<&str> = groups
        .map(|group| {
            firsts.push(first);
            first += group.len() as u32;
            group[0].words.as_str()
        })
        .collect();
    near_table::encode(&MemoryTable::of(names.into_iter()), &firsts)
}

fn paths(contents: &LayerContents) -> Vec<PathEntry> {
    let entry = |path: &RepoPath, generation: GenerationId, is_file| PathEntry {
        path: path.as_str().to_owned(),
        generation: generation.0,
        is_file,
    };
    let files = contents.files.iter().map(|(path, generation)| entry(path, *generation, true));
    let of_symbols = contents.symbols.iter().map(|(symbol, generation)| entry(&symbol.path, *generation, false));
    let mut paths: Vec<PathEntry> = files.chain(of_symbols).collect();
    // A path can have a file entry and entries from its symbols. The file entry sorts last and is kept.
    paths.sort_unstable();
    paths.reverse();
    paths.dedup_by(|later, kept| later.path == kept.path && later.generation == kept.generation);
    paths.reverse();
    paths
}

fn sorted<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values.dedup();
    values
}

fn record<'a>(
    symbol: &'a SymbolEntry,
    generation: GenerationId,
    paths: &[PathEntry],
    languages: &[String],
    modules: &[String],
) -> SymbolRecord<'a> {
    let place = (symbol.path.as_str(), generation.0);
    let kind = SymbolKind::ALL.iter().position(|kind| *kind == symbol.kind).unwrap_or_default();
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    SymbolRecord {
        name: &symbol.name,
        qualified_name: &symbol.qualified_name,
        kind: kind as u8,
        path: paths.partition_point(|entry| (entry.path.as_str(), entry.generation) < place) as u32,
        line: symbol.line,
        node: symbol.node.0.0,
        language: languages.partition_point(|language| *language < symbol.language) as u32,
        module: modules.partition_point(|module| *module < symbol.module_path) as u32,
        flags: flag(symbol.exported, EXPORTED) | flag(symbol.documented, DOCUMENTED) | flag(symbol.is_test, IS_TEST),
    }
}

fn position(symbol: &SymbolEntry, chunks: &[ChunkKey]) -> SymbolPosition {
    let number = |chunk: ChunkKey| chunks.partition_point(|known| *known < chunk) as u32 + 1;
    SymbolPosition {
        first_line: symbol.span.start,
        last_line: symbol.span.end,
        chunk: symbol.chunk.map_or(NO_CHUNK, number),
    }
}

fn name_map(symbols: &[Named<'_>]) -> Result<Vec<u8>, fst::Error> {
    let mut map = fst::MapBuilder::memory();
    let mut first = 0u64;
    for group in symbols.chunk_by(|left, right| left.folded == right.folded) {
        map.insert(&group[0].folded, first << 32 | group.len() as u64)?;
        first += group.len() as u64;
    }
    map.into_inner()
}
