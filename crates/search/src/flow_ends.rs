//! The ends of the flow that a question asks for, and how exactly code matches these ends.

use std::collections::BTreeSet;

use cairn_domain::RepoPath;
use cairn_question::{FlowAsked, is_file_name, is_identifier_text};
use cairn_ranking::{EndMatch, Ends, fold_style, is_end_of_path, is_stop_word};

use crate::term_sets::term_set;

/// The start and the end of a flow. A field is `None` if the question does not state it.
pub(crate) struct AskedEnds {
    pub(crate) from: Option<AskedEnd>,
    pub(crate) to: Option<AskedEnd>,
    /// The code that the flow is about, for example `login` in "how does login work". If the question states
    /// no start, the flow probably starts at this code.
    subject: Option<AskedEnd>,
    /// Whether only code with exactly the name of the end matches the end.
    has_exact_end: bool,
}

/// The start, the end or the subject of a flow.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum AskedEnd {
    /// The path of a file or directory, or the last parts of this path.
    Place(String),
    /// The words that describe the start or the end. A node matches if its name or a part of its path
    /// contains one of these words.
    Words {
        /// The words without stop words, and without words such as "function".
        name: String,
        terms: BTreeSet<u32>,
        /// Whether the words describe a module. If so, directories match as exactly as names.
        is_module: bool,
    },
}

/// Words that may come before or after the name of a module or directory in a question.
const MODULE_WORDS: [&str; 8] =
    ["module", "package", "directory", "folder", "crate", "library", "namespace", "subsystem"];
/// Words that may come before or after the name of a definition or file in a question.
const CODE_WORDS: [&str; 5] = ["file", "class", "function", "method", "interface"];

/// The terms of a node: of its name, of the name of its file, and of the directories above this file.
struct NodeTerms {
    name: BTreeSet<u32>,
    file: BTreeSet<u32>,
    directories: BTreeSet<u32>,
}

impl AskedEnds {
    pub(crate) fn of(flow: Option<&FlowAsked>) -> Self {
        let end = |end: Option<&String>| end.and_then(|end| AskedEnd::of(end));
        Self {
            from: end(flow.and_then(|flow| flow.from.as_ref())),
            to: end(flow.and_then(|flow| flow.to.as_ref())),
            subject: end(flow.and_then(|flow| flow.subject.as_ref())),
            has_exact_end: false,
        }
    }

    /// The ends, if definitions have exactly the name of the end. If the end is written like a name, other
    /// code no longer matches it.
    pub(crate) fn with_named_end(self) -> Self {
        Self { has_exact_end: self.to.as_ref().is_some_and(AskedEnd::is_identifier), ..self }
    }

    /// The ends that the question states.
    pub(crate) fn stated(&self) -> Ends {
        Ends { from: self.from.is_some(), to: self.to.is_some(), subject: self.subject.is_some() }
    }

    /// The stated start, or the subject.
    pub(crate) fn start(&self) -> Option<&AskedEnd> {
        self.from.as_ref().or(self.subject.as_ref())
    }

    /// How exactly a node with this name in this file matches the start of the flow, and how exactly it
    /// matches the end.
    pub(crate) fn matches(&self, name: &str, path: &RepoPath) -> (EndMatch, EndMatch) {
        let terms = NodeTerms {
            name: term_set(name),
            file: term_set(path.file_name()),
            directories: term_set(path.directory()),
        };
        let exactness = |end: Option<&AskedEnd>| end.map_or(EndMatch::None, |end| end.exactness(name, path, &terms));
        let to = exactness(self.to.as_ref());
        (exactness(self.start()), if self.has_exact_end { to.only_whole() } else { to })
    }
}

impl AskedEnd {
    fn of(end: &str) -> Option<Self> {
        let words: Vec<&str> = end.split_whitespace().collect();
        let is_beside = |words: &[&str], word: &str| words.contains(&word.to_lowercase().as_str());
        let is_kind = |word: &&str| is_beside(&MODULE_WORDS, word) || is_beside(&CODE_WORDS, word);
        let names: Vec<&str> = words.iter().copied().filter(|word| !is_kind(word)).collect();
        if let [name] = names.as_slice()
            && (name.contains('/') || is_file_name(name))
        {
            return Some(Self::Place(name.trim_start_matches("./").trim_matches('/').to_owned()));
        }
        let text = if names.is_empty() { end.to_owned() } else { names.join(" ") };
        let terms = term_set(&text);
        let is_module = words.iter().any(|word| is_beside(&MODULE_WORDS, word));
        let kept: Vec<&str> = names.into_iter().filter(|word| !is_stop_word(&word.to_lowercase())).collect();
        let identifiers: Vec<&&str> = kept.iter().filter(|word| is_identifier_text(word)).collect();
        let name = match (identifiers.as_slice(), kept.is_empty()) {
            // In "Worker.run is called", the name is `Worker.run`.
            ([name], _) => (**name).to_owned(),
            (_, true) => text,
            (_, false) => kept.join(" "),
        };
        (!terms.is_empty()).then_some(Self::Words { name, terms, is_module })
    }

