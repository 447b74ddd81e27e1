//! Measures the local store: the vector cache, and the time to stage, read and sweep the graph of about a
//! million lines of code. Run with `cargo run --release -p cairn-local-store --example store_load`.

use std::time::Instant;

use cairn_domain::{
    ContentHash, DenseVector, EdgeKey, EdgeKind, EdgeRecord, GenerationId, LineSpan, ModelId, NodeKey, NodeKind,
    NodeRecord, PartId, RepoPath, RepositoryId, RepositoryName, Resolution, RunId, Scope, StageName, SymbolKind,
    Tenant, VectorKey, View, Visibility,
};
use cairn_local_store::LocalStore;
use cairn_ports::{Direction, Generations, GraphStore, StagedGraph, Staging, VectorCache};

const NUM_FILES: u32 = 5_000;
const SYMBOLS_PER_FILE: u32 = 19;
const EDGES_PER_NODE: u32 = 4;
const NUM_VECTORS: u32 = 40_000;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::temp_dir().join(format!("cairn-store-load-{}", std::process::id()));
    let store = LocalStore::open(&directory)?;
    graph(&store).await?;
    let timer = Timer::start();
    store.compact(RepositoryId::derive(&Tenant::local(), &RepositoryName::new("load"))).await?;
    timer.report("compacted");
    let size = std::fs::metadata(directory.join("cairn.db"))?.len();
    println!("graph file: {:.1} MB", size as f64 / 1e6);
    vectors(&store).await?;
    std::fs::remove_dir_all(&directory)?;
    Ok(())
}

/// Measures and prints the wall time and the processor time of a step.
struct Timer(Instant, f64);

impl Timer {
    fn start() -> Self {
        Self(Instant::now(), cpu_seconds())
    }

    fn report(&self, step: &str) {
        println!("{step}: {:.3} s, {:.3} s of CPU", self.0.elapsed().as_secs_f64(), cpu_seconds() - self.1);
    }
}

/// User and system time of this process, in Linux's ticks of 10 ms.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    ticks.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}

async fn graph(store: &LocalStore) -> Result<(), Box<dyn std::error::Error>> {
    let tenant = Tenant::local();
    let repository = RepositoryId::derive(&tenant, &RepositoryName::new("load"));
    let (nodes, edges) = (nodes(repository), edges(repository));
    println!("{} nodes, {} edges", nodes.len(), edges.len());
    let part = PartId { stage: StageName::Link, number: 0 };
    let run = |generation| RunId { repository, generation: GenerationId(generation) };
    let staged = StagedGraph { nodes: nodes.clone(), edges: edges.clone(), ..StagedGraph::default() };
    let timer = Timer::start();
    store.stage(&Staging::new(tenant.clone(), run(1), part), staged.clone()).await?;
    timer.report("staged");
    let timer = Timer::start();
    store.stage(&Staging::new(tenant.clone(), run(1), part), staged).await?;
    timer.report("staged again");
    let view = View { next_gen: 2, ..View::default() };
    let scope = Scope::all(tenant.clone());
    let timer = Timer::start();
    for node in nodes.iter().step_by(100) {
        store.neighbours(&view, &scope, node.key, Direction::In, &[], 20).await?;
    }
    timer.report("1000 questions for neighbours");
    let timer = Timer::start();
    let (mut from, mut total) = (0, 0);
    loop {
        let page = store.scroll_edges(&view, &scope, repository, None, from).await?;
        total += page.items.len();
        match page.next {
            Some(next) => from = next,
            None => break,
        }
    }
    timer.report(&format!("scrolled {total} edges"));
    let timer = Timer::start();
    let retired_edges = edges.iter().step_by(1000).map(|edge| edge.key).collect();
    let retired_nodes = nodes.iter().step_by(5000).map(|node| node.key).collect();
    store
        .stage(
            &Staging::new(tenant.clone(), run(2), part),
            StagedGraph { retired_edges, retired_nodes, ..StagedGraph::default() },
        )
        .await?;
    timer.report("retired every thousandth edge");
    let timer = Timer::start();
    store.sweep_retired(repository, &[GenerationId(2)]).await?;
    timer.report("swept them");
    let timer = Timer::start();
    store.verify(repository).await?;
    timer.report("verified");
    Ok(())
}

