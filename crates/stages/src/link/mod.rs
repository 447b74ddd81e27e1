//! link: turns references into edges.
//!
//! The outlines of all files form the environment in which names are looked up. A run links the files that
//! have changed, and the files that looked up a key whose entries have changed. The links of all other files
//! are copied from the previous run. Only the records of the linked files are compared with their previous
//! versions. Therefore a run reads the facts of only a few files, and writes only changes.

mod before;
mod kept;
mod linker;
mod packages;
mod texts;

use std::sync::Arc;

use async_trait::async_trait;
use cairn_config::RepositorySettings;
use cairn_domain::{
    EdgeRecord, ManifestEntry, NodeRecord, PackageManifest, RepoPath, RepositoryId, Scope, StageName, Tenant,
};
use cairn_linking::{FilePlace, ModuleInfo, repository_graph};
use cairn_pipeline::{Stage, StageError, Task};
use cairn_ports::{Catalogue, FailureCode, GraphStore, Names, StagedGraph, StagedNames, Texts};
use cairn_wire::{Manifest, PartReport, Plan};
use rustc_hash::FxHashMap;
use tokio::sync::mpsc::Receiver;

use before::{Before, ChangedPaths};
use kept::{FileState, KeptLinks, NewState, write_state};
use linker::{LinkedFiles, Linker, Records};
use packages::read_packages;
use texts::stage_texts;

use crate::artifacts::{Artifacts, written};
use crate::differences::{Difference, difference};
use crate::record_ceilings::RecordCeilings;
use crate::snapshot::{Snapshot, Snapshots, memory_of};
use crate::threads::blocking;

/// The stage may be run twice and may be stopped at any point: the edges depend only on the snapshot, and
/// staging inserts only missing records.
pub struct LinkStage {
    pub artifacts: Arc<Artifacts>,
    pub snapshots: Arc<Snapshots>,
    pub catalogue: Arc<dyn Catalogue>,
    pub graph: Arc<dyn GraphStore>,
    pub names: Arc<dyn Names>,
    pub texts: Arc<dyn Texts>,
    pub ceilings: Arc<RecordCeilings>,
    pub num_threads: usize,
}

#[async_trait]
impl Stage for LinkStage {
    fn name(&self) -> StageName {
        StageName::Link
    }

    async fn run(&self, task: &Task) -> Result<PartReport, StageError> {
        let repository = task.run.repository;
        let plan = self.artifacts.plan(&task.plan).await?;
        self.ceilings.check(task.run, &plan).await?;
        let planned = plan
            .manifest
            .as_ref()
            .ok_or_else(|| StageError::permanent(FailureCode::Invalid, "the plan has no manifest"))?;
        let changed = changed_paths(&plan);
        let previous = plan.previous_manifest.as_ref().filter(|_| !plan.rebuild);
        let previous = self.artifacts.manifest_or_empty(previous).await?;
        let was = |entry: &ManifestEntry| changed.get(entry.path.as_str()).is_some_and(|path| path.before);
        let now = self.snapshots.load(&self.artifacts, repository, planned, memory_of(&previous, was)).await?;
        let before = self.before(previous, repository, was).await?;
        let packages = self.packages(&now, &before, &changed).await?;
        let linker = Arc::new(Linker { now, before, changed, packages, num_threads: self.num_threads });
        let (begun, nodes) = tokio::sync::mpsc::channel(1);
        let begun = (linker.before.is_none && !plan.rebuild).then_some(begun);
        let (linked, staged) =
            tokio::join!(linker::run(&linker, &self.artifacts, begun), self.stage_nodes(task, nodes));
        staged?;
        let linked = linked?;
        let name = self.repository_name(&task.tenant, repository).await?;
        let settings = RepositorySettings::parse(&plan.settings).unwrap_or_default();
        let of = Arc::clone(&linker);
        let compare = move || Ok(compared(&name, &settings, &of, linked));
        let Compared { mut graph, names, files, mut report } = blocking(compare).await?;
        if plan.rebuild {
            self.retire_everything(task, &mut graph).await?;
        }
        let state = NewState { repository, packages: linker.packages.clone(), kept: linker.before.kept.clone(), files };
        let state = write_state(&self.artifacts, state, self.num_threads).await?;
        report.artifacts.insert("links".to_owned(), written(state));
        self.graph.stage(&task.staging(), graph).await?;
        self.names.stage(&task.tenant, task.run, staged_names(&linker.changed, names)).await?;
        stage_texts(&self.artifacts, &self.texts, task, &linker).await?;
        Ok(report)
    }
}

