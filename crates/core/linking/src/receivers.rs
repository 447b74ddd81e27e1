//! References behind a receiver: `a.b.name`.

use cairn_domain::{Resolution, SymbolKind, Unresolved};

use crate::common_methods::is_common_method;
use crate::contribution::BoundName;
use crate::environment::{FileId, Lookup};
use crate::modules::{import_target, rust_crate, rust_path};
use crate::places::{Ask, Finding, MAX_CANDIDATES, Place, Places, Want, admits};
use crate::questions::{Question, Topic};
use crate::resolve::{Local, Outcome, Resolver};
use crate::scopes::Variable;
use crate::{Family, Name};
use cairn_languages::is_builtin;

/// What facts say before a name of the global namespace: `\\strlen`, `::open`.
const ROOT: &str = "<root>";
const ROOT_PREFIX: &str = "<root>.";

/// What facts call that which `super(…)` calls.
const CONSTRUCTOR: &str = "constructor";

/// What stands before the dot.
#[derive(Clone, Copy, Debug)]
enum Subject {
    /// A class, file or package itself.
    Scope(Place, Resolution),
    /// An object of a class.
    Object(FileId, u32),
    External,
    Builtin,
    Unknown,
}

impl<'e> Resolver<'e> {
    pub(crate) fn with_receiver(
        &mut self,
        receiver: &'e str,
        name: &'e str,
        enclosing: Option<u32>,
        ask: Ask,
    ) -> Outcome {
        let own = match receiver {
            "self" | "Self" | "cls" => self.own(name, enclosing, ask),
            "super" => self.of_super(name, enclosing, ask),
            _ => None,
        };
        if let Some(outcome) = own {
            return outcome;
        }
        if receiver == ROOT {
            return self.at_root(name, ask);
        }
        match self.subject(receiver, enclosing) {
            Subject::Scope(place, resolution) => self.in_scope(place, resolution, name, ask),
            Subject::Object(file, class) => match self.lookup.class_member(file, class, name, ask) {
                Finding::Found(places, resolution) => Outcome::of(places, resolution.max(Resolution::Heuristic)),
                Finding::External => Outcome::Unresolved(Unresolved::External),
                Finding::Nothing => Outcome::Unresolved(Unresolved::NoDefinition),
            },
            Subject::External => Outcome::Unresolved(Unresolved::External),
            Subject::Builtin => Outcome::Unresolved(Unresolved::Builtin),
            Subject::Unknown => match self.whole_module(receiver, name, ask) {
                Finding::Found(places, resolution) => Outcome::of(places, resolution),
                _ => self.by_method_name(name, enclosing, ask),
            },
        }
    }

    /// A name written as one of the global namespace.
    fn at_root(&mut self, name: &str, ask: Ask) -> Outcome {
        let limit = if self.family == Family::C { Resolution::Heuristic } else { Resolution::Import };
        match self.lookup.in_package(self.family, Name::EMPTY, name, ask) {
            Finding::Found(places, resolution) if self.rules.package_scope => {
                Outcome::of(places, resolution.max(limit))
            }
            _ if is_builtin(self.family, name) => Outcome::Unresolved(Unresolved::Builtin),
            _ => Outcome::Unresolved(Unresolved::External),
        }
    }

    fn in_scope(&mut self, place: Place, resolution: Resolution, name: &str, ask: Ask) -> Outcome {
        let found = match self.lookup.member_of(place, name, ask) {
            Finding::Nothing => self.member_of_default(place, name, ask),
            found => found,
        };
        match found {
            Finding::Found(places, found) => Outcome::of(places, found.max(resolution)),
            Finding::External => Outcome::Unresolved(Unresolved::External),
            Finding::Nothing => Outcome::Unresolved(Unresolved::NoDefinition),
        }
    }

    /// A member of the object that a module of JavaScript is: `module.exports = app; app.use = …`.
    fn member_of_default(&mut self, place: Place, name: &str, ask: Ask) -> Finding {
        let Place::File { file, container } = place else { return Finding::Nothing };
        if self.family != Family::Script || !container.is_empty() {
            return Finding::Nothing;
        }
        match self.lookup.exported(file, Name::EMPTY, "default", Ask::ANY) {
            Finding::Found(places, resolution) => match places.single() {
                Some(Place::Definition { file, index }) => {
                    self.lookup.class_member(file, index, name, ask).at_most(resolution)
                }
                _ => Finding::Nothing,
            },
            _ => Finding::Nothing,
        }
    }

