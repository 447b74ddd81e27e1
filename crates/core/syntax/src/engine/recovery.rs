//! Reparses each item that contains a syntax error, separately from the rest of the file.
//!
//! One error can hide all symbols after it, because the grammar's recovery may skip the rest of the file. The
//! text is therefore divided into items at lines that begin a declaration. Each item with an error is parsed
//! separately. If the item still has an error, its text is divided into inner items in the same way, and the
//! item is parsed without the inner items that fail. The new result for an item is used only if it has fewer
//! errors than the first parse. An item is not parsed again if the first tree contains it as whole nodes.
//! Then its errors come from its own text, and a separate parse would give the same errors.
//!
//! A part of the text is parsed with the parser's included ranges. So all positions refer to the file, and
//! the captures of several trees can be merged.

use std::ops::Range;

use cairn_domain::ParseStatus;
use tree_sitter::{Node, Parser, Point, QueryCursor, Tree};

use super::collect::{ByteRange, Raw, collect};
use super::items::{inner_items, top_items};
use super::limits::{Budget, ParseLimits};
use super::macro_items::parts_that_are_not_items;
use super::parsing::parse_ranges;
use super::query::CompiledQuery;

/// The maximum depth of items inside items.
const MAX_DEPTH: usize = 3;
/// The maximum number of items that are parsed again in one file.
const MAX_PARSES: usize = 400;
/// The text that is parsed again is at most this many times as long as the file.
const MAX_TIMES_PARSED: usize = 4;

/// The ranges of the outermost error nodes. A missing node has an empty range.
pub(super) struct Errors(Vec<Range<usize>>);

impl Errors {
    pub(super) fn of(root: Node<'_>) -> Self {
        let mut found = Vec::new();
        let mut cursor = root.walk();
        loop {
            let node = cursor.node();
            if node.is_error() || node.is_missing() {
                found.push(node.byte_range());
            }
            if node.has_error() && !node.is_error() && cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return Self(found);
                }
            }
        }
    }

    fn num_bytes(&self) -> usize {
        self.0.iter().map(Range::len).sum()
    }

    /// The number of bytes of the item that are inside errors. Each missing node is counted as one byte.
    fn within(&self, item: &Range<usize>) -> usize {
        let of_error = |error: &Range<usize>| match error.is_empty() {
            true => usize::from(item.start <= error.start && error.start <= item.end),
            false => error.end.min(item.end).saturating_sub(error.start.max(item.start)),
        };
        self.0.iter().map(of_error).sum()
    }
}

/// A file that is parsed in parts.
pub(super) struct Recovery<'a, 'b> {
    pub(super) query: &'a CompiledQuery,
    pub(super) parser: &'a mut Parser,
    pub(super) cursor: &'a mut QueryCursor,
    /// The text that is parsed, and the text that the facts contain.
    pub(super) parsed_text: &'a str,
    pub(super) text: &'a str,
    pub(super) limits: &'a ParseLimits<'b>,
    pub(super) budget: &'a mut Budget<'b>,
    num_parses: usize,
    num_bytes: usize,
}

/// The trees of an item, and the errors in them.
struct Solved {
    trees: Vec<Tree>,
    errors: usize,
}

impl<'a, 'b> Recovery<'a, 'b> {
    pub(super) fn new(
        query: &'a CompiledQuery,
        (parser, cursor): (&'a mut Parser, &'a mut QueryCursor),
        (parsed_text, text): (&'a str, &'a str),
        (limits, budget): (&'a ParseLimits<'b>, &'a mut Budget<'b>),
    ) -> Self {
        Self { query, parser, cursor, parsed_text, text, limits, budget, num_parses: 0, num_bytes: 0 }
    }

