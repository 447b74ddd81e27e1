//! Recognises files that are never read, because their names show that they contain secrets.
//!
//! `ALWAYS` lists kinds of files that contain only secrets. `BY_NAME` lists words in file names. These words
//! do not apply to the names of source code and documents (`secrets.py`, `docs/secrets.md`), because these
//! files usually describe secrets and do not contain them. Source code and documents are redacted like every
//! other text.
//!
//! `.env.example`, `.env.sample` and `.env.template` are sensitive like all files that match `.env*`. People
//! sometimes write real secrets into these files by mistake, and the file name does not show this. An
//! operator can allow these files.

use cairn_domain::RepoPath;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::untrusted::{Untrusted, quoted};

/// Kinds of files that contain only secrets. A pattern without `/` must match the last part of the path. A
/// pattern with `/` must match the end of the path. Patterns and paths are compared in lower case.
#[rustfmt::skip]
const ALWAYS: &[&str] = &[
    // Environment.
    ".env*",
    "*.env",
    ".flaskenv",
    // Keys and key stores.
    "*.key", "*.pem", "*.p12", "*.pfx", "*.p8", "*.pkcs12", "*.jks", "*.jceks", "*.keystore", "*.bks", "*.ppk",
    "*.keytab", "*.kdb", "*.kdbx", "*.ovpn", "*.agilekeychain/**", "*.opvault/**", "*.mobileprovision", "secring.*",
    "wallet.dat",
    // Folders in which tools store credentials.
    ".aws/**", ".ssh/**", ".gnupg/**", ".azure/**", ".kube/**", ".gcloud/**", ".config/gcloud/**", ".terraform.d/**",
    ".secrets/**", ".vnc/passwd",
    // Files in which tools store credentials.
    ".git/config", ".git-credentials", ".gitcookies", ".npmrc", ".pypirc", ".netrc", "_netrc", ".authinfo",
    ".authinfo.gpg", ".dockercfg", ".dockerconfigjson", ".docker/config.json", ".htpasswd", ".htdigest", ".pgpass",
    "pgpass.conf", ".my.cnf", ".mylogin.cnf", ".s3cfg", ".boto", ".rclone.conf", "rclone.conf", ".terraformrc",
    "terraform.rc", "*.tfstate", "*.tfstate.*", ".vault-token", ".vault_pass*", ".vault-pass*", ".databrickscfg",
    ".snowsql/config", ".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties",
    ".composer/auth.json", ".config/gh/hosts.yml", ".config/hub", ".kaggle/kaggle.json", "kaggle.json",
    ".huggingface/token", ".fetchmailrc", ".msmtprc", ".ftpconfig", "sftp-config.json", "recentservers.xml",
    "etc/shadow", "kubeconfig", "*.kubeconfig",
    // Shell history files.
    ".bash_history", ".zsh_history", ".sh_history", ".mysql_history", ".psql_history", ".rediscli_history",
    ".python_history", ".node_repl_history", ".irb_history",
];

/// Words that make a file name sensitive if the file is neither source code nor a document.
#[rustfmt::skip]
const BY_NAME: &[&str] = &[
    "*credentials*", "*secret*", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*_rsa", "*_dsa", "*_ecdsa",
    "*_ed25519", "*kubeconfig*", "service-account*.json", "service_account*.json", "serviceaccount*.json",
    "*firebase-adminsdk*.json",
];

/// Extensions of source code and documents.
#[rustfmt::skip]
const CODE: &[&str] = &[
    "adoc", "asm", "astro", "awk", "bash", "bat", "bzl", "c", "cc", "clj", "cljs", "cmake", "cpp", "cs", "css", "cts",
    "cxx", "d", "dart", "dockerfile", "el", "elm", "erl", "ex", "exs", "f90", "fish", "fs", "fsx", "go", "gradle",
    "graphql", "groovy", "h", "hbs", "hcl", "hh", "hpp", "hrl", "hs", "htm", "html", "hxx", "inl", "ipynb", "java",
    "jl", "js", "jsx", "kt", "kts", "less", "lisp", "lua", "m", "markdown", "md", "mdx", "mjs", "ml", "mli", "mm",
    "mts", "nim", "nix", "pas", "php", "pl", "pm", "proto", "ps1", "psm1", "py", "pyi", "pyx", "r", "rb", "rego",
    "rs", "rst", "s", "sass", "sc", "scala", "scm", "scss", "sh", "sol", "sql", "svelte", "swift", "tcl", "tex", "tf",
    "thrift", "ts", "tsx", "v", "vb", "vim", "vue", "zig", "zsh",
];

