//! A repository of generated code, with random operations that change it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use rand::prelude::*;
use rand::rngs::StdRng;
use tempfile::TempDir;

use crate::work_tree::{self, commit, git, repository};

/// A repository that changes step by step.
pub struct Mutation {
    directory: TempDir,
    rng: StdRng,
    num_names: u32,
    /// The operations that have been applied so far, in order.
    pub log: Vec<String>,
}

/// Writes a file, after removing any folder or file that blocks the path.
fn write(root: &Path, path: &str, text: impl AsRef<[u8]>) {
    make_way(root, path);
    work_tree::write(root, path, text);
}

fn make_way(root: &Path, path: &str) {
    let file = root.join(path);
    if file.is_dir() {
        fs::remove_dir_all(&file).expect("removed");
    }
    for folder in file.ancestors().skip(1).take_while(|folder| *folder != root) {
        if folder.is_file() {
            fs::remove_file(folder).expect("removed");
        }
    }
}

impl Drop for Mutation {
    fn drop(&mut self) {
        work_tree::keep_if_failing(&mut self.directory);
    }
}

type Operation = fn(&mut Mutation) -> String;

/// All kinds of operations. All kinds are equally likely.
const OPERATIONS: &[Operation] = &[
    Mutation::edit,
    Mutation::edit,
    Mutation::insert_above,
    Mutation::add,
    Mutation::delete,
    Mutation::rename,
    Mutation::swap,
    Mutation::file_to_folder_and_back,
    Mutation::duplicate_function,
    Mutation::delete_a_duplicate,
    Mutation::copy,
    Mutation::merge,
    Mutation::force_push,
    Mutation::revert,
    Mutation::switch_branch,
    Mutation::settings,
    Mutation::uncommitted,
];

impl Mutation {
    pub fn new(seed: u64, num_files: usize) -> Self {
        let mut mutation =
            Self { directory: repository(), rng: StdRng::seed_from_u64(seed), num_names: 0, log: Vec::new() };
        for _ in 0..num_files {
            mutation.add_file();
        }
        mutation.new_classes_of_one_shape();
        commit(mutation.root(), "start");
        mutation
    }

    pub fn root(&self) -> &Path {
        self.directory.path()
    }

    /// Applies one random operation.
    pub fn step(&mut self) {
        let operation = OPERATIONS[self.rng.random_range(0..OPERATIONS.len())];
        let done = operation(self);
        self.log.push(done);
    }

    fn name(&mut self) -> String {
        const WORDS: &[&str] = &["load", "parse", "store", "fetch", "user", "order", "token", "cache", "path", "event"];
        self.num_names += 1;
        let words: Vec<&str> = (0..2).map(|_| WORDS[self.rng.random_range(0..WORDS.len())]).collect();
        format!("{}_{}", words.join("_"), self.num_names % 40)
    }

    fn add_file(&mut self) -> String {
        const FOLDERS: &[&str] = &["app", "app/core", "lib", "lib/net", "docs", "cmd", "web/src", "tests"];
        let folder = FOLDERS[self.rng.random_range(0..FOLDERS.len())];
        let extension = ["py", "rs", "go", "ts", "md"][self.rng.random_range(0..5_usize)];
        let path = format!("{folder}/{}.{extension}", self.name());
        let text = self.file_text(extension);
        write(self.root(), &path, text);
        path
    }

    fn file_text(&mut self, extension: &str) -> String {
        let mut text = match extension {
            "py" => format!("import os\nfrom app.core import {}\n\n", self.name()),
            "rs" => format!("use crate::{};\n\n", self.name()),
            "go" => "package main\n\nimport \"fmt\"\n\n".to_owned(),
            "ts" => format!("import {{ {} }} from './{}';\n\n", self.name(), self.name()),
            _ => format!("# {}\n\nSee `app/core/{}.py`.\n\n", self.name(), self.name()),
        };
        for _ in 0..self.rng.random_range(1..6) {
            text.push_str(&self.function(extension));
        }
        text
    }