fn path(file: u32) -> RepoPath {
    let text = format!("src/package_{}/module_{}/file_{file}.py", file % 40, file % 300);
    RepoPath::parse(&text).expect("a path")
}

fn node_key(repository: RepositoryId, number: u32) -> NodeKey {
    let (file, symbol) = (number / SYMBOLS_PER_FILE, number % SYMBOLS_PER_FILE);
    NodeKey::symbol(repository, &path(file), &format!("Class{file}.method_{symbol}"), SymbolKind::Method, 0)
}

fn nodes(repository: RepositoryId) -> Vec<NodeRecord> {
    let mut nodes = Vec::new();
    for number in 0..NUM_FILES * SYMBOLS_PER_FILE {
        let (file, symbol) = (number / SYMBOLS_PER_FILE, number % SYMBOLS_PER_FILE);
        nodes.push(NodeRecord {
            key: node_key(repository, number),
            repository,
            kind: NodeKind::Symbol,
            name: format!("method_{symbol}"),
            qualified_name: format!("Class{file}.method_{symbol}"),
            path: Some(path(file)),
            span: Some(LineSpan::new(symbol * 10 + 1, symbol * 10 + 9)),
            symbol_kind: Some(SymbolKind::Method),
            signature: format!(
                "def method_{symbol}(self, argument_{}: str, timeout: float = {symbol}.5) -> Result",
                file % 7
            ),
            doc: (symbol % 2 == 0)
                .then(|| format!("Returns value {number} of the thing that the class number {file} handles.")),
            visibility: Some(Visibility::Public),
            exported: true,
            is_test: false,
            language: Some("python".to_owned()),
            module_path: format!("package_{}.module_{}", file % 40, file % 300),
            decorators: Vec::new(),
        });
    }
    nodes
}

fn edges(repository: RepositoryId) -> Vec<EdgeRecord> {
    let num_nodes = NUM_FILES * SYMBOLS_PER_FILE;
    let keys: Vec<NodeKey> = (0..num_nodes).map(|number| node_key(repository, number)).collect();
    let mut edges = Vec::new();
    for source in 0..num_nodes {
        for nth in 0..EDGES_PER_NODE {
            // Half of the targets are in the same file as the source, and the other half are in random files.
            let far = (source.wrapping_mul(2_654_435_761) ^ nth.wrapping_mul(40_503)) % num_nodes;
            let near = source - source % SYMBOLS_PER_FILE + (source + nth) % SYMBOLS_PER_FILE;
            let target = if nth % 2 == 0 { near } else { far };
            let (from, to) = (keys[source as usize], keys[target as usize]);
            edges.push(EdgeRecord {
                key: EdgeKey::derive(repository, from, EdgeKind::Calls, to, 0),
                owner: repository,
                kind: EdgeKind::Calls,
                source: from,
                target: to,
                line: source % SYMBOLS_PER_FILE * 10 + nth,
                resolution: Resolution::ALL[(nth % 4) as usize],
                confidence_percent: if nth % 2 == 0 { 100 } else { 70 },
            });
        }
    }
    edges
}

async fn vectors(store: &LocalStore) -> Result<(), Box<dyn std::error::Error>> {
    let tenant = Tenant::local();
    let model = ModelId { name: "load".to_owned(), dimensions: 256 };
    let key = |number: u32| VectorKey { model: model.clone(), content: ContentHash::of(&number.to_string()) };
    let vector = |number: u32| DenseVector((0..256).map(|axis: u32| (axis.wrapping_mul(number) >> 3) as i8).collect());
    let entries: Vec<(VectorKey, DenseVector)> = (0..NUM_VECTORS).map(|number| (key(number), vector(number))).collect();
    let timer = Timer::start();
    for batch in entries.chunks(1000) {
        store.put(&tenant, batch).await?;
    }
    timer.report(&format!("put {NUM_VECTORS} vectors"));
    let keys: Vec<VectorKey> = entries.iter().map(|(key, _)| key.clone()).collect();
    let timer = Timer::start();
    let found = store.get(&tenant, &keys).await?;
    timer.report(&format!("got {} vectors", found.iter().flatten().count()));
    Ok(())
}