    /// `self.name`.
    fn own(&mut self, name: &str, enclosing: Option<u32>, ask: Ask) -> Option<Outcome> {
        let class = self.own_class(enclosing)?;
        let limit = if class.is_doubtful { Resolution::Heuristic } else { Resolution::Exact };
        match self.member_of_own(&class, name, ask) {
            Finding::Found(places, resolution) => Some(Outcome::of(places, resolution.max(limit))),
            // In Rust `self` may also be the module.
            _ if self.family == Family::Rust => None,
            Finding::External => Some(Outcome::Unresolved(Unresolved::External)),
            Finding::Nothing if self.lookup.fields(self.family, class.class.name, Name::of(name)).next().is_some() => {
                Some(Outcome::Unresolved(Unresolved::Dynamic))
            }
            Finding::Nothing => Some(self.by_method_name(name, enclosing, ask)),
        }
    }

    /// `super.name`, except in Rust, where it is a path.
    fn of_super(&mut self, name: &str, enclosing: Option<u32>, ask: Ask) -> Option<Outcome> {
        if self.family == Family::Rust {
            return None;
        }
        let found = match self.own_class(enclosing).and_then(|class| class.symbol) {
            Some(class) if name == CONSTRUCTOR => self.lookup.base_constructor(self.file, class, ask),
            Some(class) => self.lookup.inherited_member(self.file, class, name, ask),
            None => Finding::Nothing,
        };
        Some(match found {
            Finding::Found(places, resolution) => Outcome::of(places, resolution),
            Finding::External => Outcome::Unresolved(Unresolved::External),
            Finding::Nothing => Outcome::Unresolved(Unresolved::NoDefinition),
        })
    }

    fn subject(&mut self, receiver: &'e str, enclosing: Option<u32>) -> Subject {
        let receiver = receiver.strip_prefix(ROOT_PREFIX).unwrap_or(receiver);
        if receiver.contains('<') || receiver.contains('(') {
            return Subject::Unknown;
        }
        let (first, rest) = receiver.split_once('.').unwrap_or((receiver, ""));
        if self.family == Family::Rust && matches!(first, "crate" | "super" | "self") {
            let path = self.rust_subject(receiver, enclosing);
            if !matches!(path, Subject::Unknown) || first != "self" {
                return path;
            }
        }
        let mut subject = self.first_part(first, enclosing);
        for part in rest.split('.').filter(|part| !part.is_empty()) {
            subject = self.next_part(subject, part);
        }
        if matches!(subject, Subject::Unknown | Subject::External) && !rest.is_empty() && self.rules.package_scope {
            return self.full_name(receiver).unwrap_or(subject);
        }
        subject
    }

    fn rust_subject(&mut self, receiver: &str, enclosing: Option<u32>) -> Subject {
        let container = self.scopes.module_around(enclosing);
        let parts: Vec<&str> = receiver.split('.').collect();
        match rust_path(&mut self.lookup, self.file, container, &parts, Ask::ANY) {
            Finding::Found(places, resolution) => {
                places.single().map_or(Subject::Unknown, |place| Subject::Scope(place, resolution))
            }
            Finding::External => Subject::External,
            Finding::Nothing => Subject::Unknown,
        }
    }

    /// A module by its whole name, the beginning of which is no module itself: `Shop.Shape`.
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

    /// A name written with its whole package.
    fn full_name(&mut self, receiver: &str) -> Option<Subject> {
        let bound = BoundName {
            module: receiver,
            level: 0,
            name: None,
            local: Name::EMPTY,
            wildcard: false,
            members_only: false,
        };
        if matches!(self.family, Family::Go | Family::C | Family::Ruby) {
            return None;
        }
        match import_target(&mut self.lookup, self.file, Name::EMPTY, &bound, Ask::ANY) {
            Finding::Found(places, _) => places.single().map(|place| Subject::Scope(place, Resolution::Import)),
            _ => None,
        }
    }

