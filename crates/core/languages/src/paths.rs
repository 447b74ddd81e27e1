//! Derives two facts from a path: whether the file is test code, and the name of its module.

use cairn_domain::RepoPath;

use crate::row::ModuleRules;
use crate::table::{FOLDER_MODULES, by_name};

/// Names of test directories, for all languages.
const TEST_DIRECTORIES: [&str; 7] = ["__tests__", "e2e", "spec", "specs", "test", "testing", "tests"];
/// A directory whose name has this suffix contains tests, e.g. `AppTests`.
const TEST_DIRECTORY_SUFFIX: &str = "Tests";

/// Whether the path marks test code in this language, by a test directory or by a file name such as
/// `test_*.py`.
pub fn is_test_path(language: &str, path: &RepoPath) -> bool {
    let Some(row) = by_name(language) else { return false };
    let rules = &row.tests;
    let is_directory = |part: &str| {
        TEST_DIRECTORIES.contains(&part) || part.ends_with(TEST_DIRECTORY_SUFFIX) || rules.directories.contains(&part)
    };
    let in_directory = path.directory().split('/').any(is_directory);
    let name = path.file_name();
    in_directory
        || rules.file_prefixes.iter().any(|prefix| name.starts_with(prefix))
        || rules.file_suffixes.iter().any(|suffix| name.ends_with(suffix))
        || rules.stem_suffixes.iter().any(|suffix| ends_with_word(path.stem(), suffix))
}

fn ends_with_word(stem: &str, suffix: &str) -> bool {
    let is_capital = |c: char| c.is_ascii_uppercase();
    let rest = stem.strip_suffix(suffix);
    rest.is_some_and(|rest| !suffix.chars().all(is_capital) || !rest.ends_with(is_capital))
}

/// The name of a file's module, with its parts joined by `.`: `fisio/fisio/imports/aws.py` is
/// `fisio.imports.aws`. The name is empty for the root module, and for languages without module paths.
pub fn module_path(language: &str, path: &RepoPath) -> String {
    let Some(rules) = by_name(language).map(|row| row.modules).filter(|rules| rules.enabled) else {
        return String::new();
    };
    let stem = path.stem().split('.').next().unwrap_or_default();
    let stem = Some(stem).filter(|stem| !rules.folder_is_module && !rules.index_stems.contains(stem));
    joined(path.directory(), stem, rules)
}

/// The module name of a folder that contains files in this language. For example, the module of
/// `fisio/fisio/imports` is `fisio.imports`. The name is empty for the root.
pub fn folder_module(language: &str, folder: &str) -> String {
    let rules = by_name(language).map(|row| row.modules).filter(|rules| rules.enabled);
    joined(folder, None, rules.unwrap_or(FOLDER_MODULES))
}

fn joined(directory: &str, stem: Option<&str>, rules: ModuleRules) -> String {
    let directory = without_leading(directory, rules);
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    if let Some(at) = parts.iter().position(|part| rules.drop_inner.contains(part)) {
        parts.remove(at);
    }
    parts.extend(stem);
    if parts.len() > 1 && parts[0] == parts[1] {
        parts.remove(0);
    }
    parts.join(".")
}