    /// Parses the items with errors again, and derives the status of the file. A file is unparsable if more
    /// than half of its bytes are inside errors, and no item with a definition could be parsed.
    pub(super) fn recover(&mut self, root: Node<'_>, errors: &Errors, raw: &mut Raw) -> ParseStatus {
        if errors.0.is_empty() {
            return ParseStatus::Parsed;
        }
        let is_mostly_errors = |num_bytes: usize| num_bytes * 2 > self.parsed_text.len();
        let was_unparsable = is_mostly_errors(errors.num_bytes());
        if was_unparsable {
            // The captures inside an error that covers most of a file are unreliable, so they are removed.
            for error in &errors.0 {
                raw.remove(byte_range(error));
            }
        }
        let has_definitions = self.items_with_errors(root, errors, raw);
        match was_unparsable && !has_definitions {
            true => ParseStatus::Unparsable,
            false => ParseStatus::Partial,
        }
    }

    /// Replaces the captures of the items with errors. Returns whether the new captures contain definitions.
    fn items_with_errors(&mut self, root: Node<'_>, errors: &Errors, raw: &mut Raw) -> bool {
        let mut has_definitions = false;
        for item in self.outside_literals(top_items(self.text), root) {
            let before = errors.within(&item);
            // The whole file was already parsed, so an item that is the whole file would give the same
            // result.
            let is_file = item.len() == self.text.len() && !self.has_inner(&item);
            if before == 0 || is_file || !self.budget.spend() || !self.may_be_mended(root, errors, &item, 0) {
                continue;
            }
            if let Some(solved) = self.solve(&item, 0).filter(|solved| solved.errors < before) {
                has_definitions |= self.replace(&item, &solved.trees, raw);
            }
        }
        has_definitions
    }

    /// Adds the items inside macros, such as `cfg_feature! { … }` and `cfg_if! { if #[cfg(…)] { … } }`. A
    /// macro whose text is not a list of items is not changed.
    pub(super) fn items_in_macros(&mut self, raw: &mut Raw) {
        for _ in 0..MAX_DEPTH {
            let macros = std::mem::take(&mut raw.item_macros);
            for range in &macros {
                let inner = range.start as usize + 1..(range.end as usize).saturating_sub(1);
                if !range.text(self.text).starts_with('{') || inner.is_empty() {
                    continue;
                }
                let mut parts = vec![inner.clone()];
                // The text is first parsed as it is, and then without the macro's own syntax.
                for _ in 0..2 {
                    let Some(tree) = self.parse(&parts) else { return };
                    let mut found = Raw::default();
                    let is_list = !tree.root_node().has_error() && self.collect(&tree, &mut found);
                    if is_list && !found.definitions.is_empty() {
                        self.replace(&inner, &[tree], raw);
                        break;
                    }
                    let left_out = parts_that_are_not_items(self.text, &inner);
                    if left_out.is_empty() {
                        break;
                    }
                    parts = without(&inner, left_out.iter());
                }
            }
        }
    }

    fn has_inner(&self, item: &Range<usize>) -> bool {
        !inner_items(self.text, item).is_empty()
    }

    /// Parses an item separately. Inner items that cause errors are left out of this parse, and are parsed
    /// separately in the same way. `None` if a limit is reached.
    fn solve(&mut self, item: &Range<usize>, depth: usize) -> Option<Solved> {
        let whole = self.parse(std::slice::from_ref(item))?;
        let errors = Errors::of(whole.root_node());
        let of_whole = errors.within(item);
        if of_whole == 0 || depth == MAX_DEPTH {
            return Some(Solved { trees: vec![whole], errors: of_whole });
        }
        let mut inner: Vec<(Range<usize>, Solved)> = Vec::new();
        for range in self.inner_with_errors(whole.root_node(), &errors, item, depth + 1) {
            let solved = self.solve(&range, depth + 1)?;
            inner.push((range, solved));
        }
        // If none of these inner items has errors when it is parsed separately, all of them stay separate:
        // the errors come only from their position in the outer item. Otherwise, only the inner items that
        // still have errors stay separate.
        if inner.iter().any(|(_, solved)| solved.errors > 0) {
            inner.retain(|(_, solved)| solved.errors > 0);
        }
        if inner.is_empty() {
            return Some(Solved { trees: vec![whole], errors: of_whole });
        }
        let frame = self.parse(&without(item, inner.iter().map(|(range, _)| range)))?;
        let of_inner: usize = inner.iter().map(|(_, solved)| solved.errors).sum();
        let of_frame = Errors::of(frame.root_node()).within(item) + of_inner;
        if of_frame >= of_whole {
            return Some(Solved { trees: vec![whole], errors: of_whole });
        }
        let trees = inner.into_iter().flat_map(|(_, solved)| solved.trees);
        Some(Solved { trees: std::iter::once(frame).chain(trees).collect(), errors: of_frame })
    }

