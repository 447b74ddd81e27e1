//! Parses and links fixtures that are written as source text, and prints edges as lines.

use std::collections::BTreeMap;
use std::sync::Arc;

use cairn_domain::{
    Digester, EdgeKind, EdgeRecord, FactsKey, FileFacts, Key128, NodeKey, PackageManifest, RepoPath, RepositoryId,
    RepositoryName, Tenant,
};
use cairn_linking::{
    Contribution, FilePlace, LinkFile, Linked, SnapshotFacts, contribute, link, outline, parse_package_manifest,
};
use cairn_syntax::{ParseLimits, is_test_path, language_of, module_path, parse_file};

/// A parsed file of a fixture.
#[derive(Clone)]
pub(crate) struct Parsed {
    pub(crate) path: RepoPath,
    pub(crate) module_path: String,
    pub(crate) is_test: bool,
    pub(crate) facts: FileFacts,
    pub(crate) manifest: Option<PackageManifest>,
}

impl Parsed {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let path = RepoPath::parse(path).expect("valid path");
        let language = language_of(&path, text.as_bytes()).map_or("text", |row| row.name);
        let facts_key = FactsKey(Digester::new("fixture").text(path.as_str()).text(text).key());
        let facts = parse_file(language, facts_key, text, &ParseLimits::default());
        let manifest = parse_package_manifest(&path, text);
        Self {
            module_path: module_path(language, &path),
            is_test: is_test_path(language, &path),
            path,
            facts,
            manifest,
        }
    }

    pub(crate) fn link_file(&self) -> LinkFile<'_> {
        let Self { path, module_path, is_test, facts, .. } = self;
        LinkFile { place: FilePlace { path, module_path, is_test: *is_test, module: None }, facts }
    }

    pub(crate) fn contribution(&self) -> Contribution {
        contribute(repository(), &self.link_file().place, &Arc::new(outline(&self.facts)))
    }
}

pub(crate) fn repository() -> RepositoryId {
    RepositoryId::derive(&Tenant::local(), &RepositoryName::new("fixture"))
}

pub(crate) fn parse(files: &[(&str, &str)]) -> Vec<Parsed> {
    files.iter().map(|(path, text)| Parsed::new(path, text)).collect()
}

pub(crate) fn link_parsed(files: &[Parsed]) -> Linked {
    link(&SnapshotFacts {
        repository: repository(),
        name: "fixture",
        files: files.iter().map(Parsed::link_file).collect(),
        packages: files.iter().filter_map(|file| file.manifest.clone()).collect(),
        modules: Vec::new(),
    })
}

/// Edges of the given kinds as sorted lines such as `a.py:3 caller CALLS b.py:callee exact`.
pub(crate) fn lines(linked: &Linked, kinds: &[EdgeKind]) -> Vec<String> {
    let names: BTreeMap<Key128, (String, &str)> = linked
        .nodes
        .iter()
        .map(|node| {
            let path = node.path.as_ref().map_or("", |path| path.as_str());
            let is_file = node.qualified_name == path || path.is_empty();
            let label = if is_file { node.qualified_name.clone() } else { format!("{path}:{}", node.qualified_name) };
            (node.key.0, (label, path))
        })
        .collect();
    let label = |key: NodeKey| names.get(&key.0).expect("every end of an edge is a node");
    let line = |edge: &EdgeRecord| {
        let (source, path) = label(edge.source);
        let source = source
            .strip_prefix(path)
            .filter(|rest| !rest.is_empty() && !path.is_empty())
            .map_or("-", |rest| &rest[1..]);
        let kind = edge.kind.as_str();
        format!("{path}:{} {source} {kind} {} {}", edge.line, label(edge.target).0, edge.resolution.as_str())
    };
    let mut lines: Vec<String> = linked.edges.iter().filter(|edge| kinds.contains(&edge.kind)).map(line).collect();
    lines.sort();
    lines
}
