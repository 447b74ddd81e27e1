//! Reads layers. Lookups read the bytes of a layer in place, without decoding the whole layer.

use std::sync::Arc;

use bytes::Bytes;
use cairn_domain::{ArtifactRef, GenerationId, Key128, RepositoryId};
use cairn_exact::{GRAMS_VERSION, Gram, GramQuery};
use cairn_ports::TextsError;

use crate::format::{BLOCK_GRAMS, DIRECTORY_ENTRY_BYTES, DamagedLayer, Header, read_preamble, take_varint};
use crate::postings;

const DAMAGED_LIST: DamagedLayer = DamagedLayer("a list of files cannot be read");

/// A layer whose bytes are read in place.
pub(crate) struct Layer {
    pub(crate) header: Header,
    pub(crate) packs: Vec<Arc<ArtifactRef>>,
    pub(crate) languages: Vec<Arc<str>>,
    directory: Bytes,
    dictionary: Bytes,
    postings: Bytes,
}

/// The list of the files that contain a trigram: the number of files, and the encoded list.
#[derive(Clone, Copy)]
pub(crate) struct List<'a> {
    num_listed: usize,
    bytes: &'a [u8],
}

impl Layer {
    fn read_body(header_bytes: usize, body: &Bytes) -> Option<Self> {
        let header: Header = postcard::from_bytes(body.get(..header_bytes)?).ok()?;
        let directory_end = header_bytes.checked_add(usize::try_from(header.directory_bytes).ok()?)?;
        let dictionary_end = directory_end.checked_add(usize::try_from(header.dictionary_bytes).ok()?)?;
        body.get(..dictionary_end)?;
        let is_known = |file: &crate::format::FileEntry| {
            (file.language as usize) < header.languages.len() && (file.pack as usize) < header.packs.len()
        };
        header.files.iter().all(is_known).then_some(())?;
        let packs = header
            .packs
            .iter()
            .map(|pack| Arc::new(ArtifactRef { key: pack.key.clone(), size_bytes: pack.size_bytes, hash: pack.hash }));
        Some(Self {
            packs: packs.collect(),
            languages: header.languages.iter().map(|language| Arc::from(language.as_str())).collect(),
            directory: body.slice(header_bytes..directory_end),
            dictionary: body.slice(directory_end..dictionary_end),
            postings: body.slice(dictionary_end..),
            header,
        })
    }

    pub(crate) fn repository(&self) -> RepositoryId {
        RepositoryId(Key128(self.header.repository))
    }

    pub(crate) fn num_files(&self) -> usize {
        self.header.files.len()
    }

    /// The list of a trigram. `None` if no file contains the trigram.
    pub(crate) fn list(&self, gram: Gram) -> Result<Option<List<'_>>, DamagedLayer> {
        let (mut low, mut high) = (0, self.directory.len() / DIRECTORY_ENTRY_BYTES);
        while low < high {
            let middle = low.midpoint(high);
            if self.block(middle).ok_or(DAMAGED_LIST)?.0 <= gram { low = middle + 1 } else { high = middle }
        }
        let Some(block) = low.checked_sub(1) else { return Ok(None) };
        for found in self.lists(block).take(BLOCK_GRAMS) {
            let (found, list) = found?;
            if found >= gram {
                return Ok((found == gram).then_some(list));
            }
        }
        Ok(None)
    }

    /// The first trigram of a block, and the positions of the block in the dictionary and in the postings.
    fn block(&self, number: usize) -> Option<(Gram, usize, usize)> {
        let entry = self.directory.get(number * DIRECTORY_ENTRY_BYTES..)?.first_chunk::<DIRECTORY_ENTRY_BYTES>()?;
        let value = |at: usize| u32::from_le_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]]);
        Some((value(0), value(4) as usize, value(8) as usize))
    }

    /// The trigrams from this block on, in ascending order, each with its list.
    pub(crate) fn lists(&self, block: usize) -> Lists<'_> {
        let (gram, dictionary, postings) = self.block(block).unwrap_or((0, self.dictionary.len(), 0));
        Lists {
            layer: self,
            gram,
            dictionary: self.dictionary.get(dictionary..).unwrap_or_default(),
            postings,
            number: block * BLOCK_GRAMS,
        }
    }

    /// The numbers of the files in a list.
    pub(crate) fn files_of(&self, list: List<'_>) -> Result<Vec<u32>, DamagedLayer> {
        postings::read(list.bytes, list.num_listed, self.num_files()).ok_or(DAMAGED_LIST)
    }

    /// The numbers of the files that satisfy the query. `None` if all files satisfy the query.
    pub(crate) fn matching(&self, query: &GramQuery) -> Result<Option<Vec<u32>>, DamagedLayer> {
        // The trigrams of the layer were computed with a different version of the rules, so they cannot
        // exclude a file.
        if self.header.grams_version != GRAMS_VERSION {
            return Ok(None);
        }
        self.evaluate(query)
    }

    fn evaluate(&self, query: &GramQuery) -> Result<Option<Vec<u32>>, DamagedLayer> {
        Ok(match query {
            GramQuery::All => None,
            GramQuery::Nothing => Some(Vec::new()),
            GramQuery::Gram(gram) => match self.list(*gram)? {
                Some(list) => Some(self.files_of(list)?),
                None => Some(Vec::new()),
            },
            GramQuery::And(parts) => self.evaluate_all(parts)?,
            GramQuery::Or(parts) => {
                let mut any = Vec::new();
                for part in parts {
                    match self.evaluate(part)? {
                        Some(files) => any.extend(files),
                        None => return Ok(None),
                    }
                }
                any.sort_unstable();
                any.dedup();
                Some(any)
            }
        })
    }

    /// Evaluates a conjunction. The shortest lists are read first, so that few lists are read for a text that
    /// does not occur.
    fn evaluate_all(&self, parts: &[GramQuery]) -> Result<Option<Vec<u32>>, DamagedLayer> {
        let mut lists = Vec::new();
        for part in parts {
            if let GramQuery::Gram(gram) = part {
                match self.list(*gram)? {
                    Some(list) => lists.push(list),
                    None => return Ok(Some(Vec::new())),
                }
            }
        }
        lists.sort_unstable_by_key(|list| list.num_listed);
        let mut all: Option<Vec<u32>> = None;
        for list in lists.iter().filter(|list| list.num_listed < self.num_files()) {
            let files = self.files_of(*list)?;
            all = Some(common(all, files));
            if all.as_ref().is_some_and(Vec::is_empty) {
                return Ok(all);
            }
        }
        for part in parts.iter().filter(|part| !matches!(part, GramQuery::Gram(_))) {
            if let Some(files) = self.evaluate(part)? {
                all = Some(common(all, files));
            }
        }
        Ok(all)
    }

    /// The generations from which earlier texts of the path are no longer valid.
    pub(crate) fn ends_of<'a>(&'a self, path: &'a str) -> impl Iterator<Item = GenerationId> + 'a {
        let first = self.header.ended.partition_point(|(ended, _)| ended.as_str() < path);
        let of_path = self.header.ended[first..].iter().take_while(move |(ended, _)| ended == path);
        of_path.map(|(_, generation)| GenerationId(*generation))
    }

    /// All generations that occur in the layer.
    pub(crate) fn generations(&self) -> impl Iterator<Item = GenerationId> {
        let of_files = self.header.files.iter().map(|file| GenerationId(file.generation));
        of_files.chain(self.header.ended.iter().map(|(_, generation)| GenerationId(*generation)))
    }
}

