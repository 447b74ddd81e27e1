//! Resolves references with a receiver: `a.b.name`.

use cairn_domain::{Resolution, Unresolved};
use cairn_languages::is_builtin;

use crate::bindings::BoundName;
use crate::common_methods::is_common_method;
use crate::modules::import_target;
use crate::names::FileId;
use crate::referents::{Ask, Finding, MAX_CANDIDATES, Referent, Referents, Want, admits};
use crate::resolve::{LinkResult, Resolver};
use crate::subjects::Subject;
use crate::{Family, Name};

/// The receiver that represents the global namespace in facts, as in `\strlen` and `::open`.
const ROOT: &str = "<root>";

/// The name that represents a call of `super(…)` in facts.
const CONSTRUCTOR: &str = "constructor";

impl<'e> Resolver<'e> {
    pub(crate) fn with_receiver(
        &mut self,
        receiver: &'e str,
        name: &'e str,
        enclosing: Option<u32>,
        ask: Ask,
    ) -> LinkResult {
        let own = match receiver {
            "self" | "Self" | "cls" => self.own(name, enclosing, ask),
            "super" => self.of_super(name, enclosing, ask),
            _ => None,
        };
        if let Some(result) = own {
            return result;
        }
        if receiver == ROOT {
            return self.at_root(name, ask);
        }
        match self.subject(receiver, enclosing) {
            Subject::Scope(referent, resolution) => self.in_scope(referent, resolution, name, ask),
            Subject::Object(file, class) => match self.lookup.class_member(file, class, name, ask) {
                Finding::Found(referents, resolution) => {
                    LinkResult::of(referents, resolution.max(Resolution::Heuristic))
                }
                Finding::External => LinkResult::Unresolved(Unresolved::External),
                Finding::Nothing => LinkResult::Unresolved(Unresolved::NoDefinition),
            },
            Subject::External => LinkResult::Unresolved(Unresolved::External),
            Subject::Builtin => LinkResult::Unresolved(Unresolved::Builtin),
            Subject::Unknown => match self.whole_module(receiver, name, ask) {
                Finding::Found(referents, resolution) => LinkResult::of(referents, resolution),
                _ => self.by_method_name(name, enclosing, ask),
            },
        }
    }

    /// Resolves a name that is marked as a name of the global namespace.
    fn at_root(&mut self, name: &str, ask: Ask) -> LinkResult {
        let limit = if self.family == Family::C { Resolution::Heuristic } else { Resolution::Import };
        match self.lookup.in_package(self.family, Name::EMPTY, name, ask) {
            Finding::Found(referents, resolution) if self.rules.package_scope => {
                LinkResult::of(referents, resolution.max(limit))
            }
            _ if is_builtin(self.family, name) => LinkResult::Unresolved(Unresolved::Builtin),
            _ => LinkResult::Unresolved(Unresolved::External),
        }
    }

    fn in_scope(&mut self, referent: Referent, resolution: Resolution, name: &str, ask: Ask) -> LinkResult {
        let found = match self.lookup.member_of(referent, name, ask) {
            Finding::Nothing => self.member_of_default(referent, name, ask),
            found => found,
        };
        match found {
            Finding::Found(referents, found) => LinkResult::of(referents, found.max(resolution)),
            Finding::External => LinkResult::Unresolved(Unresolved::External),
            Finding::Nothing => LinkResult::Unresolved(Unresolved::NoDefinition),
        }
    }

    /// Resolves a member of the object that a JavaScript module exports: `module.exports = app; app.use = …`.
    fn member_of_default(&mut self, referent: Referent, name: &str, ask: Ask) -> Finding {
        let Referent::File { file, container } = referent else { return Finding::Nothing };
        if self.family != Family::Script || !container.is_empty() {
            return Finding::Nothing;
        }
        match self.lookup.exported(file, Name::EMPTY, "default", Ask::ANY) {
            Finding::Found(referents, resolution) => match referents.single() {
                Some(Referent::Definition { file, index }) => {
                    self.lookup.class_member(file, index, name, ask).at_most(resolution)
                }
                _ => Finding::Nothing,
            },
            _ => Finding::Nothing,
        }
    }