    /// The inner items with errors that a separate parse may mend.
    fn inner_with_errors(
        &mut self,
        root: Node<'_>,
        errors: &Errors,
        item: &Range<usize>,
        depth: usize,
    ) -> Vec<Range<usize>> {
        let mut inner = self.outside_literals(inner_items(self.text, item), root);
        inner.retain(|range| self.may_be_mended(root, errors, range, depth));
        inner
    }

    /// Whether a separate parse of the item may give fewer errors than the tree with this root. It cannot if
    /// the item and all its inner items with errors are whole nodes of the tree. Then the errors come from
    /// the text of the item, not from its position.
    fn may_be_mended(&mut self, root: Node<'_>, errors: &Errors, item: &Range<usize>, depth: usize) -> bool {
        errors.within(item) > 0
            && (!is_whole(root, self.parsed_text, item)
                || depth < MAX_DEPTH && !self.inner_with_errors(root, errors, item, depth + 1).is_empty())
    }

    /// Joins each item that begins inside a literal, such as a string over several lines, with the previous
    /// item. Omits an item that ends inside a literal.
    fn outside_literals(&mut self, items: Vec<Range<usize>>, root: Node<'_>) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::with_capacity(items.len());
        for item in items {
            match found.last_mut() {
                // Each check spends a step, because it can take long in a file with very many items.
                Some(last) if self.budget.spend() && is_inside_literal(root, self.parsed_text, item.start) => {
                    last.end = item.end;
                }
                _ => found.push(item),
            }
        }
        if found.last().is_some_and(|last| is_inside_literal(root, self.parsed_text, last.end)) {
            found.pop();
        }
        found
    }

    fn parse(&mut self, ranges: &[Range<usize>]) -> Option<Tree> {
        let size: usize = ranges.iter().map(Range::len).sum();
        self.num_parses += 1;
        self.num_bytes += size;
        if self.num_parses > MAX_PARSES || self.num_bytes > MAX_TIMES_PARSED * self.text.len() {
            return None;
        }
        parse_ranges(self.parser, self.query, self.parsed_text, &positions(self.parsed_text, ranges), self.budget)
    }

    fn collect(&mut self, tree: &Tree, raw: &mut Raw) -> bool {
        collect(self.query, self.cursor, tree.root_node(), self.text, self.limits, self.budget, raw)
    }

    /// Replaces the captures in the range with the captures of the trees. Returns whether the new captures
    /// contain definitions.
    ///
    /// The captures are not replaced if the time limit is reached, or if the trees contain fewer definitions
    /// than the old captures. For example, the grammar of PHP parses code without the opening tag as text,
    /// without errors and without definitions.
    fn replace(&mut self, range: &Range<usize>, trees: &[Tree], raw: &mut Raw) -> bool {
        let (range, mut found) = (byte_range(range), Raw::default());
        let known = raw.definitions.iter().filter(|definition| range.contains(definition.range.start)).count();
        if !trees.iter().all(|tree| self.collect(tree, &mut found)) || found.definitions.len() < known {
            return false;
        }
        let has_definitions = !found.definitions.is_empty();
        raw.remove(range);
        raw.append(found);
        has_definitions
    }
}

/// Whether the line that starts at `line` begins inside a node that consists of tokens, such as a literal or
/// a comment. A node with an error does not count: a string that is not closed may contain the rest of the
/// file.
fn is_inside_literal(root: Node<'_>, text: &str, line: usize) -> bool {
    let newline = line.saturating_sub(1);
    let code = start_of_code(text, &(line..text.len()));
    let Some(found) = root.descendant_for_byte_range(newline, line) else { return false };
    // The token for the text of a literal may end before the closing delimiter.
    let is_part = found.child_count() == 0 && found.end_byte() <= code;
    let Some(node) = (if is_part { found.parent() } else { Some(found) }) else { return false };
    let has_line = node.start_byte() <= newline && code < node.end_byte();
    has_line && !node.has_error() && node.children(&mut node.walk()).all(|child| child.child_count() == 0)
}

