//! Recognises a question that is the pasted first line of a definition: `def f(self):`, `pub fn parse(input:
//! &str) -> Result<Ast>`, `class Foo(Bar):`.

use crate::keywords::is_stop_word;
use crate::vocabulary::list;

/// The kinds of keywords that begin a definition.
#[derive(Clone, Copy, PartialEq)]
enum Keyword {
    Function,
    Type,
    /// `const`, `let` and similar keywords.
    Value,
    /// `impl`: the line names a type that is defined elsewhere.
    Implementation,
}

/// The name that the line defines. `None` if the question is not such a line.
pub(crate) fn defined_name(question: &str) -> Option<String> {
    let question = without_attributes(question);
    let line = without_lead_ins(question);
    let has_lead_ins = line.len() < question.len();
    let (line, num_modifiers) = without_modifiers(line);
    let (word, rest) = first_word(line);
    let keyword = match word {
        _ if list("function_keywords").contains(&word) => Keyword::Function,
        _ if list("type_keywords").contains(&word) => Keyword::Type,
        _ if list("value_keywords").contains(&word) => Keyword::Value,
        "impl" => Keyword::Implementation,
        _ if has_lead_ins => return None,
        _ => return name_without_keyword(line, num_modifiers),
    };
    let name = match keyword {
        Keyword::Function => function_name(rest, word)?,
        Keyword::Type => type_name(rest, word, num_modifiers > 0)?,
        Keyword::Value => value_name(rest)?,
        Keyword::Implementation => implemented_type(rest)?,
    };
    Some(name.trim_start_matches("self.").to_owned()).filter(|name| !name.is_empty())
}

/// The text without lines that contain only an attribute or a decorator.
fn without_attributes(text: &str) -> &str {
    let mut text = text.trim();
    while text.starts_with(['@', '#'])
        && let Some((_, rest)) = text.split_once('\n')
    {
        text = rest.trim_start();
    }
    text
}

fn without_lead_ins(mut line: &str) -> &str {
    while let (word, rest) = first_word(line)
        && !rest.is_empty()
        && ["find", "show", "me", "where", "what", "is", "locate", "open", "explain"].contains(&word)
    {
        line = rest;
    }
    line
}

/// The line without words such as `pub` and `static`, and the number of these words.
fn without_modifiers(mut line: &str) -> (&str, usize) {
    let mut num = 0;
    loop {
        let (word, rest) = first_word(line);
        if word == "template" && rest.starts_with('<') {
            (line, num) = (without_type_parameters(rest), num + 1);
            continue;
        }
        let is_visibility = word == "pub" && rest.starts_with('(');
        let rest = if is_visibility { after_brackets(rest, '(', ')').map_or("", str::trim_start) } else { rest };
        let is_const = word == "const" && !["fn ", "unsafe ", "async "].iter().any(|next| rest.starts_with(next));
        if is_const || rest.is_empty() || !list("modifiers").contains(&word) {
            return (line, num);
        }
        (line, num) = (rest, num + 1);
    }
}

/// The letters, digits and underscores at the start of a text, and the text after them.
fn first_word(text: &str) -> (&str, &str) {
    let end = text.find(|letter: char| !is_of_name(letter)).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

/// The name at the start of a text, and the text after the name: `Foo.bar`, `Foo::bar`, `empty?`.
fn name_at(text: &str) -> Option<(&str, &str)> {
    name_with_joints(text, &["::", "."])
}

fn name_with_joints<'a>(text: &'a str, joints: &[&str]) -> Option<(&'a str, &'a str)> {
    if text.starts_with(|letter: char| !is_of_name(letter) || letter.is_numeric()) {
        return None;
    }
    let mut end = 0;
    loop {
        end += text[end..].find(|letter: char| !is_of_name(letter)).unwrap_or(text.len() - end);
        let is_joint =
            |joint: &&&str| text[end..].strip_prefix(**joint).is_some_and(|after| after.starts_with(is_of_name));
        let joint = joints.iter().find(is_joint);
        match joint {
            Some(joint) => end += joint.len(),
            None => break,
        }
    }
    end += usize::from(text[end..].starts_with(['?', '!']));
    (end > 0).then(|| (&text[..end], text[end..].trim_start()))
}