    /// Resolves `self.name`.
    fn own(&mut self, name: &str, enclosing: Option<u32>, ask: Ask) -> Option<LinkResult> {
        let class = self.own_class(enclosing)?;
        let limit = if class.is_doubtful { Resolution::Heuristic } else { Resolution::Exact };
        match self.member_of_own(&class, name, ask) {
            Finding::Found(referents, resolution) => Some(LinkResult::of(referents, resolution.max(limit))),
            // In Rust, `self` may also mean the current module.
            _ if self.family == Family::Rust => None,
            Finding::External => Some(LinkResult::Unresolved(Unresolved::External)),
            Finding::Nothing if self.lookup.fields(self.family, class.class.name, Name::of(name)).next().is_some() => {
                Some(LinkResult::Unresolved(Unresolved::Dynamic))
            }
            Finding::Nothing => Some(self.by_method_name(name, enclosing, ask)),
        }
    }

    /// Resolves `super.name`. Returns `None` for Rust, where `super.name` is a path of modules.
    fn of_super(&mut self, name: &str, enclosing: Option<u32>, ask: Ask) -> Option<LinkResult> {
        if self.family == Family::Rust {
            return None;
        }
        let found = match self.own_class(enclosing).and_then(|class| class.symbol) {
            Some(class) if name == CONSTRUCTOR => self.lookup.base_constructor(self.file, class, ask),
            Some(class) => self.lookup.inherited_member(self.file, class, name, ask),
            None => Finding::Nothing,
        };
        Some(match found {
            Finding::Found(referents, resolution) => LinkResult::of(referents, resolution),
            Finding::External => LinkResult::Unresolved(Unresolved::External),
            Finding::Nothing => LinkResult::Unresolved(Unresolved::NoDefinition),
        })
    }

    /// Resolves a name in a module if the code refers to the module by its full name, such as `Shop.Shape`.
    /// Call this function if no prefix of the full name is a module.
    fn whole_module(&mut self, receiver: &str, name: &str, ask: Ask) -> Finding {
        if !self.rules.modules_are_types || ask.want == Want::Call {
            return Finding::Nothing;
        }
        let bound = BoundName {
            module: receiver,
            level: 0,
            name: Some(name),
            local: Name::EMPTY,
            wildcard: false,
            members_only: false,
        };
        import_target(&mut self.lookup, self.file, Name::EMPTY, &bound, ask)
    }

    /// Resolves a method call on an object whose class is unknown. If the repository has only one method with
    /// this specific name, the call probably means this method. If a method calls a method with the same name
    /// on another object, the called method is assumed to belong to a different class.
    fn by_method_name(&mut self, name: &str, enclosing: Option<u32>, ask: Ask) -> LinkResult {
        if ask.want != Want::Call || is_common_method(name) {
            return LinkResult::Unresolved(Unresolved::UnknownReceiver);
        }
        let key = (Name::of(name), ask.num_arguments);
        if !self.methods.contains_key(&key) {
            let methods = self.methods_named(key.0, ask);
            self.methods.insert(key, methods);
        }
        let mut referents = Referents::default();
        for (file, index) in &self.methods[&key] {
            let is_caller = *file == self.file && enclosing == Some(*index);
            if !is_caller {
                referents.add(Referent::Definition { file: *file, index: *index });
            }
        }
        LinkResult::of(referents, Resolution::Heuristic)
    }

    /// The methods with this name that a call from this file may mean. If there are more methods than can be
    /// linked, some of them are omitted.
    fn methods_named(&mut self, name: Name, ask: Ask) -> Vec<(FileId, u32)> {
        let (file, in_test) = (self.file, self.contribution.is_test);
        let named = self.lookup.named(self.family, name);
        self.lookup.afford(named.len());
        let lookup = &self.lookup;
        let is_meant = |(other, index): &(FileId, u32)| {
            let definition = lookup.definition(*other, *index);
            let is_method = definition.kind.is_callable() && !definition.in_package && !definition.secondary;
            let is_reachable =
                *other == file || !definition.private && (in_test || !lookup.contribution(*other).is_test);
            is_method && is_reachable && admits(definition, ask)
        };
        // `MAX_CANDIDATES + 1` methods are enough to show that the limit is exceeded. `MAX_CANDIDATES + 2`
        // methods are taken, because one of them may be the caller itself, which is removed later.
        named.iter().filter(is_meant).take(MAX_CANDIDATES + 2).collect()
    }
}
