//! The kinds of files that a question may ask for in ordinary words, such as "composer manifest".
//!
//! A kind is named by phrases. It contains the files whose paths match one of its patterns, or the files of
//! tests. [`crate::asked_kind`] decides whether a question that contains such a phrase asks for a file.

use cairn_domain::{ChunkRecord, RepoPath};

use Content::{Documents, Files, FilesAndLanguage, Tests};

/// The files of a kind.
#[derive(PartialEq, Eq, Debug)]
enum Content {
    /// The files whose paths match one of the patterns. A pattern is the name of a file in lower case, in
    /// which one `*` matches any characters. In a pattern such as `workflows/*.yml`, the part before the
    /// slash is the name of any directory of the path.
    Files(&'static [&'static str]),
    /// The files that match one of the patterns, and the files in a language. The language is needed for
    /// scripts without an extension.
    FilesAndLanguage(&'static [&'static str], &'static str),
    /// The files that contain tests.
    Tests,
    /// The documents whose names begin with one of these words, in lower case: `changelog` for
    /// `CHANGELOG.md` and `changelog-2.txt`.
    Documents(&'static [&'static str]),
}

/// Extensions of documents. A document may also have no extension. Sorted.
const DOCUMENT_EXTENSIONS: [&str; 9] = ["adoc", "asciidoc", "html", "markdown", "md", "org", "rdoc", "rst", "txt"];

