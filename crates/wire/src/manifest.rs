//! The manifest artifact: every path of a snapshot.

use cairn_domain::{ArtifactRef, Digest, ManifestEntry};

use crate::codec::{Decode, DecodeError, Encode, Reader};

/// Entries sorted by path.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Manifest {
    /// Digest of the settings that decide about paths and contents. Under equal rules, an unchanged blob has
    /// the same decision.
    pub rules: Digest,
    /// Digest of the versions of everything that turns facts into records. Under other tools, every record is
    /// written again.
    pub tools: Digest,
    /// Text of the repository's `.cairn.yaml`; empty if it has none.
    pub settings: String,
    /// The link summary of the generation; set at publication.
    pub links: Option<ArtifactRef>,
    pub entries: Vec<ManifestEntry>,
    /// Digest of all inputs except the snapshot: with equal inputs, the same commit has the same result. None
    /// in version 1.
    pub inputs_digest: Option<Digest>,
}

impl Encode for Manifest {
    fn encode(&self, out: &mut Vec<u8>) {
        let Manifest { rules, tools, settings, links, entries, inputs_digest } = self;
        rules.encode(out);
        tools.encode(out);
        settings.encode(out);
        links.encode(out);
        entries.encode(out);
        inputs_digest.encode(out);
    }
}

/// Version 1 ends with the entries.
impl Decode for Manifest {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            rules: Decode::decode(reader)?,
            tools: Decode::decode(reader)?,
            settings: Decode::decode(reader)?,
            links: Decode::decode(reader)?,
            entries: Decode::decode(reader)?,
            inputs_digest: if reader.0.is_empty() { None } else { Decode::decode(reader)? },
        })
    }
}

impl Manifest {
    pub fn find(&self, path: &str) -> Option<&ManifestEntry> {
        let found = self.entries.binary_search_by(|entry| entry.path.as_str().cmp(path));
        found.ok().map(|index| &self.entries[index])
    }
}
