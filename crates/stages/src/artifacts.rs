//! Reads, writes and names artifacts.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use cairn_domain::{ArtifactRef, FileFacts, Outline, RepositoryId, SourceText, TermCounts};
use cairn_pipeline::StageError;
use cairn_ports::{BlobStore, BlobStoreError, BlobStoreExt, ErrorKind};
use cairn_wire::{
    ArtifactKind, Decode, DecodeError, LinkState, Manifest, PackReader, PackWriter, PartReport, Plan, WrittenArtifact,
    decode, encode,
};

pub(crate) const FACTS: &str = "facts";
/// The folder of the term counts, and the name of their artifact in the report of a part.
pub(crate) const TERMS: &str = "terms";
/// The key prefixes of the artifacts that the sweep keeps while a live manifest names them.
pub(crate) const FOLDERS: [&str; 8] = ["packs", FACTS, "outlines", "manifests", "plans", "links", "patterns", TERMS];

/// Number of decoded manifests in the cache. Every part of a run reads the manifest, so decoding it each time
/// would be slow.
const MANIFESTS_KEPT: usize = 4;

/// Reads and writes the artifacts of the pipeline in a blob store.
pub struct Artifacts {
    pub blobs: Arc<dyn BlobStore>,
    manifests: Mutex<VecDeque<(String, Arc<Manifest>)>>,
}

impl Artifacts {
    pub fn new(blobs: Arc<dyn BlobStore>) -> Arc<Self> {
        Arc::new(Self { blobs, manifests: Mutex::default() })
    }

    pub async fn plan(&self, plan: &ArtifactRef) -> Result<Plan, StageError> {
        let bytes = self.blobs.get_artifact(plan).await?;
        decode(ArtifactKind::Plan, &bytes).map_err(|error| StageError::corrupt(&plan.key, &error))
    }

    pub async fn manifest(&self, reference: &ArtifactRef) -> Result<Arc<Manifest>, StageError> {
        if let Some(manifest) = self.kept(&reference.key) {
            return Ok(manifest);
        }
        let bytes = self.blobs.get_artifact(reference).await?;
        let manifest: Manifest =
            decode(ArtifactKind::Manifest, &bytes).map_err(|error| StageError::corrupt(&reference.key, &error))?;
        let manifest = Arc::new(manifest);
        self.keep(&reference.key, Arc::clone(&manifest));
        Ok(manifest)
    }

    pub(crate) async fn put_manifest(
        &self,
        repository: RepositoryId,
        manifest: Arc<Manifest>,
    ) -> Result<ArtifactRef, StageError> {
        let bytes = encode(ArtifactKind::Manifest, manifest.as_ref());
        let reference = self.put_by_content("manifests", repository, bytes).await?;
        self.keep(&reference.key, manifest);
        Ok(reference)
    }

    /// Reads a manifest that will not be read again. Manifests of large repositories need much memory, so the
    /// manifest is not kept, and it is copied only if another reader still uses it.
    pub(crate) async fn take_manifest(&self, reference: &ArtifactRef) -> Result<Manifest, StageError> {
        let manifest = self.manifest(reference).await?;
        self.manifests.lock().unwrap_or_else(PoisonError::into_inner).retain(|(key, _)| *key != reference.key);
        Ok(Arc::unwrap_or_clone(manifest))
    }

    fn keep(&self, key: &str, manifest: Arc<Manifest>) {
        let mut kept = self.manifests.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back((key.to_owned(), manifest));
        if kept.len() > MANIFESTS_KEPT {
            kept.pop_front();
        }
    }

