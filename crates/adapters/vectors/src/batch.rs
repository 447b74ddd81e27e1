//! Defines the artifact of a batch of vectors: its key and its bytes.

use bytes::Bytes;
use cairn_domain::{ContentHash, DenseVector, Digester, ModelId, Tenant, VectorKey};
use serde::{Deserialize, Serialize};

/// Kind and version of the artifact. A new layout gets a new version.
const MAGIC: [u8; 8] = *b"CAIRNVE1";

/// Folder of the artifacts of a tenant and a model.
///
/// Names of tenants and models can contain characters that a key cannot contain, so the key contains the
/// digests of these names. The number of dimensions is readable, so that an operator can find the artifacts
/// of an old model.
pub(crate) fn folder(tenant: &Tenant, model: &ModelId) -> String {
    let digest = Digester::new("vector-model").text(&model.name).key();
    format!("{}{digest}-{}/", folder_of_tenant(tenant), model.dimensions)
}

pub(crate) fn folder_of_tenant(tenant: &Tenant) -> String {
    format!("vectors/{}/", Digester::new("vector-tenant").text(tenant.as_str()).key())
}

/// An artifact's name is the hash of its bytes.
pub(crate) fn name(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// The encoded form of a batch: vectors of one model, sorted by content.
#[derive(Serialize, Deserialize)]
struct Layout {
    model: String,
    dimensions: u16,
    contents: Vec<[u8; 32]>,
    /// The concatenated vectors, in the order of the contents.
    values: Vec<i8>,
}

/// Returns the bytes of a batch. The bytes depend only on the entries, not on their order.
pub(crate) fn encode(model: &ModelId, entries: &[(&VectorKey, &DenseVector)]) -> Result<Bytes, postcard::Error> {
    let mut sorted = entries.to_vec();
    sorted.sort_by_key(|(key, _)| key.content);
    sorted.dedup_by_key(|(key, _)| key.content);
    let layout = Layout {
        model: model.name.clone(),
        dimensions: model.dimensions,
        contents: sorted.iter().map(|(key, _)| key.content.0).collect(),
        values: sorted.iter().flat_map(|(_, vector)| vector.0.iter().copied()).collect(),
    };
    let bytes = postcard::to_extend(&layout, MAGIC.to_vec())?;
    Ok(bytes.into())
}

/// Returns `None` if the bytes do not match the name, or are not a batch.
pub(crate) fn decode(expected_name: &str, bytes: &[u8]) -> Option<Vec<(VectorKey, DenseVector)>> {
    if name(bytes) != expected_name {
        return None;
    }
    let layout: Layout = postcard::from_bytes(bytes.strip_prefix(&MAGIC)?).ok()?;
    let Layout { model, dimensions, contents, values } = layout;
    let model = ModelId { name: model, dimensions };
    let length = usize::from(dimensions);
    if length == 0 || values.len() != contents.len().checked_mul(length)? {
        return None;
    }
    let key = |content: [u8; 32]| VectorKey { model: model.clone(), content: ContentHash(content) };
    let vectors = values.chunks(length).map(|values| DenseVector(values.to_vec()));
    Some(contents.into_iter().map(key).zip(vectors).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<(VectorKey, DenseVector)> {
        let model = ModelId { name: "m/1 ü".to_owned(), dimensions: 3 };
        let entry = |text: &str, value: i8| {
            let key = VectorKey { model: model.clone(), content: ContentHash::of(text) };
            (key, DenseVector(vec![value, -127, 127]))
        };
        vec![entry("a", 1), entry("b", 2), entry("c", -128)]
    }

    fn encoded(entries: &[(VectorKey, DenseVector)]) -> Bytes {
        let entries: Vec<_> = entries.iter().map(|(key, vector)| (key, vector)).collect();
        encode(&entries[0].0.model, &entries).expect("encoded")
    }

    #[test]
    fn batch_is_sorted_by_content() {
        let mut sorted = entries();
        sorted.sort_by(|left, right| left.0.cmp(&right.0));
        let mut reversed = entries();
        reversed.reverse();
        let bytes = encoded(&entries());
        assert_eq!(encoded(&reversed), bytes);
        assert_eq!(decode(&name(&bytes), &bytes), Some(sorted));
    }

    /// Future versions must read every batch that was ever written.
    #[test]
    fn layout_equals_version_1() {
        assert_eq!(name(&encoded(&entries())), "c3b4b0843656bac3492aeb30d90712ac062ce89ac8050fd660b211adc1c1dde8");
    }

    #[test]
    fn damaged_batches_are_detected() {
        let bytes = encoded(&entries());
        let expected = name(&bytes);
        for at in 0..bytes.len() {
            let mut damaged = bytes.to_vec();
            damaged[at] ^= 1;
            assert_eq!(decode(&expected, &damaged), None);
            // For any bytes, `decode` returns a batch or `None`, and never panics.
            decode(&name(&damaged), &damaged);
            decode(&name(&bytes[..at]), &bytes[..at]);
        }
    }

    #[test]
    fn tenants_and_models_have_separate_folders() {
        let folder = |tenant: &str, name: &str, dimensions| {
            folder(&Tenant::new(tenant), &ModelId { name: name.to_owned(), dimensions })
        };
        let all = [folder("a", "m", 3), folder("b", "m", 3), folder("a", "n", 3), folder("a", "m", 4)];
        for (at, one) in all.iter().enumerate() {
            assert!(one.starts_with("vectors/") && one.ends_with('/'));
            assert!(!all[..at].contains(one));
        }
    }
}
