//! Encodes the contents of a layer as bytes.

use cairn_domain::{ArtifactRef, GenerationId, RepositoryId, RunId, Tenant};
use cairn_exact::{GRAMS_VERSION, Gram, GramReader};
use cairn_ports::{StagedText, StagedTexts};
use rustc_hash::FxHashMap;

use crate::format::{BLOCK_GRAMS, FileEntry, Header, PackEntry, assemble, put_varint};
use crate::postings;

/// The header of a layer, before its packs, languages and sections are known.
pub(crate) fn header(tenant: &Tenant, repository: RepositoryId) -> Header {
    Header {
        tenant: tenant.as_str().to_owned(),
        repository: repository.0.0,
        replaces: Vec::new(),
        grams_version: GRAMS_VERSION,
        packs: Vec::new(),
        languages: Vec::new(),
        files: Vec::new(),
        ended: Vec::new(),
        directory_bytes: 0,
        dictionary_bytes: 0,
    }
}

/// Returns the bytes of the layer that a run stages. The bytes depend only on the contents, not on the order
/// of the contents.
pub(crate) fn staged_layer(tenant: &Tenant, run: RunId, staged: StagedTexts) -> Result<Vec<u8>, postcard::Error> {
    let StagedTexts { replaced, mut texts } = staged;
    texts.sort_by(|left, right| left.path.cmp(&right.path));
    let mut header = header(tenant, run.repository);
    let generation = run.generation;
    header.ended = replaced.into_iter().map(|path| (path.as_str().to_owned(), generation.0)).collect();
    header.ended.sort_unstable();
    header.ended.dedup();
    header.packs = sorted(texts.iter().map(|text| pack_entry(&text.slot.artifact)));
    header.languages = sorted(texts.iter().map(|text| text.language.clone()));
    header.files = texts.iter().map(|text| file_entry(text, generation, &header)).collect();
    let mut lists: FxHashMap<Gram, Vec<u32>> = FxHashMap::default();
    let mut reader = GramReader::default();
    for (number, text) in texts.iter().enumerate() {
        for gram in reader.read(&text.text) {
            lists.entry(*gram).or_default().push(number as u32);
        }
    }
    let mut grams: Vec<Gram> = lists.keys().copied().collect();
    grams.sort_unstable();
    let mut sections = Sections::new(texts.len());
    for gram in grams {
        sections.push(gram, &lists[&gram]);
    }
    finish(header, &sections)
}

pub(crate) fn pack_entry(pack: &ArtifactRef) -> PackEntry {
    PackEntry { key: pack.key.clone(), size_bytes: pack.size_bytes, hash: pack.hash }
}

fn file_entry(text: &StagedText, generation: GenerationId, header: &Header) -> FileEntry {
    let pack = pack_entry(&text.slot.artifact);
    FileEntry {
        path: text.path.as_str().to_owned(),
        generation: generation.0,
        language: header.languages.partition_point(|language| *language < text.language) as u32,
        pack: header.packs.partition_point(|known| *known < pack) as u32,
        slot: text.slot.index,
    }
}

pub(crate) fn sorted<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values.dedup();
    values
}

pub(crate) fn finish(mut header: Header, sections: &Sections) -> Result<Vec<u8>, postcard::Error> {
    header.directory_bytes = sections.directory.len() as u64;
    header.dictionary_bytes = sections.dictionary.len() as u64;
    let header = postcard::to_stdvec(&header)?;
    Ok(assemble(&header, [&sections.directory, &sections.dictionary, &sections.postings]))
}

/// The sections of a layer, written trigram by trigram.
pub(crate) struct Sections {
    num_files: usize,
    num_grams: usize,
    last_gram: Gram,
    directory: Vec<u8>,
    dictionary: Vec<u8>,
    postings: Vec<u8>,
}

impl Sections {
    pub(crate) fn new(num_files: usize) -> Self {
        Self {
            num_files,
            num_grams: 0,
            last_gram: 0,
            directory: Vec::new(),
            dictionary: Vec::new(),
            postings: Vec::new(),
        }
    }

    /// Adds a trigram with the numbers of its files. The trigrams must be added in ascending order.
    pub(crate) fn push(&mut self, gram: Gram, files: &[u32]) {
        if self.num_grams.is_multiple_of(BLOCK_GRAMS) {
            for number in [gram, self.dictionary.len() as u32, self.postings.len() as u32] {
                self.directory.extend(number.to_le_bytes());
            }
            self.last_gram = gram;
        }
        let start = self.postings.len();
        postings::put(files, self.num_files, &mut self.postings);
        put_varint(gram - self.last_gram, &mut self.dictionary);
        put_varint(files.len() as u32, &mut self.dictionary);
        put_varint((self.postings.len() - start) as u32, &mut self.dictionary);
        self.last_gram = gram;
        self.num_grams += 1;
    }
}
