//! Turns definitions into symbols with parents, qualified names, signatures, docs and visibility.

use cairn_domain::{Symbol, SymbolKind, Visibility};
use cairn_languages::LanguageRow;
use rustc_hash::{FxHashMap, FxHashSet};

use super::attachments::Attachments;
use super::collect::{ByteRange, Head, Raw, RawDefinition};
use super::definitions::{imports_test_library, sorted_definitions, split_dotted};
use super::guard::LineIndex;
use super::limits::ParseLimits;
use super::names::{MAX_QUALIFIED_BYTES, plain_name, qualify, split_chain};
use super::query::{CompiledQuery, Properties};
use super::regions::Region;
use super::visibility;
use super::wrappers::{self, Wrapped};

/// Definitions that are nested deeper than this are left out.
const MAX_DEPTH: usize = 64;

/// The symbols of a file and their regions.
pub(super) struct Outline<'t> {
    pub(super) symbols: Vec<Symbol>,
    pub(super) regions: Vec<Region<'t>>,
    /// The start positions of the names of definitions. These names are not references.
    pub(super) name_starts: FxHashSet<u32>,
}

/// The data that is needed to build symbols.
pub(super) struct Builder<'t, 'q> {
    pub(super) row: &'static LanguageRow,
    pub(super) query: &'q CompiledQuery,
    pub(super) text: &'t str,
    pub(super) lines: &'t LineIndex,
    pub(super) attachments: Attachments<'t>,
    pub(super) imports_test_library: bool,
    pub(super) import_ranges: FxHashSet<ByteRange>,
    pub(super) outline: Outline<'t>,
    /// For each region, the default visibility of its members.
    pub(super) member_visibility: Vec<Option<Visibility>>,
    /// Fields that methods set on their own object. Each field is recorded only once.
    pub(super) fields: FxHashSet<(u32, &'t str)>,
    /// Like `fields`, for methods that are written outside of their class. The key is the name of the class.
    pub(super) outside_fields: FxHashSet<(String, &'t str)>,
    /// The symbols of the fields in `outside_fields`.
    pub(super) outside: Vec<(u32, String)>,
    /// The first symbol of each name, by region, owner and written name. None for a variable that is left
    /// out.
    pub(super) declared: FxHashMap<DeclaredName<'t>, Option<u32>>,
    /// Evidence that a variable is really a different kind of definition, such as a class: for each name, the
    /// positions of the evidence and the kinds.
    pub(super) becomes: FxHashMap<&'t str, Vec<(u32, SymbolKind)>>,
    /// For each region, its last function, if that function is defined by several clauses. The key `u32::MAX`
    /// means the file.
    pub(super) clauses: FxHashMap<u32, Clause>,
}

/// The container of a definition.
pub(super) struct Holder {
    pub(super) region: Option<u32>,
    /// The name of the class, for a field that is set by a method outside of the class.
    pub(super) class: Option<String>,
}

/// A definition that becomes a symbol.
pub(super) struct NewSymbol<'a> {
    pub(super) definition: &'a RawDefinition,
    pub(super) properties: &'a Properties,
    pub(super) kind: SymbolKind,
    pub(super) name: &'a str,
    pub(super) wrapped: Wrapped,
    pub(super) holder: Holder,
    /// Whether the definition is a field of the object around it.
    of_object: bool,
}

/// The region of a symbol, and its owner and its name as the source text contains them.
type DeclaredName<'t> = (Option<u32>, &'t str, &'t str);

/// A function that is defined by clauses, with the clauses read so far.
#[derive(Clone, Copy)]
pub(super) struct Clause {
    region: u32,
    num_parameters: Option<u8>,
}

pub(super) fn outline<'t>(
    row: &'static LanguageRow,
    query: &CompiledQuery,
    text: &'t str,
    lines: &'t LineIndex,
    raw: &mut Raw,
    limits: &ParseLimits<'_>,
) -> Outline<'t> {
    split_dotted(row, query, text, &mut raw.definitions);
    let definitions = sorted_definitions(raw, limits);
    let attachments = Attachments::new(text, lines, &raw.attachments);
    let wrapped = wrappers::resolve(text, raw, &definitions, &attachments);
    let mut builder = Builder::new(row, query, text, lines, attachments, raw);
    raw.sections.sort_unstable();
    builder.build(&definitions, &wrapped, &raw.sections);
    builder.attach_owners();
    if !raw.export_names.is_empty() {
        builder.export_listed(raw);
    }
    builder.attach_docstrings(raw);
    builder.outline
}

