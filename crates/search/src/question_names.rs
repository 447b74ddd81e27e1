//! Resolves the names that a question mentions, so that a mistyped name finds its definition and an absent
//! name is reported.

use cairn_domain::{Scope, View};
use cairn_name_match::{has_arity, plain_name};
use cairn_ports::ResolvedSymbol;
use cairn_question::{MentionKind, NamedKind, ParsedQuery, RelationshipAsked, path_and_name};
use cairn_ranking::{QueryWords, estimate_tokens, fold_style};
use cairn_redaction::{Given, Message, Phrase, quoted};

use crate::changed::{ChangedDefinition, Definitions, has_other_name};
use crate::chunk_id::ChunkId;
use crate::file_names::{FileRequest, is_like_a_file};
use crate::leading::{Leading, NamedPlace};
use crate::named_code::{Absent, NamedAs, NamedCode};
use crate::repositories::KnownRepository;
use crate::resolve::{MIN_LEADING_SCORE, MatchedName, NameRequest, Resolved, SAME_NAME, Substitution, cut_note};
use crate::{QueryError, QueryErrorCode, Searcher};

/// Maximum number of names in a question that are resolved.
const MAX_NAMES: usize = 3;
/// Maximum number of definitions of a near name that become candidates.
const MAX_NEAR: usize = 5;
/// Minimum score, in thousandths, of a name of a definition that is not compared with names of files.
const MIN_CLOSE: u32 = 850;
/// Number of tokens of a note in addition to its names.
const NOTE_TOKENS: usize = 30;

/// A note about a name in a question, if the name is not exactly the name of a symbol or the path of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NameNote {
    pub requested: String,
    /// Whether the name is the name of a file.
    pub is_file: bool,
    /// The name that was used instead. `None` if no other name was used.
    pub substitution: Option<Substitution>,
    /// Near names, if no other name was used.
    pub similar: Vec<String>,
    /// The place of the definition, if the index does not contain it as a symbol.
    pub place: Option<NamedPlace>,
}

impl NameNote {
    /// Whether no symbol has the name, and no other name was used instead.
    pub(crate) fn is_absent(&self) -> bool {
        !self.is_file && self.substitution.is_none() && self.place.is_none()
    }
}

/// The results of resolving the names in a question.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct QuestionNames {
    pub(crate) notes: Vec<NameNote>,
    /// Definitions of near names, best first.
    pub(crate) near: Vec<Leading>,
    /// The definitions that come before all other results. If the whole question is a misspelled name: the
    /// definitions of the nearest names. If the question consists of a path and a name: the definitions of
    /// the name in this file.
    pub(crate) leading: Vec<Leading>,
    /// Whether a symbol has one of the names, apart from case and style.
    pub(crate) has_exact: bool,
    /// The nodes of the first name in a relationship question.
    pub(crate) related: NamedCode,
    /// The nodes of the second name, for example `B` in "does A call B".
    pub(crate) other: NamedCode,
    /// Sentences with facts about the names that the caller must know.
    pub(crate) facts: Vec<Message>,
}

impl QuestionNames {
    /// Adds a note that a different name was used.
    pub(crate) fn note_used(&mut self, used: Substitution, place: Option<NamedPlace>) {
        let (requested, similar) = (used.requested.clone(), Vec::new());
        self.notes.push(NameNote { requested, is_file: false, substitution: Some(used), similar, place });
    }

    fn note_absent(&mut self, requested: &str, similar: Vec<String>) {
        let (requested, substitution) = (requested.to_owned(), None);
        self.notes.push(NameNote { requested, is_file: false, substitution, similar, place: None });
    }

    /// Adds the sentence about changed files that were not searched, once for all names.
    fn add_unread(&mut self, unread: Option<Box<Message>>) {
        let new = unread.map(|note| *note).filter(|note| !self.facts.contains(note));
        self.facts.extend(new);
    }

    /// Adds the facts about an absent name in a relationship question. `kind` is the kind of thing that the
    /// question asks for.
    fn add_absent(&mut self, absent: Absent, name: &str, kind: Option<NamedKind>) {
        self.facts.extend(absent.note.map(Message::from));
        self.add_unread(absent.definitions.err().and_then(|error| error.unread));
        match kind.filter(|kind| *kind != NamedKind::Symbol) {
            Some(kind) => {
                let fact = Message::from("No ").and(kind.as_str()).and(" is called ").and(Phrase(name));
                self.facts.push(fact.and("."));
            }
            None => self.note_absent(name, absent.similar),
        }
    }

