//! Assembles import statements from their parts, in order of position.
//!
//! Languages nest, list and rename imports in different ways. However, in every language the parts of an
//! import statement can be read from left to right: a module and its names, each with an optional alias. In
//! some languages, the names come before the module. A group adds a prefix to all modules and names in the
//! group.

use cairn_domain::{Import, ImportedName};
use cairn_languages::{LanguageRow, RelativeImports};
use rustc_hash::FxHashMap;

use super::collect::{ByteRange, Raw};
use super::guard::LineIndex;
use super::names::{plain_name, split_chain};
use super::query::{CompiledQuery, ImportRole};
use super::regions::Locator;
use super::symbols::Outline;

pub(super) fn imports(
    row: &LanguageRow,
    query: &CompiledQuery,
    text: &str,
    lines: &LineIndex,
    raw: &mut Raw,
    outline: &Outline<'_>,
) -> Vec<Import> {
    raw.imports.sort_unstable_by_key(|(range, pattern)| (range.start, u32::MAX - range.end, *pattern));
    // An import statement inside another import statement is part of the outer statement.
    let mut reached = 0;
    raw.imports.retain(|(range, _)| {
        let outside = range.start >= reached;
        reached = reached.max(range.end);
        outside
    });
    raw.import_parts.sort_unstable_by_key(|(range, role)| (range.start, u32::MAX - range.end, order(*role)));
    raw.import_parts.dedup();
    let mut locator = Locator::new(&outline.regions);
    let mut imports = Vec::new();
    let mut parts = raw.import_parts.as_slice();
    for (range, pattern) in &raw.imports {
        let skip = parts.partition_point(|(part, _)| part.start < range.start);
        let own = parts[skip..].partition_point(|(part, _)| part.start < range.end);
        let mut statement = Statement::new(row, text);
        parts[skip..skip + own].iter().for_each(|(range, role)| statement.add(*range, *role));
        parts = &parts[skip + own..];
        let enclosing = locator.locate(range.start).and_then(|region| outline.regions[region as usize].symbol);
        let line = lines.line_of(range.start);
        let wildcard = query.properties[*pattern as usize].wildcard;
        imports.extend(statement.finish().map(|import| Import {
            line,
            enclosing,
            wildcard: import.wildcard || wildcard,
            ..import
        }));
    }
    imports
}

/// The order of parts that come from the same node: parts that contain other parts come first.
fn order(role: ImportRole) -> u8 {
    match role {
        ImportRole::Reexport => 0,
        ImportRole::Group => 1,
        ImportRole::Prefix => 2,
        ImportRole::Wildcard => 3,
        ImportRole::Module => 4,
        ImportRole::Part
        | ImportRole::Path
        | ImportRole::Name
        | ImportRole::Default
        | ImportRole::Namespace
        | ImportRole::Bound => 5,
        ImportRole::Alias => 6,
    }
}

/// The item to which the next alias applies.
#[derive(Clone, Copy)]
enum AliasTarget {
    Module,
    /// The last name of the import with this index.
    Name(usize),
}

struct Statement<'t> {
    row: &'t LanguageRow,
    text: &'t str,
    imports: Vec<Import>,
    /// For each module, the index of its first import, or of the import to which its names are added.
    by_module: FxHashMap<String, usize>,
    /// Whether the last import has no module yet, because its names or its wildcard came first.
    is_pending: bool,
    alias_target: AliasTarget,
    /// For each open group: its end, and the full prefix of the names in the group.
    groups: Vec<(u32, String)>,
    /// The range of the parts read so far, for a path that the grammar splits into parts.
    path: Option<ByteRange>,
    /// The local name that the statement binds. The name may be anywhere in the statement.
    bound: Option<&'t str>,
    reexport: bool,
}

impl<'t> Statement<'t> {
    fn new(row: &'t LanguageRow, text: &'t str) -> Self {
        Self {
            row,
            text,
            imports: Vec::new(),
            by_module: FxHashMap::default(),
            is_pending: false,
            alias_target: AliasTarget::Module,
            groups: Vec::new(),
            path: None,
            bound: None,
            reexport: false,
        }
    }

