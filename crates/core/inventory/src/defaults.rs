//! The paths that are excluded by default. A repository can include excluded paths again with
//! `include_override`.
//!
//! The excludes are stored as two sorted tables and two lists of suffixes, not as globs. Most paths of a tree
//! are tested against all excludes. One table lookup for each part of a path is much cheaper than matching a
//! hundred globs.

/// Names of directories whose content is excluded, at any depth. Sorted by bytes.
const DIRECTORIES: &[&str] = &[
    ".angular",
    ".build",
    ".bundle",
    ".bzr",
    ".cache",
    ".cairn",
    ".dart_tool",
    ".direnv",
    ".eggs",
    ".elixir_ls",
    ".fleet",
    ".git",
    ".gradle",
    ".hg",
    ".hypothesis",
    ".idea",
    ".ipynb_checkpoints",
    ".jj",
    ".mypy_cache",
    ".next",
    ".nox",
    ".npm",
    ".nuxt",
    ".nyc_output",
    ".parcel-cache",
    ".pnpm-store",
    ".pytest_cache",
    ".ruff_cache",
    ".sass-cache",
    ".serverless",
    ".settings",
    ".stack-work",
    ".svelte-kit",
    ".svn",
    ".terraform",
    ".tox",
    ".turbo",
    ".venv",
    ".vs",
    ".vscode",
    ".yarn",
    ".zig-cache",
    "CVS",
    "Carthage",
    "DerivedData",
    "Pods",
    "__pycache__",
    "__pypackages__",
    "_darcs",
    "bower_components",
    "build",
    "coverage",
    "dist",
    "dist-newstyle",
    "htmlcov",
    "jspm_packages",
    "node_modules",
    "site-packages",
    "vendor",
    "venv",
    "virtualenv",
    "zig-cache",
    "zig-out",
];

/// Suffixes of the names of directories whose content is excluded, at any depth.
const DIRECTORY_SUFFIXES: &[&str] = &[".dSYM", ".egg-info", ".xcworkspace"];

/// Names of excluded files. Sorted by bytes.
const FILES: &[&str] = &[
    ".DS_Store",
    ".eslintcache",
    ".terraform.lock.hcl",
    "Cartfile.resolved",
    "Package.resolved",
    "Thumbs.db",
    "bun.lockb",
    "cabal.project.freeze",
    "go.sum",
    "go.work.sum",
    "gradle.lockfile",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "packages.lock.json",
    "pnpm-lock.yaml",
    "project.assets.json",
];

/// Suffixes of the names of excluded files. `.lock` covers `Cargo.lock`, `yarn.lock` and similar files.
const FILE_SUFFIXES: &[&str] = &[
    ".bundle.css",
    ".bundle.js",
    ".bundle.mjs",
    ".chunk.js",
    ".css.map",
    ".egg-info",
    ".js.map",
    ".lock",
    ".min.css",
    ".min.js",
    ".min.mjs",
    ".mjs.map",
    ".swp",
];

/// The default excludes as globs, to show them to users and in the result of a run.
pub fn default_excludes() -> Vec<String> {
    let directories = DIRECTORIES.iter().map(|name| format!("**/{name}/**"));
    let directory_suffixes = DIRECTORY_SUFFIXES.iter().map(|suffix| format!("**/*{suffix}/**"));
    let files = FILES.iter().map(|name| (*name).to_owned());
    let file_suffixes = FILE_SUFFIXES.iter().map(|suffix| format!("*{suffix}"));
    directories.chain(directory_suffixes).chain(files).chain(file_suffixes).collect()
}

/// The directory name, file name or suffix that excludes the path, if any.
pub(crate) fn find(path: &str) -> Option<&'static str> {
    let mut parts = path.split('/');
    let file_name = parts.next_back()?;
    for part in parts {
        if let Some(name) = exact(DIRECTORIES, part).or_else(|| suffix(DIRECTORY_SUFFIXES, part)) {
            return Some(name);
        }
    }
    exact(FILES, file_name).or_else(|| suffix(FILE_SUFFIXES, file_name))
}

fn exact(table: &'static [&'static str], name: &str) -> Option<&'static str> {
    table.binary_search(&name).ok().map(|index| table[index])
}

/// The first suffix that the name ends with. The name must be longer than the suffix: a file named `.lock` is
/// not a lock file.
fn suffix(table: &'static [&'static str], name: &str) -> Option<&'static str> {
    table.iter().find(|suffix| name.len() > suffix.len() && name.ends_with(**suffix)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::Patterns;

    #[test]
    fn tables_are_sorted() {
        assert!(DIRECTORIES.is_sorted());
        assert!(FILES.is_sorted());
    }

    #[test]
    fn default_excludes_hide_clutter_but_no_code() {
        let check = |path: &str, expect: Option<&str>| assert_eq!(find(path), expect, "{path}");
        check("node_modules/a/index.js", Some("node_modules"));
        check("web/node_modules/a/index.js", Some("node_modules"));
        check("vendor/github.com/x/y.go", Some("vendor"));
        check(".git/config", Some(".git"));
        check(".cairn/db", Some(".cairn"));
        check("a/__pycache__/m.pyc", Some("__pycache__"));
        check("x.egg-info/PKG-INFO", Some(".egg-info"));
        check("static/app.min.js", Some(".min.js"));
        check("static/app.bundle.js", Some(".bundle.js"));
        check("Cargo.lock", Some(".lock"));
        check("web/package-lock.json", Some("package-lock.json"));
        check("go.sum", Some("go.sum"));
        check("src/build.rs", None);
        check("build", None);
        check("src/vendors/a.py", None);
        check("src/lock.go", None);
        check(".lock", None);
        check(".github/workflows/ci.yml", None);
        check("min.js", None);
    }

    #[test]
    fn published_globs_match_the_tables() {
        let globs = Patterns::compile("default", &default_excludes()).expect("valid");
        let paths = [
            "a/node_modules/b.js",
            "dist/x",
            "dist",
            "a.egg-info/x",
            "a/b.min.js",
            "yarn.lock",
            "src/lib.rs",
            ".vscode/settings.json",
            "x/.DS_Store",
            "coverage/lcov.info",
            "app.js.map",
            "app.js",
        ];
        for path in paths {
            assert_eq!(find(path).is_some(), globs.find(path).is_some(), "{path}");
        }
    }
}
