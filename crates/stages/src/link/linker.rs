//! Links the files that must be linked. The packs are read in sequence, so that only the facts of a few files
//! are in memory at the same time.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};

use cairn_domain::{ArtifactRef, EdgeRecord, FileFacts, NodeRecord, PackageManifest, Slot};
use cairn_linking::{
    Contribution, Environment, FileLinks, LinkFile, State, affected, changed_keys, changed_package_keys, contribute,
    file_nodes, link_file,
};
use cairn_pipeline::StageError;
use cairn_ports::{FailureCode, StagedNames};
use cairn_records::{Placement, symbol_names};
use cairn_redaction::quoted;
use cairn_wire::PackReader;
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::mpsc::{Receiver, Sender};

use super::before::{Before, ChangedPaths};
use super::kept::FileState;
use crate::artifacts::Artifacts;
use crate::snapshot::{Snapshot, SnapshotFile};
use crate::threads::{blocking, in_parallel};

/// The input of linking.
pub(crate) struct Linker {
    pub(crate) now: Arc<Snapshot>,
    pub(crate) before: Before,
    pub(crate) changed: ChangedPaths,
    /// Sorted by path.
    pub(crate) packages: Vec<PackageManifest>,
    pub(crate) num_threads: usize,
}

/// The records of the graph: nodes and edges.
#[derive(Default)]
pub(crate) struct Records {
    pub(crate) nodes: Vec<NodeRecord>,
    pub(crate) edges: Vec<EdgeRecord>,
}

impl Records {
    pub(crate) fn add(&mut self, (nodes, edges): (Vec<NodeRecord>, Vec<EdgeRecord>)) {
        self.nodes.extend(nodes);
        self.edges.extend(edges);
    }
}

/// The result of linking the files.
pub(crate) struct LinkedFiles {
    /// Every file of the snapshot, in the order of the snapshot.
    pub(crate) files: Vec<FileState>,
    /// The new records of the changed files and of the files that are affected by the changes.
    pub(crate) now: Records,
    /// The records that the same files had in the previous generation.
    pub(crate) before: Records,
    /// For each of these files, the modules that its edges reached in the previous generation. The key is the
    /// path of the file. The module of the file itself is omitted.
    pub(crate) modules_before: FxHashMap<String, Vec<String>>,
    /// The names of the symbols and files at the changed paths.
    pub(crate) names: StagedNames,
}

/// The names that files contribute to lookups, in the new and in the previous generation.
struct Contributions {
    /// The contributions of unchanged files.
    shared: Vec<Contribution>,
    now: Vec<Contribution>,
    before: Vec<Contribution>,
    /// Keys for which a lookup has a different result than in the previous generation.
    changed_keys: FxHashSet<u64>,
}

/// A file to be linked, by its index in the new or the previous snapshot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum LinkTarget {
    Now(usize),
    Before(usize),
}

/// The files to be linked whose facts are in one pack, each with its slot in the pack.
struct Work {
    pack: ArtifactRef,
    targets: Vec<(u32, LinkTarget)>,
}

/// One linked file.
struct Linked {
    target: LinkTarget,
    links: FileLinks,
    nodes: Vec<NodeRecord>,
    /// The previous links of the file, if the file is affected but has not changed.
    links_before: Option<FileLinks>,
    /// Whether the new records of the file may differ from its records in the stores.
    is_touched: bool,
    names: StagedNames,
}

/// Links the files that must be linked, and copies the stored links of all other files. If `begun` is given,
/// the nodes of the files in a pack are sent to this channel as soon as the pack is linked, and are not part
/// of the result.
pub(crate) async fn run(
    linker: &Arc<Linker>,
    artifacts: &Artifacts,
    begun: Option<Sender<Vec<NodeRecord>>>,
) -> Result<LinkedFiles, StageError> {
    let of = Arc::clone(linker);
    let (contributions, targets) = blocking(move || Ok(of.prepare())).await?;
    let work = linker.work(&targets);
    let (sender, receiver) = tokio::sync::mpsc::channel(linker.num_threads.max(1));
    let of = Arc::clone(linker);
    let linking = tokio::spawn(blocking(move || of.link(&contributions, receiver, begun.as_ref())));
    let fed = feed(artifacts, work, sender).await;
    let linked = linking.await.map_err(|error| StageError::panicked(error.to_string()))?;
    fed?;
    let (of, linked) = (Arc::clone(linker), linked?);
    blocking(move || of.collect(linked)).await
}

