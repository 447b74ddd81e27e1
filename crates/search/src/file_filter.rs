//! Applies the filters of a search to files and directories, using the entries of the manifests.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{ManifestEntry, RepositoryId};
use cairn_languages::{is_test_path, module_path};
use cairn_ports::{ChunkFilter, FileHit, IncludeTests};
use cairn_wire::Manifest;
use futures::{StreamExt, TryStreamExt, stream};

use crate::chunk_filter::{CompiledFilter, is_in};
use crate::repositories::KnownRepository;
use crate::{QueryError, Searcher};

/// Number of manifests that are read at the same time. Concurrent reads save time, because each read waits
/// for the store.
const MANIFESTS_AT_ONCE: usize = 8;

impl Searcher {
    /// The files that match the filter. A directory matches if a file below it matches. Files have no kind,
    /// so the kinds in the filter are ignored.
    pub(crate) async fn filtered_files(
        &self,
        mut hits: Vec<FileHit>,
        are_directories: bool,
        selected: &[KnownRepository],
        filter: &ChunkFilter,
    ) -> Result<Vec<FileHit>, QueryError> {
        let filter = &ChunkFilter { kinds: Vec::new(), ..filter.clone() };
        let compiled = CompiledFilter::new(filter)?;
        if *filter == (ChunkFilter { paths: filter.paths.clone(), ..ChunkFilter::default() }) && !are_directories {
            hits.retain(|hit| compiled.lets_file_through(&hit.path));
            return Ok(hits);
        }
        if *filter == ChunkFilter::default() {
            return Ok(hits);
        }
        let found: BTreeSet<RepositoryId> = hits.iter().map(|hit| hit.repository).collect();
        let owners: Vec<&KnownRepository> = selected.iter().filter(|known| found.contains(&known.record.id)).collect();
        let manifest_of = |index: usize| self.manifest(owners[index]);
        let mut manifests = stream::iter(0..owners.len()).map(manifest_of).buffered(MANIFESTS_AT_ONCE);
        let mut matching: BTreeMap<RepositoryId, BTreeSet<String>> = BTreeMap::new();
        for known in &owners {
            let Some(Some(manifest)) = manifests.try_next().await? else { continue };
            matching.insert(known.record.id, matching_paths(&manifest, &compiled, filter, are_directories));
        }
        drop(manifests);
        hits.retain(|hit| matching.get(&hit.repository).is_some_and(|paths| paths.contains(hit.path.as_str())));
        Ok(hits)
    }
}

/// The paths of the indexed files that match the filter. If `of_directories` is set, the function returns the
/// paths of the directories above these files instead.
fn matching_paths(
    manifest: &Manifest,
    compiled: &CompiledFilter<'_>,
    filter: &ChunkFilter,
    of_directories: bool,
) -> BTreeSet<String> {
    let matches = |entry: &&ManifestEntry| {
        entry.outcome.is_indexed() && matches(entry, filter) && compiled.lets_file_through(&entry.path)
    };
    let mut paths = BTreeSet::new();
    for entry in manifest.entries.iter().filter(matches) {
        let path = entry.path.as_str();
        match of_directories {
            true => paths.extend(path.match_indices('/').map(|(end, _)| path[..end].to_owned())),
            false => drop(paths.insert(path.to_owned())),
        }
    }
    paths
}

/// Whether a file matches all parts of the filter except the paths.
fn matches(entry: &ManifestEntry, filter: &ChunkFilter) -> bool {
    let ChunkFilter { languages, kinds: _, paths: _, module_prefixes, include_tests, tags, since } = filter;
    let language = entry.language.as_deref().unwrap_or("text");
    let is_in_module = || {
        let module = module_path(language, &entry.path);
        module_prefixes.iter().any(|prefix| is_in(&module, prefix))
    };
    (languages.is_empty() || languages.iter().any(|wanted| wanted == language))
        && (module_prefixes.is_empty() || is_in_module())
        && tags.iter().all(|tag| entry.tags.contains(tag))
        && since.is_none_or(|since| entry.changed_at.is_none_or(|changed_at| changed_at >= since))
        && match include_tests {
            IncludeTests::Include => true,
            IncludeTests::Exclude => !is_test_path(language, &entry.path),
            IncludeTests::Only => is_test_path(language, &entry.path),
        }
}
