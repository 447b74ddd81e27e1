//! References of one file: from the name that stands there outwards to what it means.

use cairn_domain::{FileFacts, Reference, ReferenceKind, Resolution, SymbolKind, Unresolved};
use rustc_hash::FxHashMap;

use crate::environment::{Environment, FileId, Lookup};
use crate::modules::import_target;
use crate::places::{Ask, Finding, MAX_CANDIDATES, Place, Places, Want, select};
use crate::questions::{Question, Topic};
use crate::rules::Rules;
use crate::scopes::{Scopes, Variable};
use crate::{Contribution, Definition, Family, Name};
use cairn_languages::is_builtin;

/// What became of a reference.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    Linked(Places, Resolution),
    Unresolved(Unresolved),
}

impl Outcome {
    /// One place keeps its certainty, several share one.
    pub(crate) fn of(places: Places, resolution: Resolution) -> Self {
        match places.as_slice().len() {
            0 => Outcome::Unresolved(Unresolved::NoDefinition),
            1 => Outcome::Linked(
                places,
                if resolution == Resolution::Ambiguous { Resolution::Heuristic } else { resolution },
            ),
            2..=MAX_CANDIDATES => Outcome::Linked(places, Resolution::Ambiguous),
            _ => Outcome::Unresolved(Unresolved::UnknownReceiver),
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
    /// The symbol around the reference at hand.
    calling: Option<u32>,
    /// What names mean at the top of the file, as far as the first reference to each could find out.
    tops: FxHashMap<(Name, Name, Want, Option<u8>), Finding>,
    /// What names mean in a function that binds them very often.
    in_functions: FxHashMap<(u32, Name, Want, Option<u8>), Local<'e>>,
    /// Methods that a name may mean where the class of the object is not known.
    pub(crate) methods: FxHashMap<MethodCall, Vec<(FileId, u32)>>,
}

/// A name and the number of arguments.
type MethodCall = (Name, Option<u8>);

/// What a function binds more often than this is found once.
const MANY_BINDINGS: usize = 16;

/// The class around a reference, as far as the file shows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnClass<'e> {
    /// The class itself, if it stands in this file.
    pub(crate) symbol: Option<u32>,
    /// The class, or what is known of it from the name of its member.
    pub(crate) class: Definition,
    pub(crate) name: &'e str,
    /// A function stands between the method and the reference, so the object may be another one.
    pub(crate) is_doubtful: bool,
}

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

    pub(crate) fn resolve(&mut self, reference: &'e Reference) -> Outcome {
        self.lookup.refuel();
        self.calling = reference.enclosing;
        let ask = ask_of(reference);
        let outcome = match reference.receiver.as_deref() {
            None | Some("") => self.bare(&reference.name, reference.enclosing, ask),
            Some(receiver) => self.with_receiver(receiver, &reference.name, reference.enclosing, ask),
        };
        let outcome = self.exported_value(outcome, ask);
        match (reference.kind, reference.enclosing) {
            (ReferenceKind::Extend | ReferenceKind::Implement, Some(class)) => self.without_itself(outcome, class),
            _ => outcome,
        }
    }

    /// A file that is called or read as a value stands for what it exports: `const app = require("./app"); app()`.
    fn exported_value(&mut self, outcome: Outcome, ask: Ask) -> Outcome {
        let Outcome::Linked(places, resolution) = outcome else { return outcome };
        let Some(Place::File { file, container }) = places.single() else { return outcome };
        if self.family != Family::Script || !container.is_empty() {
            return outcome;
        }
        match self.lookup.exported(file, Name::EMPTY, "default", ask) {
            Finding::Found(places, found) => Outcome::of(places, found.max(resolution)),
            _ => outcome,
        }
    }

    /// A class is never its own base: the one of its name is another.
    fn without_itself(&self, outcome: Outcome, class: u32) -> Outcome {
        let Outcome::Linked(places, resolution) = outcome else { return outcome };
        let itself = Place::Definition { file: self.file, index: class };
        if !places.as_slice().contains(&itself) {
            return outcome;
        }
        let mut others = Places::default();
        places.as_slice().iter().filter(|place| **place != itself).for_each(|place| others.add(*place));
        if others.is_empty() {
            return Outcome::Unresolved(Unresolved::External);
        }
        Outcome::of(others, resolution.max(Resolution::Heuristic))
    }

