//! Answers questions about code, the graph and the inventory. All data is read through ports.
//!
//! The crate does not depend on a back end or a transport. Every question reads one view, and passes this
//! view and the scope of the question to every store.

mod abbreviations;
mod absent_name;
mod answer_cache;
mod bounds;
mod caller;
mod changed;
mod changed_files;
mod changed_paths;
mod changed_trees;
mod chunk_filter;
mod chunk_id;
mod code;
mod cursor;
mod default_exports;
mod documented;
mod empty_result;
mod error;
mod exact;
mod file_filter;
mod file_names;
mod file_page;
mod file_places;
mod file_targets;
mod fingerprint;
mod flow;
mod flow_ends;
mod flow_path;
mod found_files;
mod go_implementers;
mod graph;
mod graph_request;
mod group_edges;
mod heads;
mod heuristic;
mod hit_definitions;
mod inventory;
mod joined_lists;
mod known_texts;
mod leading;
mod model;
mod module_question;
mod modules;
mod named_code;
mod named_packages;
mod named_places;
mod near_words;
mod neighbours;
mod overrides;
mod path_of_name;
mod pattern_index;
mod pattern_members;
mod patterns;
mod placed_names;
mod prepared_query;
mod question_names;
mod read_file;
mod read_target;
mod related;
mod related_notes;
mod relation_target;
mod relevance;
mod repositories;
mod repository_reasons;
mod resolve;
mod retrieve;
mod runs;
mod search;
mod second_stage;
mod shown_hits;
mod sites;
mod source_packs;
mod stamps;
mod stated_filters;
mod strategy;
mod suggestions;
mod target;
mod term_sets;
mod term_tables;
#[cfg(test)]
mod test_symbols;
mod whole_name;

use std::sync::Arc;

use cairn_ports::{BlobStore, Catalogue, Clock, Embedder, GraphStore, LedgerRead, Names, Texts, VectorStore};
use cairn_question::SynonymEntry;
use cairn_ranking::{Signals, WordSimilarity};

pub use answer_cache::AnswerCache;
pub use bounds::patterns as check_patterns;
pub use caller::{Allowed, Caller};
pub use changed_files::{ChangedFile, ChangedFiles, ChangedTree, FileState};
pub use code::{Code, CodeRequest};
pub use cursor::CursorKey;
pub use empty_result::{NothingFound, RelatedModule, Restriction, WeakMatch};
pub use error::{FieldFault, NextCall, QueryError, QueryErrorCode};
pub use exact::{ExactAnswer, ExactCut, ExactFile, ExactLine, ExactRequest};
pub use file_places::FilePlaces;
pub use fingerprint::{Fingerprint, KindDigest};
pub use found_files::FoundFile;
pub use graph::{EdgeDraw, GraphAnswer, GraphEdge, SampledEdge};
pub use graph_request::{GraphRequest, Relation};
pub use heads::Heads;
pub use inventory::{Coverage, Why};
pub use known_texts::KnownTexts;
pub use leading::NamedPlace;
pub use modules::{Module, ModuleTree, ModulesRequest, UnknownModule};
pub use pattern_members::PatternMembers;
pub use patterns::PatternAnswer;
pub use question_names::NameNote;
pub use repositories::{KnownRepository, NOTHING_INDEXED, RepositorySelection, named};
pub use resolve::{MatchedName, NameMatching, SAME_NAME, Substitution};
pub use runs::KnownRun;
pub use search::{SearchAnswer, SearchRequest};
pub use shown_hits::Found;
pub use source_packs::SourcePacks;
pub use stamps::{NewerCommit, NewerState, Stamp};
pub use suggestions::{SuggestedQuery, SuggestionKind};
pub use target::{Target, TargetType};
pub use term_tables::TermTables;