    fn add(&mut self, range: ByteRange, role: ImportRole) {
        while self.groups.last().is_some_and(|(end, _)| *end <= range.start) {
            self.groups.pop();
        }
        let text = range.text(self.text).trim();
        match role {
            ImportRole::Part => return self.add_part(range),
            // Names and wildcards are members of the path before them.
            ImportRole::Name | ImportRole::Wildcard => self.end_path(true),
            _ => self.end_path(false),
        }
        match role {
            ImportRole::Part => {}
            ImportRole::Reexport => self.reexport = true,
            ImportRole::Group => self.groups.push((range.end, self.prefix())),
            ImportRole::Prefix => {
                let outer = self.groups.iter().rev().nth(1).map(|(_, prefix)| prefix.clone()).unwrap_or_default();
                let prefix = join(outer, &self.module_text(text));
                if let Some(group) = self.groups.last_mut() {
                    group.1 = prefix;
                }
            }
            ImportRole::Wildcard => self.add_wildcard(),
            ImportRole::Module => self.add_module(text),
            ImportRole::Path => self.add_path(text),
            ImportRole::Name => self.add_name(range.text(self.text), None),
            ImportRole::Default => self.add_name("default", Some(plain_name(self.row, text).to_owned())),
            ImportRole::Namespace => self.current().alias = Some(plain_name(self.row, text).to_owned()),
            ImportRole::Bound => self.bound = Some(plain_name(self.row, text)),
            ImportRole::Alias => self.add_alias(plain_name(self.row, text)),
        }
    }

    /// Adds a part to the current path if only a separator is between them. If other text is between them,
    /// the part begins a new path.
    fn add_part(&mut self, range: ByteRange) {
        let before = self.path.map(|path| ByteRange { start: path.end, end: range.start }.text(self.text).trim());
        if before.is_some_and(|before| self.row.separators.contains(&before)) {
            self.path = self.path.map(|path| ByteRange { end: range.end, ..path });
        } else {
            self.end_path(false);
            self.path = Some(range);
        }
    }

    fn end_path(&mut self, is_module: bool) {
        let Some(path) = self.path.take() else { return };
        let text = path.text(self.text);
        if is_module { self.add_module(text) } else { self.add_path(text) }
    }

    fn prefix(&self) -> String {
        self.groups.last().map(|(_, prefix)| prefix.clone()).unwrap_or_default()
    }

    fn module_text(&self, text: &str) -> String {
        if text.starts_with(['"', '\'', '`']) {
            return plain_name(self.row, text).to_owned();
        }
        let dots = match self.row.relative_imports {
            RelativeImports::LeadingDots => text.len() - text.trim_start_matches('.').len(),
            _ => 0,
        };
        let name = text[dots..].trim();
        let joined = split_chain(self.row, name).map_or_else(|| name.to_owned(), |chain| chain.joined());
        format!("{}{joined}", &text[..dots])
    }

    fn push(&mut self, module: String) -> &mut Import {
        let empty = Import {
            module,
            level: 0,
            names: Vec::new(),
            alias: None,
            wildcard: false,
            reexport: false,
            line: 0,
            enclosing: None,
        };
        self.by_module.entry(empty.module.clone()).or_insert(self.imports.len());
        self.imports.push(empty);
        let last = self.imports.len() - 1;
        &mut self.imports[last]
    }

    fn add_module(&mut self, text: &str) {
        let module = join(self.prefix(), &self.module_text(text));
        self.alias_target = AliasTarget::Module;
        if std::mem::take(&mut self.is_pending) {
            let last = self.imports.len() - 1;
            self.by_module.entry(module.clone()).or_insert(last);
            self.imports[last].module = module;
        } else {
            self.push(module);
        }
    }