/// Opens the packs of facts in sequence, each when the linking threads need it.
async fn feed(artifacts: &Artifacts, work: Vec<Work>, sender: Sender<(PackReader, Work)>) -> Result<(), StageError> {
    for work in work {
        let facts = artifacts.facts_pack(&work.pack).await?;
        let reader = facts.ok_or_else(|| {
            StageError::permanent(
                FailureCode::Corrupt,
                format!("the facts of the source pack `{}` are missing", work.pack.key),
            )
        })?;
        if sender.send((reader, work)).await.is_err() {
            // An error means that the receiver was dropped because linking has failed. Linking reports the
            // reason.
            return Ok(());
        }
    }
    Ok(())
}

impl Linker {
    fn is_changed(&self, file: &SnapshotFile) -> bool {
        self.changed.contains_key(self.now.path(file).as_str())
    }

    /// Returns the contributions of each file, and the files to be linked.
    fn prepare(&self) -> (Contributions, Vec<LinkTarget>) {
        let contributions = self.contributions();
        let mut targets: Vec<LinkTarget> = (0..self.before.snapshot.files.len()).map(LinkTarget::Before).collect();
        let askers = self.before.kept.as_ref().map(|kept| kept.askers(&contributions.changed_keys));
        for (index, file) in self.now.files.iter().enumerate() {
            let path = self.now.path(file);
            let is_kept = self.before.kept.as_ref().is_some_and(|kept| kept.file(path).is_some());
            let is_affected = askers.as_ref().is_none_or(|askers| askers.contains(path));
            if !is_kept || is_affected || self.is_changed(file) {
                targets.push(LinkTarget::Now(index));
            }
        }
        (contributions, targets)
    }

    fn contributions(&self) -> Contributions {
        let repository = self.now.repository;
        let of_file = |file: &SnapshotFile| contribute(repository, &self.now.place(file), &file.outline);
        let all = in_parallel(&self.now.files, self.num_threads, of_file);
        let (now, shared) = all.into_iter().partition(|own| self.changed.contains_key(own.path.as_str()));
        let old = &self.before.snapshot;
        let before: Vec<Contribution> =
            old.files.iter().map(|file| contribute(repository, &old.place(file), &file.outline)).collect();
        let mut contributions = Contributions { shared, now, before, changed_keys: FxHashSet::default() };
        if !self.before.is_none {
            contributions.changed_keys = contributions.changed();
            contributions.changed_keys.extend(changed_package_keys(&self.before.packages, &self.packages));
        }
        contributions
    }

    /// Groups the files to be linked by the pack that contains their facts.
    fn work(&self, targets: &[LinkTarget]) -> Vec<Work> {
        let mut by_pack: BTreeMap<&str, Work> = BTreeMap::new();
        for target in targets {
            let Some(slot) = self.slot(*target) else { continue };
            let work = by_pack
                .entry(&slot.artifact.key)
                .or_insert_with(|| Work { pack: slot.artifact.clone(), targets: Vec::new() });
            work.targets.push((slot.index, *target));
        }
        let mut work: Vec<Work> = by_pack.into_values().collect();
        work.iter_mut().for_each(|work| work.targets.sort_unstable());
        // The packs are sorted by the path of their first file, so that files with adjacent paths are stored
        // together.
        work.sort_by_key(|work| work.targets.first().map(|(_, target)| *target));
        work
    }

    fn slot(&self, target: LinkTarget) -> Option<&Slot> {
        let (snapshot, file) = self.file(target);
        snapshot.entry(file).source.as_ref()
    }

    fn file(&self, target: LinkTarget) -> (&Snapshot, &SnapshotFile) {
        match target {
            LinkTarget::Now(index) => (&self.now, &self.now.files[index]),
            LinkTarget::Before(index) => (&self.before.snapshot, &self.before.snapshot.files[index]),
        }
    }