/// The position of the first character of the item that is not white space.
fn start_of_code(text: &str, item: &Range<usize>) -> usize {
    item.end - text[item.clone()].trim_start().len()
}

/// Whether the item consists of whole nodes that have the same parent, and neither the parent nor one of the
/// nodes is an error.
fn is_whole(root: Node<'_>, text: &str, item: &Range<usize>) -> bool {
    let start = start_of_code(text, item);
    let end = item.start + text[item.clone()].trim_end().len();
    let mut cursor = root.walk();
    loop {
        // The first child that ends after the start of the item. If the child contains the item and more, the
        // search continues in the child.
        if cursor.node().is_error() || cursor.goto_first_child_for_byte(start).is_none() {
            return false;
        }
        let child = cursor.node().byte_range();
        let contains = child.start <= start && end <= child.end;
        if !contains || item.start <= child.start && child.end <= item.end {
            break;
        }
    }
    loop {
        let node = cursor.node();
        let range = node.byte_range();
        if range.start >= end {
            return true;
        }
        if node.is_error() || node.is_missing() || range.start < item.start || item.end < range.end {
            return false;
        }
        if !cursor.goto_next_sibling() {
            return true;
        }
    }
}

fn byte_range(range: &Range<usize>) -> ByteRange {
    ByteRange { start: range.start as u32, end: range.end as u32 }
}

/// The parts of `item` that are outside all ranges. The ranges must be sorted and inside the item.
fn without<'r>(item: &Range<usize>, ranges: impl Iterator<Item = &'r Range<usize>>) -> Vec<Range<usize>> {
    let mut kept = Vec::new();
    let mut start = item.start;
    for range in ranges {
        kept.push(start..range.start);
        start = range.end;
    }
    kept.push(start..item.end);
    kept.retain(|range| !range.is_empty());
    kept
}

/// The ranges with their lines and columns. The ranges are sorted.
fn positions(text: &str, ranges: &[Range<usize>]) -> Vec<tree_sitter::Range> {
    let (mut at, mut row) = (0, 0);
    let mut point_of = |byte: usize| {
        row += text.as_bytes()[at..byte].iter().filter(|byte| **byte == b'\n').count();
        at = byte;
        Point { row, column: byte - text[..byte].rfind('\n').map_or(0, |newline| newline + 1) }
    };
    let position = |range: &Range<usize>| {
        let (start_point, end_point) = (point_of(range.start), point_of(range.end));
        tree_sitter::Range { start_byte: range.start, end_byte: range.end, start_point, end_point }
    };
    ranges.iter().map(position).collect()
}

#[cfg(test)]
mod tests {
    use cairn_domain::{FactsKey, Key128, ParseStatus};
    use tree_sitter::Tree;

    use super::*;
    use crate::parse_file;

    /// `expect` contains the qualified names of all symbols, separated by spaces.
    fn check(language: &str, text: &str, expect: &str) {
        let facts = parse_file(language, FactsKey(Key128([0; 16])), text, &ParseLimits::default());
        let names: Vec<&str> = facts.symbols.iter().map(|symbol| symbol.qualified_name.as_str()).collect();
        assert_eq!(names.join(" "), expect, "{language} {text}");
        assert_ne!(facts.status, ParseStatus::Unparsable, "{language} {text}");
    }