    /// The import to which names belong: the last import, or a new import whose module comes later.
    fn current(&mut self) -> &mut Import {
        if self.imports.is_empty() {
            self.is_pending = true;
            self.push(String::new());
        }
        let last = self.imports.len() - 1;
        &mut self.imports[last]
    }

    fn add_wildcard(&mut self) {
        if !self.groups.is_empty() {
            // The module of the wildcard may still follow. If no module follows, the prefix of the group is
            // the module.
            let prefix = self.prefix();
            self.push(prefix).wildcard = true;
            self.is_pending = true;
        } else {
            self.current().wildcard = true;
        }
    }

    fn add_name(&mut self, text: &str, alias: Option<String>) {
        let name = plain_name(self.row, text).to_owned();
        self.current().names.push(ImportedName { name, alias });
        self.alias_target = AliasTarget::Name(self.imports.len() - 1);
    }

    fn add_alias(&mut self, alias: &str) {
        let alias = Some(alias.to_owned());
        match self.alias_target {
            AliasTarget::Module => self.current().alias = alias,
            AliasTarget::Name(import) => match self.imports[import].names.last_mut() {
                Some(name) => name.alias = alias,
                None => self.imports[import].alias = alias,
            },
        }
    }

    /// Adds a path whose last part is the imported name. A path that ends with `.self` means the path before
    /// it.
    fn add_path(&mut self, text: &str) {
        self.is_pending = false;
        let mut path = join(self.prefix(), &self.module_text(text));
        if let Some(shorter) = path.strip_suffix(".self") {
            path = shorter.to_owned();
        }
        let Some((module, name)) = path.rsplit_once('.') else {
            self.push(path);
            self.alias_target = AliasTarget::Module;
            return;
        };
        let joins = |import: &Import| import.module == module && !import.wildcard && import.alias.is_none();
        let at = match self.by_module.get(module).copied() {
            Some(known) if joins(&self.imports[known]) => Some(known),
            Some(_) => self.imports.iter().position(joins),
            None => None,
        };
        let at = at.unwrap_or_else(|| {
            self.push(module.to_owned());
            self.imports.len() - 1
        });
        self.by_module.insert(module.to_owned(), at);
        self.imports[at].names.push(ImportedName { name: name.to_owned(), alias: None });
        self.alias_target = AliasTarget::Name(at);
    }

    fn finish(mut self) -> impl Iterator<Item = Import> {
        self.end_path(false);
        let Self { row, imports, bound, reexport, .. } = self;
        imports.into_iter().map(move |mut import| {
            import.reexport = reexport;
            bind(&mut import, bound);
            make_relative(row, &mut import);
            import
        })
    }
}

/// Binds `bound` to the last name that is imported from the module, or to the module itself if no name is
/// imported.
fn bind(import: &mut Import, bound: Option<&str>) {
    match (bound, import.names.last_mut()) {
        (Some(bound), Some(name)) if name.name != bound => name.alias = Some(bound.to_owned()),
        (Some(bound), None) => import.alias = Some(bound.to_owned()),
        _ => {}
    }
}

fn join(prefix: String, rest: &str) -> String {
    match (prefix.is_empty(), rest.is_empty()) {
        (true, _) => rest.to_owned(),
        (false, true) => prefix,
        (false, false) => format!("{prefix}.{rest}"),
    }
}

/// Removes the markers of a relative module from its name and stores their number in `level`.
fn make_relative(row: &LanguageRow, import: &mut Import) {
    let (mut level, mut rest) = (0usize, import.module.as_str());
    match row.relative_imports {
        RelativeImports::None => return,
        RelativeImports::LeadingDots => {
            rest = rest.trim_start_matches('.');
            level = import.module.len() - rest.len();
        }
        RelativeImports::SuperParts => loop {
            match rest.strip_prefix("super") {
                Some("") => rest = "",
                Some(after) if after.starts_with('.') => rest = &after[1..],
                _ => break,
            }
            level += 1;
        },
    }
    import.level = level.min(255) as u8;
    import.module = rest.to_owned();
}
