//! Takes the inventory of a snapshot: a manifest entry for every path, and source packs of what is new.

use std::sync::Arc;

use cairn_domain::{
    ArtifactRef, BlobId, Digest, EntryKind, FactsKey, ManifestEntry, Outcome, Reason, RepoPath, RepositoryId,
};
use cairn_pipeline::StageError;
use cairn_ports::{SnapshotTree, SyncMeter, TreeEntry};
use cairn_wire::Manifest;
use rustc_hash::FxHashMap;

use super::modules::Modules;
use super::packing::{Contents, Known, Packed};
use super::settings::Effective;
use crate::Toolchain;
use crate::artifacts::Artifacts;

/// What the inventory is taken of.
#[derive(Clone)]
pub(crate) struct Inventory {
    pub tools: Toolchain,
    pub settings: Arc<Effective>,
    pub inputs_digest: Digest,
    pub previous: Arc<Manifest>,
    pub tree: Arc<dyn SnapshotTree>,
    pub meter: Arc<SyncMeter>,
}

/// The manifest of the snapshot and the packs that are to be parsed.
pub(crate) struct Taken {
    pub manifest: Manifest,
    pub packs: Vec<ArtifactRef>,
}

impl Inventory {
    pub(crate) async fn take(
        &self,
        artifacts: &Artifacts,
        repository: RepositoryId,
        num_threads: usize,
    ) -> Result<Taken, StageError> {
        let modules = Modules::detect(&self.settings.repository, self.tree.entries());
        let mut entries: Vec<ManifestEntry> =
            self.tree.entries().iter().map(|entry| self.decide_by_path(entry, &modules)).collect();
        let to_read = self.reuse(&mut entries);
        let contents = Contents { inventory: self, known: self.known_facts() };
        let packed = contents.read(artifacts, repository, &to_read, num_threads).await?;
        let packs = self.fill_in(&mut entries, packed);
        self.hide_names(&mut entries);
        let manifest = Manifest {
            rules: self.settings.digest,
            tools: self.tools.digest(),
            settings: self.settings.text.clone(),
            links: None,
            entries,
            inputs_digest: Some(self.inputs_digest),
        };
        Ok(Taken { manifest, packs })
    }

    /// The entry as far as path, kind and size decide it. `Indexed` here means: its content decides.
    fn decide_by_path(&self, entry: &TreeEntry, modules: &Modules) -> ManifestEntry {
        let skipped = self.settings.rules.decide_path(&entry.path, entry.kind, entry.size_bytes);
        let outcome = match (skipped, &entry.unreadable) {
            (Some(skipped), _) => skipped,
            _ if self.shown(&entry.path).is_some() => Outcome::Skipped(Reason::Sensitive),
            (None, Some(message)) => Outcome::Failed { reason: Reason::Unreadable, message: message.clone() },
            (None, None) => Outcome::Indexed(None),
        };
        let is_document = self.settings.navigation.find(entry.path.as_str()).is_some();
        ManifestEntry {
            path: entry.path.clone(),
            kind: entry.kind,
            blob: entry.blob,
            size_bytes: entry.size_bytes,
            outcome,
            language: None,
            facts_key: None,
            source: None,
            num_secrets: 0,
            num_lines: 0,
            low_weight: false,
            navigation: is_document || cairn_syntax::documents::is_navigation(&entry.path),
            tags: Vec::new(),
            changed_at: entry.changed_at,
            module: modules.of(&entry.path),
        }
    }

    /// A path that holds a secret is not shown, and its file not indexed. Paths that are the same then are numbered.
    fn hide_names(&self, entries: &mut [ManifestEntry]) {
        let mut num_hidden: FxHashMap<String, u32> = FxHashMap::default();
        for entry in entries.iter_mut() {
            let Some(mut shown) = self.shown(&entry.path) else { continue };
            let number = num_hidden.entry(shown.clone()).or_default();
            *number += 1;
            if *number > 1 {
                shown = format!("{shown}~{number}");
            }
            // A redacted path is one: markers have no `/`.
            if let Ok(path) = RepoPath::parse(&shown) {
                entry.path = path;
                entry.module = None;
                entry.changed_at = None;
            }
        }
        if !num_hidden.is_empty() {
            entries.sort_by(|left, right| left.path.cmp(&right.path));
        }
    }