fn without_leading(directory: &str, rules: ModuleRules) -> &str {
    for folder in rules.drop_leading {
        let at_start = directory.strip_prefix(folder).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        if let Some(rest) = at_start {
            return rest;
        }
        // The folder may be inside a build module, as in `server/src/main/java/com/acme`. Only source folders
        // whose path contains a `/` are searched here: a folder such as `src` could also be a part of a
        // module's name.
        if let Some(at) = folder.contains('/').then(|| directory.find(&format!("/{folder}/"))).flatten() {
            return &directory[at + folder.len() + 2..];
        }
    }
    directory
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_module(language: &str, path: &str, expect: &str) {
        assert_eq!(module_path(language, &RepoPath::parse(path).expect("valid")), expect, "{path}");
    }

    #[test]
    fn module_is_derived_from_path() {
        check_module("python", "fisio/fisio/imports/aws.py", "fisio.imports.aws");
        check_module("python", "src/pkg/__init__.py", "pkg");
        check_module("python", "src/pkg/util.py", "pkg.util");
        check_module("python", "foo/src/foo/bar.py", "foo.bar");
        check_module("python", "setup.py", "setup");
        check_module("python", "__init__.py", "");
        check_module("rust", "src/lib.rs", "");
        check_module("rust", "src/net/mod.rs", "net");
        check_module("rust", "crates/core/src/net/tcp.rs", "crates.core.net.tcp");
        check_module("go", "pkg/server/http.go", "pkg.server");
        check_module("go", "main.go", "");
        check_module("javascript", "src/components/Button/index.jsx", "components.Button");
        check_module("typescript", "packages/app/src/api/client.d.ts", "packages.app.api.client");
        check_module("java", "server/src/main/java/com/acme/App.java", "com.acme.App");
        check_module("java", "src/main/java/com/acme/App.java", "com.acme.App");
        check_module("swift", "Sources/App/Model/Order.swift", "App.Model.Order");
        check_module("swift", "Tests/AppTests/OrderTests.swift", "AppTests.OrderTests");
        check_module("lua", "lua/router/init.lua", "router");
        check_module("lua", "src/router/stack.lua", "router.stack");
        check_module("bash", "bin/deploy.sh", "");
        check_module("markdown", "fisio/AGENTS.md", "fisio");
        check_module("markdown", "fisio/fisio/AGENTS.md", "fisio");
        check_module("markdown", "fisio/fisio/imports/README.md", "fisio.imports");
        check_module("restructuredtext", "crates/core/src/net/guide.rst", "crates.core.net");
        check_module("text", "server/src/main/java/com/acme/README", "com.acme");
        check_module("markdown", "AGENTS.md", "");
        check_module("nonsense", "a", "");
    }

    #[test]
    fn folders_have_modules() {
        let check = |language: &str, folder: &str, expect: &str| {
            assert_eq!(folder_module(language, folder), expect, "{language} {folder}");
        };
        check("python", "fisio/fisio", "fisio");
        check("python", "fisio/fisio/imports", "fisio.imports");
        check("python", "lib/fisio", "fisio");
        check("rust", "crates/core/src/net", "crates.core.net");
        check("bash", "fisio/fisio", "fisio");
        check("markdown", "src", "");
        check("go", "", "");
    }

    fn check_test(language: &str, path: &str, expect: bool) {
        assert_eq!(is_test_path(language, &RepoPath::parse(path).expect("valid")), expect, "{path}");
    }

    #[test]
    fn specs_are_tests() {
        check_test("go", "server/http_spec.go", true);
        check_test("go", "server/spec.go", false);
        check_test("elixir", "lib/router_spec.exs", true);
        check_test("elixir", "lib/inspec.ex", false);
        check_test("ruby", "lib/router_spec.rb", true);
    }

    #[test]
    fn tests_are_recognised_by_path() {
        check_test("python", "pkg/test_aws.py", true);
        check_test("python", "tests/helpers.py", true);
        check_test("python", "pkg/aws_test.py", true);
        check_test("python", "conftest.py", true);
        check_test("python", "pkg/latest.py", false);
        check_test("go", "server/http_test.go", true);
        check_test("go", "server/test.go", false);
        check_test("typescript", "src/a.spec.ts", true);
        check_test("javascript", "src/__tests__/a.js", true);
        check_test("rust", "tests/it.rs", true);
        check_test("rust", "src/engine/tests.rs", true);
        check_test("rust", "src/contests.rs", false);
        check_test("rust", "src/test_runner.rs", false);
        check_test("rust", "crates/testing/src/lib.rs", true);
        check_test("csharp", "src/Api.Tests/Fixture.cs", true);
        check_test("java", "src/LatestTests.java", true);
        check_test("java", "src/Contests/Round.java", false);
        check_test("java", "src/OrderIT.java", true);
        check_test("java", "src/AUDIT.java", false);
        check_test("kotlin", "src/HTTPTest.kt", true);
        check_test("php", "src/OrderTests.php", true);
        check_test("csharp", "src/OrderSuite.cs", true);
        check_test("swift", "App/OrderSuite.swift", true);
        check_test("elixir", "lib/test_case.ex", false);
        check_test("ruby", "lib/test_runner.rb", false);
        check_test("lua", "src/test_runner.lua", false);
        check_test("swift", "Tests/AppTests/Fixtures.swift", true);
        check_test("swift", "App/OrderTests.swift", true);
        check_test("swift", "App/Contest.swift", false);
        check_test("lua", "spec/router.lua", true);
        check_test("lua", "src/router_spec.lua", true);
        check_test("lua", "src/special.lua", false);
        check_test("bash", "tests/deploy.bats", true);
        check_test("bash", "bin/deploy_test.sh", true);
        check_test("bash", "bin/latest.sh", false);
        check_test("bash", "bin/deploy.bats", true);
        check_test("bash", "bin/test_mode.sh", false);
    }
}
