//! Computes the object id that git assigns to the content of a file.

use cairn_domain::BlobId;
use sha1::{Digest, Sha1};

/// The id that git assigns to a blob with these bytes.
pub fn blob_id(bytes: &[u8]) -> BlobId {
    let mut hasher = Sha1::new();
    hasher.update(format!("blob {}\0", bytes.len()));
    hasher.update(bytes);
    BlobId(hasher.finalize().into())
}

/// The id of an entry whose content is not read.
pub(crate) const NO_BLOB: BlobId = BlobId([0; 20]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_equal_those_of_git() {
        let check = |bytes: &[u8], expect: &str| assert_eq!(blob_id(bytes).to_string(), expect);
        check(b"", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        check(b"hello\n", "ce013625030ba8dba906f756967f9e9ca394464a");
    }
}
