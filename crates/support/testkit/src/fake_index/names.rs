//! The names of a fake index.

use async_trait::async_trait;
use cairn_domain::{RepositoryId, RunId, Scope, SymbolEntry, Tenant, View};
use cairn_ports::{ErrorKind, FileHit, FileMatch, NameMatch, Names, NamesError, Page, StagedNames, SymbolHit};
use cairn_ranking::{MIN_FUZZY_PERCENT, file_name_score, fold_style, similarity_percent};

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
        NameMatch::StyleInsensitive => is(&fold_style),
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
        let mut found = Vec::new();
        for repository in self.within(scope) {
            for symbol in &repository.symbols {
                let by_way = ways.iter().filter_map(|way| Some((score(*way, name, symbol)?, *way)));
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
            for path in &repository.files {
                let score = match matching {
                    FileMatch::Path => (path.as_str() == name).then_some(100),
                    FileMatch::Name | FileMatch::Similar => {
                        file_name_score(name, path.as_str(), matching == FileMatch::Similar)
                    }
                };
                found.extend(score.map(|score| FileHit {
                    repository: repository.record.id,
                    path: path.clone(),
                    score,
                }));
            }
        }
        found.sort_by(|left, right| {
            right
                .score
                .cmp(&left.score)
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