/// The text after the closing bracket that belongs to the bracket at the start of the text. `None` if there
/// is no such bracket.
fn after_brackets(text: &str, open: char, close: char) -> Option<&str> {
    let (mut depth, mut before) = (0, ' ');
    for (at, letter) in text.char_indices() {
        let is_arrow = letter == '>' && matches!(before, '-' | '=');
        depth += i32::from(letter == open) - i32::from(letter == close && !is_arrow);
        before = letter;
        if depth == 0 {
            return Some(&text[at + letter.len_utf8()..]);
        }
    }
    None
}

/// The text without type parameters at its start: `<T>` or `[T any]`.
fn without_type_parameters(text: &str) -> &str {
    let brackets = [('<', '>'), ('[', ']')].into_iter().find(|(open, _)| text.starts_with(*open));
    let after = brackets.and_then(|(open, close)| after_brackets(text, open, close));
    after.map_or(text, str::trim_start)
}

fn function_name<'a>(text: &'a str, keyword: &str) -> Option<&'a str> {
    // A method in Go has a receiver: `func (s *Server) Serve(…)`.
    let receiver = text.starts_with('(').then(|| after_brackets(text, '(', ')')).flatten();
    // In Lua, a colon precedes the name of a method: `function M:parse(…)`.
    let joints: &[&str] = if keyword == "function" { &["::", ".", ":"] } else { &["::", "."] };
    let (name, rest) = name_with_joints(receiver.unwrap_or(text).trim_start(), joints)?;
    let rest = without_type_parameters(rest);
    if !rest.starts_with('(') {
        let is_typed = rest.starts_with(':') && (rest == ":" || rest.contains('='));
        let is_of_elixir = keyword.starts_with("def") && (rest == "do" || rest.ends_with(" do"));
        return (rest.starts_with('=') || is_typed || rest.ends_with('{') || is_of_elixir).then_some(name);
    }
    let Some(after) = after_brackets(rest, '(', ')').map(str::trim_start) else {
        return rest.ends_with(['(', ',']).then_some(name);
    };
    (is_end_of_signature(after) || keyword == "func" && is_go_result(after)).then_some(name)
}

/// Whether a text is empty or continues a signature after its parameters. Words that are also used in
/// sentences, such as `where`, must be followed by a body or a result.
fn is_end_of_signature(text: &str) -> bool {
    let starts = ["{", ":", ";", "->", "=", "const", "noexcept", "override"];
    let is_clause = ["where ", "throws ", "async "].iter().any(|start| text.starts_with(start));
    text.is_empty()
        || text == "do"
        || starts.iter().any(|start| text.starts_with(start))
        || is_clause && (text.ends_with(['{', ';']) || text.contains("->"))
}

/// Whether a text can be the result of a function in Go: `error`, `(int, error)`, `*Server {`.
fn is_go_result(text: &str) -> bool {
    let result = text.split('{').next().unwrap_or(text).trim_end();
    let is_type = result.starts_with(|letter: char| letter.is_uppercase() || "*[(".contains(letter))
        || result.contains('.')
        || ["error", "bool", "string", "byte", "rune", "any"].contains(&result)
        || ["int", "uint", "float", "map[", "chan ", "func("].iter().any(|start| result.starts_with(start));
    is_type && (result.starts_with('(') || !result.contains(' ') || result.contains(['[', '(']))
        || text.contains('{') && !result.contains(' ')
}

fn type_name<'a>(text: &'a str, keyword: &str, has_modifier: bool) -> Option<&'a str> {
    let (name, after) = name_at(text)?;
    // In Ruby, `<` precedes the base class.
    let rest = without_type_parameters(after);
    let is_capitalised = name.starts_with(char::is_uppercase);
    let is_base = ["extends ", "implements "].iter().any(|start| rest.starts_with(start));
    let is_body = rest.starts_with(['{', ';']) || rest.starts_with('(') && is_body_after(rest);
    let is_of_python = rest.trim_end() == ":";
    let is_defined = match keyword {
        "type" => {
            rest.starts_with(['=', '{']) || ["struct", "interface", "func("].iter().any(|of| rest.starts_with(of))
        }
        "defmodule" => rest == "do" || rest.is_empty(),
        _ => is_body || is_of_python || rest.ends_with('{') || is_capitalised && (is_base || has_bases(rest)),
    };
    (is_defined || has_modifier && is_capitalised && rest.is_empty()).then_some(name)
}

