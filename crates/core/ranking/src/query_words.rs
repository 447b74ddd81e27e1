//! Extracts the words of a question: the names that are spelled like code, and the keywords.

use std::collections::BTreeSet;

use cairn_domain::{RepoPath, SymbolEntry};

use crate::{fold_style, is_stop_word, words};

/// Words that only express that a sentence is a question. Sorted.
pub(crate) const QUESTION_WORDS: [&str; 32] = [
    "about", "all", "any", "code", "do", "does", "explain", "find", "get", "give", "has", "have", "how", "i", "list",
    "look", "me", "my", "need", "our", "please", "show", "tell", "there", "want", "was", "what", "where", "who",
    "whose", "why", "you",
];

/// The words of a question that ranking uses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct QueryWords {
    /// Names that the question spells like code, such as `UserService`, `get_user`, `render()` or `` `open`
    /// ``. The names are normalised by [`fold_style`]. For `Parser.parse`, the set contains the whole name
    /// and the last part.
    pub names: BTreeSet<String>,
    /// The names in `names` in their original spelling, in the order of the question. The parts of a
    /// qualified name are joined by dots. For `Parser::parse`, the list contains the whole name and then the
    /// last part.
    pub spelled: Vec<String>,
    /// The name that the question asks for, without surrounding quotes. The field is set if the question
    /// consists of one word, or of one name and words such as `what is` or `function`.
    pub whole: Option<String>,
    /// The words of the question without stop words and question words. Identifiers are split into words. The
    /// words are in lower case, in the order of the question, without duplicates.
    pub keywords: Vec<String>,
}

impl QueryWords {
    pub fn of(question: &str) -> Self {
        let written: Vec<&str> = question.split(is_separator).filter(|token| !token.is_empty()).collect();
        let mut names = BTreeSet::new();
        let mut spelled = Vec::new();
        for token in &written {
            if is_code_name(token) || written.len() == 1 {
                add_names(token, &mut names);
                add_spelled(token, &mut spelled);
            }
        }
        let whole = one_word(question).or_else(|| only_name(&written).map(str::to_owned));
        Self { names, spelled, whole, keywords: keywords(question) }
    }

    /// Adds a name that the question asks for. The name may also be an ordinary word: "where is timeout
    /// defined". `is_whole` is true if the question asks only for this name.
    pub fn ask_for(&mut self, name: &str, is_whole: bool) {
        if name.contains(char::is_whitespace) {
            return;
        }
        add_names(name, &mut self.names);
        let mut spelled = Vec::new();
        add_spelled(name, &mut spelled);
        spelled.extend(self.spelled.drain(..).collect::<Vec<_>>());
        let mut seen = BTreeSet::new();
        spelled.retain(|name| seen.insert(name.clone()));
        self.spelled = spelled;
        if is_whole {
            self.whole = Some(name.to_owned());
        }
    }

    /// How exactly the question spells the name of a symbol. Case and punctuation are compared too.
    pub fn spelling_of(&self, symbol: &SymbolEntry) -> Spelling {
        let is_meant = |name: &String| names_symbol(name, symbol);
        match &self.whole {
            Some(whole) if is_meant(&with_dots(whole)) => Spelling::Whole,
            Some(whole) if names_symbol_in_other_style(&with_dots(whole), symbol) => Spelling::Style,
            Some(_) => Spelling::Other,
            None if self.spelled.iter().any(is_meant) => Spelling::Part,
            None => Spelling::Other,
        }
    }

    /// The whole question, if it may be a path or the end of a path; otherwise `None`.
    pub fn path(&self) -> Option<&str> {
        let whole = self.whole.as_deref()?;
        let path = whole.strip_prefix("./").unwrap_or(whole).trim_end_matches('/');
        (path.contains(['/', '.']) && !path.contains("::") && !path.ends_with(')')).then_some(path)
    }
}

/// How exactly a question spells the name of a definition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Spelling {
    /// The whole question is this name or a qualified form of it.
    Whole,
    /// The question contains the name.
    Part,
    /// The whole question is this name, or a qualified form of it, in a different case or style.
    Style,
    /// The question contains the name in a different style, or does not contain it.
    Other,
}

/// Whether the name is the symbol's qualified name or the end of it, apart from case and style.
fn names_symbol_in_other_style(name: &str, symbol: &SymbolEntry) -> bool {
    let (wanted, parts) = (fold_style(name), symbol.qualified_name.split('.').collect::<Vec<_>>());
    (0..parts.len()).any(|first| fold_style(&parts[first..].join(".")) == wanted)
}

