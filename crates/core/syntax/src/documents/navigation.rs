//! Recognises navigation documents. Navigation documents explain where a reader finds the parts of a
//! repository.

use cairn_domain::RepoPath;

/// Stems of files that introduce a repository or a part of it, in lower case.
const STEMS: &[&str] =
    &["agents", "architecture", "claude", "codemap", "contributing", "design", "gemini", "hacking", "overview"];
const EXTENSIONS: &[&str] = &["", "adoc", "asciidoc", "markdown", "md", "mdx", "rst", "txt"];
/// Folders in which every document is a navigation document, at any depth.
const FOLDERS: &[&str] = &["doc", "docs", "documentation"];

/// Whether a file is a navigation document: AGENTS.md and similar files, `README*` in any folder, and
/// documents under `docs/`. The result depends only on the path. Chunks of these files get the kind
/// `navigation` and a higher weight.
pub fn is_navigation(path: &RepoPath) -> bool {
    let extension = path.extension();
    if !EXTENSIONS.contains(&extension.as_str()) {
        return false;
    }
    let stem = path.stem().to_lowercase();
    let is_introduction =
        stem == "readme" || stem.starts_with("readme.") || stem.starts_with("readme-") || stem.starts_with("readme_");
    let is_in_docs = || path.directory().split('/').any(|folder| FOLDERS.contains(&folder.to_lowercase().as_str()));
    is_introduction
        || (STEMS.contains(&stem.as_str()) && extension != "txt")
        || (is_in_docs() && !matches!(extension.as_str(), "" | "txt"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn navigation_documents_are_known_by_path() {
        let check =
            |path: &str, expect| assert_eq!(is_navigation(&RepoPath::parse(path).expect("valid")), expect, "{path}");
        check("AGENTS.md", true);
        check("services/api/AGENTS.md", true);
        check("CLAUDE.md", true);
        check("README", true);
        check("lib/Readme.rst", true);
        check("README.de.md", true);
        check("docs/guide/start.md", true);
        check("pkg/doc/start.adoc", true);
        check("ARCHITECTURE.md", true);
        check("CHANGELOG.md", false);
        check("docs/conf.py", false);
        check("docs/list.txt", false);
        check("src/readme_parser.rs", false);
        check("design.txt", false);
    }
}