    fn link(
        &self,
        contributions: &Contributions,
        work: Receiver<(PackReader, Work)>,
        begun: Option<&Sender<Vec<NodeRecord>>>,
    ) -> Result<Vec<Linked>, StageError> {
        let states = [
            State { files: &contributions.now, packages: &self.packages },
            State { files: &contributions.before, packages: &self.before.packages },
        ];
        let environments = Environment::of_states(self.now.repository, &contributions.shared, states);
        let work = Mutex::new(work);
        let link_packs = || {
            let mut linked = Vec::new();
            loop {
                let next = work.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
                let Some((reader, work)) = next else { return Ok(linked) };
                let mut of_pack = self.link_pack(&environments, &contributions.changed_keys, reader, work)?;
                if let Some(begun) = begun {
                    let nodes = of_pack.iter_mut().flat_map(|linked| std::mem::take(&mut linked.nodes));
                    // An error means that the receiver was dropped, because staging has failed. Staging
                    // reports the reason.
                    let _ = begun.blocking_send(nodes.collect());
                }
                linked.append(&mut of_pack);
            }
        };
        let done: Vec<Result<Vec<Linked>, StageError>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.num_threads.max(1)).map(|_| scope.spawn(link_packs)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
        });
        let mut linked = Vec::new();
        for done in done {
            linked.extend(done?);
        }
        linked.sort_by_key(|linked| linked.target);
        Ok(linked)
    }

    /// Links the files whose facts are in one pack.
    fn link_pack(
        &self,
        environments: &[Environment<'_>; 2],
        changed_keys: &FxHashSet<u64>,
        mut reader: PackReader,
        work: Work,
    ) -> Result<Vec<Linked>, StageError> {
        let mut linked = Vec::with_capacity(work.targets.len());
        for (slot, target) in work.targets {
            let facts: FileFacts = reader.read(slot).map_err(|error| StageError::corrupt(&work.pack.key, &error))?;
            linked.push(self.link_one(environments, changed_keys, target, &facts));
        }
        Ok(linked)
    }

    fn link_one(
        &self,
        [now, before]: &[Environment<'_>; 2],
        changed_keys: &FxHashSet<u64>,
        target: LinkTarget,
        facts: &FileFacts,
    ) -> Linked {
        let (snapshot, file) = self.file(target);
        let link_input = LinkFile { place: snapshot.place(file), facts };
        let nodes = || file_nodes(snapshot.repository, &link_input);
        let linked = |links, is_touched| Linked {
            target,
            links,
            nodes: Vec::new(),
            links_before: None,
            is_touched,
            names: StagedNames::default(),
        };
        match target {
            LinkTarget::Before(_) => Linked { nodes: nodes(), ..linked(link_file(before, &link_input), true) },
            LinkTarget::Now(_) if self.before.is_none || self.is_changed(file) => {
                let placement = Placement { repository: snapshot.repository, entry: snapshot.entry(file) };
                let names = StagedNames {
                    files: vec![snapshot.path(file).clone()],
                    symbols: symbol_names(placement, facts),
                    ..StagedNames::default()
                };
                Linked { nodes: nodes(), names, ..linked(link_file(now, &link_input), true) }
            }
            LinkTarget::Now(_) => {
                let links = link_file(now, &link_input);
                let is_touched = affected(&links.asked, changed_keys);
                let links_before = is_touched.then(|| link_file(before, &link_input));
                Linked { links_before, ..linked(links, is_touched) }
            }
        }
    }

    /// Collects the linked files.
    fn collect(&self, linked: Vec<Linked>) -> Result<LinkedFiles, StageError> {
        let mut all = LinkedFiles {
            files: Vec::with_capacity(self.now.files.len()),
            now: Records::default(),
            before: Records::default(),
            modules_before: FxHashMap::default(),
            names: StagedNames::default(),
        };
        let mut linked_now: FxHashMap<usize, FileState> = FxHashMap::default();
        for linked in linked {
            match linked.target {
                LinkTarget::Before(_) => all.add_before(linked.links, linked.nodes),
                LinkTarget::Now(index) => {
                    let (state, edges) = FileState::linked(linked.links);
                    linked_now.insert(index, state);
                    if linked.is_touched {
                        all.now.add((linked.nodes, edges));
                    }
                    if let Some(links) = linked.links_before {
                        all.add_before(links, Vec::new());
                    }
                    all.names.files.extend(linked.names.files);
                    all.names.symbols.extend(linked.names.symbols);
                }
            }
        }
        for (index, file) in self.now.files.iter().enumerate() {
            let path = self.now.path(file);
            let kept = || Some(FileState::kept(self.before.kept.as_ref()?.file(path)?.clone()));
            let state = linked_now.remove(&index).or_else(kept);
            all.files.push(state.ok_or_else(|| {
                StageError::permanent(
                    FailureCode::Corrupt,
                    format!("the links of the file {} are missing", quoted(path.as_str())),
                )
            })?);
        }
        Ok(all)
    }
}

impl LinkedFiles {
    fn add_before(&mut self, links: FileLinks, nodes: Vec<NodeRecord>) {
        self.modules_before.insert(links.path.as_str().to_owned(), links.modules);
        self.before.add((nodes, links.edges));
    }
}

impl Contributions {
    /// Returns the keys for which a lookup has a different result than in the previous generation.
    fn changed(&self) -> FxHashSet<u64> {
        let old: FxHashMap<&str, &Contribution> = self.before.iter().map(|own| (own.path.as_str(), own)).collect();
        let new: FxHashSet<&str> = self.now.iter().map(|own| own.path.as_str()).collect();
        let mut keys = FxHashSet::default();
        for own in &self.now {
            keys.extend(changed_keys(old.get(own.path.as_str()).copied(), Some(own)));
        }
        for own in self.before.iter().filter(|own| !new.contains(own.path.as_str())) {
            keys.extend(changed_keys(Some(own), None));
        }
        keys
    }
}