/// All patterns that apply without any setting, in the order in which they are tested.
pub const DEFAULT_PATTERNS: [&[&str]; 2] = [ALWAYS, BY_NAME];

/// A pattern for sensitive names that is not a valid glob. The message contains the name of the setting and
/// quotes the pattern.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{setting}: {pattern} is not a valid glob: {reason}")]
pub struct InvalidPattern {
    pub setting: &'static str,
    pub pattern: Untrusted,
    pub reason: Untrusted,
}

/// The sensitive names: the defaults, the names that the operator adds or allows, and the names that the
/// repository adds.
#[derive(Clone, Debug)]
pub struct SensitiveNames {
    always: Patterns,
    by_name: Patterns,
    allowed: Patterns,
    by_repository: Patterns,
}

impl SensitiveNames {
    /// Combines the defaults with the settings of the operator: paths that match a glob in `add` are
    /// sensitive too, and paths that match a glob in `allow` are not sensitive. If `allow` contains the
    /// pattern `*.pem`, the default pattern `*.pem` has no effect.
    pub fn new<Glob: AsRef<str>>(add: &[Glob], allow: &[Glob]) -> Result<Self, InvalidPattern> {
        let always = ALWAYS.iter().copied().chain(add.iter().map(AsRef::as_ref));
        Ok(Self {
            always: Patterns::new("sensitive.add", always)?,
            by_name: Patterns::new("sensitive", BY_NAME.iter().copied())?,
            allowed: Patterns::new("sensitive.allow", allow.iter().map(AsRef::as_ref))?,
            by_repository: Patterns::default(),
        })
    }

    /// Adds the names from the settings of a repository. A repository cannot remove names. The operator's
    /// `allow` has no effect on the added names.
    pub fn with_repository<Glob: AsRef<str>>(&self, add: &[Glob]) -> Result<Self, InvalidPattern> {
        let by_repository = Patterns::new("sensitive", add.iter().map(AsRef::as_ref))?;
        Ok(Self { by_repository, ..self.clone() })
    }
}

/// The first pattern that matches the path; `None` if the path is not sensitive. A file with a sensitive path
/// is not read. Upper and lower case are not distinguished.
pub fn is_sensitive<'names>(path: &RepoPath, names: &'names SensitiveNames) -> Option<&'names str> {
    let path = path.as_str().to_lowercase();
    if let Some(pattern) = names.by_repository.first_match(&path) {
        return Some(pattern);
    }
    if names.allowed.first_match(&path).is_some() {
        return None;
    }
    names.always.first_match(&path).or_else(|| if is_code(&path) { None } else { names.by_name.first_match(&path) })
}

fn is_code(path: &str) -> bool {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    CODE.binary_search(&extension).is_ok()
}

/// Compiled globs, with their original texts.
#[derive(Clone, Debug, Default)]
struct Patterns {
    texts: Vec<String>,
    set: GlobSet,
}

impl Patterns {
    fn new<'pattern>(
        setting: &'static str,
        patterns: impl Iterator<Item = &'pattern str>,
    ) -> Result<Self, InvalidPattern> {
        let mut texts = Vec::new();
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            let invalid = |error: &globset::Error| InvalidPattern {
                setting,
                pattern: quoted(pattern),
                reason: quoted(&error.kind().to_string()),
            };
            let anchored = anchored(&pattern.to_lowercase());
            set.add(GlobBuilder::new(&anchored).literal_separator(true).build().map_err(|error| invalid(&error))?);
            texts.push(pattern.to_owned());
        }
        let set = set.build().map_err(|error| InvalidPattern {
            setting,
            pattern: quoted(&texts.join(", ")),
            reason: quoted(&error.kind().to_string()),
        })?;
        Ok(Self { texts, set })
    }

    fn first_match(&self, path: &str) -> Option<&str> {
        let first = self.set.matches(path).into_iter().min()?;
        Some(&self.texts[first])
    }
}

