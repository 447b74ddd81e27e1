//! Creates context headers. The header of a chunk describes the code outside of the chunk that a reader needs
//! to understand the chunk.
//!
//! A header has up to four parts, each with one or more lines:
//!
//! - the signatures of the enclosing definitions and of the definition itself;
//! - `part 2 of 3`;
//! - `members: …` for a class whose methods are in other chunks;
//! - `uses …` for the imports whose names occur in the chunk.
//!
//! A header never contains the name of the file, because facts do not depend on the path.

use std::fmt::Write;

use cairn_domain::{Import, Symbol};
use rustc_hash::FxHashMap;

use super::group::Group;
use super::lines::{Lines, Rows};

/// The maximum number of enclosing definitions in a header. If a chunk has more enclosing definitions, the
/// innermost definitions are used.
const MOST_ENCLOSING: usize = 6;
const MOST_MEMBERS: usize = 60;
const MOST_IMPORTS: usize = 24;
/// The maximum length of a header, in bytes. A limit is needed because names can be very long, and because
/// the names of one import can be in every chunk of a file.
const LONGEST: usize = 8_000;

pub(super) struct Headers<'a> {
    lines: &'a Lines<'a>,
    symbols: &'a [Symbol],
    imports: ImportNames<'a>,
}

impl<'a> Headers<'a> {
    pub(super) fn new(lines: &'a Lines<'a>, symbols: &'a [Symbol], imports: &'a [Import]) -> Self {
        Self { lines, symbols, imports: ImportNames::new(imports) }
    }

    pub(super) fn of(&mut self, group: &Group) -> String {
        let mut header = String::new();
        self.write_signatures(group, &mut header);
        if let Some((number, count)) = group.part {
            line(&mut header, &format!("part {number} of {count}"));
        }
        if !group.members.is_empty() {
            line(&mut header, "members: ");
            let names = group.members.iter().map(|&member| self.symbols[member as usize].name.as_str());
            let mut names: Vec<&str> = names.collect();
            // Overloads have equal names and are next to each other.
            names.dedup();
            names.truncate(MOST_MEMBERS);
            header.push_str(&names.join(", "));
        }
        self.imports.write_used(self.lines, group.rows, &mut header);
        header.truncate(header.floor_char_boundary(LONGEST));
        header
    }

    fn write_signatures(&self, group: &Group, header: &mut String) {
        let parent_of = |index: u32| self.symbols[index as usize].parent.filter(|&parent| parent < index);
        let mut chain: Vec<u32> = group.symbol.into_iter().collect();
        let enclosing =
            group.symbol.and_then(parent_of).or(group.enclosing).filter(|&outer| Some(outer) != group.symbol);
        let outer = std::iter::successors(enclosing, |&index| parent_of(index));
        chain.extend(outer.take(MOST_ENCLOSING));
        for &index in chain.iter().rev() {
            line(header, &self.symbols[index as usize].signature);
        }
    }
}

fn line(header: &mut String, text: &str) {
    if !header.is_empty() && !text.is_empty() {
        header.push('\n');
    }
    header.push_str(text);
}

/// A name that an import binds: the import, and the index of the name among the names of the import. The
/// index is `None` if the import binds the module itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Bound {
    import: u32,
    name: Option<u32>,
}

/// Finds the imports that are used in a text, in one pass over the words of the text.
struct ImportNames<'a> {
    imports: &'a [Import],
    /// Imports in two functions can bind the same name. In that case, the first import is kept.
    bound: FxHashMap<&'a [u8], Bound>,
    /// For each first byte, the lengths of the names that begin with it. A word whose length is not in the
    /// set for its first byte is not an imported name. Because of this check, most words need not be hashed.
    lengths: [u64; 256],
    used: Vec<Bound>,
}