    fn bare(&mut self, name: &'e str, enclosing: Option<u32>, ask: Ask) -> Outcome {
        let (local, is_open) = self.local(name, enclosing, ask);
        let limit = if is_open { Resolution::Heuristic } else { Resolution::Exact };
        match local {
            Local::Variable(_) => return Outcome::Unresolved(Unresolved::Dynamic),
            Local::Found(Finding::Found(places, resolution)) => return Outcome::of(places, resolution.max(limit)),
            Local::Found(Finding::External) => return Outcome::Unresolved(Unresolved::External),
            Local::Found(Finding::Nothing) | Local::Unbound => {}
        }
        // At the top of a file only a function without a name binds what is opaque.
        let is_hidden = enclosing.is_none() && self.scopes.is_opaque_at_top(Name::of(name));
        if is_hidden && self.rules.variables_hide_functions {
            return Outcome::Unresolved(Unresolved::Dynamic);
        }
        let container = self.scopes.module_around(enclosing);
        match self.top(container, name, ask) {
            Finding::Found(places, resolution) => Outcome::of(places, resolution.max(limit)),
            _ if is_builtin(self.family, name) => Outcome::Unresolved(Unresolved::Builtin),
            Finding::External if self.rules.imports_are_modules => self.global(name, ask, true),
            Finding::External => Outcome::Unresolved(Unresolved::External),
            Finding::Nothing if self.rules.global_names => self.global(name, ask, is_open),
            Finding::Nothing if self.family == Family::Rust && ask.want == Want::Call => self.macro_of_crate(name),
            Finding::Nothing if is_open => Outcome::Unresolved(Unresolved::External),
            Finding::Nothing => Outcome::Unresolved(Unresolved::NoDefinition),
        }
    }

    /// What `name` means at the top of the file, remembered.
    pub(crate) fn top(&mut self, container: Name, name: &str, ask: Ask) -> Finding {
        let key = (container, Name::of(name), ask.want, ask.num_arguments.filter(|_| self.rules.overloads));
        if let Some(found) = self.tops.get(&key) {
            return *found;
        }
        let found = self.lookup.visible(self.file, container, name, ask);
        self.tops.insert(key, found);
        found
    }

    /// Macros of Rust are visible in the order of the text, across files.
    fn macro_of_crate(&mut self, name: &str) -> Outcome {
        let named = self.lookup.named(self.family, Name::of(name));
        let question = Question::new(Topic::Macro, self.family as FileId, Name::EMPTY, Name::of(name), Ask::ANY);
        let found = self.lookup.shared(question, named.len(), |lookup| {
            let mut places = Places::default();
            for (file, index) in named.iter() {
                if lookup.definition(file, index).kind == SymbolKind::Macro {
                    places.add(Place::Definition { file, index });
                }
            }
            Finding::of(places, Resolution::Heuristic)
        });
        match found {
            Finding::Found(places, resolution) => Outcome::of(places, resolution),
            _ => Outcome::Unresolved(Unresolved::NoDefinition),
        }
    }

    /// A name that may come from any file: one definition in the repository is some evidence.
    fn global(&mut self, name: &str, ask: Ask, is_open: bool) -> Outcome {
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
        let question = Question::new(Topic::Global, self.family as FileId, Name::EMPTY, Name::of(name), ask);
        // Others do not see what is private to this file.
        let sees_more = named.of_file(file).iter().any(|(file, index)| self.lookup.definition(file, index).private);
        let found = if sees_more {
            self.lookup.remembered_if_long(question, named.len(), find)
        } else {
            self.lookup.shared(question, named.len(), find)
        };
        match found {
            Finding::Found(places, _) => Outcome::of(places, Resolution::Heuristic),
            _ if is_open => Outcome::Unresolved(Unresolved::External),
            _ => Outcome::Unresolved(Unresolved::NoDefinition),
        }
    }

