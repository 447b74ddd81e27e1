//! A layer: what one generation (or several, merged) says about the names of a repository, as bytes.
//!
//! ```text
//! 0   magic `CAIRNNAM`
//! 8   version of the format, u32
//! 12  length of the header, u32
//! 16  checksum of all that follows (first 16 bytes of its blake3)
//! 32  header (postcard), then the sections that it gives the lengths of:
//!     the fst, ends of the symbols' records (u32 each), the records (postcard)
//! ```
//!
//! The fst maps each name, folded by `fold_style`, to the symbols that have it: number of the first and their count.
//! Symbols are sorted by folded name, so those of a name are neighbours. A record is decoded when it is found.

use std::sync::OnceLock;

use bytes::Bytes;
use cairn_domain::{GenerationId, Key128, NodeKey, RepoPath, RepositoryId, SymbolEntry, SymbolKind, Tenant};
use cairn_ranking::fold_style;
use fst::Streamer;
use serde::{Deserialize, Serialize};

const MAGIC: [u8; 8] = *b"CAIRNNAM";
const VERSION: u32 = 1;
const PREAMBLE_BYTES: usize = 32;

/// What a layer is made of.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct LayerContents {
    pub(crate) tenant: Tenant,
    pub(crate) repository: RepositoryId,
    /// Keys of the layers that this one stands for.
    pub(crate) replaces: Vec<String>,
    /// Paths with the generation that wrote their names.
    pub(crate) files: Vec<(RepoPath, GenerationId)>,
    pub(crate) symbols: Vec<(SymbolEntry, GenerationId)>,
    /// Paths whose names of earlier generations end, with the generation that ends them.
    pub(crate) ended: Vec<(RepoPath, GenerationId)>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) tenant: String,
    pub(crate) repository: [u8; 16],
    pub(crate) replaces: Vec<String>,
    /// Sorted. Symbols name them by index; `is_file` is false for paths that only symbols name.
    pub(crate) paths: Vec<PathEntry>,
    /// Sorted.
    pub(crate) ended: Vec<(String, u64)>,
    languages: Vec<String>,
    modules: Vec<String>,
    fst_bytes: u64,
    num_symbols: u32,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct PathEntry {
    pub(crate) path: String,
    pub(crate) generation: u64,
    pub(crate) is_file: bool,
}

#[derive(Serialize, Deserialize)]
struct SymbolRecord<'a> {
    name: &'a str,
    qualified_name: &'a str,
    kind: u8,
    path: u32,
    line: u32,
    node: [u8; 16],
    language: u32,
    module: u32,
    flags: u8,
}

const EXPORTED: u8 = 1;
const DOCUMENTED: u8 = 2;
const IS_TEST: u8 = 4;

