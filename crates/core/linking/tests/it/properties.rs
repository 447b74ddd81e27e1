//! Tests two properties of linking for random repositories. The first property: the order of files does not
//! change the result. The second property: linking only the affected files gives the same result as linking
//! all files.

use std::collections::BTreeMap;

use cairn_domain::PackageManifest;
use cairn_linking::{
    Contribution, Environment, FileLinks, State, affected, changed_keys, changed_package_keys, link_file,
};
use proptest::prelude::*;

use crate::support::{Parsed, link_parsed, repository};

/// The paths of the files in the tests. Each state of the repository contains some of these files, so
/// modules, packages and folders with the same name appear and disappear.
const PATHS: &[&str] = &[
    "a.py",
    "b.py",
    "p/__init__.py",
    "p/a.py",
    "p/b.py",
    "go.mod",
    "g/a.go",
    "g/b.go",
    "h/a.go",
    "src/lib.rs",
    "src/a.rs",
    "src/a/b.rs",
    "Cargo.toml",
    "README.md",
];

const NAMES: &[&str] = &["alpha", "beta", "Gamma", "Delta"];

/// One line of source text in the language of the path.
fn line(path: &str, form: u8, first: usize, second: usize) -> String {
    let (a, b) = (NAMES[first], NAMES[second]);
    match path.rsplit('.').next() {
        Some("py") => python_line(form, a, b),
        Some("go") => match form % 6 {
            0 => format!("func {a}() {{ {b}() }}\n"),
            1 => format!("type {a} struct {{ x {b} }}\n"),
            2 => format!("func (r *{a}) {b}() {{ r.{a}() }}\n"),
            3 => format!("func use{a}(x {b}) {{ x.{a}(); h.{b}() }}\n"),
            4 => "import \"ex.com/m/h\"\n".to_owned(),
            _ => format!("func other{a}() {{ g.{b}() }}\n"),
        },
        Some("rs") => match form % 7 {
            0 => format!("pub fn {a}() {{ {b}(); a::{b}(); }}\n"),
            1 => format!("pub struct {a};\nimpl {a} {{ pub fn {b}(&self) {{ self.{a}() }} }}\n"),
            2 => format!("use crate::a::{a};\n"),
            3 => "mod a;\n".to_owned(),
            4 => format!("pub use self::a::b::{a} as {b};\n"),
            5 => format!("mod tests {{ use super::*; fn {a}() {{ {b}() }} }}\n"),
            _ => format!("use crate::a::b::*;\nfn call_{a}() {{ {b}() }}\n"),
        },
        Some("mod") => ["module ex.com/m\n", "module ex.com/n\n"][form as usize % 2].to_owned(),
        Some("toml") => "[package]\nname = \"a\"\n".to_owned(),
        _ => format!("# {a}\n\nSee `{b}` and `p/a.py`.\n"),
    }
}

fn python_line(form: u8, a: &str, b: &str) -> String {
    match form % 9 {
        0 => format!("def {a}():\n    {b}()\n"),
        1 => format!("class {a}({b}):\n    def {b}(self):\n        self.{a}()\n        super().{b}()\n"),
        2 => format!(
            "class {a}:\n    def __init__(self):\n        self.x = {b}()\n    def go(self):\n        self.x.{b}()\n"
        ),
        3 => format!("from p.a import {a}\n"),
        4 => format!("from .b import {a} as {b}\n"),
        5 => "from p import *\n".to_owned(),
        6 => format!("import p.b\np.b.{a}()\n"),
        7 => format!("from p import b\nb.{a}()\n"),
        _ => format!("def use_{a}(x):\n    x.{b}()\n    {a}()\n"),
    }
}

type Lines = Vec<(u8, usize, usize)>;

fn lines() -> impl Strategy<Value = Lines> {
    prop::collection::vec((any::<u8>(), 0..NAMES.len(), 0..NAMES.len()), 0..5)
}

/// A random repository. The lines of each file, by path; `None` if the file does not exist.
fn repositories() -> impl Strategy<Value = Vec<Option<Lines>>> {
    prop::collection::vec(prop::option::weighted(0.8, lines()), PATHS.len())
}

fn parsed(path: &str, lines: &Lines) -> Parsed {
    let text: String = lines.iter().map(|(form, first, second)| line(path, *form, *first, *second)).collect();
    Parsed::new(path, &if path.ends_with(".go") { format!("package x\n{text}") } else { text })
}

fn parse_all(state: &[Option<Lines>]) -> Vec<Parsed> {
    PATHS.iter().zip(state).filter_map(|(path, lines)| Some(parsed(path, lines.as_ref()?))).collect()
}

/// The contributions and links that a run stores for one state of the repository.
struct Summary {
    contributions: BTreeMap<String, Contribution>,
    packages: Vec<PackageManifest>,
    links: BTreeMap<String, FileLinks>,
}

