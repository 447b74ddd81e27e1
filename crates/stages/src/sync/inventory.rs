//! Takes the inventory of a snapshot: creates a manifest entry for every path, and source packs for new
//! contents.

use std::sync::Arc;

use cairn_config::Ceilings;
use cairn_domain::{
    ArtifactRef, Digest, EntryKind, FactsKey, ManifestEntry, Outcome, Reason, RepoPath, RepositoryId, Tags,
};
use cairn_inventory::SkipRule;
use cairn_pipeline::StageError;
use cairn_ports::TreeEntry;
use cairn_wire::{Manifest, SkipRules};
use rustc_hash::{FxHashMap, FxHashSet};

use super::budget;
use super::deadline::check_stopped;
use super::modules::Modules;
use super::packing::{Contents, Known, Packed};
use super::reading::Reading;
use super::skipped::{self, SkippedPaths};
use crate::artifacts::Artifacts;
use crate::threads::blocking;

/// The inputs of the inventory.
#[derive(Clone)]
pub(crate) struct Inventory {
    pub reading: Reading,
    pub inputs_digest: Digest,
    pub previous: Arc<Manifest>,
    pub ceilings: Ceilings,
}

/// The manifest of the snapshot, and the packs that must be parsed.
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
        let listing = self.clone();
        let (entries, to_read, skipped) = blocking(move || listing.list()).await?;
        let contents = Contents { reading: &self.reading, known: Arc::new(self.known_facts()) };
        let packed = contents.read(artifacts, repository, &to_read, num_threads).await?;
        let finishing = self.clone();
        blocking(move || finishing.finish(entries, packed, skipped)).await
    }

    /// Returns the entries, the positions of the entries whose files must be read, and the rules that skip
    /// paths. For a large tree, this function takes seconds.
    pub(super) fn list(&self) -> Result<(Vec<ManifestEntry>, Vec<usize>, SkippedPaths), StageError> {
        let tree = &self.reading.tree;
        let modules = Modules::detect(&self.reading.settings.repository, tree.entries());
        // Matching many patterns takes a long time, so a sync can be stopped at each path. The
        // decision about the last path is not valid if the sync was stopped during this decision.
        let (mut entries, mut skipped) = (Vec::with_capacity(tree.entries().len()), SkippedPaths::default());
        for (position, entry) in tree.entries().iter().enumerate() {
            check_stopped(&self.reading.meter)?;
            let (entry, rule) = self.decide_by_path(entry, &modules);
            rule.into_iter().for_each(|rule| skipped.record(position, rule));
            entries.push(entry);
        }
        check_stopped(&self.reading.meter)?;
        let to_read = self.reuse(&mut entries);
        budget::check_reading(&entries, &to_read, &self.ceilings)?;
        Ok((entries, to_read, skipped))
    }

    fn finish(
        &self,
        mut entries: Vec<ManifestEntry>,
        packed: Packed,
        skipped: SkippedPaths,
    ) -> Result<Taken, StageError> {
        let packs = self.fill_in(&mut entries, packed)?;
        budget::check_expansion(&entries, &self.ceilings)?;
        let mut skip_rules = skipped.into_rules();
        self.hide_names(&mut entries, &mut skip_rules);
        let Reading { settings, tools, .. } = &self.reading;
        let manifest = Manifest {
            rules: settings.digest,
            tools: tools.digest(),
            settings: settings.text.clone(),
            links: None,
            entries,
            inputs_digest: Some(self.inputs_digest),
            terms: Vec::new(),
            skip_rules,
        };
        Ok(Taken { manifest, packs })
    }

    /// Creates the entry of a path, and decides by path, kind and size whether the path may be indexed. If a
    /// rule skips the path, also returns the rule. In this step, `Indexed` means that the content still has
    /// to be checked.
    fn decide_by_path(&self, entry: &TreeEntry, modules: &Modules) -> (ManifestEntry, Option<SkipRule>) {
        let decide = || self.reading.settings.rules.skip(&entry.path, entry.kind, entry.size_bytes);
        let skip = if is_damage_of_git(entry) { None } else { decide() };
        let (skipped, rule) = skip.map(|skip| (skip.reason, skip.rule)).unzip();
        let outcome = match (skipped, &entry.unreadable) {
            (Some(reason), _) => Outcome::Skipped(reason),
            _ if self.shown(&entry.path).is_some() => Outcome::Skipped(Reason::Sensitive),
            (None, Some(message)) => Outcome::Failed { reason: Reason::Unreadable, message: message.clone() },
            (None, None) => Outcome::Indexed(None),
        };
        let is_document = self.reading.settings.navigation.find(entry.path.as_str()).is_some();
        let decided = ManifestEntry {
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
            tags: Tags::default(),
            changed_at: entry.changed_at,
            module: modules.of(&entry.path),
        };
        (decided, rule)
    }

    /// Redacts paths that contain a secret. The files at these paths are not indexed. If several paths are
    /// equal after redaction, a number is appended to each of them except the first.
    fn hide_names(&self, entries: &mut Vec<ManifestEntry>, rules: &mut SkipRules) {
        let mut num_hidden: FxHashMap<String, u32> = FxHashMap::default();
        for entry in entries.iter_mut() {
            let Some(mut shown) = self.shown(&entry.path) else { continue };
            let number = num_hidden.entry(shown.clone()).or_default();
            *number += 1;
            if *number > 1 {
                shown = format!("{shown}~{number}");
            }
            // A redacted path is a valid path: markers contain no `/`.
            if let Ok(path) = RepoPath::parse(&shown) {
                entry.path = path;
                entry.module = None;
                entry.changed_at = None;
            }
        }
        if !num_hidden.is_empty() {
            skipped::sort(entries, rules);
        }
    }

    /// Returns the redacted path; `None` if the path contains no secret.
    fn shown(&self, path: &RepoPath) -> Option<String> {
        let redacted = self.reading.settings.redactor.redact(path.as_str());
        (!redacted.findings.is_empty()).then(|| redacted.text.into_owned())
    }

    /// For unchanged paths, copies the decisions from the previous manifest. Returns the positions of the
    /// paths whose files must be read.
    fn reuse(&self, entries: &mut [ManifestEntry]) -> Vec<usize> {
        let same_rules = self.previous.rules == self.reading.settings.digest;
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

    /// Whether the previous decision about the content is still valid. Failed files are tried again.
    fn still_holds(&self, old: &ManifestEntry, entry: &ManifestEntry) -> bool {
        let decided_by_content = match old.outcome {
            Outcome::Indexed(_) => true,
            Outcome::Skipped(reason) => {
                matches!(reason, Reason::Binary | Reason::NotUtf8 | Reason::Generated)
            }
            Outcome::Failed { .. } => false,
        };
        let same_tools = match (&old.language, old.facts_key) {
            (Some(language), Some(key)) => self.reading.facts_key(&old.path, old.blob, language) == key,
            _ => true,
        };
        decided_by_content && old.blob == entry.blob && is_file(old.kind) && same_tools
    }

    /// Returns the facts of the previous generation by key, with the outcome of parsing. With these facts, a
    /// renamed file need not be parsed again.
    fn known_facts(&self) -> FxHashMap<FactsKey, Known> {
        let known = self.previous.entries.iter().filter(|entry| entry.outcome.is_indexed());
        let known = known.filter_map(|entry| {
            let found = Known { slot: entry.source.clone()?, outcome: entry.outcome.clone() };
            Some((entry.facts_key?, found))
        });
        known.collect()
    }

    /// Writes the decisions about contents into the entries. Returns the packs in their order.
    fn fill_in(&self, entries: &mut [ManifestEntry], packed: Packed) -> Result<Vec<ArtifactRef>, StageError> {
        let mut shared: FxHashSet<Tags> = FxHashSet::default();
        for (position, content) in packed.contents {
            let entry = &mut entries[position];
            entry.outcome = content.outcome;
            let tags = self.reading.settings.tags.tags(&entry.path, content.language.as_deref());
            budget::check_tags(&tags, &self.ceilings)?;
            entry.tags = match shared.get(tags.as_slice()) {
                Some(same) => Tags::clone(same),
                None => tags.into(),
            };
            if !shared.contains(&entry.tags) {
                shared.insert(Tags::clone(&entry.tags));
            }
            entry.language = content.language;
            entry.facts_key = content.facts_key;
            entry.source = content.source;
            entry.num_secrets = content.num_secrets;
            entry.num_lines = content.num_lines;
            entry.low_weight = content.low_weight;
        }
        Ok(packed.packs)
    }
}

/// Whether the entry is an unreadable internal file of git. The tree contains an internal file of git only if
/// this file cannot be read, so that the fault is reported.
fn is_damage_of_git(entry: &TreeEntry) -> bool {
    let path = entry.path.as_str();
    entry.unreadable.is_some() && (path == ".git" || path.starts_with(".git/"))
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
