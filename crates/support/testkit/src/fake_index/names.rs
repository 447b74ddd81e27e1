//! The names of a fake index.

use std::collections::BTreeSet;

use async_trait::async_trait;
use cairn_domain::{ChunkKey, RepoPath, RepositoryId, RunId, Scope, SymbolEntry, Tenant, View};
use cairn_name_match::{
    LearnedAbbreviation, PathPart, PathScore, Reasons, WantedFile, WantedName, plain_name, score_name,
};
use cairn_ports::{
    ErrorKind, FileHit, FileMatch, NameMatch, NameTier, Names, NamesError, Page, ResolvedSymbol, StagedNames,
    SymbolHit, SymbolNode,
};
use cairn_ranking::{MIN_FUZZY_PERCENT, fold_style, similarity_percent};
use globset::GlobBuilder;

use super::FakeIndex;

/// The score of a symbol for a name and one kind of match, in percent.
fn score(way: NameMatch, asked: &str, symbol: &SymbolEntry) -> Option<u32> {
    let (name, qualified) = (symbol.name.as_str(), symbol.qualified_name.as_str());
    let is = |fold: &dyn Fn(&str) -> String| {
        let (asked, qualified) = (fold(asked), fold(qualified));
        fold(name) == asked || qualified == asked || qualified.ends_with(&format!(".{asked}"))
    };
    let matches = match way {
        NameMatch::Exact => is(&str::to_owned),
        NameMatch::CaseInsensitive => is(&str::to_lowercase),
        NameMatch::StyleInsensitive => is(&|name| fold_style(&name.replace(' ', ""))),
        NameMatch::Prefix => name.to_lowercase().starts_with(&asked.to_lowercase()),
        NameMatch::Contains => name.to_lowercase().contains(&asked.to_lowercase()),
        NameMatch::Fuzzy => return similarity_percent(asked, name).filter(|score| *score >= MIN_FUZZY_PERCENT),
    };
    matches.then_some(match way {
        NameMatch::Exact => 100,
        NameMatch::CaseInsensitive => 95,
        NameMatch::StyleInsensitive => 90,
        NameMatch::Prefix => 80,
        NameMatch::Contains | NameMatch::Fuzzy => 60,
    })
}

/// The score of a file or directory.
fn file_score(asked: &str, path: &str, matching: FileMatch) -> Option<PathScore> {
    let exact = PathScore { score: 100, rank: 0 };
    let (part, similar) = match matching {
        FileMatch::Path => return (path == asked).then_some(exact),
        FileMatch::Name => (PathPart::Whole, false),
        FileMatch::Similar => (PathPart::Whole, true),
        FileMatch::BaseName { similar } => (PathPart::BaseName, similar),
        FileMatch::Directory { similar } => (PathPart::Whole, similar),
        FileMatch::Glob | FileMatch::DirectoryGlob => {
            let glob = GlobBuilder::new(asked).literal_separator(true).case_insensitive(true).build().ok()?;
            let glob = glob.compile_matcher();
            let compared = if asked.contains('/') { path } else { path.rsplit('/').next().unwrap_or(path) };
            return glob.is_match(compared).then_some(PathScore { score: 100, rank: 0 });
        }
    };
    WantedFile::new(asked, part, similar).score(path, &path.to_lowercase())
}

fn directories_above(file: &RepoPath) -> Vec<RepoPath> {
    let ends = file.as_str().match_indices('/');
    ends.filter_map(|(end, _)| RepoPath::parse(&file.as_str()[..end]).ok()).collect()
}

#[async_trait]
impl Names for FakeIndex {
    async fn stage(&self, _: &Tenant, run: RunId, _: StagedNames) -> Result<(), NamesError> {
        Err(NamesError::new(ErrorKind::Forbidden, "stage", run.to_string()))
    }

    async fn symbols(
        &self,
        _view: &View,
        scope: &Scope,
        name: &str,
        ways: &[NameMatch],
        limit: usize,
    ) -> Result<Vec<SymbolHit>, NamesError> {
        let (written, name) = (name.trim(), &plain_name(name));
        let mut found = Vec::new();
        for repository in self.within(scope) {
            for symbol in &repository.symbols {
                // A name may contain a separator itself: `log::info` in Bash.
                let asked = if symbol.name == written { written } else { name };
                let by_way = ways.iter().filter_map(|way| Some((score(*way, asked, symbol)?, *way)));
                let best = by_way.reduce(|best, next| if next.0 > best.0 { next } else { best });
                found.extend(best.map(|(score, matched)| SymbolHit {
                    repository: repository.record.id,
                    symbol: symbol.clone(),
                    matched,
                    score,
                }));
            }
        }
        found.sort_by(|left, right| {
            let place = |hit: &SymbolHit| (hit.repository, hit.symbol.path.clone(), hit.symbol.line);
            right.score.cmp(&left.score).then_with(|| place(left).cmp(&place(right)))
        });
        found.truncate(limit);
        Ok(found)
    }

