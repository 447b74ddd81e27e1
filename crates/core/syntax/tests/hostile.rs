//! Parses hostile texts. Checks that parsing ends within a limit, that chunks contain every line, and that a
//! status is reported.

use std::cell::Cell;
use std::time::{Duration, Instant};

use cairn_domain::{FactsKey, FileFacts, Key128, ParseStatus};
use cairn_syntax::{LanguageRow, ParseLimits, languages, parse_file};
use proptest::prelude::*;

fn rows() -> impl Iterator<Item = &'static LanguageRow> {
    languages().iter().filter(|row| row.grammar.is_some())
}

fn parse(language: &str, text: &str, limits: &ParseLimits<'_>) -> FileFacts {
    parse_file(language, FactsKey(Key128([0; 16])), text, limits)
}

/// Checks that every non-blank line belongs to a chunk, that spans are inside the file, and that indices are
/// valid.
fn check(language: &str, text: &str, facts: &FileFacts) {
    let context = || format!("{language}, {} bytes: {:?}", text.len(), text.chars().take(60).collect::<String>());
    let mut covered = vec![false; facts.num_lines as usize + 1];
    for chunk in &facts.chunks {
        assert!(chunk.span.start >= 1 && chunk.span.end <= facts.num_lines, "{}: {chunk:?}", context());
        covered[chunk.span.start as usize..=chunk.span.end as usize].fill(true);
    }
    let blank = text.split('\n').map(|line| line.trim_ascii().is_empty());
    let is_found = covered[1..].iter().zip(blank).all(|(covered, is_blank)| *covered || is_blank);
    assert!(is_found, "{}: a line belongs to no chunk", context());
    let num_symbols = facts.symbols.len() as u32;
    for (index, symbol) in facts.symbols.iter().enumerate() {
        assert!(symbol.parent.is_none_or(|parent| parent < index as u32), "{}", context());
        assert!(symbol.span.start >= 1 && symbol.span.end <= facts.num_lines, "{}: {symbol:?}", context());
        assert!(symbol.span.start <= symbol.span.end, "{}: {symbol:?}", context());
    }
    assert!(facts.references.iter().all(|reference| reference.enclosing.is_none_or(|symbol| symbol < num_symbols)));
    assert!(facts.imports.iter().all(|import| import.enclosing.is_none_or(|symbol| symbol < num_symbols)));
    assert!(facts.bindings.iter().all(|binding| binding.scope.is_none_or(|symbol| symbol < num_symbols)));
}

/// Texts of up to 256 KiB, in forms that have made parsers hang or crash.
///
/// Statements of thousands of lines that never end (`a < b < c <` in Java, pipes in Bash) are not in the
/// list. For such statements, error recovery takes unlimited memory in one step of the parser, between two
/// calls of the callback. In production, the limits of the parser's process stop such a parse.
fn bombs() -> Vec<(&'static str, String)> {
    let lines = |line: &str, count: usize| format!("{line}\n").repeat(count);
    vec![
        ("open brackets", "(".repeat(200_000)),
        ("open brackets on lines", lines("[", 100_000)),
        ("open braces below the bound", lines("{", 490)),
        ("mixed brackets", "([{".repeat(60_000)),
        ("closing brackets", lines(")", 50_000)),
        ("one long line", "a ".repeat(130_000)),
        ("nul bytes", "a\0b\n".repeat(1_000)),
        ("operators", lines("a + a + a + a + a +", 5_000)),
        ("signs", lines("- - - - - - - - -", 5_000)),
        ("calls in a chain", lines(".f().f().f().f()", 5_000)),
        ("angle brackets", lines("a < b < c < d < e <", 100)),
        ("nested calls below the bound", format!("{}x{}\n", "f(".repeat(480), ")".repeat(480))),
        ("open strings", lines("\"abc ' def `", 5_000)),
        ("open comment", format!("/*{}", lines(" text", 20_000))),
        ("deep indentation", (0..2_000).map(|depth| format!("{}if x:\n", " ".repeat(depth % 450))).collect()),
        (
            "many definitions",
            (0..5_000).map(|n| format!("def f{n}(): pass\nfunction g{n}() {{}}\nfn h{n}() {{}}\n")).collect(),
        ),
        ("else if", format!("if (a) {{}} {}\n", "else if (a) {}\n".repeat(5_000))),
        ("dollar signs", lines("$$$$$$$$ ${${${", 3_000)),
        ("at signs", lines("@@@@@ @a @b @c", 3_000)),
        ("replacement characters", lines("\u{fffd}\u{fffd}\u{feff}", 5_000)),
        ("carriage returns", "fn f() {}\r".repeat(1_000)),
        ("blank lines", "\n".repeat(50_000)),
        ("empty", String::new()),
    ]
}

#[test]
fn parsing_of_hostile_texts_ends_within_the_deadline() {
    for row in rows() {
        for (name, text) in bombs() {
            let start = Instant::now();
            let deadline = start + Duration::from_millis(100);
            let keep_going = || Instant::now() < deadline;
            let facts = parse(row.name, &text, &ParseLimits { keep_going: &keep_going, ..ParseLimits::default() });
            // Error recovery does not always call the callback. In production, the process of a parser is
            // killed after 5 s.
            assert!(start.elapsed() < Duration::from_secs(5), "{}: {name}: {:?}", row.name, start.elapsed());
            check(row.name, &text, &facts);
        }
    }
}

#[test]
fn shapes_beyond_the_bounds_are_not_parsed() {
    for row in rows() {
        for (name, text) in
            bombs().iter().filter(|(name, _)| ["open brackets", "one long line", "nul bytes"].contains(name))
        {
            let facts = parse(row.name, text, &ParseLimits::default());
            assert_eq!(facts.status, ParseStatus::Guarded, "{}: {name}", row.name);
            assert!(facts.symbols.is_empty() && !facts.chunks.is_empty());
        }
    }
}

