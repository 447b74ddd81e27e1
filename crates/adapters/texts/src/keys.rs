//! Builds and parses the keys in the blob store.
//!
//! - `texts/<repository>/<generation>-<hash>`: a layer that a run staged.
//! - `texts/<repository>/merged-<hash>`: a layer that replaces several others.
//! - `texts/<repository>/settled-<generation>`: a mark. It means that the layers that this generation staged
//!   may be merged.
//!
//! The hash is computed from the bytes of the layer. So staging the same records again writes nothing, and
//! staging more records in the same generation adds a layer.

use cairn_domain::{GenerationId, RepositoryId};

/// Prefix of all keys of the index.
pub(crate) const ROOT: &str = "texts/";
const MERGED: &str = "merged-";
const SETTLED: &str = "settled-";

/// Prefix of the keys of a repository.
pub(crate) fn prefix(repository: RepositoryId) -> String {
    format!("{ROOT}{repository}/")
}

pub(crate) fn staged(repository: RepositoryId, generation: GenerationId, bytes: &[u8]) -> String {
    format!("{}{:016x}-{}", prefix(repository), generation.0, &blake3::hash(bytes).to_hex()[..16])
}

pub(crate) fn merged(repository: RepositoryId, bytes: &[u8]) -> String {
    format!("{}{MERGED}{}", prefix(repository), &blake3::hash(bytes).to_hex()[..32])
}

pub(crate) fn settled(repository: RepositoryId, generation: GenerationId) -> String {
    format!("{}{SETTLED}{:016x}", prefix(repository), generation.0)
}

pub(crate) fn is_merged(key: &str) -> bool {
    last_part(key).starts_with(MERGED)
}

/// The generation of a staged layer. `None` for a merged layer.
pub(crate) fn generation_of(key: &str) -> Option<GenerationId> {
    let (generation, _) = last_part(key).split_once('-').filter(|(generation, _)| generation.len() == 16)?;
    u64::from_str_radix(generation, 16).ok().map(GenerationId)
}

/// The generation of a settled mark. `None` for a layer.
pub(crate) fn settled_of(key: &str) -> Option<GenerationId> {
    let generation = last_part(key).strip_prefix(SETTLED)?;
    u64::from_str_radix(generation, 16).ok().map(GenerationId)
}

fn last_part(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use cairn_domain::{RepositoryName, Tenant};

    use super::*;

    #[test]
    fn keys_are_parsed_by_kind() {
        let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new("a"));
        let (staged, merged) = (staged(repository, GenerationId(258), b"x"), merged(repository, b"x"));
        assert_eq!((generation_of(&staged), is_merged(&staged)), (Some(GenerationId(258)), false));
        assert_eq!((generation_of(&merged), is_merged(&merged)), (None, true));
        let settled = settled(repository, GenerationId(258));
        assert_eq!(
            (settled_of(&settled), generation_of(&settled), is_merged(&settled)),
            (Some(GenerationId(258)), None, false)
        );
        assert_eq!((settled_of(&staged), settled_of(&merged)), (None, None));
    }
}
