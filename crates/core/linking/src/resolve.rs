//! Resolves the references of one file, from the innermost scope outwards.

use cairn_domain::{FileFacts, Reference, ReferenceKind, Resolution, SymbolKind, Unresolved};
use cairn_languages::is_builtin;
use rustc_hash::FxHashMap;

use crate::environment::Environment;
use crate::lookup::Lookup;
use crate::names::FileId;
use crate::queries::{LinkQuery, Topic};
use crate::referents::{Ask, Finding, MAX_CANDIDATES, Referent, Referents, Want};
use crate::rules::Rules;
use crate::scopes::{Scopes, Variable};
use crate::select::select;
use crate::{Contribution, Family, Name};

/// The result for one reference.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LinkResult {
    Linked(Referents, Resolution),
    Unresolved(Unresolved),
}

impl LinkResult {
    /// If there is only one referent, the result has the certainty of the lookup. If there are several
    /// referents, the result is ambiguous.
    pub(crate) fn of(referents: Referents, resolution: Resolution) -> Self {
        match referents.as_slice().len() {
            0 => LinkResult::Unresolved(Unresolved::NoDefinition),
            1 => LinkResult::Linked(
                referents,
                if resolution == Resolution::Ambiguous { Resolution::Heuristic } else { resolution },
            ),
            2..=MAX_CANDIDATES => LinkResult::Linked(referents, Resolution::Ambiguous),
            _ => LinkResult::Unresolved(Unresolved::UnknownReceiver),
        }
    }
}

/// Links the references of one file.
#[derive(Debug)]
pub(crate) struct Resolver<'e> {
    pub(crate) lookup: Lookup<'e>,
    pub(crate) file: FileId,
    pub(crate) family: Family,
    pub(crate) rules: Rules,
    pub(crate) facts: &'e FileFacts,
    pub(crate) contribution: &'e Contribution,
    pub(crate) scopes: Scopes<'e>,
    /// The index of the symbol that encloses the current reference.
    pub(crate) calling: Option<u32>,
    /// The results for names at the top level of the file. A result is computed when the first reference to
    /// the name is resolved, and then stored.
    tops: FxHashMap<(Name, Name, Want, Option<u8>), Finding>,
    /// The results for names that have many bindings in one function.
    pub(crate) in_functions: FxHashMap<(u32, Name, Want, Option<u8>), Local<'e>>,
    /// The methods that a call may mean if the class of the object is unknown.
    pub(crate) methods: FxHashMap<MethodCall, Vec<(FileId, u32)>>,
}

/// The name of the method and the number of arguments.
type MethodCall = (Name, Option<u8>);

impl<'e> Resolver<'e> {
    pub(crate) fn new(environment: &'e Environment<'e>, file: FileId, facts: &'e FileFacts) -> Self {
        let lookup = Lookup::new(environment, file);
        let contribution = lookup.contribution(file);
        let scopes = Scopes::new(facts, contribution);
        let family = contribution.family;
        Self {
            lookup,
            file,
            family,
            rules: Rules::of(family),
            facts,
            contribution,
            scopes,
            calling: None,
            tops: FxHashMap::default(),
            in_functions: FxHashMap::default(),
            methods: FxHashMap::default(),
        }
    }

    pub(crate) fn resolve(&mut self, reference: &'e Reference) -> LinkResult {
        self.lookup.refuel();
        self.calling = reference.enclosing;
        let ask = ask_of(reference);
        let result = match reference.receiver.as_deref() {
            None | Some("") => self.bare(&reference.name, reference.enclosing, ask),
            Some(receiver) => self.with_receiver(receiver, &reference.name, reference.enclosing, ask),
        };
        let result = self.exported_value(result, ask);
        match (reference.kind, reference.enclosing) {
            (ReferenceKind::Extend | ReferenceKind::Implement, Some(class)) => self.without_itself(result, class),
            _ => result,
        }
    }

    /// If code calls a file or reads it as a value, the reference means the default export of the file:
    /// `const app = require("./app"); app()`.
    fn exported_value(&mut self, result: LinkResult, ask: Ask) -> LinkResult {
        let LinkResult::Linked(referents, resolution) = result else { return result };
        let Some(Referent::File { file, container }) = referents.single() else { return result };
        if self.family != Family::Script || !container.is_empty() {
            return result;
        }
        match self.lookup.exported(file, Name::EMPTY, "default", ask) {
            Finding::Found(referents, found) => LinkResult::of(referents, found.max(resolution)),
            _ => result,
        }
    }

    /// Removes a class from the list of its own bases. A base with the same name is a different class.
    fn without_itself(&self, result: LinkResult, class: u32) -> LinkResult {
        let LinkResult::Linked(referents, resolution) = result else { return result };
        let itself = Referent::Definition { file: self.file, index: class };
        if !referents.as_slice().contains(&itself) {
            return result;
        }
        let mut others = Referents::default();
        referents.as_slice().iter().filter(|referent| **referent != itself).for_each(|referent| others.add(*referent));
        if others.is_empty() {
            return LinkResult::Unresolved(Unresolved::External);
        }
        LinkResult::of(others, resolution.max(Resolution::Heuristic))
    }

