//! The chunk that makes a pattern searchable.

use std::sync::Arc;

use cairn_domain::{ChunkKey, ChunkKind, ChunkRecord, ContentHash, PatternRecord};
use cairn_patterns::{is_of_tests, pattern_chunk_text};

/// The weight of patterns is higher than the normal weight of 100, because a pattern shows how code in the
/// repository is usually structured.
const WEIGHT_PERCENT: u16 = 120;

/// Returns the chunk of a pattern. The chunk has the path and the span of the pattern's canonical member.
pub(crate) fn pattern_chunk(pattern: &PatternRecord) -> Option<ChunkRecord> {
    let canonical = pattern.members.get(pattern.canonical as usize)?;
    let text = pattern_chunk_text(pattern);
    let content_hash = ContentHash::of(&text);
    Some(ChunkRecord {
        // The key depends on the key of the pattern, so that two patterns with equal text have different
        // chunks.
        key: ChunkKey(cairn_domain::Digester::new("pattern-chunk").key_of(pattern.key.0).bytes(&content_hash.0).key()),
        repository: pattern.repository,
        path: canonical.path.clone(),
        language: pattern.language.clone(),
        kind: ChunkKind::Pattern,
        span: canonical.span,
        symbol: Some(pattern.name.clone()),
        symbol_kind: None,
        heading: None,
        header: format!("pattern {}\n{}", pattern.name, pattern.description),
        text,
        content_hash,
        module_path: pattern.module_path.clone(),
        is_test: is_of_tests(pattern),
        exported: false,
        documented: true,
        has_secrets: false,
        weight_percent: WEIGHT_PERCENT,
        tags: Arc::default(),
        changed_at: None,
    })
}

#[cfg(test)]
pub(crate) mod fixture {
    use cairn_domain::{
        Digester, LineSpan, NodeKey, PatternKey, PatternMember, PatternRecord, RepoPath, RepositoryId, RepositoryName,
        Tenant,
    };

    /// A pattern of the repository `r`, with one member.
    pub(crate) fn pattern(name: &str) -> PatternRecord {
        let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new("r"));
        let path = RepoPath::parse("a.py").expect("a path");
        let member = PatternMember {
            node: NodeKey::file(repository, &path),
            path,
            name: name.to_owned(),
            span: LineSpan::new(1, 2),
            extra_methods: Vec::new(),
            missing_methods: Vec::new(),
        };
        PatternRecord {
            key: PatternKey(Digester::new("test").text(name).key()),
            repository,
            name: name.to_owned(),
            description: format!("what {name} does"),
            shared_methods: Vec::new(),
            shared_bases: Vec::new(),
            shared_decorators: Vec::new(),
            canonical: 0,
            members: vec![member],
            module_path: String::new(),
            language: "python".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use cairn_domain::RepoPath;

    use super::fixture::pattern;
    use super::*;

    #[test]
    fn chunk_of_a_pattern_of_tests_is_test_code() {
        let check = |path: &str, expect: bool| {
            let mut pattern = pattern("Any");
            pattern.members[0].path = RepoPath::parse(path).expect("a path");
            assert_eq!(pattern_chunk(&pattern).map(|chunk| chunk.is_test), Some(expect), "{path}");
        };
        check("app/a.py", false);
        check("tests/a.py", true);
    }
}