/// Answers questions with the given ports.
#[derive(Clone)]
pub struct Searcher {
    /// The caller. Stores are never queried for data that the caller may not see.
    pub caller: Caller,
    pub catalogue: Arc<dyn Catalogue>,
    pub ledger: Arc<dyn LedgerRead>,
    pub blobs: Arc<dyn BlobStore>,
    pub vectors: Arc<dyn VectorStore>,
    pub graph: Arc<dyn GraphStore>,
    pub names: Arc<dyn Names>,
    pub texts: Arc<dyn Texts>,
    /// Reads the files that changed after they were indexed. `None` if no working tree can be read.
    pub changed: Option<Arc<dyn ChangedFiles>>,
    /// Reads the heads of sources. `None` if no source is on this machine.
    pub heads: Option<Arc<dyn Heads>>,
    /// The source packs that were read last. All questions share these packs.
    pub packs: Arc<SourcePacks>,
    pub embedder: Arc<dyn Embedder>,
    /// The similarity of words. This similarity does not depend on the model that embeds the chunks.
    pub similarity: Arc<dyn WordSimilarity>,
    pub clock: Arc<dyn Clock>,
    /// The key that encrypts and authenticates cursors. Without the key, the contents of a cursor cannot be
    /// read. Altered cursors and cursors of other callers are refused.
    pub cursor_key: CursorKey,
    /// The parts of the ranking that are enabled.
    pub signals: Signals,
    /// The cached term counts. All searchers of one process share these counts.
    pub term_tables: Arc<TermTables>,
    /// The hits of the most recent questions. All searchers of one process share the hits.
    pub answers: Arc<AnswerCache>,
    /// The facts about recently read texts. All searchers of one process share these facts.
    pub known_texts: Arc<KnownTexts>,
    /// The cached members of patterns. All searchers of one process share the members.
    pub pattern_members: Arc<PatternMembers>,
    /// The cached places of chunks in files. All searchers of one process share these places.
    pub file_places: Arc<FilePlaces>,
    /// Synonyms that the operator adds to the built-in synonyms.
    pub synonyms: Arc<Vec<SynonymEntry>>,
}

/// The stores that questions read.
pub struct SearchStores {
    pub catalogue: Arc<dyn Catalogue>,
    pub ledger: Arc<dyn LedgerRead>,
    pub blobs: Arc<dyn BlobStore>,
    pub vectors: Arc<dyn VectorStore>,
    pub graph: Arc<dyn GraphStore>,
    pub names: Arc<dyn Names>,
    pub texts: Arc<dyn Texts>,
}

impl Searcher {
    /// Answers the questions of `caller`. Replicas with the same cursor key accept each other's cursors.
    pub fn new(
        caller: Caller,
        stores: SearchStores,
        embedder: Arc<dyn Embedder>,
        similarity: Arc<dyn WordSimilarity>,
        clock: Arc<dyn Clock>,
        cursor_key: CursorKey,
    ) -> Self {
        let SearchStores { catalogue, ledger, blobs, vectors, graph, names, texts } = stores;
        Self {
            caller,
            catalogue,
            ledger,
            blobs,
            vectors,
            graph,
            names,
            texts,
            changed: None,
            heads: None,
            packs: Arc::default(),
            embedder,
            similarity,
            clock,
            cursor_key,
            signals: Signals::default(),
            term_tables: Arc::default(),
            answers: Arc::default(),
            known_texts: Arc::default(),
            pattern_members: Arc::default(),
            file_places: Arc::default(),
            synonyms: Arc::default(),
        }
    }

    /// The same searcher with the operator's synonyms: each entry is a word and the words that may replace
    /// it.
    #[must_use]
    pub fn with_synonyms(self, synonyms: &[(String, Vec<String>)]) -> Self {
        let entry =
            |(word, synonyms): &(String, Vec<String>)| SynonymEntry { word: word.clone(), synonyms: synonyms.clone() };
        // The cache of hits is emptied, because the cached hits were found with other synonyms.
        Self { synonyms: Arc::new(synonyms.iter().map(entry).collect()), answers: Arc::default(), ..self }
    }
}