    async fn resolve(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
        learned: &[LearnedAbbreviation],
        limit: usize,
    ) -> Result<Vec<ResolvedSymbol>, NamesError> {
        let tiers = [
            (NameMatch::Exact, NameTier::Exact),
            (NameMatch::CaseInsensitive, NameTier::Case),
            (NameMatch::StyleInsensitive, NameTier::Style),
        ];
        for (way, tier) in tiers {
            let hits = self.symbols(view, scope, name, &[way], usize::MAX).await?;
            if !hits.is_empty() {
                let resolved = |SymbolHit { repository, symbol, score, .. }: SymbolHit| {
                    let (score, rank, reasons) = (score * 10, score, Reasons::NONE);
                    ResolvedSymbol { repository, symbol, tier, score, rank, reasons }
                };
                return Ok(hits.into_iter().map(resolved).collect());
            }
        }
        let wanted = WantedName::new(name).with_abbreviations(learned);
        let mut found = Vec::new();
        for repository in self.within(scope) {
            for symbol in &repository.symbols {
                found.extend(score_name(&wanted, &symbol.name).map(|near| ResolvedSymbol {
                    repository: repository.record.id,
                    symbol: symbol.clone(),
                    tier: NameTier::Near,
                    score: near.score,
                    rank: near.rank,
                    reasons: near.reasons,
                }));
            }
        }
        found
            .sort_by_key(|hit| (std::cmp::Reverse(hit.rank), hit.repository, hit.symbol.path.clone(), hit.symbol.line));
        found.truncate(limit);
        Ok(found)
    }

    async fn symbols_of(
        &self,
        _view: &View,
        scope: &Scope,
        nodes: &[SymbolNode],
    ) -> Result<Vec<SymbolEntry>, NamesError> {
        let symbols = || self.within(scope).flat_map(|repository| &repository.symbols);
        let own = |node: &SymbolNode| symbols().find(|symbol| symbol.node == node.node).cloned();
        Ok(nodes.iter().filter_map(own).collect())
    }

    async fn symbols_in(
        &self,
        _view: &View,
        scope: &Scope,
        chunks: &[(RepositoryId, ChunkKey)],
    ) -> Result<Vec<SymbolEntry>, NamesError> {
        let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
        for (repository, chunk) in chunks.iter().filter(|id| seen.insert(**id)) {
            let known = self.within(scope).filter(|known| known.record.id == *repository);
            let symbols = known.flat_map(|known| &known.symbols).filter(|symbol| symbol.chunk == Some(*chunk));
            let mut symbols: Vec<SymbolEntry> = symbols.cloned().collect();
            symbols.sort_by_key(|symbol| (symbol.line, symbol.node));
            found.extend(symbols);
        }
        Ok(found)
    }

    async fn files(
        &self,
        _view: &View,
        scope: &Scope,
        name: &str,
        matching: FileMatch,
        limit: usize,
    ) -> Result<Vec<FileHit>, NamesError> {
        let mut found = Vec::new();
        for repository in self.within(scope) {
            let directories: BTreeSet<RepoPath> = repository.files.iter().flat_map(directories_above).collect();
            let files: Vec<&RepoPath> = match matching {
                FileMatch::Directory { .. } | FileMatch::DirectoryGlob => directories.iter().collect(),
                _ => repository.files.iter().collect(),
            };
            for path in files {
                let repository = repository.record.id;
                let score = file_score(name, path.as_str(), matching);
                found.extend(score.map(|PathScore { score, rank }| FileHit {
                    repository,
                    path: path.clone(),
                    score,
                    rank,
                }));
            }
        }
        found.sort_by(|left, right| {
            right
                .score
                .cmp(&left.score)
                .then_with(|| right.rank.cmp(&left.rank))
                .then_with(|| (left.repository, &left.path).cmp(&(right.repository, &right.path)))
        });
        found.truncate(limit);
        Ok(found)
    }

    async fn scroll(
        &self,
        _view: &View,
        scope: &Scope,
        repository: RepositoryId,
        _from: u64,
    ) -> Result<Page<SymbolEntry>, NamesError> {
        let asked = self.within(scope).filter(|known| known.record.id == repository);
        Ok(Page { items: asked.flat_map(|known| known.symbols.clone()).collect(), next: None })
    }
}
