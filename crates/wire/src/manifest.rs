//! The manifest artifact, which contains every path of a snapshot.

use std::collections::HashSet;

use cairn_domain::{ArtifactRef, Digest, ManifestEntry, Tags};

use crate::codec::{Decode, DecodeError, Encode, Reader};

/// The entries of a snapshot, sorted by path, and the digests of its inputs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Manifest {
    /// Digest of the settings that decide which paths and contents are indexed. As long as this digest does
    /// not change, an unchanged blob stays indexed or stays skipped.
    pub rules: Digest,
    /// Digest of the versions of all code that converts facts to records. If this digest changes, every
    /// record is written again.
    pub tools: Digest,
    /// Text of the repository's `.cairn.yaml`; empty if there is no such file.
    pub settings: String,
    /// The link state of the generation. This field is set when the generation is published.
    pub links: Option<ArtifactRef>,
    pub entries: Vec<ManifestEntry>,
    /// Digest of all inputs except the snapshot. If two runs of a commit have the same digest, they have the
    /// same result. `None` in version 1.
    pub inputs_digest: Option<Digest>,
    /// The layers of the generation's term counts. For each term, the sum over the layers is the number of
    /// chunks with this term. The oldest and largest layer comes first. The list is filled when the
    /// generation is published, and is empty in versions before 3.
    pub terms: Vec<ArtifactRef>,
    /// The rules that skip paths. Empty in versions before 4.
    pub skip_rules: SkipRules,
}

/// The rules that skip paths without reading them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SkipRules {
    /// Each rule as a clause for users, in which text from the repository is quoted.
    pub texts: Vec<String>,
    /// The position of each skipped entry and the position of its rule, sorted by entry.
    pub of_entries: Vec<(u32, u32)>,
}

impl SkipRules {
    /// The rule that skips the entry at this position. `None` if the entry is not skipped by a rule.
    pub fn of(&self, position: usize) -> Option<&str> {
        let found = self.of_entries.binary_search_by_key(&position, |(entry, _)| *entry as usize).ok()?;
        self.texts.get(self.of_entries[found].1 as usize).map(String::as_str)
    }
}

impl Encode for SkipRules {
    fn encode(&self, out: &mut Vec<u8>) {
        let SkipRules { texts, of_entries } = self;
        texts.encode(out);
        of_entries.encode(out);
    }
}

impl Decode for SkipRules {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { texts: Decode::decode(reader)?, of_entries: Decode::decode(reader)? })
    }
}

impl Encode for Manifest {
    fn encode(&self, out: &mut Vec<u8>) {
        let Manifest { rules, tools, settings, links, entries, inputs_digest, terms, skip_rules } = self;
        rules.encode(out);
        tools.encode(out);
        settings.encode(out);
        links.encode(out);
        entries.encode(out);
        inputs_digest.encode(out);
        terms.encode(out);
        skip_rules.encode(out);
    }
}

/// Decodes all versions. Version 1 ends after `entries`, version 2 after `inputs_digest`, and version 3 after
/// `terms`.
impl Decode for Manifest {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            rules: Decode::decode(reader)?,
            tools: Decode::decode(reader)?,
            settings: Decode::decode(reader)?,
            links: Decode::decode(reader)?,
            entries: with_shared_tags(Decode::decode(reader)?),
            inputs_digest: if reader.0.is_empty() { None } else { Decode::decode(reader)? },
            terms: if reader.0.is_empty() { Vec::new() } else { Decode::decode(reader)? },
            skip_rules: if reader.0.is_empty() { SkipRules::default() } else { Decode::decode(reader)? },
        })
    }
}

/// Lets entries with equal tags share one list of tags in memory.
fn with_shared_tags(mut entries: Vec<ManifestEntry>) -> Vec<ManifestEntry> {
    let mut seen: HashSet<Tags> = HashSet::new();
    for entry in &mut entries {
        match seen.get(&entry.tags) {
            Some(same) => entry.tags = Tags::clone(same),
            None => drop(seen.insert(Tags::clone(&entry.tags))),
        }
    }
    entries
}

impl Manifest {
    pub fn find(&self, path: &str) -> Option<&ManifestEntry> {
        self.position(path).map(|position| &self.entries[position])
    }

    /// The rule that skips the path. `None` if the path is not skipped by a rule.
    pub fn skip_rule(&self, path: &str) -> Option<&str> {
        self.skip_rules.of(self.position(path)?)
    }

    fn position(&self, path: &str) -> Option<usize> {
        self.entries.binary_search_by(|entry| entry.path.as_str().cmp(path)).ok()
    }
}