/// The phrases for each kind, and its files. The last word of a phrase may have an `s` at the end.
const KINDS: [(&[&str], Content); 44] = [
    (&["composer manifest", "php manifest"], Files(&["composer.json"])),
    (&["npm manifest", "node manifest", "yarn manifest", "npm package manifest"], Files(&["package.json"])),
    (&["cargo manifest", "crate manifest", "rust manifest"], Files(&["cargo.toml"])),
    (&["maven manifest", "maven pom", "maven project"], Files(&["pom.xml"])),
    (&["gradle build", "gradle script", "gradle build script", "gradle file"], Files(&["*.gradle", "*.gradle.kts"])),
    (&["python manifest", "python project", "pyproject"], Files(&["pyproject.toml", "setup.cfg", "setup.py"])),
    (
        &["python requirements", "pip requirements", "requirements file"],
        Files(&["requirements*.txt", "requirements*.in", "requirements/*.txt"]),
    ),
    (&["go manifest", "go module file", "go mod"], Files(&["go.mod"])),
    (&["ruby manifest", "gem file", "gemfile", "gemspec", "gem specification"], Files(&["gemfile", "*.gemspec"])),
    (&["dart manifest", "flutter manifest", "pubspec"], Files(&["pubspec.yaml"])),
    (&["swift manifest", "swift package manifest"], Files(&["package.swift"])),
    (&["android manifest"], Files(&["androidmanifest.xml"])),
    (&["extension manifest", "web app manifest"], Files(&["manifest.json", "*.webmanifest"])),
    (
        &["package manifest"],
        Files(&["package.json", "cargo.toml", "composer.json", "pyproject.toml", "pom.xml", "go.mod", "*.gemspec"]),
    ),
    (&["jupyter notebook", "ipython notebook", "notebook"], Files(&["*.ipynb"])),
    (
        &["protobuf schema", "proto schema", "protobuf definition", "proto definition", "protobuf file", "proto file"],
        Files(&["*.proto"]),
    ),
    (&["protocol buffer schema", "protocol buffer definition", "grpc definition"], Files(&["*.proto"])),
    (&["graphql schema", "graphql file", "graphql query file"], Files(&["*.graphql", "*.graphqls", "*.gql"])),
    (&["thrift schema", "thrift definition", "thrift file"], Files(&["*.thrift"])),
    (&["avro schema"], Files(&["*.avsc", "*.avdl"])),
    (&["json schema"], Files(&["*schema.json", "schema/*.json", "schemas/*.json"])),
    (
        &["openapi schema", "openapi specification", "openapi spec", "openapi file", "swagger spec", "swagger file"],
        Files(&["openapi*", "swagger*"]),
    ),
    (&["sql schema", "database schema", "prisma schema"], Files(&["*.sql", "schema.rb", "*.prisma"])),
    (&["sql migration"], Files(&["migrations/*.sql", "migration/*.sql", "migrate/*.sql", "*.up.sql"])),
    (
        &["database migration", "db migration", "schema migration", "table migration", "migration file"],
        Files(&["migrations/*", "migration/*", "migrate/*", "versions/*.py", "*.up.sql"]),
    ),
    (
        &["django migration", "rails migration", "alembic migration", "laravel migration", "flyway migration"],
        Files(&["migrations/*", "migration/*", "migrate/*", "versions/*.py"]),
    ),
    (&["sql file", "sql script"], Files(&["*.sql"])),
    (
        &["stylesheet", "style sheet", "css", "css file", "scss file", "sass file"],
        Files(&["*.css", "*.scss", "*.sass", "*.less", "*.styl"]),
    ),
    (&["html template", "html page", "html file"], Files(&["*.html", "*.htm", "*.jinja", "*.jinja2", "*.j2", "*.erb"])),
    (
        &["docker file", "dockerfile", "container file", "containerfile"],
        Files(&["dockerfile", "dockerfile.*", "*.dockerfile", "containerfile"]),
    ),
    (
        &["compose file", "docker compose", "compose service", "docker compose service"],
        Files(&["docker-compose*.yml", "docker-compose*.yaml", "compose*.yml", "compose*.yaml"]),
    ),
    (
        &["github workflow", "github action", "github actions workflow", "actions workflow", "ci workflow"],
        Files(&["workflows/*.yml", "workflows/*.yaml", "action.yml", "action.yaml"]),
    ),
    (&["gitlab pipeline", "gitlab ci"], Files(&[".gitlab-ci.yml", ".gitlab/*.yml"])),
    (&["jenkins pipeline", "jenkins file", "jenkinsfile"], Files(&["jenkinsfile*", "*.jenkinsfile"])),
    (&["helm value", "chart value", "helm chart value"], Files(&["values*.yaml", "values*.yml"])),
    (&["helm chart"], Files(&["chart.yaml", "values*.yaml", "templates/*.yaml", "templates/*.tpl"])),
    (
        &["terraform module", "terraform file", "terraform config", "terraform configuration", "terraform resource"],
        Files(&["*.tf", "*.tf.json", "*.tfvars"]),
    ),
    (
        &["makefile", "make file", "makefile target", "makefile rule", "make target", "make rule"],
        Files(&["makefile", "makefile.*", "gnumakefile", "*.mk"]),
    ),
    (&["shell script", "bash script", "sh script"], FilesAndLanguage(&["*.sh", "*.bash", "*.zsh"], "bash")),
    (&["test"], Tests),
    (
        &["changelog", "change log", "release note", "release history", "version history"],
        Documents(&["changelog", "change_log", "change-log", "changes", "history", "news", "release", "whatsnew"]),
    ),
    (
        &["license", "licence", "license text", "copyright notice"],
        Documents(&["license", "licence", "copying", "unlicense", "copyright"]),
    ),
    (&["readme", "read me"], Documents(&["readme"])),
    (
        &["whatsnew", "whatsnew note", "what s new note"],
        Documents(&["whatsnew", "whats_new", "whats-new", "what_is_new", "what-is-new"]),
    ),
];

/// A kind of files that a question asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileKind {
    content: &'static Content,
    /// The words of the question for the kind, without an `s` at the end.
    phrase: &'static str,
}

impl FileKind {
    /// The kind whose phrase is at the end of `words`, and the number of words of the phrase. The longest
    /// phrase decides.
    pub(crate) fn at_end(words: &[&str]) -> Option<(Self, usize)> {
        longest(|length| words.get(words.len().checked_sub(length)?..))
    }

    /// The kind whose phrase is at the start of `words`, and the number of words of the phrase.
    pub(crate) fn at_start(words: &[&str]) -> Option<(Self, usize)> {
        longest(|length| words.get(..length))
    }

