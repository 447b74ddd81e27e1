//! Compares the graph with a model. Both get the same generations, aborts and sweeps, and both are read
//! through the same views. The names and paths are chosen so that different databases may sort them in
//! different orders.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use cairn_domain::{
    EdgeKey, EdgeKind, EdgeRecord, GenerationId, Interval, LineSpan, NodeKey, NodeRecord, RepoPath, RepositoryId,
    Resolution, Scope, SymbolKind, View,
};
use cairn_neo4j::Neo4jGraph;
use cairn_ports::{Direction, Generations, GraphStore, Neighbour, StagedGraph, Staging};

use crate::fixture::{node, repository, run, staging, tenant};
use crate::server::Namespace;

const SEEDS: [u64; 2] = [1, 20_261_122];
const NUM_STEPS: u64 = 7;
/// In UTF-16 order, U+1F980 (crab) comes before U+FFFD (replacement character); in code-point order, it comes
/// after. Paths with `/` and `.`, and names with digits, are similar cases.
const NAMES: [&str; 6] = ["z", "\u{FFFD}", "\u{1F980}", "ä", "Z", "z10"];
const PATHS: [&str; 4] = ["a/\u{1F980}.py", "a/\u{FFFD}.py", "a.py", "a/z.py"];

#[derive(Default)]
struct Model {
    nodes: Vec<(NodeRecord, Interval)>,
    edges: Vec<(EdgeRecord, Interval)>,
}

impl Model {
    fn stage(&mut self, staging: &Staging, staged: &StagedGraph) {
        let gen_from = staging.run.generation;
        let retire = |interval: &mut Interval| {
            if staging.may_retire(*interval) {
                interval.gen_to = gen_from;
            }
        };
        let (nodes, edges) = (&mut self.nodes, &mut self.edges);
        nodes.iter_mut().filter(|(node, _)| staged.retired_nodes.contains(&node.key)).for_each(|(_, at)| retire(at));
        edges.iter_mut().filter(|(edge, _)| staged.retired_edges.contains(&edge.key)).for_each(|(_, at)| retire(at));
        for record in &staged.nodes {
            if !nodes.iter().any(|(node, at)| node.key == record.key && at.gen_from == gen_from) {
                nodes.push((record.clone(), Interval::open(gen_from)));
            }
        }
        for record in &staged.edges {
            if !edges.iter().any(|(edge, at)| edge.key == record.key && at.gen_from == gen_from) {
                edges.push((record.clone(), Interval::open(gen_from)));
            }
        }
    }

    fn sweep_aborted(&mut self, aborted: GenerationId) {
        self.nodes.retain(|(_, at)| at.gen_from != aborted);
        self.edges.retain(|(_, at)| at.gen_from != aborted);
        let intervals = self.nodes.iter_mut().map(|(_, at)| at).chain(self.edges.iter_mut().map(|(_, at)| at));
        intervals.filter(|at| at.gen_to == aborted).for_each(|at| at.gen_to = GenerationId::OPEN);
    }

    fn node(&self, view: &View, scope: &Scope, key: NodeKey) -> Option<&NodeRecord> {
        let is_seen = |(node, at): &&(NodeRecord, Interval)| {
            node.key == key
                && view.sees(*at)
                && scope.contains(node.repository)
                && view.sees_repository(node.repository)
        };
        self.nodes.iter().find(is_seen).map(|(node, _)| node)
    }

