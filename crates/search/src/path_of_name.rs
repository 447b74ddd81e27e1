//! The path in a requested name: `src/server.py#run`, `src/server.py::run` and `src/server.py:run` request
//! `run` in `src/server.py`.

use cairn_domain::RepoPath;
use cairn_languages::language_of;
use cairn_name_match::has_arity;
use cairn_question::{file_and_lines, is_file_name, is_written_like_a_file, path_and_name};

/// The path and the name in a text that states both. `None` for names such as `Server#run`, `Server::run` and
/// `Account:deposit`, and for lines of a file such as `server.py:12`.
pub(crate) fn path_of_name(text: &str) -> Option<(&str, &str)> {
    path_and_name(text).or_else(|| path_before_colon(text))
}

fn path_before_colon(text: &str) -> Option<(&str, &str)> {
    let (path, rest) = text.split_once(':')?;
    let name = rest.strip_prefix(':').unwrap_or(rest).trim_end();
    let is_start_of_name = |first: char| first.is_alphabetic() || "_$~@(*".contains(first);
    let is_name = name.starts_with(is_start_of_name) && name.chars().any(char::is_alphabetic);
    let has_path = name.contains('/') && !has_arity(name);
    (is_name && !has_path && is_path(path) && file_and_lines(text).is_none()).then_some((path, name))
}

/// Whether a text has the form of a path. Without a `/`, only a file in a language with a grammar has this
/// form, because `self.log` in `self.log:write` is an object in Lua.
fn is_path(text: &str) -> bool {
    let language = || RepoPath::parse(text).ok().and_then(|path| language_of(&path, &[]));
    let is_code = || language().is_some_and(|language| language.grammar.is_some());
    is_written_like_a_file(text) && (text.contains('/') || is_file_name(text) && is_code())
}

/// Whether a file has this path, or is below the directory with this path.
pub(crate) fn is_in_file(path: &str, file: &RepoPath) -> bool {
    num_common_parts(path, file) > 0
}

/// The number of parts of `path` that are also parts of the path of the file. 0 if the file does not have
/// this path and is not below the directory with this path. The path may be without its beginning and
/// without its extension. An absolute path may contain the directories above the repository.
pub(crate) fn num_common_parts(path: &str, file: &RepoPath) -> usize {
    let of_file: Vec<&str> = file.as_str().split('/').collect();
    let fits = |parts: &[&str], start: usize| {
        let Some(same) = of_file.get(start..start + parts.len()) else { return false };
        let Some((last, directories)) = parts.split_last() else { return false };
        let is_file = start + parts.len() == of_file.len();
        same.starts_with(directories) && (same.last() == Some(last) || is_file && file.stem() == *last)
    };
    let is_here = |possible: &Vec<&str>| {
        let last_start = if is_absolute(path) { 0 } else { of_file.len() };
        (0..=last_start).any(|start| fits(possible, start))
    };
    let possible = possible_paths(path).map(|path| path.split('/').filter(|part| !part.is_empty()).collect());
    possible.filter(is_here).map(|parts| parts.len()).max().unwrap_or_default()
}

/// The paths in a repository that a requested path may mean. An absolute path begins with an unknown number
/// of directories that are not in the repository.
pub(crate) fn possible_paths(path: &str) -> impl Iterator<Item = &str> {
    let path = path.trim_start_matches("./");
    let after_slashes = path.match_indices('/').map(|(at, _)| &path[at + 1..]).filter(|rest| !rest.is_empty());
    let of_absolute = after_slashes.take(if is_absolute(path) { usize::MAX } else { 0 });
    of_absolute.chain((!is_absolute(path)).then_some(path))
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_and_name_are_separated() {
        let check = |text: &str, expect| assert_eq!(path_of_name(text), expect, "{text}");
        check("src/server.py#Server.run", Some(("src/server.py", "Server.run")));
        check("internal/rdb/rdb.go::Enqueue", Some(("internal/rdb/rdb.go", "Enqueue")));
        check("src/server.py::Server::run", Some(("src/server.py", "Server::run")));
        check("src/b/fmt.ts:formatPrice", Some(("src/b/fmt.ts", "formatPrice")));
        check("fmt.ts:formatPrice", Some(("fmt.ts", "formatPrice")));
        check("internal/rdb:(*RDB).Enqueue", Some(("internal/rdb", "(*RDB).Enqueue")));
        check("lib/shop.ex:register/2", Some(("lib/shop.ex", "register/2")));
        // Lines of a file.
        check("main.rs:12", None);
        check("src/main.rs:3-9", None);
        check("src/main.rs:12:5", None);
        check("src/main.rs:L12", None);
        check("src/main.rs:L3-L9", None);
        // Names without a path.
        check("Server::run", None);
        check("Account:deposit", None);
        check("self.log:write", None);
        check("std::fs::File", None);
        check("lists:map/2", None);
        check("client/server:run", None);
        check("https://example.com/a.html", None);
        check("origin/main:src/server.py", None);
        check("in src/server.py: run", None);
    }

    #[test]
    fn files_and_directories_have_a_path() {
        let check = |path: &str, file: &str, expect: usize| {
            let file = RepoPath::parse(file).expect("a path");
            assert_eq!(num_common_parts(path, &file), expect, "{path} {file}");
        };
        check("src/b/fmt.ts", "src/b/fmt.ts", 3);
        check("./src/b/fmt.ts", "src/b/fmt.ts", 3);
        check("b/fmt.ts", "src/b/fmt.ts", 2);
        check("src/b/fmt", "src/b/fmt.ts", 3);
        check("src/b", "src/b/fmt.ts", 2);
        check("src/b/", "src/b/c/fmt.ts", 2);
        check("src/b", "packages/web/src/b/fmt.ts", 2);
        check("/root/of/repo/src/b/fmt.ts", "src/b/fmt.ts", 3);
        check("/root/of/repo/src/b/fmt", "src/b/fmt.ts", 3);
        check("/root/of/repo/src/b", "src/b/fmt.ts", 2);
        check("/root/of/repo/src/b/fmt.ts", "fmt.ts", 1);
        check("src/b/fmt.ts", "fmt.ts", 0);
        check("src/b/fmt.ts", "tests/fmt.test.ts", 0);
        check("src/b", "src/bc/fmt.ts", 0);
        check("c/b", "src/b/fmt.ts", 0);
        check("src", "lib/src.d/fmt.ts", 0);
        check("/root/of/repo/fmt.ts", "src/b/fmt.ts", 0);
    }
}
