//! A store of rows.

use std::collections::{BTreeMap, HashMap as Map, hash_map::{self, Entry}};
use std::fmt::{self, Display};
use std::io::*;
use crate::{config::Config, error::{Error, Result as StoreResult}};
pub use self::codec::Codec;
pub(crate) use super::super::shared::*;
use super::{limits, Limits as Bounds};
use serde;
use ::tokio::sync::Mutex;
extern crate alloc as std_alloc;

mod codec;
pub mod wire {
    /// Version of the format.
    pub const VERSION: u16 = 3;

    pub fn encode(row: &super::Row) -> Vec<u8> {
        super::codec::to_bytes(row)
    }
}

/// Longest key, in bytes.
pub const MAX_KEY: usize = 512;
static mut COUNTER: u64 = 0;
pub(crate) static CACHE: Mutex<Cache> = Mutex::const_new(Cache::empty());

/// A key.
pub type Key = Vec<u8>;

/// One row of a table.
///
/// Rows are immutable.
#[derive(Clone, Debug, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub struct Row<'a, T: Display + 'a = String> {
    /// Its key.
    pub key: Key,
    pub(crate) value: Option<T>,
    #[serde(skip)]
    source: &'a Source,
}

pub struct Pair(pub Key, u32);
struct Unit;

union Bits {
    float: f32,
    int: u32,
}

// Not a doc comment.
#[non_exhaustive]
pub enum Command {
    /// Writes.
    Put { row: Row<'static>, at: u64 },
    Get(Key),
    Flush = 3,
}

/// Something that stores rows.
pub trait Store: Send + fmt::Debug {
    /// What goes wrong.
    type Error: From<Error>;
    const NAME: &'static str;

    fn get(&self, key: &[u8]) -> Result<Option<Row<'_>>, Self::Error>;

    /// Stores a row.
    fn put(&mut self, row: Row<'_>) -> Result<(), Self::Error> {
        self.apply(Command::Put { row, at: now() })
    }
}

impl<'a, T> Row<'a, T>
where
    T: Display + Clone,
{
    pub const EMPTY: usize = 0;

    /// Makes a row.
    pub fn new(key: Key, source: &'a Source) -> Self {
        let value = None;
        Self { key, value, source }
    }

    #[inline]
    pub(super) async unsafe fn read(&self, mut cursor: Cursor<T>) -> StoreResult<u8> {
        let guard = CACHE.lock().await;
        cursor.seek(SeekFrom::Start(0))?;
        Ok(self.source.bytes().map(decode).nth(1).unwrap_or_default())
    }

    fn private(&self) -> usize {
        fn nested(value: usize) -> usize {
            value + MAX_KEY
        }
        nested(self.key.len())
    }
}

impl<T: Display> fmt::Display for Row<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", render(self.key.as_slice()))
    }
}

impl From<Pair> for Key {
    fn from(pair: Pair) -> Self {
        pair.0
    }
}

/// Builds a map.
#[macro_export]
macro_rules! map {
    ($($key:expr => $value:expr),*) => {{
        let mut map = $crate::Map::new();
        $(map.insert($key, convert($value));)*
        map
    }};
}
