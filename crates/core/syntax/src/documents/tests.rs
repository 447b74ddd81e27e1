//! Compares each format with golden files, and checks invariants for random texts in every format.

use std::fmt::Write;
use std::time::{Duration, Instant};

use cairn_domain::{ChunkFacts, ContentHash, DocumentFacts, LineSpan, Symbol};
use proptest::prelude::*;

use super::*;
use crate::chunker::{embedded_text, line_starts};

const FORMATS: &[&str] = &[
    "markdown",
    "rst",
    "asciidoc",
    "html",
    "text",
    "yaml",
    "toml",
    "ini",
    "json",
    "dockerfile",
    "makefile",
    "hcl",
    "css",
    "protobuf",
    "graphql",
    "sql",
    "notebook",
    "unheard-of",
];

fn check_invariants(format: &str, text: &str) -> (Option<DocumentFacts>, Vec<Symbol>, Vec<ChunkFacts>) {
    let parsed = parse_document(format, text);
    let (facts, symbols, chunks) = &parsed;
    let starts = line_starts(text);
    let in_range = |span: LineSpan| 1 <= span.start && span.start <= span.end && span.end as usize <= starts.len();
    let mut covered = vec![false; starts.len()];
    let mut last_start = 0;
    for chunk in chunks {
        assert!(in_range(chunk.span) && last_start <= chunk.span.start, "{format}: {chunk:?}");
        last_start = chunk.span.start;
        covered[chunk.span.start as usize - 1..chunk.span.end as usize].fill(true);
        assert_eq!(chunk.content_hash, ContentHash::of(&embedded_text(text, &starts, chunk)));
        assert!(chunk.symbol.is_none_or(|symbol| (symbol as usize) < symbols.len()));
    }
    assert_eq!(covered.iter().position(|covered| !covered), None, "{format}: {chunks:?}");
    assert!(
        symbols.iter().all(|symbol| in_range(symbol.span) && symbol.span.contains(symbol.name_line)),
        "{symbols:?}"
    );
    if let Some(facts) = facts {
        assert!(facts.sections.iter().all(|section| in_range(section.span)), "{format}: {facts:?}");
    }
    parsed
}

/// Formats facts and chunks so that a reader can easily compare them with the source file.
fn rendered(format: &str, text: &str) -> String {
    let (facts, symbols, chunks) = check_invariants(format, text);
    let mut out = String::new();
    if let Some(facts) = facts {
        render_facts(&facts, &mut out);
    }
    for symbol in &symbols {
        let _ = writeln!(
            out,
            "symbol {}-{} (name {}) {} {} | {} | {:?}",
            symbol.span.start,
            symbol.span.end,
            symbol.name_line,
            symbol.kind.as_str(),
            symbol.qualified_name,
            symbol.signature,
            symbol.doc
        );
    }
    let starts = line_starts(text);
    for chunk in &chunks {
        let embedded = embedded_text(text, &starts, chunk);
        let span = chunk.span;
        let _ = writeln!(out, "chunk {}-{} {} heading={:?}", span.start, span.end, chunk.kind.as_str(), chunk.heading);
        let _ = writeln!(out, "    header={:?} symbol={:?}", chunk.header, chunk.symbol);
        let first_and_last =
            [embedded.lines().next(), embedded.lines().last()].map(|line| shown(line.unwrap_or_default()));
        let _ = writeln!(out, "    {:?} … {:?}", first_and_last[0], first_and_last[1]);
    }
    out
}

fn shown(line: &str) -> String {
    line.chars().take(60).collect()
}

fn render_facts(facts: &DocumentFacts, out: &mut String) {
    let _ = writeln!(out, "title={:?}\ndescription={:?}", facts.title, facts.description);
    for section in &facts.sections {
        let _ = writeln!(out, "section {}-{} {}", section.span.start, section.span.end, section.heading_path);
    }
    for (what, mentions) in [("entry point", &facts.entry_points), ("mention", &facts.mentions)] {
        for mention in mentions {
            let _ = writeln!(out, "{what} {} {}", mention.line, mention.text);
        }
    }
}

fn golden(format: &str, file: &str) {
    let path = format!("{}/test_data/documents/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the file is part of the repository");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../test_data/documents");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(file, rendered(format, &text)));
}

