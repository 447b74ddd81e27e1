//! Checks the invariants of chunks for random texts, and the chunks of typical files.

use cairn_domain::{
    ChunkFacts, ChunkKind, ContentHash, Import, ImportedName, LineSpan, Symbol, SymbolKind, Visibility,
};
use proptest::prelude::*;

use super::sizes::WHOLE_TOKENS;
use super::*;

fn symbol(name: &str, kind: SymbolKind, span: (u32, u32), parent: Option<u32>) -> Symbol {
    Symbol {
        name: name.to_owned(),
        qualified_name: name.to_owned(),
        kind,
        span: LineSpan::new(span.0, span.1),
        name_line: span.0,
        signature: format!("{} {name}", kind.as_str()),
        doc: None,
        decorators: Vec::new(),
        parent,
        visibility: Visibility::Public,
        exported: true,
        is_test: false,
    }
}

fn import(module: &str, names: &[&str], line: u32) -> Import {
    let names = names.iter().map(|&name| ImportedName { name: name.to_owned(), alias: None }).collect();
    let module = module.to_owned();
    Import { module, level: 0, names, alias: None, wildcard: false, reexport: false, line, enclosing: None }
}

/// Builds a source text one definition at a time, with the symbols that a parser would find.
#[derive(Default)]
struct Source {
    text: String,
    symbols: Vec<Symbol>,
}

impl Source {
    fn num_lines(&self) -> u32 {
        self.text.lines().count() as u32
    }

    fn lines(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self.text.push('\n');
        self
    }

    /// Adds a function with `num_lines` lines of about ten tokens each. If it has a parent, it is indented
    /// like a method.
    fn function(&mut self, name: &str, num_lines: u32, parent: Option<u32>) -> &mut Self {
        let start = self.num_lines() + 1;
        let indent = if parent.is_some() { "    " } else { "" };
        self.lines(&format!("{indent}def {name}(self):"));
        for line in 1..num_lines {
            self.lines(&format!("{indent}    value_{line} = compute({name}, other)"));
        }
        let kind = if parent.is_some() { SymbolKind::Method } else { SymbolKind::Function };
        self.symbols.push(symbol(name, kind, (start, self.num_lines()), parent));
        self
    }

    fn class(&mut self, name: &str) -> u32 {
        let start = self.num_lines() + 1;
        self.lines(&format!("class {name}:"));
        self.lines("    field = 1");
        self.symbols.push(symbol(name, SymbolKind::Class, (start, start), None));
        self.symbols.len() as u32 - 1
    }

    fn end(&mut self, class: u32) -> &mut Self {
        self.symbols[class as usize].span.end = self.num_lines();
        self
    }

    fn chunks(&self) -> Vec<ChunkFacts> {
        let chunks = chunk_file(&self.text, &self.symbols, &[]);
        check_invariants(&self.text, &chunks);
        chunks
    }

    /// The kind, symbol and span of each chunk.
    fn shape(&self) -> Vec<String> {
        let name =
            |chunk: &ChunkFacts| chunk.symbol.map_or("-", |symbol| &self.symbols[symbol as usize].name).to_owned();
        let chunks = self.chunks();
        let shapes = chunks
            .iter()
            .map(|chunk| format!("{} {} {}-{}", chunk.kind.as_str(), name(chunk), chunk.span.start, chunk.span.end));
        shapes.collect()
    }
}

/// Checks that every line is in a chunk, that spans are in range and in order, and that hashes match the
/// embedded text.
fn check_invariants(text: &str, chunks: &[ChunkFacts]) {
    let starts = line_starts(text);
    let mut covered = vec![false; starts.len()];
    let mut last_start = 0;
    for chunk in chunks {
        let LineSpan { start, end } = chunk.span;
        assert!(last_start <= start && 1 <= start && start <= end && end as usize <= starts.len(), "{chunk:?}");
        last_start = start;
        if chunk.synthetic_text.is_none() {
            covered[start as usize - 1..end as usize].fill(true);
        }
        assert_eq!(chunk.content_hash, ContentHash::of(&embedded_text(text, &starts, chunk)));
        let shown = chunk_text(text, &starts, chunk.span);
        assert!(text.contains(shown) && (shown.ends_with('\n') || text.ends_with(shown)));
    }
    assert_eq!(covered.iter().position(|covered| !covered), None, "{chunks:?}");
}

#[test]
fn small_file_is_one_chunk() {
    let mut source = Source::default();
    source.lines("import os").lines("").function("a", 5, None).lines("").function("b", 5, None);
    assert_eq!(source.shape(), ["group - 1-13"]);
    let mut single = Source::default();
    single.lines("import os").lines("").function("a", 5, None);
    assert_eq!(single.shape(), ["function a 1-7"]);
}

#[test]
fn small_neighbouring_definitions_share_a_chunk() {
    let mut source = Source::default();
    source.lines("import os").lines("").function("a", 30, None).lines("").function("b", 4, None);
    source.lines("").function("c", 4, None).lines("").function("d", 30, None).lines("").lines("main()");
    assert_eq!(source.shape(), ["function a 1-32", "group - 33-42", "function d 43-75"]);
}