    /// What the functions and classes around a reference bind, from the inside out. The flag tells that a class around
    /// it has bases that are not known, so that the name may be inherited.
    pub(crate) fn local(&mut self, name: &'e str, enclosing: Option<u32>, ask: Ask) -> (Local<'e>, bool) {
        let hashed = Name::of(name);
        let mut is_open = false;
        let mut current = enclosing;
        while let Some(scope) = current {
            let definition = &self.contribution.definitions[scope as usize];
            current = definition.parent;
            let is_class = definition.kind.is_container();
            if !is_class {
                let bound = self.in_function(scope, hashed, ask);
                if !matches!(bound, Local::Unbound) {
                    return (bound, is_open);
                }
            }
            match self.visible_member(scope, definition, name, enclosing == Some(scope), ask) {
                Finding::Nothing => {}
                Finding::External => is_open |= self.rules.implicit_self,
                found => return (Local::Found(found), is_open),
            }
        }
        (Local::Unbound, is_open)
    }

    /// A member of a class around the reference, or of the class of a method that stands outside of it, where members
    /// are visible bare: in the body of the class itself, or everywhere inside it.
    fn visible_member(
        &mut self,
        scope: u32,
        definition: &Definition,
        name: &'e str,
        is_direct: bool,
        ask: Ask,
    ) -> Finding {
        let is_direct = is_direct || self.rules.implicit_self;
        if definition.kind == SymbolKind::Module || !is_direct {
            return Finding::Nothing;
        }
        if definition.kind.is_container() {
            let class = OwnClass { symbol: Some(scope), class: *definition, name, is_doubtful: false };
            return self.member_of_own(&class, name, ask);
        }
        // Functions of an implementation see each other, as those of any module.
        let sees_members = self.rules.implicit_self || self.rules.modules_are_types;
        let is_outside = definition.parent.is_none() && !definition.container.is_empty() && sees_members;
        match self.own_class(Some(scope)).filter(|_| is_outside) {
            Some(class) => self.member_of_own(&class, name, ask),
            None => Finding::Nothing,
        }
    }