    /// The words as the name of a definition. `None` for a path.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Place(_) => None,
            Self::Words { name, .. } => Some(name),
        }
    }

    /// Whether the words are written like the name of a definition.
    pub(crate) fn is_identifier(&self) -> bool {
        self.name().is_some_and(is_identifier_text)
    }

    /// Whether several words describe the start or the end.
    pub(crate) fn has_several_words(&self) -> bool {
        matches!(self, Self::Words { terms, .. } if terms.len() > 1)
    }

    fn exactness(&self, name: &str, path: &RepoPath, of_node: &NodeTerms) -> EndMatch {
        match self {
            Self::Place(place) if is_end_of_path(place, path) || is_below(place, path) => EndMatch::Whole,
            Self::Words { name: asked, .. } if is_name(asked, name) => EndMatch::Whole,
            Self::Words { terms, .. }
                if terms.len() > 1
                    && terms.iter().all(|term| of_node.name.contains(term) || of_node.file.contains(term)) =>
            {
                EndMatch::AllWords
            }
            Self::Words { terms, .. } if !terms.is_disjoint(&of_node.name) || !terms.is_disjoint(&of_node.file) => {
                EndMatch::Name
            }
            Self::Words { terms, is_module, .. } if !terms.is_disjoint(&of_node.directories) => match is_module {
                true => EndMatch::Name,
                false => EndMatch::Nearby,
            },
            Self::Place(_) | Self::Words { .. } => EndMatch::None,
        }
    }
}

/// Whether the words are the name of a definition, or the last part of its qualified name, in any style.
fn is_name(words: &str, qualified_name: &str) -> bool {
    let asked: String = fold_style(words).split_whitespace().collect();
    let last = qualified_name.rsplit('.').next().unwrap_or(qualified_name);
    [qualified_name, last].iter().any(|name| fold_style(name) == asked)
}

/// Whether a file is in a directory whose path ends with `directory`.
fn is_below(directory: &str, path: &RepoPath) -> bool {
    format!("/{}", path.as_str()).contains(&format!("/{directory}/"))
}

/// Whether a question asks how a whole module works. Documents describe modules, so such a question is
/// answered with documents. Every other flow question is answered with a path.
pub(crate) fn is_about_module(flow: &FlowAsked) -> bool {
    let is_module = |word: &str| MODULE_WORDS.contains(&word.to_lowercase().as_str());
    let has_end = flow.from.is_some() || flow.to.is_some();
    !has_end && flow.subject.as_ref().is_some_and(|subject| subject.split_whitespace().any(is_module))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(end: &str, (name, path): (&str, &str), expect: EndMatch) {
        let flow = FlowAsked { to: Some(end.to_owned()), ..FlowAsked::default() };
        let path = RepoPath::parse(path).expect("a path");
        assert_eq!(AskedEnds::of(Some(&flow)).matches(name, &path), (EndMatch::None, expect), "{end} {name} {path}");
    }

    #[test]
    fn names_match_more_exactly_than_directories() {
        let order = ("save_order", "database/orders.py");
        check("order", order, EndMatch::Name);
        check("save order", order, EndMatch::Whole);
        check("SaveOrder function", order, EndMatch::Whole);
        check("orders file", order, EndMatch::Name);
        check("database", order, EndMatch::Nearby);
        check("the database module", order, EndMatch::Name);
        check("session", order, EndMatch::None);
        check("order save step", order, EndMatch::Name);
        check("orders to save", order, EndMatch::AllWords);
        check("dispatch", ("Router.dispatch", "api/router.py"), EndMatch::Whole);
        check("database", ("Database", "database/connection.py"), EndMatch::Whole);
        check("database", ("open_database", "database/connection.py"), EndMatch::Name);
        check("Router.dispatch is called", ("Router.dispatch", "api/router.py"), EndMatch::Whole);
    }

    #[test]
    fn paths_match_files_and_directories() {
        let order = ("save_order", "shop/database/orders.py");
        for place in ["orders.py", "database/orders.py", "shop/database", "./shop/database/"] {
            check(place, order, EndMatch::Whole);
        }
        check("users.py", order, EndMatch::None);
        check("shop/api", order, EndMatch::None);
    }

    #[test]
    fn subject_is_the_start_of_a_flow_without_a_stated_start() {
        let path = RepoPath::parse("auth/auth.py").expect("a path");
        let subject = Some("login".to_owned());
        let flow = FlowAsked { subject: subject.clone(), ..FlowAsked::default() };
        assert_eq!(AskedEnds::of(Some(&flow)).matches("login", &path), (EndMatch::Whole, EndMatch::None));
        let flow = FlowAsked { from: Some("router".to_owned()), subject, ..FlowAsked::default() };
        assert_eq!(AskedEnds::of(Some(&flow)).matches("login", &path), (EndMatch::None, EndMatch::None));
    }
}
