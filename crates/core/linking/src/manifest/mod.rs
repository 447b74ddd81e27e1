//! Reads the manifests of each ecosystem, which list the packages that a repository declares.
//!
//! All functions are pure functions of the text. A manifest that cannot be parsed declares nothing. Such a
//! file is nevertheless indexed as text, and the run continues.

mod declared;
mod jvm;
mod lines;
mod structured;

pub(crate) use self::declared::normal_python_name;

use cairn_domain::{Ecosystem, PackageManifest, RepoPath};

use self::declared::Declared;

type Parser = fn(&str) -> Option<Declared>;

/// The ecosystem of a manifest, and the function that reads it.
fn parser(path: &RepoPath) -> Option<(Ecosystem, Parser)> {
    let parser: (Ecosystem, Parser) = match path.file_name() {
        "pyproject.toml" => (Ecosystem::Pypi, structured::pyproject),
        "setup.cfg" => (Ecosystem::Pypi, |text| Some(lines::setup_cfg(text))),
        "setup.py" => (Ecosystem::Pypi, |text| Some(lines::setup_py(text))),
        "package.json" => (Ecosystem::Npm, structured::package_json),
        "composer.json" => (Ecosystem::Composer, structured::composer_json),
        "Cargo.toml" => (Ecosystem::Cargo, structured::cargo_toml),
        "go.mod" => (Ecosystem::Go, |text| Some(lines::go_mod(text))),
        "pom.xml" => (Ecosystem::Maven, |text| Some(jvm::pom(text))),
        "build.gradle" | "build.gradle.kts" => (Ecosystem::Maven, |text| Some(jvm::gradle(text))),
        name if name.starts_with("requirements") && name.ends_with(".txt") => {
            (Ecosystem::Pypi, |text| Some(lines::requirements(text)))
        }
        name if name.ends_with(".csproj") => (Ecosystem::Nuget, |text| Some(jvm::csproj(text))),
        _ => return None,
    };
    Some(parser)
}

/// Whether the text of this file may declare packages.
pub fn declares_packages(path: &RepoPath) -> bool {
    parser(path).is_some()
}

