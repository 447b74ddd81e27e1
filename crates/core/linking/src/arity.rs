//! Reads from the signature of a definition how many arguments the definition accepts.

use cairn_domain::Arity;

/// The arity of a clause whose parameters are patterns: `def get(%{id: id} = item, opts \\ [])`. A clause
/// without brackets has arity zero.
pub(crate) fn of_clause(signature: &str, name: &str) -> Arity {
    let Some(list) = parameter_list(signature, name) else {
        let is_bare = signature.find(name).is_some_and(|at| !signature[at + name.len()..].starts_with('('));
        return if is_bare { Arity { min: 0, max: 0 } } else { Arity::UNKNOWN };
    };
    let num = |count: usize| u8::try_from(count).unwrap_or(u8::MAX);
    let max = split_parameters(list).count();
    let num_optional = split_parameters(list).filter(|parameter| parameter.contains("\\\\")).count();
    Arity { min: num(max - num_optional), max: num(max) }
}

/// The arity of `name`, read from its declaration. A parameter for the object on which the function is
/// called, such as `self`, is not counted.
pub(crate) fn of_signature(signature: &str, name: &str) -> Arity {
    let Some(list) = parameter_list(signature, name) else { return Arity::UNKNOWN };
    let mut arity = Arity { min: 0, max: 0 };
    for (index, parameter) in split_parameters(list).enumerate() {
        let parameter = parameter.trim();
        if index == 0 && parameter.starts_with("this ") {
            // A call of a C# extension method has the object either before the dot or as the first argument.
            arity.max = 1;
            continue;
        }
        if is_marker(parameter) || (index == 0 && is_self(parameter)) {
            continue;
        }
        if is_variadic(parameter) {
            arity.max = u8::MAX;
            continue;
        }
        arity.max = arity.max.saturating_add(1);
        if !is_optional(parameter) {
            arity.min = arity.min.saturating_add(1);
        }
    }
    arity
}

/// The text between the brackets after the name. `None` if the closing bracket is missing.
fn parameter_list<'s>(signature: &'s str, name: &str) -> Option<&'s str> {
    let mut from = 0;
    while let Some(found) = signature[from..].find(name) {
        let after = from + found + name.len();
        // Skip this match, because it is the end of a longer name.
        if signature[..from + found].ends_with(|before: char| before.is_alphanumeric() || before == '_') {
            from = after;
            continue;
        }
        let rest = skip_type_parameters(&signature[after..]);
        if let Some(open) = rest.trim_start().strip_prefix('(') {
            return matching_close(open).map(|close| &open[..close]);
        }
        from = after;
    }
    None
}

fn skip_type_parameters(text: &str) -> &str {
    if !text.starts_with(['<', '[']) {
        return text;
    }
    let mut depth = 0i32;
    for (at, byte) in text.bytes().enumerate() {
        depth += depth_change(text, at, byte);
        if depth == 0 {
            return &text[at + 1..];
        }
    }
    text
}

/// The change of the bracket depth that this byte causes. The `>` in the arrows `->` and `=>` is not a
/// bracket.
fn depth_change(text: &str, at: usize, byte: u8) -> i32 {
    match byte {
        b'(' | b'[' | b'{' | b'<' => 1,
        b'>' if at > 0 && matches!(text.as_bytes()[at - 1], b'-' | b'=') => 0,
        b')' | b']' | b'}' | b'>' => -1,
        _ => 0,
    }
}

fn matching_close(text: &str) -> Option<usize> {
    let mut depth = 0i32;
    for (at, byte) in text.bytes().enumerate() {
        if depth == 0 && byte == b')' {
            return Some(at);
        }
        depth += depth_change(text, at, byte);
    }
    None
}

fn split_parameters(list: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(list).filter(|list| !list.trim().is_empty());
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let mut depth = 0i32;
        for (at, byte) in text.bytes().enumerate() {
            if depth == 0 && byte == b',' {
                rest = Some(&text[at + 1..]).filter(|after| !after.trim().is_empty());
                return Some(&text[..at]);
            }
            depth += depth_change(text, at, byte);
        }
        Some(text)
    })
}

/// Whether the parameter is only a marker: Python's `*` and `/`, C's `void`.
fn is_marker(parameter: &str) -> bool {
    matches!(parameter, "*" | "/" | "void" | "")
}

fn is_self(parameter: &str) -> bool {
    let name = parameter.trim_start_matches(['&', '*']).trim_start();
    let name = name.strip_prefix("mut ").unwrap_or(name);
    let name = name.split([':', ' ', '=']).next_back().filter(|_| name.starts_with('\'')).unwrap_or(name);
    matches!(name.split([':', ' ']).next(), Some("self" | "cls" | "this"))
}

fn is_variadic(parameter: &str) -> bool {
    parameter.starts_with('*') && !parameter.contains(' ')
        || parameter.starts_with("**")
        || parameter.contains("...")
        || parameter.contains("vararg ")
        || parameter.contains("params ")
        || parameter.contains(": ") && parameter.ends_with('*')
        || parameter.starts_with('&') && !parameter.contains([' ', ':'])
}

fn is_optional(parameter: &str) -> bool {
    let declared = parameter.split(':').next().unwrap_or(parameter);
    parameter.contains('=') && !parameter.contains("=>")
        || declared.trim_end().ends_with('?')
        || parameter.contains(" = ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(signature: &str, name: &str, min: u8, max: u8) {
        assert_eq!(of_signature(signature, name), Arity { min, max }, "{signature}");
    }

    #[test]
    fn parameters_are_counted_in_every_language() {
        check("def load(self, path, *, strict=False)", "load", 1, 2);
        check("def call(*args, **kwargs)", "call", 0, 255);
        check("def f(a: dict[str, int], b: int = 3) -> int", "f", 1, 2);
        check("func (s *Server) Serve(l net.Listener, opts ...Option) error", "Serve", 1, 255);
        check("func add(a, b int) int", "add", 2, 2);
        check("pub fn new() -> Self", "new", 0, 0);
        check("fn map<T, U>(&mut self, f: impl Fn(T) -> U, m: HashMap<T, U>) -> U", "map", 2, 2);
        check("public static <T> List<T> of(T first, T... rest)", "of", 1, 255);
        check("function f(a: string, b?: number, c = 1): void", "f", 1, 3);
        check("int main(void)", "main", 0, 0);
    }

    #[test]
    fn clause_parameters_are_counted_by_pattern() {
        let check = |signature: &str, name: &str, min: u8, max: u8| {
            assert_eq!(of_clause(signature, name), Arity { min, max }, "{signature}");
        };
        check("def get(%{id: id} = item, [head | tail])", "get", 2, 2);
        check("defp page(query, number \\\\ 1, size \\\\ 20) when number > 0", "page", 1, 3);
        check("def parse(<<size, rest::binary>>)", "parse", 1, 1);
        check("def now", "now", 0, 0);
    }

    #[test]
    fn unclear_signatures_have_unknown_arity() {
        assert_eq!(of_signature("const handler = wrap(inner)", "missing"), Arity::UNKNOWN);
        assert_eq!(of_signature("def cut(a, b", "cut"), Arity::UNKNOWN);
    }

    #[test]
    fn unknown_argument_count_is_accepted() {
        assert!(Arity { min: 2, max: 2 }.accepts(None));
        assert!(!Arity { min: 2, max: 2 }.accepts(Some(1)));
    }
}
