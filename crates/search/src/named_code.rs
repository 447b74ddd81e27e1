//! Resolves the name in a relationship question to nodes of the graph: definitions, files, directories,
//! modules and packages.

use cairn_domain::{NodeKey, RepoPath, Scope, SymbolEntry, SymbolKind, View};
use cairn_name_match::has_arity;
use cairn_question::{NamedKind, Relation, RelationshipAsked, is_file_name, path_and_name};
use cairn_redaction::{Given, Message, quoted};

use crate::changed::{ChangedDefinition, Definitions};
use crate::file_names::{FileRequest, is_like_a_file};
use crate::heuristic::HeuristicDefinition;
use crate::repositories::KnownRepository;
use crate::resolve::{MIN_LEADING_SCORE, NameRequest, Resolved};
use crate::{QueryError, QueryErrorCode, Searcher};

/// A node with a requested name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NamedNode {
    pub(crate) node: NodeKey,
    pub(crate) name: String,
    /// `None` for packages.
    pub(crate) path: Option<RepoPath>,
    /// `Some` only for definitions.
    pub(crate) definition: Option<SymbolEntry>,
}

/// The nodes to which a name was resolved.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct NamedCode {
    pub(crate) nodes: Vec<NamedNode>,
    /// The directory or module, if the nodes are its files. Edges between the files of the group are not
    /// shown.
    pub(crate) group: Option<NamedGroup>,
    /// A sentence for the answer. Set if the name was not resolved to a definition, but to something else,
    /// such as a file.
    pub(crate) note: Option<Message>,
    /// The name of the definitions, if it is only near to the requested name.
    pub(crate) near_name: Option<String>,
    /// A sentence for the answer. Set if only some of the definitions, files or directories with the name are
    /// used.
    pub(crate) cut: Option<Message>,
}

/// A directory or module. In the graph, its files represent it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NamedGroup {
    pub(crate) kind: NamedKind,
    /// The path of the directory, or the name of the module.
    pub(crate) name: String,
    /// The paths of other directories with the requested name, whose files are also used.
    pub(crate) others: Vec<String>,
    /// Whether the directory or module has more files than the files that are used.
    pub(crate) is_cut: bool,
}

/// A name without a definition, file, directory, module or package.
pub(crate) struct Absent {
    /// No code has the name. The list contains near names, if the index contains any.
    pub(crate) similar: Vec<String>,
    /// Either the definitions of a near name, which the question may or may not mean, or the error for the
    /// absent definition.
    pub(crate) definitions: Result<Resolved, QueryError>,
    /// A sentence for the answer. Set if a package that was not compared may have the name.
    pub(crate) note: Option<&'static str>,
}

/// The result of resolving a name.
pub(crate) enum NamedAs {
    /// Definitions whose name is equal or near to the requested name.
    Definitions(Resolved),
    /// A definition in a file that changed after it was indexed. The graph does not contain the definition.
    Changed(Box<ChangedDefinition>),
    /// A line that looks like a definition. The graph does not contain the definition.
    Line(Box<HeuristicDefinition>),
    Place(NamedCode),
    Absent(Box<Absent>),
}

impl NamedAs {
    /// Whether the result is used without a search for files, directories, modules and packages.
    fn is_final(&self) -> bool {
        match self {
            Self::Definitions(resolved) => resolved.is_same_name() && !resolved.is_by_place,
            Self::Changed(_) => true,
            Self::Line(_) | Self::Place(_) | Self::Absent(_) => false,
        }
    }

    /// The result if no file, directory, module or package has the name. `note` is the note of an absent
    /// name.
    fn without_place(self, is_no_symbol: bool, note: Option<&'static str>) -> Self {
        let absent = match self {
            // The question asks for a module, file or package, so a definition with a near name is only
            // suggested.
            Self::Definitions(near) if is_no_symbol => {
                let similar = near.definitions.first().map(|hit| hit.symbol.qualified_name.clone());
                Absent { similar: similar.into_iter().collect(), definitions: Ok(near), note }
            }
            Self::Absent(absent) => Absent { note, ..*absent },
            found => return found,
        };
        Self::Absent(Box::new(absent))
    }
}

/// The kinds of things that may have a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Try {
    Symbols,
    Files,
    Directories,
    /// Files or directories, whichever have the more similar name.
    Paths,
    Modules,
    Packages,
}