    #[test]
    fn symbols_after_an_error_are_kept() {
        let bad = "fun bad(x: Int {\n    val y = = )\n}\n";
        check("kotlin", &format!("{bad}\nclass A {{\n    fun a() = 1\n}}\n\nfun b() {{\n}}\n"), "bad A A.a b");
        let members =
            "    fun one() {\n    }\n\n    fun bad() {\n        if ( = ) ] \n    }\n\n    fun two() {\n    }\n";
        check("kotlin", &format!("class A {{\n{members}}}\n\nfun b() {{\n}}\n"), "A A.one A.bad A.two b");
        let text = "int a(void) { return 1; }\n\nint bad( { ] = ;\n\nstatic int\nb(void)\n{\n  return 2;\n}\n";
        check("c", text, "a b");
    }

    /// Each text has a function `broken` whose `{` or `(` is not closed.
    #[test]
    fn probe_unclosed() {
        let texts: &[(&str, &str)] = &[
            (
                "java",
                "class A {\n    void one() {\n        go();\n    }\n\n    void broken() {\n        if (x) {\n            go();\n    }\n\n    void two() {\n        go();\n    }\n}\n\nclass B {\n    void three() {\n    }\n}\n",
            ),
            (
                "java",
                "class A {\n    void one() {\n        go();\n    }\n\n    void broken( {\n        go();\n    }\n\n    void two() {\n        go();\n    }\n}\n\nclass B {\n    void three() {\n    }\n}\n",
            ),
            (
                "java",
                "class A {\n    void one() {\n        go();\n    }\n\n    void broken() {\n        go(;\n\n    void two() {\n        go();\n    }\n}\n\nclass B {\n    void three() {\n    }\n}\n",
            ),
            (
                "kotlin",
                "class A {\n    fun one() {\n        go()\n    }\n\n    fun broken() {\n        if (x) {\n            go()\n    }\n\n    fun two() {\n        go()\n    }\n}\n\nclass B {\n    fun three() {\n    }\n}\n",
            ),
            (
                "kotlin",
                "class A {\n    fun one() {\n        go()\n    }\n\n    fun broken() {\n        go(\n\n    fun two() {\n        go()\n    }\n}\n\nfun three() {\n}\n",
            ),
            (
                "swift",
                "class A {\n    func one() {\n        go()\n    }\n\n    func broken() {\n        if x {\n            go()\n    }\n\n    func two() {\n        go()\n    }\n}\n\nclass B {\n    func three() {\n    }\n}\n",
            ),
            (
                "swift",
                "func one() {\n    go()\n}\n\nfunc broken() {\n    go(\n\nfunc two() {\n    go()\n}\n\nfunc three() {\n}\n",
            ),
            (
                "swift",
                "class A {\n    func one() {\n        go()\n    }\n\n    func broken( {\n        go()\n    }\n\n    func two() {\n        go()\n    }\n}\n\nclass B {\n    func three() {\n    }\n}\n",
            ),
            (
                "php",
                "<?php\n\nclass A {\n    function one() {\n        go();\n    }\n\n    function broken() {\n        if ($x) {\n            go();\n    }\n\n    function two() {\n        go();\n    }\n}\n\nclass B {\n    function three() {\n    }\n}\n",
            ),
            (
                "php",
                "<?php\n\nfunction one() {\n    go();\n}\n\nfunction broken() {\n    go(;\n\nfunction two() {\n    go();\n}\n\nfunction three() {\n}\n",
            ),
            (
                "csharp",
                "class A {\n    void One() {\n        Go();\n    }\n\n    void Broken() {\n        if (x) {\n            Go();\n    }\n\n    void Two() {\n        Go();\n    }\n}\n\nclass B {\n    void Three() {\n    }\n}\n",
            ),
            (
                "csharp",
                "namespace N\n{\n    class A\n    {\n        void One()\n        {\n            Go();\n        }\n\n        void Broken()\n        {\n            if (x)\n            {\n            Go();\n        }\n\n        void Two()\n        {\n            Go();\n        }\n    }\n\n    class B\n    {\n        void Three()\n        {\n        }\n    }\n}\n",
            ),
            (
                "typescript",
                "class A {\n  one() {\n    go();\n  }\n\n  broken() {\n    if (x) {\n      go();\n  }\n\n  two() {\n    go();\n  }\n}\n\nclass B {\n  three() {\n  }\n}\n",
            ),
            (
                "javascript",
                "function one() {\n  go();\n}\n\nfunction broken() {\n  go(;\n\nfunction two() {\n  go();\n}\n\nfunction three() {\n}\n",
            ),
            (
                "go",
                "package p\n\nfunc One() {\n\tgo()\n}\n\nfunc Broken() {\n\tif x {\n\t\tgo()\n}\n\nfunc Two() {\n}\n\nfunc Three() {\n}\n",
            ),
            (
                "go",
                "package p\n\nfunc One() {\n\tg()\n}\n\nfunc Broken() {\n\tg(\n\nfunc Two() {\n}\n\nfunc Three() {\n}\n",
            ),
            (
                "rust",
                "struct S;\n\nimpl S {\n    fn one(&self) {\n        go();\n    }\n\n    fn broken(&self) {\n        if x {\n            go();\n    }\n\n    fn two(&self) {\n    }\n}\n\nfn three() {\n}\n",
            ),
            ("rust", "fn one() {\n    go();\n}\n\nfn broken() {\n    go(\n\nfn two() {\n}\n\nfn three() {\n}\n"),
            (
                "python",
                "class A:\n    def one(self):\n        go()\n\n    def broken(self):\n        go(\n\n    def two(self):\n        go()\n\n\ndef three():\n    go()\n",
            ),
            (
                "python",
                "def one():\n    go()\n\ndef broken(:\n    go()\n\ndef two():\n    go()\n\n\ndef three():\n    go()\n",
            ),
            (
                "ruby",
                "class A\n  def one\n    go\n  end\n\n  def broken\n    if x\n      go\n  end\n\n  def two\n    go\n  end\nend\n\nclass B\n  def three\n  end\nend\n",
            ),
            ("ruby", "def one\n  go\nend\n\ndef broken\n  go(\n\ndef two\n  go\nend\n\ndef three\nend\n"),
            (
                "c",
                "int one(void) {\n    return 1;\n}\n\nint broken(void) {\n    if (x) {\n        go();\n}\n\nint two(void) {\n    return 2;\n}\n\nint three(void) {\n    return 3;\n}\n",
            ),
            (
                "cpp",
                "class A {\npublic:\n    void one() {\n        go();\n    }\n\n    void broken() {\n        if (x) {\n            go();\n    }\n\n    void two() {\n        go();\n    }\n};\n\nint three() {\n    return 3;\n}\n",
            ),
            (
                "scala",
                "class A {\n  def one() = {\n    go()\n  }\n\n  def broken() = {\n    if (x) {\n      go()\n  }\n\n  def two() = {\n    go()\n  }\n}\n\nclass B {\n  def three() = {\n  }\n}\n",
            ),
        ];
        for (language, text) in texts {
            let facts = parse_file(language, FactsKey(Key128([0; 16])), text, &ParseLimits::default());
            let names: Vec<&str> = facts.symbols.iter().map(|symbol| symbol.qualified_name.as_str()).collect();
            let lower = names.join(" ").to_lowercase();
            let missing: Vec<&str> = ["one", "two", "three"].into_iter().filter(|name| !lower.contains(name)).collect();
            let grammar = cairn_languages::by_name(language).and_then(|row| row.grammar).expect("a grammar");
            let mut parser = Parser::new();
            parser.set_language(&(grammar.load)()).expect("a language");
            let tree = parser.parse(text, None).expect("a tree");
            if std::env::var("TREE").is_ok_and(|name| name == *language) {
                println!("{text}\n{}\n{:?}", tree.root_node().to_sexp(), Errors::of(tree.root_node()).0);
                for item in top_items(text) {
                    println!("ITEM {item:?} whole {} errors {}", is_whole(tree.root_node(), text, &item), Errors::of(tree.root_node()).within(&item));
                }
            }
            println!("PROBE {language} missing {missing:?} found {names:?} {:?}", facts.status);
        }
    }

