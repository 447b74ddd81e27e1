//! Converts the filters of a search question to the chunk filter that the stores apply.

use cairn_domain::ChunkKind;
use cairn_languages::language_name;
use cairn_ports::{ChunkFilter, IncludeTests};
use cairn_redaction::{Given, Message};
use cairn_search::{FieldFault, QueryError, check_patterns};
use globset::escape;

use super::page::{unknown_word, wrong};
use super::types::{SearchQuestion, WantTests};
use crate::tags::TAGS_OF_ALL;
use crate::time::seconds_of_time;

pub(super) fn filter(question: &SearchQuestion, now_ms: i64) -> Result<ChunkFilter, QueryError> {
    // The patterns are checked before they are expanded to globs, so that the counts in error messages refer
    // to the patterns that the caller sent.
    check_patterns("paths", &question.paths)?;
    let since = |text: &String| {
        let message = || Message::from("`since` is a day (2026-01-31) or an age (36h, 7d, 2w), not ").and(Given(text));
        seconds_of_time(text, now_ms).ok_or_else(|| wrong(message()).in_field(FieldFault::of("since")))
    };
    Ok(ChunkFilter {
        languages: question.languages.iter().map(|language| language_name(language)).collect(),
        kinds: question.kinds.iter().map(|word| kind(word)).collect::<Result<_, _>>()?,
        paths: question.paths.iter().flat_map(|path| path_globs(path)).collect(),
        module_prefixes: question.modules.clone(),
        include_tests: include_tests(question.tests),
        tags: question.tags.iter().filter(|tag| !TAGS_OF_ALL.contains(&tag.as_str())).cloned().collect(),
        since: question.since.as_ref().map(since).transpose()?,
    })
}

pub(super) fn include_tests(wanted: WantTests) -> IncludeTests {
    match wanted {
        WantTests::Include => IncludeTests::Include,
        WantTests::Exclude => IncludeTests::Exclude,
        WantTests::Only => IncludeTests::Only,
    }
}

fn kind(word: &str) -> Result<ChunkKind, QueryError> {
    ChunkKind::parse(word).ok_or_else(|| {
        let known: Vec<&str> = ChunkKind::ALL.iter().map(|kind| kind.as_str()).collect();
        unknown_word("kinds", word, &known)
    })
}

/// Converts a path to globs: a file matches only itself, and a folder matches all files below it. Stores also
/// compare a pattern without `/` with file names, so a file name or glob without `/` matches in any folder.
/// The names of files and folders may contain brackets, such as `app/[id]/page.tsx`. So a path with brackets
/// is also compared literally.
pub(super) fn path_globs(path: &str) -> Vec<String> {
    let path = without_dot(path);
    let is_glob = path.contains(['*', '?', '[', '{']);
    let folder = path.trim_end_matches('/');
    let mut globs = match (is_glob, folder.contains('/')) {
        (false, _) => vec![folder.to_owned(), format!("{folder}/**")],
        (true, true) => vec![path.to_owned()],
        (true, false) => vec![format!("**/{path}")],
    };
    if path.contains(['[', '{']) && !path.contains(['*', '?']) {
        let literal = escape(folder);
        globs.extend([format!("{literal}/**"), literal]);
    }
    globs
}

/// Removes `./` at the start. Paths are relative to the root of the repository, with or without `./`.
pub(super) fn without_dot(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_files_folders_or_globs() {
        let check = |path: &str, expect: &[&str]| assert_eq!(path_globs(path), expect, "{path}");
        check("src", &["src", "src/**"]);
        check("./src/", &["src", "src/**"]);
        check("src/a.rs", &["src/a.rs", "src/a.rs/**"]);
        check("*.rs", &["**/*.rs"]);
        check("src/**/*.rs", &["src/**/*.rs"]);
        check("app/[id]", &["app/[id]", "app/[[]id[]]/**", "app/[[]id[]]"]);
        check("src/*.{c,h}", &["src/*.{c,h}"]);
    }
}
