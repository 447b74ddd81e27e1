//! Runs the query once over the tree and sorts what it captures into plain lists of byte ranges.
//!
//! Nothing here looks at the text. Nodes are not kept: ranges are four times smaller and need no tree.

use std::ops::ControlFlow;

use cairn_domain::{BindingEvidence, ReferenceKind, SymbolKind};
use streaming_iterator::StreamingIterator;
use tree_sitter::{Node, QueryCursor, QueryCursorOptions, QueryMatch, TreeCursor};

use super::query::{CompiledQuery, ImportRole, Role};
use super::{Budget, ParseLimits};

/// A range of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Place {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Place {
    fn of(node: Node<'_>) -> Place {
        Place { start: node.start_byte() as u32, end: node.end_byte() as u32 }
    }

    pub(super) fn text(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    pub(super) fn contains(self, byte: u32) -> bool {
        self.start <= byte && byte < self.end
    }

    pub(super) fn len(self) -> usize {
        (self.end - self.start) as usize
    }
}

/// What a region of the file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Head {
    Symbol(SymbolKind),
    /// No symbol, but its members belong to an owner named there (`impl` blocks).
    Scope,
    /// A function without a name: variables in it are local.
    Local,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct RawDefinition {
    pub(super) place: Place,
    pub(super) name: Option<Place>,
    pub(super) head: Head,
    pub(super) body_start: Option<u32>,
    pub(super) owner: Option<Place>,
    pub(super) self_name: Option<Place>,
    pub(super) visibility: Option<Place>,
    pub(super) receiver: Option<Place>,
    /// Of a clause, where the pattern captures its parameters.
    pub(super) num_parameters: Option<u8>,
    pub(super) pattern: u16,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct RawReference {
    pub(super) kind: ReferenceKind,
    /// The last part of the name, or a whole chain if `is_path`.
    pub(super) name: Place,
    pub(super) is_path: bool,
    pub(super) receiver: Option<Place>,
    pub(super) num_arguments: Option<u8>,
    pub(super) pattern: u16,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct RawBinding {
    pub(super) name: Place,
    pub(super) type_name: Place,
    /// `type_name` is the name of another variable, whose type it has.
    pub(super) is_source: bool,
    /// The function that makes the value, where the row lists those that are constructors.
    pub(super) function: Option<Place>,
    pub(super) evidence: BindingEvidence,
    pub(super) pattern: u16,
}

/// Something that belongs to the definition below or around it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct RawAttachment {
    pub(super) place: Place,
    pub(super) is_decorator: bool,
    /// A text in it that documents the definition (`@doc "…"`).
    pub(super) doc: Option<Place>,
}

/// A declared package or namespace; without `body` it holds until the next one, or to the end of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawPackage {
    pub(super) name: Place,
    pub(super) body: Option<Place>,
    pub(super) pattern: u16,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct RawExportName {
    pub(super) name: Place,
    pub(super) alias: Option<Place>,
    pub(super) pattern: u16,
}

/// All captures of a file, by what they mean, in the order in which the query found them.
#[derive(Default)]
pub(super) struct Raw {
    pub(super) definitions: Vec<RawDefinition>,
    /// Names of variables that are in truth something of that kind.
    pub(super) becomes: Vec<(Place, SymbolKind)>,
    /// With whether it exports what it wraps.
    pub(super) wrappers: Vec<(Place, bool)>,
    pub(super) references: Vec<RawReference>,
    pub(super) bindings: Vec<RawBinding>,
    /// Names of parameters and local variables whose type is not evident.
    pub(super) opaque: Vec<Place>,
    pub(super) attachments: Vec<RawAttachment>,
    /// Texts inside definitions that document them (docstrings).
    pub(super) docs: Vec<Place>,
    pub(super) imports: Vec<(Place, u16)>,
    pub(super) import_parts: Vec<(Place, ImportRole)>,
    pub(super) export_names: Vec<RawExportName>,
    pub(super) type_parameters: Vec<Place>,
    /// Code in which calls are uses of types.
    pub(super) types: Vec<Place>,
    /// Where names start that are no references, though a pattern finds them.
    pub(super) not_references: Vec<u32>,
    pub(super) packages: Vec<RawPackage>,
    /// Words that state the visibility of the members behind them.
    pub(super) sections: Vec<Place>,
}

impl Raw {
    fn clear(&mut self) {
        self.definitions.clear();
        self.becomes.clear();
        self.wrappers.clear();
        self.references.clear();
        self.bindings.clear();
        self.opaque.clear();
        self.attachments.clear();
        self.docs.clear();
        self.imports.clear();
        self.import_parts.clear();
        self.export_names.clear();
        self.type_parameters.clear();
        self.types.clear();
        self.not_references.clear();
        self.packages.clear();
        self.sections.clear();
    }
}

/// Fills `raw`. False if the deadline passed.
pub(super) fn collect(
    query: &CompiledQuery,
    cursor: &mut QueryCursor,
    root: Node<'_>,
    text: &str,
    limits: &ParseLimits<'_>,
    budget: &mut Budget<'_>,
    raw: &mut Raw,
) -> bool {
    raw.clear();
    let mut walk = root.walk();
    let mut in_time = true;
    let mut progress = |_: &_| {
        in_time = budget.spend();
        if in_time { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let options = QueryCursorOptions::new().progress_callback(&mut progress);
    let mut matches = cursor.matches_with_options(&query.query, root, text.as_bytes(), options);
    while let Some(found) = matches.next() {
        add_match(query, found, &mut walk, raw);
        if raw.definitions.len() > limits.max_symbols || raw.references.len() > limits.max_references {
            break;
        }
    }
    drop(matches);
    in_time
}

/// What a match can hold once.
#[derive(Default)]
struct Slots {
    definition: Option<(Place, Head)>,
    reference: Option<(Place, ReferenceKind)>,
    attachment: Option<(Place, bool)>,
    package: Option<Place>,
    package_body: Option<Place>,
    doc: Option<Place>,
    binding: Option<BindingEvidence>,
    name: Option<Place>,
    path: Option<Place>,
    body_start: Option<u32>,
    owner: Option<Place>,
    self_name: Option<Place>,
    visibility: Option<Place>,
    receiver: Option<Place>,
    num_arguments: Option<u8>,
    has_arguments: bool,
    num_more_arguments: u8,
    binding_name: Option<Place>,
    binding_type: Option<Place>,
    binding_source: Option<Place>,
    binding_function: Option<Place>,
    export_name: Option<Place>,
    export_alias: Option<Place>,
}

impl Slots {
    /// Those of the list and those beside it; none if the list spreads a value.
    fn num_arguments(&self) -> Option<u8> {
        match (self.num_arguments, self.num_more_arguments) {
            (None, 0) => None,
            (None, more) if !self.has_arguments => Some(more),
            (listed, more) => listed?.checked_add(more),
        }
    }
}

fn add_match<'tree>(query: &CompiledQuery, found: &QueryMatch<'_, 'tree>, walk: &mut TreeCursor<'tree>, raw: &mut Raw) {
    let mut slots = Slots::default();
    let pattern = found.pattern_index as u16;
    for capture in found.captures() {
        let place = Place::of(capture.node);
        match query.roles[capture.index as usize] {
            Role::Definition(kind) => slots.definition = Some((place, Head::Symbol(kind))),
            Role::Scope => slots.definition = Some((place, Head::Scope)),
            Role::Local => slots.definition = Some((place, Head::Local)),
            Role::Becomes(kind) => raw.becomes.push((place, kind)),
            Role::Name => slots.name = Some(place),
            Role::Path => slots.path = Some(place),
            Role::Body => slots.body_start = Some(place.start),
            Role::Owner => slots.owner = Some(place),
            Role::SelfName => slots.self_name = Some(place),
            Role::Visibility => slots.visibility = Some(place),
            Role::Reference(kind) => slots.reference = Some((place, kind)),
            Role::Receiver => slots.receiver = Some(place),
            Role::Arguments => {
                slots.has_arguments = true;
                let count = count_arguments(query, capture.node, walk);
                slots.num_arguments = match query.properties[pattern as usize].holds_callee {
                    true => count.and_then(|count| count.checked_sub(1)),
                    false => count,
                };
            }
            Role::Argument => slots.num_more_arguments += 1,
            Role::Binding(evidence) => slots.binding = Some(evidence),
            Role::Opaque => raw.opaque.push(place),
            Role::BindingName => slots.binding_name = Some(place),
            Role::BindingType => slots.binding_type = Some(place),
            Role::BindingSource => slots.binding_source = Some(place),
            Role::BindingFunction => slots.binding_function = Some(place),
            Role::ExportName => slots.export_name = Some(place),
            Role::ExportAlias => slots.export_alias = Some(place),
            Role::Section => raw.sections.push(place),
            Role::Doc => slots.doc = Some(place),
            Role::Comment => slots.attachment = Some((place, false)),
            Role::Decorator => slots.attachment = Some((place, true)),
            Role::Wrapper => raw.wrappers.push((place, false)),
            Role::Export => raw.wrappers.push((place, true)),
            Role::Import => raw.imports.push((place, pattern)),
            Role::ImportPart(part) => raw.import_parts.push((place, part)),
            Role::TypeParameter => raw.type_parameters.push(place),
            Role::Types => raw.types.push(place),
            Role::Package => slots.package = Some(place),
            Role::PackageBody => slots.package_body = Some(place),
            Role::NotReference => raw.not_references.push(place.start),
            Role::Ignored => {}
        }
    }
    push_heads(&slots, pattern, raw);
}

fn push_heads(slots: &Slots, pattern: u16, raw: &mut Raw) {
    if let Some((place, head)) = slots.definition {
        raw.definitions.push(RawDefinition {
            place,
            name: slots.name,
            head,
            body_start: slots.body_start,
            owner: slots.owner,
            self_name: slots.self_name,
            visibility: slots.visibility,
            receiver: slots.receiver,
            num_parameters: slots.num_arguments,
            pattern,
        });
    }
    if let Some(name) = slots.package {
        raw.packages.push(RawPackage { name, body: slots.package_body, pattern });
    }
    match (slots.attachment, slots.doc) {
        (Some((place, is_decorator)), doc) => raw.attachments.push(RawAttachment { place, is_decorator, doc }),
        (None, Some(doc)) => raw.docs.push(doc),
        (None, None) => {}
    }
    if let Some((place, kind)) = slots.reference {
        raw.references.push(RawReference {
            kind,
            name: slots.path.or(slots.name).unwrap_or(place),
            is_path: slots.path.is_some(),
            receiver: slots.receiver,
            num_arguments: slots.num_arguments(),
            pattern,
        });
    }
    let of_binding = slots.binding_type.or(slots.binding_source);
    if let (Some(evidence), Some(name), Some(type_name)) = (slots.binding, slots.binding_name, of_binding) {
        let is_source = slots.binding_source.is_some();
        raw.bindings.push(RawBinding {
            name,
            type_name,
            is_source,
            function: slots.binding_function,
            evidence,
            pattern,
        });
    }
    if let Some(name) = slots.export_name {
        raw.export_names.push(RawExportName { name, alias: slots.export_alias, pattern });
    }
}

/// Number of named children that are no comments; none if one of them spreads, or there are more than a `u8` holds.
fn count_arguments<'tree>(query: &CompiledQuery, list: Node<'tree>, walk: &mut TreeCursor<'tree>) -> Option<u8> {
    if list.named_child_count() == 0 {
        return Some(0);
    }
    walk.reset(list);
    let mut count = 0u8;
    let mut more = walk.goto_first_child();
    while more {
        let node = walk.node();
        if node.is_named() && !node.is_extra() {
            if query.spread_nodes.binary_search(&node.kind_id()).is_ok() {
                return None;
            }
            count = count.checked_add(1)?;
        }
        more = walk.goto_next_sibling();
    }
    Some(count)
}