impl<'t, 'q> Builder<'t, 'q> {
    fn new(
        row: &'static LanguageRow,
        query: &'q CompiledQuery,
        text: &'t str,
        lines: &'t LineIndex,
        attachments: Attachments<'t>,
        raw: &Raw,
    ) -> Self {
        let mut becomes: FxHashMap<&str, Vec<(u32, SymbolKind)>> = FxHashMap::default();
        for (range, kind) in &raw.becomes {
            becomes.entry(range.text(text)).or_default().push((range.start, *kind));
        }
        Self {
            row,
            query,
            text,
            lines,
            attachments,
            imports_test_library: imports_test_library(row, text, raw),
            import_ranges: raw.imports.iter().map(|(range, _)| *range).collect(),
            outline: Outline { symbols: Vec::new(), regions: Vec::new(), name_starts: FxHashSet::default() },
            member_visibility: Vec::new(),
            fields: FxHashSet::default(),
            outside_fields: FxHashSet::default(),
            outside: Vec::new(),
            declared: FxHashMap::default(),
            becomes,
            clauses: FxHashMap::default(),
        }
    }
}

impl<'t> Builder<'t, '_> {
    fn build(&mut self, definitions: &[RawDefinition], wrapped: &[Wrapped], sections: &[ByteRange]) {
        let mut stack: Vec<u32> = Vec::new();
        let mut sections = sections.iter().peekable();
        for (definition, wrapped) in definitions.iter().zip(wrapped) {
            while let Some(section) = sections.next_if(|section| section.start < definition.range.start) {
                self.begin_section(*section, &mut stack);
            }
            let regions = &self.outline.regions;
            // The names of one declaration have equal ranges and are not nested in each other.
            let is_over =
                |region: &Region<'_>| region.inner.end <= definition.range.start || region.inner == definition.range;
            while stack.last().is_some_and(|top| is_over(&regions[*top as usize])) {
                stack.pop();
            }
            if stack.len() < MAX_DEPTH
                && let Some(region) = self.add(definition, *wrapped, stack.last().copied())
            {
                stack.push(region);
            }
        }
    }

    /// Sets the visibility of the members that come after `section` in the innermost region.
    fn begin_section(&mut self, section: ByteRange, stack: &mut Vec<u32>) {
        let regions = &self.outline.regions;
        while stack.last().is_some_and(|top| regions[*top as usize].inner.end <= section.start) {
            stack.pop();
        }
        if let Some(top) = stack.last() {
            self.member_visibility[*top as usize] = visibility::of_words(self.row, section.text(self.text));
        }
    }

    /// Adds the definition. Returns the index of the definition's region, or None if the definition has no
    /// region.
    fn add(&mut self, definition: &RawDefinition, wrapped: Wrapped, around: Option<u32>) -> Option<u32> {
        match definition.head {
            Head::Symbol(kind) => self.add_symbol(definition, kind, wrapped, around),
            Head::Scope => match self.properties(definition).becomes {
                Some(kind) => self.change_function(kind, around),
                None => Some(self.add_scope(definition, around)),
            },
            Head::Local => {
                let symbol = self.symbol_of(around);
                Some(self.push_region(Region { is_local: true, ..bare_region(definition.range, around, symbol) }, None))
            }
        }
    }

    /// Changes the kind of the function directly around the scope. The next definitions become members of
    /// this function.
    fn change_function(&mut self, kind: SymbolKind, around: Option<u32>) -> Option<u32> {
        let region = around.filter(|region| !self.outline.regions[*region as usize].is_local)?;
        let symbol = &mut self.outline.symbols[self.outline.regions[region as usize].symbol? as usize];
        if symbol.kind.is_callable() {
            symbol.kind = kind;
        }
        None
    }

    pub(super) fn symbol_of(&self, region: Option<u32>) -> Option<u32> {
        self.outline.regions[region? as usize].symbol
    }

    fn push_region(&mut self, region: Region<'t>, members: Option<Visibility>) -> u32 {
        self.outline.regions.push(region);
        self.member_visibility.push(members);
        self.outline.regions.len() as u32 - 1
    }

    fn add_scope(&mut self, definition: &RawDefinition, around: Option<u32>) -> u32 {
        let owner = definition.owner.and_then(|owner| self.owner_name(owner, around));
        let members = self.properties(definition).members;
        let ByteRange { start, end } = definition.range;
        let outer = ByteRange { start: self.attachments.preamble(start, start).start, end };
        self.push_region(Region { owner, outer, ..bare_region(definition.range, around, None) }, members)
    }

    pub(super) fn properties(&self, definition: &RawDefinition) -> &Properties {
        &self.query.properties[definition.pattern as usize]
    }

    /// The qualified name of the owner whose name is written in this range.
    pub(super) fn owner_name(&self, range: ByteRange, around: Option<u32>) -> Option<String> {
        let chain = split_chain(self.row, range.text(self.text)).filter(|_| range.len() <= MAX_QUALIFIED_BYTES)?;
        let prefix = self.qualified_prefix(around);
        if self.row.dotted_owners && !chain.prefix.is_empty() {
            return Some(qualify(prefix, &chain.joined()));
        }
        let name = plain_name(self.row, chain.last);
        // If an extension of a type is written inside the companion object of the type, the extension belongs
        // to the type itself.
        let own = prefix.filter(|prefix| prefix.rsplit('.').next() == Some(name));
        Some(own.map_or_else(|| qualify(prefix, name), str::to_owned))
    }

    pub(super) fn qualified_prefix(&self, around: Option<u32>) -> Option<&str> {
        let region = &self.outline.regions[around? as usize];
        let symbol = region.symbol.map(|symbol| self.outline.symbols[symbol as usize].qualified_name.as_str());
        region.owner.as_deref().filter(|_| region.symbol.is_none()).or(symbol)
    }

    fn add_symbol(
        &mut self,
        definition: &RawDefinition,
        kind: SymbolKind,
        wrapped: Wrapped,
        around: Option<u32>,
    ) -> Option<u32> {
        let query = self.query;
        let properties = &query.properties[definition.pattern as usize];
        let name = self.new_name(definition, properties)?;
        let of_object = definition.receiver.is_some() || properties.of_object;
        let holder =
            if of_object { self.holder_of_field(definition, around)? } else { Holder { region: around, class: None } };
        let around = holder.region;
        let kind = self.kind_of(kind, name, definition, around);
        let new = NewSymbol { definition, properties, kind, name, wrapped, holder, of_object };
        let owner = definition.owner.map_or("", |owner| owner.text(self.text));
        let declared = (around, owner, definition.name.map_or("", |range| range.text(self.text)));
        let earlier = *self.declared.entry(declared).or_insert(None);
        let may_repeat = properties.assigned && !kind.is_callable();
        if may_repeat && (earlier.is_some() || !self.is_own(owner, around)) || self.leaves_out(&new) {
            return None;
        }
        self.outline.name_starts.extend(definition.name.map(|range| range.start));
        self.outline.name_starts.extend(definition.owner.map(|range| range.start));
        if let Some(region) = self.continued(&new) {
            return Some(region);
        }
        let mut symbol = self.new_symbol(&new);
        if let Some(earlier) = earlier.filter(|_| properties.assigned) {
            let Symbol { visibility, exported, .. } = self.outline.symbols[earlier as usize];
            (symbol.visibility, symbol.exported) = (visibility, exported);
        }
        self.push_symbol(symbol, declared, new.holder.class.as_ref());
        // The value of a field that a method sets belongs to the method, so the field has no region.
        let region = (!of_object).then(|| self.add_symbol_region(&new));
        self.note_clause(&new, region);
        region
    }

    /// The name of a definition. Returns None if the definition has no name, or if an enclosing node defines
    /// the name.
    fn new_name<'a>(&self, definition: &RawDefinition, properties: &'a Properties) -> Option<&'a str>
    where
        't: 'a,
    {
        let name = match (&properties.name, definition.name) {
            (_, Some(range)) => plain_name(self.row, range.text(self.text)),
            (Some(fixed), None) => fixed.as_str(),
            (None, None) => return None,
        };
        let is_known = definition.name.is_some_and(|range| self.outline.name_starts.contains(&range.start));
        let is_usable = !name.is_empty() && name != "_" && !is_known && name.len() <= MAX_QUALIFIED_BYTES;
        is_usable.then_some(name)
    }

    /// Adds a symbol. `class` is the name of its class, if the symbol is a field that a method sets outside
    /// of the class.
    fn push_symbol(&mut self, symbol: Symbol, declared: DeclaredName<'t>, class: Option<&String>) {
        let index = self.outline.symbols.len() as u32;
        self.declared.entry(declared).and_modify(|first| *first = first.or(Some(index)));
        self.outside.extend(class.map(|class| (index, class.clone())));
        self.outline.symbols.push(symbol);
    }

    /// Remembers the function if it may have further clauses.
    fn note_clause(&mut self, new: &NewSymbol<'_>, region: Option<u32>) {
        let around = new.holder.region.unwrap_or(u32::MAX);
        match region.filter(|_| new.properties.clause) {
            Some(region) => {
                self.clauses.insert(around, Clause { region, num_parameters: new.definition.num_parameters });
            }
            None => {
                self.clauses.remove(&around);
            }
        }
    }

    /// Whether the definition is left out. Also remembers the names of fields, because only the first field
    /// with a given name is added.
    fn leaves_out(&mut self, new: &NewSymbol<'_>) -> bool {
        let NewSymbol { definition, properties, kind, holder, of_object, .. } = new;
        (!of_object && self.is_left_out(*kind, holder.region, properties))
            || (properties.declaration && self.is_local(holder.region))
            || self.is_import(definition, *kind)
            || (*kind == SymbolKind::Field && !self.is_first_field(definition, holder) && *of_object)
    }

    /// Whether a definition that does not belong to an object is left out. Local variables, and fields of an
    /// unnamed type inside a function, are left out.
    fn is_left_out(&self, kind: SymbolKind, around: Option<u32>, properties: &Properties) -> bool {
        let may_be_local = kind == SymbolKind::Variable || properties.not_local;
        (may_be_local && !properties.keep_local && self.is_local(around))
            || (kind == SymbolKind::Field && around.is_some_and(|index| self.is_function(index)))
    }

    /// Whether the definition is an import: `const fs = require("fs")`.
    fn is_import(&self, definition: &RawDefinition, kind: SymbolKind) -> bool {
        matches!(kind, SymbolKind::Variable | SymbolKind::Constant | SymbolKind::Field | SymbolKind::Type)
            && self.import_ranges.contains(&definition.range)
    }

    /// If the definition is another clause of the function directly before it, returns the region of that
    /// function. The function is then extended to the end of the clause.
    fn continued(&mut self, new: &NewSymbol<'_>) -> Option<u32> {
        let NewSymbol { definition, properties, kind, name, holder, .. } = new;
        let around = holder.region;
        let last = *self.clauses.get(&around.unwrap_or(u32::MAX)).filter(|_| properties.clause)?;
        let outline = &mut self.outline;
        let region = &mut outline.regions[last.region as usize];
        let symbol = &mut outline.symbols[region.symbol? as usize];
        if symbol.name != *name || symbol.kind != *kind || last.num_parameters != definition.num_parameters {
            return None;
        }
        let end = definition.range.end;
        region.inner.end = region.inner.end.max(end);
        region.outer.end = region.outer.end.max(end);
        symbol.span.end = symbol.span.end.max(self.lines.last_line(region.outer.start, end));
        Some(last.region)
    }

    fn add_symbol_region(&mut self, new: &NewSymbol<'_>) -> u32 {
        let (definition, around) = (new.definition, new.holder.region);
        let outer = self.outer_range(definition, new.wrapped);
        let symbol = Some(self.outline.symbols.len() as u32 - 1);
        let owner = definition.owner.and_then(|owner| self.owner_name(owner, around));
        let self_name = definition.self_name.map(|range| range.text(self.text));
        let inner = definition.range;
        let region = Region { outer, inner, owner, self_name, ..bare_region(inner, around, symbol) };
        self.push_region(region, new.properties.members)
    }

    pub(super) fn outer_range(&self, definition: &RawDefinition, wrapped: Wrapped) -> ByteRange {
        let name_start = definition.name.map_or(definition.range.start, |name| name.start);
        ByteRange { start: self.attachments.preamble(wrapped.range.start, name_start).start, end: wrapped.range.end }
    }
}

fn bare_region<'t>(range: ByteRange, parent: Option<u32>, symbol: Option<u32>) -> Region<'t> {
    Region { inner: range, outer: range, parent, symbol, owner: None, self_name: None, is_local: false }
}