    fn function(&mut self, extension: &str) -> String {
        let (name, callee) = (self.name(), self.name());
        let mut body = String::new();
        for line in 0..self.rng.random_range(1..30) {
            let _ = match extension {
                "py" => writeln!(body, "    value_{line} = {callee}({line})"),
                "go" => writeln!(body, "\tvalue{line} := {callee}({line})"),
                "md" => writeln!(body, "Line {line} of {callee}."),
                _ => writeln!(body, "    let value_{line} = {callee}({line});"),
            };
        }
        match extension {
            "py" => format!("def {name}(count):\n    \"\"\"Does {callee}.\"\"\"\n{body}    return count\n\n\n"),
            "rs" => format!("/// Does {callee}.\npub fn {name}(count: u32) {{\n{body}}}\n\n"),
            "go" => format!("// {name} does {callee}.\nfunc {name}(count int) {{\n{body}}}\n\n"),
            "ts" => format!("/** Does {callee}. */\nexport function {name}(count: number) {{\n{body}}}\n\n"),
            _ => format!("## {name}\n\n{body}\n"),
        }
    }

    fn new_classes_of_one_shape(&mut self) {
        for name in ["Aws", "Azure", "Gcp", "Local", "Ftp", "Http"] {
            let text = format!(
                "class {name}Importer(Base):\n    def open(self):\n        return self.source()\n\n    def read(self):\n        \
                 return 1\n\n    def close(self):\n        pass\n"
            );
            write(self.root(), &format!("app/importers/{}.py", name.to_lowercase()), text);
        }
    }

    /// The tracked files that exist on disk, except the settings file.
    fn files(&self) -> Vec<String> {
        let listed = git(self.root(), &["ls-files"]);
        let exists = |path: &&str| self.root().join(path).is_file() && !path.starts_with(".cairn");
        listed.lines().filter(exists).map(ToOwned::to_owned).collect()
    }

    fn pick(&mut self) -> String {
        let files = self.files();
        files[self.rng.random_range(0..files.len())].clone()
    }

