//! The payload fields of a point, and their indexes.

use cairn_domain::GenerationId;
use qdrant_client::qdrant::payload_index_params::IndexParams;
use qdrant_client::qdrant::{
    BoolIndexParams, FieldType, IntegerIndexParams, KeywordIndexParams, PayloadIndexParams, UuidIndexParams,
};

/// Value of `gen_to` for a version that no generation has replaced or removed.
pub(crate) const OPEN: i64 = GenerationId::OPEN.0 as i64;

pub(crate) const DENSE: &str = "dense";
pub(crate) const TERMS: &str = "terms";

pub(crate) const TENANT: &str = "tenant";
pub(crate) const REPOSITORY: &str = "repository";
pub(crate) const KEY: &str = "key";
/// The first bits of the key. Scrolling orders points by this field.
pub(crate) const KEY_ORDER: &str = "key_order";
pub(crate) const GEN_FROM: &str = "gen_from";
/// The generation from which the version is no longer valid, or `OPEN`.
pub(crate) const GEN_TO: &str = "gen_to";
pub(crate) const PATH: &str = "path";
pub(crate) const BASE_NAME: &str = "base_name";
pub(crate) const EXTENSION: &str = "extension";
/// Every folder above the file.
pub(crate) const FOLDERS: &str = "folders";
pub(crate) const LANGUAGE: &str = "language";
pub(crate) const KIND: &str = "kind";
pub(crate) const START_LINE: &str = "start_line";
pub(crate) const END_LINE: &str = "end_line";
pub(crate) const SYMBOL: &str = "symbol";
pub(crate) const SYMBOL_KIND: &str = "symbol_kind";
pub(crate) const HEADING: &str = "heading";
pub(crate) const HEADER: &str = "header";
pub(crate) const TEXT: &str = "text";
pub(crate) const CONTENT_HASH: &str = "content_hash";
pub(crate) const MODULE_PATH: &str = "module_path";
/// The module path and every module above it.
pub(crate) const MODULES: &str = "modules";
pub(crate) const IS_TEST: &str = "is_test";
pub(crate) const EXPORTED: &str = "exported";
pub(crate) const DOCUMENTED: &str = "documented";
pub(crate) const HAS_SECRETS: &str = "has_secrets";
pub(crate) const WEIGHT_PERCENT: &str = "weight_percent";
pub(crate) const TAGS: &str = "tags";
pub(crate) const CHANGED_AT: &str = "changed_at";
pub(crate) const VECTOR_DIGEST: &str = "vector_digest";
/// Checksum over all data that no other digest covers.
pub(crate) const CHECKSUM: &str = "checksum";

/// The kind and purpose of an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Index {
    /// Partitions the collection: points with the same value are stored together.
    Tenant,
    Keyword,
    /// A keyword by which searches are often filtered.
    Linked,
    /// For operators who inspect the collection. No search uses this index, so it is on disk and uses no
    /// memory.
    KeywordOnDisk,
    Uuid,
    Integer,
    /// Used only for range comparisons, never to look up a value.
    Range,
    Bool,
}

pub(crate) const CHUNK_INDEXES: [(&str, Index); 19] = [
    (REPOSITORY, Index::Tenant),
    (TENANT, Index::Linked),
    (KEY, Index::Uuid),
    (KEY_ORDER, Index::Range),
    (GEN_FROM, Index::Integer),
    (GEN_TO, Index::Integer),
    (PATH, Index::Keyword),
    (BASE_NAME, Index::Keyword),
    (EXTENSION, Index::Keyword),
    (FOLDERS, Index::Keyword),
    (LANGUAGE, Index::Linked),
    (KIND, Index::Keyword),
    (MODULES, Index::Keyword),
    (IS_TEST, Index::Bool),
    (TAGS, Index::Keyword),
    (CHANGED_AT, Index::Range),
    (SYMBOL, Index::KeywordOnDisk),
    (CONTENT_HASH, Index::KeywordOnDisk),
    (MODULE_PATH, Index::KeywordOnDisk),
];

pub(crate) const CACHE_INDEXES: [(&str, Index); 1] = [(TENANT, Index::Tenant)];

impl Index {
    pub(crate) fn field_type(self) -> FieldType {
        match self {
            Self::Tenant | Self::Keyword | Self::Linked | Self::KeywordOnDisk => FieldType::Keyword,
            Self::Uuid => FieldType::Uuid,
            Self::Integer | Self::Range => FieldType::Integer,
            Self::Bool => FieldType::Bool,
        }
    }

    /// True if the HNSW index contains links among points with the same value. For each such index, these
    /// links need about as much memory and build time as the links among all points.
    fn has_links(self) -> bool {
        matches!(self, Self::Tenant | Self::Linked)
    }

    #[expect(deprecated, reason = "servers of 1.19 support `on_disk` but not its successor")]
    pub(crate) fn params(self) -> PayloadIndexParams {
        let enable_hnsw = Some(self.has_links());
        let params = match self {
            Self::Tenant | Self::Keyword | Self::Linked | Self::KeywordOnDisk => {
                IndexParams::KeywordIndexParams(KeywordIndexParams {
                    is_tenant: (self == Self::Tenant).then_some(true),
                    on_disk: (self == Self::KeywordOnDisk).then_some(true),
                    enable_hnsw,
                    ..KeywordIndexParams::default()
                })
            }
            Self::Uuid => IndexParams::UuidIndexParams(UuidIndexParams { enable_hnsw, ..UuidIndexParams::default() }),
            Self::Integer | Self::Range => IndexParams::IntegerIndexParams(IntegerIndexParams {
                lookup: Some(self == Self::Integer),
                range: Some(true),
                enable_hnsw,
                ..IntegerIndexParams::default()
            }),
            Self::Bool => IndexParams::BoolIndexParams(BoolIndexParams { enable_hnsw, ..BoolIndexParams::default() }),
        };
        PayloadIndexParams { index_params: Some(params) }
    }
}
