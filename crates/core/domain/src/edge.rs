//! The graph. A node has an identity and versions. An edge connects the identities of two nodes.

use std::collections::HashMap;

use crate::facts::words;
use crate::{
    Digest, Digester, EdgeKey, Key128, LineSpan, NodeKey, RepoPath, RepositoryId, Symbol, SymbolKind, Visibility,
};

words! {
    NodeKind {
        Repository = "repository",
        Module = "module",
        File = "file",
        Symbol = "symbol",
        Package = "package",
        Section = "section",
        Pattern = "pattern",
    }
}

words! {
    EdgeKind {
        Contains = "CONTAINS",
        Defines = "DEFINES",
        Calls = "CALLS",
        Extends = "EXTENDS",
        Implements = "IMPLEMENTS",
        Imports = "IMPORTS",
        References = "REFERENCES",
        DependsOn = "DEPENDS_ON",
        Describes = "DESCRIBES",
        Mentions = "MENTIONS",
        EntryPoint = "ENTRY_POINT",
        Follows = "FOLLOWS",
    }
}

words! {
    /// How certain an edge is.
    Resolution {
        /// The scope or the structure of the code permits only one target.
        Exact = "exact",
        /// An import names the target.
        Import = "import",
        /// The evidence is not certain: the name is unique in the repository, or the type of the receiver is
        /// evident.
        Heuristic = "heuristic",
        /// There are several candidates. Each candidate gets one edge, and the confidence is divided among
        /// them.
        Ambiguous = "ambiguous",
    }
}

words! {
    /// The reason why a reference is unresolved. The reasons are stored and counted.
    Unresolved {
        /// The name comes from an import of a package outside the repository.
        External = "external",
        /// The name belongs to the language or its standard library.
        Builtin = "builtin",
        /// The repository contains no definition with the name.
        NoDefinition = "no_definition",
        /// The type of the receiver is not evident, and too many definitions have the name.
        UnknownReceiver = "unknown_receiver",
        /// The callee is a parameter, a local variable or an expression.
        Dynamic = "dynamic",
    }
}

/// A version of a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeRecord {
    pub key: NodeKey,
    pub repository: RepositoryId,
    pub kind: NodeKind,
    /// Short name of the symbol, file, module, package or section.
    pub name: String,
    /// Qualified name within the file for symbols; the path for files; the module path for modules.
    pub qualified_name: String,
    pub path: Option<RepoPath>,
    pub span: Option<LineSpan>,
    pub symbol_kind: Option<SymbolKind>,
    pub signature: String,
    /// First paragraph of the doc comment.
    pub doc: Option<String>,
    pub visibility: Option<Visibility>,
    pub exported: bool,
    pub is_test: bool,
    pub language: Option<String>,
    pub module_path: String,
    pub decorators: Vec<String>,
}

impl NodeRecord {
    pub fn digest(&self) -> Digest {
        Digester::new("node-record")
            .key_of(self.key.0)
            .text(self.kind.as_str())
            .text(&self.name)
            .text(&self.qualified_name)
            .option(self.path.as_ref(), |digester, path| digester.text(path.as_str()))
            .option(self.span, |digester, span| digester.number(u64::from(span.start)).number(u64::from(span.end)))
            .option(self.symbol_kind, |digester, kind| digester.text(kind.as_str()))
            .text(&self.signature)
            .option(self.doc.as_deref(), Digester::text)
            .option(self.visibility, |digester, visibility| digester.text(visibility.as_str()))
            .flag(self.exported)
            .flag(self.is_test)
            .option(self.language.as_deref(), Digester::text)
            .text(&self.module_path)
            .list(&self.decorators, |digester, decorator| digester.text(decorator))
            .digest()
    }
}