fn full(files: &[Parsed]) -> Summary {
    let contributions: BTreeMap<String, Contribution> =
        files.iter().map(|file| (file.path.to_string(), file.contribution())).collect();
    let packages: Vec<PackageManifest> = files.iter().filter_map(|file| file.manifest.clone()).collect();
    let environment = Environment::build(repository(), contributions.values(), &packages);
    let links = files.iter().map(|file| (file.path.to_string(), link_file(&environment, &file.link_file()))).collect();
    drop(environment);
    Summary { contributions, packages, links }
}

/// Links only the affected files, and takes the links of the other files from `old`. Also returns the number
/// of files that were linked.
fn incremental(old: &Summary, files: &[Parsed]) -> (BTreeMap<String, FileLinks>, usize) {
    let contributions: BTreeMap<String, Contribution> =
        files.iter().map(|file| (file.path.to_string(), file.contribution())).collect();
    let packages: Vec<PackageManifest> = files.iter().filter_map(|file| file.manifest.clone()).collect();
    let mut changed = changed_package_keys(&old.packages, &packages);
    for path in PATHS {
        changed.extend(changed_keys(old.contributions.get(*path), contributions.get(*path)));
    }
    let environment = Environment::build(repository(), contributions.values(), &packages);
    let mut num_linked = 0;
    let links = files.iter().map(|file| {
        let path = file.path.to_string();
        let kept = old.links.get(&path).filter(|links| !affected(&links.asked, &changed));
        let links = kept.cloned().unwrap_or_else(|| {
            num_linked += 1;
            link_file(&environment, &file.link_file())
        });
        (path, links)
    });
    let links = links.collect();
    (links, num_linked)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn order_of_files_does_not_matter(state in repositories(), rotation in 0..PATHS.len()) {
        let files = parse_all(&state);
        let mut turned = files.clone();
        let by = rotation.min(turned.len());
        turned.rotate_left(by);
        turned.reverse();
        prop_assert_eq!(link_parsed(&files), link_parsed(&turned));
    }

    #[test]
    fn linking_affected_files_equals_linking_all(
        state in repositories(),
        edits in prop::collection::vec((0..PATHS.len(), prop::option::weighted(0.85, lines())), 1..4),
    ) {
        let old = full(&parse_all(&state));
        let mut state = state;
        let mut touched = Vec::new();
        for (index, lines) in edits {
            state[index] = lines;
            touched.push(PATHS[index]);
        }
        let files = parse_all(&state);
        let fresh = full(&files);
        check_states(&old, &fresh, &touched, &files)?;
        // A file whose text is unchanged has unchanged facts. Therefore only files whose text changed are
        // linked again.
        let (links, _) = incremental(&with_text_changes(old, &touched), &files);
        prop_assert_eq!(links, fresh.links);
    }
}

/// Checks the environments that one call builds for two states. Each environment must give the same links as
/// an environment that is built for one state alone.
fn check_states(before: &Summary, after: &Summary, touched: &[&str], files: &[Parsed]) -> Result<(), TestCaseError> {
    let own = |summary: &Summary| -> Vec<Contribution> {
        let own = summary.contributions.iter().filter(|(path, _)| touched.contains(&path.as_str()));
        own.map(|(_, contribution)| contribution.clone()).collect()
    };
    let (own_before, own_after) = (own(before), own(after));
    let shared = after.contributions.iter().filter(|(path, _)| !touched.contains(&path.as_str()));
    let states = [
        State { files: &own_before, packages: &before.packages },
        State { files: &own_after, packages: &after.packages },
    ];
    let [environment_before, environment] =
        Environment::of_states(repository(), shared.map(|(_, contribution)| contribution), states);
    for file in files {
        let path = file.path.to_string();
        prop_assert_eq!(Some(&link_file(&environment, &file.link_file())), after.links.get(&path));
        if !touched.contains(&path.as_str()) {
            prop_assert_eq!(Some(&link_file(&environment_before, &file.link_file())), before.links.get(&path));
        }
    }
    Ok(())
}

/// Removes the links of every file whose text changed. A run links these files again, even if their
/// contributions are unchanged.
fn with_text_changes(mut old: Summary, touched: &[&str]) -> Summary {
    for path in touched {
        old.links.remove(*path);
    }
    old
}

#[test]
fn unused_change_links_one_file() {
    let before = [
        Parsed::new("a.py", "def f():\n    pass\n"),
        Parsed::new("b.py", "from a import f\nf()\n"),
        Parsed::new("c.py", "x = 1\n"),
    ];
    let after = [before[0].clone(), before[1].clone(), Parsed::new("c.py", "def g():\n    pass\n")];
    let (_, num_linked) = incremental(&with_text_changes(full(&before), &["c.py"]), &after);
    assert_eq!(num_linked, 1);
    let moved = [Parsed::new("a.py", "\n\ndef f():\n    pass\n"), before[1].clone(), before[2].clone()];
    assert_eq!(
        incremental(&with_text_changes(full(&before), &["a.py"]), &moved).1,
        1,
        "lines inserted above affect no other file"
    );
    let renamed = [Parsed::new("a.py", "def h():\n    pass\n"), before[1].clone(), before[2].clone()];
    assert_eq!(incremental(&with_text_changes(full(&before), &["a.py"]), &renamed).1, 2);
}
