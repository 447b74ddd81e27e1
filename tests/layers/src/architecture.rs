//! Checks that the paths in ARCHITECTURE.md exist, that this document names every crate, that links between
//! documents work, that every failure code has a runbook, and that all decisions have the same sections.

use std::fs;

use cairn_ports::FailureCode;

use crate::manifests::{read_all, root};
use crate::plain_english::{Text, texts};
use crate::prose::Form;

/// Returns the code spans that are relative paths. Such code spans contain a slash, do not begin with a
/// slash, and have only letters, digits and `/._-`.
fn named_paths(text: &str) -> Vec<&str> {
    let spans = text.split('`').skip(1).step_by(2);
    let is_path = |span: &&str| {
        span.contains('/')
            && !span.starts_with('/')
            && span.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c))
    };
    spans.filter(is_path).collect()
}

#[test]
fn paths_in_architecture_exist() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let named = named_paths(&text);
    assert!(named.len() > 15, "only {} paths are named", named.len());
    let missing: Vec<&str> = named.into_iter().filter(|path| !root().join(path).exists()).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn every_crate_is_named_in_architecture() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let unnamed: Vec<String> = read_all()
        .into_iter()
        .map(|manifest| manifest.folder)
        .filter(|folder| !text.contains(&format!("`{folder}`")) && !folder.starts_with("tests/layers"))
        .collect();
    assert_eq!(unnamed, Vec::<String>::new());
}

#[test]
fn code_spans_other_than_relative_paths_are_ignored() {
    let text = "`crates/core/domain` and `/v1` and `a / b` and `cargo test` and `docs/x.md`";
    assert_eq!(named_paths(text), ["crates/core/domain", "docs/x.md"]);
}

/// Returns the documents that a text names: the targets of Markdown links without a scheme, and the paths of
/// `.md` files in code spans.
fn named_documents(text: &str) -> Vec<&str> {
    let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let links = links.filter(|link| !link.contains("://") && !link.starts_with('#'));
    let code = named_paths(text).into_iter().filter(|path| path.ends_with(".md"));
    links.chain(code).collect()
}

#[test]
fn named_documents_exist() {
    let (root, mut missing, mut num_named) = (root(), Vec::new(), 0);
    for Text { name, form, text } in texts() {
        let path = root.join(&name);
        let folder = path.parent().expect("a folder");
        let named = if form == Form::Markdown { named_documents(&text) } else { Vec::new() };
        num_named += named.len();
        let is_missing = |name: &&str| {
            let name = name.split('#').next().unwrap_or_default();
            !folder.join(name).exists() && !root.join(name).exists()
        };
        missing.extend(named.into_iter().filter(is_missing).map(|missing| format!("{name}: {missing}")));
    }
    assert!(num_named > 30, "only {num_named} documents are named");
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn every_code_has_a_runbook() {
    let pages = FailureCode::ALL.map(|code| format!("runbooks/{code}.md"));
    let missing: Vec<&String> = pages.iter().filter(|page| !root().join(page).is_file()).collect();
    assert_eq!(missing, Vec::<&String>::new());
}

/// The sections of a decision, in this order.
const SECTIONS: [&str; 4] = ["Decided", "Why", "Consequences", "Alternatives"];

#[test]
fn decisions_have_one_form() {
    let index = fs::read_to_string(root().join("docs/decisions/README.md")).expect("the index of decisions");
    let mut wrong = Vec::new();
    let pages = texts().into_iter().filter_map(|Text { name, text, .. }| {
        let page = name.strip_prefix("docs/decisions/").filter(|page| *page != "README.md")?;
        Some((page.to_owned(), text))
    });
    for (number, (page, text)) in (1..).zip(pages) {
        let sections: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        let is_numbered = page.starts_with(&format!("{number:04}-")) && text.starts_with(&format!("# {number:04} "));
        if sections != SECTIONS || !is_numbered || !index.contains(&format!("]({page})")) {
            wrong.push(format!("{page}: number {number:04}, sections {sections:?}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// All refusals of a sync are created by functions in one file. These functions accept text from a repository
/// only in quoted form.
#[test]
fn refusals_are_created_in_one_file() {
    let codes = ["FailureCode::InvalidSettings", "FailureCode::OverBudget"];
    let creates = |text: &str| {
        let plain: String = text.chars().filter(|character| !character.is_whitespace()).collect();
        codes.iter().any(|code| plain.contains(&format!("StageError::permanent({code}")))
    };
    let files = texts().into_iter().filter(|file| file.name.starts_with("crates/stages/src/"));
    let creating: Vec<String> = files.filter(|file| creates(&file.text)).map(|file| file.name).collect();
    assert_eq!(creating, ["crates/stages/src/sync/refusal.rs"]);
}
