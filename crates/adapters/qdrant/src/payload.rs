//! Converts a chunk to a payload and back without loss.

use std::collections::HashMap;

use cairn_domain::{
    ChunkKey, ChunkKind, ChunkRecord, ContentHash, Digest, Digester, GenerationId, Key128, LineSpan, Point, RepoPath,
    RepositoryId, SymbolKind, Tenant,
};
use cairn_ports::ChunkPlace;
use qdrant_client::qdrant::value::Kind;
use qdrant_client::qdrant::{PointId, Value, point_id};

use crate::error::Fault;
use crate::fields::*;
use crate::paths;

/// The fields of a chunk, without its text.
pub(crate) const RECORD: [&str; 20] = [
    REPOSITORY,
    KEY,
    PATH,
    LANGUAGE,
    KIND,
    START_LINE,
    END_LINE,
    SYMBOL,
    SYMBOL_KIND,
    HEADING,
    HEADER,
    CONTENT_HASH,
    MODULE_PATH,
    IS_TEST,
    EXPORTED,
    DOCUMENTED,
    HAS_SECRETS,
    WEIGHT_PERCENT,
    TAGS,
    CHANGED_AT,
];

/// Scrolling orders points by this number of bits of their keys. Qdrant compares the start of a page as a
/// float, which is exact up to 2^53.
const KEY_ORDER_BITS: u32 = 53;

pub(crate) fn key_order(key: ChunkKey) -> i64 {
    let half = u64::from_be_bytes(std::array::from_fn(|index| key.0.0[index]));
    (half >> (u64::BITS - KEY_ORDER_BITS)) as i64
}

pub(crate) fn of_point(tenant: &Tenant, gen_from: GenerationId, point: &Point) -> HashMap<String, Value> {
    let chunk = &point.chunk;
    let path = chunk.path.as_str();
    let mut fields: Vec<(&str, Value)> = vec![
        (TENANT, tenant.as_str().into()),
        (REPOSITORY, chunk.repository.to_string().into()),
        (KEY, uuid_text(chunk.key.0).into()),
        (KEY_ORDER, key_order(chunk.key).into()),
        (GEN_FROM, (gen_from.0 as i64).into()),
        (GEN_TO, OPEN.into()),
        (PATH, path.into()),
        (BASE_NAME, paths::base_name(path).into()),
        (FOLDERS, texts(paths::folders(path))),
        (LANGUAGE, chunk.language.as_str().into()),
        (KIND, chunk.kind.as_str().into()),
        (START_LINE, i64::from(chunk.span.start).into()),
        (END_LINE, i64::from(chunk.span.end).into()),
        (HEADER, chunk.header.as_str().into()),
        (TEXT, chunk.text.as_str().into()),
        (CONTENT_HASH, hexadecimal(&chunk.content_hash.0).into()),
        (MODULE_PATH, chunk.module_path.as_str().into()),
        (MODULES, texts(modules(&chunk.module_path))),
        (IS_TEST, chunk.is_test.into()),
        (EXPORTED, chunk.exported.into()),
        (DOCUMENTED, chunk.documented.into()),
        (HAS_SECRETS, chunk.has_secrets.into()),
        (WEIGHT_PERCENT, i64::from(chunk.weight_percent).into()),
        (TAGS, texts(chunk.tags.iter().map(String::as_str))),
        (VECTOR_DIGEST, point.vector_digest().to_string().into()),
        (CHECKSUM, checksum(chunk).to_string().into()),
    ];
    fields.extend(optional_fields(chunk));
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The fields that only some chunks have.
fn optional_fields(chunk: &ChunkRecord) -> impl Iterator<Item = (&'static str, Value)> {
    let texts = [
        (EXTENSION, paths::extension(chunk.path.as_str())),
        (SYMBOL, chunk.symbol.as_deref()),
        (SYMBOL_KIND, chunk.symbol_kind.map(SymbolKind::as_str)),
        (HEADING, chunk.heading.as_deref()),
    ];
    let texts = texts.into_iter().filter_map(|(name, text)| Some((name, text?.into())));
    texts.chain(chunk.changed_at.map(|at| (CHANGED_AT, at.into())))
}

fn texts<'a>(texts: impl Iterator<Item = &'a str>) -> Value {
    texts.map(Value::from).collect::<Vec<_>>().into()
}

