//! Merges layers into one.

use std::iter::Peekable;

use cairn_domain::{RepositoryId, Tenant};
use cairn_exact::Gram;

use crate::encode::{Sections, finish, header, sorted};
use crate::format::{DamagedLayer, FileEntry, Header};
use crate::layer::{Layer, Lists};

/// This value in place of a new number marks a file that the merged layer does not contain.
const REMOVED: u32 = u32::MAX;

/// The parts of the new layer that cannot be derived from the merged layers.
pub(crate) struct MergedHeader {
    pub(crate) tenant: Tenant,
    pub(crate) repository: RepositoryId,
    pub(crate) replaces: Vec<String>,
    pub(crate) ended: Vec<(String, u64)>,
}

/// Merges the layers, without the files that `keep` refuses. Returns the bytes of the new layer, and the
/// number of its files.
pub(crate) fn merge_layers(
    target: MergedHeader,
    layers: &[&Layer],
    keep: impl Fn(&FileEntry) -> bool,
) -> Result<(Vec<u8>, usize), DamagedLayer> {
    let mut merged = header(&target.tenant, target.repository);
    merged.replaces = target.replaces;
    merged.ended = target.ended;
    merged.ended.sort_unstable();
    merged.ended.dedup();
    let versions = sorted(layers.iter().map(|layer| layer.header.grams_version));
    merged.grams_version = if let [version] = versions[..] { version } else { 0 };
    let numbers = merge_files(&mut merged, layers, keep);
    let num_files = merged.files.len();
    let sections = merge_lists(layers, &numbers, num_files)?;
    let bytes = finish(merged, &sections).map_err(|_| DamagedLayer("a merged layer cannot be encoded"))?;
    Ok((bytes, num_files))
}

/// Adds the files to the header. Returns the new numbers of the files of each layer.
fn merge_files(merged: &mut Header, layers: &[&Layer], keep: impl Fn(&FileEntry) -> bool) -> Vec<Vec<u32>> {
    let kept: Vec<(usize, usize, &FileEntry)> = layers
        .iter()
        .enumerate()
        .flat_map(|(layer, of)| of.header.files.iter().enumerate().map(move |(number, file)| (layer, number, file)))
        .filter(|(_, _, file)| keep(file))
        .collect();
    let pack = |layer: usize, file: &FileEntry| layers[layer].header.packs[file.pack as usize].clone();
    let language = |layer: usize, file: &FileEntry| layers[layer].header.languages[file.language as usize].clone();
    merged.packs = sorted(kept.iter().map(|(layer, _, file)| pack(*layer, file)));
    merged.languages = sorted(kept.iter().map(|(layer, _, file)| language(*layer, file)));
    let mut files: Vec<(FileEntry, usize, usize)> = kept
        .into_iter()
        .map(|(layer, number, file)| {
            let (pack, language) = (pack(layer, file), language(layer, file));
            let entry = FileEntry {
                pack: merged.packs.partition_point(|known| *known < pack) as u32,
                language: merged.languages.partition_point(|known| *known < language) as u32,
                ..file.clone()
            };
            (entry, layer, number)
        })
        .collect();
    files.sort_unstable();
    let mut numbers: Vec<Vec<u32>> = layers.iter().map(|layer| vec![REMOVED; layer.num_files()]).collect();
    for (file, layer, number) in files {
        // If two processes merged at the same time, a file can occur twice.
        if merged.files.last() != Some(&file) {
            merged.files.push(file);
        }
        numbers[layer][number] = merged.files.len() as u32 - 1;
    }
    numbers
}

fn merge_lists(layers: &[&Layer], numbers: &[Vec<u32>], num_files: usize) -> Result<Sections, DamagedLayer> {
    let mut sections = Sections::new(num_files);
    let mut sources: Vec<Peekable<Lists<'_>>> = layers.iter().map(|layer| layer.lists(0).peekable()).collect();
    while let Some(gram) = lowest(&mut sources)? {
        let mut files = Vec::new();
        for (index, source) in sources.iter_mut().enumerate() {
            let is_next = |entry: &Result<_, DamagedLayer>| entry.as_ref().is_ok_and(|(next, _)| *next == gram);
            let Some(Ok((_, list))) = source.next_if(is_next) else { continue };
            let old = layers[index].files_of(list)?.into_iter();
            files.extend(old.map(|number| numbers[index][number as usize]).filter(|number| *number != REMOVED));
        }
        files.sort_unstable();
        files.dedup();
        if !files.is_empty() {
            sections.push(gram, &files);
        }
    }
    Ok(sections)
}

/// The lowest of the trigrams that the sources return next.
fn lowest(sources: &mut [Peekable<Lists<'_>>]) -> Result<Option<Gram>, DamagedLayer> {
    let mut lowest: Option<Gram> = None;
    for source in sources {
        match source.peek() {
            Some(Ok((gram, _))) => lowest = Some(lowest.map_or(*gram, |other| other.min(*gram))),
            Some(Err(error)) => return Err(*error),
            None => {}
        }
    }
    Ok(lowest)
}