    /// Whether the file of the chunk is of this kind.
    pub(crate) fn contains(&self, chunk: &ChunkRecord) -> bool {
        let any = |patterns: &[&str]| patterns.iter().any(|pattern| is_match(pattern, chunk));
        match self.content {
            Files(patterns) => any(patterns),
            FilesAndLanguage(patterns, language) => any(patterns) || chunk.language == *language,
            Tests => chunk.is_test,
            Documents(_) => self.is_document(&chunk.path),
        }
    }

    /// The beginnings of the names of the documents that the question asks for, in lower case. Empty if the
    /// question asks for other files.
    pub fn document_names(&self) -> &'static [&'static str] {
        match self.content {
            Documents(names) => names,
            Files(_) | FilesAndLanguage(..) | Tests => &[],
        }
    }

    /// A glob for the paths of the files of this kind. `None` if the kind has no patterns.
    pub fn path_glob(&self) -> Option<String> {
        let (Files(patterns) | FilesAndLanguage(patterns, _)) = self.content else { return None };
        let globs: Vec<String> = patterns.iter().map(|pattern| pattern.replace('/', "/**/")).collect();
        Some(format!("**/{{{}}}", globs.join(",")))
    }

    /// Whether the path is the path of a document that the question asks for.
    pub fn is_document(&self, path: &RepoPath) -> bool {
        let name = path.file_name().to_ascii_lowercase();
        let is_written = name.rsplit_once('.').is_none_or(|(_, extension)| {
            let is_version = extension.bytes().all(|byte| byte.is_ascii_digit());
            is_version || DOCUMENT_EXTENSIONS.binary_search(&extension).is_ok()
        });
        let has_name = |start: &&str| {
            name.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-', '_']))
        };
        is_written && self.document_names().iter().any(has_name)
    }

    pub(crate) fn is_license(&self) -> bool {
        self.document_names().contains(&"license")
    }

    pub(crate) fn is_of_tests(&self) -> bool {
        *self.content == Tests
    }

    /// Whether a keyword of the question names the kind, and not one of its files.
    pub(crate) fn is_named_by(&self, keyword: &str) -> bool {
        self.phrase.split(' ').chain(["file"]).any(|word| is_word(keyword, word))
    }
}

fn longest<'a>(words_of_length: impl Fn(usize) -> Option<&'a [&'a str]>) -> Option<(FileKind, usize)> {
    let all = KINDS.iter().flat_map(|(phrases, content)| phrases.iter().map(move |phrase| (*phrase, content)));
    let found = all.filter_map(|(phrase, content)| {
        let length = phrase.split(' ').count();
        let written = words_of_length(length)?;
        let is_same = phrase.split(' ').zip(written).enumerate().all(|(index, (word, written))| {
            if index + 1 == length { is_word(written, word) } else { *written == word }
        });
        is_same.then_some((FileKind { content, phrase }, length))
    });
    found.max_by_key(|(_, length)| *length)
}

/// Whether `written` is the word or its plural.
fn is_word(written: &str, word: &str) -> bool {
    written.strip_prefix(word).is_some_and(|end| matches!(end, "" | "s"))
}

