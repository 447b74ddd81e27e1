//! Versions of everything that turns bytes into records. Facts keys and manifests contain them, so that the
//! output of other tools is made again, and nothing else is.

use cairn_config::Operator;
use cairn_domain::{BlobId, Digest, Digester, FactsKey, ModelId};

/// The tools of this build.
#[derive(Clone, Debug)]
pub struct Toolchain {
    pub model: ModelId,
}

/// Incremented when the same facts give other edges or patterns, or other asked keys.
const LINKING_VERSION: u64 = 9;
/// Incremented when terms or their weights change.
const TERMS_VERSION: u64 = 1;

impl Toolchain {
    /// The identity of the facts of a blob. `ignore` is the digest of the repository's `secrets.ignore` as it
    /// applies to the path.
    pub fn facts_key(&self, blob: BlobId, language: &str, ignore: Digest) -> FactsKey {
        let digester = Digester::new("facts").bytes(&blob.0).text(language);
        let digester = digester.number(cairn_redaction::RULES_VERSION.into());
        let digester = digester.text(cairn_syntax::tool_version(language));
        FactsKey(digester.bytes(&ignore.0).key())
    }

    /// The digest of all inputs of a snapshot that are not part of it: the operator's rules, the caller's
    /// settings, every version that facts and records depend on, and the release. The release is included
    /// because the rules of the inventory have no version of their own.
    pub fn inputs_digest(&self, operator: &Operator, request: &str) -> Digest {
        let Operator {
            home: _,
            sources: _,
            max_file_size,
            generated,
            sensitive_add,
            sensitive_allow,
            num_workers: _,
            ceilings: _,
        } = operator;
        Digester::new("inputs_digest")
            .text(env!("CARGO_PKG_VERSION"))
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

    /// The digest of everything that turns facts into records.
    pub fn digest(&self) -> Digest {
        Digester::new("tools")
            .text(&self.model.name)
            .number(u64::from(self.model.dimensions))
            .number(cairn_records::VERSION)
            .number(LINKING_VERSION)
            .number(cairn_linking::OUTLINE_VERSION)
            .number(TERMS_VERSION)
            .digest()
    }
}
