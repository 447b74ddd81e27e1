//! The plan of a run: the work of each part.

use cairn_domain::{ArtifactRef, PartId, RepoPath, StageName};

use crate::codec::{Decode, DecodeError, Encode, Reader, record};

/// A path whose records change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChangedPath {
    pub path: RepoPath,
    /// The previous generation has it indexed.
    pub before: bool,
    /// This generation indexes it.
    pub now: bool,
}
record!(ChangedPath { path, before, now });

/// The work of a run. Written before the run begins, and never changed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    /// Manifest of the snapshot as planned.
    pub manifest: Option<ArtifactRef>,
    /// Manifest of the generation that the plan was made against.
    pub previous_manifest: Option<ArtifactRef>,
    /// Source packs to parse; part `n` of parse works on pack `n`.
    pub packs: Vec<ArtifactRef>,
    /// Paths to embed; part `n` of embed works on list `n`.
    pub embed: Vec<Vec<ChangedPath>>,
    /// Removed paths; part `n` of retire works on list `n`.
    pub retire: Vec<Vec<ChangedPath>>,
    /// Whether readers can find a change. If not, only the snapshot's stamp is published.
    pub changes: bool,
    /// Other tools made the records of the previous generation: all of them end, and all records begin again.
    pub rebuild: bool,
    /// Text of the repository's `.cairn.yaml`; empty if it has none.
    pub settings: String,
    /// Set if the sync refused the snapshot: the run fails with it, and has no manifest. None in version 1.
    pub refusal: Option<PlannedRefusal>,
}

/// Why a sync refused a snapshot. The plan contains it because the process may end before it records it with
/// the run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedRefusal {
    /// A failure code, for example `over_budget`.
    pub code: String,
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

/// Version 1 ends with the settings.
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
    /// Every part of every stage.
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
