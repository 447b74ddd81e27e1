//! Manifests that are read line by line.

use super::declared::{Declared, normal_python_name, requirement_name};

pub(super) fn go_mod(text: &str) -> Declared {
    let mut declared = Declared::default();
    let mut in_require = false;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or(line).trim();
        let mut words = line.split_whitespace();
        match (words.next(), words.next()) {
            (Some("module"), Some(name)) => declared.name = Some(name.trim_matches('"').to_owned()),
            (Some("require"), Some("(")) => in_require = true,
            (Some("require"), Some(name)) => declared.dependencies.push(name.to_owned()),
            (Some(")"), _) => in_require = false,
            (Some(name), Some(_)) if in_require => declared.dependencies.push(name.to_owned()),
            _ => {}
        }
    }
    declared
}

pub(super) fn requirements(text: &str) -> Declared {
    let names = text.lines().filter_map(|line| plain_requirement(line.trim()));
    Declared { dependencies: names.collect(), ..Declared::default() }
}

/// The package name in a line of a requirements file. `None` for comments, options and addresses.
fn plain_requirement(line: &str) -> Option<String> {
    let is_plain = !line.starts_with(['#', '-', '.', '/']) && !line.split('#').next().unwrap_or(line).contains("://");
    is_plain.then(|| requirement_name(line)).flatten()
}

/// Reads the sections of an `.ini` file that contain the name and the dependencies of the package.
pub(super) fn setup_cfg(text: &str) -> Declared {
    let mut declared = Declared::default();
    let (mut section, mut key) = ("", "");
    for line in text.lines() {
        let is_continuation = line.starts_with([' ', '\t']);
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
            continue;
        }
        let mut value = line;
        if !is_continuation {
            let (name, rest) = line.split_once('=').unwrap_or((line, ""));
            (key, value) = (name.trim(), rest.trim());
        }
        match (section, key) {
            ("metadata", "name") if !value.is_empty() => declared.name = Some(normal_python_name(value)),
            ("options", "install_requires" | "tests_require" | "setup_requires") | ("options.extras_require", _) => {
                declared.dependencies.extend(plain_requirement(value));
            }
            _ => {}
        }
    }
    declared
}

/// Reads the arguments of `setup()` that are literals. The code is not executed.
pub(super) fn setup_py(text: &str) -> Declared {
    let mut declared = Declared {
        name: argument(text, "name").and_then(|rest| literals(rest, false).next()).map(normal_python_name),
        ..Declared::default()
    };
    for keyword in ["install_requires", "tests_require", "setup_requires"] {
        let list =
            argument(text, keyword).and_then(|rest| rest.strip_prefix('[')).and_then(|rest| rest.split_once(']'));
        let requirements = list.into_iter().flat_map(|(list, _)| literals(list, true));
        declared.dependencies.extend(requirements.filter_map(requirement_name));
    }
    declared
}

/// The text after `keyword =`.
fn argument<'t>(text: &'t str, keyword: &str) -> Option<&'t str> {
    let mut parts = text.match_indices(keyword).filter_map(|(at, _)| {
        let is_whole = !text[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
        let value = text[at + keyword.len()..].trim_start().strip_prefix('=')?;
        (is_whole && !value.starts_with('=')).then(|| value.trim_start())
    });
    parts.next()
}

/// The string literals of a text. If `anywhere` is false, only a literal at the start of the text is
/// returned.
fn literals(text: &str, anywhere: bool) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let open = rest.find(['"', '\'']).filter(|open| anywhere || *open == 0)?;
        let quote = rest.as_bytes()[open] as char;
        let body = &rest[open + 1..];
        let close = body.find(quote)?;
        rest = &body[close + 1..];
        Some(&body[..close])
    })
}