/// Reads a manifest. `None` if the path is not a manifest, or if its text declares nothing.
pub fn parse_package_manifest(path: &RepoPath, text: &str) -> Option<PackageManifest> {
    let (ecosystem, parse) = parser(path)?;
    let declared = parse(text)?;
    if declared.name.is_none() && declared.dependencies.is_empty() {
        return None;
    }
    let root = path.directory().to_owned();
    let Declared { name, mut dependencies, entries } = declared;
    dependencies.sort_unstable();
    dependencies.dedup();
    let entries = entries.iter().filter_map(|entry| crate::paths::join(&root, entry)).collect();
    Some(PackageManifest { ecosystem, path: path.clone(), name, root, dependencies, entries })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, name: Option<&str>, dependencies: &[&str]) -> PackageManifest {
        let path = RepoPath::parse(path).expect("valid path");
        let manifest = parse_package_manifest(&path, text).expect("declares something");
        assert_eq!(manifest.name.as_deref(), name);
        assert_eq!(manifest.dependencies, dependencies);
        manifest
    }

    /// Elixir manifests are programs, so they are not parsed.
    #[test]
    fn every_package_manifest_is_parsed() {
        let unparsed = cairn_domain::PACKAGE_MANIFESTS
            .into_iter()
            .filter(|name| !declares_packages(&RepoPath::parse(name).expect("valid path")));
        assert_eq!(unparsed.collect::<Vec<_>>(), ["mix.exs"]);
    }

    #[test]
    fn python_manifests_are_parsed() {
        let text = "[project]\nname = \"Fisio_Core\"\ndependencies = [\"requests[socks]>=2\", \"PyYAML\"]\n[project.optional-dependencies]\ndev = [\"pytest\"]\n";
        check("pyproject.toml", text, Some("fisio-core"), &["pytest", "pyyaml", "requests"]);
        let poetry = "[tool.poetry]\nname = \"a\"\n[tool.poetry.dependencies]\npython = \"^3.9\"\nhttpx = \"*\"\n[tool.poetry.group.dev.dependencies]\nmypy = \"1\"\n";
        check("x/pyproject.toml", poetry, Some("a"), &["httpx", "mypy"]);
        let setup = "[metadata]\nname = tool\n[options]\npackages = find:\ninstall_requires =\n    attrs>=20\n    # a comment\n    click\n[options.extras_require]\ndev =\n    tox\n";
        check("setup.cfg", setup, Some("tool"), &["attrs", "click", "tox"]);
        check(
            "setup.py",
            "setup(\n  name='old-tool',\n  install_requires=['six>=1', \"docopt\"],\n)\n",
            Some("old-tool"),
            &["docopt", "six"],
        );
        check(
            "requirements-dev.txt",
            "-r base.txt\nflask==2 # web\n\n--hash=x\ngit+https://host/x\n",
            None,
            &["flask"],
        );
    }

    #[test]
    fn node_manifests_are_parsed() {
        let text = r#"{"name": "@acme/util", "main": "./dist/index.js", "source": "src/main.ts", "dependencies": {"react": "^18"}, "devDependencies": {"jest": "*"}}"#;
        let manifest = check("packages/util/package.json", text, Some("@acme/util"), &["jest", "react"]);
        assert_eq!(manifest.root, "packages/util");
        assert_eq!(manifest.entries, ["packages/util/src/main.ts", "packages/util/dist/index.js"]);
        let exports = r#"{"name": "x", "exports": {".": {"import": "./esm/x.mjs"}}}"#;
        assert_eq!(check("package.json", exports, Some("x"), &[]).entries, ["esm/x.mjs"]);
    }

    #[test]
    fn go_and_cargo_manifests_are_parsed() {
        let text = "module example.com/a/b\n\ngo 1.21\n\nrequire (\n\tgithub.com/x/y v1.2.0\n\tgolang.org/x/net v0.1.0 // indirect\n)\nrequire k8s.io/api v0.2.0\n";
        check("go.mod", text, Some("example.com/a/b"), &["github.com/x/y", "golang.org/x/net", "k8s.io/api"]);
        let text = "[package]\nname = \"my-crate\"\n[lib]\npath = \"lib/root.rs\"\n[dependencies]\nserde = \"1\"\nalias = { package = \"real\", version = \"1\" }\n[target.'cfg(unix)'.dependencies]\nlibc = \"0.2\"\n";
        let manifest = check("crates/my/Cargo.toml", text, Some("my-crate"), &["libc", "real", "serde"]);
        assert_eq!(manifest.entries, ["crates/my/lib/root.rs"]);
    }

    #[test]
    fn jvm_and_other_manifests_are_parsed() {
        let pom = "<project><parent><groupId>org.acme</groupId><artifactId>top</artifactId></parent><artifactId>core</artifactId><dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId></dependency></dependencies></project>";
        check("pom.xml", pom, Some("org.acme:core"), &["junit:junit"]);
        let gradle = "dependencies {\n  implementation(\"com.squareup.okhttp3:okhttp:4.9\")\n  testImplementation 'junit:junit:4.13'\n}\n";
        check("app/build.gradle.kts", gradle, None, &["com.squareup.okhttp3:okhttp", "junit:junit"]);
        check(
            "composer.json",
            r#"{"name": "acme/web", "require": {"php": ">=8", "monolog/monolog": "^2"}}"#,
            Some("acme/web"),
            &["monolog/monolog"],
        );
        let project =
            "<Project><ItemGroup><PackageReference Include=\"Serilog\" Version=\"2\" /></ItemGroup></Project>";
        check("src/App.csproj", project, None, &["Serilog"]);
    }

    #[test]
    fn other_and_broken_files_declare_nothing() {
        for (path, text) in [
            ("package.json", "{"),
            ("Cargo.toml", "[workspace\n"),
            ("main.py", "x"),
            ("package.json", "[1]"),
            ("go.mod", ""),
        ] {
            assert_eq!(parse_package_manifest(&RepoPath::parse(path).expect("valid path"), text), None, "{path}");
        }
    }
}