fn is_match(pattern: &str, chunk: &ChunkRecord) -> bool {
    let (directory, pattern) = match pattern.rsplit_once('/') {
        Some((directory, pattern)) => (Some(directory), pattern),
        None => (None, pattern),
    };
    let is_inside =
        |wanted: &str| chunk.path.directory().split('/').any(|directory| directory.eq_ignore_ascii_case(wanted));
    let name = chunk.path.file_name().to_ascii_lowercase();
    let is_name = match pattern.split_once('*') {
        Some((start, end)) => name.strip_prefix(start).is_some_and(|rest| rest.ends_with(end)),
        None => name == pattern,
    };
    is_name && directory.is_none_or(is_inside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_chunks::chunk;

    #[test]
    fn phrases_are_distinct_and_in_lower_case() {
        let mut phrases: Vec<&str> = KINDS.iter().flat_map(|(phrases, _)| phrases.iter().copied()).collect();
        assert!(phrases.iter().all(|phrase| phrase.chars().all(|letter| letter == ' ' || letter.is_ascii_lowercase())));
        phrases.sort_unstable();
        assert!(phrases.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn paths_belong_to_kinds() {
        let check = |phrase: &str, path: &str, expect: bool| {
            let words: Vec<&str> = phrase.split(' ').collect();
            let (kind, length) = FileKind::at_end(&words).expect("a kind");
            assert_eq!(length, words.len(), "{phrase}");
            assert_eq!(kind.contains(&chunk(path, 1, "x")), expect, "{phrase} {path}");
        };
        check("composer manifest", "composer.json", true);
        check("composer manifest", "src/composer/Manifest.php", false);
        check("cargo manifest", "crates/cli/Cargo.toml", true);
        check("docker files", "worker/Dockerfile", true);
        check("dockerfile", "Dockerfile.worker", true);
        check("dockerfile", "src/dockerfile_parser.rs", false);
        check("github workflow", ".github/workflows/release.yml", true);
        check("github workflow", "src/release.yml", false);
        check("helm chart values", "charts/web/values-prod.yaml", true);
        check("helm chart", "charts/web/templates/service.yaml", true);
        check("sql migrations", "db/migrations/postgres/001_users.sql", true);
        check("sql migrations", "db/seeds/users.sql", false);
        check("rails migrations", "db/migrate/2020_users.rb", true);
        check("makefile targets", "GNUmakefile", true);
        check("protobuf schema", "api/messages.pb.go", false);
        check("swagger file", "swagger.json", true);
        check("requirements file", "requirements-dev.txt", true);
    }

    #[test]
    fn kinds_have_globs() {
        let glob = |phrase: &str| {
            FileKind::at_end(&phrase.split(' ').collect::<Vec<_>>()).and_then(|(kind, _)| kind.path_glob())
        };
        assert_eq!(glob("jupyter notebooks").as_deref(), Some("**/{*.ipynb}"));
        assert_eq!(glob("gitlab pipeline").as_deref(), Some("**/{.gitlab-ci.yml,.gitlab/**/*.yml}"));
        assert_eq!((glob("tests"), glob("changelog")), (None, None));
    }

    #[test]
    fn scripts_are_found_by_language_and_tests_by_their_mark() {
        let kind = |phrase: &str| FileKind::at_start(&phrase.split(' ').collect::<Vec<_>>()).expect("a kind").0;
        let script = ChunkRecord { language: "bash".into(), ..chunk("bin/setup", 1, "x") };
        assert!(kind("shell script").contains(&script) && !kind("sql script").contains(&script));
        let test = ChunkRecord { is_test: true, ..chunk("tests/pool.rs", 1, "x") };
        assert!(kind("tests").contains(&test) && !kind("test").contains(&script));
    }

    #[test]
    fn documents_are_found_by_the_beginning_of_their_names() {
        assert!(DOCUMENT_EXTENSIONS.is_sorted());
        let check = |phrase: &str, path: &str, expect: bool| {
            let (kind, _) = FileKind::at_end(&phrase.split(' ').collect::<Vec<_>>()).expect("a kind");
            assert_eq!(kind.contains(&chunk(path, 1, "x")), expect, "{phrase} {path}");
        };
        check("changelog", "CHANGELOG.md", true);
        check("changelog", "docs/changelog-2.rst", true);
        check("release notes", "HISTORY.md", true);
        check("release notes", "RELEASE-NOTES-1.42", true);
        check("release notes", "release_notes.txt", true);
        check("release notes", "NEWS", true);
        check("changelog", "CHANGES.txt", true);
        check("changelog", "src/changelog_parser.py", false);
        check("changelog", "src/history.rs", false);
        check("changelog", "newsletter.md", false);
        check("license", "LICENSE-MIT", true);
        check("license", "COPYING", true);
        check("licence", "LICENCE.txt", true);
        check("license", "src/license.go", false);
        check("readme", "crates/cli/README.md", true);
        check("readme", "readme.rs", false);
    }

    #[test]
    fn longest_phrase_decides() {
        let (kind, length) = FileKind::at_start(&["helm", "chart", "values", "of"]).expect("a kind");
        assert_eq!((kind.phrase, length), ("helm chart value", 3));
        assert!(kind.is_named_by("values") && kind.is_named_by("file") && !kind.is_named_by("worker"));
    }
}