    /// Number of tokens that the notes need in an answer.
    pub(crate) fn num_tokens(&self) -> usize {
        let tokens = |note: &NameNote| {
            let used = note.substitution.iter().flat_map(|used| used.similar.iter().chain([&used.used]));
            let place = note.place.iter().flat_map(|place| [&place.repository, &place.path]);
            let names = note.similar.iter().chain([&note.requested]).chain(used).chain(place);
            names.map(|name| estimate_tokens(name)).sum::<usize>() + NOTE_TOKENS
        };
        self.notes.iter().map(tokens).sum()
    }
}

impl Searcher {
    pub(crate) async fn names_in(
        &self,
        view: &View,
        (scope, selected): (&Scope, &[KnownRepository]),
        (parsed, text): (&ParsedQuery, &str),
        near_path: Option<&str>,
    ) -> Result<QuestionNames, QueryError> {
        let mut found = QuestionNames::default();
        if let Some(asked) = &parsed.relationship {
            found.related = self.named_in(view, (scope, selected), (asked, &asked.name, near_path), &mut found).await?;
            if let Some(other) = &asked.other {
                found.other = self.named_in(view, (scope, selected), (asked, other, near_path), &mut found).await?;
            }
        }
        let whole = whole_name(parsed, text);
        found.facts.extend(names_left_out(parsed));
        for name in names_of(parsed) {
            if is_like_a_file(name) {
                found.notes.extend(self.note_of_file(view, scope, name).await?);
                continue;
            }
            let is_in_file = path_and_name(name).is_some() && parsed.relationship.is_none();
            let leads = is_in_file || parsed.file_name.is_some() || whole.as_deref() == Some(name);
            let request = NameRequest { near_path, ..NameRequest::uncounted(name) };
            let definitions = self.definitions(view, scope, selected, request).await;
            let place = FileRequest::of_any_name(name, near_path);
            if has_other_name(&definitions)
                && (is_product(name) || self.place_called(view, scope, place).await?.is_some())
            {
                continue;
            }
            if !is_close(&definitions)
                && let Some(note) = self.note_of_misspelled_file(view, scope, name).await?
            {
                found.notes.push(note);
                continue;
            }
            match definitions {
                Ok(definitions) => found.add(definitions, name, leads, selected),
                Err(error) if error.code == QueryErrorCode::NotFound => {
                    found.add_unread(error.unread);
                    found.note_absent(name, error.similar_symbols);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// The note about the name of a file in a question. `None` if the name is exactly the path of a file.
    async fn note_of_file(&self, view: &View, scope: &Scope, name: &str) -> Result<Option<NameNote>, QueryError> {
        let file = self.resolve_file(view, scope, FileRequest::new(name, None)).await?;
        let similar = match file {
            None => self.similar_paths(view, scope, name).await?,
            Some(_) => Vec::new(),
        };
        let is_absent = file.is_none();
        let substitution = file.and_then(|file| file.substitution);
        let note = NameNote { requested: name.to_owned(), is_file: true, substitution, similar, place: None };
        Ok((is_absent || note.substitution.is_some()).then_some(note))
    }

    /// The note about a name that is probably the misspelled name of a file, such as `package.jsno`. `None`
    /// if no file has a very similar name.
    async fn note_of_misspelled_file(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
    ) -> Result<Option<NameNote>, QueryError> {
        let similar = self.misspelled_files(view, scope, name, |base_name| is_misspelled(name, base_name)).await?;
        let note = NameNote { requested: name.to_owned(), is_file: true, substitution: None, similar, place: None };
        Ok((!note.similar.is_empty()).then_some(note))
    }

    /// Resolves a name in a relationship question. If the used name differs from the requested name, adds a
    /// note.
    async fn named_in(
        &self,
        view: &View,
        (scope, selected): (&Scope, &[KnownRepository]),
        (asked, name, near_path): (&RelationshipAsked, &str, Option<&str>),
        found: &mut QuestionNames,
    ) -> Result<NamedCode, QueryError> {
        let name = name.trim_end_matches("()");
        let request = NameRequest { near_path, ..NameRequest::uncounted(name) };
        match self.named_code(view, (scope, selected), asked, request).await? {
            NamedAs::Definitions(resolved) => {
                let named = NamedCode::of_definitions(&resolved);
                found.facts.extend(named.cut_notes());
                found.add_indexed(resolved, name, false);
                return Ok(named);
            }
            NamedAs::Place(place) => {
                found.has_exact = true;
                found.facts.extend(place.note.clone().into_iter().chain(place.cut_notes()));
                return Ok(place);
            }
            NamedAs::Changed(changed) => {
                let fact = Message::from("The relations of ").and(quoted(&changed.substitution.used));
                found.facts.push(fact.and(" are unknown until its repository is indexed again."));
                found.add(Definitions::Changed(changed), name, false, selected);
            }
            NamedAs::Line(line) => {
                let fact = Message::default().and(Given(name));
                found.facts.push(fact.and(" is not a known symbol, so its relations are unknown."));
                found.add(Definitions::Heuristic(line), name, false, selected);
            }
            NamedAs::Absent(_) if is_like_a_file(name) => {
                found.notes.extend(self.note_of_file(view, scope, name).await?);
            }
            NamedAs::Absent(absent) => found.add_absent(*absent, name, asked.kind),
        }
        Ok(NamedCode::default())
    }
}

/// The name in a question that asks only for the definition of this name.
fn whole_name(parsed: &ParsedQuery, text: &str) -> Option<String> {
    let asked = parsed.symbol.as_ref().filter(|asked| asked.is_whole);
    asked.map(|asked| asked.name.clone()).or_else(|| QueryWords::of(text).whole)
}

impl QuestionNames {
    /// How the name of the definition in a chunk matches the requested name.
    pub(crate) fn matched(&self, chunk: ChunkId) -> Option<&MatchedName> {
        let mut definitions = self.leading.iter().chain(&self.near);
        definitions.find(|leading| leading.id() == Some(chunk)).map(|leading| &leading.matched)
    }

    /// Makes a definition in a changed file come before all other results.
    pub(crate) fn lead_with_changed(&mut self, changed: &ChangedDefinition) {
        self.note_used(changed.substitution.clone(), Some(changed.place()));
        self.leading.extend(changed.leading());
    }

    /// Adds the definitions of a name. `leads` is true if the question is only about this name.
    fn add(&mut self, definitions: Definitions, name: &str, leads: bool, selected: &[KnownRepository]) {
        match definitions {
            Definitions::Changed(changed) => {
                self.has_exact = true;
                self.note_used(changed.substitution.clone(), Some(changed.place()));
                let is_meant = leads && changed.substitution.score >= MIN_LEADING_SCORE;
                let is_shown = is_meant || changed.substitution.is_same_name();
                self.leading.extend(changed.leading().filter(|_| is_shown));
            }
            Definitions::Heuristic(line) => {
                self.note_used(line.substitution.clone(), Some(line.place(selected)));
                self.leading.extend(leads.then(|| line.leading()));
            }
            Definitions::Indexed(resolved) => self.add_indexed(resolved, name, leads),
        }
    }

    fn add_indexed(&mut self, resolved: Resolved, name: &str, leads: bool) {
        self.has_exact |= resolved.is_same_name();
        if let Some(used) = &resolved.substitution {
            self.note_used(used.clone(), None);
        }
        let score = resolved.substitution.as_ref().map_or(0, |used| used.score);
        let is_near = !resolved.is_same_name() && score >= MIN_LEADING_SCORE;
        // If a symbol has exactly the requested name and the question is only this name, the other lists of
        // candidates already contain the definitions.
        let is_more = path_and_name(name).is_some() || has_arity(name);
        // A default export has a different name, and the name of a definition does not contain its package.
        let asked = fold_style(&plain_name(name));
        let is_other = |first: &ResolvedSymbol| !fold_style(&first.symbol.qualified_name).ends_with(&asked);
        if leads && (is_more || is_near || resolved.definitions.first().is_some_and(is_other)) {
            self.leading.extend(leading(&resolved));
        }
        if !resolved.is_same_name() {
            self.near.extend(resolved.definitions.into_iter().take(MAX_NEAR).map(Leading::of));
        }
    }
}

/// Whether the definitions have a name that is so near that the question certainly means it.
fn is_close(definitions: &Result<Definitions, QueryError>) -> bool {
    match definitions {
        Ok(Definitions::Indexed(resolved)) => {
            let score = resolved.substitution.as_ref().map_or(SAME_NAME, |used| used.score);
            score >= MIN_CLOSE
        }
        Ok(_) => true,
        Err(error) => error.code != QueryErrorCode::NotFound,
    }
}

/// Whether a name is spelled like the base name of a file with an extension, or of a file without one such as
/// `Dockerfile`, and not like a symbol.
fn is_misspelled(name: &str, base_name: &str) -> bool {
    let num_dots = |text: &str| text.trim_start_matches('.').matches('.').count();
    let is_capitalised = name.starts_with(char::is_uppercase) && !name.chars().skip(1).any(char::is_uppercase);
    num_dots(name) == num_dots(base_name) && (num_dots(name) > 0 || is_capitalised)
}

/// Names of products and techniques that are written like identifiers, in lower case and sorted. A near name
/// is no substitute for such a name.
const PRODUCTS: [&str; 40] = [
    "asyncapi",
    "bittorrent",
    "cmake",
    "couchdb",
    "devops",
    "dynamodb",
    "ebpf",
    "elasticsearch",
    "fastapi",
    "freebsd",
    "github",
    "gitlab",
    "graphql",
    "ios",
    "ipv4",
    "ipv6",
    "javascript",
    "jquery",
    "junit",
    "latex",
    "libressl",
    "macos",
    "mongodb",
    "mysql",
    "netbsd",
    "nosql",
    "oauth",
    "oauth2",
    "openapi",
    "openbsd",
    "openid",
    "openssl",
    "opentelemetry",
    "postgresql",
    "pytorch",
    "rabbitmq",
    "sqlite",
    "typescript",
    "websocket",
    "youtube",
];

fn is_product(name: &str) -> bool {
    PRODUCTS.binary_search(&name.to_lowercase().as_str()).is_ok()
}

/// The best definitions of the near names, nearest name first.
pub(crate) fn leading(resolved: &Resolved) -> Vec<Leading> {
    let best = resolved.definitions.iter().take(MAX_NEAR);
    best.chain(&resolved.near).cloned().map(Leading::of).collect()
}

/// The identifiers in a question, without duplicates. The names in a relationship question are not included,
/// because they are resolved in a different way.
pub(crate) fn names_of(parsed: &ParsedQuery) -> Vec<&str> {
    let mut names = all_names(parsed);
    names.truncate(MAX_NAMES);
    names
}

/// A sentence that states that a question has more names than are resolved.
fn names_left_out(parsed: &ParsedQuery) -> Option<Message> {
    let note = cut_note(MAX_NAMES, (all_names(parsed).len(), false), "names in the question are compared with")?;
    Some(note.and(" the known names."))
}

fn all_names(parsed: &ParsedQuery) -> Vec<&str> {
    if let Some(file) = &parsed.file_name {
        return if has_arity(&file.name) { vec![file.name.as_str()] } else { Vec::new() };
    }
    let is_name = |kind: MentionKind| {
        matches!(kind, MentionKind::Code | MentionKind::Class | MentionKind::Function | MentionKind::Symbol)
    };
    let mentioned = parsed.mentions.iter().filter(|mention| is_name(mention.kind)).map(|mention| mention.text.as_str());
    let of_relation = parsed.relationship.iter().flat_map(|asked| [Some(&asked.name), asked.other.as_ref()]);
    let related: Vec<&str> = of_relation.flatten().map(|name| name.trim_end_matches("()")).collect();
    let asked = parsed.symbol.iter().map(|asked| asked.name.as_str());
    let mut names: Vec<&str> = Vec::new();
    for name in asked.chain(mentioned).map(|name| name.trim_end_matches("()")) {
        if !name.contains(char::is_whitespace) && !names.contains(&name) && !related.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use cairn_question::ParseOptions;

    use super::*;

    #[test]
    fn number_of_names_that_are_not_resolved_is_stated() {
        let note = |question: &str| names_left_out(&ParsedQuery::new(question, ParseOptions::default()));
        assert_eq!(note("compare parse_confg and load_usr"), None);
        let stated = note("compare parse_confg, load_usr, save_itm and send_mial").expect("a sentence");
        assert_eq!(stated, "Only 3 of 4 names in the question are compared with the known names.");
    }

    #[test]
    fn misspelled_files_are_spelled_like_files() {
        assert!(is_misspelled("package.jsno", "package.json"));
        assert!(is_misspelled("Dockerfiel", "Dockerfile"));
        assert!(!is_misspelled("Server.run", "Server"));
        assert!(!is_misspelled("dockerfiel", "Dockerfile"));
        assert!(!is_misspelled("ServerCnfig", "ServerConfig"));
    }

    #[test]
    fn products_are_no_misspelled_names() {
        assert!(PRODUCTS.is_sorted());
        assert!(is_product("CMake") && is_product("PostgreSQL"));
        assert!(!is_product("cmake_args"));
    }

    #[test]
    fn only_names_of_code_are_resolved() {
        let check = |question: &str, expect: &[&str]| {
            let parsed = ParsedQuery::new(question, ParseOptions::default());
            assert_eq!(names_of(&parsed), expect, "{question}");
        };
        check("getUserDta", &["getUserDta"]);
        check("what calls validate_token", &[]);
        check("what calls validate_token and Parser.parse", &[]);
        check("what calls validate_token when Parser.parse fails", &["Parser.parse"]);
        check("find Button", &["Button"]);
        check("fn parse", &["parse"]);
        check("where is timeout defined", &["timeout"]);
        check("what is \"parse\"", &["parse"]);
        check("find \"connection refused\"", &[]);
        check("where is `render()` and Parser::parse", &["Parser::parse", "render"]);
        check("what calls render", &[]);
        check("how does authentication work", &[]);
        check("config.json", &[]);
    }
}