#[test]
fn class_head_and_first_short_methods_share_a_chunk() {
    let mut source = Source::default();
    let class = source.class("Service");
    for (name, num_lines) in [("new", 3), ("get", 3), ("long", 30), ("x", 3), ("y", 3), ("longer", 40), ("z", 4)] {
        source.lines("").function(name, num_lines, Some(class));
    }
    source.end(class).lines("").function("free", 30, None);
    assert_eq!(
        source.shape(),
        [
            "class Service 1-10",
            "method long 11-41",
            "group - 42-49",
            "method longer 50-90",
            "method z 91-95",
            "function free 96-126",
        ]
    );
    let chunks = source.chunks();
    assert_eq!(chunks[0].header, "class Service\nmembers: long, x, y, longer, z");
    assert_eq!(chunks[1].header, "class Service\nmethod long");
    assert_eq!(chunks[2].header, "class Service");
}

#[test]
fn methods_outside_their_type_join_its_chunk() {
    let mut source = Source::default();
    let class = source.class("Point");
    source.end(class).lines("").lines("impl Point {").function("new", 3, Some(class));
    source.lines("}").lines("").function("free", 4, None).lines("").function("long", 50, None);
    assert_eq!(source.shape(), ["class Point 1-8", "function free 9-13", "function long 14-64"]);
}

#[test]
fn large_class_has_a_summary() {
    let mut source = Source::default();
    let class = source.class("Huge");
    for number in 0..51 {
        source.function(&format!("method_{number}"), 3, Some(class));
    }
    source.end(class);
    let chunks = source.chunks();
    let summaries: Vec<_> = chunks.iter().filter(|chunk| chunk.kind == ChunkKind::Summary).collect();
    let [summary] = summaries[..] else { panic!("{summaries:?}") };
    let text = summary.synthetic_text.as_deref().expect("a summary has synthetic text");
    assert!(text.starts_with("class Huge\n51 methods:\n"), "{text}");
    assert!(text.contains("method_0") && text.contains("method_50"), "{text}");
    assert_eq!(summary.span, LineSpan::new(1, source.num_lines()));
    source.symbols.pop();
    assert!(source.chunks().iter().all(|chunk| chunk.kind != ChunkKind::Summary));
}

#[test]
fn long_function_is_cut_between_statements() {
    let mut source = Source::default();
    source.lines("fn long() {");
    for number in 0..60 {
        source.lines(&format!("    if condition({number}) {{"));
        source.lines("        call_something(with, arguments);").lines("    }").lines("");
    }
    source.lines("}");
    source.symbols.push(symbol("long", SymbolKind::Function, (1, source.num_lines()), None));
    let chunks = source.chunks();
    assert!(chunks.len() > 2);
    let starts = line_starts(&source.text);
    for (index, chunk) in chunks.iter().enumerate() {
        assert_eq!(chunk.part, Some((index as u16 + 1, chunks.len() as u16)));
        assert_eq!(chunk.header, format!("function long\npart {} of {}", index + 1, chunks.len()));
        let text = chunk_text(&source.text, &starts, chunk.span);
        assert!(index == 0 || text.starts_with("    if "), "{text}");
        assert!(estimate_tokens(text) <= WHOLE_TOKENS);
    }
}

#[test]
fn headers_name_the_imports_that_are_used() {
    let mut source = Source::default();
    source.lines("from db import Session, engine").lines("import numpy").lines("import os.path").lines("import sys");
    source
        .lines("from somewhere import something, or_other")
        .lines("")
        .function("uses", 40, None)
        .lines("def f(): return numpy.zeros(engine, os.path)");
    source.symbols[0].span.end += 1;
    source.lines("").function("other", 40, None);
    let imports = [
        import("db", &["Session", "engine"], 1),
        import("numpy", &[], 2),
        import("os.path", &[], 3),
        import("sys", &[], 4),
    ];
    let chunks = chunk_file(&source.text, &source.symbols, &imports);
    let headers: Vec<_> = chunks.iter().map(|chunk| chunk.header.as_str()).collect();
    assert_eq!(headers, ["", "function uses\nuses db (engine); numpy; os.path", "function other"]);
}

#[test]
fn tests_and_code_have_separate_chunks() {
    let mut source = Source::default();
    source.function("code", 60, None).function("a", 4, None).function("b", 4, None);
    source.symbols[2].is_test = true;
    let chunks = source.chunks();
    let tests: Vec<_> = chunks.iter().map(|chunk| chunk.is_test).collect();
    assert_eq!(tests, [false, false, true]);
}

