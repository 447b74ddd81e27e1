//! The plan of a run. The plan defines the work of each part.

use cairn_domain::{ArtifactRef, FailureCode, PartId, RepoPath, StageName};

use crate::codec::{Decode, DecodeError, Encode, Reader, record};

/// A path whose records change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChangedPath {
    pub path: RepoPath,
    /// True if the previous generation indexed the path.
    pub before: bool,
    /// True if this generation indexes the path.
    pub now: bool,
}
record!(ChangedPath { path, before, now });

/// The work of a run. The plan is written before the run begins, and it never changes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    /// Manifest of the snapshot. `None` if the sync refused the snapshot.
    pub manifest: Option<ArtifactRef>,
    /// Manifest of the previous generation, with which the snapshot was compared.
    pub previous_manifest: Option<ArtifactRef>,
    /// Source packs to parse. Part `n` of the stage parse processes pack `n`.
    pub packs: Vec<ArtifactRef>,
    /// Paths to embed. Part `n` of the stage embed processes list `n`.
    pub embed: Vec<Vec<ChangedPath>>,
    /// Removed paths. Part `n` of the stage retire processes list `n`.
    pub retire: Vec<Vec<ChangedPath>>,
    /// True if the run changes data that readers can find. If false, only the stamp of the snapshot is
    /// published.
    pub changes: bool,
    /// True if a different version of the code created the records of the previous generation. The run then
    /// marks all of these records as ended, and writes all records again.
    pub rebuild: bool,
    /// Text of the repository's `.cairn.yaml`; empty if there is no such file.
    pub settings: String,
    /// The reason, if the sync refused the snapshot; the run then fails for this reason and has no manifest.
    /// Always `None` in version 1.
    pub refusal: Option<PlannedRefusal>,
}

/// The reason why a sync refused a snapshot. The plan contains the reason because the process may end before
/// it records the reason with the run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedRefusal {
    /// A failure code, for example `over_budget`.
    pub code: FailureCode,
    pub message: String,
}
record!(PlannedRefusal { code, message });

impl Encode for Plan {
    fn encode(&self, out: &mut Vec<u8>) {
        let Plan { manifest, previous_manifest, packs, embed, retire, changes, rebuild, settings, refusal } = self;
        manifest.encode(out);
        previous_manifest.encode(out);
        packs.encode(out);
        embed.encode(out);
        retire.encode(out);
        changes.encode(out);
        rebuild.encode(out);
        settings.encode(out);
        refusal.encode(out);
    }
}

/// Decodes both versions. Version 1 ends after `settings`.
impl Decode for Plan {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            manifest: Decode::decode(reader)?,
            previous_manifest: Decode::decode(reader)?,
            packs: Decode::decode(reader)?,
            embed: Decode::decode(reader)?,
            retire: Decode::decode(reader)?,
            changes: Decode::decode(reader)?,
            rebuild: Decode::decode(reader)?,
            settings: Decode::decode(reader)?,
            refusal: if reader.0.is_empty() { None } else { Decode::decode(reader)? },
        })
    }
}

impl Plan {
    /// Returns every part of every stage.
    pub fn parts(&self) -> Vec<PartId> {
        let counts = [
            (StageName::Parse, self.packs.len()),
            (StageName::Embed, self.embed.len()),
            (StageName::Retire, self.retire.len()),
            (StageName::Link, usize::from(self.changes)),
            (StageName::Aggregate, usize::from(self.changes)),
            (StageName::EmbedPatterns, usize::from(self.changes)),
            (StageName::Publish, 1),
        ];
        let parts = |(stage, count)| (0..count as u32).map(move |number| PartId { stage, number });
        counts.into_iter().flat_map(parts).collect()
    }
}