macro_rules! golden_tests {
    ($($name:ident: $format:literal, $file:literal;)+) => { $(#[test] fn $name() { golden($format, $file); })+ };
}

golden_tests! {
    golden_markdown: "markdown", "guide.md";
    golden_markdown_short: "markdown", "short.md";
    golden_markdown_agents: "markdown", "AGENTS.md";
    golden_restructured_text: "rst", "guide.rst";
    golden_asciidoc: "asciidoc", "guide.adoc";
    golden_html: "html", "page.html";
    golden_yaml: "yaml", "workflow.yaml";
    golden_yaml_stream: "yaml", "manifests.yaml";
    golden_toml: "toml", "package.toml";
    golden_ini: "ini", "setup.cfg";
    golden_json: "json", "package.json";
    golden_sql: "sql", "schema.sql";
    golden_css: "css", "style.css";
    golden_protobuf: "protobuf", "service.proto";
    golden_hcl: "hcl", "main.tf";
    golden_dockerfile: "dockerfile", "Dockerfile";
    golden_makefile: "makefile", "Makefile";
    golden_notebook: "notebook", "analysis.ipynb";
}

#[test]
fn minified_notebooks_are_read() {
    let text = r##"{"cells":[{"cell_type":"markdown","source":"# Load\nwords"},{"cell_type":"code","outputs":[],"source":["import os\n","x = \"a\""]}],"nbformat":4}"##;
    let (_, _, chunks) = check_invariants("notebook", text);
    let [chunk] = &chunks[..] else { panic!("{chunks:?}") };
    assert_eq!(chunk.synthetic_text.as_deref(), Some("# Load\nwords\n\nimport os\nx = \"a\""));
    assert_eq!((chunk.span, chunk.heading.as_deref()), (LineSpan::new(1, 1), Some("Load")));
}

#[test]
fn text_in_fences_and_comments_is_no_heading() {
    let headings = |text: &str| {
        let facts = parse_document("markdown", text).0.expect("documents have facts");
        facts.sections.into_iter().map(|section| section.heading_path).collect::<Vec<_>>()
    };
    let check = |text: &str, expect: &[&str]| assert_eq!(headings(text), expect, "{text:?}");
    check("```sh\n# no\n```\n# yes\n", &["yes"]);
    check("````\n```\n# no\n````\n# yes", &["yes"]);
    check("~~~\n# no\n```\n~~~\n# yes", &["yes"]);
    check("<!--\n# no\n-->\n# yes", &["yes"]);
    check("    # no\n\n# yes #\n", &["yes"]);
    check("#no\n#hashtag\n####### no\n", &[]);
    check("Title\n=====\n\ntext\n\nSub\n---\n", &["Title", "Sub"]);
    check("- item\n---\n\ntext\n\n---\n", &[]);
    check("---\ntitle: x\n# no\n---\n## yes C#\n", &["yes C#"]);
    check(
        "<h1 align=\"center\">\n  <img src=\"a\">Big\n</h1>\n\n## Sub\n### Deep\n## Other\n",
        &["Big", "Sub", "Sub > Deep", "Other"],
    );
    check("# A\n## B\n# C\n## D\n", &["A", "A > B", "C", "C > D"]);
    check("# `code` and **bold** [link](x)\n", &["code and bold link"]);
}

/// Texts that would take a very long time in a scanner that recurses, backtracks or restarts.
fn hostile_texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "[", "{", "(", "<", "`", "\"", "'", "*", "#", "\n", "- ", "a:\n", "<p>", "<h1>", "$$", "/*", "\\", "=\n",
        "{\"a\":", "[[a]]\n", "a,\n", "\t\n", "BEGIN ", "![", "](", "`a", "--\n", "```\n", "x\n=\n",
    ]
    .iter()
    .map(|piece| piece.repeat(200_000))
    .collect();
    texts.push((0..3_000).map(|depth| format!("{}a:\n", " ".repeat(depth % 500))).collect());
    texts.push(format!("{}\n# a\n", "x".repeat(1 << 20)));
    texts.push("\0".repeat(100_000));
    texts.push("{\"cells\":[".to_owned() + &"{\"source\":[\"a\\n\",\"b\"]},".repeat(40_000));
    texts.push("é\u{2028}'\"`".repeat(50_000));
    texts
}

#[test]
fn hostile_bytes_cost_linear_time() {
    for text in hostile_texts() {
        for format in FORMATS {
            let started = Instant::now();
            check_invariants(format, &text);
            // An algorithm with quadratic time would take minutes for these texts. The limit is high enough
            // for a slow machine.
            let start: String = text.chars().take(12).collect();
            assert!(started.elapsed() < Duration::from_secs(10), "{format}: {start:?} took {:?}", started.elapsed());
        }
    }
}

#[test]
fn empty_text_has_nothing() {
    for format in FORMATS {
        assert_eq!(parse_document(format, ""), (None, Vec::new(), Vec::new()), "{format}");
    }
}

prop_compose! {
    /// Rows that consist of fragments with a special meaning in at least one format.
    fn row()(indent in 0_usize..6, pieces in prop::collection::vec(prop::sample::select(vec![
        "#", "##", "===", "---", "```", "key:", "- ", "name: x", "[table]", "a = 1", "{", "}", "[", "]", "\"str\"", "'", ":", ",", ";",
        "CREATE TABLE t (", ")", "BEGIN", "END", "$$", "<h2>", "</h2>", "<p>", "`src/a.rs`", "entry point", "|", "FROM a AS b",
        "RUN x \\", "all: b", "\t", "word", "é", "--", "/*", "*/", "//", "\"cells\":", "\"source\":", ".. note::", "\u{0}",
    ]), 0..6)) -> String {
        " ".repeat(indent) + &pieces.join(" ")
    }
}

proptest! {
    #[test]
    fn every_line_is_covered_in_every_format(rows in prop::collection::vec(row(), 0..200), format in prop::sample::select(FORMATS.to_vec())) {
        let text = rows.join("\n");
        let parsed = check_invariants(format, &text);
        prop_assert_eq!(parsed, parse_document(format, &text));
    }
}
