//! Resolves Elixir imports. Code in any file and module refers to a module by its full name.

use cairn_domain::Resolution;

use super::dotted::{beginnings, walk};
use crate::bindings::BoundName;
use crate::lookup::Lookup;
use crate::referents::{Ask, Finding};
use crate::{Family, Name};

/// The word with which code refers to the enclosing module.
const OWN_MODULE: &str = "__MODULE__";

/// Resolves the longest prefix of the name that is a module of the repository, and then the remaining parts
/// as members. `container` is the module that contains the import.
pub(super) fn target(lookup: &mut Lookup<'_>, container: Name, import: &BoundName<'_>, ask: Ask) -> Finding {
    let mut parts: Vec<&str> = import.module.split('.').chain(import.name).filter(|part| !part.is_empty()).collect();
    let mut root = Name::EMPTY;
    if parts.first() == Some(&OWN_MODULE) {
        parts.remove(0);
        root = container;
    }
    let holders: Vec<Name> = std::iter::once(root).chain(beginnings(root, &parts)).collect();
    for num_parts in (1..=parts.len()).rev() {
        let (last, holder) = (parts[num_parts - 1], holders[num_parts - 1]);
        let is_whole = num_parts == parts.len();
        let found = lookup.in_package(Family::Elixir, holder, last, if is_whole { ask } else { Ask::ANY });
        let Finding::Found(referents, _) = found else { continue };
        if is_whole {
            return found.at_most(Resolution::Import);
        }
        if let Some(module) = referents.single() {
            return walk(lookup, module, &parts[num_parts..], ask).at_most(Resolution::Import);
        }
    }
    Finding::External
}