#[test]
fn passed_deadline_leaves_windows() {
    let text = "def f():\n    return g()\n\n\n".repeat(2_000);
    let facts = parse("python", &text, &ParseLimits { keep_going: &|| false, ..ParseLimits::default() });
    assert_eq!(facts.status, ParseStatus::Timeout);
    check("python", &text, &facts);
    // The parse of the next file must not continue the parse of this file.
    let facts = parse("python", "def h(): pass\n", &ParseLimits::default());
    assert_eq!(facts.status, ParseStatus::Parsed);
    assert_eq!(facts.symbols.len(), 1);
}

#[test]
fn size_of_facts_is_proportional_to_the_text() {
    let nested: String =
        (0..100).map(|depth| format!("{}class {}{depth}:\n", " ".repeat(depth), "N".repeat(900))).collect();
    let members: String = (0..1_000).map(|number| format!("{}def m{number}(self): pass\n", " ".repeat(100))).collect();
    let declared: String = (0..2_000).map(|number| format!("a{number},\n")).collect();
    let comments = "// words of a comment\n".repeat(2_000);
    let imported: String =
        (0..24).map(|number| format!("import {}{number} as q{number}\n", "n".repeat(9_000))).collect();
    let used = (0..24).map(|number| format!("q{number}()\n")).collect::<String>().repeat(100);
    for (language, text) in [
        ("python", nested + &members),
        ("python", format!("class {}:\n def f(self): pass\n", "N".repeat(15_000))),
        ("c", format!("{comments}int\n{declared}z;\n")),
        ("java", format!("class A {{\n{}int\n{declared}z; }}\n", "@B\n".repeat(2_000))),
        ("python", imported + &used),
    ] {
        let facts = parse(language, &text, &ParseLimits::default());
        check(language, &text, &facts);
        let symbols = facts.symbols.iter().map(|symbol| {
            let reported =
                symbol.doc.as_ref().map_or(0, String::len) + symbol.decorators.iter().map(String::len).sum::<usize>();
            symbol.name.len() + symbol.qualified_name.len() + reported
        });
        let headers = facts.chunks.iter().map(|chunk| chunk.header.len());
        let size = symbols.sum::<usize>() + headers.sum::<usize>();
        let start = &text[..20.min(text.len())];
        assert!(size < 20 * text.len() + 200_000, "{language} {start:?}: {size} bytes of {}", text.len());
    }
}

#[test]
fn max_steps_ends_parsing() {
    let text = "x = f(a, b)\n".repeat(20_000);
    let num_steps = Cell::new(0);
    let count = || {
        num_steps.set(num_steps.get() + 1);
        true
    };
    let facts = parse("python", &text, &ParseLimits { keep_going: &count, max_steps: 1_000, ..ParseLimits::default() });
    assert_eq!(facts.status, ParseStatus::Timeout);
    assert!(num_steps.get() < 1_000);
}

#[test]
fn facts_are_bounded() {
    let text: String = (0..500).map(|number| format!("def f{number}(): g{number}()\n")).collect();
    let limits = ParseLimits { max_symbols: 10, max_references: 20, ..ParseLimits::default() };
    let facts = parse("python", &text, &limits);
    assert_eq!(facts.status, ParseStatus::Partial);
    assert!(facts.symbols.len() <= 10 && facts.references.len() <= 21);
    check("python", &text, &facts);
}

#[test]
fn share_of_errors_decides_the_status() {
    let sound: String = (0..50).map(|number| format!("def f{number}():\n    return {number}\n")).collect();
    let partial = parse("python", &format!("{sound}\nclass ((:\n"), &ParseLimits::default());
    assert_eq!(partial.status, ParseStatus::Partial);
    assert!(partial.symbols.len() >= 50);
    let unparsable = parse("go", &"%% ?? ]] prose , without \\ grammar @@ ~~\n".repeat(50), &ParseLimits::default());
    assert_eq!(unparsable.status, ParseStatus::Unparsable);
    assert!(unparsable.symbols.is_empty() && !unparsable.chunks.is_empty());
}

/// Random text that consists of fragments of code.
fn code_like() -> impl Strategy<Value = String> {
    let words = [
        "def ",
        "class ",
        "fn ",
        "func ",
        "function ",
        "impl ",
        "import ",
        "from ",
        "use ",
        "export ",
        "default ",
        "pub ",
        "async ",
        "self",
        "this",
        "super",
        "Foo",
        "bar",
        "x",
        "=",
        "=>",
        "->",
        "::",
        ".",
        ",",
        ";",
        ":",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "<",
        ">",
        "\"",
        "'",
        "`",
        "#",
        "//",
        "/*",
        "*/",
        "@",
        "$",
        "&",
        "*",
        "\n",
        "\n    ",
        " ",
        "\t",
        "\r\n",
        "1",
        "é",
        "日本",
        "\u{0}",
        "\u{feff}",
        "require('x')",
        "module.exports",
        "__all__",
        "#[derive(",
        "package ",
        "struct ",
        "interface ",
        "enum ",
        "type ",
        "const ",
        "let ",
        "var ",
        "return ",
        "if ",
        "else ",
        "new ",
        "extends ",
        "@staticmethod",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..200).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_gives_valid_facts(text in prop_oneof![code_like(), any::<String>()]) {
        for row in rows() {
            let facts = parse(row.name, &text, &ParseLimits::default());
            check(row.name, &text, &facts);
            prop_assert_eq!(&facts, &parse(row.name, &text, &ParseLimits::default()));
        }
    }
}
