//! The keys under which a contribution is found, and the keys whose entries change when the contribution
//! changes.
//!
//! The environment is only a multimap from keys to entries. The digest of an entry covers everything that the
//! linker reads through the entry. Therefore a file's links can change only if the file requested a key whose
//! entries changed.

use std::hash::{BuildHasher, BuildHasherDefault, Hash};

use cairn_domain::{PackageManifest, SymbolKind};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::contribution::Item;
use crate::names::{Space, key, mix};
use crate::rules::Rules;
use crate::{Contribution, Definition, Family, Name};

/// The maximum length of an indexed path suffix, in parts. The full path is always indexed.
const MAX_SUFFIX_PARTS: usize = 6;

/// Calls `add` for every entry of the file.
pub(crate) fn each_entry(file: &Contribution, mut add: impl FnMut(u64, Item)) {
    let family = Name::of_family(file.family);
    let path = Name::of(file.path.as_str());
    add(key(Space::File, [path, Name::EMPTY, Name::EMPTY]), Item::File);
    each_suffix(file.family, file.path.as_str(), |suffix| {
        add(key(Space::Suffix, [family, Name::of(suffix), Name::EMPTY]), Item::File);
    });
    if Rules::of(file.family).package_scope {
        add(key(Space::Package, [family, file.namespace, Name::EMPTY]), Item::File);
    }
    for (index, definition) in file.definitions.iter().enumerate().filter(|(_, definition)| definition.at_top) {
        let item = Item::Definition(index as u32);
        add(key(Space::Member, [path, Name::EMPTY, definition.name]), item);
        add(key(Space::PackageMember, [family, file.namespace, definition.name]), item);
    }
    for (index, definition) in file.definitions.iter().enumerate() {
        each_definition_key(file.family, path, definition, |key| add(key, Item::Definition(index as u32)));
    }
    for (index, import) in file.imports.iter().enumerate() {
        let space = if import.wildcard { Space::Wildcard } else { Space::Binding };
        add(key(space, [path, import.container, import.local]), Item::Import(index as u32));
    }
    for (index, field) in file.fields.iter().enumerate() {
        // Variables at the top level of a file are looked up by file.
        let holder = if field.class.is_empty() { path } else { family };
        add(key(Space::Field, [holder, field.class, field.name]), Item::Field(index as u32));
    }
}

fn each_definition_key(family: Family, path: Name, definition: &Definition, mut add: impl FnMut(u64)) {
    if definition.nameless {
        return;
    }
    let rules = Rules::of(family);
    let family = Name::of_family(family);
    add(key(Space::Member, [path, definition.container, definition.name]));
    if rules.open_classes && !definition.container.is_empty() {
        add(key(Space::Method, [family, definition.holder, definition.name]));
    }
    if definition.local {
        return;
    }
    if rules.open_classes && definition.kind.is_type() {
        add(key(Space::Type, [family, definition.full, Name::EMPTY]));
    }
    if definition.is_default {
        add(key(Space::Member, [path, Name::EMPTY, Name::of("default")]));
    }
    add(key(Space::Named, [family, definition.name, Name::EMPTY]));
    if definition.in_package && rules.package_scope {
        add(key(Space::PackageMember, [family, definition.holder, definition.name]));
        if definition.kind == SymbolKind::Module {
            add(key(Space::Package, [family, definition.full, Name::EMPTY]));
        }
    }
}

/// Calls `add` for each suffix of the path that an import can use. A suffix always begins at the start of a
/// part of the path.
fn each_suffix(family: Family, path: &str, mut add: impl FnMut(&str)) {
    let Some(named) = importable_path(family, path) else { return };
    add(named);
    let mut rest = named;
    let num_parts = named.split('/').count();
    for index in 1..num_parts {
        let Some((_, after)) = rest.split_once('/') else { return };
        rest = after;
        if num_parts - index <= MAX_SUFFIX_PARTS {
            add(rest);
        }
    }
}

