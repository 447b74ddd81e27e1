//! Builds symbols for unit tests.

use cairn_domain::{LineSpan, NodeKey, RepoPath, RepositoryId, SymbolEntry, SymbolKind};

/// An exported class without documentation, in the first line of its file.
pub(crate) fn symbol_in(repository: RepositoryId, path: &str, qualified_name: &str) -> SymbolEntry {
    let path = RepoPath::parse(path).expect("a path");
    SymbolEntry {
        name: qualified_name.rsplit('.').next().unwrap_or(qualified_name).to_owned(),
        qualified_name: qualified_name.to_owned(),
        kind: SymbolKind::Class,
        node: NodeKey::symbol(repository, &path, qualified_name, SymbolKind::Class, 0),
        path,
        line: 1,
        span: LineSpan::new(1, 1),
        chunk: None,
        language: String::new(),
        module_path: String::new(),
        exported: true,
        documented: false,
        is_test: false,
    }
}
