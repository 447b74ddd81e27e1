//! Members of classes: their own, then those of their bases.

use cairn_domain::{Resolution, SymbolKind};

use crate::environment::{FileId, Lookup};
use crate::places::{Ask, Finding, Place, Places, Want, select};
use crate::questions::{Question, Topic};
use crate::rules::Rules;
use crate::{Definition, Family, Name};

/// Deepest chain of bases that is followed.
const MAX_DEPTH: u32 = 12;

impl Lookup<'_> {
    /// What `name` means in a class: its own member, or that of the first base that has one.
    pub(crate) fn class_member(&mut self, file: FileId, class: u32, name: &str, ask: Ask) -> Finding {
        let question = Question::new(Topic::Member, file, Name(class.into()), Name::of(name), ask);
        self.remembered(question, |lookup| lookup.in_hierarchy(file, class, name, ask, 0))
    }

    fn in_hierarchy(&mut self, file: FileId, class: u32, name: &str, ask: Ask, depth: u32) -> Finding {
        let definition = *self.definition(file, class);
        let own = self.own_member(file, definition.qualified, &definition, name, ask);
        if own.is_nothing() { self.inherited(file, class, name, ask, depth) } else { own }
    }

    /// What `super.name` means in a class.
    pub(crate) fn inherited_member(&mut self, file: FileId, class: u32, name: &str, ask: Ask) -> Finding {
        if self.bases(file, class).is_empty() {
            return Finding::Nothing;
        }
        let question = Question::new(Topic::Inherited, file, Name(class.into()), Name::of(name), ask);
        self.remembered(question, |lookup| lookup.inherited(file, class, name, ask, 0))
    }

    /// What `super(…)` calls: the constructor of the base class, or the class itself where none is written.
    pub(crate) fn base_constructor(&mut self, file: FileId, class: u32, ask: Ask) -> Finding {
        let mut is_open = false;
        for base in self.bases(file, class) {
            if !self.has_fuel() {
                return Finding::External;
            }
            let Finding::Found(places, resolution) = self.base_places(file, class, &base.name) else {
                is_open = true;
                continue;
            };
            let Some(Place::Definition { file: base_file, index }) = places.single() else { continue };
            let kind = self.definition(base_file, index).kind;
            if matches!(kind, SymbolKind::Interface | SymbolKind::Trait) || (base_file, index) == (file, class) {
                continue;
            }
            let found = match self.constructor(base_file, index, ask) {
                Finding::Nothing => Finding::of(Places::one(Place::Definition { file: base_file, index }), resolution),
                found => found.at_most(resolution),
            };
            return if is_open { found.at_most(Resolution::Heuristic) } else { found };
        }
        if is_open { Finding::External } else { Finding::Nothing }
    }

    /// The constructor that is written in a class: it is called like the class, or `constructor`.
    pub(crate) fn constructor(&mut self, file: FileId, class: u32, ask: Ask) -> Finding {
        let rules = Rules::of(self.contribution(file).family);
        let definition = *self.definition(file, class);
        let ask = Ask { want: Want::Call, ..ask };
        for name in [definition.name, Name::of("constructor")] {
            let members = self.members(file, definition.qualified, name);
            let is_method = |(file, index): &(FileId, u32)| self.definition(*file, *index).kind == SymbolKind::Method;
            let methods: Vec<(FileId, u32)> = members.iter().filter(is_method).collect();
            let found = select(self, methods.into_iter(), ask, rules);
            if !found.is_nothing() {
                return found;
            }
        }
        Finding::Nothing
    }

    /// Depth first, from left to right: the order of every language with single inheritance, and of others unless bases
    /// share a base of their own; so what is found further up behind several bases is not sure.
    fn inherited(&mut self, file: FileId, class: u32, name: &str, ask: Ask, depth: u32) -> Finding {
        if depth > MAX_DEPTH || !self.spend() {
            return Finding::Nothing;
        }
        let bases = self.bases(file, class);
        let mut is_open = false;
        for base in bases {
            if !self.has_fuel() {
                is_open = true;
                break;
            }
            let places = match self.base_places(file, class, &base.name) {
                Finding::Found(places, resolution) => places.single().map(|place| (place, resolution)),
                Finding::External | Finding::Nothing => None,
            };
            let Some((Place::Definition { file: base_file, index }, resolution)) = places else {
                is_open = true;
                continue;
            };
            if (base_file, index) == (file, class) {
                // A base of the same name stands elsewhere.
                is_open = true;
                continue;
            }
            match self.in_hierarchy(base_file, index, name, ask, depth + 1) {
                found @ Finding::Found(..) => {
                    let is_doubtful = is_open || depth > 0 && bases.len() > 1;
                    return found.at_most(resolution).at_most(if is_doubtful {
                        Resolution::Heuristic
                    } else {
                        Resolution::Exact
                    });
                }
                Finding::External => is_open = true,
                Finding::Nothing => {}
            }
        }
        if is_open { Finding::External } else { Finding::Nothing }
    }

    /// What the name of a base means where the class stands.
    fn base_places(&mut self, file: FileId, class: u32, name: &str) -> Finding {
        let container = self.definition(file, class).container;
        self.dotted(file, container, name, Ask::TYPE)
    }

    /// What a dotted name means at the top of a file or an inline module.
    pub(crate) fn dotted(&mut self, file: FileId, container: Name, name: &str, ask: Ask) -> Finding {
        let mut parts = name.split('.').peekable();
        let first = parts.next().unwrap_or(name);
        let mut found = self.visible(file, container, first, if parts.peek().is_none() { ask } else { Ask::ANY });
        while let Some(part) = parts.next() {
            let Finding::Found(places, resolution) = found else { return found };
            let Some(place) = places.single() else { return Finding::Nothing };
            let ask = if parts.peek().is_none() { ask } else { Ask::ANY };
            found = self.member_of(place, part, ask).at_most(resolution);
        }
        found
    }

    /// A member that stands in the class itself, in whatever file. `class` is its container there.
    pub(crate) fn own_member(
        &mut self,
        file: FileId,
        qualified: Name,
        class: &Definition,
        name: &str,
        ask: Ask,
    ) -> Finding {
        let family = self.contribution(file).family;
        let rules = Rules::of(family);
        let name = Name::of(name);
        let here = self.members(file, qualified, name);
        let question = Question::new(Topic::OwnMember, file, qualified, name, ask);
        if !rules.open_classes {
            return self.remembered_if_long(question, here.len(), |lookup| {
                select(lookup, here.to_vec().into_iter(), ask, rules)
            });
        }
        let is_the_only_one = self.types(family, class.full).len() <= 1;
        let elsewhere = self.methods(family, class.full, name);
        self.remembered_if_long(question, here.len() + elsewhere.len(), |lookup| {
            // In C++ a class declares its methods in a header and defines them elsewhere.
            let is_primary = |(file, index): (FileId, u32)| !lookup.definition(file, index).secondary;
            if (family != Family::C || !is_the_only_one) && here.iter().any(is_primary) {
                return select(lookup, here.to_vec().into_iter(), ask, rules);
            }
            let found = select(lookup, elsewhere.to_vec().into_iter(), ask, rules);
            found.at_most(if is_the_only_one { Resolution::Exact } else { Resolution::Heuristic })
        })
    }

    /// Whether a type of that name stands anywhere in the repository.
    pub(crate) fn is_type_of_repository(&mut self, family: Family, class: &Definition) -> bool {
        let named = self.named(family, class.name);
        let question = Question::new(Topic::AnyType, family as FileId, Name::EMPTY, class.name, Ask::TYPE);
        let found = self.shared(question, named.len(), |lookup| {
            let is_type = |(file, index): &(FileId, u32)| lookup.definition(*file, *index).kind.is_type();
            let first = named.iter().find(is_type);
            first.map_or(Finding::Nothing, |(file, index)| {
                Finding::of(Places::one(Place::Definition { file, index }), Resolution::Exact)
            })
        });
        !found.is_nothing()
    }
}