    fn extension(path: &str) -> String {
        path.rsplit('.').next().unwrap_or_default().to_owned()
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).expect("a file of text")
    }

    fn done(&self, what: String) -> String {
        commit(self.root(), &what);
        what
    }

    fn edit(&mut self) -> String {
        let path = self.pick();
        let mut text = self.read(&path);
        text.push_str(&self.function(&Self::extension(&path)));
        write(self.root(), &path, text);
        self.done(format!("edit {path}"))
    }

    fn insert_above(&mut self) -> String {
        let path = self.pick();
        let lines = "\n".repeat(self.rng.random_range(1..5));
        let text = format!("{lines}{}", self.read(&path));
        write(self.root(), &path, text);
        self.done(format!("insert lines above {path}"))
    }

    fn add(&mut self) -> String {
        let path = self.add_file();
        self.done(format!("add {path}"))
    }

    fn delete(&mut self) -> String {
        let path = self.pick();
        fs::remove_file(self.root().join(&path)).expect("removed");
        self.done(format!("delete {path}"))
    }

    fn rename(&mut self) -> String {
        let path = self.pick();
        let to = format!("moved/{}.{}", self.name(), Self::extension(&path));
        if path.starts_with(&to) {
            return self.edit();
        }
        fs::create_dir_all(self.root().join("moved")).expect("a folder");
        make_way(self.root(), &to);
        fs::rename(self.root().join(&path), self.root().join(&to)).expect("renamed");
        self.done(format!("rename {path} to {to}"))
    }

    fn swap(&mut self) -> String {
        let (left, right) = (self.pick(), self.pick());
        let (left_text, right_text) = (self.read(&left), self.read(&right));
        write(self.root(), &left, right_text);
        write(self.root(), &right, left_text);
        self.done(format!("swap {left} and {right}"))
    }

    fn file_to_folder_and_back(&mut self) -> String {
        let path = self.pick();
        let inner: PathBuf = self.root().join(&path).join("inner.py");
        let text = self.read(&path);
        fs::remove_file(self.root().join(&path)).expect("removed");
        fs::create_dir_all(self.root().join(&path)).expect("a folder");
        fs::write(&inner, &text).expect("a file");
        if self.rng.random_bool(0.5) {
            return self.done(format!("{path} becomes a folder"));
        }
        commit(self.root(), "a folder for a moment");
        fs::remove_dir_all(self.root().join(&path)).expect("removed");
        write(self.root(), &path, text);
        self.done(format!("{path} becomes a folder and a file again"))
    }

    fn duplicate_function(&mut self) -> String {
        let path = self.pick();
        let function = self.function(&Self::extension(&path));
        let text = format!("{}{function}{function}", self.read(&path));
        write(self.root(), &path, text);
        self.done(format!("two equal functions in {path}"))
    }

    fn delete_a_duplicate(&mut self) -> String {
        for path in self.files() {
            let text = self.read(&path);
            let half = text.len() / 2;
            let Some(end) = (0..half).rev().take(4000).find(|length| {
                *length > 40 && text.is_char_boundary(text.len() - length) && {
                    let tail = &text[text.len() - length..];
                    text[..text.len() - length].ends_with(tail)
                }
            }) else {
                continue;
            };
            write(self.root(), &path, &text[..text.len() - end]);
            return self.done(format!("delete one of two equal functions of {path}"));
        }
        self.edit()
    }

    fn copy(&mut self) -> String {
        let path = self.pick();
        let to = format!("copies/{}.{}", self.name(), Self::extension(&path));
        let text = self.read(&path);
        write(self.root(), &to, text);
        self.done(format!("copy {path} to {to}"))
    }

    fn merge(&mut self) -> String {
        let branch = format!("side-{}", self.num_names);
        git(self.root(), &["checkout", "-q", "-b", &branch]);
        self.add();
        git(self.root(), &["checkout", "-q", "main"]);
        self.add();
        git(self.root(), &["merge", "-q", "--no-edit", "-X", "ours", &branch]);
        format!("merge {branch}")
    }

    fn force_push(&mut self) -> String {
        let depth = git(self.root(), &["rev-list", "--count", "--first-parent", "HEAD"]);
        if depth.parse::<u32>().is_ok_and(|depth| depth > 3) {
            git(self.root(), &["reset", "-q", "--hard", "HEAD~2"]);
        }
        self.edit();
        "rewrite history".to_owned()
    }

    fn revert(&mut self) -> String {
        self.edit();
        git(self.root(), &["revert", "--no-edit", "HEAD"]);
        "revert".to_owned()
    }

    fn switch_branch(&mut self) -> String {
        let branch = format!("other-{}", self.num_names);
        git(self.root(), &["checkout", "-q", "-b", &branch]);
        self.edit();
        self.delete();
        if self.rng.random_bool(0.5) {
            git(self.root(), &["checkout", "-q", "main"]);
            return format!("to {branch} and back");
        }
        git(self.root(), &["branch", "-q", "-f", "main", &branch]);
        git(self.root(), &["checkout", "-q", "main"]);
        format!("main is now {branch}")
    }

    fn settings(&mut self) -> String {
        let settings = [
            "",
            "exclude:\n  - 'docs/**'\n",
            "exclude:\n  - '*.go'\nmodules:\n  lib: The library.\n",
            "secrets:\n  ignore:\n    - rule:generic-password\n",
            "tags:\n  net:\n    - 'lib/net/**'\n",
            "include:\n  - '*.py'\n  - '*.rs'\n",
            "pattern_detection:\n  enabled: false\n",
            "pattern_detection:\n  min_cluster_size: 3\nmax_file_size: 2000\n",
            "navigation_docs:\n  - 'docs/**'\n",
        ];
        let text = settings[self.rng.random_range(0..settings.len())];
        write(self.root(), ".cairn.yaml", text);
        let secret = format!("password = \"{}{}\"\n", "Xk7vQ2m", "Lp9rTz4w");
        write(self.root(), "app/settings.py", secret);
        self.done(format!("settings {text:?}"))
    }

    /// Changes files on disk without a commit: edits one file, and adds an untracked file.
    fn uncommitted(&mut self) -> String {
        let path = self.pick();
        let text = format!("{}\n", self.read(&path));
        write(self.root(), &path, text);
        let added = self.add_file();
        format!("uncommitted {path} and {added}")
    }
}
