//! The names that an import binds.

use crate::Family;
use crate::contribution::ImportFact;
use crate::names::Name;

/// A name that an import binds. The texts are borrowed from the facts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundName<'a> {
    pub(crate) module: &'a str,
    pub(crate) level: u8,
    pub(crate) name: Option<&'a str>,
    pub(crate) local: Name,
    pub(crate) wildcard: bool,
    pub(crate) members_only: bool,
}

impl BoundName<'_> {
    pub(crate) fn to_fact(self, container: Name, reexport: bool) -> ImportFact {
        ImportFact {
            module: self.module.to_owned(),
            level: self.level,
            name: self.name.map(str::to_owned),
            local: self.local,
            wildcard: self.wildcard,
            members_only: self.members_only,
            reexport,
            container,
        }
    }
}

impl ImportFact {
    pub(crate) fn bound(&self) -> BoundName<'_> {
        BoundName {
            module: &self.module,
            level: self.level,
            name: self.name.as_deref(),
            local: self.local,
            wildcard: self.wildcard,
            members_only: self.members_only,
        }
    }
}

/// Returns the names that an import binds. For a wildcard import, the result contains the empty name.
pub(crate) fn bound_names(import: &cairn_domain::Import, family: Family) -> Vec<BoundName<'_>> {
    let base = BoundName {
        module: &import.module,
        level: import.level,
        name: None,
        local: Name::EMPTY,
        wildcard: import.wildcard,
        members_only: false,
    };
    let mut bound = Vec::with_capacity(import.names.len() + 1);
    for name in &import.names {
        let is_module = family == Family::Rust && name.name == "self";
        let taken = (!is_module).then_some(name.name.as_str());
        let called = match (&name.alias, is_module) {
            (Some(alias), _) => alias.as_str(),
            (None, true) => last_part(&import.module),
            (None, false) => &name.name,
        };
        bound.push(BoundName { name: taken, local: Name::of(called), wildcard: false, ..base });
    }
    let names_types = import.names.iter().any(|name| name.name.starts_with(char::is_uppercase));
    if family == Family::Haskell && names_types && !import.wildcard {
        bound.push(BoundName { wildcard: true, members_only: true, ..base });
    }
    // Haskell's `import A as B` makes all names visible and also binds the module to `B`.
    let is_also_bound = family == Family::Haskell && import.alias.is_some();
    if import.wildcard && (import.alias.is_none() || is_also_bound) {
        bound.push(base);
    }
    if import.wildcard && import.alias.is_none() {
        return bound;
    }
    if import.names.is_empty() || import.alias.is_some() {
        let local = import.alias.as_deref().unwrap_or_else(|| default_binding(&import.module, family));
        bound.push(BoundName { local: Name::of(local), wildcard: false, ..base });
    }
    bound
}

/// The local name of a module that is imported without an alias.
fn default_binding(module: &str, family: Family) -> &str {
    match family {
        Family::Python => module.split('.').next().unwrap_or(module),
        Family::Go => go_package_name(module),
        // An import that is not assigned to a variable or constant binds nothing.
        Family::Lua | Family::Zig => "",
        _ => last_part(module),
    }
}

fn last_part(module: &str) -> &str {
    module.rsplit(['.', '/']).next().unwrap_or(module)
}

/// The usual name of the package at an import path: `b` for `github.com/a/b/v2` and for `gopkg.in/b.v2`.
fn go_package_name(module: &str) -> &str {
    let is_version =
        |part: &str| part.len() > 1 && part.starts_with('v') && part[1..].bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = module.rsplit('/');
    let last = parts.next().unwrap_or(module);
    let name = if is_version(last) { parts.next().unwrap_or(last) } else { last };
    match name.rsplit_once('.') {
        Some((stem, version)) if is_version(version) => stem,
        _ => name,
    }
}