    fn kept(&self, key: &str) -> Option<Arc<Manifest>> {
        let kept = self.manifests.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(kept, _)| kept == key).map(|(_, manifest)| Arc::clone(manifest))
    }

    /// Reads the manifest, or returns an empty manifest if there is no reference. The first generation has no
    /// previous manifest.
    pub async fn manifest_or_empty(&self, reference: Option<&ArtifactRef>) -> Result<Arc<Manifest>, StageError> {
        match reference {
            Some(reference) => self.manifest(reference).await,
            None => Ok(Arc::default()),
        }
    }

    pub async fn source_pack(&self, pack: &ArtifactRef) -> Result<PackReader, StageError> {
        let bytes = self.blobs.get_artifact(pack).await?;
        PackReader::open(ArtifactKind::SourcePack, bytes).map_err(|error| StageError::corrupt(&pack.key, &error))
    }

    /// Opens the facts of a source pack; `None` if the pack could not be parsed. The plan is made before the
    /// facts exist, so it cannot contain the hash of the facts. Therefore each group of facts in the pack
    /// contains a checksum.
    pub async fn facts_pack(&self, source_pack: &ArtifactRef) -> Result<Option<PackReader>, StageError> {
        let key = facts_key_of(source_pack);
        let bytes = match self.blobs.get(&key).await {
            Ok(bytes) => bytes,
            Err(error) if error.kind == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let reader = PackReader::open(ArtifactKind::FactsPack, bytes);
        reader.map(Some).map_err(|error| StageError::corrupt(&key, &error))
    }

    /// Reads and decodes every artifact that readers of the generation need. Returns an error if one of these
    /// artifacts is missing or damaged.
    pub async fn verify(&self, manifest: &ArtifactRef) -> Result<(), StageError> {
        let bytes = self.blobs.get_artifact(manifest).await?;
        let corrupt = |key: &str, error| StageError::corrupt(key, &error);
        let manifest: Manifest =
            decode(ArtifactKind::Manifest, &bytes).map_err(|error| corrupt(&manifest.key, error))?;
        if let Some(links) = &manifest.links {
            // A missing artifact is not an error, because the next run links all files and writes the
            // artifact again. However, an existing artifact must not be damaged.
            if let Some(bytes) = self.kept_artifact(links).await? {
                let state: LinkState =
                    decode(ArtifactKind::LinkState, &bytes).map_err(|error| corrupt(&links.key, error))?;
                for group in &state.groups {
                    self.kept_artifact(group).await?;
                }
            }
        }
        for layer in &manifest.terms {
            let bytes = self.blobs.get_artifact(layer).await?;
            decode::<TermCounts>(ArtifactKind::TermCounts, &bytes).map_err(|error| corrupt(&layer.key, error))?;
        }
        for (pack, slots) in slots_by_pack(&manifest) {
            let mut texts = self.source_pack(pack).await?;
            let facts_key = facts_key_of(pack);
            let missing = || BlobStoreError::new(ErrorKind::NotFound, "get", &facts_key);
            let mut facts = self.facts_pack(pack).await?.ok_or_else(missing)?;
            for slot in slots {
                texts.read::<SourceText>(slot).map_err(|error| corrupt(&pack.key, error))?;
                facts.read::<FileFacts>(slot).map_err(|error| corrupt(&facts_key, error))?;
            }
            if let Some(mut outlines) = self.outline_pack(pack).await? {
                for slot in 0..outlines.num_records() {
                    outlines.read::<Outline>(slot).map_err(|error| corrupt(&outlines_key_of(pack), error))?;
                }
            }
        }
        Ok(())
    }

    /// Deletes every artifact of a repository. Call this method only if the catalogue no longer contains the
    /// repository.
    pub async fn purge(&self, repository: RepositoryId) -> Result<(), StageError> {
        for folder in FOLDERS {
            for found in self.blobs.list(&format!("{folder}/{repository}/")).await? {
                self.blobs.delete(&found.key).await?;
            }
        }
        self.manifests.lock().unwrap_or_else(PoisonError::into_inner).clear();
        Ok(())
    }

    /// Opens the outlines of a source pack's files, in the order of the pack's slots. `None` if the outlines
    /// do not exist.
    pub async fn outline_pack(&self, source_pack: &ArtifactRef) -> Result<Option<PackReader>, StageError> {
        let key = outlines_key_of(source_pack);
        let bytes = match self.blobs.get(&key).await {
            Ok(bytes) => bytes,
            Err(error) if error.kind == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let reader = PackReader::open(ArtifactKind::OutlinePack, bytes);
        reader.map(Some).map_err(|error| StageError::corrupt(&key, &error))
    }

    /// Reads the link state that a manifest names. `None` if the link state does not exist, or if another
    /// build of Cairn wrote it in a different format.
    pub(crate) async fn link_state(&self, reference: &ArtifactRef) -> Result<Option<LinkState>, StageError> {
        let Some(bytes) = self.kept_artifact(reference).await? else { return Ok(None) };
        match decode(ArtifactKind::LinkState, &bytes) {
            Ok(state) => Ok(Some(state)),
            Err(DecodeError::OtherKind { .. } | DecodeError::UnknownVersion { .. }) => Ok(None),
            Err(error) => Err(StageError::corrupt(&reference.key, &error)),
        }
    }

    /// Reads an artifact whose only purpose is to save work. If the artifact does not exist, returns `None`,
    /// and the caller does the work again.
    pub async fn kept_artifact(&self, reference: &ArtifactRef) -> Result<Option<Bytes>, StageError> {
        match self.blobs.get_artifact(reference).await {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes an artifact whose key ends with the hash of its bytes. A second write of the same bytes changes
    /// nothing. If the key exists with different bytes, the existing bytes are damaged and no reader can use
    /// them, so they are replaced.
    pub async fn put_by_content(
        &self,
        folder: &str,
        repository: RepositoryId,
        bytes: Vec<u8>,
    ) -> Result<ArtifactRef, StageError> {
        let bytes = Bytes::from(bytes);
        let hash = cairn_domain::Digest(cairn_domain::ContentHash::of_bytes(&bytes).0);
        let key = format!("{folder}/{repository}/{}", &hash.to_string()[..32]);
        match self.blobs.put_artifact(&key, bytes.clone()).await {
            Err(error) if error.kind == ErrorKind::Conflict => {
                tracing::warn!(key, "an artifact is damaged and is written again");
                self.blobs.delete(&key).await?;
                Ok(self.blobs.put_artifact(&key, bytes).await?)
            }
            written => Ok(written?),
        }
    }
}

/// Returns each pack with the slots of its indexed files.
pub(crate) fn slots_by_pack(manifest: &Manifest) -> impl Iterator<Item = (&ArtifactRef, BTreeSet<u32>)> {
    let indexed = manifest.entries.iter().filter(|entry| entry.outcome.is_indexed());
    let mut packs: BTreeMap<&str, (&ArtifactRef, BTreeSet<u32>)> = BTreeMap::new();
    for slot in indexed.filter_map(|entry| entry.source.as_ref()) {
        packs.entry(&slot.artifact.key).or_insert((&slot.artifact, BTreeSet::new())).1.insert(slot.index);
    }
    packs.into_values()
}

/// Returns the key of a source pack's facts. The facts have the same name as the pack, but are stored in a
/// different folder.
pub fn facts_key_of(source_pack: &ArtifactRef) -> String {
    source_pack.key.replacen("packs/", "facts/", 1)
}

/// Returns the key of a source pack's outlines. The key contains the version of the outlines, so that a build
/// of Cairn reads only outlines of its own version.
pub fn outlines_key_of(source_pack: &ArtifactRef) -> String {
    let key = source_pack.key.replacen("packs/", "outlines/", 1);
    format!("{key}-{}", cairn_linking::OUTLINE_VERSION)
}

pub(crate) fn read_all<T: Decode>(mut reader: PackReader, key: &str) -> Result<Vec<T>, StageError> {
    let mut records = Vec::with_capacity(reader.num_records() as usize);
    for slot in 0..reader.num_records() {
        records.push(reader.read(slot).map_err(|error| StageError::corrupt(key, &error))?);
    }
    Ok(records)
}

pub(crate) fn pack_outlines(outlines: impl Iterator<Item = Outline>) -> Vec<u8> {
    let mut writer = PackWriter::new(ArtifactKind::OutlinePack);
    for outline in outlines {
        writer.push(&outline);
    }
    writer.finish()
}

/// Converts a reference to an artifact to the form that reports contain.
pub(crate) fn written(artifact: ArtifactRef) -> WrittenArtifact {
    WrittenArtifact { key: artifact.key, size_bytes: artifact.size_bytes, hash: artifact.hash }
}

/// Returns the artifact with this name in the report of a part.
pub(crate) fn reported(report: &PartReport, name: &str) -> Option<ArtifactRef> {
    let written = report.artifacts.get(name)?;
    Some(ArtifactRef { key: written.key.clone(), size_bytes: written.size_bytes, hash: written.hash })
}