fn changed_paths(plan: &Plan) -> ChangedPaths {
    let paths = plan.embed.iter().chain(&plan.retire).flatten();
    paths.map(|path| (path.path.as_str().to_owned(), path.clone())).collect()
}

impl LinkStage {
    async fn before(
        &self,
        manifest: Arc<Manifest>,
        repository: RepositoryId,
        was: impl Fn(&ManifestEntry) -> bool,
    ) -> Result<Before, StageError> {
        let kept = match &manifest.links {
            Some(links) => KeptLinks::load(&self.artifacts, links).await?.map(Arc::new),
            None => None,
        };
        let packages = match &kept {
            Some(kept) => kept.packages.clone(),
            None => read_packages(&self.artifacts, &manifest, |_| true).await?,
        };
        let is_none = manifest.entries.is_empty();
        let snapshot = Snapshot::load(&self.artifacts, repository, manifest, was).await?;
        Ok(Before { snapshot, kept, packages, is_none })
    }

    /// Returns the packages that the snapshot declares. Packages from unchanged manifests are copied from the
    /// previous run.
    async fn packages(
        &self,
        now: &Snapshot,
        before: &Before,
        changed: &ChangedPaths,
    ) -> Result<Vec<PackageManifest>, StageError> {
        let is_kept = |path: &str| before.kept.is_some() && !changed.contains_key(path);
        let kept = before.packages.iter().filter(|package| is_kept(package.path.as_str()));
        let mut packages: Vec<PackageManifest> = kept.cloned().collect();
        let is_read = |entry: &ManifestEntry| !is_kept(entry.path.as_str());
        packages.extend(read_packages(&self.artifacts, &now.manifest, is_read).await?);
        packages.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(packages)
    }

    /// Stages nodes while the next files are linked, so that the first run of a repository never has all
    /// nodes in memory.
    async fn stage_nodes(&self, task: &Task, mut nodes: Receiver<Vec<NodeRecord>>) -> Result<(), StageError> {
        while let Some(nodes) = nodes.recv().await {
            let staged = StagedGraph { nodes, ..StagedGraph::default() };
            self.graph.stage(&task.staging(), staged).await?;
        }
        Ok(())
    }

    async fn repository_name(&self, tenant: &Tenant, repository: RepositoryId) -> Result<String, StageError> {
        let known = self.catalogue.repositories(&Scope::only(tenant.clone(), [repository])).await?;
        Ok(known.first().map_or_else(|| repository.to_string(), |record| record.name.to_string()))
    }

    /// Retires all stored records of the repository, because a rebuild writes every record again.
    async fn retire_everything(&self, task: &Task, staged: &mut StagedGraph) -> Result<(), StageError> {
        let (view, scope) = (self.catalogue.view().await?, Scope::only(task.tenant.clone(), [task.run.repository]));
        let mut from = Some(0);
        while let Some(at) = from {
            let page = self.graph.scroll_nodes(&view, &scope, task.run.repository, at).await?;
            let own = page.items.iter().filter(|node| node.kind != cairn_domain::NodeKind::Pattern);
            staged.retired_nodes.extend(own.map(|node| node.key));
            from = page.next;
        }
        let mut from = Some(0);
        while let Some(at) = from {
            let page = self.graph.scroll_edges(&view, &scope, task.run.repository, None, at).await?;
            let own = page.items.iter().filter(|edge| edge.kind != cairn_domain::EdgeKind::Follows);
            staged.retired_edges.extend(own.map(|edge| edge.key));
            from = page.next;
        }
        Ok(())
    }
}