/// The path without the parts that imports omit, such as the extension. `None` if imports of the language do
/// not find files by a path suffix.
fn importable_path(family: Family, path: &str) -> Option<&str> {
    let named = match family {
        Family::Python => {
            let named = path.strip_suffix(".pyi").or_else(|| path.strip_suffix(".py"))?;
            named.strip_suffix("/__init__").unwrap_or(named)
        }
        Family::Ruby => path.strip_suffix(".rb")?,
        Family::Lua => {
            let named = path.strip_suffix(".lua")?;
            named.strip_suffix("/init").unwrap_or(named)
        }
        Family::Haskell => path.strip_suffix(".hs")?,
        Family::C | Family::Php | Family::Bash => path,
        _ => return None,
    };
    Some(named)
}

/// Keys whose entries differ between two contributions. `None` means that the file does not exist.
pub fn changed_keys(old: Option<&Contribution>, new: Option<&Contribution>) -> FxHashSet<u64> {
    symmetric_difference(&old.map(digests).unwrap_or_default(), &new.map(digests).unwrap_or_default())
}

/// The keys under which the packages differ between the old and the new state of the repository.
pub fn changed_package_keys(old: &[PackageManifest], new: &[PackageManifest]) -> FxHashSet<u64> {
    let digests = |manifests: &[PackageManifest]| {
        let mut digests: Vec<(u64, u64)> =
            manifests.iter().map(|manifest| (manifests_key(manifest.ecosystem.as_str()), hash(manifest))).collect();
        digests.sort_unstable();
        digests
    };
    symmetric_difference(&digests(old), &digests(new))
}

/// Whether a file must be linked again. `changed` are the keys whose entries changed. `asked` are the keys
/// that the file requested, sorted.
pub fn affected(asked: &[u64], changed: &FxHashSet<u64>) -> bool {
    if changed.len() < asked.len() / 8 {
        changed.iter().any(|key| asked.binary_search(key).is_ok())
    } else {
        asked.iter().any(|key| changed.contains(key))
    }
}

pub(crate) fn manifests_key(ecosystem: &str) -> u64 {
    key(Space::Manifests, [Name::of(ecosystem), Name::EMPTY, Name::EMPTY])
}

/// Sorted pairs of key and digest. The digest covers the item, its container and the attributes of its file,
/// but not its position. Therefore no digest changes when lines are inserted above a function.
fn digests(file: &Contribution) -> Vec<(u64, u64)> {
    let salt = hash(&(&file.path, file.family, &file.module_path, &file.module, &file.package, file.is_test));
    let mut items: Vec<u64> = Vec::with_capacity(file.definitions.len());
    let mut containers: FxHashMap<Name, u64> = FxHashMap::default();
    for (index, definition) in file.definitions.iter().enumerate() {
        let parent = definition.parent.and_then(|parent| items.get(parent as usize)).copied();
        let bases: Vec<(&str, bool)> =
            file.bases_of(index as u32).iter().map(|base| (base.name.as_str(), base.implements)).collect();
        let digest = hash(&(Definition { parent: None, ..*definition }, parent, bases));
        items.push(digest);
        containers.entry(definition.qualified).or_insert(digest);
    }
    let mut digests = Vec::new();
    for (key, item) in &file.entries {
        let digest = match item {
            Item::File => 1,
            Item::Definition(index) => items[*index as usize],
            Item::Import(index) => {
                let import = &file.imports[*index as usize];
                hash(&(import, containers.get(&import.container)))
            }
            Item::Field(index) => {
                let field = &file.fields[*index as usize];
                hash(&(field, containers.get(&field.scope)))
            }
        };
        digests.push((*key, mix(salt ^ mix(digest))));
    }
    digests.sort_unstable();
    digests
}

fn hash(value: &impl Hash) -> u64 {
    mix(BuildHasherDefault::<FxHasher>::default().hash_one(value))
}

/// The keys of pairs that one of the two sorted lists contains more often than the other list.
fn symmetric_difference(old: &[(u64, u64)], new: &[(u64, u64)]) -> FxHashSet<u64> {
    let mut changed = FxHashSet::default();
    let (mut left, mut right) = (old.iter().peekable(), new.iter().peekable());
    loop {
        let order = match (left.peek(), right.peek()) {
            (Some(a), Some(b)) => a.cmp(b),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => return changed,
        };
        let pair = match order {
            std::cmp::Ordering::Less => left.next(),
            std::cmp::Ordering::Greater => right.next(),
            std::cmp::Ordering::Equal => {
                left.next();
                right.next();
                None
            }
        };
        changed.extend(pair.map(|(key, _)| *key));
    }
}