/// Whether the names of base classes follow, as in `class Foo : Bar` and `class Foo < Bar`.
fn has_bases(text: &str) -> bool {
    let bases = text.strip_prefix([':', '<']);
    let is_base = |word: &str| {
        let is_access = ["public", "private", "protected", "virtual"].contains(&word);
        is_access || word.starts_with(char::is_uppercase) || word.contains("::")
    };
    let words = |bases: &str| bases.split([' ', ',', '<', '>', '(', ')']).filter(|word| !word.is_empty()).all(is_base);
    bases.is_some_and(words)
}

/// Whether a body follows the brackets at the start of a text: `(Bar):`, `(int x);`.
fn is_body_after(text: &str) -> bool {
    after_brackets(text, '(', ')').is_some_and(|after| {
        let after = after.trim();
        after.is_empty() || after == ":" || after.starts_with(['{', ';']) || after.ends_with('{')
    })
}

fn value_name(text: &str) -> Option<&str> {
    let text = text.strip_prefix("mut ").unwrap_or(text);
    let (name, rest) = name_at(text)?;
    let is_typed = rest.starts_with(':') && (rest.contains('=') || rest.ends_with(';'));
    (rest.starts_with('=') || is_typed || rest == ";").then_some(name)
}

/// The type in `impl Trait for Type` or `impl Type`.
fn implemented_type(text: &str) -> Option<&str> {
    let text = without_type_parameters(text);
    let (name, rest) = name_at(text)?;
    let rest = without_type_parameters(rest);
    let implementing = rest.strip_prefix("for ").and_then(name_at);
    let (name, after) = implementing.unwrap_or((name, rest));
    let is_type = name.rsplit("::").next().is_some_and(|last| last.starts_with(char::is_uppercase));
    (is_type && (rest.ends_with('{') || implementing.is_some() && without_type_parameters(after).is_empty()))
        .then_some(name)
}

