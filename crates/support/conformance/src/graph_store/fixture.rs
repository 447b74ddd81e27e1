//! A small graph for the checks: nodes with names, edges between the nodes, and patterns.

use anyhow::Result;
use cairn_domain::{
    Digester, EdgeKey, EdgeKind, EdgeRecord, GenerationId, LineSpan, NodeKey, NodeKind, NodeRecord, PatternKey,
    PatternMember, PatternRecord, RepoPath, RepositoryId, Resolution, Scope, StageName, SymbolKind, View, Visibility,
};
use cairn_ports::{Direction, GraphStore, Page, StagedGraph};

use crate::Case;
use crate::case::part;

/// The data of one check, and the store under test.
pub(super) struct Graph<'a> {
    pub(super) store: &'a dyn GraphStore,
    pub(super) case: Case,
}

/// All records that a view shows for one repository, as sorted texts.
pub(super) type Visible = Vec<String>;

impl<'a> Graph<'a> {
    pub(super) fn new(store: &'a dyn GraphStore, check: &str) -> Self {
        Self { store, case: Case::new(check) }
    }

    /// A function of repository `r`. If the name contains a colon, the text before the colon is the
    /// repository.
    pub(super) fn node(&self, name: &str) -> NodeRecord {
        let (repository, name) = name.split_once(':').unwrap_or(("r", name));
        let repository = self.case.repository(repository);
        let path = RepoPath::parse(&format!("src/{name}.py")).expect("a path");
        NodeRecord {
            key: NodeKey::symbol(repository, &path, name, SymbolKind::Function, 0),
            repository,
            kind: NodeKind::Symbol,
            name: name.to_owned(),
            qualified_name: name.to_owned(),
            path: Some(path),
            span: Some(LineSpan::new(1, 9)),
            symbol_kind: Some(SymbolKind::Function),
            signature: format!("def {name}()"),
            doc: None,
            visibility: Some(Visibility::Public),
            exported: true,
            is_test: false,
            language: Some("python".to_owned()),
            module_path: "src".to_owned(),
            decorators: Vec::new(),
        }
    }

    pub(super) fn nodes(&self, names: &[&str]) -> Vec<NodeRecord> {
        names.iter().map(|name| self.node(name)).collect()
    }

    pub(super) fn edge(&self, source: &str, kind: EdgeKind, target: &str, ordinal: u32) -> EdgeRecord {
        let owner = self.node(source).repository;
        let (source, target) = (self.node(source).key, self.node(target).key);
        EdgeRecord {
            key: EdgeKey::derive(owner, source, kind, target, ordinal),
            owner,
            kind,
            source,
            target,
            line: 2 + ordinal,
            resolution: Resolution::Exact,
            confidence_percent: 100,
        }
    }

    pub(super) fn call(&self, source: &str, target: &str) -> EdgeRecord {
        self.edge(source, EdgeKind::Calls, target, 0)
    }

    pub(super) fn pattern(&self, name: &str, num_members: usize) -> PatternRecord {
        let (repository, name) = name.split_once(':').unwrap_or(("r", name));
        let repository = self.case.repository(repository);
        let member = |number: usize| PatternMember {
            node: NodeKey(Digester::new("member").number(number as u64).key()),
            path: RepoPath::parse(&format!("src/{number}.py")).expect("a path"),
            name: format!("{name}{number}"),
            span: LineSpan::new(1, 20),
            extra_methods: vec!["extra".to_owned()],
            missing_methods: Vec::new(),
        };
        PatternRecord {
            key: PatternKey(Digester::new("pattern").key_of(repository.0).text(name).key()),
            repository,
            name: name.to_owned(),
            description: format!("how {name} looks"),
            shared_methods: vec!["close".to_owned(), "open".to_owned()],
            shared_bases: vec!["Base".to_owned()],
            shared_decorators: Vec::new(),
            canonical: 0,
            members: (0..num_members).map(member).collect(),
            module_path: "src".to_owned(),
            language: "python".to_owned(),
        }
    }

    /// Stages records of repository `r`, as part 0 of the stage `link`.
    pub(super) async fn stage(&self, generation: u64, staged: StagedGraph) -> Result<()> {
        self.stage_in("r", generation, staged).await
    }

    pub(super) async fn stage_in(&self, repository: &str, generation: u64, staged: StagedGraph) -> Result<()> {
        let run = self.case.run(repository, generation);
        Ok(self.store.stage(&self.case.staging(run, part(StageName::Link, 0)), staged).await?)
    }

