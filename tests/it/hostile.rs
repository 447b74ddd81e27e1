//! Files made to hurt a parser: each ends within bounds and is listed; the run goes on.

use crate::harness::{Index, commit, is_soak, repository, write};

const EXTENSIONS: [&str; 5] = ["py", "js", "go", "rs", "ts"];

/// Texts that break parsers, about as large as a file may be.
fn hostile_texts() -> Vec<(&'static str, Vec<u8>)> {
    let repeat = |text: &str, count: usize| text.repeat(count).into_bytes();
    let mut texts = vec![
        ("open-brackets", repeat("(", 200_000)),
        ("open-braces", repeat("{", 200_000)),
        ("open-squares", repeat("[", 200_000)),
        ("brackets-on-lines", repeat("(\n", 200_000)),
        ("deep-indent", (0..1000).flat_map(|depth| format!("{}if x:\n", " ".repeat(depth)).into_bytes()).collect()),
        ("nested-blocks", repeat("if (x) {\n", 100_000)),
        ("one-line", repeat("x", 1_000_000)),
        ("quotes", repeat("\"'`", 300_000)),
        ("comments", repeat("/*", 400_000)),
        ("invalid-utf8", vec![0xff; 100_000]),
        ("nuls", vec![0; 100_000]),
        ("surrogates", b"x = '\xed\xa0\x80'\n".repeat(1000)),
        ("operators", repeat("+-*/%&|^!~<>=?:", 60_000)),
        ("generics", repeat("A<", 200_000)),
        ("templates", repeat("`${", 200_000)),
        ("unary", repeat("!", 900_000)),
        ("calls", repeat("f(", 200_000)),
        ("lambda", repeat("|x| ", 200_000)),
        ("arrows", repeat("x=>", 200_000)),
        ("decorators", repeat("@a\n", 200_000)),
        ("strings", repeat("'a'\n", 200_000)),
        ("heredocs", repeat("<<EOF\n", 100_000)),
        ("elses", repeat("else if x ", 90_000)),
        ("dots", repeat("a.", 400_000)),
        ("macros", repeat("m!{", 200_000)),
        ("classes", repeat("class A:\n", 100_000)),
        ("colons", repeat("::", 400_000)),
        ("newlines", repeat("\n", 1_000_000)),
        ("regex", repeat("/[", 300_000)),
        ("mixed", repeat("fn f(){if(a){[<\"", 50_000)),
    ];
    if !is_soak() {
        texts.truncate(16);
    }
    texts
}

#[test]
fn hostile_files_are_bounded_and_listed() {
    let directory = repository();
    let mut num_files = 0;
    for (name, text) in hostile_texts() {
        for extension in EXTENSIONS {
            write(directory.path(), &format!("{name}.{extension}"), &text);
            num_files += 1;
        }
    }
    write(directory.path(), "good.py", "def sound():\n    return 1\n");
    commit(directory.path(), "hostile");
    let index = Index::new();
    let indexed = index.index(directory.path());
    let coverage = index.json(&["coverage", "r"]);
    assert_eq!(coverage["num_paths"], num_files + 1);
    assert_eq!(indexed["state"], "published", "{indexed}");
    assert_eq!(indexed["result"]["num_errors"], 0, "{indexed}");
    println!("{}", indexed["result"]["files"]);
    let found = index.json(&["search", "sound", "--repo", "r"]);
    assert_eq!(found["results"][0]["path"], "good.py");
}
