//! Definitions become symbols: parents, qualified names, signatures, docs, visibility.

use cairn_domain::{Symbol, SymbolKind, Visibility};
use rustc_hash::{FxHashMap, FxHashSet};

use super::ParseLimits;
use super::attachments::{Attachments, Said, docstring};
use super::collect::{Head, Place, Raw, RawDefinition};
use super::guard::LineIndex;
use super::names::{fold, plain_name, split_chain};
use super::query::{CompiledQuery, Properties};
use super::regions::{Locator, Region};
use super::visibility::{self, Declaration};
use super::wrappers::{self, Wrapped};
use cairn_languages::{LanguageRow, VisibilityRule};

/// Longest signature, in characters.
const MAX_SIGNATURE_CHARS: usize = 300;
/// Bytes of a definition in which its signature stands, with all white space.
const SIGNATURE_BYTES: usize = 4_096;
/// Definitions nested deeper are none of their own.
const MAX_DEPTH: usize = 64;
/// Longest qualified name, in bytes. Each member of a class repeats the names of all that is around it.
const MAX_QUALIFIED_BYTES: usize = 1_000;

/// The symbols of a file and the regions that belong to them.
pub(super) struct Outline<'t> {
    pub(super) symbols: Vec<Symbol>,
    pub(super) regions: Vec<Region<'t>>,
    /// Where the names of definitions start: they are no references.
    pub(super) name_starts: FxHashSet<u32>,
}