/// Bytes that are not a layer, or a damaged one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the index of names is damaged: {0}; `cairn index --rebuild` writes it anew")]
pub(crate) struct DamagedLayer(pub(crate) &'static str);

/// The bytes of a layer. They depend on the contents alone, not on their order.
pub(crate) fn encode(contents: &LayerContents) -> Result<Vec<u8>, fst::Error> {
    let paths = paths(contents);
    let mut languages = sorted(contents.symbols.iter().map(|(symbol, _)| symbol.language.clone()));
    let mut modules = sorted(contents.symbols.iter().map(|(symbol, _)| symbol.module_path.clone()));
    let mut symbols: Vec<(String, &SymbolEntry, GenerationId)> =
        contents.symbols.iter().map(|(symbol, generation)| (fold_style(&symbol.name), symbol, *generation)).collect();
    symbols.sort_by(|(left_name, left, from), (right_name, right, until)| {
        let names = left_name.cmp(right_name).then_with(|| left.path.cmp(&right.path));
        names.then_with(|| (left.line, left.node, from).cmp(&(right.line, right.node, until)))
    });
    let mut ends: Vec<u8> = Vec::new();
    let mut records: Vec<u8> = Vec::new();
    for (_, symbol, generation) in &symbols {
        let record = record(symbol, *generation, &paths, &languages, &modules);
        records = postcard::to_extend(&record, records).map_err(std::io::Error::other)?;
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
        languages: std::mem::take(&mut languages),
        modules: std::mem::take(&mut modules),
        fst_bytes: fst.len() as u64,
        num_symbols: symbols.len() as u32,
    };
    let header = postcard::to_stdvec(&header).map_err(std::io::Error::other)?;
    Ok(assemble(&header, &[&fst, &ends, &records]))
}

fn assemble(header: &[u8], sections: &[&[u8]]) -> Vec<u8> {
    let body: Vec<u8> = header.iter().chain(sections.iter().copied().flatten()).copied().collect();
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend(&blake3::hash(&body).as_bytes()[..16]);
    bytes.extend(body);
    bytes
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
    // Of a path that is both, the entry of the file comes last and is kept.
    paths.sort_unstable();
    paths.reverse();
    paths.dedup_by(|later, kept| later.path == kept.path && later.generation == kept.generation);
    paths.reverse();
    paths
}

fn sorted(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut values: Vec<String> = values.collect();
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

fn name_map(symbols: &[(String, &SymbolEntry, GenerationId)]) -> Result<Vec<u8>, fst::Error> {
    let mut map = fst::MapBuilder::memory();
    let mut first = 0u64;
    for group in symbols.chunk_by(|left, right| left.0 == right.0) {
        map.insert(&group[0].0, first << 32 | group.len() as u64)?;
        first += group.len() as u64;
    }
    map.into_inner()
}

/// A layer, read in place.
pub(crate) struct Layer {
    pub(crate) header: Header,
    /// Folded names to numbers of symbols.
    pub(crate) names: fst::Map<Bytes>,
    ends: Bytes,
    records: Bytes,
    /// Paths in lower case, one after the other, with the end of each: what most file names are looked up in.
    lower_paths: String,
    lower_ends: Vec<u32>,
    /// What `names` maps, as a list: walking the map is slow when every name is to be looked at.
    name_list: OnceLock<NameList>,
}

/// Folded names with the values of `Layer::names`, ascending.
pub(crate) struct NameList {
    text: String,
    entries: Vec<(u32, u64)>,
}

impl NameList {
    fn of(names: &fst::Map<Bytes>) -> Self {
        let mut list = Self { text: String::new(), entries: Vec::with_capacity(names.len()) };
        let mut stream = names.stream();
        while let Some((name, value)) = stream.next() {
            list.text.push_str(str::from_utf8(name).unwrap_or_default());
            list.entries.push((list.text.len() as u32, value));
        }
        list
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        let mut start = 0;
        self.entries.iter().map(move |(end, value)| {
            let name = &self.text[start..*end as usize];
            start = *end as usize;
            (name, *value)
        })
    }
}

impl Layer {
    pub(crate) fn read(bytes: &Bytes) -> Result<Self, DamagedLayer> {
        let (preamble, _) = bytes.split_at_checked(PREAMBLE_BYTES).ok_or(DamagedLayer("it is too short"))?;
        let number =
            |at: usize| u32::from_le_bytes([preamble[at], preamble[at + 1], preamble[at + 2], preamble[at + 3]]);
        if preamble[..8] != MAGIC || number(8) != VERSION {
            return Err(DamagedLayer("it is not of this version of Cairn"));
        }
        let body = bytes.slice(PREAMBLE_BYTES..);
        if blake3::hash(&body).as_bytes()[..16] != preamble[16..] {
            return Err(DamagedLayer("its checksum does not match"));
        }
        Self::read_body(&body, number(12) as usize).ok_or(DamagedLayer("its parts do not fit together"))
    }

    fn read_body(body: &Bytes, header_bytes: usize) -> Option<Self> {
        let header: Header = postcard::from_bytes(body.get(..header_bytes)?).ok()?;
        let fst_end = header_bytes.checked_add(usize::try_from(header.fst_bytes).ok()?)?;
        let ends_end = fst_end.checked_add(4 * header.num_symbols as usize)?;
        body.get(header_bytes..fst_end)?;
        body.get(fst_end..ends_end)?;
        let names = fst::Map::new(body.slice(header_bytes..fst_end)).ok()?;
        let (ends, records) = (body.slice(fst_end..ends_end), body.slice(ends_end..));
        let mut lower_paths = String::new();
        let mut lower_ends = Vec::with_capacity(header.paths.len());
        for entry in &header.paths {
            lower_paths.push_str(&entry.path.to_lowercase());
            lower_ends.push(lower_paths.len() as u32);
        }
        Some(Self { header, names, ends, records, lower_paths, lower_ends, name_list: OnceLock::new() })
    }

    pub(crate) fn repository(&self) -> RepositoryId {
        RepositoryId(Key128(self.header.repository))
    }

    pub(crate) fn num_symbols(&self) -> u32 {
        self.header.num_symbols
    }

    /// Memory that the layer takes, about; the list of names is about three times their map.
    pub(crate) fn size_bytes(&self) -> usize {
        let paths: usize = self.header.paths.iter().map(|entry| entry.path.len() + 64).sum();
        4 * self.names.as_fst().size() + self.ends.len() + self.records.len() + paths + self.lower_paths.len()
    }

    pub(crate) fn name_list(&self) -> &NameList {
        self.name_list.get_or_init(|| NameList::of(&self.names))
    }

    /// A path in lower case.
    pub(crate) fn lower_path(&self, path: usize) -> &str {
        let start = if path == 0 { 0 } else { self.lower_ends[path - 1] as usize };
        &self.lower_paths[start..self.lower_ends[path] as usize]
    }

    /// The symbols of a value of `names`.
    pub(crate) fn numbers(value: u64) -> std::ops::Range<u32> {
        let first = (value >> 32) as u32;
        first..first.saturating_add(value as u32)
    }

    /// A symbol and the entry of its path.
    pub(crate) fn symbol(&self, number: u32) -> Result<(SymbolEntry, &PathEntry), DamagedLayer> {
        let (symbol, path) = self.symbol_at(number)?;
        Ok((symbol, &self.header.paths[path]))
    }

    /// A symbol and the number of its path.
    pub(crate) fn symbol_at(&self, number: u32) -> Result<(SymbolEntry, usize), DamagedLayer> {
        self.read_symbol(number).ok_or(DamagedLayer("a symbol cannot be read"))
    }

    fn read_symbol(&self, number: u32) -> Option<(SymbolEntry, usize)> {
        let (ends, _) = self.ends.as_chunks::<4>();
        let end = |number: usize| Some(u32::from_le_bytes(*ends.get(number)?) as usize);
        let number = number as usize;
        let start = if number == 0 { 0 } else { end(number - 1)? };
        let record: SymbolRecord<'_> = postcard::from_bytes(self.records.get(start..end(number)?)?).ok()?;
        let path = self.header.paths.get(record.path as usize)?;
        let flag = |flag: u8| record.flags & flag != 0;
        let symbol = SymbolEntry {
            name: record.name.to_owned(),
            qualified_name: record.qualified_name.to_owned(),
            kind: *SymbolKind::ALL.get(usize::from(record.kind))?,
            path: RepoPath::parse(&path.path).ok()?,
            line: record.line,
            node: NodeKey(Key128(record.node)),
            language: self.header.languages.get(record.language as usize)?.clone(),
            module_path: self.header.modules.get(record.module as usize)?.clone(),
            exported: flag(EXPORTED),
            documented: flag(DOCUMENTED),
            is_test: flag(IS_TEST),
        };
        Some((symbol, record.path as usize))
    }

    /// Generations that end the names that the path had before.
    pub(crate) fn ends_of<'a>(&'a self, path: &'a str) -> impl Iterator<Item = GenerationId> + 'a {
        let first = self.header.ended.partition_point(|(ended, _)| ended.as_str() < path);
        let of_path = self.header.ended[first..].iter().take_while(move |(ended, _)| ended == path);
        of_path.map(|(_, generation)| GenerationId(*generation))
    }

    /// All generations that the layer names.
    pub(crate) fn generations(&self) -> impl Iterator<Item = GenerationId> {
        let of_paths = self.header.paths.iter().map(|entry| GenerationId(entry.generation));
        of_paths.chain(self.header.ended.iter().map(|(_, generation)| GenerationId(*generation)))
    }
}
