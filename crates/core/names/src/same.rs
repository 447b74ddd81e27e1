//! Decides whether a requested name is equal to the name of a symbol, apart from case and style.

use crate::fold::folded;
use crate::spelling::plain_name;

/// How exactly a requested name matches the name of a symbol.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SameName {
    Exact,
    /// Equal if upper and lower case are ignored.
    Case,
    /// Equal if case, spaces, `_` and `-` are ignored.
    Style,
}

impl SameName {
    /// Compares a requested name with the short and the qualified name of a symbol. The requested name
    /// `Server.run` is also equal to `app.Server.run`. `None` if the names differ.
    pub fn of(requested: &str, name: &str, qualified_name: &str) -> Option<Self> {
        if requested.trim() == name {
            return Some(Self::Exact);
        }
        let requested = plain_name(requested);
        let name = if requested.contains('.') { qualified_name } else { name };
        if is_end(&requested, name) {
            return Some(Self::Exact);
        }
        if is_end(&requested.to_lowercase(), &name.to_lowercase()) {
            return Some(Self::Case);
        }
        is_end(&style(&requested), &style(name)).then_some(Self::Style)
    }
}

/// The lower-case words of each part without separators: `app.HttpServer` becomes `app.httpserver`.
fn style(name: &str) -> String {
    name.split('.').map(|part| folded(part).replace(' ', "")).collect::<Vec<_>>().join(".")
}

fn is_end(requested: &str, name: &str) -> bool {
    let rest = name.strip_suffix(requested);
    !requested.is_empty() && rest.is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_equal_in_three_ways() {
        let check = |requested: &str, qualified_name: &str, expect: Option<SameName>| {
            let name = qualified_name.rsplit('.').next().expect("a part");
            assert_eq!(SameName::of(requested, name, qualified_name), expect, "{requested} {qualified_name}");
        };
        check("run", "app.Server.run", Some(SameName::Exact));
        check("Server::run()", "app.Server.run", Some(SameName::Exact));
        check("server#RUN", "app.Server.run", Some(SameName::Case));
        check("get user", "app.getUser", Some(SameName::Style));
        check("Other.run", "app.Server.run", None);
        check("log::info", "log::info", Some(SameName::Exact));
        check("un", "app.Server.run", None);
        check("(*Server).run", "app.Server.run", Some(SameName::Exact));
        check("Server:run", "app.Server.run", Some(SameName::Exact));
        check("Server.run(String, int)", "app.Server.run", Some(SameName::Exact));
        check("SERVER.run/2", "app.Server.run", Some(SameName::Case));
        check("", "app.Server.run", None);
    }
}