/// Whether `asked` is the whole path or the last parts of the path.
pub fn is_end_of_path(asked: &str, path: &RepoPath) -> bool {
    path.as_str().strip_suffix(asked).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// The question without surrounding quotes, if it contains no white space.
fn one_word(question: &str) -> Option<String> {
    let word = question.trim().trim_matches(['`', '"', '\'']);
    (!word.is_empty() && !word.contains(char::is_whitespace)).then(|| word.to_owned())
}

/// Companions: words that a question may contain in addition to a name and that do not change its meaning.
/// Sorted.
const COMPANIONS: [&str; 27] = [
    "a",
    "class",
    "const",
    "constant",
    "def",
    "define",
    "defined",
    "definition",
    "enum",
    "find",
    "fn",
    "function",
    "interface",
    "is",
    "macro",
    "method",
    "module",
    "of",
    "show",
    "struct",
    "symbol",
    "the",
    "trait",
    "type",
    "variable",
    "what",
    "where",
];

/// The only name of a question, if all other words are companions.
fn only_name<'a>(written: &[&'a str]) -> Option<&'a str> {
    let mut names = written.iter().copied().filter(|token| is_code_name(token));
    let name = names.next().filter(|_| names.next().is_none())?;
    let is_companion = |token: &&str| COMPANIONS.binary_search(&token.to_lowercase().as_str()).is_ok();
    let has_only_companions = written.iter().filter(|token| **token != name).all(is_companion);
    has_only_companions.then(|| name.trim_matches(['`', '.', ':']))
}

/// Converts a qualified name of any language to a name whose parts are separated by dots, without `()` at the
/// end.
fn with_dots(name: &str) -> String {
    let name = name.split('(').next().unwrap_or(name);
    name.replace("::", ".").replace("->", ".").replace('#', ".").trim_matches('.').to_owned()
}

/// Parts of names that refer to the place where the name is used.
const RELATIVE: [&str; 4] = ["crate", "self", "super", "this"];

/// Stems of file names. A file with one of these stems represents its directory.
const DIRECTORY_STEMS: [&str; 5] = ["mod", "lib", "index", "__init__", "main"];

/// Whether a dotted name is the name of the symbol, its qualified name, or the last parts of the module or
/// path followed by the qualified name.
fn names_symbol(asked: &str, symbol: &SymbolEntry) -> bool {
    let asked: Vec<&str> = asked.split('.').skip_while(|part| RELATIVE.contains(part)).collect();
    if let [name] = asked.as_slice() {
        return symbol.name == *name;
    }
    let qualified: Vec<&str> = symbol.qualified_name.split('.').collect();
    let is_end_behind = |module: &[&str]| {
        let full: Vec<&str> = module.iter().chain(&qualified).copied().collect();
        full.ends_with(&asked)
    };
    let directories: Vec<&str> = symbol.path.directory().split('/').filter(|part| !part.is_empty()).collect();
    let stem = symbol.path.stem();
    let file: Vec<&str> =
        directories.iter().copied().chain((!DIRECTORY_STEMS.contains(&stem)).then_some(stem)).collect();
    let module: Vec<&str> = symbol.module_path.split('.').collect();
    !asked.is_empty() && (is_end_behind(&file) || is_end_behind(&directories) || is_end_behind(&module))
}

/// The keywords of a question, as described at [`QueryWords::keywords`]. If no word is a keyword, all words
/// are returned.
pub fn keywords(question: &str) -> Vec<String> {
    let is_keyword = |word: &str| !is_stop_word(word) && QUESTION_WORDS.binary_search(&word).is_err();
    let found = distinct_words(question, is_keyword);
    if found.is_empty() { distinct_words(question, |_| true) } else { found }
}

pub(crate) fn distinct_words(text: &str, keep: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |word: &str| {
        if keep(word) && found.iter().all(|known| known != word) {
            found.push(word.to_owned());
        }
    };
    for run in text.split(|character: char| !character.is_alphanumeric()) {
        if run.is_ascii() {
            words(run, &mut add);
        } else {
            add(&run.to_lowercase());
        }
    }
    found
}

fn is_separator(character: char) -> bool {
    character.is_whitespace() || matches!(character, ',' | ';' | '?' | '!' | '"' | '\'')
}

/// Whether a word of a question is spelled like code: in backticks, with `()`, with dots, with underscores,
/// or with capitals after the first letter.
fn is_code_name(token: &str) -> bool {
    if token.starts_with('`') || token.ends_with("()") || token.contains("::") {
        return true;
    }
    let inner = token.trim_end_matches(['.', ':', ')']).trim_start_matches(['(', '.']);
    let has_lower = inner.chars().any(char::is_lowercase);
    let capital_inside = has_lower && inner.chars().skip(1).any(char::is_uppercase);
    capital_inside || inner.contains(['_', '.'])
}

fn add_names(token: &str, names: &mut BTreeSet<String>) {
    let bare = token.trim_matches(|character: char| !character.is_alphanumeric() && character != '_');
    let last = bare.rsplit(['.', ':', '#', '/']).next().unwrap_or(bare);
    for name in [bare, last] {
        let folded = fold_style(name);
        if !folded.is_empty() {
            names.insert(folded);
        }
    }
}

