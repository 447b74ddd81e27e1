//! Reads layers. Lookups use the bytes in place, and a symbol is decoded only when it is found.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use cairn_domain::{
    ChunkKey, GenerationId, Key128, LineSpan, NodeKey, RepoPath, RepositoryId, SymbolEntry, SymbolKind, Tenant,
};
use cairn_layered::Layer as _;
use cairn_name_match::{NameTable, NearIndex};
use cairn_ports::NamesError;
use fst::Streamer;

use crate::encode::{LayerContents, encode};
use crate::format::{
    DOCUMENTED, DamagedLayer, EXPORTED, FIRST_VERSION, Header, IS_TEST, NO_CHUNK, PathEntry, Preamble, SymbolPosition,
    SymbolRecord, WITH_NEAR_NAMES,
};
use crate::near_table::NearTable;

/// A layer whose bytes are read in place.
pub(crate) struct Layer {
    version: u32,
    pub(crate) header: Header,
    /// Maps folded names to the numbers of their symbols.
    pub(crate) names: fst::Map<Bytes>,
    ends: Bytes,
    /// The keys of chunks, 16 bytes each.
    chunk_keys: Bytes,
    /// Pairs of the number of a chunk and the number of a symbol in this chunk, sorted. Symbols without a
    /// chunk are not listed. The list is built on first use.
    symbols_of_chunks: OnceLock<Vec<(u32, u32)>>,
    records: Bytes,
    /// All paths in lower case, concatenated. Most lookups of files scan this text. `lower_ends` contains the
    /// position at which each path ends.
    lower_paths: String,
    lower_ends: Vec<u32>,
    /// The entries of `names` as a list. A lookup that must test every name scans this list, because
    /// iteration over the map is slow.
    name_list: OnceLock<NameList>,
    /// `None` in layers of older versions.
    near_table: Option<NearTable>,
    /// Values that the search for near names computes from `near_table`.
    near_index: OnceLock<NearIndex>,
    /// This layer in the current version, if the stored version is older.
    newer: OnceLock<Arc<Layer>>,
}