    fn first_part(&mut self, first: &'e str, enclosing: Option<u32>) -> Subject {
        if matches!(first, "self" | "Self" | "cls") {
            let class = self.own_class(enclosing);
            let container = self.scopes.module_around(enclosing);
            return match class.and_then(|class| class.symbol) {
                Some(index) => Subject::Object(self.file, index),
                // `__MODULE__` of Elixir.
                None if class.is_none() && self.rules.modules_are_types => {
                    Subject::Scope(Place::File { file: self.file, container }, Resolution::Exact)
                }
                None => class.map_or(Subject::Unknown, |class| self.object_of(class.name, enclosing)),
            };
        }
        match self.local(first, enclosing, Ask::ANY).0 {
            Local::Variable(Variable::Typed(type_name)) => return self.object_of(type_name, enclosing),
            Local::Variable(Variable::Opaque) => return Subject::Unknown,
            Local::Found(found) => return self.subject_of(found, first, enclosing),
            Local::Unbound => {}
        }
        if self.rules.implicit_self
            && let Some(class) = self.own_class(enclosing).and_then(|class| class.symbol)
            && let Some(subject) = self.field(self.file, class, first)
        {
            return subject;
        }
        let container = self.scopes.module_around(enclosing);
        let found = self.top(container, first, Ask::ANY);
        match found {
            Finding::Nothing if is_builtin(self.family, first) => Subject::Builtin,
            Finding::Nothing if self.family == Family::Rust => {
                // What is neither a variable nor an item is a crate: one of the repository, or one from outside.
                match rust_crate(&mut self.lookup, first) {
                    Finding::Nothing => Subject::External,
                    found => self.subject_of(found, first, enclosing),
                }
            }
            Finding::Nothing => self.type_of_repository(first),
            found => self.subject_of(found, first, enclosing),
        }
    }

    /// A capitalised name that nothing binds, where names need no import.
    fn type_of_repository(&mut self, name: &str) -> Subject {
        if !self.rules.global_names || !name.starts_with(char::is_uppercase) {
            return Subject::Unknown;
        }
        let named = self.lookup.named(self.family, Name::of(name));
        let question = Question::new(Topic::OnlyType, self.family as FileId, Name::EMPTY, Name::of(name), Ask::ANY);
        let found = self.lookup.shared(question, named.len(), |lookup| {
            let is_type = |(file, index): &(FileId, u32)| {
                let definition = lookup.definition(*file, *index);
                definition.in_package && (definition.kind.is_container() || definition.kind.is_type())
            };
            let mut places = Places::default();
            let types = named.iter().filter(is_type).take(2);
            types.for_each(|(file, index)| places.add(Place::Definition { file, index }));
            Finding::of(places, Resolution::Heuristic)
        });
        match found {
            Finding::Found(places, resolution) => {
                places.single().map_or(Subject::Unknown, |place| Subject::Scope(place, resolution))
            }
            _ => Subject::Unknown,
        }
    }

    fn subject_of(&mut self, found: Finding, name: &str, enclosing: Option<u32>) -> Subject {
        let (places, resolution) = match found {
            Finding::Found(places, resolution) => (places, resolution),
            Finding::External => return Subject::External,
            Finding::Nothing => return Subject::Unknown,
        };
        let Some(place) = places.single() else { return Subject::Unknown };
        let Place::Definition { file, index } = place else { return Subject::Scope(place, resolution) };
        let definition = self.lookup.definition(file, index);
        if definition.kind.is_container() || definition.kind == SymbolKind::Type {
            return Subject::Scope(place, resolution);
        }
        if definition.kind == SymbolKind::Field {
            return match definition.parent {
                Some(class) => self.field(file, class, name).unwrap_or(Subject::Unknown),
                None => Subject::Unknown,
            };
        }
        if definition.parent.is_some() {
            return Subject::Unknown;
        }
        match self.scopes.variable(None, Name::of(name)).filter(|_| file == self.file) {
            Some(Variable::Typed(type_name)) => self.object_of(type_name, enclosing),
            Some(Variable::Opaque) => Subject::Unknown,
            None => global_type(&mut self.lookup, file, Name::of(name))
                .map_or(Subject::Unknown, |found| object(found, self.family)),
        }
    }

