//! Finds files in the layers of one repository.

use std::sync::Arc;

use cairn_domain::{GenerationId, RepoPath, View};
use cairn_exact::GramQuery;
use cairn_ports::TextFile;

use crate::format::{DamagedLayer, FileEntry};
use crate::layer::Layer;

/// The layers of a repository, except replaced layers.
pub(crate) struct RepositoryTexts {
    pub(crate) layers: Vec<Arc<Layer>>,
}

impl RepositoryTexts {
    /// The visible files that satisfy the query, sorted by path.
    pub(crate) fn candidates(&self, view: &View, query: &GramQuery) -> Result<Vec<TextFile>, DamagedLayer> {
        let mut found = Vec::new();
        for layer in &self.layers {
            let numbers = layer.matching(query)?;
            let numbers: Box<dyn Iterator<Item = u32>> = match numbers {
                Some(numbers) => Box::new(numbers.into_iter()),
                None => Box::new(0..layer.num_files() as u32),
            };
            for number in numbers {
                let entry = &layer.header.files[number as usize];
                if self.sees(view, entry) {
                    found.push(text_file(layer, entry)?);
                }
            }
        }
        found.sort_by(|left, right| left.path.cmp(&right.path));
        // If two processes merged at the same time, a file can occur twice.
        found.dedup_by(|left, right| left.path == right.path);
        Ok(found)
    }

    /// Whether the view sees the text that a layer contains for a path.
    fn sees(&self, view: &View, entry: &FileEntry) -> bool {
        let ends = |generation: GenerationId| generation.0 > entry.generation && view.published(generation);
        view.published(GenerationId(entry.generation))
            && !self.layers.iter().any(|layer| layer.ends_of(&entry.path).any(ends))
    }
}

fn text_file(layer: &Layer, entry: &FileEntry) -> Result<TextFile, DamagedLayer> {
    Ok(TextFile {
        path: RepoPath::parse(&entry.path).map_err(|_| DamagedLayer("a path is not valid"))?,
        language: Arc::clone(&layer.languages[entry.language as usize]),
        pack: Arc::clone(&layer.packs[entry.pack as usize]),
        slot: entry.slot,
    })
}
