//! Searches for members of classes: first in the class itself, then in its base classes.

use cairn_domain::{Resolution, SymbolKind};

use crate::lookup::Lookup;
use crate::names::FileId;
use crate::queries::{LinkQuery, Topic};
use crate::referents::{Ask, Finding, Referent, Referents, Want};
use crate::rules::Rules;
use crate::select::select;
use crate::{Definition, Family, Name};

/// A search follows a chain of base classes up to this length.
const MAX_DEPTH: u32 = 12;

impl Lookup<'_> {
    /// Resolves `name` to a member of a class. If the class itself has no member with this name, the first
    /// base class that has one is used.
    pub(crate) fn class_member(&mut self, file: FileId, class: u32, name: &str, ask: Ask) -> Finding {
        let query = LinkQuery::new(Topic::Member, file, Name(class.into()), Name::of(name), ask);
        self.remembered(query, |lookup| lookup.in_hierarchy(file, class, name, ask, 0))
    }

    fn in_hierarchy(&mut self, file: FileId, class: u32, name: &str, ask: Ask, depth: u32) -> Finding {
        let definition = *self.definition(file, class);
        let own = self.own_member(file, definition.qualified, &definition, name, ask);
        if own.is_nothing() { self.inherited(file, class, name, ask, depth) } else { own }
    }

    /// Resolves `super.name` in a class.
    pub(crate) fn inherited_member(&mut self, file: FileId, class: u32, name: &str, ask: Ask) -> Finding {
        if self.bases(file, class).is_empty() {
            return Finding::Nothing;
        }
        let query = LinkQuery::new(Topic::Inherited, file, Name(class.into()), Name::of(name), ask);
        self.remembered(query, |lookup| lookup.inherited(file, class, name, ask, 0))
    }

    /// Resolves `super(…)` to the constructor of the base class, or to the base class itself if the source
    /// contains no constructor of that class.
    pub(crate) fn base_constructor(&mut self, file: FileId, class: u32, ask: Ask) -> Finding {
        let mut is_open = false;
        for base in self.bases(file, class) {
            if !self.has_fuel() {
                return Finding::External;
            }
            let Finding::Found(referents, resolution) = self.base_referents(file, class, &base.name) else {
                is_open = true;
                continue;
            };
            let Some(Referent::Definition { file: base_file, index }) = referents.single() else { continue };
            let kind = self.definition(base_file, index).kind;
            if matches!(kind, SymbolKind::Interface | SymbolKind::Trait) || (base_file, index) == (file, class) {
                continue;
            }
            let found = match self.constructor(base_file, index, ask) {
                Finding::Nothing => {
                    Finding::of(Referents::one(Referent::Definition { file: base_file, index }), resolution)
                }
                found => found.at_most(resolution),
            };
            return if is_open { found.at_most(Resolution::Heuristic) } else { found };
        }
        if is_open { Finding::External } else { Finding::Nothing }
    }

    /// Finds the constructor that is defined in the class itself. The name of a constructor is the name of
    /// the class, or `constructor`.
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

    /// Searches the base classes depth first, from left to right. This order is correct for languages with
    /// single inheritance. In other languages, this order can be wrong if two bases have a common base.
    /// Therefore the certainty is lower for a member that is found through one of several bases.
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
            let referents = match self.base_referents(file, class, &base.name) {
                Finding::Found(referents, resolution) => referents.single().map(|referent| (referent, resolution)),
                Finding::External | Finding::Nothing => None,
            };
            let Some((Referent::Definition { file: base_file, index }, resolution)) = referents else {
                is_open = true;
                continue;
            };
            if (base_file, index) == (file, class) {
                // A base with the same name as the class is a different class, from another file.
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

    /// Resolves the name of a base class in the scope that contains the class.
    fn base_referents(&mut self, file: FileId, class: u32, name: &str) -> Finding {
        let container = self.definition(file, class).container;
        self.dotted(file, container, name, Ask::TYPE)
    }

    /// Resolves a dotted name from the top level of a file or of an inline module.
    pub(crate) fn dotted(&mut self, file: FileId, container: Name, name: &str, ask: Ask) -> Finding {
        let mut parts = name.split('.').peekable();
        let first = parts.next().unwrap_or(name);
        let mut found = self.visible(file, container, first, if parts.peek().is_none() { ask } else { Ask::ANY });
        while let Some(part) = parts.next() {
            let Finding::Found(referents, resolution) = found else { return found };
            let Some(referent) = referents.single() else { return Finding::Nothing };
            let ask = if parts.peek().is_none() { ask } else { Ask::ANY };
            found = self.member_of(referent, part, ask).at_most(resolution);
        }
        found
    }

    /// Finds a member that is defined in the class itself, in any file. `class` is the class that contains
    /// the member.
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
        let query = LinkQuery::new(Topic::OwnMember, file, qualified, name, ask);
        if !rules.open_classes {
            return self
                .remembered_if_long(query, here.len(), |lookup| select(lookup, here.to_vec().into_iter(), ask, rules));
        }
        let is_the_only_one = self.types(family, class.full).len() <= 1;
        let elsewhere = self.methods(family, class.full, name);
        self.remembered_if_long(query, here.len() + elsewhere.len(), |lookup| {
            // A C++ class declares its methods in a header, and the methods are defined in other files.
            let is_primary = |(file, index): (FileId, u32)| !lookup.definition(file, index).secondary;
            if (family != Family::C || !is_the_only_one) && here.iter().any(is_primary) {
                return select(lookup, here.to_vec().into_iter(), ask, rules);
            }
            let found = select(lookup, elsewhere.to_vec().into_iter(), ask, rules);
            found.at_most(if is_the_only_one { Resolution::Exact } else { Resolution::Heuristic })
        })
    }

    /// Whether the repository contains a type with the name of the class.
    pub(crate) fn is_type_of_repository(&mut self, family: Family, class: &Definition) -> bool {
        let named = self.named(family, class.name);
        let query = LinkQuery::new(Topic::AnyType, family as FileId, Name::EMPTY, class.name, Ask::TYPE);
        let found = self.shared(query, named.len(), |lookup| {
            let is_type = |(file, index): &(FileId, u32)| lookup.definition(*file, *index).kind.is_type();
            let first = named.iter().find(is_type);
            first.map_or(Finding::Nothing, |(file, index)| {
                Finding::of(Referents::one(Referent::Definition { file, index }), Resolution::Exact)
            })
        });
        !found.is_nothing()
    }
}
