//! Reading and naming artifacts.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use cairn_domain::{ArtifactRef, RepositoryId};
use cairn_pipeline::StageError;
use cairn_ports::{BlobStore, BlobStoreExt, ErrorKind};
use cairn_wire::{ArtifactKind, Manifest, PackReader, PartReport, Plan, WrittenArtifact, decode};

/// Manifests are read by every part of a run: the last few stay decoded.
const MANIFESTS_KEPT: usize = 4;

/// Artifacts of the pipeline over a blob store.
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
        let mut kept = self.manifests.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back((reference.key.clone(), Arc::clone(&manifest)));
        if kept.len() > MANIFESTS_KEPT {
            kept.pop_front();
        }
        Ok(manifest)
    }

    fn kept(&self, key: &str) -> Option<Arc<Manifest>> {
        let kept = self.manifests.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(kept, _)| kept == key).map(|(_, manifest)| Arc::clone(manifest))
    }

    /// The manifest of a reference that may be absent (the first generation has no previous one).
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

    /// The facts of a source pack; `None` if the pack could not be parsed. Their groups carry checksums of their own, since nobody knows
    /// their hash when the plan is made.
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

    /// The outlines of a source pack's files, in the order of its slots; `None` if they are not there.
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

    /// An artifact that only saves work: `None` if it is gone.
    pub async fn kept_artifact(&self, reference: &ArtifactRef) -> Result<Option<Bytes>, StageError> {
        match self.blobs.get_artifact(reference).await {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes an artifact whose key ends in its own hash: writing it again is a no-op.
    pub async fn put_by_content(
        &self,
        folder: &str,
        repository: RepositoryId,
        bytes: Vec<u8>,
    ) -> Result<ArtifactRef, StageError> {
        let bytes = Bytes::from(bytes);
        let hash = cairn_domain::Digest(cairn_domain::ContentHash::of_bytes(&bytes).0);
        let key = format!("{folder}/{repository}/{}", &hash.to_string()[..32]);
        Ok(self.blobs.put_artifact(&key, bytes).await?)
    }
}

/// Where the facts of a source pack lie: beside it, under the same name.
pub fn facts_key_of(source_pack: &ArtifactRef) -> String {
    source_pack.key.replacen("packs/", "facts/", 1)
}

/// Where the outlines of a source pack lie. Another version of them lies elsewhere, so that each build reads its own.
pub fn outlines_key_of(source_pack: &ArtifactRef) -> String {
    let key = source_pack.key.replacen("packs/", "outlines/", 1);
    format!("{key}-{}", cairn_linking::OUTLINE_VERSION)
}

/// The claim check of an artifact, as it stands in a report.
pub(crate) fn written(artifact: ArtifactRef) -> WrittenArtifact {
    WrittenArtifact { key: artifact.key, size_bytes: artifact.size_bytes, hash: artifact.hash }
}

/// The artifact that a part reports under a name.
pub(crate) fn reported(report: &PartReport, name: &str) -> Option<ArtifactRef> {
    let written = report.artifacts.get(name)?;
    Some(ArtifactRef { key: written.key.clone(), size_bytes: written.size_bytes, hash: written.hash })
}
