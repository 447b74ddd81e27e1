//! The items to which a name can refer, and the certainty of a result.

use cairn_domain::{Resolution, SymbolKind};

use crate::names::FileId;
use crate::rules::Rules;
use crate::{Definition, Family, Name};

/// The item to which a name refers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Referent {
    Definition {
        file: FileId,
        index: u32,
    },
    /// A file that is used as a namespace, or an inline module in the file.
    File {
        file: FileId,
        container: Name,
    },
    /// A package or namespace that consists of several files. In Python, a folder, identified by its path.
    Package(Family, Name),
}

impl Referent {
    pub(crate) fn file(self) -> Option<FileId> {
        if let Referent::File { file, .. } = self { Some(file) } else { None }
    }
}

/// Maximum number of edges from one reference.
pub(crate) const MAX_CANDIDATES: usize = 5;

/// A small set of referents, in the order of their discovery.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Referents {
    items: [Referent; MAX_CANDIDATES + 1],
    len: u8,
}

impl Referents {
    pub(crate) fn one(referent: Referent) -> Self {
        let mut referents = Self::default();
        referents.add(referent);
        referents
    }

    /// Adds a referent. The set contains at most one referent more than `MAX_CANDIDATES`. The additional
    /// referent shows that the limit is exceeded.
    pub(crate) fn add(&mut self, referent: Referent) {
        if !self.as_slice().contains(&referent) && usize::from(self.len) < self.items.len() {
            self.items[usize::from(self.len)] = referent;
            self.len += 1;
        }
    }

    pub(crate) fn as_slice(&self) -> &[Referent] {
        &self.items[..usize::from(self.len)]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn single(&self) -> Option<Referent> {
        if let [referent] = self.as_slice() { Some(*referent) } else { None }
    }
}

impl Default for Referents {
    fn default() -> Self {
        Self { items: [Referent::Package(Family::Other, Name::EMPTY); MAX_CANDIDATES + 1], len: 0 }
    }
}

/// The result of a lookup.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Finding {
    /// The name refers to at least one referent.
    Found(Referents, Resolution),
    /// The name is defined outside the repository.
    External,
    Nothing,
}

impl Finding {
    /// The result of an import that finds one file.
    pub(crate) fn file(file: FileId) -> Finding {
        Finding::of(Referents::one(Referent::File { file, container: Name::EMPTY }), Resolution::Import)
    }

    pub(crate) fn of(referents: Referents, resolution: Resolution) -> Self {
        if referents.is_empty() { Finding::Nothing } else { Finding::Found(referents, resolution) }
    }

    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self, Finding::Nothing)
    }

    /// Whether both results have the same referents in the same order.
    pub(crate) fn is_same_as(&self, other: &Finding) -> bool {
        match (self, other) {
            (Finding::Found(a, _), Finding::Found(b, _)) => a.as_slice() == b.as_slice(),
            _ => false,
        }
    }

    /// Lowers the certainty to `limit` if the certainty is higher.
    pub(crate) fn at_most(self, limit: Resolution) -> Self {
        match self {
            Finding::Found(referents, resolution) => Finding::Found(referents, resolution.max(limit)),
            other => other,
        }
    }

    /// Combines two results that apply under different conditions. The combined result contains the referents
    /// of both results. If the two results differ, the certainty is lower.
    pub(crate) fn or(self, other: Finding) -> Self {
        match (self, other) {
            (Finding::Nothing, other) => other,
            (first, Finding::Nothing) => first,
            (Finding::Found(mut referents, a), Finding::Found(more, b)) => {
                more.as_slice().iter().for_each(|referent| referents.add(*referent));
                Finding::Found(referents, a.max(b))
            }
            (Finding::Found(referents, a), Finding::External) | (Finding::External, Finding::Found(referents, a)) => {
                Finding::Found(referents, a.max(Resolution::Heuristic))
            }
            (Finding::External, Finding::External) => Finding::External,
        }
    }
}

/// The kind of item to which a reference can refer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Want {
    Call,
    /// The class whose object a constructor call creates.
    Instance,
    Type,
    Value,
    /// An item of any kind, because the name is only the start of a longer chain of names.
    Any,
}

impl Want {
    pub(crate) fn accepts(self, kind: SymbolKind, rules: Rules) -> bool {
        use SymbolKind::{Constant, Enum, Field, Function, Macro, Module, Variable};
        match self {
            Want::Call if rules.only_functions_are_called => kind.is_callable(),
            Want::Call => {
                kind.is_callable()
                    || matches!(kind, Variable | Constant | Field | Enum)
                    || kind.is_type() && !rules.constructors_need_new
            }
            // The constructors of a class are methods with the class's name. If an instantiation inside the
            // class uses this name, the name means the class, not a constructor.
            Want::Instance => {
                kind.is_type()
                    || matches!(kind, Function | Macro | Variable | Constant)
                    || kind == Module && rules.modules_are_types
            }
            Want::Type => {
                kind.is_type()
                    || kind == Module
                    || rules.variables_hide_types && matches!(kind, Variable | Constant)
                    || rules.members_at_top && kind == Constant
            }
            Want::Value | Want::Any => true,
        }
    }

    /// Whether the reference means a class. In some languages, a class and an object can have the same name;
    /// a reference that means a class never means the object.
    pub(crate) fn is_of_type(self) -> bool {
        matches!(self, Want::Instance | Want::Type)
    }

    /// Whether an item of this kind is preferred to items of other kinds with the same name.
    pub(crate) fn prefers(self, kind: SymbolKind) -> bool {
        match self {
            Want::Call => kind.is_callable(),
            Want::Instance | Want::Type => {
                kind.is_type() && kind != SymbolKind::Interface || kind == SymbolKind::Interface && self == Want::Type
            }
            Want::Value => kind != SymbolKind::Module,
            Want::Any => kind.is_container(),
        }
    }
}

/// The kind of item to which a reference refers, and the number of arguments if the reference is a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) want: Want,
    pub(crate) num_arguments: Option<u8>,
}

impl Ask {
    pub(crate) const ANY: Ask = Ask { want: Want::Any, num_arguments: None };
    pub(crate) const TYPE: Ask = Ask { want: Want::Type, num_arguments: None };
}

/// Whether the parameters of a definition accept the call.
pub(crate) fn admits(definition: &Definition, ask: Ask) -> bool {
    ask.want != Want::Call || definition.arity.accepts(ask.num_arguments)
}
