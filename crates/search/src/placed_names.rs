//! Resolves names whose first parts name the place of the definition: its package, namespace, module, file or
//! repository. `base.Broker` is the type `Broker` in the package `internal/base`.

use cairn_domain::{RepoPath, Scope, SymbolEntry, View};
use cairn_name_match::{Reasons, plain_name};
use cairn_ports::{NameMatch, NameTier, ResolvedSymbol, SymbolHit};
use cairn_ranking::fold_style;

use crate::repositories::{KnownRepository, name_of};
use crate::{QueryError, Searcher};

/// Maximum number of symbols with the last part of the name that are read.
const MAX_SYMBOLS: usize = 5_000;
/// In thousandths.
const SCORE: u32 = 1_000;
/// Shorter parts are not compared with the name of a repository.
const MIN_LENGTH: usize = 3;

impl Searcher {
    /// The definitions whose qualified name is the end of the requested name, and whose place has the other
    /// parts of the requested name.
    pub(crate) async fn definitions_by_place(
        &self,
        view: &View,
        (scope, selected): (&Scope, &[KnownRepository]),
        name: &str,
    ) -> Result<Vec<ResolvedSymbol>, QueryError> {
        // The path of a Go package comes before the name: `example.com/shop/base.Broker`.
        let name = plain_name(name.rsplit('/').next().unwrap_or(name));
        let parts: Vec<&str> = name.split('.').collect();
        let [_, .., last] = parts.as_slice() else { return Ok(Vec::new()) };
        if parts.iter().any(|part| fold_style(part).is_empty()) {
            return Ok(Vec::new());
        }
        let hits = self.names.symbols(view, scope, last, &[NameMatch::Exact], MAX_SYMBOLS).await?;
        let is_meant = |hit: &SymbolHit| {
            let repository = name_of(selected, hit.repository);
            place_in(&parts, &hit.symbol).is_some_and(|place| is_in(place, &hit.symbol, &repository))
        };
        let resolved = hits.into_iter().filter(is_meant).map(|SymbolHit { repository, symbol, .. }| {
            let (tier, reasons) = (NameTier::Exact, Reasons::NONE);
            ResolvedSymbol { repository, symbol, tier, score: SCORE, rank: 0, reasons }
        });
        Ok(resolved.collect())
    }
}

/// The parts of a requested name before the qualified name of the symbol. `None` if the requested name does
/// not end with the qualified name, or has no other parts.
fn place_in<'a>(parts: &'a [&'a str], symbol: &SymbolEntry) -> Option<&'a [&'a str]> {
    let num_own = symbol.qualified_name.split('.').count();
    let (place, own) = parts.split_at_checked(parts.len().checked_sub(num_own)?)?;
    (!place.is_empty() && symbol.qualified_name.split('.').eq(own.iter().copied())).then_some(place)
}

/// Whether each part is the name of the repository, of the file without its extension, of a directory above
/// the file, or of a part of the module. The style of the names is ignored. The last part may only be the
/// name of the repository if there are no other parts, because the root package often has this name.
fn is_in(place: &[&str], symbol: &SymbolEntry, repository: &str) -> bool {
    let of_path = names_of_path(&symbol.path, &symbol.module_path);
    let is_repository = |part: &str| {
        let names = repository.split(['/', '-', '_', '.']).map(fold_style);
        let whole = fold_style(repository.rsplit('/').next().unwrap_or(repository));
        part.len() >= MIN_LENGTH && names.chain([whole]).any(|name| name == part)
    };
    let has = |part: &&str| {
        let part = fold_style(part);
        of_path.contains(&part) || is_repository(&part)
    };
    place.iter().all(has) && (place.len() == 1 || place.last().is_some_and(|last| of_path.contains(&fold_style(last))))
}

fn names_of_path(path: &RepoPath, module_path: &str) -> Vec<String> {
    let directories = path.directory().split('/');
    let names = directories.chain([path.stem()]).chain(module_path.split(['.', '/', ':']));
    names.map(fold_style).filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use cairn_domain::{LineSpan, NodeKey, RepositoryId, RepositoryName, SymbolKind, Tenant};

    use super::*;

    fn check(requested: &str, (path, qualified_name): (&str, &str), repository: &str, expect: bool) {
        let id = RepositoryId::derive(&Tenant::local(), &RepositoryName::new(repository));
        let path = RepoPath::parse(path).expect("a path");
        let symbol = SymbolEntry {
            name: qualified_name.rsplit('.').next().unwrap_or(qualified_name).to_owned(),
            qualified_name: qualified_name.to_owned(),
            kind: SymbolKind::Class,
            node: NodeKey::symbol(id, &path, qualified_name, SymbolKind::Class, 0),
            path,
            line: 1,
            span: LineSpan::new(1, 1),
            chunk: None,
            language: String::new(),
            module_path: String::new(),
            exported: true,
            documented: false,
            is_test: false,
        };
        let parts: Vec<&str> = requested.split('.').collect();
        let found = place_in(&parts, &symbol).is_some_and(|place| is_in(place, &symbol, repository));
        assert_eq!(found, expect, "{requested} {}", symbol.path);
    }

    #[test]
    fn first_parts_may_name_the_place() {
        let broker = ("internal/base/base.go", "Broker");
        check("base.Broker", broker, "queue", true);
        check("internal.base.Broker", broker, "queue", true);
        check("queue.Broker", broker, "acme/go-queue", true);
        check("rdb.Broker", broker, "queue", false);
        check("base.Brokers", broker, "queue", false);
        check("Broker", broker, "queue", false);
        check("base.Broker.Enqueue", ("internal/base/base.go", "Broker.Enqueue"), "queue", true);
        check("base.Enqueue", ("internal/base/base.go", "Broker.Enqueue"), "queue", false);
        // The root package has the name of the repository.
        check("EasyRdf.Graph", ("lib/Graph.php", "Graph"), "php-easyrdf", true);
        check("EasyRdf.Serialiser.Turtle", ("lib/Serialiser/Turtle.php", "Turtle"), "php-easyrdf", true);
        check("EasyRdf.Parser.Turtle", ("lib/Serialiser/Turtle.php", "Turtle"), "php-easyrdf", false);
    }
}