/// What building a symbol needs to see.
struct Builder<'t, 'q> {
    row: &'static LanguageRow,
    query: &'q CompiledQuery,
    text: &'t str,
    lines: &'t LineIndex,
    attachments: Attachments<'t>,
    imports_test_library: bool,
    import_places: FxHashSet<Place>,
    outline: Outline<'t>,
    /// Visibility that members of each region have by default, by region.
    member_visibility: Vec<Option<Visibility>>,
    /// Fields set on the object itself, so that each counts once.
    fields: FxHashSet<(u32, &'t str)>,
    /// The same for methods that stand outside of their class, by the name of the class.
    outside_fields: FxHashSet<(String, &'t str)>,
    /// Symbols of those fields.
    outside: Vec<(u32, String)>,
    /// First symbol of a name, by region, owner and name as written; none for a variable that is left out.
    declared: FxHashMap<(Option<u32>, &'t str, &'t str), Option<u32>>,
    /// What shows that a variable is more than that: its name, where that stands, the kind.
    becomes: FxHashMap<&'t str, Vec<(u32, SymbolKind)>>,
    /// By region (`u32::MAX`: the file), the last function in it, if it is one of clauses.
    clauses: FxHashMap<u32, Clause>,
}

/// What holds a definition.
struct Holder {
    region: Option<u32>,
    /// The class, for a field that a method sets which stands outside of it.
    class: Option<String>,
}

/// A function that is defined by clauses, as far as they have been read.
#[derive(Clone, Copy)]
struct Clause {
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
    let outline = Outline { symbols: Vec::new(), regions: Vec::new(), name_starts: FxHashSet::default() };
    let mut builder = Builder {
        row,
        query,
        text,
        lines,
        attachments,
        imports_test_library: imports_test_library(row, text, raw),
        import_places: raw.imports.iter().map(|(place, _)| *place).collect(),
        outline,
        member_visibility: Vec::new(),
        fields: FxHashSet::default(),
        outside_fields: FxHashSet::default(),
        outside: Vec::new(),
        declared: FxHashMap::default(),
        becomes: FxHashMap::default(),
        clauses: FxHashMap::default(),
    };
    for (place, kind) in &raw.becomes {
        builder.becomes.entry(place.text(text)).or_default().push((place.start, *kind));
    }
    raw.sections.sort_unstable();
    builder.build(&definitions, &wrapped, &raw.sections);
    builder.attach_owners();
    if !raw.export_names.is_empty() {
        builder.export_listed(raw);
    }
    builder.attach_docstrings(raw);
    builder.outline
}

/// In order of position, outer ones first. Several patterns may match one definition: the first in the query file
/// wins, the others add what it lacks.
fn sorted_definitions(raw: &mut Raw, limits: &ParseLimits<'_>) -> Vec<RawDefinition> {
    let mut sorted = std::mem::take(&mut raw.definitions);
    sorted.sort_by_key(|raw| {
        let name = raw.name.map_or(0, |name| name.start);
        (raw.place.start, u32::MAX - raw.place.end, name, raw.pattern)
    });
    sorted.dedup_by(|later, first| {
        let same = later.place == first.place && later.name == first.name;
        if same {
            first.body_start = first.body_start.or(later.body_start);
            first.visibility = first.visibility.or(later.visibility);
            first.owner = first.owner.or(later.owner);
            first.self_name = first.self_name.or(later.self_name);
        }
        same
    });
    sorted.truncate(limits.max_symbols);
    // Of several names of one declaration, the one that can hold its members stands closest to them.
    let holds_members = |head: Head| matches!(head, Head::Symbol(kind) if kind.is_container());
    sorted.sort_by_key(|raw| (raw.place.start, u32::MAX - raw.place.end, holds_members(raw.head)));
    sorted
}

/// `Foo.Bar` as a name: `Bar` of the owner `Foo`.
fn split_dotted(row: &LanguageRow, query: &CompiledQuery, text: &str, definitions: &mut [RawDefinition]) {
    let is_dotted = |definition: &RawDefinition| query.properties[definition.pattern as usize].dotted;
    for definition in definitions.iter_mut().filter(|definition| is_dotted(definition)) {
        let Some(name) = definition.name else { continue };
        let Some(chain) = split_chain(row, name.text(text)).filter(|chain| !chain.prefix.is_empty()) else { continue };
        let last = name.start + chain.last_start as u32;
        definition.owner = Some(Place { start: name.start, end: last - 1 });
        definition.name = Some(Place { start: last, end: name.end });
    }
}

fn imports_test_library(row: &LanguageRow, text: &str, raw: &Raw) -> bool {
    let imports = |library: &&str| raw.imports.iter().any(|(place, _)| place.text(text).contains(library));
    row.tests.libraries.iter().any(imports)
}

impl<'t> Builder<'t, '_> {
    fn build(&mut self, definitions: &[RawDefinition], wrapped: &[Wrapped], sections: &[Place]) {
        let mut stack: Vec<u32> = Vec::new();
        let mut sections = sections.iter().peekable();
        for (definition, wrapped) in definitions.iter().zip(wrapped) {
            while let Some(section) = sections.next_if(|section| section.start < definition.place.start) {
                self.begin_section(*section, &mut stack);
            }
            let regions = &self.outline.regions;
            // Several names of one declaration stand beside each other.
            let is_over =
                |region: &Region<'_>| region.inner.end <= definition.place.start || region.inner == definition.place;
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

    /// Members of the innermost region behind `section` have the visibility that it states.
    fn begin_section(&mut self, section: Place, stack: &mut Vec<u32>) {
        let regions = &self.outline.regions;
        while stack.last().is_some_and(|top| regions[*top as usize].inner.end <= section.start) {
            stack.pop();
        }
        if let Some(top) = stack.last() {
            self.member_visibility[*top as usize] = visibility::of_words(self.row, section.text(self.text));
        }
    }

    /// Adds the definition; the index of its region, unless it has none.
    fn add(&mut self, definition: &RawDefinition, wrapped: Wrapped, around: Option<u32>) -> Option<u32> {
        match definition.head {
            Head::Symbol(kind) => self.add_symbol(definition, kind, wrapped, around),
            Head::Scope => match self.properties(definition).becomes {
                Some(kind) => self.change_function(kind, around),
                None => Some(self.add_scope(definition, around)),
            },
            Head::Local => {
                let symbol = self.symbol_of(around);
                Some(self.push_region(Region { is_local: true, ..bare_region(definition.place, around, symbol) }, None))
            }
        }
    }

    /// The function directly around is of that kind; what follows are its members.
    fn change_function(&mut self, kind: SymbolKind, around: Option<u32>) -> Option<u32> {
        let region = around.filter(|region| !self.outline.regions[*region as usize].is_local)?;
        let symbol = &mut self.outline.symbols[self.outline.regions[region as usize].symbol? as usize];
        if symbol.kind.is_callable() {
            symbol.kind = kind;
        }
        None
    }

    fn symbol_of(&self, region: Option<u32>) -> Option<u32> {
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
        let Place { start, end } = definition.place;
        let outer = Place { start: self.attachments.preamble(start, start).start, end };
        self.push_region(Region { owner, outer, ..bare_region(definition.place, around, None) }, members)
    }

    fn properties(&self, definition: &RawDefinition) -> &Properties {
        &self.query.properties[definition.pattern as usize]
    }

    /// Qualified name of an owner that is named at `place`.
    fn owner_name(&self, place: Place, around: Option<u32>) -> Option<String> {
        let chain = split_chain(self.row, place.text(self.text)).filter(|_| place.len() <= MAX_QUALIFIED_BYTES)?;
        let prefix = self.qualified_prefix(around);
        if self.row.dotted_owners && !chain.prefix.is_empty() {
            return Some(qualify(prefix, &chain.joined()));
        }
        let name = plain_name(self.row, chain.last);
        // Extensions of a type in its own companion belong to the type itself.
        let own = prefix.filter(|prefix| prefix.rsplit('.').next() == Some(name));
        Some(own.map_or_else(|| qualify(prefix, name), str::to_owned))
    }

    fn qualified_prefix(&self, around: Option<u32>) -> Option<&str> {
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
        let name = match (&properties.name, definition.name) {
            (_, Some(place)) => plain_name(self.row, place.text(self.text)),
            (Some(fixed), None) => fixed.as_str(),
            (None, None) => return None,
        };
        let is_known = definition.name.is_some_and(|place| self.outline.name_starts.contains(&place.start));
        if name.is_empty() || name == "_" || is_known || name.len() > MAX_QUALIFIED_BYTES {
            // Known if a node around this one defines the name.
            return None;
        }
        let of_object = definition.receiver.is_some() || properties.of_object;
        let holder =
            if of_object { self.holder_of_field(definition, around)? } else { Holder { region: around, class: None } };
        let around = holder.region;
        let kind = self.kind_of(kind, name, definition, around);
        let written = definition.name.map_or("", |place| place.text(self.text));
        let owner = definition.owner.map_or("", |owner| owner.text(self.text));
        let earlier = *self.declared.entry((around, owner, written)).or_insert(None);
        if properties.assigned && !kind.is_callable() && (earlier.is_some() || !self.is_own(owner, around)) {
            return None;
        }
        if !of_object
            && (kind == SymbolKind::Variable || properties.not_local)
            && !properties.keep_local
            && self.is_local(around)
        {
            return None;
        }
        if !of_object && kind == SymbolKind::Field && around.is_some_and(|index| self.is_function(index)) {
            // A type without name in the code of a function.
            return None;
        }
        if properties.declaration && self.is_local(around) {
            return None;
        }
        let can_be_import =
            matches!(kind, SymbolKind::Variable | SymbolKind::Constant | SymbolKind::Field | SymbolKind::Type);
        if can_be_import && self.import_places.contains(&definition.place) {
            // `const fs = require("fs")` is an import.
            return None;
        }
        if kind == SymbolKind::Field {
            let field = definition.name.map_or("", |place| plain_name(self.row, place.text(self.text)));
            let is_new = match &holder.class {
                Some(owner) => self.outside_fields.insert((owner.clone(), field)),
                None => self.fields.insert((around.unwrap_or(u32::MAX), field)),
            };
            if of_object && !is_new {
                return None;
            }
        }
        self.outline.name_starts.extend(definition.name.map(|place| place.start));
        self.outline.name_starts.extend(definition.owner.map(|place| place.start));
        if let Some(region) = self.continued(definition, kind, name, around, properties) {
            return Some(region);
        }
        let mut symbol = self.new_symbol(definition, kind, name, wrapped, &holder, properties);
        if let Some(earlier) = earlier.filter(|_| properties.assigned) {
            let Symbol { visibility, exported, .. } = self.outline.symbols[earlier as usize];
            (symbol.visibility, symbol.exported) = (visibility, exported);
        }
        let outer = self.outer_place(definition, wrapped);
        let index = self.outline.symbols.len() as u32;
        self.declared.entry((around, owner, written)).and_modify(|first| *first = first.or(Some(index)));
        if let Some(owner) = holder.class {
            self.outside.push((index, owner));
        }
        self.outline.symbols.push(symbol);
        // The value of a field that a method sets belongs to the method.
        let region = (!of_object).then(|| self.add_symbol_region(definition, outer, around, properties));
        let clause = region.filter(|_| properties.clause);
        match clause.map(|region| Clause { region, num_parameters: definition.num_parameters }) {
            Some(clause) => self.clauses.insert(around.unwrap_or(u32::MAX), clause),
            None => self.clauses.remove(&around.unwrap_or(u32::MAX)),
        };
        region
    }

    /// The region of the function right before, if the definition is another clause of it: the function reaches to its
    /// end then.
    fn continued(
        &mut self,
        definition: &RawDefinition,
        kind: SymbolKind,
        name: &str,
        around: Option<u32>,
        properties: &Properties,
    ) -> Option<u32> {
        let last = *self.clauses.get(&around.unwrap_or(u32::MAX)).filter(|_| properties.clause)?;
        let outline = &mut self.outline;
        let region = &mut outline.regions[last.region as usize];
        let symbol = &mut outline.symbols[region.symbol? as usize];
        if symbol.name != name || symbol.kind != kind || last.num_parameters != definition.num_parameters {
            return None;
        }
        let end = definition.place.end;
        region.inner.end = region.inner.end.max(end);
        region.outer.end = region.outer.end.max(end);
        symbol.span.end = symbol.span.end.max(self.lines.last_line(region.outer.start, end));
        Some(last.region)
    }

    fn add_symbol_region(
        &mut self,
        definition: &RawDefinition,
        outer: Place,
        around: Option<u32>,
        properties: &Properties,
    ) -> u32 {
        let symbol = Some(self.outline.symbols.len() as u32 - 1);
        let owner = definition.owner.and_then(|owner| self.owner_name(owner, around));
        let self_name = definition.self_name.map(|place| place.text(self.text));
        let inner = definition.place;
        let region = Region { outer, inner, owner, self_name, ..bare_region(inner, around, symbol) };
        self.push_region(region, properties.members)
    }

    fn outer_place(&self, definition: &RawDefinition, wrapped: Wrapped) -> Place {
        let name_start = definition.name.map_or(definition.place.start, |name| name.start);
        Place { start: self.attachments.preamble(wrapped.place.start, name_start).start, end: wrapped.place.end }
    }

    /// The region of the class whose method sets a field on its own object, or the region around the method and the name
    /// of the class, if the method stands outside of it.
    fn holder_of_field(&self, definition: &RawDefinition, around: Option<u32>) -> Option<Holder> {
        if let Some(receiver) = definition.receiver {
            self.row.self_words.iter().find(|word| **word == receiver.text(self.text))?;
        }
        let regions = &self.outline.regions;
        let mut at = around;
        while let Some(index) = at {
            let region = &regions[index as usize];
            let is_container = !region.is_local
                && region
                    .symbol
                    .map_or(region.owner.is_some(), |symbol| self.outline.symbols[symbol as usize].kind.is_container());
            if is_container {
                return Some(Holder { region: Some(index), class: None });
            }
            if region.owner.is_some() {
                return Some(Holder { region: region.parent, class: region.owner.clone() });
            }
            at = region.parent;
        }
        None
    }

    fn kind_of(&self, kind: SymbolKind, name: &str, definition: &RawDefinition, around: Option<u32>) -> SymbolKind {
        let has_owner = definition.owner.is_some();
        let parent = around.map(|index| &self.outline.regions[index as usize]);
        let in_type = parent.filter(|region| !region.is_local).is_some_and(|region| match region.symbol {
            Some(symbol) => {
                let kind = self.outline.symbols[symbol as usize].kind;
                kind.is_container() && kind != SymbolKind::Module
            }
            None => region.owner.is_some(),
        });
        if let Some(shown) = self.shown_kind(kind, definition, around) {
            return shown;
        }
        match kind {
            SymbolKind::Function if in_type || has_owner => SymbolKind::Method,
            SymbolKind::Variable if self.row.upper_case_constants && is_upper_case(name) && !self.is_local(around) => {
                SymbolKind::Constant
            }
            SymbolKind::Variable if in_type => SymbolKind::Field,
            other => other,
        }
    }

    /// What the code around a variable shows it to be; functions of what is only a module are no methods.
    fn shown_kind(&self, kind: SymbolKind, definition: &RawDefinition, around: Option<u32>) -> Option<SymbolKind> {
        if self.becomes.is_empty() {
            return None;
        }
        let owner = definition.owner.map(|owner| owner.text(self.text));
        let name = definition.name?.text(self.text);
        match kind {
            SymbolKind::Function => {
                self.becomes(owner?, around).filter(|shown| *shown == SymbolKind::Module).map(|_| kind)
            }
            SymbolKind::Variable | SymbolKind::Field | SymbolKind::Constant => {
                self.becomes(&qualify(owner, name), around)
            }
            _ => None,
        }
    }

    /// A type before anything else.
    fn becomes(&self, written: &str, around: Option<u32>) -> Option<SymbolKind> {
        let evidence = self.becomes.get(written)?;
        let region = around.map(|index| self.outline.regions[index as usize].inner);
        let kinds = evidence.iter().filter(|(start, _)| region.is_none_or(|region| region.contains(*start)));
        kinds.map(|(_, kind)| *kind).max_by_key(|kind| kind.is_type())
    }

    /// Whether the file itself declares what a field is set of.
    fn is_own(&self, owner: &str, around: Option<u32>) -> bool {
        let root = self
            .row
            .separators
            .iter()
            .find_map(|separator| owner.split_once(separator))
            .map_or(owner, |(root, _)| root);
        root.is_empty() || self.declared.get(&(around, "", root)).is_some_and(Option::is_some)
    }

    /// Whether a variable there is local: in anything but a container or the file itself.
    fn is_local(&self, around: Option<u32>) -> bool {
        let Some(region) = around.map(|index| &self.outline.regions[index as usize]) else { return false };
        let in_container = region
            .symbol
            .map_or(region.owner.is_some(), |symbol| self.outline.symbols[symbol as usize].kind.is_container());
        region.is_local || !in_container
    }

    fn new_symbol(
        &self,
        definition: &RawDefinition,
        kind: SymbolKind,
        name: &str,
        wrapped: Wrapped,
        holder: &Holder,
        properties: &Properties,
    ) -> Symbol {
        let around = holder.region;
        let name_place =
            definition.name.unwrap_or(Place { start: definition.place.start, end: definition.place.start });
        let head_end = definition.body_start.map_or(name_place.start, |body| body.min(name_place.start));
        let preamble = self.attachments.preamble(wrapped.place.start, head_end);
        let Said { doc, decorators } = self.attachments.said(self.row, preamble);
        let parent = self.symbol_of(around);
        let signature = self.signature(definition, wrapped, properties);
        let owner = definition.owner.and_then(|owner| self.owner_name(owner, around));
        let qualified_name =
            qualify(holder.class.as_deref().or(owner.as_deref()).or(self.qualified_prefix(around)), name);
        let parent_symbol = parent.map(|parent| &self.outline.symbols[parent as usize]);
        let declared = self.declared_visibility(definition, around, properties);
        let declaration = Declaration {
            name,
            parent: parent_symbol,
            has_owner: owner.is_some() || holder.class.is_some(),
            in_function: self.is_in_function(around),
            exported: wrapped.exported || properties.exported,
        };
        let (visibility, exported) = visibility::resolve(self.row, &declaration, declared);
        let is_test = properties.test
            || parent_symbol.is_some_and(|parent| parent.is_test)
            || self.is_test(kind, name, &signature, &decorators);
        Symbol {
            name: name.to_owned(),
            qualified_name,
            kind,
            span: self.attachments.span(preamble.start, wrapped.place.end),
            name_line: self.lines.line_of(name_place.start),
            signature,
            doc,
            decorators,
            parent,
            visibility,
            exported,
            is_test,
        }
    }

    fn is_in_function(&self, around: Option<u32>) -> bool {
        let outer = |region: &u32| self.outline.regions[*region as usize].parent;
        std::iter::successors(around, outer).any(|region| self.is_function(region))
    }

    fn is_function(&self, region: u32) -> bool {
        let region = &self.outline.regions[region as usize];
        let kind = region.symbol.map(|symbol| self.outline.symbols[symbol as usize].kind);
        region.is_local || kind.is_some_and(SymbolKind::is_callable)
    }

    /// What the declaration, its pattern or the block around it states.
    fn declared_visibility(
        &self,
        definition: &RawDefinition,
        around: Option<u32>,
        properties: &Properties,
    ) -> Option<Visibility> {
        let written = definition.visibility.and_then(|place| visibility::of_words(self.row, place.text(self.text)));
        let by_block = || around.and_then(|index| self.member_visibility[index as usize]);
        written.or(properties.visibility).or_else(by_block)
    }

    fn signature(&self, definition: &RawDefinition, wrapped: Wrapped, properties: &Properties) -> String {
        let start = self.attachments.skip_leading(wrapped.place.start);
        let body_start = definition.body_start.map(|body| self.attachments.before_comments(start, body));
        let end = body_start.unwrap_or(definition.place.end).max(start);
        let name = definition.name.filter(|name| end <= name.start).map(|name| name.text(self.text));
        let num_reserved = name.map_or(0, |name| name.chars().count() + 1) + usize::from(properties.declaration);
        let written = Place { start, end }.text(self.text);
        let written = &written[..written.floor_char_boundary(SIGNATURE_BYTES)];
        let mut signature = fold(written, MAX_SIGNATURE_CHARS.saturating_sub(num_reserved));
        let trimmed = signature.trim_end_matches(['{', ':', ';', ',', '=', ' ']).len();
        signature.truncate(trimmed);
        if let Some(name) = name.filter(|_| num_reserved < MAX_SIGNATURE_CHARS) {
            // `typedef struct { … } Name`
            signature.push(' ');
            signature.push_str(name);
        }
        if properties.declaration {
            signature.push(';');
        }
        match &properties.signature {
            Some(words) if !signature.starts_with(words.as_str()) => format!("{words} {signature}"),
            _ => signature,
        }
    }

    fn is_test(&self, kind: SymbolKind, name: &str, signature: &str, decorators: &[String]) -> bool {
        let rules = &self.row.tests;
        let without_arguments = |text: &'_ str| text.split('(').next().map(str::len).unwrap_or_default();
        let is_mark =
            |text: &str| rules.decorators.iter().any(|rule| text == *rule || &text[..without_arguments(text)] == *rule);
        if decorators.iter().any(|text| is_mark(text)) {
            return true;
        }
        let marked = |marks: &[&str]| marks.iter().any(|mark| signature.contains(mark));
        let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
        if kind.is_callable() {
            return starts(rules.function_prefixes) && (self.imports_test_library || marked(rules.signature_marks));
        }
        kind.is_container() && (marked(rules.class_marks) || self.imports_test_library && starts(rules.class_prefixes))
    }

    /// Gives scopes and definitions with an owner the symbol that they belong to, where the file defines it.
    fn attach_owners(&mut self) {
        if self.outside.is_empty() && self.outline.regions.iter().all(|region| region.owner.is_none()) {
            return;
        }
        // A type if there is one of that name; functions are classes in old JavaScript.
        let mut named: FxHashMap<&str, u32> = FxHashMap::default();
        let symbols = &self.outline.symbols;
        for kinds in [SymbolKind::is_type, |kind: SymbolKind| !kind.is_type()] {
            for (index, symbol) in symbols.iter().enumerate().filter(|(_, symbol)| kinds(symbol.kind)) {
                named.entry(&symbol.qualified_name).or_insert(index as u32);
            }
        }
        let find = |region: &Region<'_>| region.owner.as_deref().and_then(|owner| named.get(owner)).copied();
        let owners: Vec<Option<u32>> = self.outline.regions.iter().map(find).collect();
        let mut parents: Vec<(u32, u32)> = Vec::new();
        for (index, region) in self.outline.regions.iter().enumerate() {
            let around = region.parent.and_then(|parent| owners[parent as usize]);
            let owner = if region.owner.is_some() { owners[index] } else { around };
            if let (Some(symbol), Some(owner)) = (region.symbol, owner) {
                parents.push((symbol, owner));
            }
        }
        for (symbol, owner) in &self.outside {
            parents.extend(named.get(owner.as_str()).map(|owner| (*symbol, *owner)));
        }
        for (region, owner) in self.outline.regions.iter_mut().zip(&owners) {
            if region.symbol.is_none() && !region.is_local {
                region.symbol = *owner;
            }
        }
        for (symbol, owner) in parents.into_iter().filter(|(symbol, owner)| owner < symbol) {
            let has_parent = self.outline.symbols[symbol as usize].parent.is_some_and(|parent| parent > owner);
            if !has_parent {
                let Symbol { exported: owner_exported, is_test, .. } = self.outline.symbols[owner as usize];
                let symbol = &mut self.outline.symbols[symbol as usize];
                symbol.parent = Some(owner);
                symbol.exported &= owner_exported;
                symbol.is_test |= is_test;
            }
        }
    }

    /// What the file lists as public is exported.
    fn export_listed(&mut self, raw: &Raw) {
        let name_of = |place: Place| plain_name(self.row, place.text(self.text));
        let listed: FxHashSet<&str> = raw.export_names.iter().map(|export| name_of(export.name)).collect();
        for index in 0..self.outline.symbols.len() {
            let parent = self.outline.symbols[index].parent.map(|parent| &self.outline.symbols[parent as usize]);
            // What stands inside a function cannot be named; methods that name a function as their owner can.
            let is_method = self.outline.symbols[index].kind == SymbolKind::Method;
            let parent_exports = parent.map(|parent| parent.exported && (is_method || !parent.kind.is_callable()));
            let symbol = &mut self.outline.symbols[index];
            if parent_exports.is_none() && listed.contains(symbol.name.as_str()) {
                symbol.exported = true;
                symbol.visibility = Visibility::Public;
            } else if parent_exports == Some(true) && symbol.visibility == Visibility::Public {
                symbol.exported = true;
            } else if matches!(self.row.visibility, VisibilityRule::Listed) {
                // Members follow what holds them; those of a type of another file stand without parent.
                let is_top = parent_exports.is_none() && symbol.name == symbol.qualified_name;
                if is_top {
                    symbol.visibility = Visibility::Private;
                }
                symbol.exported &= !is_top && parent_exports != Some(false);
            }
        }
    }

    fn attach_docstrings(&mut self, raw: &mut Raw) {
        raw.docs.sort_unstable();
        let mut locator = Locator::new(&self.outline.regions);
        for place in &raw.docs {
            let Some(region) = locator.locate(place.start) else { continue };
            let Some(symbol) = self.outline.regions[region as usize].symbol else { continue };
            let doc = &mut self.outline.symbols[symbol as usize].doc;
            if let Some(text) = docstring(place.text(self.text)) {
                *doc = Some(text);
            }
        }
    }
}

fn bare_region<'t>(place: Place, parent: Option<u32>, symbol: Option<u32>) -> Region<'t> {
    Region { inner: place, outer: place, parent, symbol, owner: None, self_name: None, is_local: false }
}

/// The name alone where the whole would be too long.
fn qualify(prefix: Option<&str>, name: &str) -> String {
    match prefix.filter(|prefix| prefix.len() + name.len() < MAX_QUALIFIED_BYTES) {
        Some(prefix) => format!("{prefix}.{name}"),
        None => name.to_owned(),
    }
}

/// `MAX_SIZE`, `N`: at least one capital letter, no small one.
fn is_upper_case(name: &str) -> bool {
    name.contains(|c: char| c.is_uppercase()) && !name.contains(|c: char| c.is_lowercase())
}