/// A glob that matches the pattern at any depth. A pattern that begins with `/` matches only at the root.
fn anchored(pattern: &str) -> String {
    match pattern.strip_prefix('/') {
        Some(from_root) => from_root.to_owned(),
        None if pattern.starts_with("**/") => pattern.to_owned(),
        None => format!("**/{pattern}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> SensitiveNames {
        SensitiveNames::new::<&str>(&[], &[]).expect("the defaults are valid")
    }

    fn check(names: &SensitiveNames, path: &str, expect: Option<&str>) {
        let path = RepoPath::parse(path).expect("a path");
        assert_eq!(is_sensitive(&path, names), expect, "{path}");
    }

    #[test]
    fn secret_files_match_at_any_depth_and_case() {
        let names = names();
        for (path, pattern) in [
            (".env", ".env*"),
            ("a/.env.production", ".env*"),
            (".env.example", ".env*"),
            (".envrc", ".env*"),
            ("prod.env", "*.env"),
            ("x/SERVER.KEY", "*.key"),
            ("cert.pem", "*.pem"),
            ("a.p12", "*.p12"),
            ("a.pfx", "*.pfx"),
            ("a.jks", "*.jks"),
            ("release.keystore", "*.keystore"),
            ("putty.ppk", "*.ppk"),
            ("db.kdbx", "*.kdbx"),
            ("id_rsa", "id_rsa*"),
            ("keys/id_rsa.pub", "id_rsa*"),
            ("id_ed25519", "id_ed25519*"),
            ("deploy_rsa", "*_rsa"),
            ("aws-credentials.json", "*credentials*"),
            ("Credentials", "*credentials*"),
            ("secrets.yaml", "*secret*"),
            ("client_secret_1.json", "*secret*"),
            ("secrets.txt", "*secret*"),
            (".aws/config", ".aws/**"),
            ("home/.ssh/known_hosts", ".ssh/**"),
            (".git/config", ".git/config"),
            (".npmrc", ".npmrc"),
            (".pypirc", ".pypirc"),
            (".netrc", ".netrc"),
            ("_netrc", "_netrc"),
            (".kube/config", ".kube/**"),
            ("prod.kubeconfig", "*.kubeconfig"),
            ("kubeconfig.yaml", "*kubeconfig*"),
            ("terraform.tfstate", "*.tfstate"),
            ("terraform.tfstate.backup", "*.tfstate.*"),
            (".dockercfg", ".dockercfg"),
            (".docker/config.json", ".docker/config.json"),
            (".htpasswd", ".htpasswd"),
            (".pgpass", ".pgpass"),
            (".my.cnf", ".my.cnf"),
            (".git-credentials", ".git-credentials"),
            ("service-account-prod.json", "service-account*.json"),
            (".vault_pass.txt", ".vault_pass*"),
            (".bash_history", ".bash_history"),
            ("x-firebase-adminsdk-1.json", "*firebase-adminsdk*.json"),
            ("etc/shadow", "etc/shadow"),
        ] {
            check(&names, path, Some(pattern));
        }
    }

    #[test]
    fn words_do_not_apply_to_code_and_documents() {
        let names = names();
        for path in [
            "secrets.py",
            "credentials.rs",
            "pkg/secret_test.go",
            "SecretManager.java",
            "docs/secrets.md",
            "docs/Credentials.rst",
            "src/secret.ts",
            "secrets/main.go",
            "environment.ts",
            "config.json",
            "keys.txt",
            "public.crt",
            "monkey.js",
            "id_rsa.go",
            "kubeconfig.go",
            "Makefile",
            "settings.xml",
            "env.py",
            "docker/config.json",
            "shadow",
            "tokens.json",
        ] {
            check(&names, path, None);
        }
    }

    #[test]
    fn operator_adds_and_allows_names() {
        let names = SensitiveNames::new(&["*.private", "vault/**"], &["*.pem", "/test/**"]).expect("valid");
        check(&names, "a.private", Some("*.private"));
        check(&names, "x/vault/a.go", Some("vault/**"));
        check(&names, "a/cert.pem", None);
        check(&names, "test/server.key", None);
        check(&names, "src/test/server.key", Some("*.key"));
    }

    #[test]
    fn repository_only_adds_names() {
        let operator = SensitiveNames::new(&[], &["*.pem"]).expect("valid");
        let names = operator.with_repository(&["*.golden", "!.env", "special.pem"]).expect("valid");
        check(&names, "a.golden", Some("*.golden"));
        check(&names, ".env", Some(".env*"));
        check(&names, "special.pem", Some("special.pem"));
        check(&names, "other.pem", None);
        check(&operator, "a.golden", None);
    }

    #[test]
    fn error_quotes_invalid_pattern() {
        let error = names().with_repository(&["ok", "a[b"]).expect_err("no glob");
        assert!(error.to_string().starts_with("sensitive: «a[b» is not a valid glob: "), "{error}");
        let error = SensitiveNames::new(&["x"], &["{a"]).expect_err("no glob");
        assert_eq!((error.setting, error.pattern.as_str()), ("sensitive.allow", "{a"));
    }

    #[test]
    fn lists_are_lower_case_and_extensions_sorted() {
        assert!(CODE.is_sorted());
        assert!(DEFAULT_PATTERNS.concat().iter().all(|pattern| *pattern == pattern.to_lowercase()));
    }
}
