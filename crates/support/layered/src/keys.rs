//! Builds and parses the keys in the blob store.
//!
//! - `<folder>/<repository>/<generation>-<hash>`: a layer that a run staged.
//! - `<folder>/<repository>/merged-<hash>` or `merged-<newest generation>-<hash>`: a layer that replaces
//!   other layers.
//! - `<folder>/<repository>/settled-<generation>`: a mark. The mark means that this generation is settled (no
//!   view in use is older than the generation).
//!
//! The hash is computed from the bytes of the layer. So staging the same records again writes nothing, and
//! staging more records in the same generation adds a layer.

use cairn_domain::{GenerationId, Key128, RepositoryId};

const MERGED: &str = "merged-";
const SETTLED: &str = "settled-";

/// Prefix of the keys of a repository.
pub fn prefix(folder: &str, repository: RepositoryId) -> String {
    format!("{folder}/{repository}/")
}

pub fn staged(folder: &str, repository: RepositoryId, generation: GenerationId, bytes: &[u8]) -> String {
    format!("{}{:016x}-{}", prefix(folder, repository), generation.0, &blake3::hash(bytes).to_hex()[..16])
}

/// The key of a merged layer. If `newest` is set, the key contains this generation.
pub fn merged(folder: &str, repository: RepositoryId, newest: Option<GenerationId>, bytes: &[u8]) -> String {
    let newest = newest.map(|generation| format!("{:016x}-", generation.0)).unwrap_or_default();
    format!("{}{MERGED}{newest}{}", prefix(folder, repository), &blake3::hash(bytes).to_hex()[..32])
}

pub fn settled(folder: &str, repository: RepositoryId, generation: GenerationId) -> String {
    format!("{}{SETTLED}{:016x}", prefix(folder, repository), generation.0)
}

/// The repository whose id the key contains.
pub fn repository_of(folder: &str, key: &str) -> Option<RepositoryId> {
    let (repository, _) = key.strip_prefix(folder)?.strip_prefix('/')?.split_once('/')?;
    Key128::parse(repository).map(RepositoryId)
}

pub fn is_merged(key: &str) -> bool {
    last_part(key).starts_with(MERGED)
}

/// The generation in the key of a staged layer. `None` for the key of a merged layer.
pub fn generation_of(key: &str) -> Option<GenerationId> {
    let (generation, _) = last_part(key).split_once('-').filter(|(generation, _)| generation.len() == 16)?;
    u64::from_str_radix(generation, 16).ok().map(GenerationId)
}

/// The newest generation in the key of a merged layer. `None` for other keys, and for a merged layer whose
/// key has no generation.
pub fn newest_of_merged(key: &str) -> Option<GenerationId> {
    generation_of(last_part(key).strip_prefix(MERGED)?)
}

/// The generation in the key of a mark. `None` for the key of a layer.
pub fn settled_of(key: &str) -> Option<GenerationId> {
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
        let staged = staged("names", repository, GenerationId(258), b"x");
        assert_eq!((generation_of(&staged), is_merged(&staged)), (Some(GenerationId(258)), false));
        for newest in [Some(GenerationId(9)), None] {
            let merged = merged("names", repository, newest, b"x");
            assert_eq!((newest_of_merged(&staged), newest_of_merged(&merged)), (None, newest));
            assert_eq!((generation_of(&merged), is_merged(&merged)), (None, true));
            assert_eq!((settled_of(&merged), repository_of("names", &merged)), (None, Some(repository)));
        }
        assert_eq!(newest_of_merged("names/x/merged-0123456789abcdef0123456789abcdef"), None);
        let settled = settled("names", repository, GenerationId(258));
        assert_eq!(
            (settled_of(&settled), generation_of(&settled), is_merged(&settled)),
            (Some(GenerationId(258)), None, false)
        );
        assert_eq!((settled_of(&staged), repository_of("names", &settled)), (None, Some(repository)));
        assert_eq!(repository_of("names", &staged), Some(repository));
        assert_eq!((repository_of("names", "names/x"), repository_of("names", "other/x/y")), (None, None));
    }
}
