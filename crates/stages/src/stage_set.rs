//! Builds the stages of one process. All stages use the same stores.

use std::sync::{Arc, Mutex};

use cairn_pipeline::Stage;
use cairn_ports::{
    Catalogue, CatalogueSweep, Clock, DeadLetters, FileParser, Generations, GraphStore, LedgerRead, Names, Texts,
    VectorCache, VectorStore,
};

use crate::aggregate::AggregateStage;
use crate::artifacts::Artifacts;
use crate::embed::{EmbedStage, Embedding};
use crate::embed_patterns::EmbedPatternsStage;
use crate::link::LinkStage;
use crate::parse::ParseStage;
use crate::publish::PublishStage;
use crate::record_ceilings::RecordCeilings;
use crate::retire::RetireStage;
use crate::snapshot::Snapshots;
use crate::sweep::Sweep;

/// Builds stages. Local mode builds all stages. Each service of a cluster builds only the stages that it
/// runs.
pub struct StageSet {
    pub artifacts: Arc<Artifacts>,
    pub snapshots: Arc<Snapshots>,
    pub catalogue: Arc<dyn Catalogue>,
    pub ledger: Arc<dyn LedgerRead>,
    pub graph: Arc<dyn GraphStore>,
    pub clock: Arc<dyn Clock>,
    /// Number of threads for linking one snapshot.
    pub num_threads: usize,
    pub ceilings: Arc<RecordCeilings>,
}

/// The stores that a sweep needs in addition to the stores in `StageSet`.
pub struct SweepStores {
    pub sweeping: Arc<dyn CatalogueSweep>,
    pub cache: Arc<dyn VectorCache>,
    /// Every store with generations.
    pub generations: Vec<Arc<dyn Generations>>,
    /// The store of dead letters, if one exists.
    pub letters: Option<Arc<dyn DeadLetters>>,
}

impl StageSet {
    pub fn parse(&self, parser: Arc<dyn FileParser>) -> Arc<dyn Stage> {
        Arc::new(ParseStage { artifacts: Arc::clone(&self.artifacts), parser })
    }

    /// The stages that call the model: `embed` and `embed_patterns`.
    pub fn embed(&self, embedding: Embedding) -> [Arc<dyn Stage>; 2] {
        let embedding = Arc::new(embedding);
        let embed = EmbedStage {
            artifacts: Arc::clone(&self.artifacts),
            embedding: Arc::clone(&embedding),
            ceilings: Arc::clone(&self.ceilings),
        };
        let embed_patterns = EmbedPatternsStage {
            artifacts: Arc::clone(&self.artifacts),
            snapshots: Arc::clone(&self.snapshots),
            catalogue: Arc::clone(&self.catalogue),
            ledger: Arc::clone(&self.ledger),
            graph: Arc::clone(&self.graph),
            embedding,
        };
        [Arc::new(embed), Arc::new(embed_patterns)]
    }

    pub fn retire(&self, vectors: Arc<dyn VectorStore>) -> Arc<dyn Stage> {
        Arc::new(RetireStage { artifacts: Arc::clone(&self.artifacts), vectors })
    }

    pub fn link(&self, names: Arc<dyn Names>, texts: Arc<dyn Texts>) -> Arc<dyn Stage> {
        Arc::new(LinkStage {
            artifacts: Arc::clone(&self.artifacts),
            snapshots: Arc::clone(&self.snapshots),
            catalogue: Arc::clone(&self.catalogue),
            graph: Arc::clone(&self.graph),
            names,
            texts,
            ceilings: Arc::clone(&self.ceilings),
            num_threads: self.num_threads,
        })
    }

    pub fn aggregate(&self) -> Arc<dyn Stage> {
        Arc::new(AggregateStage {
            artifacts: Arc::clone(&self.artifacts),
            snapshots: Arc::clone(&self.snapshots),
            ceilings: Arc::clone(&self.ceilings),
            catalogue: Arc::clone(&self.catalogue),
            graph: Arc::clone(&self.graph),
        })
    }

    /// `model` is the name of the embedding model. The name is stored with every published generation.
    pub fn publish(&self, model: &str) -> Arc<dyn Stage> {
        Arc::new(PublishStage {
            artifacts: Arc::clone(&self.artifacts),
            catalogue: Arc::clone(&self.catalogue),
            ledger: Arc::clone(&self.ledger),
            clock: Arc::clone(&self.clock),
            model: model.to_owned(),
            max_chunks: self.ceilings.max_chunks(),
        })
    }

    pub fn sweep(&self, stores: SweepStores, grace_ms: i64) -> Sweep {
        let SweepStores { sweeping, cache, generations, letters } = stores;
        Sweep {
            artifacts: Arc::clone(&self.artifacts),
            catalogue: Arc::clone(&self.catalogue),
            sweeping,
            graph: Arc::clone(&self.graph),
            clock: Arc::clone(&self.clock),
            cache,
            stores: generations,
            letters,
            grace_ms,
            unfinished: Mutex::default(),
        }
    }
}