    fn edges<'a>(&'a self, view: &'a View, scope: &'a Scope) -> impl Iterator<Item = &'a EdgeRecord> {
        let is_seen = |(edge, at): &&(EdgeRecord, Interval)| {
            view.sees(*at)
                && scope.contains(edge.owner)
                && view.sees_repository(edge.owner)
                && self.node(view, scope, edge.source).is_some()
                && self.node(view, scope, edge.target).is_some()
        };
        self.edges.iter().filter(is_seen).map(|(edge, _)| edge)
    }

    fn neighbours(&self, view: &View, scope: &Scope, key: NodeKey, direction: Direction) -> Vec<Neighbour> {
        let ends = |edge: &EdgeRecord| match direction {
            Direction::Out => (edge.source, edge.target),
            Direction::In => (edge.target, edge.source),
        };
        let mut found: Vec<Neighbour> = Vec::new();
        for edge in self.edges(view, scope).filter(|edge| ends(edge).0 == key) {
            let node = self.node(view, scope, ends(edge).1).expect("a visible end").clone();
            found.push(Neighbour { edge: edge.clone(), node });
        }
        found.sort_by_key(|near| {
            let path = near.node.path.as_ref().map_or(String::new(), |path| path.as_str().to_owned());
            let line = near.node.span.map_or(0, |span| span.start);
            (near.edge.kind, path, line, near.node.name.clone(), near.edge.line, near.edge.key)
        });
        found
    }
}

/// Generates random numbers from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ (mixed >> 27)) % end
    }
}

fn node_of(repository: RepositoryId, number: u64, dice: &mut Dice) -> NodeRecord {
    let (name, path) = (NAMES[number as usize % NAMES.len()], PATHS[number as usize % PATHS.len()]);
    let path = RepoPath::parse(path).expect("a path");
    let line = 1 + dice.below(3) as u32;
    NodeRecord {
        key: NodeKey::symbol(repository, &path, name, SymbolKind::Function, number as u32),
        name: name.to_owned(),
        path: (dice.below(8) > 0).then_some(path),
        span: (dice.below(8) > 0).then(|| LineSpan::new(line, line + 3)),
        signature: format!("version {}", dice.below(1000)),
        ..node(repository, 0)
    }
}

const NUM_NODES: u64 = 8;

fn staged(model: &Model, owner: RepositoryId, other: RepositoryId, dice: &mut Dice) -> StagedGraph {
    let mut staged = StagedGraph::default();
    for number in 0..NUM_NODES {
        let record = node_of(owner, number, dice);
        match dice.below(4) {
            0 => staged.retired_nodes.push(record.key),
            1 => {
                staged.retired_nodes.push(record.key);
                staged.nodes.push(record);
            }
            _ => {}
        }
    }
    for _ in 0..20 {
        let source = node_of(owner, dice.below(NUM_NODES), dice).key;
        let target = node_of(if dice.below(3) == 0 { other } else { owner }, dice.below(NUM_NODES), dice).key;
        let kind = [EdgeKind::Calls, EdgeKind::Contains, EdgeKind::Follows][dice.below(3) as usize];
        let resolution = Resolution::ALL[dice.below(4) as usize];
        let (key, line) = (EdgeKey::derive(owner, source, kind, target, dice.below(2) as u32), dice.below(3) as u32);
        staged.retired_edges.push(key);
        if dice.below(4) > 0 && !staged.edges.iter().any(|edge| edge.key == key) {
            staged.edges.push(EdgeRecord {
                key,
                owner,
                kind,
                source,
                target,
                line,
                resolution,
                confidence_percent: 1 + dice.below(100) as u8,
            });
        }
    }
    // The first generation contains every node.
    if model.nodes.is_empty() {
        staged.nodes = (0..NUM_NODES).map(|number| node_of(owner, number, dice)).collect();
    }
    staged
}

#[tokio::test(flavor = "multi_thread")]
async fn graph_equals_its_model() -> Result<()> {
    let Some(namespace) = Namespace::open().await? else { return Ok(()) };
    for seed in SEEDS {
        let graph = Neo4jGraph::new(namespace.neo4j.clone());
        let repositories = ["a", "b"].map(|name| repository(&format!("{name}{seed}")));
        let mut lives = Lives { model: Model::default(), graph, repositories, view: View::default() };
        let mut dice = Dice(seed);
        for step in 1..=NUM_STEPS {
            lives.step(step, &mut dice).await?;
            lives.compare(&mut dice).await.map_err(|error| {
                error.context(format!("the store differs from the model at step {step} of seed {seed}"))
            })?;
        }
    }
    Ok(())
}

