//! Prints the syntax tree of the text on standard input: `dump_tree LANGUAGE < FILE`. Authors of query files
//! use this example.

use std::io::Read;

fn main() {
    let language = std::env::args().nth(1).unwrap_or_default();
    let Some(grammar) = cairn_syntax::by_name(&language).and_then(|row| row.grammar) else {
        eprintln!("no grammar for {language:?}");
        std::process::exit(2);
    };
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).expect("UTF-8 on standard input");
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&(grammar.load)()).expect("a grammar of this core");
    let tree = parser.parse(&text, None).expect("no deadline is set");
    println!("{}", tree_sitter::format_sexp(&tree.root_node().to_sexp(), 0));
}
