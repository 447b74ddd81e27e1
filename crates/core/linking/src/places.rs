//! What a name can denote, and how sure that is.

use cairn_domain::{Resolution, SymbolKind};

use crate::environment::{FileId, Lookup};
use crate::rules::Rules;
use crate::{Definition, Family, Name};

/// What a name denotes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Place {
    Definition {
        file: FileId,
        index: u32,
    },
    /// A file as a namespace, or an inline module in it.
    File {
        file: FileId,
        container: Name,
    },
    /// A package or namespace of several files. In Python a folder, by its path.
    Package(Family, Name),
}

impl Place {
    pub(crate) fn file(self) -> Option<FileId> {
        if let Place::File { file, .. } = self { Some(file) } else { None }
    }
}

/// Most edges that one reference may give.
pub(crate) const MAX_CANDIDATES: usize = 5;

/// A small set of places, in the order of their discovery.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    items: [Place; MAX_CANDIDATES + 1],
    len: u8,
}

impl Places {
    pub(crate) fn one(place: Place) -> Self {
        let mut places = Self::default();
        places.add(place);
        places
    }

    /// Beyond one more than the limit nothing is added: it is too many already.
    pub(crate) fn add(&mut self, place: Place) {
        if !self.as_slice().contains(&place) && usize::from(self.len) < self.items.len() {
            self.items[usize::from(self.len)] = place;
            self.len += 1;
        }
    }

    pub(crate) fn as_slice(&self) -> &[Place] {
        &self.items[..usize::from(self.len)]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn single(&self) -> Option<Place> {
        if let [place] = self.as_slice() { Some(*place) } else { None }
    }
}

impl Default for Places {
    fn default() -> Self {
        Self { items: [Place::Package(Family::Other, Name::EMPTY); MAX_CANDIDATES + 1], len: 0 }
    }
}

/// Answer to a question for a name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Finding {
    /// At least one place.
    Found(Places, Resolution),
    /// It comes from outside the repository.
    External,
    Nothing,
}

impl Finding {
    pub(crate) fn of(places: Places, resolution: Resolution) -> Self {
        if places.is_empty() { Finding::Nothing } else { Finding::Found(places, resolution) }
    }

    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self, Finding::Nothing)
    }

    /// Whether both found the same places in the same order.
    pub(crate) fn is_same_as(&self, other: &Finding) -> bool {
        match (self, other) {
            (Finding::Found(a, _), Finding::Found(b, _)) => a.as_slice() == b.as_slice(),
            _ => false,
        }
    }

    /// At most as sure as `limit`.
    pub(crate) fn at_most(self, limit: Resolution) -> Self {
        match self {
            Finding::Found(places, resolution) => Finding::Found(places, resolution.max(limit)),
            other => other,
        }
    }

    /// Both answers hold under some condition: all places, and less certainty if they differ.
    pub(crate) fn or(self, other: Finding) -> Self {
        match (self, other) {
            (Finding::Nothing, other) => other,
            (first, Finding::Nothing) => first,
            (Finding::Found(mut places, a), Finding::Found(more, b)) => {
                more.as_slice().iter().for_each(|place| places.add(*place));
                Finding::Found(places, a.max(b))
            }
            (Finding::Found(places, a), Finding::External) | (Finding::External, Finding::Found(places, a)) => {
                Finding::Found(places, a.max(Resolution::Heuristic))
            }
            (Finding::External, Finding::External) => Finding::External,
        }
    }
}

/// What kind of thing is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Want {
    Call,
    /// The thing that a constructor call makes.
    Instance,
    Type,
    Value,
    /// The start of a longer chain.
    Any,
}