    /// Stages generation 1: the nodes `a`, `b`, `c`, the calls `a → b` and `c → b`, and a pattern.
    pub(super) async fn stage_basics(&self) -> Result<()> {
        let nodes = self.nodes(&["a", "b", "c"]);
        let edges = vec![self.call("a", "b"), self.call("c", "b")];
        let patterns = vec![self.pattern("Importer", 5)];
        self.stage(1, StagedGraph { nodes, edges, patterns, ..StagedGraph::default() }).await
    }

    /// Retires the node `a`, the call from `a`, and the pattern.
    pub(super) fn retire_basics(&self) -> StagedGraph {
        StagedGraph {
            retired_nodes: vec![self.node("a").key],
            retired_edges: vec![self.call("a", "b").key],
            retired_patterns: vec![self.pattern("Importer", 5).key],
            ..StagedGraph::default()
        }
    }

    pub(super) fn r(&self) -> RepositoryId {
        self.case.repository("r")
    }

    /// All records that the view shows for repository `r`. The records are read with every method of the
    /// port, and the results of all methods must agree.
    pub(super) async fn visible(&self, view: &View) -> Result<Visible> {
        self.visible_in(view, &self.case.scope(), self.r()).await
    }

    pub(super) async fn visible_in(&self, view: &View, scope: &Scope, repository: RepositoryId) -> Result<Visible> {
        let nodes = scroll(async |from| Ok(self.store.scroll_nodes(view, scope, repository, from).await?)).await?;
        let edges =
            scroll(async |from| Ok(self.store.scroll_edges(view, scope, repository, None, from).await?)).await?;
        let mut visible: Visible = nodes.iter().map(|node| format!("node {} {}", node.name, node.signature)).collect();
        for edge in &edges {
            let ends = self.store.nodes(view, scope, &[edge.source, edge.target]).await?;
            let names: Vec<&str> = ends.iter().map(|node| node.name.as_str()).collect();
            visible.push(format!("edge {:?} {} line {}", edge.kind, names.join(" to "), edge.line));
        }
        self.compare_neighbours(view, scope, &nodes, &edges).await?;
        let patterns = self.store.patterns(view, scope).await?;
        let own = patterns.iter().filter(|pattern| pattern.repository == repository);
        visible.extend(own.map(|pattern| format!("pattern {} {}", pattern.name, pattern.description)));
        visible.sort();
        Ok(visible)
    }

    async fn compare_neighbours(
        &self,
        view: &View,
        scope: &Scope,
        nodes: &[NodeRecord],
        edges: &[EdgeRecord],
    ) -> Result<()> {
        for node in nodes.iter().take(5) {
            for direction in [Direction::Out, Direction::In] {
                let near = |edge: &&EdgeRecord| match direction {
                    Direction::Out => edge.source == node.key,
                    Direction::In => edge.target == node.key,
                };
                let (found, total) = self.store.neighbours(view, scope, node.key, direction, &[], 1000).await?;
                anyhow::ensure!(
                    total == found.len() as u64,
                    "the store returned {} neighbours, but reported a total of {total}",
                    found.len()
                );
                let mut found: Vec<EdgeKey> = found.into_iter().map(|neighbour| neighbour.edge.key).collect();
                let mut scrolled: Vec<EdgeKey> = edges.iter().filter(near).map(|edge| edge.key).collect();
                // Scrolling returns only the edges that this repository owns, so all other edges are removed
                // before the comparison.
                found.retain(|key| scrolled.contains(key));
                found.sort();
                scrolled.sort();
                anyhow::ensure!(
                    found == scrolled,
                    "neighbours of `{}` differ from the edges of this node ({direction:?})",
                    node.name
                );
            }
        }
        Ok(())
    }
}

/// Reads all pages, and checks that each page starts after the previous page.
pub(super) async fn scroll<T>(page: impl AsyncFn(u64) -> Result<Page<T>>) -> Result<Vec<T>> {
    let mut items = Vec::new();
    let mut from = 0;
    loop {
        let page = page(from).await?;
        items.extend(page.items);
        match page.next {
            None => return Ok(items),
            Some(next) => {
                anyhow::ensure!(
                    next > from,
                    "the page at {from} is followed by a page at {next}, which does not come later"
                );
                from = next;
            }
        }
    }
}

pub(super) fn generation(number: u64) -> GenerationId {
    GenerationId(number)
}
