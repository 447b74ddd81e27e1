//! Creates the edges of documents: descriptions, mentions and entry points.

use cairn_domain::{DocumentFacts, EdgeKind, Mention, NodeKey, RepoPath, RepositoryId, Resolution};
use rustc_hash::FxHashMap;

use crate::contribution::Definition;
use crate::link_file::FileLinker;
use crate::referents::{MAX_CANDIDATES, Referent, Referents};
use crate::{Contribution, Family, Name, paths};

/// File names, without extension, of documents that describe their module or the repository.
const DESCRIBING: &[&str] = &["README", "AGENTS", "CLAUDE", "OVERVIEW", "ARCHITECTURE"];

/// The minimum length of a plain lower-case word in a code span. Shorter words are more often commands or
/// values than symbols.
const MIN_PLAIN_WORD: usize = 6;

/// The keys of a document's sections. Sections with equal heading paths get ordinals in order of their
/// positions.
pub(crate) fn section_keys(repository: RepositoryId, path: &RepoPath, document: &DocumentFacts) -> Vec<NodeKey> {
    let mut ordinals: FxHashMap<&str, u32> = FxHashMap::default();
    let keys = document.sections.iter().map(|section| {
        let ordinal = ordinals.entry(&section.heading_path).or_insert(0);
        let key = NodeKey::section(repository, path, &section.heading_path, *ordinal);
        *ordinal += 1;
        key
    });
    keys.collect()
}

impl FileLinker<'_> {
    pub(crate) fn document(&mut self) {
        let Some(document) = &self.resolver.facts.document else { return };
        let path = &self.resolver.contribution.path;
        let sections = Sections::new(document, section_keys(self.environment.repository(), path, document));
        for (section, node) in document.sections.iter().zip(&sections.nodes) {
            self.edges.add_certain(self.node, EdgeKind::Contains, *node, section.span.start);
        }
        if DESCRIBING.iter().any(|stem| path.stem().eq_ignore_ascii_case(stem)) {
            let repository = self.environment.repository();
            let described = match &self.resolver.contribution.module {
                Some(module) => NodeKey::module(repository, module),
                None => NodeKey::repository(repository),
            };
            self.edges.add_certain(self.node, EdgeKind::Describes, described, 1);
        }
        for entry in &document.entry_points {
            if let Some(file) = self.mentioned_file(&entry.text) {
                self.edges.add(self.node, EdgeKind::EntryPoint, self.file_node(file), entry.line, Resolution::Exact, 1);
                self.reach(Referent::File { file, container: Name::EMPTY });
            }
        }
        for mention in &document.mentions {
            self.mention(&sections, mention);
        }
    }

    fn mention(&mut self, sections: &Sections<'_>, mention: &Mention) {
        let source = sections.around(mention.line).unwrap_or(self.node);
        if let Some(file) = self.mentioned_file(&mention.text) {
            self.edges.add(source, EdgeKind::Mentions, self.file_node(file), mention.line, Resolution::Exact, 1);
            return;
        }
        let referents = self.mentioned_symbols(&mention.text);
        let resolution = if referents.single().is_some() { Resolution::Heuristic } else { Resolution::Ambiguous };
        if referents.as_slice().len() > MAX_CANDIDATES {
            return;
        }
        for referent in referents.as_slice() {
            let Referent::Definition { file, index } = *referent else { continue };
            let target = self.resolver.lookup.contribution(file).node(index);
            self.edges.add(source, EdgeKind::Mentions, target, mention.line, resolution, referents.as_slice().len());
        }
    }

    /// Finds the file whose path `text` contains. The path is relative to the folder of the document or to
    /// the root.
    fn mentioned_file(&mut self, text: &str) -> Option<u32> {
        let text = text.trim().trim_start_matches("./");
        if text.contains(char::is_whitespace) || !text.contains(['/', '.']) {
            return None;
        }
        let text = text.split(['#', ':']).next().unwrap_or(text);
        let beside = paths::join(self.resolver.contribution.path.directory(), text);
        let from_root = paths::join("", text);
        [beside, from_root].into_iter().flatten().find_map(|path| self.resolver.lookup.file_at(&path))
    }

    /// Finds the symbols that a text names: `name`, `name()`, `Class.method`, `module::name`.
    fn mentioned_symbols(&mut self, text: &str) -> Referents {
        let mut referents = Referents::default();
        let Some(mentioned) = MentionedName::parse(text) else { return referents };
        for family in Family::LINKED {
            let named = self.resolver.lookup.named(*family, Name::of(&mentioned.name));
            if !self.resolver.lookup.afford(named.len()) {
                return referents;
            }
            for (file, index) in named.iter() {
                let definition = self.resolver.lookup.definition(file, index);
                let contribution = self.resolver.lookup.contribution(file);
                if !definition.secondary && mentioned.means(definition, contribution) && !contribution.is_test {
                    referents.add(Referent::Definition { file, index });
                }
                if referents.as_slice().len() > MAX_CANDIDATES {
                    return referents;
                }
            }
        }
        referents
    }
}