impl cairn_layered::Layer for Layer {
    const FOLDER: &'static str = "texts";
    const REPLACED_KEPT_SECONDS: i64 = 60;
    type Error = TextsError;
    type Damage = DamagedLayer;

    fn read(bytes: &Bytes) -> Result<Self, DamagedLayer> {
        let (header_bytes, body) = read_preamble(bytes)?;
        Self::read_body(header_bytes, &body).ok_or(DamagedLayer("its sections are inconsistent with each other"))
    }

    fn size_bytes(&self) -> usize {
        let files: usize = self.header.files.iter().map(|file| file.path.len() + 48).sum();
        let ended: usize = self.header.ended.iter().map(|(path, _)| path.len() + 32).sum();
        self.directory.len() + self.dictionary.len() + self.postings.len() + files + ended
    }

    fn tenant(&self) -> &str {
        &self.header.tenant
    }

    fn replaces(&self) -> &[String] {
        &self.header.replaces
    }
}

/// The numbers that occur in both sorted lists. `None` means a list of all numbers.
fn common(first: Option<Vec<u32>>, other: Vec<u32>) -> Vec<u32> {
    let Some(mut first) = first else { return other };
    let mut other = other.into_iter().peekable();
    first.retain(|number| {
        while other.next_if(|candidate| candidate < number).is_some() {}
        other.peek() == Some(number)
    });
    first
}

/// Iterates over trigrams and their lists.
pub(crate) struct Lists<'a> {
    layer: &'a Layer,
    gram: Gram,
    dictionary: &'a [u8],
    postings: usize,
    number: usize,
}

impl<'a> Lists<'a> {
    fn entry(&mut self) -> Option<(Gram, List<'a>)> {
        // The trigram of the first entry of a block is in the directory, so the distance in this entry is 0.
        if self.number.is_multiple_of(BLOCK_GRAMS) {
            self.gram = self.layer.block(self.number / BLOCK_GRAMS)?.0;
        }
        self.number += 1;
        self.gram = self.gram.checked_add(take_varint(&mut self.dictionary)?)?;
        let num_listed = take_varint(&mut self.dictionary)? as usize;
        let size_bytes = take_varint(&mut self.dictionary)? as usize;
        let end = self.postings.checked_add(size_bytes)?;
        let bytes = self.layer.postings.get(self.postings..end)?;
        self.postings = end;
        Some((self.gram, List { num_listed, bytes }))
    }
}

impl<'a> Iterator for Lists<'a> {
    type Item = Result<(Gram, List<'a>), DamagedLayer>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.dictionary.is_empty() {
            return None;
        }
        let entry = self.entry().ok_or(DAMAGED_LIST);
        if entry.is_err() {
            self.dictionary = &[];
        }
        Some(entry)
    }
}