    fn in_function(&mut self, scope: u32, name: Name, ask: Ask) -> Local<'e> {
        let hides = match ask.want {
            Want::Call => self.rules.variables_hide_functions,
            Want::Type => self.rules.variables_hide_types,
            Want::Instance => self.rules.variables_hide_types || self.family == Family::Script,
            Want::Value | Want::Any => true,
        };
        if let Some(variable) = self.scopes.variable(Some(scope), name).filter(|_| hides) {
            return Local::Variable(variable);
        }
        if self.scopes.num_bound(scope, name) <= MANY_BINDINGS {
            return self.defined_in_function(scope, name, ask);
        }
        let key = (scope, name, ask.want, ask.num_arguments);
        if let Some(found) = self.in_functions.get(&key) {
            return *found;
        }
        let found = self.defined_in_function(scope, name, ask);
        self.in_functions.insert(key, found);
        found
    }

    /// What a function defines and imports under a name.
    fn defined_in_function(&mut self, scope: u32, name: Name, ask: Ask) -> Local<'e> {
        // Members of an object that a function or variable holds are not visible bare.
        let is_lexical = |index: &u32| {
            let kind = self.contribution.definitions[*index as usize].kind;
            !matches!(kind, SymbolKind::Method | SymbolKind::Field)
        };
        let children = self.scopes.children(scope, name).filter(is_lexical);
        let children: Vec<(FileId, u32)> = children.map(|index| (self.file, index)).collect();
        let found = select(&mut self.lookup, children.into_iter(), ask, self.rules);
        if !found.is_nothing() {
            // C has no functions in functions: what looks like one is a macro that the grammar does not know.
            let is_doubtful = self.family == Family::C;
            return Local::Found(if is_doubtful { found.at_most(Resolution::Heuristic) } else { found });
        }
        let imports: Vec<_> = self.scopes.imports_in(scope, name).collect();
        let container = self.scopes.module_around(Some(scope));
        let mut found = Finding::Nothing;
        for import in &imports {
            if !self.lookup.has_fuel() {
                break;
            }
            found = found
                .or(import_target(&mut self.lookup, self.file, container, import, ask).at_most(Resolution::Import));
        }
        match found {
            Finding::Nothing if !imports.is_empty() => Local::Found(Finding::External),
            Finding::Nothing => Local::Unbound,
            found => Local::Found(found),
        }
    }

    /// The class that `self` is of.
    pub(crate) fn own_class(&mut self, enclosing: Option<u32>) -> Option<OwnClass<'e>> {
        let mut current = enclosing;
        let mut num_functions = 0;
        while let Some(scope) = current {
            let definition = &self.contribution.definitions[scope as usize];
            let symbol = &self.facts.symbols[scope as usize];
            if definition.kind.is_container() && definition.kind != SymbolKind::Module {
                let is_doubtful = self.family == Family::Script && num_functions > 1;
                return Some(OwnClass { symbol: Some(scope), class: *definition, name: &symbol.name, is_doubtful });
            }
            num_functions += u32::from(definition.kind.is_callable());
            let parent = definition.parent.map(|parent| self.contribution.definitions[parent as usize].qualified);
            if definition.kind.is_callable() && definition.container != parent.unwrap_or(Name::EMPTY) {
                return Some(self.class_by_member(&symbol.qualified_name, &symbol.name, definition));
            }
            current = definition.parent;
        }
        None
    }

    /// The class of a member that stands outside of it (`impl` blocks, methods of Go, definitions in C++).
    fn class_by_member(&mut self, qualified: &'e str, member: &str, definition: &Definition) -> OwnClass<'e> {
        let holder = qualified.strip_suffix(member).and_then(|rest| rest.strip_suffix('.')).unwrap_or("");
        let name = holder.rsplit('.').next().unwrap_or(holder);
        let symbol = self.contribution.type_named(definition.container);
        let class = match symbol {
            Some(index) => self.contribution.definitions[index as usize],
            None => Definition {
                name: definition.container_last,
                qualified: definition.container,
                full: definition.holder,
                kind: SymbolKind::Struct,
                is_companion: false,
                ..*definition
            },
        };
        OwnClass { symbol, class, name, is_doubtful: false }
    }

    /// Whether a call of an own method may go elsewhere all the same. A method that seems to call itself may call an
    /// overload that it inherits. A type from outside may have a method of its own beside that of the trait.
    fn may_mean_another(&mut self, own: &OwnClass<'e>, found: &Finding, name: &str, ask: Ask) -> bool {
        let Finding::Found(places, _) = found else { return false };
        let Some(Place::Definition { file, index }) = places.single().filter(|_| ask.want == Want::Call) else {
            return false;
        };
        if self.family == Family::Rust {
            return !self.lookup.is_type_of_repository(self.family, &own.class);
        }
        let calls_itself = file == self.file && self.calling == Some(index);
        match own.symbol.filter(|_| calls_itself && self.rules.overloads) {
            Some(class) => !self.lookup.inherited_member(self.file, class, name, ask).is_nothing(),
            None => false,
        }
    }

    /// A member of the class around the reference, or of its bases.
    pub(crate) fn member_of_own(&mut self, own: &OwnClass<'e>, name: &str, ask: Ask) -> Finding {
        let found = self.lookup.own_member(self.file, own.class.qualified, &own.class, name, ask);
        if !found.is_nothing() {
            return if self.may_mean_another(own, &found, name, ask) {
                found.at_most(Resolution::Heuristic)
            } else {
                found
            };
        }
        if let Some(symbol) = own.symbol {
            return self.lookup.inherited_member(self.file, symbol, name, ask);
        }
        match self.top(self.scopes.module_around(None), own.name, Ask::TYPE) {
            Finding::Found(places, resolution) => match places.single() {
                Some(Place::Definition { file, index }) => {
                    self.lookup.inherited_member(file, index, name, ask).at_most(resolution)
                }
                _ => Finding::Nothing,
            },
            _ => Finding::Nothing,
        }
    }
}

/// What a scope inside the file binds a name to.
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
