//! Creates summaries of large classes. A summary is a chunk that lists the members of a class.

use cairn_domain::{ChunkFacts, ChunkKind, ContentHash, Symbol};

use super::lines::{Lines, Rows};
use super::sizes::TARGET_TOKENS;
use super::tokens::estimate_tokens;

/// A class with more methods than this gets a summary.
const MOST_METHODS: usize = 50;

/// Returns one summary for each class with more than fifty methods, in order of the classes. The parent of a
/// method determines its class. Therefore methods in Go and Rust are counted too, although they are outside
/// the type in the source.
pub(super) fn summaries(lines: &Lines<'_>, symbols: &[Symbol]) -> Vec<ChunkFacts> {
    if symbols.len() <= MOST_METHODS {
        return Vec::new();
    }
    let mut methods: Vec<Vec<&Symbol>> = vec![Vec::new(); symbols.len()];
    for symbol in symbols.iter().filter(|symbol| symbol.kind.is_callable()) {
        if let Some(methods) = symbol.parent.and_then(|parent| methods.get_mut(parent as usize)) {
            methods.push(symbol);
        }
    }
    let large = methods.iter().enumerate().filter(|(_, methods)| methods.len() > MOST_METHODS);
    large.filter_map(|(class, methods)| summary(lines, symbols, class, methods)).collect()
}

fn summary(lines: &Lines<'_>, symbols: &[Symbol], class: usize, methods: &[&Symbol]) -> Option<ChunkFacts> {
    let symbol = &symbols[class];
    let rows = Rows::of(symbol.span, lines.num_rows());
    if rows.is_empty() || !(symbol.kind.is_container() || symbol.kind.is_type()) {
        return None;
    }
    let text = summary_text(symbol, methods);
    Some(ChunkFacts {
        kind: ChunkKind::Summary,
        span: rows.span(),
        symbol: Some(class as u32),
        heading: None,
        header: symbol.signature.clone(),
        content_hash: ContentHash::of(&text),
        synthetic_text: Some(text),
        part: None,
        is_test: symbol.is_test,
    })
}

/// The summary contains the class, the first paragraph of its documentation, and the signatures of its
/// methods. If the signatures do not fit, it contains only the names of the methods.
fn summary_text(class: &Symbol, methods: &[&Symbol]) -> String {
    let mut head = class.signature.clone();
    if let Some(paragraph) = class.doc.as_deref().and_then(|doc| doc.trim_ascii().split("\n\n").next()) {
        head.push('\n');
        head.push_str(paragraph);
    }
    head.push_str(&format!("\n{} methods:", methods.len()));
    let list = |line: fn(&Symbol) -> &str| methods.iter().fold(head.clone(), |text, method| text + "\n" + line(method));
    let by_signature = list(|method| &method.signature);
    if estimate_tokens(&by_signature) <= TARGET_TOKENS { by_signature } else { list(|method| &method.name) }
}
