//! Determines what the receiver of a reference refers to.

use cairn_domain::{Resolution, SymbolKind};
use cairn_languages::is_builtin;

use crate::Family;
use crate::bindings::BoundName;
use crate::lookup::Lookup;
use crate::modules::{import_target, rust_crate, rust_path};
use crate::names::{FileId, Name};
use crate::queries::{LinkQuery, Topic};
use crate::referents::{Ask, Finding, Referent, Referents};
use crate::resolve::{Local, Resolver};
use crate::scopes::Variable;

/// The prefix of a receiver in the global namespace.
const ROOT_PREFIX: &str = "<root>.";

/// The item or value to which a receiver refers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subject {
    /// A class, file or package itself, not an object of a class.
    Scope(Referent, Resolution),
    /// An object of a class.
    Object(FileId, u32),
    External,
    Builtin,
    Unknown,
}

impl<'e> Resolver<'e> {
    pub(crate) fn subject(&mut self, receiver: &'e str, enclosing: Option<u32>) -> Subject {
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
            Finding::Found(referents, resolution) => {
                referents.single().map_or(Subject::Unknown, |referent| Subject::Scope(referent, resolution))
            }
            Finding::External => Subject::External,
            Finding::Nothing => Subject::Unknown,
        }
    }

    /// Resolves a name that contains the full name of its package.
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
            Finding::Found(referents, _) => {
                referents.single().map(|referent| Subject::Scope(referent, Resolution::Import))
            }
            _ => None,
        }
    }

    fn first_part(&mut self, first: &'e str, enclosing: Option<u32>) -> Subject {
        if matches!(first, "self" | "Self" | "cls") {
            return self.own_object(enclosing);
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
                // A name that is neither a variable nor an item is the name of a crate. The crate may be
                // inside or outside the repository.
                match rust_crate(&mut self.lookup, first) {
                    Finding::Nothing => Subject::External,
                    found => self.subject_of(found, first, enclosing),
                }
            }
            Finding::Nothing => self.type_of_repository(first),
            found => self.subject_of(found, first, enclosing),
        }
    }

    /// Resolves a receiver such as `self`.
    fn own_object(&mut self, enclosing: Option<u32>) -> Subject {
        let class = self.own_class(enclosing);
        let container = self.scopes.module_around(enclosing);
        match class.and_then(|class| class.symbol) {
            Some(index) => Subject::Object(self.file, index),
            // In Elixir, the receiver `__MODULE__` refers to the enclosing module.
            None if class.is_none() && self.rules.modules_are_types => {
                Subject::Scope(Referent::File { file: self.file, container }, Resolution::Exact)
            }
            None => class.map_or(Subject::Unknown, |class| self.object_of(class.name, enclosing)),
        }
    }

    /// Resolves a capitalised name that is bound nowhere. Applies only to languages in which names need no
    /// import.
    fn type_of_repository(&mut self, name: &str) -> Subject {
        if !self.rules.global_names || !name.starts_with(char::is_uppercase) {
            return Subject::Unknown;
        }
        let named = self.lookup.named(self.family, Name::of(name));
        let query = LinkQuery::new(Topic::OnlyType, self.family as FileId, Name::EMPTY, Name::of(name), Ask::ANY);
        let found = self.lookup.shared(query, named.len(), |lookup| {
            let is_type = |(file, index): &(FileId, u32)| {
                let definition = lookup.definition(*file, *index);
                definition.in_package && (definition.kind.is_container() || definition.kind.is_type())
            };
            let mut referents = Referents::default();
            let types = named.iter().filter(is_type).take(2);
            types.for_each(|(file, index)| referents.add(Referent::Definition { file, index }));
            Finding::of(referents, Resolution::Heuristic)
        });
        match found {
            Finding::Found(referents, resolution) => {
                referents.single().map_or(Subject::Unknown, |referent| Subject::Scope(referent, resolution))
            }
            _ => Subject::Unknown,
        }
    }

    fn subject_of(&mut self, found: Finding, name: &str, enclosing: Option<u32>) -> Subject {
        let (referents, resolution) = match found {
            Finding::Found(referents, resolution) => (referents, resolution),
            Finding::External => return Subject::External,
            Finding::Nothing => return Subject::Unknown,
        };
        let Some(referent) = referents.single() else { return Subject::Unknown };
        let Referent::Definition { file, index } = referent else { return Subject::Scope(referent, resolution) };
        let definition = self.lookup.definition(file, index);
        if definition.kind.is_container() || definition.kind == SymbolKind::Type {
            return Subject::Scope(referent, resolution);
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

    /// An object of a type, resolved from the name of the type in this file.
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
            Subject::Scope(referent, resolution) => {
                let found = self.lookup.member_of(referent, part, Ask::ANY).at_most(resolution);
                match self.subject_of(found, part, None) {
                    Subject::Unknown if found.is_nothing() && self.family == Family::Go => Subject::External,
                    subject => subject,
                }
            }
            other => other,
        }
    }

    /// The object that a field of a class contains, if the type of the field is evident.
    fn field(&mut self, file: FileId, class: u32, name: &str) -> Option<Subject> {
        field_type(&mut self.lookup, file, class, Name::of(name)).map(|found| object(found, self.family))
    }
}

fn object(found: Finding, family: Family) -> Subject {
    match found {
        Finding::Found(referents, _) => match referents.single() {
            Some(Referent::Definition { file, index }) => Subject::Object(file, index),
            // In Zig, a file is a structure.
            Some(referent @ Referent::File { .. }) if family == Family::Zig => {
                Subject::Scope(referent, Resolution::Heuristic)
            }
            _ => Subject::Unknown,
        },
        Finding::External => Subject::External,
        Finding::Nothing => Subject::Unknown,
    }
}

/// The type of a variable at the top level of another file, resolved in that file.
fn global_type(lookup: &mut Lookup<'_>, file: FileId, name: Name) -> Option<Finding> {
    let mut declared = lookup.typed_variables(file, name);
    let first = declared.next()?;
    if declared.next().is_some() {
        return None;
    }
    Some(lookup.dotted(file, Name::EMPTY, &first.type_name, Ask::TYPE))
}

/// The type of a field, resolved in the file that contains the field. `None` unless exactly one type is
/// evident.
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
