//! Reparses each item that contains a syntax error, separately from the rest of the file.
//!
//! One error can hide all symbols after it, because the grammar's recovery may skip the rest of the file. The
//! text is therefore divided into items at lines that begin a declaration. Each item with an error is parsed
//! separately. If the item still has an error, its text is divided into inner items in the same way, and the
//! item is parsed without the inner items that fail. The new result for an item is used only if it has fewer
//! errors than the first parse. An item is not parsed again if the first tree contains it as whole nodes.
//! Then its errors come from its own text, and a separate parse would give the same errors.
//!
//! If a bracket in an item is not closed, the tree contains the later items inside this item, often without
//! further errors. These items are parsed separately as a group. Their results are used if they do not have
//! more errors than the first parse.
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
/// The text that is parsed again is at most this many times as long as the file, plus `MORE_BYTES`.
const MAX_TIMES_PARSED: usize = 4;
/// Small files may be parsed more often.
const MORE_BYTES: usize = 64 * 1024;

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

    /// The number of bytes inside errors. Each missing node is counted as one byte.
    fn size(&self) -> usize {
        self.0.iter().map(|error| error.len().max(1)).sum()
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

/// The trees of an item, each with the range whose captures are used, and the errors in the trees.
struct Solved {
    trees: Vec<(Tree, Range<usize>)>,
    errors: usize,
    /// Whether an inner item that contained later items in the tree was parsed separately.
    is_separated: bool,
}

impl Solved {
    fn of(tree: Tree, item: &Range<usize>, errors: usize) -> Self {
        Self { trees: vec![(tree, item.clone())], errors, is_separated: false }
    }

    /// Whether the trees are better than a tree with this number of errors in the item.
    fn is_better(&self, errors: usize) -> bool {
        self.errors < errors || self.errors == errors && self.is_separated
    }
}

/// The text around an item that is parsed together with the item: the first and last lines of the outer
/// items. Some grammars accept a method only inside a class.
#[derive(Clone, Default)]
struct Surroundings {
    /// Sorted ranges.
    ranges: Vec<Range<usize>>,
    /// The errors in these ranges if they are parsed without the item.
    errors: usize,
}

impl Surroundings {
    /// The ranges of the surroundings and these ranges, sorted.
    fn with(&self, mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
        ranges.extend(self.ranges.iter().cloned());
        ranges.sort_by_key(|range| range.start);
        ranges
    }
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
        let mut items = self.outside_literals(top_items(self.text), root).into_iter().peekable();
        while let Some(item) = items.next() {
            let mut group = vec![item];
            while let Some(next) = items.next_if(|next| self.is_swallowed(root, next, &group[0])) {
                group.push(next);
            }
            has_definitions |= match group.as_slice() {
                [item] => self.replace_item(item, (root, errors), raw),
                group => self.replace_group(group, (root, errors), raw),
            };
        }
        has_definitions
    }

    /// Replaces the captures of an item if a separate parse gives fewer errors. Returns whether the new
    /// captures contain definitions.
    fn replace_item(&mut self, item: &Range<usize>, (root, errors): (Node<'_>, &Errors), raw: &mut Raw) -> bool {
        let before = errors.within(item);
        // The whole file was already parsed, so an item that is the whole file would give the same result.
        let is_file = item.len() == self.text.len() && !self.has_inner(item);
        if before == 0 || is_file || !self.budget.spend() || !self.may_be_mended(root, errors, item, 0) {
            return false;
        }
        let solved = self.solve(item, &Surroundings::default(), 0).filter(|solved| solved.is_better(before));
        solved.is_some_and(|solved| self.replace(item, &solved.trees, raw))
    }

    /// Replaces the captures of the items of a group: of all items if they have no more errors when each of
    /// them is parsed separately, otherwise of the items that then have fewer errors. Returns whether the new
    /// captures contain definitions.
    fn replace_group(&mut self, group: &[Range<usize>], (root, errors): (Node<'_>, &Errors), raw: &mut Raw) -> bool {
        let mut items = Vec::with_capacity(group.len());
        let (mut separate, mut in_place) = (0, 0);
        for item in group {
            let before = errors.within(item);
            let may_be_mended = self.may_be_mended(root, errors, item, 0);
            let Some(solved) = self.solve(item, &Surroundings::default(), 0) else { return false };
            let is_mended = may_be_mended && solved.is_better(before);
            separate += solved.errors;
            in_place += if is_mended { solved.errors } else { before };
            items.push((item, solved, is_mended));
        }
        let mut has_definitions = false;
        for (item, solved, is_mended) in items {
            if separate <= in_place || is_mended {
                has_definitions |= self.replace(item, &solved.trees, raw);
            }
        }
        has_definitions
    }

    /// Whether the tree contains an item inside a node that begins in the item `first`, which is before it.
    /// Then a bracket in `first` is probably not closed. If `first` is one line or ends with an opening
    /// bracket, it is the start of a block whose lines are not indented.
    fn is_swallowed(&mut self, root: Node<'_>, item: &Range<usize>, first: &Range<usize>) -> bool {
        let text = self.text[first.clone()].trim();
        let begins_block = !text.contains('\n') || text.ends_with(['{', '(', '[', ':']);
        let begin = start_of_code(self.text, first);
        !begins_block && self.budget.spend() && parent_start(root, self.text, item).is_some_and(|start| start >= begin)
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
                        self.replace(&inner, &[(tree, inner.clone())], raw);
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
    fn solve(&mut self, item: &Range<usize>, around: &Surroundings, depth: usize) -> Option<Solved> {
        let (whole, of_whole) = self.parse_item(item, around)?;
        if of_whole == 0 || depth == MAX_DEPTH {
            return Some(Solved::of(whole, item, of_whole));
        }
        let errors = Errors::of(whole.root_node());
        let (ranges, has_swallowed) = self.inner_with_errors(whole.root_node(), &errors, item, depth + 1);
        let around_inner =
            if ranges.is_empty() { Surroundings::default() } else { self.surroundings_in(item, around)? };
        let mut inner: Vec<(Range<usize>, Solved)> = Vec::new();
        for range in ranges {
            let solved = self.solve(&range, &around_inner, depth + 1)?;
            inner.push((range, solved));
        }
        // If none of these inner items has errors when it is parsed separately, all of them stay separate:
        // the errors come only from their position in the outer item. Otherwise, only the inner items that
        // still have errors stay separate.
        if inner.iter().any(|(_, solved)| solved.errors > 0) {
            inner.retain(|(_, solved)| solved.errors > 0);
        }
        if inner.is_empty() {
            return Some(Solved::of(whole, item, of_whole));
        }
        let (frame, of_frame) = self.parse_around(without(item, inner.iter().map(|(range, _)| range)), around)?;
        let mut divided = Solved { is_separated: has_swallowed, ..Solved::of(frame, item, of_frame) };
        for (_, solved) in inner {
            divided.trees.extend(solved.trees);
            divided.errors += solved.errors;
            divided.is_separated |= solved.is_separated;
        }
        Some(if divided.is_better(of_whole) { divided } else { Solved::of(whole, item, of_whole) })
    }

    /// Parses an item alone. If the tree has errors, the item is also parsed with its surroundings, and the
    /// tree with fewer errors is returned.
    fn parse_item(&mut self, item: &Range<usize>, around: &Surroundings) -> Option<(Tree, usize)> {
        let alone = self.parse_around(vec![item.clone()], &Surroundings::default())?;
        if alone.1 == 0 || around.ranges.is_empty() {
            return Some(alone);
        }
        let surrounded = self.parse_around(vec![item.clone()], around)?;
        Some(if surrounded.1 < alone.1 { surrounded } else { alone })
    }

    /// Parses these ranges together with their surroundings. The errors do not include the errors of the
    /// surroundings.
    fn parse_around(&mut self, ranges: Vec<Range<usize>>, around: &Surroundings) -> Option<(Tree, usize)> {
        let tree = self.parse(&around.with(ranges))?;
        let errors = Errors::of(tree.root_node()).size().saturating_sub(around.errors);
        Some((tree, errors))
    }

    /// The surroundings of the items inside an item.
    fn surroundings_in(&mut self, item: &Range<usize>, around: &Surroundings) -> Option<Surroundings> {
        let inner = inner_items(self.text, item);
        let ranges = around.with(without(item, inner.iter()));
        let tree = self.parse(&ranges)?;
        Some(Surroundings { ranges, errors: Errors::of(tree.root_node()).size() })
    }

    /// The inner items that a separate parse may mend: items with errors, and items that contain later items
    /// in the tree. The second value is true if the list contains an item of the second kind.
    fn inner_with_errors(
        &mut self,
        root: Node<'_>,
        errors: &Errors,
        item: &Range<usize>,
        depth: usize,
    ) -> (Vec<Range<usize>>, bool) {
        let items = self.outside_literals(inner_items(self.text, item), root);
        let (mut found, mut has_swallowed) = (Vec::new(), false);
        for (index, range) in items.iter().enumerate() {
            let next = items.get(index + 1);
            let swallows = next.is_some_and(|next| self.is_swallowed(root, next, range));
            has_swallowed |= swallows;
            if swallows || self.may_be_mended(root, errors, range, depth) {
                found.push(range.clone());
            }
        }
        (found, has_swallowed)
    }

    /// Whether a separate parse of the item may give fewer errors than the tree with this root. It cannot if
    /// the item and all its inner items with errors are whole nodes of the tree. Then the errors come from
    /// the text of the item, not from its position.
    fn may_be_mended(&mut self, root: Node<'_>, errors: &Errors, item: &Range<usize>, depth: usize) -> bool {
        errors.within(item) > 0
            && (!is_whole(root, self.parsed_text, item)
                || depth < MAX_DEPTH && !self.inner_with_errors(root, errors, item, depth + 1).0.is_empty())
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
        if self.num_parses > MAX_PARSES || self.num_bytes > MAX_TIMES_PARSED * self.text.len() + MORE_BYTES {
            return None;
        }
        let mut ranges = ranges.to_vec();
        let tag = self.query.opening_tag;
        let is_after_tag = ranges.first().is_some_and(|first| first.start >= tag.len());
        if !tag.is_empty() && self.parsed_text.starts_with(tag) && is_after_tag {
            ranges.insert(0, 0..tag.len());
        }
        parse_ranges(self.parser, self.query, self.parsed_text, &positions(self.parsed_text, &ranges), self.budget)
    }

    fn collect(&mut self, tree: &Tree, raw: &mut Raw) -> bool {
        collect(self.query, self.cursor, tree.root_node(), self.text, self.limits, self.budget, raw)
    }

    /// Replaces the captures in the range with the captures of the trees. Returns whether the new captures
    /// contain definitions.
    ///
    /// The captures are not replaced if the time limit is reached, or if the trees contain fewer definitions
    /// than the old captures.
    fn replace(&mut self, range: &Range<usize>, trees: &[(Tree, Range<usize>)], raw: &mut Raw) -> bool {
        let (range, mut found) = (byte_range(range), Raw::default());
        let known = raw.definitions.iter().filter(|definition| range.contains(definition.range.start)).count();
        for (tree, used) in trees {
            let mut of_tree = Raw::default();
            if !self.collect(tree, &mut of_tree) {
                return false;
            }
            // The captures of the surroundings are those of another tree.
            of_tree.remove(byte_range(&(0..used.start)));
            of_tree.remove(ByteRange { start: used.end as u32, end: u32::MAX });
            found.append(of_tree);
        }
        if found.definitions.len() < known {
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

/// The start of the smallest node that contains the item and begins before it. `None` if this node is the
/// root.
fn parent_start(root: Node<'_>, text: &str, item: &Range<usize>) -> Option<usize> {
    let (start, end) = (start_of_code(text, item), item.start + text[item.clone()].trim_end().len());
    let mut cursor = root.walk();
    let mut parent = None;
    while cursor.goto_first_child_for_byte(start).is_some() {
        let child = cursor.node().byte_range();
        if start < child.start || child.end < end {
            break;
        }
        if child.start < start {
            parent = Some(child.start);
        }
    }
    parent
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

    /// In each text, a bracket in the function `broken` is not closed.
    #[test]
    fn items_after_an_unclosed_bracket_are_kept_in_their_place() {
        check(
            "java",
            "class A {\n    void one() {\n        go();\n    }\n\n    void broken() {\n        if (x) {\n            go();\n    }\n\n    void two() {\n        go();\n    }\n}\n\nclass B {\n    void three() {\n    }\n}\n",
            "A A.one A.broken A.two B B.three",
        );
        check(
            "java",
            "class A {\n    void one() {\n        go();\n    }\n\n    void broken( {\n        go();\n    }\n\n    void two() {\n        go();\n    }\n}\n\nclass B {\n    void three() {\n    }\n}\n",
            "A A.one A.broken A.two B B.three",
        );
        check(
            "java",
            "class A {\n    void one() {\n        go();\n    }\n\n    void broken() {\n        go(;\n\n    void two() {\n        go();\n    }\n}\n\nclass B {\n    void three() {\n    }\n}\n",
            "A A.one A.broken A.two B B.three",
        );
        check(
            "kotlin",
            "class A {\n    fun one() {\n        go()\n    }\n\n    fun broken() {\n        if (x) {\n            go()\n    }\n\n    fun two() {\n        go()\n    }\n}\n\nclass B {\n    fun three() {\n    }\n}\n",
            "A A.one A.broken A.two B B.three",
        );
        check(
            "kotlin",
            "class A {\n    fun one() {\n        go()\n    }\n\n    fun broken() {\n        go(\n\n    fun two() {\n        go()\n    }\n}\n\nfun three() {\n}\n",
            "A A.one A.broken A.two three",
        );
        check(
            "swift",
            "class A {\n    func one() {\n        go()\n    }\n\n    func broken() {\n        if x {\n            go()\n    }\n\n    func two() {\n        go()\n    }\n}\n\nclass B {\n    func three() {\n    }\n}\n",
            "A A.one A.broken A.two B B.three",
        );
        check(
            "swift",
            "func one() {\n    go()\n}\n\nfunc broken() {\n    go(\n\nfunc two() {\n    go()\n}\n\nfunc three() {\n}\n",
            "one two three",
        );
        check(
            "swift",
            "class A {\n    func one() {\n        go()\n    }\n\n    func broken( {\n        go()\n    }\n\n    func two() {\n        go()\n    }\n}\n\nclass B {\n    func three() {\n    }\n}\n",
            "A A.one A.broken A.two B B.three",
        );
        check(
            "php",
            "<?php\n\nclass A {\n    function one() {\n        go();\n    }\n\n    function broken() {\n        if ($x) {\n            go();\n    }\n\n    function two() {\n        go();\n    }\n}\n\nclass B {\n    function three() {\n    }\n}\n",
            "A A.one A.broken A.two B B.three",
        );
        check(
            "php",
            "<?php\n\nfunction one() {\n    go();\n}\n\nfunction broken() {\n    go(;\n\nfunction two() {\n    go();\n}\n\nfunction three() {\n}\n",
            "one two three",
        );
        check(
            "csharp",
            "class A {\n    void One() {\n        Go();\n    }\n\n    void Broken() {\n        if (x) {\n            Go();\n    }\n\n    void Two() {\n        Go();\n    }\n}\n\nclass B {\n    void Three() {\n    }\n}\n",
            "A A.One A.Broken A.Two B B.Three",
        );
        check(
            "csharp",
            "namespace N\n{\n    class A\n    {\n        void One()\n        {\n            Go();\n        }\n\n        void Broken()\n        {\n            if (x)\n            {\n            Go();\n        }\n\n        void Two()\n        {\n            Go();\n        }\n    }\n\n    class B\n    {\n        void Three()\n        {\n        }\n    }\n}\n",
            "A A.One A.Broken A.Two B B.Three",
        );
        check(
            "typescript",
            "class A {\n  one() {\n    go();\n  }\n\n  broken() {\n    if (x) {\n      go();\n  }\n\n  two() {\n    go();\n  }\n}\n\nclass B {\n  three() {\n  }\n}\n",
            "A A.one A.broken A.two B B.three",
        );
        check(
            "javascript",
            "function one() {\n  go();\n}\n\nfunction broken() {\n  go(;\n\nfunction two() {\n  go();\n}\n\nfunction three() {\n}\n",
            "one two three",
        );
        check(
            "go",
            "package p\n\nfunc One() {\n\tgo()\n}\n\nfunc Broken() {\n\tif x {\n\t\tgo()\n}\n\nfunc Two() {\n}\n\nfunc Three() {\n}\n",
            "One Broken Two Three",
        );
        check(
            "go",
            "package p\n\nfunc One() {\n\tg()\n}\n\nfunc Broken() {\n\tg(\n\nfunc Two() {\n}\n\nfunc Three() {\n}\n",
            "One Broken Broken.Two Three",
        );
        check(
            "rust",
            "struct S;\n\nimpl S {\n    fn one(&self) {\n        go();\n    }\n\n    fn broken(&self) {\n        if x {\n            go();\n    }\n\n    fn two(&self) {\n    }\n}\n\nfn three() {\n}\n",
            "S S.one S.broken S.two three",
        );
        check(
            "rust",
            "fn one() {\n    go();\n}\n\nfn broken() {\n    go(\n\nfn two() {\n}\n\nfn three() {\n}\n",
            "one two three",
        );
        check(
            "python",
            "class A:\n    def one(self):\n        go()\n\n    def broken(self):\n        go(\n\n    def two(self):\n        go()\n\n\ndef three():\n    go()\n",
            "A A.one A.broken A.two three",
        );
        check(
            "python",
            "def one():\n    go()\n\ndef broken(:\n    go()\n\ndef two():\n    go()\n\n\ndef three():\n    go()\n",
            "one broken two three",
        );
        check(
            "ruby",
            "class A\n  def one\n    go\n  end\n\n  def broken\n    if x\n      go\n  end\n\n  def two\n    go\n  end\nend\n\nclass B\n  def three\n  end\nend\n",
            "A A.one A.broken A.two B B.three",
        );
        check(
            "ruby",
            "def one\n  go\nend\n\ndef broken\n  go(\n\ndef two\n  go\nend\n\ndef three\nend\n",
            "one broken two three",
        );
        check(
            "c",
            "int one(void) {\n    return 1;\n}\n\nint broken(void) {\n    if (x) {\n        go();\n}\n\nint two(void) {\n    return 2;\n}\n\nint three(void) {\n    return 3;\n}\n",
            "one broken two three",
        );
        check(
            "cpp",
            "class A {\npublic:\n    void one() {\n        go();\n    }\n\n    void broken() {\n        if (x) {\n            go();\n    }\n\n    void two() {\n        go();\n    }\n};\n\nint three() {\n    return 3;\n}\n",
            "A A.one A.broken A.two three",
        );
        check(
            "scala",
            "class A {\n  def one() = {\n    go()\n  }\n\n  def broken() = {\n    if (x) {\n      go()\n  }\n\n  def two() = {\n    go()\n  }\n}\n\nclass B {\n  def three() = {\n  }\n}\n",
            "A A.one A.broken A.two B B.three",
        );
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
