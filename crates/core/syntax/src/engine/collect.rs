//! Runs the query once over the syntax tree, and sorts the captures by role into lists of byte ranges.
//!
//! This module does not read the text. Nodes are not stored, because ranges are four times smaller and do not
//! need the tree.

use std::ops::ControlFlow;

use cairn_domain::{BindingEvidence, ReferenceKind, SymbolKind};
use streaming_iterator::StreamingIterator;
use tree_sitter::{Node, QueryCursor, QueryCursorOptions, QueryMatch, TreeCursor};

use super::limits::{Budget, ParseLimits};
use super::query::{CompiledQuery, ImportRole, Role};

/// A range of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct ByteRange {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl ByteRange {
    fn of(node: Node<'_>) -> ByteRange {
        ByteRange { start: node.start_byte() as u32, end: node.end_byte() as u32 }
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

/// The kind of a region of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Head {
    Symbol(SymbolKind),
    /// A region without a symbol, such as an `impl` block. The members of the region belong to the owner that
    /// the region names.
    Scope,
    /// An anonymous function. Variables inside it are local.
    Local,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct RawDefinition {
    pub(super) range: ByteRange,
    pub(super) name: Option<ByteRange>,
    pub(super) head: Head,
    pub(super) body_start: Option<u32>,
    pub(super) owner: Option<ByteRange>,
    pub(super) self_name: Option<ByteRange>,
    pub(super) visibility: Option<ByteRange>,
    pub(super) receiver: Option<ByteRange>,
    /// The number of parameters. The number is set only for a clause whose pattern captures the parameters.
    pub(super) num_parameters: Option<u8>,
    pub(super) pattern: u16,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct RawReference {
    pub(super) kind: ReferenceKind,
    /// The last part of the name, or the whole chain if `is_path` is true.
    pub(super) name: ByteRange,
    pub(super) is_path: bool,
    pub(super) receiver: Option<ByteRange>,
    pub(super) num_arguments: Option<u8>,
    pub(super) pattern: u16,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct RawBinding {
    pub(super) name: ByteRange,
    pub(super) type_name: ByteRange,
    /// Whether `type_name` is the name of another variable that has the same type.
    pub(super) is_source: bool,
    /// The function that returns the value, for languages whose table row lists constructor functions.
    pub(super) function: Option<ByteRange>,
    pub(super) evidence: BindingEvidence,
    pub(super) pattern: u16,
}

/// A comment or decorator. A comment or decorator belongs to the definition below it or around it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct RawAttachment {
    pub(super) range: ByteRange,
    pub(super) is_decorator: bool,
    /// The text inside the attachment that documents the definition, as in `@doc "…"`.
    pub(super) doc: Option<ByteRange>,
}

/// A declared package or namespace. Without `body` it applies up to the next declaration, or to the end of
/// the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawPackage {
    pub(super) name: ByteRange,
    pub(super) body: Option<ByteRange>,
    pub(super) pattern: u16,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct RawExportName {
    pub(super) name: ByteRange,
    pub(super) alias: Option<ByteRange>,
    pub(super) pattern: u16,
}

/// All captures of a file, sorted by role, in the order of the query's matches.
#[derive(Default)]
pub(super) struct Raw {
    pub(super) definitions: Vec<RawDefinition>,
    /// The names of variables that are really definitions of a different kind, such as classes. Each name is
    /// stored with the kind of its definition.
    pub(super) becomes: Vec<(ByteRange, SymbolKind)>,
    /// The ranges of wrappers: nodes around a definition, such as `export …`. The flag is true if the wrapper
    /// exports its definition.
    pub(super) wrappers: Vec<(ByteRange, bool)>,
    pub(super) references: Vec<RawReference>,
    pub(super) bindings: Vec<RawBinding>,
    /// The names of parameters and local variables, with or without a type.
    pub(super) opaque: Vec<ByteRange>,
    pub(super) attachments: Vec<RawAttachment>,
    /// Texts such as docstrings: each is inside the definition that it documents.
    pub(super) docs: Vec<ByteRange>,
    pub(super) imports: Vec<(ByteRange, u16)>,
    pub(super) import_parts: Vec<(ByteRange, ImportRole)>,
    pub(super) export_names: Vec<RawExportName>,
    pub(super) type_parameters: Vec<ByteRange>,
    /// Ranges of code in which a call is a use of a type.
    pub(super) types: Vec<ByteRange>,
    /// The starts of names that are not references, although a pattern matches them.
    pub(super) not_references: Vec<u32>,
    pub(super) packages: Vec<RawPackage>,
    /// Words that set the visibility of the members after them.
    pub(super) sections: Vec<ByteRange>,
    /// The arguments of macros. These arguments may contain items.
    pub(super) item_macros: Vec<ByteRange>,
}

/// Runs the query and adds its captures to `raw`. Returns false if a limit stopped the query.
pub(super) fn collect(
    query: &CompiledQuery,
    cursor: &mut QueryCursor,
    root: Node<'_>,
    text: &str,
    limits: &ParseLimits<'_>,
    budget: &mut Budget<'_>,
    raw: &mut Raw,
) -> bool {
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

/// The captures that a match contains at most once.
#[derive(Default)]
struct Slots {
    definition: Option<(ByteRange, Head)>,
    reference: Option<(ByteRange, ReferenceKind)>,
    attachment: Option<(ByteRange, bool)>,
    package: Option<ByteRange>,
    package_body: Option<ByteRange>,
    doc: Option<ByteRange>,
    binding: Option<BindingEvidence>,
    name: Option<ByteRange>,
    path: Option<ByteRange>,
    body_start: Option<u32>,
    owner: Option<ByteRange>,
    self_name: Option<ByteRange>,
    visibility: Option<ByteRange>,
    receiver: Option<ByteRange>,
    num_arguments: Option<u8>,
    has_arguments: bool,
    num_more_arguments: u8,
    binding_name: Option<ByteRange>,
    binding_type: Option<ByteRange>,
    binding_source: Option<ByteRange>,
    binding_function: Option<ByteRange>,
    export_name: Option<ByteRange>,
    export_alias: Option<ByteRange>,
}

impl Slots {
    fn definition(&self, pattern: u16) -> Option<RawDefinition> {
        let (range, head) = self.definition?;
        Some(RawDefinition {
            range,
            name: self.name,
            head,
            body_start: self.body_start,
            owner: self.owner,
            self_name: self.self_name,
            visibility: self.visibility,
            receiver: self.receiver,
            num_parameters: self.num_arguments,
            pattern,
        })
    }

    fn reference(&self, pattern: u16) -> Option<RawReference> {
        let (range, kind) = self.reference?;
        Some(RawReference {
            kind,
            name: self.path.or(self.name).unwrap_or(range),
            is_path: self.path.is_some(),
            receiver: self.receiver,
            num_arguments: self.num_arguments(),
            pattern,
        })
    }

    fn binding(&self, pattern: u16) -> Option<RawBinding> {
        Some(RawBinding {
            name: self.binding_name?,
            type_name: self.binding_type.or(self.binding_source)?,
            is_source: self.binding_source.is_some(),
            function: self.binding_function,
            evidence: self.binding?,
            pattern,
        })
    }

    /// The number of arguments of a call: the arguments in the list, and the arguments after the list, such
    /// as the block in `run(a) { … }`. None if one node of the list expands to several arguments.
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
        let range = ByteRange::of(capture.node);
        match query.roles[capture.index as usize] {
            Role::Definition(kind) => slots.definition = Some((range, Head::Symbol(kind))),
            Role::Scope => slots.definition = Some((range, Head::Scope)),
            Role::Local => slots.definition = Some((range, Head::Local)),
            Role::Becomes(kind) => raw.becomes.push((range, kind)),
            Role::Name => slots.name = Some(range),
            Role::Path => slots.path = Some(range),
            Role::Body => slots.body_start = Some(range.start),
            Role::Owner => slots.owner = Some(range),
            Role::SelfName => slots.self_name = Some(range),
            Role::Visibility => slots.visibility = Some(range),
            Role::Reference(kind) => slots.reference = Some((range, kind)),
            Role::Receiver => slots.receiver = Some(range),
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
            Role::Opaque => raw.opaque.push(range),
            Role::BindingName => slots.binding_name = Some(range),
            Role::BindingType => slots.binding_type = Some(range),
            Role::BindingSource => slots.binding_source = Some(range),
            Role::BindingFunction => slots.binding_function = Some(range),
            Role::ExportName => slots.export_name = Some(range),
            Role::ExportAlias => slots.export_alias = Some(range),
            Role::Section => raw.sections.push(range),
            Role::Doc => slots.doc = Some(range),
            Role::Comment => slots.attachment = Some((range, false)),
            Role::Decorator => slots.attachment = Some((range, true)),
            Role::Wrapper => raw.wrappers.push((range, false)),
            Role::Export => raw.wrappers.push((range, true)),
            Role::Import => raw.imports.push((range, pattern)),
            Role::ImportPart(part) => raw.import_parts.push((range, part)),
            Role::TypeParameter => raw.type_parameters.push(range),
            Role::Types => raw.types.push(range),
            Role::Package => slots.package = Some(range),
            Role::PackageBody => slots.package_body = Some(range),
            Role::NotReference => raw.not_references.push(range.start),
            Role::ItemMacro => raw.item_macros.push(range),
            Role::Ignored => {}
        }
    }
    push_heads(&slots, pattern, raw);
}

fn push_heads(slots: &Slots, pattern: u16, raw: &mut Raw) {
    raw.definitions.extend(slots.definition(pattern));
    raw.packages.extend(slots.package.map(|name| RawPackage { name, body: slots.package_body, pattern }));
    match (slots.attachment, slots.doc) {
        (Some((range, is_decorator)), doc) => raw.attachments.push(RawAttachment { range, is_decorator, doc }),
        (None, Some(doc)) => raw.docs.push(doc),
        (None, None) => {}
    }
    raw.references.extend(slots.reference(pattern));
    raw.bindings.extend(slots.binding(pattern));
    raw.export_names.extend(slots.export_name.map(|name| RawExportName { name, alias: slots.export_alias, pattern }));
}

/// The number of named children that are not comments. None if one of these children expands to several
/// arguments, or if the number is too large for a `u8`.
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
