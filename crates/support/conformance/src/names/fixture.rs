//! The symbols and files that the checks of names use.

use anyhow::{Result, ensure};
use cairn_domain::{
    ChunkKey, ContentHash, LineSpan, NodeKey, RepoPath, RepositoryId, Scope, SymbolEntry, SymbolKind, View,
};
use cairn_ports::{FileMatch, NameMatch, Names, StagedNames, SymbolHit};

use crate::Case;

pub(super) const EXACT: &[NameMatch] = &[NameMatch::Exact];

/// The data of one check, and the store under test.
pub(super) struct Index<'a> {
    pub(super) store: &'a dyn Names,
    pub(super) case: Case,
}

impl<'a> Index<'a> {
    pub(super) fn new(store: &'a dyn Names, check: &str) -> Self {
        Self { store, case: Case::new(check) }
    }

    pub(super) fn r(&self) -> RepositoryId {
        self.case.repository("r")
    }

    /// A function of repository `r` in `src/<file>.py`. The name may be qualified.
    pub(super) fn symbol(&self, name: &str, file: &str, line: u32) -> SymbolEntry {
        self.symbol_of("r", name, file, line)
    }

    pub(super) fn symbol_of(&self, repository: &str, name: &str, file: &str, line: u32) -> SymbolEntry {
        let (id, path) = (self.case.repository(repository), path(file));
        let node = NodeKey::symbol(id, &path, name, SymbolKind::Function, line);
        let chunk = ChunkKey::derive(id, &path, ContentHash::of(name), line);
        SymbolEntry {
            name: name.rsplit('.').next().unwrap_or(name).to_owned(),
            qualified_name: name.to_owned(),
            kind: SymbolKind::Function,
            path,
            line,
            span: LineSpan::new(line, line.saturating_add(2)),
            chunk: Some(chunk),
            node,
            language: "python".to_owned(),
            module_path: format!("src.{file}"),
            exported: true,
            documented: false,
            is_test: false,
        }
    }

    pub(super) async fn stage(&self, generation: u64, staged: StagedNames) -> Result<()> {
        self.stage_in("r", generation, staged).await
    }

    pub(super) async fn stage_in(&self, repository: &str, generation: u64, staged: StagedNames) -> Result<()> {
        Ok(self.store.stage(&self.case.tenant, self.case.run(repository, generation), staged).await?)
    }

    /// Stages generation 1: `first` and `second` in the file `a`, and `third` in the file `b`.
    pub(super) async fn stage_basics(&self) -> Result<()> {
        let symbols = vec![self.symbol("first", "a", 1), self.symbol("second", "a", 2), self.symbol("third", "b", 1)];
        self.stage(1, StagedNames { replaced: Vec::new(), symbols, files: vec![path("a"), path("b")] }).await
    }

    /// Changes the file `a`: `first` moves down, `second` is removed, and `fourth` is added.
    pub(super) fn change_a(&self) -> StagedNames {
        let symbols = vec![self.symbol("first", "a", 5), self.symbol("fourth", "a", 9)];
        StagedNames { replaced: vec![path("a")], symbols, files: vec![path("a")] }
    }

    /// Removes the file `a`.
    pub(super) fn remove_a(&self) -> StagedNames {
        StagedNames { replaced: vec![path("a")], ..StagedNames::default() }
    }

    /// All symbols and files of the fixture that the view shows, as texts.
    pub(super) async fn visible(&self, view: &View) -> Result<Vec<String>> {
        self.visible_in(view, &self.case.scope()).await
    }

    pub(super) async fn visible_in(&self, view: &View, scope: &Scope) -> Result<Vec<String>> {
        let mut visible = Vec::new();
        let mut own = Vec::new();
        for name in ["first", "second", "third", "fourth"] {
            let hits = self.store.symbols(view, scope, name, EXACT, 100).await?;
            own.extend(hits.iter().filter(|hit| hit.repository == self.r()).map(|hit| hit.symbol.node));
            visible
                .extend(hits.iter().map(|hit| format!("{} {}:{}", hit.symbol.name, hit.symbol.path, hit.symbol.line)));
        }
        let mut scrolled: Vec<_> = self.scroll(view, scope).await?.into_iter().map(|symbol| symbol.node).collect();
        scrolled.sort();
        own.sort();
        ensure!(own == scrolled, "{} symbols were found by name, but {} by scrolling", own.len(), scrolled.len());
        let files = self.store.files(view, scope, "src/", FileMatch::Name, 100).await?;
        visible.extend(files.iter().map(|hit| hit.path.as_str().to_owned()));
        Ok(visible)
    }

    /// The symbols of repository `r`, from all pages.
    pub(super) async fn scroll(&self, view: &View, scope: &Scope) -> Result<Vec<SymbolEntry>> {
        let mut symbols = Vec::new();
        let mut from = 0;
        loop {
            let page = self.store.scroll(view, scope, self.r(), from).await?;
            symbols.extend(page.items);
            match page.next {
                None => return Ok(symbols),
                Some(next) => {
                    ensure!(
                        next > from,
                        "the page at {from} is followed by a page at {next}, which does not come later"
                    );
                    from = next;
                }
            }
        }
    }
}

pub(super) fn path(file: &str) -> RepoPath {
    RepoPath::parse(&format!("src/{file}.py")).expect("a path")
}

/// The sorted names of the hits.
pub(super) fn matched(hits: &[SymbolHit]) -> Vec<&str> {
    let mut names: Vec<&str> = hits.iter().map(|hit| hit.symbol.qualified_name.as_str()).collect();
    names.sort_unstable();
    names
}