/// Returns a module path and every module above it, such as `a.b.c`, `a.b` and `a`.
fn modules(module: &str) -> impl Iterator<Item = &str> {
    let parts = module.match_indices('.').map(|(end, _)| &module[..end]);
    parts.chain([module])
}

/// Returns a checksum over the record and its text, so that every change is detected.
pub(crate) fn checksum(chunk: &ChunkRecord) -> Digest {
    let digester = Digester::new("qdrant-chunk").bytes(&chunk.digest().0).text(&chunk.text);
    digester.flag(chunk.has_secrets).digest()
}

pub(crate) fn uuid_text(key: Key128) -> String {
    uuid::Uuid::from_bytes(key.0).to_string()
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        for half in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(u32::from(half), 16));
        }
        text
    })
}

/// Decodes the 32 bytes that `hexadecimal` encoded.
pub(crate) fn bytes_of(text: &str) -> Option<[u8; 32]> {
    let (first, second) = text.split_at_checked(32)?;
    let (first, second) = (Key128::parse(first)?, Key128::parse(second)?);
    let mut bytes = [0; 32];
    bytes[..16].copy_from_slice(&first.0);
    bytes[16..].copy_from_slice(&second.0);
    Some(bytes)
}

/// The id of a point as text.
pub(crate) fn id_text(id: Option<&PointId>) -> String {
    match id.and_then(|id| id.point_id_options.as_ref()) {
        Some(point_id::PointIdOptions::Uuid(uuid)) => uuid.clone(),
        Some(point_id::PointIdOptions::Num(number)) => number.to_string(),
        None => "without id".to_owned(),
    }
}

/// Reads a payload field by field. If a field is missing or has the wrong type, the error contains the id of
/// the point.
pub(crate) struct Fields {
    point: String,
    fields: HashMap<String, Value>,
}

impl Fields {
    pub(crate) fn new(point: impl Into<String>, fields: HashMap<String, Value>) -> Self {
        Self { point: point.into(), fields }
    }

    pub(crate) fn of(id: Option<&PointId>, fields: HashMap<String, Value>) -> Self {
        Self::new(id_text(id), fields)
    }

    /// Returns the id of the point.
    pub(crate) fn point(&self) -> &str {
        &self.point
    }

    pub(crate) fn damaged(&self, what: &str) -> Fault {
        Fault::damaged(&self.point, what)
    }

    fn missing(&self, field: &str) -> Fault {
        self.damaged(&format!("`{field}` is missing or has another type"))
    }

    fn kind(&self, field: &str) -> Option<&Kind> {
        self.fields.get(field)?.kind.as_ref()
    }

