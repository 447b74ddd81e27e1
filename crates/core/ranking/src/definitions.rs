//! Orders several definitions of one name.

use cairn_domain::{RepositoryId, SymbolEntry, SymbolKind};

use crate::priors::is_aside_directory;

/// Facts that a caller knows about the wanted definition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DefinitionContext<'a> {
    /// The path of the file that the caller works on. The wanted definition is probably near this file.
    pub near_path: Option<&'a str>,
}

/// The key by which the definitions of a name are sorted, best first. `num_uses` is the number of known uses.
/// Tests and copied or generated code come last.
pub fn definition_key<'a>(
    repository: RepositoryId,
    symbol: &'a SymbolEntry,
    num_uses: u64,
    context: DefinitionContext<'_>,
) -> impl Ord + use<'a> {
    let path = symbol.path.as_str();
    let is_last = (symbol.is_test, is_generated(path) || is_aside_directory(symbol.path.directory()));
    let distance = context.near_path.map_or(0, |near| path_distance(near, path));
    let visible = (!symbol.exported, std::cmp::Reverse(num_uses), !symbol.documented);
    (is_last, distance, kind_rank(symbol.kind), visible, (path.matches('/').count(), repository, path, symbol.line))
}

fn is_generated(path: &str) -> bool {
    let lower = path.to_lowercase();
    ["generated", ".pb.", "_pb2", ".min."].iter().any(|mark| lower.contains(mark))
}

/// The number of steps from the directory of one file to the directory of the other; 0 for the same file.
pub fn path_distance(near: &str, path: &str) -> usize {
    if near == path {
        return 0;
    }
    let directories = |path: &str| -> Vec<String> {
        path.rsplit_once('/').map_or(Vec::new(), |(before, _)| before.split('/').map(str::to_owned).collect())
    };
    let (left, right) = (directories(near), directories(path));
    let num_same = left.iter().zip(&right).take_while(|(left, right)| left == right).count();
    1 + left.len() + right.len() - 2 * num_same
}

/// Types come before functions, and functions before values and members.
fn kind_rank(kind: SymbolKind) -> u8 {
    match kind {
        _ if kind.is_type() => 0,
        _ if kind.is_callable() => 1,
        SymbolKind::Module => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use cairn_domain::{NodeKey, RepoPath, RepositoryName, Tenant};

    use super::*;

    fn symbol(path: &str, kind: SymbolKind, exported: bool) -> SymbolEntry {
        let (repository, path) = (repository(), RepoPath::parse(path).expect("a path"));
        SymbolEntry {
            name: "run".into(),
            qualified_name: "run".into(),
            kind,
            node: NodeKey::symbol(repository, &path, "run", kind, 1),
            line: 1,
            span: cairn_domain::LineSpan::new(1, 2),
            chunk: None,
            language: "rust".into(),
            module_path: String::new(),
            exported,
            documented: false,
            is_test: path.as_str().starts_with("tests/"),
            path,
        }
    }

    fn repository() -> RepositoryId {
        RepositoryId::derive(&Tenant::local(), &RepositoryName::new("r"))
    }

    #[test]
    fn better_definition_comes_first() {
        let check =
            |better: (&str, SymbolKind, bool, u64), worse: (&str, SymbolKind, bool, u64), near: Option<&str>| {
                let context = DefinitionContext { near_path: near };
                let (left, right) = (symbol(better.0, better.1, better.2), symbol(worse.0, worse.1, worse.2));
                let key = |symbol, num_uses| definition_key(repository(), symbol, num_uses, context);
                assert!(key(&left, better.3) < key(&right, worse.3), "{better:?} {worse:?}");
            };
        let (function, class) = (SymbolKind::Function, SymbolKind::Class);
        check(("src/a.rs", function, true, 0), ("tests/a.rs", function, true, 9), None);
        check(("src/a.rs", function, true, 0), ("vendor/a.rs", function, true, 9), None);
        check(("src/a.rs", class, true, 0), ("src/b.rs", function, true, 9), None);
        check(("src/b.rs", function, true, 0), ("src/a.rs", function, false, 9), None);
        check(("src/b.rs", function, true, 9), ("src/a.rs", function, true, 0), None);
        check(("src/net/b.rs", function, false, 0), ("src/a.rs", class, true, 9), Some("src/net/c.rs"));
        check(("src/a.rs", function, true, 1), ("src/b.rs", function, true, 1), None);
    }
}