/// The name of a symbol in the text of a mention.
struct MentionedName {
    name: String,
    /// The name of the container, if the text contains it.
    holder: Option<String>,
    /// Whether the text is a plain lower-case word, which may also be a word of a natural language.
    is_word: bool,
}

impl MentionedName {
    /// Returns `None` if the text is not the name of a symbol, or if the name is not specific enough.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let plain = text.split('(').next().unwrap_or(text).trim_end_matches('!').replace("::", ".").replace('#', ".");
        let mut parts = plain.rsplit('.');
        let name = parts.next().unwrap_or_default();
        let holder = parts.next();
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|character| character.is_alphanumeric() || character == '_')
        };
        let is_word = name.bytes().all(|byte| byte.is_ascii_lowercase()) && !text.contains('(') && holder.is_none();
        if !is_name(name) || !holder.is_none_or(is_name) || is_word && name.len() < MIN_PLAIN_WORD {
            return None;
        }
        // A name such as `__name__` has a different meaning in each module.
        if name.starts_with("__") && holder.is_none() {
            return None;
        }
        Some(Self { name: name.to_owned(), holder: holder.map(str::to_owned), is_word })
    }

    /// Whether the text can mean a definition with this name. A mention of a member must also name the
    /// member's container, unless the member's name alone is specific enough.
    fn means(&self, definition: &Definition, contribution: &Contribution) -> bool {
        let is_at_top = definition.container.is_empty();
        match &self.holder {
            None => is_at_top || !self.is_word,
            Some(holder) => {
                definition.container_last == Name::of(holder) || is_at_top && occurs_in(contribution, holder)
            }
        }
    }
}

/// The sections of a document, in order of their first lines. Sections may be nested.
struct Sections<'d> {
    document: &'d DocumentFacts,
    nodes: Vec<NodeKey>,
    /// For each section, the index of the section that directly encloses it.
    outer: Vec<Option<usize>>,
}

impl<'d> Sections<'d> {
    fn new(document: &'d DocumentFacts, nodes: Vec<NodeKey>) -> Self {
        let mut outer = Vec::with_capacity(nodes.len());
        let mut open: Vec<usize> = Vec::new();
        for (index, section) in document.sections.iter().enumerate() {
            while open.pop_if(|around| document.sections[*around].span.end < section.span.start).is_some() {}
            outer.push(open.last().copied());
            open.push(index);
        }
        Self { document, nodes, outer }
    }

    /// The node of the innermost section that contains a line.
    fn around(&self, line: u32) -> Option<NodeKey> {
        let sections = &self.document.sections;
        let mut at = sections.partition_point(|section| section.span.start <= line).checked_sub(1);
        while let Some(index) = at.filter(|index| !sections[*index].span.contains(line)) {
            at = self.outer[index];
        }
        at.map(|index| self.nodes[index])
    }
}

/// Whether the file is in a module, folder or package with this name.
fn occurs_in(file: &Contribution, name: &str) -> bool {
    let mut parts = file.module_path.split('.').chain(file.path.directory().split('/'));
    file.path.stem() == name || file.package.as_deref() == Some(name) || parts.any(|part| part == name)
}