/// The kinds of things that may have the name, in the order in which they are tried.
fn tries(asked: &RelationshipAsked, name: &str) -> &'static [Try] {
    use Try::{Directories, Files, Modules, Packages, Paths, Symbols};
    const CODE: &[Try] = &[Symbols, Paths, Modules, Packages];
    if path_and_name(name).is_some() {
        return &[Symbols];
    }
    match asked.kind {
        Some(NamedKind::File) => &[Files, Symbols],
        Some(NamedKind::Directory) => &[Directories, Files, Symbols],
        Some(NamedKind::Module) => &[Files, Directories, Modules, Packages, Symbols],
        Some(NamedKind::Package) => &[Packages, Directories, Files, Symbols],
        Some(NamedKind::Symbol) => &[Symbols, Files],
        None if (name.contains('/') && !has_arity(name)) || is_file_name(name) => &[Paths, Modules, Packages, Symbols],
        None => match asked.relation {
            // Names of packages seldom contain capitals, so a name with capitals is compared with symbols
            // first.
            Relation::Importers | Relation::Imports if !name.contains(char::is_uppercase) => {
                &[Paths, Modules, Packages, Symbols]
            }
            Relation::Importers
            | Relation::Imports
            | Relation::Users
            | Relation::Uses
            | Relation::Dependents
            | Relation::Dependencies
            | Relation::Related => CODE,
            _ => &[Symbols, Files],
        },
    }
}

impl NamedNode {
    pub(crate) fn of_symbol(symbol: SymbolEntry) -> Self {
        let (node, name, path) = (symbol.node, symbol.qualified_name.clone(), Some(symbol.path.clone()));
        Self { node, name, path, definition: Some(symbol) }
    }

    /// Whether the node is the definition of an interface or a trait.
    pub(crate) fn is_interface(&self) -> bool {
        let kind = self.definition.as_ref().map(|definition| definition.kind);
        matches!(kind, Some(SymbolKind::Interface | SymbolKind::Trait))
    }
}

impl NamedCode {
    /// The target with which `analyze_relationship` returns the edges of these nodes. `None` for several
    /// files.
    pub(crate) fn target(&self, name: &str) -> Option<String> {
        match (&self.group, self.nodes.as_slice()) {
            (Some(NamedGroup { kind: NamedKind::Module, name, .. }), _) => Some(name.clone()),
            (Some(directory), _) => Some(format!("{}/", directory.name)),
            (None, [file]) if file.definition.is_none() => {
                Some(file.path.as_ref().map_or_else(|| file.name.clone(), ToString::to_string))
            }
            (None, nodes) => nodes.iter().all(|node| node.definition.is_some()).then(|| name.to_owned()),
        }
    }

    /// The name for sentences about the edges of the nodes: the requested name, or the name of the definition
    /// that is used instead.
    pub(crate) fn shown_name(&self, requested: &str) -> Message {
        match &self.near_name {
            Some(name) => Message::default().and(quoted(name)),
            None => Message::default().and(Given(requested)),
        }
    }

    /// The sentences that state what is not used: some of the places with the name, or some files of a
    /// directory or module.
    pub(crate) fn cut_notes(&self) -> Vec<Message> {
        let of_group = self.group.as_ref().filter(|group| group.is_cut).map(|group| {
            let message = Message::from("Only the first ").and(self.nodes.len()).and(" files of the ");
            message.and(group.kind.as_str()).and(" ").and(quoted(&group.name)).and(" are used.")
        });
        self.cut.clone().into_iter().chain(of_group).collect()
    }

    /// Whether code with the name is left out, so that further edges may exist.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut.is_some() || self.group.as_ref().is_some_and(|group| group.is_cut)
    }

    pub(crate) fn of_definitions(resolved: &Resolved) -> Self {
        let symbols = resolved.definitions.iter().map(|hit| hit.symbol.clone());
        let nodes = symbols.map(NamedNode::of_symbol).collect();
        let used = resolved.substitution.as_ref().filter(|_| !resolved.is_same_name());
        Self { nodes, cut: resolved.cut_note(), near_name: used.map(|used| used.used.clone()), ..Self::default() }
    }
}