impl Want {
    fn accepts(self, kind: SymbolKind, rules: Rules) -> bool {
        use SymbolKind::{Constant, Enum, Field, Function, Macro, Module, Variable};
        match self {
            Want::Call if rules.only_functions_are_called => kind.is_callable(),
            Want::Call => {
                kind.is_callable()
                    || matches!(kind, Variable | Constant | Field | Enum)
                    || kind.is_type() && !rules.constructors_need_new
            }
            // Inside a class its constructors are methods that are called like it; the class is meant.
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

    /// Whether a class and not the object of its name is meant, where the language has both.
    fn is_of_type(self) -> bool {
        matches!(self, Want::Instance | Want::Type)
    }

    /// Where several kinds of things share a name, what such a reference means.
    fn prefers(self, kind: SymbolKind) -> bool {
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

/// What a reference asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) want: Want,
    pub(crate) num_arguments: Option<u8>,
}

impl Ask {
    pub(crate) const ANY: Ask = Ask { want: Want::Any, num_arguments: None };
    pub(crate) const TYPE: Ask = Ask { want: Want::Type, num_arguments: None };
}

/// Of definitions that share a scope and a name, those that the reference can mean. `Exact` only if there is no choice.
pub(crate) fn select(
    lookup: &mut Lookup<'_>,
    candidates: impl ExactSizeIterator<Item = (FileId, u32)>,
    ask: Ask,
    rules: Rules,
) -> Finding {
    if !lookup.afford(candidates.len()) {
        return Finding::Nothing;
    }
    let lookup = &*lookup;
    let mut fitting: Vec<(FileId, u32)> =
        candidates.filter(|(file, index)| ask.want.accepts(lookup.definition(*file, *index).kind, rules)).collect();
    let definition = |candidate: &(FileId, u32)| lookup.definition(candidate.0, candidate.1);
    narrow(&mut fitting, |candidate| ask.want.prefers(definition(candidate).kind));
    // Nobody makes an interface: of a class and an interface of one name the class is meant.
    narrow(&mut fitting, |candidate| ask.want != Want::Instance || definition(candidate).kind != SymbolKind::Interface);
    narrow(&mut fitting, |candidate| !definition(candidate).is_companion || !ask.want.is_of_type());
    narrow(&mut fitting, |candidate| definition(candidate).is_companion || ask.want.is_of_type());
    if rules.arity_is_name && ask.want == Want::Call {
        fitting.retain(|candidate| definition(candidate).arity.accepts(ask.num_arguments));
    }
    let mut num_choices = fitting.iter().filter(|candidate| !definition(candidate).secondary).count();
    let mut is_declared_elsewhere = false;
    if rules.overloads {
        let admitted = admitted(&fitting, definition, ask);
        is_declared_elsewhere = declares_more_than_it_defines(&admitted, definition);
        if !admitted.is_empty() || rules.arity_is_strict {
            fitting = admitted;
        }
    }
    if is_declared_elsewhere {
        num_choices = fitting.len();
    } else {
        narrow(&mut fitting, |candidate| !definition(candidate).secondary);
    }
    let mut places = Places::default();
    for (file, index) in &fitting {
        let definition = lookup.definition(*file, *index);
        places.add(match definition.parent {
            Some(holder) if definition.names_holder => Place::Definition { file: *file, index: holder },
            None if definition.names_holder => Place::File { file: *file, container: Name::EMPTY },
            _ => Place::Definition { file: *file, index: *index },
        });
    }
    let is_overloaded = num_choices > 1 && fitting.len() == 1;
    Finding::of(places, if is_overloaded { Resolution::Heuristic } else { Resolution::Exact })
}

/// Those whose parameters take the arguments. A definition also takes what its declaration does, which may state
/// defaults that the definition does not repeat.
fn admitted<'d>(
    candidates: &[(FileId, u32)],
    definition: impl Fn(&(FileId, u32)) -> &'d Definition,
    ask: Ask,
) -> Vec<(FileId, u32)> {
    let accepts = |candidate: &(FileId, u32)| definition(candidate).arity.accepts(ask.num_arguments);
    let mut is_declared = [false; 1 << u8::BITS];
    for candidate in candidates.iter().filter(|candidate| definition(candidate).secondary && accepts(candidate)) {
        is_declared[usize::from(definition(candidate).arity.max)] = true;
    }
    let fits =
        |candidate: &&(FileId, u32)| accepts(candidate) || is_declared[usize::from(definition(candidate).arity.max)];
    candidates.iter().filter(fits).copied().collect()
}

/// Whether a class declares more methods of a name than are defined: which of them is meant is not known.
fn declares_more_than_it_defines<'d>(
    candidates: &[(FileId, u32)],
    definition: impl Fn(&(FileId, u32)) -> &'d Definition,
) -> bool {
    if candidates.iter().any(|candidate| definition(candidate).kind != SymbolKind::Method) {
        return false;
    }
    let mut declared: Vec<FileId> =
        candidates.iter().filter(|candidate| definition(candidate).secondary).map(|(file, _)| *file).collect();
    declared.sort_unstable();
    // The class may be declared in more than one file, in each of them whole.
    let most_in_a_file = declared.chunk_by(|a, b| a == b).map(<[FileId]>::len).max();
    let num_defined = candidates.len() - declared.len();
    num_defined > 0 && most_in_a_file > Some(num_defined)
}

/// Keeps what satisfies the condition, unless nothing does.
fn narrow(candidates: &mut Vec<(FileId, u32)>, keep: impl Fn(&(FileId, u32)) -> bool) {
    if candidates.len() > 1 && candidates.iter().any(&keep) {
        candidates.retain(keep);
    }
}

/// Whether the parameters of a definition admit the call.
pub(crate) fn admits(definition: &Definition, ask: Ask) -> bool {
    ask.want != Want::Call || definition.arity.accepts(ask.num_arguments)
}
