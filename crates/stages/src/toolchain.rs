//! The versions of all code that turns bytes into records. Facts keys and manifests contain these versions.
//! Therefore, if a tool changes, only the output of this tool is computed again.

use cairn_config::Operator;
use cairn_domain::{BlobId, Digest, Digester, FactsKey, ModelId};

/// The tools of this build.
#[derive(Clone, Debug)]
pub struct Toolchain {
    pub model: ModelId,
}

/// Increase this number when a code change produces different edges, patterns or lookup keys for the same
/// facts.
const LINKING_VERSION: u64 = 14;
/// Increase this number when terms or their weights change. Version 2 added term counts to every generation,
/// version 3 added the counts of the pairs of words in names, version 4 added the counts of abbreviations,
/// and version 5 added the names of all definitions of a chunk.
const TERMS_VERSION: u64 = 5;

/// Increase this number when a code change produces different manifest entries, for example different tags,
/// for the same tree and settings.
const INVENTORY_VERSION: u64 = 2;

impl Toolchain {
    /// Returns the identity of the facts of a blob. `ignore` is the digest of the repository's
    /// `secrets.ignore`, or a fixed digest if the path is not searched for secrets.
    pub fn facts_key(&self, blob: BlobId, language: &str, ignore: Digest) -> FactsKey {
        let digester = Digester::new("facts").bytes(&blob.0).text(language);
        let digester = digester.number(cairn_redaction::RULES_VERSION.into());
        let digester = digester.text(cairn_syntax::tool_version(language));
        FactsKey(digester.bytes(&ignore.0).key())
    }

    /// Returns the digest of all inputs of indexing that are not in the snapshot: the operator's rules, the
    /// caller's settings, the release, and the versions that affect facts and records. The release is
    /// included because the rules of the inventory have no version number.
    pub fn inputs_digest(&self, operator: &Operator, request: &str) -> Digest {
        let Operator {
            home: _,
            sources: _,
            synonyms: _,
            max_file_size,
            generated,
            sensitive_add,
            sensitive_allow,
            num_workers: _,
            ceilings: _,
            first_use: _,
        } = operator;
        Digester::new("inputs_digest")
            .text(env!("CARGO_PKG_VERSION"))
            .number(INVENTORY_VERSION)
            .bytes(&self.digest().0)
            .number(cairn_redaction::RULES_VERSION.into())
            .list(cairn_syntax::languages(), |digester, row| digester.text(cairn_syntax::tool_version(row.name)))
            .text(cairn_syntax::tool_version(""))
            .option(max_file_size.as_ref(), |digester, limit| digester.number(*limit))
            .text(&format!("{generated:?}"))
            .list(sensitive_add, |digester, name| digester.text(name))
            .list(sensitive_allow, |digester, name| digester.text(name))
            .text(request)
            .digest()
    }

    /// Returns the digest of the versions of all code that turns facts into records.
    pub fn digest(&self) -> Digest {
        Digester::new("tools")
            .text(&self.model.name)
            .number(u64::from(self.model.dimensions))
            .number(cairn_records::VERSION)
            .number(LINKING_VERSION)
            .number(cairn_linking::OUTLINE_VERSION)
            .number(TERMS_VERSION)
            .number(cairn_exact::GRAMS_VERSION)
            .digest()
    }
}