#[test]
fn moved_code_keeps_its_hash() {
    let hashes = |preamble: &str| {
        let mut source = Source::default();
        source.lines(preamble).lines("").function("first", 20, None).lines("").function("second", 30, None);
        let chunks = source.chunks();
        chunks.iter().filter(|chunk| chunk.symbol.is_some()).map(|chunk| chunk.content_hash).collect::<Vec<_>>()
    };
    let long = "import something_long from somewhere_else\n".repeat(8);
    assert_eq!(hashes(&long).len(), 2);
    assert_eq!(hashes(&long), hashes(&long.repeat(2)));
    assert_eq!(hashes(&long), hashes(&format!("{long}\n\n\n\n")));
}

#[test]
fn long_lines_are_chunks_of_their_own() {
    let long = "x(".repeat(500_000);
    let text = format!("short\n{long}\n{long}\nshort\n");
    let chunks = window_chunks(&text);
    check_invariants(&text, &chunks);
    let spans: Vec<_> = chunks.iter().map(|chunk| (chunk.span.start, chunk.span.end)).collect();
    assert_eq!(spans, [(1, 1), (2, 2), (3, 3), (4, 4)]);
}

#[test]
fn windows_end_at_blank_lines() {
    let paragraph = "Some words of prose that go on for a while, and then some more of them.\n".repeat(7);
    let text = vec![paragraph; 20].join("\n");
    let chunks = window_chunks(&text);
    check_invariants(&text, &chunks);
    assert!(chunks.len() > 4, "{}", chunks.len());
    let starts = line_starts(&text);
    for chunk in &chunks {
        assert_eq!(chunk.kind, ChunkKind::Text);
        assert!(chunk.span.end as usize == starts.len() || chunk_text(&text, &starts, chunk.span).ends_with("\n\n"));
    }
}

#[test]
fn empty_text_has_no_chunks() {
    assert_eq!(chunk_file("", &[symbol("a", SymbolKind::Class, (1, 9), None)], &[]), []);
    assert_eq!(window_chunks(""), []);
    check_invariants("\n\n", &window_chunks("\n\n"));
}

#[test]
fn deeply_nested_definitions_are_bounded() {
    let text = "x = something_that_takes_tokens(a, b, c)\n".repeat(3_000);
    let nested =
        (0..1_000).map(|depth| symbol("n", SymbolKind::Class, (depth + 1, 3_000 - depth), depth.checked_sub(1)));
    let symbols: Vec<_> = nested.collect();
    check_invariants(&text, &chunk_file(&text, &symbols, &[]));
}

prop_compose! {
    fn line()(indent in 0_usize..5, words in prop::collection::vec("[a-z(){};é]{1,9}", 0..12)) -> String {
        "    ".repeat(indent) + &words.join(" ")
    }
}

prop_compose! {
    /// Invalid symbols that no parser would create: symbols that overlap, that are out of range, or that have
    /// random parents.
    fn wild_symbols()(wild in prop::collection::vec((0_u32..300, 0_u32..80, 0..SymbolKind::ALL.len(), any::<bool>(), 0_u32..40), 0..40)) -> Vec<Symbol> {
        let each = wild.into_iter().map(|(start, length, kind, is_test, parent)| {
            let mut symbol = symbol("x", SymbolKind::ALL[kind], (start, (start + length).saturating_sub(3)), Some(parent));
            symbol.is_test = is_test;
            symbol
        });
        each.collect()
    }
}

proptest! {
    #[test]
    fn every_line_is_covered_for_any_symbols(lines in prop::collection::vec(line(), 0..250), symbols in wild_symbols(), ends: bool) {
        let text = lines.join("\n") + if ends { "\n" } else { "" };
        let chunks = chunk_file(&text, &symbols, &[import("x", &["a", "b"], 3)]);
        check_invariants(&text, &chunks);
        prop_assert_eq!(&chunks, &chunk_file(&text, &symbols, &[import("x", &["a", "b"], 3)]));
    }

    #[test]
    fn windows_cover_every_line_once(lines in prop::collection::vec(line(), 0..400)) {
        let text = lines.join("\n");
        let chunks = window_chunks(&text);
        check_invariants(&text, &chunks);
        prop_assert!(chunks.windows(2).all(|pair| pair[0].span.end + 1 == pair[1].span.start));
    }

    #[test]
    fn lines_above_a_function_do_not_change_its_hash(above in prop::collection::vec(line(), 0..60), num_lines in 15_u32..45) {
        let hash = |above: &str| {
            let mut source = Source::default();
            source.function("first", 40, None).lines(above).lines("").function("second", num_lines, None);
            let chunks = source.chunks();
            chunks.iter().find(|chunk| chunk.symbol == Some(1)).map(|chunk| (chunk.content_hash, chunk.span.num_lines()))
        };
        // A few lines directly above a definition are part of its chunk. If there are more lines, they become
        // a separate chunk.
        let expected = hash("").map(|(hash, _)| hash);
        let found = hash(&above.join("\n")).expect("a separate chunk");
        prop_assert!(Some(found.0) == expected || found.1 > num_lines + 1);
        prop_assert_eq!(hash(&format!("{}\n\n\n", "y = compute(value, other)\n".repeat(5))).map(|(hash, _)| hash), expected);
    }
}