    fn optional_text(&self, field: &str) -> Option<&str> {
        match self.kind(field) {
            Some(Kind::StringValue(text)) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn text(&self, field: &str) -> Result<&str, Fault> {
        self.optional_text(field).ok_or_else(|| self.missing(field))
    }

    fn integer(&self, field: &str) -> Option<i64> {
        match self.kind(field) {
            Some(Kind::IntegerValue(number)) => Some(*number),
            _ => None,
        }
    }

    fn number<T: TryFrom<i64>>(&self, field: &str) -> Result<T, Fault> {
        self.integer(field).and_then(|number| T::try_from(number).ok()).ok_or_else(|| self.missing(field))
    }

    fn flag(&self, field: &str) -> Result<bool, Fault> {
        match self.kind(field) {
            Some(Kind::BoolValue(flag)) => Ok(*flag),
            _ => Err(self.missing(field)),
        }
    }

    fn list(&self, field: &str) -> &[Value] {
        match self.kind(field) {
            Some(Kind::ListValue(list)) => &list.values,
            _ => &[],
        }
    }

    fn texts(&self, field: &str) -> Vec<String> {
        self.list(field).iter().filter_map(Value::as_str).cloned().collect()
    }

    pub(crate) fn key(&self) -> Result<ChunkKey, Fault> {
        let uuid = uuid::Uuid::parse_str(self.text(KEY)?).map_err(|_| self.missing(KEY))?;
        Ok(ChunkKey(Key128(*uuid.as_bytes())))
    }

    pub(crate) fn repository(&self) -> Result<RepositoryId, Fault> {
        Key128::parse(self.text(REPOSITORY)?).map(RepositoryId).ok_or_else(|| self.missing(REPOSITORY))
    }

    pub(crate) fn line(&self) -> Result<u32, Fault> {
        self.number(START_LINE)
    }

    pub(crate) fn vector_digest(&self) -> Result<Digest, Fault> {
        bytes_of(self.text(VECTOR_DIGEST)?).map(Digest).ok_or_else(|| self.missing(VECTOR_DIGEST))
    }

    pub(crate) fn place(&self) -> Result<ChunkPlace, Fault> {
        Ok(ChunkPlace {
            repository: self.repository()?,
            path: self.path()?,
            span: LineSpan::new(self.line()?, self.number(END_LINE)?),
            key: self.key()?,
        })
    }

    fn path(&self) -> Result<RepoPath, Fault> {
        RepoPath::parse(self.text(PATH)?).map_err(|error| self.damaged(&error.to_string()))
    }

    /// Reads the chunk. The text of the chunk is empty if the text was not requested.
    pub(crate) fn chunk(&self) -> Result<ChunkRecord, Fault> {
        let symbol_kind = self
            .optional_text(SYMBOL_KIND)
            .map(|word| SymbolKind::parse(word).ok_or_else(|| self.missing(SYMBOL_KIND)));
        Ok(ChunkRecord {
            key: self.key()?,
            repository: self.repository()?,
            path: self.path()?,
            language: self.text(LANGUAGE)?.to_owned(),
            kind: ChunkKind::parse(self.text(KIND)?).ok_or_else(|| self.missing(KIND))?,
            span: LineSpan::new(self.line()?, self.number(END_LINE)?),
            symbol: self.optional_text(SYMBOL).map(str::to_owned),
            symbol_kind: symbol_kind.transpose()?,
            heading: self.optional_text(HEADING).map(str::to_owned),
            header: self.text(HEADER)?.to_owned(),
            text: self.optional_text(TEXT).unwrap_or_default().to_owned(),
            content_hash: bytes_of(self.text(CONTENT_HASH)?)
                .map(ContentHash)
                .ok_or_else(|| self.missing(CONTENT_HASH))?,
            module_path: self.text(MODULE_PATH)?.to_owned(),
            is_test: self.flag(IS_TEST)?,
            exported: self.flag(EXPORTED)?,
            documented: self.flag(DOCUMENTED)?,
            has_secrets: self.flag(HAS_SECRETS)?,
            weight_percent: self.number(WEIGHT_PERCENT)?,
            tags: self.texts(TAGS).into(),
            changed_at: self.integer(CHANGED_AT),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_prefixes_at_the_ends_of_parts() {
        let check = |module: &str, expect: &[&str]| assert_eq!(modules(module).collect::<Vec<_>>(), expect);
        check("a.b.c", &["a", "a.b", "a.b.c"]);
        check("a", &["a"]);
        check("", &[""]);
        check("a..b", &["a", "a.", "a..b"]);
    }

    #[test]
    fn bytes_are_written_and_read() {
        let bytes: [u8; 32] = std::array::from_fn(|index| (index * 9) as u8);
        assert_eq!(bytes_of(&hexadecimal(&bytes)), Some(bytes));
        assert_eq!(bytes_of("00"), None);
    }

    #[test]
    fn keys_are_ordered_by_their_first_bits() {
        let order = |first: u8| key_order(ChunkKey(Key128([first; 16])));
        assert!(order(0) < order(1) && order(127) < order(128) && order(254) < order(255));
        assert!(order(255) < 1 << 53);
    }
}
