//! The link state: the links of all files, which each run stores for the next run.
//!
//! Files are grouped by path. Whether a group ends after a file depends only on the path of this file, so a
//! new or removed file changes only one or two groups. A new state refers to the unchanged groups instead of
//! storing them again.

use std::sync::Arc;

use bytes::Bytes;
use cairn_domain::{ArtifactRef, Digester, EdgeRecord, PackageManifest, RepoPath, RepositoryId};
use cairn_linking::{FileLinks, LinkCounts, UnresolvedReference};
use cairn_pipeline::StageError;
use cairn_wire::{
    ArtifactKind, AskedKeys, FileUnresolved, LinkGroup, LinkState, LinkSummary, LinkedFile, PackReader, PackWriter,
    UnresolvedSite, encode,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::artifacts::Artifacts;
use crate::threads::{blocking, in_parallel};

/// The average number of files in a group, as a power of two.
const GROUP_BITS: u32 = 8;

/// The links that an earlier run found in the files. Without these links, all files are linked again.
pub(crate) struct KeptLinks {
    pub(crate) packages: Vec<PackageManifest>,
    groups: Vec<KeptGroup>,
    /// The group of each file, and the position of the file in this group.
    places: FxHashMap<RepoPath, (u32, u32)>,
}

struct KeptGroup {
    artifact: ArtifactRef,
    bytes: Bytes,
    group: LinkGroup,
}

impl KeptLinks {
    pub(crate) async fn load(artifacts: &Artifacts, reference: &ArtifactRef) -> Result<Option<Self>, StageError> {
        let Some(state) = artifacts.link_state(reference).await? else { return Ok(None) };
        let mut packs = Vec::with_capacity(state.groups.len());
        for artifact in state.groups {
            let Some(bytes) = artifacts.kept_artifact(&artifact).await? else { return Ok(None) };
            packs.push((artifact, bytes));
        }
        let groups =
            blocking(move || packs.into_iter().map(|(artifact, bytes)| KeptGroup::open(artifact, bytes)).collect());
        let groups: Vec<KeptGroup> = groups.await?;
        let mut places = FxHashMap::default();
        for (number, kept) in (0..).zip(&groups) {
            places.extend((0..).zip(&kept.group.files).map(|(at, file)| (file.path.clone(), (number, at))));
        }
        Ok(Some(Self { packages: state.packages, groups, places }))
    }

    pub(crate) fn file(&self, path: &RepoPath) -> Option<&LinkedFile> {
        let (group, at) = self.places.get(path)?;
        self.groups[*group as usize].group.files.get(*at as usize)
    }

    /// Returns the files whose links depend on one of these keys.
    pub(crate) fn askers(&self, keys: &FxHashSet<u64>) -> FxHashSet<&RepoPath> {
        let mut askers = FxHashSet::default();
        for kept in &self.groups {
            for at in keys.iter().flat_map(|key| kept.group.asked.askers(*key)) {
                askers.extend(kept.group.files.get(*at as usize).map(|file| &file.path));
            }
        }
        askers
    }
}

impl KeptGroup {
    fn open(artifact: ArtifactRef, bytes: Bytes) -> Result<Self, StageError> {
        let group = read_record(&artifact, &bytes, 0)?;
        Ok(Self { artifact, bytes, group })
    }

    /// Returns the unresolved references of the files that have a position in the new group.
    fn unresolved_of(&self, places: &[Option<u32>]) -> Result<Vec<FileUnresolved>, StageError> {
        let summary: LinkSummary = read_record(&self.artifact, &self.bytes, 1)?;
        let taken = self.group.files.iter().zip(places).filter(|(_, place)| place.is_some());
        let taken: FxHashSet<&RepoPath> = taken.map(|(file, _)| &file.path).collect();
        Ok(summary.files.into_iter().filter(|file| taken.contains(&file.path)).collect())
    }
}

fn read_record<T: cairn_wire::Decode>(artifact: &ArtifactRef, bytes: &Bytes, slot: u32) -> Result<T, StageError> {
    let reader = PackReader::open(ArtifactKind::LinkGroup, bytes.clone());
    reader.and_then(|mut reader| reader.read(slot)).map_err(|error| StageError::corrupt(&artifact.key, &error))
}

/// A file of the snapshot: linked by this run, or copied from the previous state.
pub(crate) struct FileState {
    pub(crate) file: LinkedFile,
    /// The keys that the file looked up, and its unresolved references. Set only if this run linked the file.
    linked: Option<(Vec<u64>, Vec<UnresolvedReference>)>,
}

impl FileState {
    pub(crate) fn kept(file: LinkedFile) -> Self {
        Self { file, linked: None }
    }

    /// Splits off the edges, because the edges are stored in the graph and not in the link state.
    pub(crate) fn linked(links: FileLinks) -> (Self, Vec<EdgeRecord>) {
        let mut counts = LinkCounts::default();
        counts.add(&links);
        let FileLinks { path, edges, unresolved, modules, asked } = links;
        let file = LinkedFile {
            path,
            edges: counts.edges.into_iter().map(|(class, count)| (class, count as u32)).collect(),
            unresolved: counts.unresolved.into_iter().map(|(reason, count)| (reason, count as u32)).collect(),
            modules,
        };
        (Self { file, linked: Some((asked, unresolved)) }, edges)
    }
}

/// The link state that a run stores for the next run.
pub(crate) struct NewState {
    pub(crate) repository: RepositoryId,
    pub(crate) packages: Vec<PackageManifest>,
    /// The state of the previous run. The new state refers to its unchanged groups.
    pub(crate) kept: Option<Arc<KeptLinks>>,
    /// All files of the snapshot, sorted by path.
    pub(crate) files: Vec<FileState>,
}

pub(crate) async fn write_state(
    artifacts: &Artifacts,
    state: NewState,
    num_threads: usize,
) -> Result<ArtifactRef, StageError> {
    let NewState { repository, packages, kept, files } = state;
    let encode_all = move || {
        let encode = |files: &&[FileState]| encode_group(kept.as_deref(), files);
        in_parallel(&group(&files), num_threads, encode).into_iter().collect()
    };
    let groups: Vec<EncodedGroup> = blocking(encode_all).await?;
    let mut state = LinkState { packages, groups: Vec::with_capacity(groups.len()) };
    for encoded in groups {
        state.groups.push(match encoded {
            EncodedGroup::AsBefore(artifact) => artifact,
            EncodedGroup::New(bytes) => artifacts.put_by_content("links", repository, bytes).await?,
        });
    }
    artifacts.put_by_content("links", repository, encode(ArtifactKind::LinkState, &state)).await
}

fn group(files: &[FileState]) -> Vec<&[FileState]> {
    let mut groups = Vec::new();
    let mut start = 0;
    for (at, state) in files.iter().enumerate() {
        if ends_group(&state.file.path) || at + 1 == files.len() {
            groups.push(&files[start..=at]);
            start = at + 1;
        }
    }
    groups
}

fn ends_group(path: &RepoPath) -> bool {
    let [first, second, ..] = Digester::new("link-group").text(path.as_str()).key().0;
    u32::from(u16::from_be_bytes([first, second])) < 1 << (u16::BITS - GROUP_BITS)
}

enum EncodedGroup {
    AsBefore(ArtifactRef),
    New(Vec<u8>),
}

fn encode_group(kept: Option<&KeptLinks>, files: &[FileState]) -> Result<EncodedGroup, StageError> {
    if let Some(artifact) = kept.and_then(|kept| same_group(kept, files)) {
        return Ok(EncodedGroup::AsBefore(artifact));
    }
    let mut asked = Vec::new();
    let mut summary = LinkSummary::default();
    // For each earlier group, the positions of its files in the new group; `None` for a file that is not in
    // the new group.
    let mut taken: FxHashMap<u32, Vec<Option<u32>>> = FxHashMap::default();
    for (at, state) in (0..).zip(files) {
        let path = &state.file.path;
        if let Some((keys, unresolved)) = &state.linked {
            asked.extend(keys.iter().map(|key| (*key, at)));
            summary.files.push(FileUnresolved { path: path.clone(), sites: unresolved.iter().map(site).collect() });
        } else if let Some(kept) = kept
            && let Some((group, from)) = kept.places.get(path)
        {
            let places = || vec![None; kept.groups[*group as usize].group.files.len()];
            taken.entry(*group).or_insert_with(places)[*from as usize] = Some(at);
        }
    }
    let taken = taken.into_iter().filter_map(|(group, places)| Some((kept?.groups.get(group as usize)?, places)));
    let taken: Vec<(&KeptGroup, Vec<Option<u32>>)> = taken.collect();
    for (group, places) in &taken {
        summary.files.extend(group.unresolved_of(places)?);
    }
    summary.files.retain(|file| !file.sites.is_empty());
    summary.files.sort_by(|left, right| left.path.cmp(&right.path));
    let parts = taken.into_iter().map(|(kept, places)| (&kept.group.asked, places));
    let asked = AskedKeys::joined(parts, &AskedKeys::new(asked));
    let group = LinkGroup { files: files.iter().map(|state| state.file.clone()).collect(), asked };
    let mut writer = PackWriter::new(ArtifactKind::LinkGroup);
    writer.push(&group);
    writer.end_group();
    writer.push(&summary);
    Ok(EncodedGroup::New(writer.finish()))
}

/// If one earlier group consists of exactly these files, and none of them was linked again, returns this
/// group.
fn same_group(kept: &KeptLinks, files: &[FileState]) -> Option<ArtifactRef> {
    let (number, _) = kept.places.get(&files.first()?.file.path)?;
    let earlier = &kept.groups[*number as usize];
    let is_same =
        |(state, earlier): (&FileState, &LinkedFile)| state.linked.is_none() && state.file.path == earlier.path;
    let all_same = files.len() == earlier.group.files.len() && files.iter().zip(&earlier.group.files).all(is_same);
    all_same.then(|| earlier.artifact.clone())
}

fn site(reference: &UnresolvedReference) -> UnresolvedSite {
    UnresolvedSite {
        name: reference.name.clone(),
        receiver: reference.receiver.clone(),
        line: reference.line,
        reason: reference.reason,
    }
}