impl<'a> ImportNames<'a> {
    fn new(imports: &'a [Import]) -> Self {
        let mut names = Self { imports, bound: FxHashMap::default(), lengths: [0; 256], used: Vec::new() };
        for (index, import) in imports.iter().enumerate() {
            let index = index as u32;
            for (number, name) in import.names.iter().enumerate() {
                let bound = Bound { import: index, name: Some(number as u32) };
                names.bind(name.alias.as_ref().unwrap_or(&name.name), bound);
            }
            if let Some(alias) = &import.alias {
                names.bind(alias, Bound { import: index, name: None });
            } else if import.names.is_empty() && !import.wildcard {
                for name in module_names(&import.module) {
                    names.bind(name, Bound { import: index, name: None });
                }
            }
        }
        names
    }

    fn bind(&mut self, name: &'a str, bound: Bound) {
        if let Some(&first) = name.as_bytes().first() {
            self.lengths[usize::from(first)] |= 1 << name.len().min(63);
            self.bound.entry(name.as_bytes()).or_insert(bound);
        }
    }

    fn write_used(&mut self, lines: &Lines<'_>, rows: Rows, header: &mut String) {
        if self.bound.is_empty() {
            return;
        }
        self.find_used(lines.slice(rows).as_bytes());
        let span = rows.span();
        let imports = self.imports;
        self.used.retain(|bound| !span.contains(imports[bound.import as usize].line));
        for (index, uses) in self.used.chunk_by(|a, b| a.import == b.import).take(MOST_IMPORTS).enumerate() {
            if index == 0 {
                line(header, "uses ");
            } else {
                header.push_str("; ");
            }
            write_import(&imports[uses[0].import as usize], uses, header);
        }
    }

    /// Sets `used` to the imported names that occur in the text, in the order of the imports.
    fn find_used(&mut self, text: &[u8]) {
        self.used.clear();
        let mut at = 0;
        while at < text.len() {
            let first = text[at];
            if !WORD[usize::from(first)] {
                at += 1;
                continue;
            }
            let length = text[at..].iter().position(|&byte| !WORD[usize::from(byte)]).unwrap_or(text.len() - at);
            if self.lengths[usize::from(first)] & (1 << length.min(63)) != 0
                && let Some(&bound) = self.bound.get(&text[at..at + length])
            {
                self.used.push(bound);
            }
            at += length;
        }
        self.used.sort_unstable();
        self.used.dedup();
    }
}

/// The bytes of identifiers in all languages: letters, digits, `_`, `$` and all non-ASCII bytes.
const WORD: [bool; 256] = word_bytes();

const fn word_bytes() -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = matches!(byte as u8, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' | 0x80..);
        byte += 1;
    }
    table
}

/// The names that an import of a whole module may bind. Such a name is the first part of the module in Python
/// and the last part in other languages. A version such as `v2` at the end of a Go module is ignored.
fn module_names(module: &str) -> impl Iterator<Item = &str> {
    let is_word = |part: &&str| !part.is_empty() && part.bytes().all(|byte| WORD[usize::from(byte)]);
    let is_version =
        |part: &str| part.len() > 1 && part.starts_with('v') && part[1..].bytes().all(|byte| byte.is_ascii_digit());
    let is_path = module.contains('/');
    let separators: &[char] = if is_path { &['/'] } else { &['.', ':', '\\'] };
    let last = module.rsplit(separators).find(|part| !is_version(part)).filter(is_word);
    let first = if is_path { None } else { module.split(separators).next().filter(is_word) };
    first.into_iter().chain(last.filter(|last| first != Some(*last)))
}

/// Writes the text of an import, such as `fisio.db (Session, engine as e)` or `numpy as np`.
fn write_import(import: &Import, uses: &[Bound], header: &mut String) {
    header.extend(std::iter::repeat_n('.', usize::from(import.level)));
    header.push_str(&import.module);
    if let Some(alias) = &import.alias {
        let _ = write!(header, " as {alias}");
    }
    let names: Vec<_> = uses.iter().filter_map(|bound| import.names.get(bound.name? as usize)).collect();
    if names.is_empty() {
        return;
    }
    header.push_str(" (");
    for (index, name) in names.iter().enumerate() {
        header.push_str(if index > 0 { ", " } else { "" });
        header.push_str(&name.name);
        if let Some(alias) = &name.alias {
            let _ = write!(header, " as {alias}");
        }
    }
    header.push(')');
}
