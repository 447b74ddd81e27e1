//! The plain form of a requested name. Each language writes names in its own way: `Server::run()`,
//! `(*Server).Run`, `Account:deposit`, `Accounts.register/2`. An index stores most names with `.` between
//! their parts. Some names contain a separator themselves, such as `log::info` in Bash. So a requested name
//! is also compared as it is written.

/// The requested name with `.` between its parts, and without arguments, type arguments, marks of a receiver
/// and the number of parameters.
pub fn plain_name(requested: &str) -> String {
    with_dots(&without_groups(without_arity(requested.trim())))
}

/// Whether the name ends with its number of parameters, as in Elixir and Erlang: `register/2`. In these
/// languages, the names of functions begin with a small letter, so the `2` in `HTTP/2` is not a number of
/// parameters.
pub fn has_arity(requested: &str) -> bool {
    let requested = requested.trim();
    without_arity(requested).len() < requested.len()
}

fn without_arity(name: &str) -> &str {
    let Some((before, arity)) = name.rsplit_once('/') else { return name };
    let is_number = (1..=2).contains(&arity.len()) && arity.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = before.split(['.', ':']).filter(|part| !part.is_empty());
    let is_function = |part: &str| part.starts_with(|first: char| first.is_lowercase() || first == '_');
    let has_function = parts.clone().next_back().is_some_and(is_function);
    if is_number && has_function && parts.all(is_name) { before } else { name }
}

/// Whether a text is one identifier. The names of functions may end with `?` or `!`.
fn is_name(text: &str) -> bool {
    let name = text.trim_end_matches(['?', '!']);
    name.chars().all(is_letter) && name.chars().next().is_some_and(|first| !first.is_numeric())
}

fn is_letter(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Removes groups in parentheses or angle brackets: the arguments and type arguments after a name, and the
/// marks around a receiver. A group that is followed by other text remains.
fn without_groups(name: &str) -> String {
    let (mut plain, mut rest) = (String::new(), name);
    while let Some(open) = rest.find(['(', '<']) {
        let (before, group) = rest.split_at(open);
        let Some(length) = length_of_group(group) else { break };
        let (inside, after) = (&group[1..length - 1], &group[length..]);
        plain.push_str(before);
        let is_followed = after.starts_with(['.', ':', '#', '(', '<']) || after.starts_with("->");
        let begins_part = plain.is_empty() || plain.ends_with(['.', ':', '>']);
        match receiver(inside).filter(|_| begins_part && is_followed && group.starts_with('(')) {
            Some(receiver) => plain.push_str(receiver),
            None if (after.is_empty() || is_followed) && is_after_name(&plain, group) => {}
            None => plain.push_str(&group[..length]),
        }
        rest = after;
    }
    plain + rest
}

/// Whether a group contains the arguments or the type arguments of the name before it.
fn is_after_name(before: &str, group: &str) -> bool {
    before.ends_with(|last: char| is_letter(last) || last == '?' || last == '!')
        || group.starts_with('<') && before.ends_with("::")
}

/// The type in the marks of a receiver: `Server` in `*Server` and `*Server[T]`.
fn receiver(inside: &str) -> Option<&str> {
    let name = inside.trim_start_matches(['*', '&', ' ']);
    let name = name.split('[').next().unwrap_or(name).trim();
    (!name.is_empty() && name.split('.').all(is_name)).then_some(name)
}

/// The number of bytes of the group at the beginning of the text, with its brackets. `None` if the group has
/// no end.
fn length_of_group(text: &str) -> Option<usize> {
    let open = text.chars().next()?;
    let close = if open == '(' { ')' } else { '>' };
    let (mut depth, mut previous) = (0, ' ');
    for (at, character) in text.char_indices() {
        if character == open {
            depth += 1;
        } else if character == close && previous != '-' {
            depth -= 1;
        }
        if depth == 0 {
            return Some(at + 1);
        }
        previous = character;
    }
    None
}

/// Replaces each separator by `.`: `::`, `->`, `#`, `/`, a backslash, and `:` between two identifiers. A
/// separator at the beginning is removed.
fn with_dots(name: &str) -> String {
    let mut dotted = String::with_capacity(name.len());
    let mut characters = name.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied();
        let is_separator = match (character, next) {
            (':', Some(':')) | ('-', Some('>')) => characters.next().is_some(),
            (':', Some(next)) => is_letter(next) && dotted.ends_with(is_letter),
            ('.' | '#' | '/' | '\\', _) => true,
            _ => false,
        };
        match is_separator {
            true if dotted.ends_with('.') => {}
            true => dotted.push('.'),
            false => dotted.push(character),
        }
    }
    let starts_with_separator = !name.starts_with('.') && dotted.starts_with('.');
    if starts_with_separator { dotted[1..].to_owned() } else { dotted }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_languages_have_a_plain_form() {
        let check = |requested: &str, expect: &str| assert_eq!(plain_name(requested), expect, "{requested}");
        check("run", "run");
        check(" Server.run() ", "Server.run");
        // Rust and C++
        check("Server::run", "Server.run");
        check("::std::vector<int>::push_back(const T&)", "std.vector.push_back");
        check("HashMap::<K, V>::new()", "HashMap.new");
        check("this->run", "this.run");
        check("operator<", "operator<");
        // Java, C# and Kotlin
        check("Server.run(String, int)", "Server.run");
        check("Map<String, List<Integer>>.get(Object)", "Map.get");
        check("Server#run(String)", "Server.run");
        // Go
        check("(*Server).Run", "Server.Run");
        check("(Server).Run(ctx)", "Server.Run");
        check("http.(*Server[T]).Run", "http.Server.Run");
        // Lua, PHP, Elixir, Erlang and Ruby
        check("Account:deposit", "Account.deposit");
        check("Account:deposit(amount)", "Account.deposit");
        check("\\App\\Models\\User::find", "App.Models.User.find");
        check("Shop.Accounts.register/2", "Shop.Accounts.register");
        check("valid?/1", "valid?");
        check("lists:map/2", "lists.map");
        check("User#save!", "User.save!");
    }

    #[test]
    fn other_texts_are_not_changed() {
        let check = |requested: &str, expect: &str| assert_eq!(plain_name(requested), expect, "{requested}");
        check("open the (config) file", "open the (config) file");
        check("note: run it", "note: run it");
        check("build-all", "build-all");
        check(".env", ".env");
        check("a < b", "a < b");
        check("src/net/2", "src.net.2");
        check("run(a", "run(a");
        check("", "");
    }

    #[test]
    fn number_of_parameters_is_recognised() {
        for name in ["register/2", "Shop.Accounts.register/2", "lists:map/10", "valid?/1"] {
            assert!(has_arity(name), "{name}");
        }
        for name in ["register", "src/net/2", "docs/adr", "release/2024", "v1.2/3", "/2", "register/", "HTTP/2"] {
            assert!(!has_arity(name), "{name}");
        }
    }
}