fn staged_names(changed: &ChangedPaths, names: StagedNames) -> StagedNames {
    let mut replaced: Vec<_> = changed.values().filter(|path| path.before).map(|path| path.path.clone()).collect();
    replaced.sort();
    StagedNames { replaced, ..names }
}

/// The changes that linking makes in the stores.
struct Compared {
    graph: StagedGraph,
    names: StagedNames,
    files: Vec<FileState>,
    report: PartReport,
}

/// Adds the records that do not belong to a single file, and computes the differences from the stored
/// records.
fn compared(name: &str, settings: &RepositorySettings, linker: &Linker, linked: LinkedFiles) -> Compared {
    let Linker { now, before, changed, packages, .. } = linker;
    let LinkedFiles { files, now: mut records, before: mut records_before, modules_before, names } = linked;
    let places = now.files.iter().map(|file| now.place(file));
    let whole = places.zip(files.iter().map(|state| state.file.modules.as_slice()));
    let of_repository = repository_graph(now.repository, name, &modules(settings), packages, whole);
    records.add(of_repository);
    if !before.is_none {
        let settings = RepositorySettings::parse(&before.snapshot.manifest.settings).unwrap_or_default();
        let files = files_before(now, before, changed, &files, &modules_before);
        let of_repository = repository_graph(now.repository, name, &modules(&settings), &before.packages, files);
        records_before.add(of_repository);
    }
    let report = report(now, &files);
    Compared { graph: changes(&records_before, records), names, files, report }
}

/// Returns the files of the previous generation, sorted by path. Each file has the list of the other modules
/// that its edges reached.
fn files_before<'a>(
    now: &'a Snapshot,
    before: &'a Before,
    changed: &ChangedPaths,
    files: &'a [FileState],
    modules_before: &'a FxHashMap<String, Vec<String>>,
) -> Vec<(FilePlace<'a>, &'a [String])> {
    let modules =
        |path: &RepoPath, otherwise: &'a [String]| modules_before.get(path.as_str()).map_or(otherwise, Vec::as_slice);
    let still = now.files.iter().zip(files).filter(|(file, _)| !changed.contains_key(now.path(file).as_str()));
    let still = still.map(|(file, state)| (now.place(file), modules(now.path(file), &state.file.modules)));
    let of_before = &before.snapshot;
    let gone = of_before.files.iter().map(|file| (of_before.place(file), modules(of_before.path(file), &[])));
    let mut whole: Vec<_> = still.chain(gone).collect();
    whole.sort_by(|left, right| left.0.path.cmp(right.0.path));
    whole
}

/// Returns a report with the counts of the whole snapshot.
fn report(now: &Snapshot, files: &[FileState]) -> PartReport {
    let mut report = PartReport::default();
    for file in &now.files {
        report.symbols += file.outline.symbols.len() as u64;
        report.chunks += u64::from(file.outline.num_chunks);
    }
    for file in files.iter().map(|state| &state.file) {
        for (class, count) in &file.edges {
            report.edges += u64::from(*count);
            *report.edges_by_resolution.entry(class.as_str().to_owned()).or_default() += u64::from(*count);
        }
        for (reason, count) in &file.unresolved {
            *report.unresolved.entry(reason.as_str().to_owned()).or_default() += u64::from(*count);
        }
    }
    report
}

fn changes(before: &Records, now: Records) -> StagedGraph {
    let nodes: Difference<NodeRecord> = difference(&before.nodes, now.nodes, |node| (node.key.0, node.digest()));
    let edges: Difference<EdgeRecord> = difference(&before.edges, now.edges, |edge| (edge.key.0, edge.digest()));
    StagedGraph {
        nodes: nodes.begun,
        edges: edges.begun,
        retired_nodes: nodes.ended.into_iter().map(cairn_domain::NodeKey).collect(),
        retired_edges: edges.ended.into_iter().map(cairn_domain::EdgeKey).collect(),
        ..StagedGraph::default()
    }
}

fn modules(settings: &RepositorySettings) -> Vec<ModuleInfo> {
    let info = |module: &cairn_config::ModuleSettings| ModuleInfo {
        name: module.path.as_str().to_owned(),
        description: module.description.clone(),
    };
    settings.modules.iter().map(info).collect()
}
