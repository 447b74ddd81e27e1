//! Finds the packages that have a requested name.

use cairn_domain::{Ecosystem, EdgeKind, NodeKey, NodeKind, NodeRecord, Scope, View};
use cairn_ports::{MAX_TRAVERSAL_NODES, Traversal};
use cairn_ranking::{fold_style, words};

use crate::named_code::{NamedCode, NamedNode};
use crate::named_places::read_as;
use crate::repositories::KnownRepository;
use crate::{QueryError, Searcher};

/// The ecosystems in which a package may be declared.
const ECOSYSTEMS: [Ecosystem; 7] = [
    Ecosystem::Pypi,
    Ecosystem::Npm,
    Ecosystem::Go,
    Ecosystem::Cargo,
    Ecosystem::Maven,
    Ecosystem::Composer,
    Ecosystem::Nuget,
];
/// Number of nodes that are read with one call.
const KEYS_AT_ONCE: usize = 5_000;
/// The note for a name that may belong to a package that was not compared.
const NOT_COMPARED: &str = "The repositories depend on more packages than can be compared with the name; only exact \
                            names are found for certain.";

/// The result of a search for packages.
pub(crate) struct NamedPackages {
    pub(crate) named: Option<NamedCode>,
    /// Set if no package was found, but not all packages were compared.
    pub(crate) absent_note: Option<&'static str>,
}

impl Searcher {
    /// The packages with this name that the repositories depend on.
    pub(crate) async fn packages_called(
        &self,
        view: &View,
        (scope, selected): (&Scope, &[KnownRepository]),
        name: &str,
    ) -> Result<NamedPackages, QueryError> {
        let starts = selected.iter().map(|known| NodeKey::repository(known.record.id)).collect();
        let Traversal { reached, is_cut } =
            self.reached_over(view, scope, starts, EdgeKind::DependsOn, MAX_TRAVERSAL_NODES).await?;
        let mut nodes: Vec<NodeRecord> = reached.into_iter().map(|reached| reached.node).collect();
        if is_cut {
            nodes.extend(self.packages_declared_as(view, (scope, selected), name).await?);
        }
        let mut named = best_packages(nodes, name);
        if let (Some(note), true) = (named.as_mut().and_then(|named| named.note.as_mut()), is_cut) {
            *note = note.clone().and(" ").and(NOT_COMPARED);
        }
        let absent_note = (is_cut && named.is_none()).then_some(NOT_COMPARED);
        Ok(NamedPackages { named, absent_note })
    }

    /// The packages that are declared with exactly this name. The packages are found by their keys, without
    /// reading all packages of the repositories.
    async fn packages_declared_as(
        &self,
        view: &View,
        (scope, selected): (&Scope, &[KnownRepository]),
        name: &str,
    ) -> Result<Vec<NodeRecord>, QueryError> {
        let mut declared: Vec<(&str, &str)> = ECOSYSTEMS.map(|ecosystem| (ecosystem.as_str(), name)).to_vec();
        // The name may include the ecosystem: `npm:redis`.
        declared.extend(name.split_once(':'));
        let of_repository = |known: &KnownRepository| {
            let key = |(ecosystem, name): &(&str, &str)| NodeKey::package(known.record.id, ecosystem, name);
            declared.iter().map(key).collect::<Vec<_>>()
        };
        let keys: Vec<NodeKey> = selected.iter().flat_map(of_repository).collect();
        let mut nodes = Vec::new();
        for keys in keys.chunks(KEYS_AT_ONCE) {
            nodes.extend(self.graph.nodes(view, scope, keys).await?);
        }
        Ok(nodes)
    }
}

/// The packages whose names match the requested name best. `None` if no package has the name.
fn best_packages(nodes: Vec<NodeRecord>, name: &str) -> Option<NamedCode> {
    let packages = nodes.into_iter().filter(|node| node.kind == NodeKind::Package);
    let grade = |node: &NodeRecord| {
        let is_whole = node.qualified_name == name;
        if is_whole { Some(PackageGrade::Name) } else { package_grade(name, &node.name) }
    };
    let graded = packages.filter_map(|node| Some((grade(&node)?, node)));
    let mut graded: Vec<(PackageGrade, NodeRecord)> = graded.collect();
    graded.sort_by(|left, right| {
        let rank = |entry: &(PackageGrade, NodeRecord)| (entry.0, entry.1.qualified_name.clone(), entry.1.key);
        rank(left).cmp(&rank(right))
    });
    graded.dedup_by_key(|(_, node)| node.key);
    let (best, first) = graded.first()?;
    let best = *best;
    let note = (best != PackageGrade::Name).then(|| read_as(name, "package", &first.qualified_name));
    let nodes = graded.into_iter().take_while(|(grade, _)| *grade == best);
    let node = |(_, node): (_, NodeRecord)| NamedNode {
        node: node.key,
        name: node.qualified_name,
        path: None,
        definition: None,
    };
    Some(NamedCode { nodes: nodes.map(node).collect(), note, ..NamedCode::default() })
}

/// How closely a requested name matches the name of a package.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum PackageGrade {
    /// The whole name is equal, apart from case and style.
    Name,
    /// A part of the name is equal: the artifact of `group:artifact`, or a folder of a path.
    Part,
    /// A word of the name is equal, such as `redis` in `go-redis`, or the name is equal without its prefix
    /// `py`.
    Word,
}

fn package_grade(asked: &str, package: &str) -> Option<PackageGrade> {
    let asked = fold_style(&asked.replace(' ', ""));
    let folded = fold_style(package);
    if asked.is_empty() {
        return None;
    }
    if folded == asked {
        return Some(PackageGrade::Name);
    }
    let parts: Vec<&str> = package.split(['/', ':', '@']).filter(|part| !part.is_empty()).collect();
    if parts.iter().any(|part| fold_style(part) == asked) {
        return Some(PackageGrade::Part);
    }
    let mut is_word = folded.strip_prefix("py") == Some(asked.as_str());
    parts.iter().for_each(|part| words(part, |word| is_word |= word == asked));
    is_word.then_some(PackageGrade::Word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_have_several_names() {
        let check = |asked: &str, package: &str, expect: Option<PackageGrade>| {
            assert_eq!(package_grade(asked, package), expect, "{asked} for {package}");
        };
        check("redis", "redis", Some(PackageGrade::Name));
        check("@acme/ui", "@acme/ui", Some(PackageGrade::Name));
        check("SQLAlchemy", "sqlalchemy", Some(PackageGrade::Name));
        check("ui", "@acme/ui", Some(PackageGrade::Part));
        check("guava", "com.google.guava:guava", Some(PackageGrade::Part));
        check("redis", "github.com/gomodule/go-redis/v9", Some(PackageGrade::Word));
        check("yaml", "pyyaml", Some(PackageGrade::Word));
        check("redis", "ioredis", None);
    }
}