    /// The path without the secrets in it, if it has any.
    fn shown(&self, path: &RepoPath) -> Option<String> {
        let redacted = self.settings.redactor.redact(path.as_str());
        (!redacted.findings.is_empty()).then(|| redacted.text.into_owned())
    }

    /// Takes over what the previous manifest says of unchanged paths; returns the positions of those that have to be read.
    fn reuse(&self, entries: &mut [ManifestEntry]) -> Vec<usize> {
        let same_rules = self.previous.rules == self.settings.digest;
        let mut to_read = Vec::new();
        for (position, entry) in entries.iter_mut().enumerate() {
            if !entry.outcome.is_indexed() {
                continue;
            }
            match self.previous.find(entry.path.as_str()) {
                Some(old) if same_rules && self.still_holds(old, entry) => copy_content(old, entry),
                _ => to_read.push(position),
            }
        }
        to_read
    }

    /// Whether the old decision about a content is the one that would be made now. What failed is tried again.
    fn still_holds(&self, old: &ManifestEntry, entry: &ManifestEntry) -> bool {
        let decided_by_content = match old.outcome {
            Outcome::Indexed(_) => true,
            Outcome::Skipped(reason) => {
                matches!(reason, Reason::Binary | Reason::NotUtf8 | Reason::Generated)
            }
            Outcome::Failed { .. } => false,
        };
        let same_tools = match (&old.language, old.facts_key) {
            (Some(language), Some(key)) => self.facts_key(&old.path, old.blob, language) == key,
            _ => true,
        };
        decided_by_content && old.blob == entry.blob && is_file(old.kind) && same_tools
    }

    /// Identity of the facts of an entry's content in a language.
    pub(crate) fn facts_key(&self, path: &RepoPath, blob: BlobId, language: &str) -> FactsKey {
        let ignore = if self.is_searched(path) {
            self.settings.ignore_digest
        } else {
            cairn_domain::Digester::new("secrets-not-searched").digest()
        };
        self.tools.facts_key(blob, language, ignore)
    }

    /// Whether secrets are searched for in the file.
    pub(crate) fn is_searched(&self, path: &RepoPath) -> bool {
        self.settings.unsearched.find(path.as_str()).is_none()
    }

    /// Facts that the previous generation has, by key: a renamed file is not parsed again. With them goes what parsing
    /// found out about the file.
    fn known_facts(&self) -> FxHashMap<FactsKey, Known> {
        let known = self.previous.entries.iter().filter(|entry| entry.outcome.is_indexed());
        let known = known.filter_map(|entry| {
            let found = Known { slot: entry.source.clone()?, outcome: entry.outcome.clone() };
            Some((entry.facts_key?, found))
        });
        known.collect()
    }

    /// Puts what was read into the entries; returns the packs in their order.
    fn fill_in(&self, entries: &mut [ManifestEntry], packed: Packed) -> Vec<ArtifactRef> {
        for (position, content) in packed.contents {
            let entry = &mut entries[position];
            entry.outcome = content.outcome;
            entry.tags = self.settings.tags.tags(&entry.path, content.language.as_deref());
            entry.language = content.language;
            entry.facts_key = content.facts_key;
            entry.source = content.source;
            entry.num_secrets = content.num_secrets;
            entry.num_lines = content.num_lines;
            entry.low_weight = content.low_weight;
        }
        packed.packs
    }
}

fn is_file(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::File | EntryKind::Executable)
}

fn copy_content(old: &ManifestEntry, entry: &mut ManifestEntry) {
    entry.outcome = old.outcome.clone();
    entry.language.clone_from(&old.language);
    entry.facts_key = old.facts_key;
    entry.source.clone_from(&old.source);
    entry.num_secrets = old.num_secrets;
    entry.num_lines = old.num_lines;
    entry.low_weight = old.low_weight;
    entry.tags.clone_from(&old.tags);
}