/// The folded names in ascending order, with their values in `Layer::names`.
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
    fn read_body(preamble: &Preamble, body: &Bytes) -> Option<Self> {
        let header_bytes = preamble.header_bytes;
        let header: Header = postcard::from_bytes(body.get(..header_bytes)?).ok()?;
        let fst_end = header_bytes.checked_add(usize::try_from(header.fst_bytes).ok()?)?;
        let ends_end = fst_end.checked_add(4 * header.num_symbols as usize)?;
        body.get(header_bytes..fst_end)?;
        body.get(fst_end..ends_end)?;
        let names = fst::Map::new(body.slice(header_bytes..fst_end)).ok()?;
        let ends = body.slice(fst_end..ends_end);
        let (chunk_keys, rest) = split_chunk_keys(preamble.version, body.slice(ends_end..))?;
        let (near_table, records) = match preamble.version {
            WITH_NEAR_NAMES.. => NearTable::read(&rest).map(|(table, rest)| (Some(table), rest))?,
            _ => (None, rest),
        };
        let mut lower_paths = String::new();
        let mut lower_ends = Vec::with_capacity(header.paths.len());
        for entry in &header.paths {
            lower_paths.push_str(&entry.path.to_lowercase());
            lower_ends.push(lower_paths.len() as u32);
        }
        Some(Self {
            version: preamble.version,
            header,
            names,
            ends,
            chunk_keys,
            symbols_of_chunks: OnceLock::new(),
            records,
            lower_paths,
            lower_ends,
            name_list: OnceLock::new(),
            near_table,
            near_index: OnceLock::new(),
            newer: OnceLock::new(),
        })
    }

    pub(crate) fn repository(&self) -> RepositoryId {
        RepositoryId(Key128(self.header.repository))
    }

    pub(crate) fn num_symbols(&self) -> u32 {
        self.header.num_symbols
    }

    pub(crate) fn name_list(&self) -> &NameList {
        self.name_list.get_or_init(|| NameList::of(&self.names))
    }

    /// The table and the index of near names, and the layer that contains their symbols. A layer of an older
    /// version is encoded in the current version on first use.
    pub(crate) fn near(&self) -> Result<(&Layer, &NearTable, &NearIndex), DamagedLayer> {
        let Some(table) = &self.near_table else { return self.newer()?.near() };
        Ok((self, table, self.near_index.get_or_init(|| NearIndex::of(table))))
    }

    fn newer(&self) -> Result<&Layer, DamagedLayer> {
        if let Some(newer) = self.newer.get() {
            return Ok(newer);
        }
        let bytes = encode(&contents(self, |_, _| true)?).map_err(|_| DamagedLayer("it cannot be encoded again"))?;
        let newer = Arc::new(Layer::read(&Bytes::from(bytes))?);
        Ok(self.newer.get_or_init(|| newer))
    }

    /// A path in lower case.
    pub(crate) fn lower_path(&self, path: usize) -> &str {
        let start = if path == 0 { 0 } else { self.lower_ends[path - 1] as usize };
        &self.lower_paths[start..self.lower_ends[path] as usize]
    }

    /// Decodes a value of `names` to the numbers of its symbols.
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

    /// The entry of the path of a symbol.
    pub(crate) fn path_of(&self, number: u32) -> Result<&PathEntry, DamagedLayer> {
        let record = self.record(number).map(|(record, _)| record);
        let path = record.and_then(|record| self.header.paths.get(record.path as usize));
        path.ok_or(DamagedLayer("a symbol cannot be read"))
    }

    /// The record of a symbol, and the bytes after it.
    fn record(&self, number: u32) -> Option<(SymbolRecord<'_>, &[u8])> {
        let (ends, _) = self.ends.as_chunks::<4>();
        let end = |number: usize| Some(u32::from_le_bytes(*ends.get(number)?) as usize);
        let number = number as usize;
        let start = if number == 0 { 0 } else { end(number - 1)? };
        postcard::take_from_bytes(self.records.get(start..end(number)?)?).ok()
    }

    fn read_symbol(&self, number: u32) -> Option<(SymbolEntry, usize)> {
        let (record, rest) = self.record(number)?;
        let (span, chunk) = self.position(record.line, rest)?;
        let path = self.header.paths.get(record.path as usize)?;
        let flag = |flag: u8| record.flags & flag != 0;
        let symbol = SymbolEntry {
            name: record.name.to_owned(),
            qualified_name: record.qualified_name.to_owned(),
            kind: *SymbolKind::ALL.get(usize::from(record.kind))?,
            path: RepoPath::parse(&path.path).ok()?,
            line: record.line,
            span,
            chunk,
            node: NodeKey(Key128(record.node)),
            language: self.header.languages.get(record.language as usize)?.clone(),
            module_path: self.header.modules.get(record.module as usize)?.clone(),
            exported: flag(EXPORTED),
            documented: flag(DOCUMENTED),
            is_test: flag(IS_TEST),
        };
        Some((symbol, record.path as usize))
    }

    /// Reads the span and the chunk of a symbol from the bytes after its record.
    fn position(&self, line: u32, bytes: &[u8]) -> Option<(LineSpan, Option<ChunkKey>)> {
        if self.version == FIRST_VERSION {
            return Some((LineSpan::new(line, line), None));
        }
        let position: SymbolPosition = postcard::from_bytes(bytes).ok()?;
        let span = LineSpan::new(position.first_line, position.last_line);
        if position.chunk == NO_CHUNK {
            return Some((span, None));
        }
        let (keys, _) = self.chunk_keys.as_chunks::<16>();
        let key = keys.get(position.chunk as usize - 1)?;
        Some((span, Some(ChunkKey(Key128(*key)))))
    }

    /// The numbers of the symbols whose names are in the chunk.
    pub(crate) fn symbols_in(&self, chunk: ChunkKey) -> Result<impl Iterator<Item = u32>, DamagedLayer> {
        let (keys, _) = self.chunk_keys.as_chunks::<16>();
        let number = keys.binary_search(&chunk.0.0).map_or(NO_CHUNK, |index| index as u32 + 1);
        let all = self.symbols_of_chunks()?;
        let first = all.partition_point(|(chunk, _)| *chunk < number);
        let of_chunk = all[first..].iter().take_while(move |(chunk, _)| *chunk == number);
        Ok(of_chunk.map(|(_, symbol)| *symbol))
    }

    fn symbols_of_chunks(&self) -> Result<&[(u32, u32)], DamagedLayer> {
        if let Some(known) = self.symbols_of_chunks.get() {
            return Ok(known);
        }
        let mut pairs = Vec::new();
        for number in 0..self.num_symbols() {
            let chunk = self.chunk_number(number).ok_or(DamagedLayer("a symbol cannot be read"))?;
            if chunk != NO_CHUNK {
                pairs.push((chunk, number));
            }
        }
        pairs.sort_unstable();
        Ok(self.symbols_of_chunks.get_or_init(|| pairs))
    }

    /// The one-based number of the chunk of a symbol, or [`NO_CHUNK`].
    fn chunk_number(&self, number: u32) -> Option<u32> {
        let (_, position) = self.record(number)?;
        if self.version == FIRST_VERSION {
            return Some(NO_CHUNK);
        }
        postcard::from_bytes(position).ok().map(|position: SymbolPosition| position.chunk)
    }

    /// The generations that end earlier names of the path.
    pub(crate) fn ends_of<'a>(&'a self, path: &'a str) -> impl Iterator<Item = GenerationId> + 'a {
        let first = self.header.ended.partition_point(|(ended, _)| ended.as_str() < path);
        let of_path = self.header.ended[first..].iter().take_while(move |(ended, _)| ended == path);
        of_path.map(|(_, generation)| GenerationId(*generation))
    }

    /// All generations that occur in the layer.
    pub(crate) fn generations(&self) -> impl Iterator<Item = GenerationId> {
        let of_paths = self.header.paths.iter().map(|entry| GenerationId(entry.generation));
        of_paths.chain(self.header.ended.iter().map(|(_, generation)| GenerationId(*generation)))
    }
}