    /// An object of a type that is named in this file.
    fn object_of(&mut self, type_name: &'e str, enclosing: Option<u32>) -> Subject {
        let container = self.scopes.module_around(enclosing);
        let found = match type_name.split_once('.') {
            None => match self.local(type_name, enclosing, Ask::TYPE).0 {
                Local::Found(found @ Finding::Found(..)) => found,
                _ => self.top(container, type_name, Ask::TYPE),
            },
            Some(_) => self.lookup.dotted(self.file, container, type_name, Ask::TYPE),
        };
        object(found, self.family)
    }

    fn next_part(&mut self, subject: Subject, part: &str) -> Subject {
        match subject {
            Subject::Object(file, class) => self.field(file, class, part).unwrap_or(Subject::Unknown),
            Subject::Scope(place, resolution) => {
                let found = self.lookup.member_of(place, part, Ask::ANY).at_most(resolution);
                match self.subject_of(found, part, None) {
                    Subject::Unknown if found.is_nothing() && self.family == Family::Go => Subject::External,
                    subject => subject,
                }
            }
            other => other,
        }
    }

    /// The object that a field of a class holds, if its type is evident.
    fn field(&mut self, file: FileId, class: u32, name: &str) -> Option<Subject> {
        field_type(&mut self.lookup, file, class, Name::of(name)).map(|found| object(found, self.family))
    }

    /// A method of an object of unknown class: one definition of a telling name in the repository is some evidence. A
    /// method that calls its own name on another object hands the call over to another class.
    fn by_method_name(&mut self, name: &str, enclosing: Option<u32>, ask: Ask) -> Outcome {
        if ask.want != Want::Call || is_common_method(name) {
            return Outcome::Unresolved(Unresolved::UnknownReceiver);
        }
        let key = (Name::of(name), ask.num_arguments);
        if !self.methods.contains_key(&key) {
            let methods = self.methods_named(key.0, ask);
            self.methods.insert(key, methods);
        }
        let mut places = Places::default();
        for (file, index) in &self.methods[&key] {
            let is_caller = *file == self.file && enclosing == Some(*index);
            if !is_caller {
                places.add(Place::Definition { file: *file, index: *index });
            }
        }
        Outcome::of(places, Resolution::Heuristic)
    }

    /// Methods of a name that a call from this file may mean: all of them, or more than it could be linked to.
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
        // One of them may be the caller itself.
        named.iter().filter(is_meant).take(MAX_CANDIDATES + 2).collect()
    }
}

fn object(found: Finding, family: Family) -> Subject {
    match found {
        Finding::Found(places, _) => match places.single() {
            Some(Place::Definition { file, index }) => Subject::Object(file, index),
            // Files of Zig are structures.
            Some(place @ Place::File { .. }) if family == Family::Zig => Subject::Scope(place, Resolution::Heuristic),
            _ => Subject::Unknown,
        },
        Finding::External => Subject::External,
        Finding::Nothing => Subject::Unknown,
    }
}

/// The type of a variable at the top of another file, looked up there.
fn global_type(lookup: &mut Lookup<'_>, file: FileId, name: Name) -> Option<Finding> {
    let mut declared = lookup.typed_variables(file, name);
    let first = declared.next()?;
    if declared.next().is_some() {
        return None;
    }
    Some(lookup.dotted(file, Name::EMPTY, &first.type_name, Ask::TYPE))
}

/// The type of a field, looked up where the field stands. None if no type is evident, or several are.
fn field_type(lookup: &mut Lookup<'_>, file: FileId, class: u32, name: Name) -> Option<Finding> {
    let definition = *lookup.definition(file, class);
    let family = lookup.contribution(file).family;
    let mut declared = lookup
        .fields(family, definition.name, name)
        .filter(|(other, field)| *other == file && field.scope == definition.qualified);
    let (_, first) = declared.next()?;
    if declared.next().is_some() {
        return None;
    }
    let scope = lookup
        .module_definition(file, definition.container)
        .filter(|outer| lookup.definition(file, *outer).kind == SymbolKind::Module);
    let container = if scope.is_some() { definition.container } else { Name::EMPTY };
    Some(lookup.dotted(file, container, &first.type_name, Ask::TYPE))
}
