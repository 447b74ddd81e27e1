//! Converts domain values to the values that the server stores: keys as hexadecimal text, numbers as i64.

use cairn_domain::{GenerationId, Key128};
use neo4rs::{BoltMap, BoltType};

use crate::fault::Fault;

/// Value of `gen_to` for a record that is not retired.
pub(crate) const OPEN: i64 = i64::MAX;

/// Maximum number of rows per transaction. The number is limited because the server stores an open
/// transaction in memory.
pub(crate) const BATCH_ROWS: usize = 5000;

/// Converts a key to lower-case hexadecimal text. The server stores this text in half a byte per character.
pub(crate) fn key_text(key: Key128) -> String {
    key.to_string()
}

pub(crate) fn key_from(text: &str) -> Result<Key128, Fault> {
    Key128::parse(text).ok_or_else(|| Fault::damaged(format!("`{text}` is not a key")))
}

/// A number that is too large for the server becomes the server's largest number. Like `OPEN`, this number
/// means "never".
pub(crate) fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(crate) fn generation_number(generation: GenerationId) -> i64 {
    number(generation.0)
}

/// Returns the position of a record in the order of its repository: the first 63 bits of its key, which is a
/// hash.
pub(crate) fn position(key: Key128) -> i64 {
    let [a, b, c, d, e, f, g, h, ..] = key.0;
    (u64::from_be_bytes([a, b, c, d, e, f, g, h]) >> 1) as i64
}

/// Creates a row of parameters.
pub(crate) fn row<const N: usize>(fields: [(&str, BoltType); N]) -> BoltType {
    let mut map = BoltMap::with_capacity(N);
    for (name, value) in fields {
        map.put(name.into(), value);
    }
    BoltType::Map(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_keep_the_order_of_keys() {
        let key = |first: u8| Key128([first; 16]);
        assert_eq!(position(key(0)), 0);
        assert!(position(key(1)) < position(key(0x80)) && position(key(0x80)) < position(key(0xff)));
    }
}