    fn bare(&mut self, name: &'e str, enclosing: Option<u32>, ask: Ask) -> LinkResult {
        let (local, is_open) = self.local(name, enclosing, ask);
        let limit = if is_open { Resolution::Heuristic } else { Resolution::Exact };
        match local {
            Local::Variable(_) => return LinkResult::Unresolved(Unresolved::Dynamic),
            Local::Found(Finding::Found(referents, resolution)) => {
                return LinkResult::of(referents, resolution.max(limit));
            }
            Local::Found(Finding::External) => return LinkResult::Unresolved(Unresolved::External),
            Local::Found(Finding::Nothing) | Local::Unbound => {}
        }
        // At the top level of a file, only anonymous functions bind opaque names.
        let is_hidden = enclosing.is_none() && self.scopes.is_opaque_at_top(Name::of(name));
        if is_hidden && self.rules.variables_hide_functions {
            return LinkResult::Unresolved(Unresolved::Dynamic);
        }
        let container = self.scopes.module_around(enclosing);
        match self.top(container, name, ask) {
            Finding::Found(referents, resolution) => LinkResult::of(referents, resolution.max(limit)),
            _ if is_builtin(self.family, name) => LinkResult::Unresolved(Unresolved::Builtin),
            Finding::External if self.rules.imports_are_modules => self.global(name, ask, true),
            Finding::External => LinkResult::Unresolved(Unresolved::External),
            Finding::Nothing if self.rules.global_names => self.global(name, ask, is_open),
            Finding::Nothing if self.family == Family::Rust && ask.want == Want::Call => self.macro_of_crate(name),
            Finding::Nothing if is_open => LinkResult::Unresolved(Unresolved::External),
            Finding::Nothing => LinkResult::Unresolved(Unresolved::NoDefinition),
        }
    }

    /// Resolves `name` at the top level of the file, and remembers the result.
    pub(crate) fn top(&mut self, container: Name, name: &str, ask: Ask) -> Finding {
        let key = (container, Name::of(name), ask.want, ask.num_arguments.filter(|_| self.rules.overloads));
        if let Some(found) = self.tops.get(&key) {
            return *found;
        }
        let found = self.lookup.visible(self.file, container, name, ask);
        self.tops.insert(key, found);
        found
    }

    /// Resolves a Rust macro. A macro is visible in all text after its definition, even in other files.
    fn macro_of_crate(&mut self, name: &str) -> LinkResult {
        let named = self.lookup.named(self.family, Name::of(name));
        let query = LinkQuery::new(Topic::Macro, self.family as FileId, Name::EMPTY, Name::of(name), Ask::ANY);
        let found = self.lookup.shared(query, named.len(), |lookup| {
            let mut referents = Referents::default();
            for (file, index) in named.iter() {
                if lookup.definition(file, index).kind == SymbolKind::Macro {
                    referents.add(Referent::Definition { file, index });
                }
            }
            Finding::of(referents, Resolution::Heuristic)
        });
        match found {
            Finding::Found(referents, resolution) => LinkResult::of(referents, resolution),
            _ => LinkResult::Unresolved(Unresolved::NoDefinition),
        }
    }

    /// Resolves a name that any file may define. If the repository has only one definition of the name, the
    /// name probably means that definition.
    fn global(&mut self, name: &str, ask: Ask, is_open: bool) -> LinkResult {
        let (file, rules) = (self.file, self.rules);
        let named = self.lookup.named(self.family, Name::of(name));
        let is_hidden = |lookup: &Lookup<'_>, (other, index): &(FileId, u32)| {
            let definition = lookup.definition(*other, *index);
            !definition.in_package || definition.private && *other != file
        };
        let find = |lookup: &mut Lookup<'_>| {
            let candidates: Vec<(FileId, u32)> =
                named.iter().filter(|candidate| !is_hidden(lookup, candidate)).collect();
            select(lookup, candidates.into_iter(), ask, rules)
        };
        let query = LinkQuery::new(Topic::Global, self.family as FileId, Name::EMPTY, Name::of(name), ask);
        // The private names of this file are not visible in other files, so the result cannot be shared.
        let sees_more = named.of_file(file).iter().any(|(file, index)| self.lookup.definition(file, index).private);
        let found = if sees_more {
            self.lookup.remembered_if_long(query, named.len(), find)
        } else {
            self.lookup.shared(query, named.len(), find)
        };
        match found {
            Finding::Found(referents, _) => LinkResult::of(referents, Resolution::Heuristic),
            _ if is_open => LinkResult::Unresolved(Unresolved::External),
            _ => LinkResult::Unresolved(Unresolved::NoDefinition),
        }
    }
}

/// The binding of a name in a scope inside the file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Local<'f> {
    Variable(Variable<'f>),
    Found(Finding),
    Unbound,
}

fn ask_of(reference: &Reference) -> Ask {
    let want = match reference.kind {
        ReferenceKind::Call => Want::Call,
        ReferenceKind::Instantiate => Want::Instance,
        ReferenceKind::Extend | ReferenceKind::Implement | ReferenceKind::TypeUse => Want::Type,
        ReferenceKind::Decorate | ReferenceKind::Value => Want::Value,
    };
    Ask { want, num_arguments: reference.num_arguments }
}