/// The name in a definition of a language such as C, Java or JavaScript, which writes no keyword before the
/// name: `static int parse(char *text) {`, `private int count;`.
fn name_without_keyword(line: &str, num_modifiers: usize) -> Option<String> {
    let open = line.find(['(', '=', ';'])?;
    let (before, after) = (line[..open].trim_end(), &line[open..]);
    let is_before = |(_, letter): &(usize, char)| !is_of_name(*letter) && !":~".contains(*letter);
    let start = before.char_indices().rev().find(is_before).map_or(0, |(at, letter)| at + letter.len_utf8());
    let (types, name) = (before[..start].trim(), before[start..].trim_matches(':'));
    let is_type = |letter: char| is_of_name(letter) || " :<>[],*&?.".contains(letter);
    let is_word = |word: &str| {
        let word = word.trim_matches(|letter: char| !is_of_name(letter));
        is_stop_word(word) && word != "a" || list("statements").contains(&word)
    };
    let has_types = !types.is_empty() && types.chars().all(is_type) && !types.ends_with(['.', ',']);
    let is_name = name.starts_with(|letter: char| letter.is_alphabetic() || "_$~".contains(letter)) && !is_word(name);
    if !is_name || types.split_whitespace().any(is_word) {
        return None;
    }
    let is_defined = match after_brackets(after, '(', ')').map(str::trim) {
        Some(rest) if after.starts_with('(') => {
            let ends_with_body = rest.starts_with('{') || rest.ends_with('{') && is_end_of_signature(rest);
            // Prose has a blank before a bracket: "abstract syntax tree (AST)".
            let is_signature = num_modifiers > 0 && before.len() == open;
            let is_end = is_end_of_signature(rest) || rest.starts_with("throws ");
            ends_with_body || has_types && (rest == ";" || is_signature && is_end)
        }
        _ => {
            let is_statement = line.trim_end().ends_with([';', '{', '(', '[']);
            num_modifiers > 0 && has_types && is_statement && (after.starts_with('=') || after.trim() == ";")
        }
    };
    is_defined.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_lines_of_definitions_name_what_they_define() {
        for (line, name) in [
            ("def f(self):", "f"),
            ("def parse_url(text: str) -> Url:", "parse_url"),
            ("async def run(self, x):", "run"),
            ("def self.load(path)", "load"),
            ("def empty?", ""),
            ("def area: Double = {", "area"),
            ("func (s *Server) Serve(l net.Listener) error {", "Serve"),
            ("func Serve(l net.Listener) (int, error) {", "Serve"),
            ("func Map[T any](items []T) []T", "Map"),
            ("func main() {", "main"),
            ("func parse(_ text: String) throws -> Ast {", "parse"),
            ("pub fn parse(input: &str) -> Result<Ast>", "parse"),
            ("pub(crate) async fn parse<T: Read>(input: T) -> Result<Ast> {", "parse"),
            ("pub const fn new() -> Self {", "new"),
            ("fn run(&self)", "run"),
            ("fn parse(", "parse"),
            ("class Foo(Bar):", "Foo"),
            ("class Foo:", "Foo"),
            ("class Foo extends Bar {", "Foo"),
            ("class Foo < Bar", "Foo"),
            ("public class Foo<T> implements Bar<T> {", "Foo"),
            ("export default class Foo extends Component {", "Foo"),
            ("public abstract class Foo", "Foo"),
            ("data class Point(val x: Int, val y: Int)", "Point"),
            ("class Foo : public Bar {", "Foo"),
            ("export function parse(input: string): Ast {", "parse"),
            ("export const parse = (input) => {", "parse"),
            ("pub const MAX_SIZE: usize = 10;", "MAX_SIZE"),
            ("function parse(input) {", "parse"),
            ("function M.parse(input)", "M.parse"),
            ("fun parse(input: String): Ast {", "parse"),
            ("struct Foo {", "Foo"),
            ("pub struct Foo<T>(T);", "Foo"),
            ("typedef struct node {", "node"),
            ("impl Display for Point {", "Point"),
            ("impl<T> Stack<T> {", "Stack"),
            ("type Server struct {", "Server"),
            ("type Reader interface {", "Reader"),
            ("type Id = string;", "Id"),
            ("defmodule Foo.Bar do", "Foo.Bar"),
            ("enum Color {", "Color"),
            ("public static void main(String[] args) {", "main"),
            ("private final Map<String, Integer> counts = new HashMap<>();", "counts"),
            ("static int parse_url(const char *text);", "parse_url"),
            ("void Server::run(int port) const {", "Server::run"),
            ("async parse(input) {", "parse"),
            ("find def f(self):", "f"),
            ("template <typename T> class Foo {", "Foo"),
            ("@property\ndef size(self):", "size"),
            ("function M:parse(input)", "M:parse"),
            ("export const port:number = 3000", "port"),
            ("class Dog:Animal {", "Dog"),
            ("class Dog : public std::vector<Animal>", "Dog"),
            ("impl<F: Fn(u32) -> T> Stack<F> {", "Stack"),
            ("public void load() throws IOException", "load"),
            ("fn parse(input: &str) -> Ast {\n    parse_all(input)\n}", "parse"),
        ] {
            assert_eq!(defined_name(line).unwrap_or_default(), name, "{line}");
        }
    }

    #[test]
    fn other_questions_are_no_definitions() {
        for question in [
            "class hierarchy",
            "class Parser",
            "the function parse(text) fails",
            "function parse(text) returns null",
            "func main() fails",
            "def",
            "class Foo: why does it fail",
            "static analysis of types",
            "public class methods",
            "private fields of User",
            "type inference for (nested) types",
            "const correctness",
            "let users log in",
            "open (or create) the file {",
            "return parse(text);",
            "if (x) {",
            "what calls parse(text);",
            "parse(text)",
            "parse(text);",
            "how is x = 5 parsed",
            "import parser",
            "implement Foo for Bar",
            "Ѩ<𞹗:;",
            "async handlers (slow)",
            "abstract syntax tree (AST)",
            "virtual file system (VFS)",
            "async request handlers (slow)",
            "internal server error; how is it handled",
            "retry logic (exponential); where is it",
            "default request timeout = 30 seconds",
            "module Auth: token refresh broken",
            "class UserService: memory leak",
            "class Parser with error recovery",
            "find class Billing for recurring payments",
            "function parse_url: who calls it?",
            "fun fact: the parser is slow",
            "sub agents: how are they started?",
            "explain what function pointers do",
            "find function callers of parse and what they do",
            "function loadConfig(path) throws FileNotFoundError",
            "function parse(text) where is it called",
            "",
        ] {
            assert_eq!(defined_name(question), None, "{question}");
        }
    }
}