/// A version of an edge. An edge belongs to the repository that contains the reference. An edge is visible
/// only if the nodes at both ends have a visible version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EdgeRecord {
    pub key: EdgeKey,
    pub owner: RepositoryId,
    pub kind: EdgeKind,
    pub source: NodeKey,
    pub target: NodeKey,
    /// Number of the line that contains the reference in the file of the source node. Line numbers start at
    /// 1; the value is 0 if the edge has no reference in a file.
    pub line: u32,
    pub resolution: Resolution,
    /// In percent, 1 to 100.
    pub confidence_percent: u8,
}

impl EdgeRecord {
    pub fn digest(&self) -> Digest {
        Digester::new("edge-record")
            .key_of(self.key.0)
            .text(self.kind.as_str())
            .key_of(self.source.0)
            .key_of(self.target.0)
            .number(u64::from(self.line))
            .text(self.resolution.as_str())
            .number(u64::from(self.confidence_percent))
            .digest()
    }
}

impl NodeKey {
    pub fn repository(repository: RepositoryId) -> Self {
        Self(Digester::new("node-repository").key_of(repository.0).key())
    }

    pub fn file(repository: RepositoryId, path: &RepoPath) -> Self {
        Self(Digester::new("node-file").key_of(repository.0).text(path.as_str()).key())
    }

    pub fn module(repository: RepositoryId, module_path: &str) -> Self {
        Self(Digester::new("node-module").key_of(repository.0).text(module_path).key())
    }

    /// `ordinal` is the zero-based position of the symbol among the symbols of the file that have the same
    /// qualified name and kind.
    pub fn symbol(
        repository: RepositoryId,
        path: &RepoPath,
        qualified_name: &str,
        kind: SymbolKind,
        ordinal: u32,
    ) -> Self {
        let digester = Digester::new("node-symbol").key_of(repository.0).text(path.as_str());
        Self(digester.text(qualified_name).text(kind.as_str()).number(u64::from(ordinal)).key())
    }

    /// Returns the keys of all symbols of a file, in source order. Symbols with the same qualified name and
    /// kind are numbered in this order.
    pub fn symbols_of(repository: RepositoryId, path: &RepoPath, symbols: &[Symbol]) -> Vec<Self> {
        let mut ordinals: HashMap<(&str, SymbolKind), u32> = HashMap::with_capacity(symbols.len());
        let mut keys = Vec::with_capacity(symbols.len());
        for symbol in symbols {
            let ordinal = ordinals.entry((&symbol.qualified_name, symbol.kind)).or_insert(0);
            keys.push(Self::symbol(repository, path, &symbol.qualified_name, symbol.kind, *ordinal));
            *ordinal += 1;
        }
        keys
    }

    /// `ordinal` is the zero-based position of the section among the sections of the file that have the same
    /// heading path.
    pub fn section(repository: RepositoryId, path: &RepoPath, heading_path: &str, ordinal: u32) -> Self {
        let digester = Digester::new("node-section").key_of(repository.0).text(path.as_str());
        Self(digester.text(heading_path).number(u64::from(ordinal)).key())
    }

    /// The key of a package is derived from its ecosystem (`pypi`, `npm`, `go`, `cargo`, `maven` …) and the
    /// name that the repository uses for it.
    pub fn package(repository: RepositoryId, ecosystem: &str, name: &str) -> Self {
        Self(Digester::new("node-package").key_of(repository.0).text(ecosystem).text(name).key())
    }

    pub fn pattern(repository: RepositoryId, pattern: Key128) -> Self {
        Self(Digester::new("node-pattern").key_of(repository.0).key_of(pattern).key())
    }
}

impl EdgeKey {
    /// `ordinal` is the zero-based position of the edge among the edges with the same source, kind and
    /// target, in the order of their references in the file.
    pub fn derive(owner: RepositoryId, source: NodeKey, kind: EdgeKind, target: NodeKey, ordinal: u32) -> Self {
        let digester = Digester::new("edge").key_of(owner.0).key_of(source.0).text(kind.as_str());
        Self(digester.key_of(target.0).number(u64::from(ordinal)).key())
    }
}