impl Searcher {
    /// Resolves a name of a relationship question or of `analyze_relationship`. Code with exactly this name,
    /// or with this name in a different style (`get_user`, `getUser`), is preferred to a definition with a
    /// near name.
    pub(crate) async fn named_code(
        &self,
        view: &View,
        (scope, selected): (&Scope, &[KnownRepository]),
        asked: &RelationshipAsked,
        request: NameRequest<'_>,
    ) -> Result<NamedAs, QueryError> {
        let name = request.name;
        let file = FileRequest::of_any_name(name, request.near_path);
        // "the internal uid package" is the directory `internal/uid`.
        let of_words = Some(name.replace(' ', "/")).filter(|path| path != name);
        let of_words = of_words.as_ref().map(|path| FileRequest { name: path, ..file });
        let (mut definitions, mut absent_note) = (None, None);
        for attempt in tries(asked, name) {
            let place = match attempt {
                Try::Symbols => {
                    let found = self.definitions_of(view, (scope, selected), asked.relation, request).await?;
                    if found.is_final() {
                        return Ok(found);
                    }
                    definitions = Some(found);
                    None
                }
                Try::Files => self.files_called(view, scope, file).await?,
                Try::Directories | Try::Paths => {
                    let found = match attempt {
                        Try::Paths => self.code_called(view, scope, file).await?,
                        _ => self.directories_called(view, scope, file).await?,
                    };
                    match (found, of_words) {
                        (None, Some(of_words)) => self.directories_called(view, scope, of_words).await?,
                        (found, _) => found,
                    }
                }
                Try::Modules => self.modules_called(view, (scope, selected), name).await?,
                Try::Packages => {
                    let packages = self.packages_called(view, (scope, selected), name).await?;
                    absent_note = packages.absent_note;
                    packages.named
                }
            };
            if let Some(place) = place {
                return Ok(NamedAs::Place(place));
            }
        }
        let definitions = match definitions {
            Some(definitions) => definitions,
            None => self.definitions_of(view, (scope, selected), asked.relation, request).await?,
        };
        let is_no_symbol = asked.kind.is_some_and(|kind| kind != NamedKind::Symbol) || is_like_a_file(name);
        Ok(definitions.without_place(is_no_symbol, absent_note))
    }

    async fn definitions_of(
        &self,
        view: &View,
        (scope, selected): (&Scope, &[KnownRepository]),
        relation: Relation,
        request: NameRequest<'_>,
    ) -> Result<NamedAs, QueryError> {
        match self.definitions(view, scope, selected, request).await {
            Ok(Definitions::Changed(found)) => Ok(NamedAs::Changed(found)),
            Ok(Definitions::Heuristic(found)) => Ok(NamedAs::Line(found)),
            Ok(Definitions::Indexed(resolved)) if is_meant(&resolved, request.name, relation) => {
                Ok(NamedAs::Definitions(resolved))
            }
            Ok(Definitions::Indexed(resolved)) => {
                let best = resolved.definitions.first().map(|hit| hit.symbol.qualified_name.clone());
                let others = resolved.near.iter().map(|hit| hit.symbol.qualified_name.clone());
                let similar = best.into_iter().chain(others).collect();
                Ok(NamedAs::Absent(Box::new(Absent { similar, definitions: Ok(resolved), note: None })))
            }
            Err(error) if error.code == QueryErrorCode::NotFound => {
                let similar = error.similar_symbols.clone();
                Ok(NamedAs::Absent(Box::new(Absent { similar, definitions: Err(error), note: None })))
            }
            Err(error) => Err(error),
        }
    }
}

/// Whether a near name is similar enough to the requested name. A phrase may be a description instead of a
/// name, so a near name is used only if it is very similar to the phrase. Only types have subtypes and
/// supertypes, so a near name of other code is not used for these relations.
fn is_meant(resolved: &Resolved, name: &str, relation: Relation) -> bool {
    if resolved.is_same_name() {
        return true;
    }
    let mut kinds = resolved.definitions.iter().map(|hit| hit.symbol.kind);
    let is_of_types = matches!(relation, Relation::Subtypes | Relation::Supertypes | Relation::Hierarchy);
    let score = resolved.definitions.first().map_or(0, |best| best.score);
    (!is_of_types || kinds.any(|kind| kind.is_type() || kind == SymbolKind::Module))
        && (!name.contains(char::is_whitespace) || score >= MIN_LEADING_SCORE)
}