    fn tree(language: &str, text: &str) -> Tree {
        let grammar = cairn_languages::by_name(language).and_then(|row| row.grammar).expect("a grammar");
        let mut parser = Parser::new();
        parser.set_language(&(grammar.load)()).expect("a language");
        parser.parse(text, None).expect("a tree")
    }

    #[test]
    fn whole_nodes_are_found() {
        let text = "/// Doc.\n#[inline]\nfn a() {\n    f(1 2);\n    g();\n}\n\n%% ?? ]]\n\nfn c() {}\n";
        let tree = tree("rust", text);
        let check = |item: &str, expect: bool| {
            let start = text.find(item).expect("the item");
            assert_eq!(is_whole(tree.root_node(), text, &(start..start + item.len())), expect, "{item}");
        };
        assert!(tree.root_node().has_error());
        check("/// Doc.\n#[inline]\nfn a() {\n    f(1 2);\n    g();\n}\n\n", true);
        check("    f(1 2);\n", true);
        check("#[inline]\nfn a() {\n    f(1 2);\n", false);
        check("%% ?? ]]\n\n", false);
    }

    #[test]
    fn lines_in_literals_are_found() {
        let check = |language: &str, text: &str, line: &str, expect: bool| {
            let tree = tree(language, text);
            let start = text.find(line).expect("the line");
            assert_eq!(is_inside_literal(tree.root_node(), text, start), expect, "{language} {line}");
        };
        let rust = "/// Doc.\nfn a() {\n    b(r#\"\n{\n}\n\"#);\n    c();\n}\n/* one\ntwo\n*/\nfn d() {}\n";
        for (line, expect) in
            [("fn a", false), ("{\n}", true), ("\"#", true), ("    c()", false), ("two", true), ("fn d", false)]
        {
            check("rust", rust, line, expect);
        }
        check("python", "x = \"\"\"\ndef f():\n    pass\n\"\"\"\ny = 1\n", "def f", true);
        check("python", "x = \"\"\"\ntext\n\"\"\"\ny = 1\n", "y = 1", false);
        // The string is not closed.
        check("python", "x = \"\"\"\n\ndef f():\n    pass\n", "def f", false);
        check("c", "#define A 1\nint f(void);\n", "int f", false);
    }