/// The graph and its model, and the view for the queries.
struct Lives {
    model: Model,
    graph: Neo4jGraph,
    repositories: [RepositoryId; 2],
    view: View,
}

impl Lives {
    /// Adds a run that is published, or aborted and possibly swept.
    async fn step(&mut self, generation: u64, dice: &mut Dice) -> Result<()> {
        let index = (generation % 2) as usize;
        let (owner, other) = (self.repositories[index], self.repositories[1 - index]);
        let id = GenerationId(generation);
        let staging = Staging { aborted: self.view.hidden.clone(), ..staging(run(owner, generation)) };
        let staged = staged(&self.model, owner, other, dice);
        self.model.stage(&staging, &staged);
        for _ in 0..1 + dice.below(2) {
            self.graph.stage(&staging, staged.clone()).await?;
        }
        if generation > 2 && dice.below(3) == 0 {
            self.view.hidden.insert(id);
            if dice.below(2) == 0 {
                ensure!(self.graph.sweep_aborted(owner, id).await? == 0);
                self.model.sweep_aborted(id);
            }
        }
        self.view.next_gen = generation + 1;
        Ok(())
    }

    async fn compare(&self, dice: &mut Dice) -> Result<()> {
        let [first, second] = self.repositories;
        let scopes = [
            Scope::all(tenant()),
            Scope::only(tenant(), [[first, second][dice.below(2) as usize]]),
            Scope::only(tenant(), [first, second]),
        ];
        let hidden = View { hidden_repositories: BTreeSet::from([first]), ..self.view.clone() };
        let earlier = View { next_gen: self.view.next_gen.saturating_sub(2).max(1), ..self.view.clone() };
        for (view, scope) in
            [(&self.view, &scopes[0]), (&self.view, &scopes[1]), (&hidden, &scopes[0]), (&earlier, &scopes[2])]
        {
            self.compare_through(view, scope, dice).await?;
        }
        Ok(())
    }

    async fn compare_through(&self, view: &View, scope: &Scope, dice: &mut Dice) -> Result<()> {
        for repository in self.repositories {
            let keys: Vec<NodeKey> = (0..NUM_NODES).map(|number| node_of(repository, number, dice).key).collect();
            let found = self.graph.nodes(view, scope, &keys).await?;
            let expected: Vec<_> = keys.iter().filter_map(|key| self.model.node(view, scope, *key)).cloned().collect();
            ensure!(found == expected, "the store returned the nodes {found:?}, expected {expected:?}");
            let mut scrolled = self.graph.scroll_edges(view, scope, repository, None, 0).await?.items;
            scrolled.sort_by_key(|edge| edge.key);
            let mut expected: Vec<_> =
                self.model.edges(view, scope).filter(|edge| edge.owner == repository).cloned().collect();
            expected.sort_by_key(|edge| edge.key);
            ensure!(scrolled == expected, "the store returned the edges {scrolled:?}, expected {expected:?}");
            let key = keys[dice.below(NUM_NODES) as usize];
            for direction in [Direction::Out, Direction::In] {
                let limit = dice.below(9) as usize;
                let (found, total) = self.graph.neighbours(view, scope, key, direction, &[], limit).await?;
                let is_visible = self.model.node(view, scope, key).is_some();
                let mut expected =
                    if is_visible { self.model.neighbours(view, scope, key, direction) } else { Vec::new() };
                ensure!(
                    total == expected.len() as u64,
                    "the store counted {total} neighbours, expected {}",
                    expected.len()
                );
                expected.truncate(limit);
                ensure!(found == expected, "the store returned the neighbours {found:?}, expected {expected:?}");
            }
        }
        Ok(())
    }
}
