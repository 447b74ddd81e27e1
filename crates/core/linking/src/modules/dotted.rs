//! Resolves imports in languages whose imports refer to packages and namespaces, not to files.

use cairn_domain::Resolution;

use crate::bindings::BoundName;
use crate::lookup::Lookup;
use crate::names::FileId;
use crate::referents::{Ask, Finding, Referent, Referents};
use crate::{Family, Name};

/// Resolves the longest prefix of the name that is a package of the repository, and then the remaining parts
/// as members.
pub(super) fn target(lookup: &mut Lookup<'_>, file: FileId, import: &BoundName<'_>, ask: Ask) -> Finding {
    let family = lookup.contribution(file).family;
    let module = import.module.trim_matches(['"', '\\', '.']);
    let parts: Vec<&str> = module.split(['.', '\\']).chain(import.name).filter(|part| !part.is_empty()).collect();
    let mut namespaces: Vec<(usize, Name)> = beginnings(Name::EMPTY, &parts).into_iter().enumerate().collect();
    if family == Family::Php && namespaces.len() > 1 {
        // `use A\B` may name the class `B` in `A` and the namespace `A\B`. The class is tried first, because
        // most imports name classes.
        let last = namespaces.len() - 1;
        namespaces.swap(last - 1, last);
    }
    for (index, namespace) in namespaces.into_iter().rev() {
        if lookup.package_files(family, namespace).len() == 0 {
            continue;
        }
        let found = walk(lookup, Referent::Package(family, namespace), &parts[index + 1..], ask);
        if !found.is_nothing() {
            return found.at_most(Resolution::Import);
        }
    }
    // If the repository declares no packages, the parts of the imported name are names at the top level of
    // files.
    let found = walk(lookup, Referent::Package(family, Name::EMPTY), &parts, ask);
    match found {
        Finding::Found(..) if family == Family::Php => found.at_most(Resolution::Import),
        _ => Finding::External,
    }
}

/// Returns the names that consist of the first part, of the first two parts, and so on. All returned names
/// are inside `root`.
pub(super) fn beginnings(root: Name, parts: &[&str]) -> Vec<Name> {
    let longer = |name: &mut Name, part: &&str| {
        *name = name.dot(part);
        Some(*name)
    };
    parts.iter().scan(root, longer).collect()
}

pub(super) fn walk(lookup: &mut Lookup<'_>, start: Referent, parts: &[&str], ask: Ask) -> Finding {
    let mut referent = start;
    let mut found = Finding::of(Referents::one(start), Resolution::Import);
    for (index, part) in parts.iter().enumerate() {
        let is_last = index + 1 == parts.len();
        found = lookup.member_of(referent, part, if is_last { ask } else { Ask::ANY });
        let Finding::Found(referents, _) = found else { return found };
        match referents.single() {
            Some(single) => referent = single,
            None if is_last => return found,
            None => return Finding::Nothing,
        }
    }
    found
}
