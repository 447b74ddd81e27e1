//! link: references become edges.
//!
//! All files are linked against the new environment; what they asked it for tells which unchanged files mean something
//! else now. Only the records of changed and affected files are compared with what they were, so a run writes what
//! changed and nothing else.

use std::sync::Arc;

use async_trait::async_trait;
use cairn_config::RepositorySettings;
use cairn_domain::{EdgeRecord, FileFacts, NodeRecord, RepositoryId, StageName, Tenant};
use cairn_linking::{
    Contribution, Environment, FileLinks, LinkCounts, LinkFile, ModuleInfo, PackageManifest, affected, changed_keys,
    changed_package_keys, contribute, file_nodes, link_file, parse_package_manifest, repository_graph,
};
use cairn_pipeline::{Stage, StageContext, StageError};
use cairn_placing::{Place, symbol_names};
use cairn_ports::{Catalogue, GraphStore, Names, StagedGraph, StagedNames};
use cairn_wire::{
    ArtifactKind, ChangedPath, FileUnresolved, Job, LinkSummary, Manifest, PartReport, Plan, UnresolvedSite,
    WrittenArtifact, encode,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::artifacts::Artifacts;
use crate::differences::{Difference, difference};
use crate::placed::OpenPacks;
use crate::snapshot::{SnapshotFacts, SnapshotFile, Snapshots};
use crate::sync::{blocking, own_scope};

/// May be run twice and stopped anywhere: the edges are a function of the snapshot, and staging inserts only what is
/// not there.
pub struct LinkStage {
    pub artifacts: Arc<Artifacts>,
    pub snapshots: Arc<Snapshots>,
    pub tenant: Tenant,
    pub catalogue: Arc<dyn Catalogue>,
    pub graph: Arc<dyn GraphStore>,
    pub names: Arc<dyn Names>,
    pub num_threads: usize,
}

#[async_trait]
impl Stage for LinkStage {
    fn name(&self) -> StageName {
        StageName::Link
    }

    async fn run(&self, job: &Job, _context: StageContext) -> Result<PartReport, StageError> {
        let plan = self.artifacts.plan(&job.plan).await?;
        let planned =
            plan.manifest.as_ref().ok_or_else(|| StageError::permanent("invalid", "a plan without manifest"))?;
        let now = self.snapshots.load(&self.artifacts, job.run.repository, planned).await?;
        let before = self.before(&plan).await?;
        let inputs = Inputs {
            name: self.repository_name(job.run.repository).await?,
            settings: RepositorySettings::parse(&plan.settings).unwrap_or_default(),
            packages: self.packages(&now.manifest).await?,
            packages_before: self.packages(&before.manifest).await?,
            changed: changed(&plan),
            num_threads: self.num_threads,
        };
        let names = staged_names(&now, &inputs.changed);
        let (linked, now) = blocking(move || Ok((link(&now, &before, &inputs), now))).await?;
        drop(now);
        let mut staged = linked.difference;
        if plan.rebuild {
            self.retire_everything(job, &mut staged).await?;
        }
        let mut report = linked.report;
        let summary = encode(ArtifactKind::Links, &linked.summary);
        let summary = self.artifacts.put_by_content("links", job.run.repository, summary).await?;
        let written = WrittenArtifact { key: summary.key, size_bytes: summary.size_bytes, hash: summary.hash };
        report.artifacts.insert("links".to_owned(), written);
        self.graph.stage(&self.tenant, job.run, job.part, staged).await?;
        self.names.stage(&self.tenant, job.run, names).await?;
        Ok(report)
    }
}

/// The files of the previous generation that changed, with their facts.
struct Before {
    manifest: Arc<Manifest>,
    files: Vec<SnapshotFile>,
}

struct Inputs {
    name: String,
    settings: RepositorySettings,
    packages: Vec<PackageManifest>,
    packages_before: Vec<PackageManifest>,
    /// By path.
    changed: FxHashMap<String, ChangedPath>,
    num_threads: usize,
}

struct Linked {
    difference: StagedGraph,
    summary: LinkSummary,
    report: PartReport,
}

fn changed(plan: &Plan) -> FxHashMap<String, ChangedPath> {
    let paths = plan.embed.iter().chain(&plan.retire).flatten();
    paths.map(|path| (path.path.as_str().to_owned(), path.clone())).collect()
}

impl LinkStage {
    async fn before(&self, plan: &Plan) -> Result<Before, StageError> {
        let manifest = self.artifacts.manifest_or_empty(plan.previous_manifest.as_ref()).await?;
        if plan.rebuild {
            return Ok(Before { manifest: Arc::default(), files: Vec::new() });
        }
        let changed = changed(plan);
        let wanted = |path: &str| changed.get(path).is_some_and(|path| path.before);
        let entries = manifest.entries.iter().filter(|entry| wanted(entry.path.as_str()));
        let mut packs = OpenPacks::default();
        packs.open(&self.artifacts, entries, false).await?;
        let of = Arc::clone(&manifest);
        let files = blocking(move || {
            let mut files = Vec::new();
            for (position, entry) in of.entries.iter().enumerate() {
                if changed.get(entry.path.as_str()).is_some_and(|path| path.before)
                    && let Some(facts) = packs.facts(entry)?
                {
                    files.push(SnapshotFile::new(position, &entry.path, facts));
                }
            }
            Ok(files)
        })
        .await?;
        Ok(Before { manifest, files })
    }

    async fn repository_name(&self, repository: RepositoryId) -> Result<String, StageError> {
        let known = self.catalogue.repositories(&own_scope(&self.tenant, repository)).await?;
        Ok(known.first().map_or_else(|| repository.to_string(), |record| record.name.to_string()))
    }

    /// The packages that the repository declares, from the texts of its package manifests.
    async fn packages(&self, manifest: &Manifest) -> Result<Vec<PackageManifest>, StageError> {
        let may_declare = |name: &str| {
            matches!(
                name,
                "package.json"
                    | "go.mod"
                    | "Cargo.toml"
                    | "pom.xml"
                    | "build.gradle"
                    | "build.gradle.kts"
                    | "pyproject.toml"
                    | "setup.py"
                    | "setup.cfg"
                    | "requirements.txt"
                    | "composer.json"
            )
        };
        let entries: Vec<_> = manifest.entries.iter().filter(|entry| may_declare(entry.path.file_name())).collect();
        let mut packs = OpenPacks::default();
        packs.open(&self.artifacts, entries.iter().copied(), true).await?;
        let mut packages = Vec::new();
        for entry in entries.into_iter().filter(|entry| entry.outcome.is_indexed()) {
            if let Some(source) = packs.text(entry)? {
                packages.extend(parse_package_manifest(&entry.path, &source.text));
            }
        }
        Ok(packages)
    }

    /// What is stored was made by other tools: all of it ends.
    async fn retire_everything(&self, job: &Job, staged: &mut StagedGraph) -> Result<(), StageError> {
        let (view, scope) = (self.catalogue.view().await?, own_scope(&self.tenant, job.run.repository));
        let mut from = Some(0);
        while let Some(at) = from {
            let page = self.graph.scroll_nodes(&view, &scope, job.run.repository, at).await?;
            let own = page.items.iter().filter(|node| node.kind != cairn_domain::NodeKind::Pattern);
            staged.retired_nodes.extend(own.map(|node| node.key));
            from = page.next;
        }
        let mut from = Some(0);
        while let Some(at) = from {
            let page = self.graph.scroll_edges(&view, &scope, job.run.repository, None, at).await?;
            let own = page.items.iter().filter(|edge| edge.kind != cairn_domain::EdgeKind::Follows);
            staged.retired_edges.extend(own.map(|edge| edge.key));
            from = page.next;
        }
        Ok(())
    }
}

fn staged_names(now: &SnapshotFacts, changed: &FxHashMap<String, ChangedPath>) -> StagedNames {
    let mut replaced: Vec<_> = changed.values().filter(|path| path.before).map(|path| path.path.clone()).collect();
    replaced.sort();
    let mut staged = StagedNames { replaced, ..StagedNames::default() };
    for file in now.files.iter().filter(|file| changed.contains_key(now.path(file).as_str())) {
        let place = Place { repository: now.repository, entry: now.entry(file) };
        staged.files.push(now.path(file).clone());
        staged.symbols.extend(symbol_names(place, &file.facts));
    }
    staged
}

fn link(now: &SnapshotFacts, before: &Before, inputs: &Inputs) -> Linked {
    let repository = now.repository;
    let files: Vec<LinkFile<'_>> = now.files.iter().map(|file| link_input(&now.manifest, file)).collect();
    let contributions = in_parallel(&files, inputs.num_threads, |file| contribute(repository, file));
    let environment = Environment::build(repository, &contributions, &inputs.packages);
    let links = in_parallel(&files, inputs.num_threads, |file| link_file(&environment, file));
    let old_files: Vec<LinkFile<'_>> = before.files.iter().map(|file| link_input(&before.manifest, file)).collect();
    let old_contributions: Vec<Contribution> = old_files.iter().map(|file| contribute(repository, file)).collect();
    let is_changed = |file: &LinkFile<'_>| inputs.changed.contains_key(file.path.as_str());

    // What the environment answers differently, and who asked for it.
    let mut keys = changed_package_keys(&inputs.packages_before, &inputs.packages);
    let of_path: FxHashMap<&str, &Contribution> =
        old_contributions.iter().map(|contribution| (contribution.path.as_str(), contribution)).collect();
    for (file, contribution) in files.iter().zip(&contributions).filter(|(file, _)| is_changed(file)) {
        keys.extend(changed_keys(of_path.get(file.path.as_str()).copied(), Some(contribution)));
    }
    let now_paths: FxHashSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    for contribution in old_contributions.iter().filter(|old| !now_paths.contains(old.path.as_str())) {
        keys.extend(changed_keys(Some(contribution), None));
    }
    let is_first = before.manifest.entries.is_empty();
    let is_affected = |links: &FileLinks| !is_first && affected(&links.asked, &keys);

    // The old meaning of the same files, under the old environment.
    let unchanged = files.iter().zip(&contributions).filter(|(file, _)| !is_changed(file)).map(|(_, own)| own);
    let mut old_links = Vec::new();
    if !is_first {
        let environment =
            Environment::build(repository, old_contributions.iter().chain(unchanged), &inputs.packages_before);
        old_links.extend(old_files.iter().map(|file| link_file(&environment, file)));
        let same_file = files.iter().zip(&links).filter(|(file, links)| !is_changed(file) && is_affected(links));
        old_links.extend(same_file.map(|(file, _)| link_file(&environment, file)));
    }

    let settings_before = RepositorySettings::parse(&before.manifest.settings).unwrap_or_default();
    let (modules, modules_before) = (modules(&inputs.settings), modules(&settings_before));
    let whole = files.iter().zip(&links);
    let (mut nodes, mut edges) = repository_graph(repository, &inputs.name, &modules, &inputs.packages, whole);
    let mut report = PartReport::default();
    let mut counts = LinkCounts::default();
    for (file, links) in files.iter().zip(&links) {
        counts.add(links);
        report.symbols += file.facts.symbols.len() as u64;
        report.chunks += file.facts.chunks.len() as u64;
        if is_first || is_changed(file) {
            nodes.extend(file_nodes(repository, file));
        }
        if is_first || is_changed(file) || is_affected(links) {
            edges.extend(links.edges.iter().cloned());
        }
    }
    let summary = LinkSummary { files: links.iter().filter_map(unresolved).collect() };
    let (mut old_nodes, mut old_edges) = (Vec::new(), Vec::new());
    if !is_first {
        let of_path: FxHashMap<&str, &FileLinks> = old_links.iter().map(|links| (links.path.as_str(), links)).collect();
        let still = files.iter().zip(&links).filter(|(file, _)| !is_changed(file));
        let still = still.map(|(file, links)| (file, of_path.get(file.path.as_str()).copied().unwrap_or(links)));
        let gone = old_files.iter().filter_map(|file| Some((file, *of_path.get(file.path.as_str())?)));
        let mut whole: Vec<_> = still.chain(gone).collect();
        whole.sort_by(|left, right| left.0.path.cmp(right.0.path));
        (old_nodes, old_edges) =
            repository_graph(repository, &inputs.name, &modules_before, &inputs.packages_before, whole);
        old_files.iter().for_each(|file| old_nodes.extend(file_nodes(repository, file)));
        old_edges.extend(old_links.into_iter().flat_map(|links| links.edges));
    }
    finish(&counts, report, summary, (nodes, edges), &(old_nodes, old_edges))
}

type Records = (Vec<NodeRecord>, Vec<EdgeRecord>);

fn unresolved(links: &FileLinks) -> Option<FileUnresolved> {
    let site = |reference: &cairn_linking::UnresolvedReference| UnresolvedSite {
        name: reference.name.clone(),
        receiver: reference.receiver.clone(),
        line: reference.line,
        reason: reference.reason,
    };
    let sites: Vec<UnresolvedSite> = links.unresolved.iter().map(site).collect();
    (!sites.is_empty()).then(|| FileUnresolved { path: links.path.clone(), sites })
}

fn finish(counts: &LinkCounts, mut report: PartReport, summary: LinkSummary, now: Records, before: &Records) -> Linked {
    report.edges = counts.edges.values().sum();
    report.edges_by_resolution =
        counts.edges.iter().map(|(class, count)| (class.as_str().to_owned(), *count)).collect();
    report.unresolved = counts.unresolved.iter().map(|(reason, count)| (reason.as_str().to_owned(), *count)).collect();
    let (nodes, edges) = now;
    let nodes: Difference<NodeRecord> = difference(&before.0, nodes, |node| (node.key.0, node.digest()));
    let edges: Difference<EdgeRecord> = difference(&before.1, edges, |edge| (edge.key.0, edge.digest()));
    let difference = StagedGraph {
        nodes: nodes.begun,
        edges: edges.begun,
        retired_nodes: nodes.ended.into_iter().map(cairn_domain::NodeKey).collect(),
        retired_edges: edges.ended.into_iter().map(cairn_domain::EdgeKey).collect(),
        ..StagedGraph::default()
    };
    Linked { difference, summary, report }
}

fn modules(settings: &RepositorySettings) -> Vec<ModuleInfo> {
    let info = |module: &cairn_config::ModuleSettings| ModuleInfo {
        name: module.path.as_str().to_owned(),
        description: module.description.clone(),
    };
    settings.modules.iter().map(info).collect()
}

fn link_input<'a>(manifest: &'a Manifest, file: &'a SnapshotFile) -> LinkFile<'a> {
    let entry = &manifest.entries[file.position];
    let facts: &FileFacts = &file.facts;
    LinkFile {
        path: &entry.path,
        module_path: &file.module_path,
        is_test: file.is_test,
        module: entry.module.as_deref(),
        facts,
    }
}

/// Applies a function to every item on several threads; the results keep the order.
fn in_parallel<T: Sync, R: Send>(items: &[T], num_threads: usize, apply: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let size = items.len().div_ceil(num_threads.max(1) * 8).max(1);
    let next = std::sync::atomic::AtomicUsize::new(0);
    let pieces: Vec<&[T]> = items.chunks(size).collect();
    let mut done: Vec<(usize, Vec<R>)> = std::thread::scope(|scope| {
        let work = || {
            let mut done = Vec::new();
            loop {
                let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let Some(piece) = pieces.get(number) else { return done };
                done.push((number, piece.iter().map(&apply).collect()));
            }
        };
        let threads: Vec<_> = (0..num_threads.max(1)).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().flat_map(|(_, results)| results).collect()
}