fn add_spelled(token: &str, spelled: &mut Vec<String>) {
    let bare = token.split('(').next().unwrap_or(token);
    let bare = bare.trim_matches(|character: char| !character.is_alphanumeric() && !matches!(character, '_' | '$'));
    let dotted = with_dots(bare);
    let last = dotted.rsplit(['.', ':', '/']).next().unwrap_or(&dotted).to_owned();
    for name in [dotted, last] {
        if !name.is_empty() && !spelled.contains(&name) {
            spelled.push(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(question: &str, names: &[&str], keywords: &[&str]) {
        let found = QueryWords::of(question);
        assert_eq!(found.names.iter().map(String::as_str).collect::<Vec<_>>(), names, "names of {question}");
        assert_eq!(found.keywords, keywords, "keywords of {question}");
    }

    fn symbol(path: &str, qualified: &str) -> SymbolEntry {
        SymbolEntry {
            name: qualified.rsplit('.').next().expect("a part").to_owned(),
            qualified_name: qualified.to_owned(),
            kind: cairn_domain::SymbolKind::Function,
            path: RepoPath::from_bytes(path.as_bytes()).expect("a path"),
            line: 1,
            span: cairn_domain::LineSpan::new(1, 1),
            chunk: None,
            node: cairn_domain::NodeKey(cairn_domain::Key128([0; 16])),
            language: "rust".to_owned(),
            module_path: String::new(),
            exported: true,
            documented: false,
            is_test: false,
        }
    }

    #[test]
    fn spelling_of_a_name_has_three_grades() {
        use Spelling::{Other, Part, Style, Whole};
        let check = |question: &str, path: &str, qualified: &str, expect: Spelling| {
            let found = QueryWords::of(question).spelling_of(&symbol(path, qualified));
            assert_eq!(found, expect, "{question} for {qualified} in {path}");
        };
        check("_display_error", "a/b.py", "_display_error", Whole);
        check("_display_error", "a/b.py", "display_error", Style);
        check("display_error", "a/b.py", "_display_error", Style);
        check("`render()`", "a/b.py", "View.render", Whole);
        check("View.render", "a/b.py", "View.render", Whole);
        check("View.render", "a/b.py", "Page.View.render", Whole);
        check("Page.render", "a/b.py", "View.render", Other);
        check("Parser::parse", "src/parser.rs", "Parser.parse", Whole);
        check("parser::parse", "src/parser.rs", "parse", Whole);
        check("crate::net::open", "src/net/mod.rs", "open", Whole);
        check("net::open", "src/net/tcp.rs", "open", Whole);
        check("http.Serve", "pkg/http/server.go", "Serve", Whole);
        check("what does _display_error do", "a/b.py", "_display_error", Part);
        check("what does _display_error do", "a/b.py", "display_error", Other);
        check("Render", "a/b.py", "render", Style);
        check("renderer", "a/b.py", "render", Other);
    }

    #[test]
    fn single_name_in_a_question_is_the_requested_name() {
        assert!(COMPANIONS.is_sorted());
        for (question, expect) in [
            ("what is getUserById", Some("getUserById")),
            ("find `open_file`", Some("open_file")),
            ("UserService class", Some("UserService")),
            ("\"unmountDir\"", Some("unmountDir")),
            ("where is Parser.parse defined?", Some("Parser.parse")),
            ("what calls getUserById", None),
            ("getUserById and setUserById", None),
            ("what is a cache", None),
        ] {
            assert_eq!(QueryWords::of(question).whole.as_deref(), expect, "{question}");
        }
    }

    #[test]
    fn paths_in_a_question_are_recognised() {
        assert_eq!(QueryWords::of("./src/net/tcp.rs").path(), Some("src/net/tcp.rs"));
        assert_eq!(QueryWords::of("`config.json`").path(), Some("config.json"));
        assert_eq!(QueryWords::of("net::open").path(), None);
        assert_eq!(QueryWords::of("read src/net").path(), None);
        let path = RepoPath::from_bytes(b"lib/src/net/tcp.rs").expect("a path");
        assert!(is_end_of_path("net/tcp.rs", &path) && is_end_of_path("lib/src/net/tcp.rs", &path));
        assert!(!is_end_of_path("et/tcp.rs", &path) && !is_end_of_path("net/tcp", &path));
    }

    #[test]
    fn questions_name_code_and_topics() {
        assert!(QUESTION_WORDS.is_sorted());
        check("where is user validation", &[], &["user", "validation"]);
        check("find handleAuthError", &["handleautherror"], &["handle", "auth", "error"]);
        check("what calls `open`?", &["open"], &["calls", "open"]);
        check("render", &["render"], &["render"]);
        check("does render() use get_user", &["getuser", "render"], &["render", "user"]);
        check("Parser.parse_file", &["parsefile", "parser.parsefile"], &["parser", "parse", "file"]);
        check("HTTP timeout.", &[], &["http", "timeout"]);
        check("how", &["how"], &["how"]);
        check("", &[], &[]);
        check("wie wird die Größe geprüft", &[], &["wie", "wird", "die", "größe", "geprüft"]);
    }
}