    #[test]
    fn symbols_after_a_string_with_unindented_lines_are_kept() {
        let text = "fn a() {\n    b(str![[r#\"\n{\n}\n\nfn no() {}\n\"#]]);\n}\n\nfn bad( {\n}\n\nfn c() {}\n";
        let facts = parse_file("rust", FactsKey(Key128([0; 16])), text, &ParseLimits::default());
        let names: Vec<&str> = facts.symbols.iter().map(|symbol| symbol.name.as_str()).collect();
        assert!(names.starts_with(&["a"]) && names.ends_with(&["c"]) && !names.contains(&"no"), "{names:?}");
    }

    #[test]
    fn valid_items_are_kept_in_a_file_that_is_mostly_errors() {
        let junk = "%% ?? ]] prose , without \\ grammar @@ ~~\n".repeat(20);
        check("go", &format!("package p\n\nfunc A() {{\n}}\n\n{junk}\nfunc B() {{\n}}\n"), "A B");
    }

    #[test]
    fn items_in_macros_are_symbols() {
        let text = "cfg_feature! {\n    pub trait Service {\n        fn call(&self);\n    }\n\n    fn helper() {}\n}\n";
        check("rust", text, "Service Service.call helper");
        check("rust", "mod a {\n    cfg_rt! {\n        pub struct B;\n    }\n}\n", "a a.B");
        check(
            "rust",
            "cfg_if::cfg_if! {\n    if #[cfg(unix)] {\n        fn a() {}\n        mod b { fn c() {} }\n    } else {\n        fn d() {}\n    }\n}\n",
            "a b b.c d",
        );
        check(
            "rust",
            "bitflags! {\n    /// Doc.\n    pub struct Flags: u32 {\n        const A = 1;\n    }\n}\n",
            "Flags",
        );
        check("rust", "lazy_static! {\n    static ref NAMES: Vec<u8> = vec![1];\n}\n", "NAMES");
        check("rust", "fn f() {\n    vec! { 1, 2 };\n    println! { \"fn g() {{}}\" }\n}\n", "f");
    }
}