impl cairn_layered::Layer for Layer {
    const FOLDER: &'static str = "names";
    const REPLACED_KEPT_SECONDS: i64 = 10;
    type Error = NamesError;
    type Damage = DamagedLayer;

    fn read(bytes: &Bytes) -> Result<Self, DamagedLayer> {
        let (preamble, body) = Preamble::read(bytes)?;
        Self::read_body(&preamble, &body).ok_or(DamagedLayer("its sections are inconsistent with each other"))
    }

    fn size_bytes(&self) -> usize {
        let paths: usize = self.header.paths.iter().map(|entry| entry.path.len() + 64).sum();
        let of_chunks = size_of::<(u32, u32)>() * self.num_symbols() as usize;
        let sections = self.ends.len() + self.chunk_keys.len() + self.records.len() + of_chunks;
        let table = |table: &NearTable| NearIndex::size_bytes(table.num_names() as usize, table.num_words() as usize);
        let near = self.near_table.as_ref().map_or(0, table);
        4 * self.names.as_fst().size() + sections + paths + self.lower_paths.len() + near
    }

    fn tenant(&self) -> &str {
        &self.header.tenant
    }

    fn replaces(&self) -> &[String] {
        &self.header.replaces
    }
}

/// Splits the bytes that follow the section with the ends of the records. Returns the keys of the chunks, and
/// the bytes after these keys.
fn split_chunk_keys(version: u32, bytes: Bytes) -> Option<(Bytes, Bytes)> {
    if version == FIRST_VERSION {
        return Some((Bytes::new(), bytes));
    }
    let (number, _) = bytes.split_first_chunk::<4>()?;
    let end = (u32::from_le_bytes(*number) as usize).checked_mul(16)?.checked_add(4)?;
    bytes.get(..end)?;
    Some((bytes.slice(4..end), bytes.slice(end..)))
}

/// Returns the contents of a layer, but only the entries whose generation and path `keep` accepts.
pub(crate) fn contents(
    layer: &Layer,
    keep: impl Fn(GenerationId, &str) -> bool,
) -> Result<LayerContents, DamagedLayer> {
    let path = |text: &str| RepoPath::parse(text).map_err(|_| DamagedLayer("a path is not valid"));
    let mut files = Vec::new();
    for entry in layer.header.paths.iter().filter(|entry| entry.is_file) {
        if keep(GenerationId(entry.generation), &entry.path) {
            files.push((path(&entry.path)?, GenerationId(entry.generation)));
        }
    }
    let mut symbols = Vec::new();
    for number in 0..layer.num_symbols() {
        let (symbol, entry) = layer.symbol(number)?;
        if keep(GenerationId(entry.generation), &entry.path) {
            symbols.push((symbol, GenerationId(entry.generation)));
        }
    }
    let mut ended = Vec::new();
    for (text, generation) in &layer.header.ended {
        ended.push((path(text)?, GenerationId(*generation)));
    }
    let tenant = Tenant::new(layer.header.tenant.clone());
    Ok(LayerContents { tenant, repository: layer.repository(), replaces: Vec::new(), files, symbols, ended })
}
