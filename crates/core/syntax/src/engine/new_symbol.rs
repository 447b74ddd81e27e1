//! Creates the parts of a new symbol: its signature, its visibility, and whether it is test code.

use cairn_domain::{Symbol, SymbolKind, Visibility};

use super::attachments::AttachedText;
use super::collect::{ByteRange, RawDefinition};
use super::names::{fold, qualify};
use super::query::Properties;
use super::symbols::{Builder, NewSymbol};
use super::visibility::{self, Declaration};
use super::wrappers::Wrapped;

/// The maximum length of a signature, in characters.
const MAX_SIGNATURE_CHARS: usize = 300;
/// The maximum number of bytes of a definition that are read for its signature, including white space.
const SIGNATURE_BYTES: usize = 4_096;

impl Builder<'_, '_> {
    pub(super) fn new_symbol(&self, new: &NewSymbol<'_>) -> Symbol {
        let NewSymbol { definition, properties, kind, name, wrapped, holder, .. } = new;
        let around = holder.region;
        let name_start = definition.name.map_or(definition.range.start, |name| name.start);
        let head_end = definition.body_start.map_or(name_start, |body| body.min(name_start));
        let preamble = self.attachments.preamble(wrapped.range.start, head_end);
        let AttachedText { doc, decorators } = self.attachments.attached_text(self.row, preamble);
        let parent = self.symbol_of(around);
        let signature = self.signature(definition, *wrapped, properties);
        let owner = definition.owner.and_then(|owner| self.owner_name(owner, around));
        let qualified_name =
            qualify(holder.class.as_deref().or(owner.as_deref()).or(self.qualified_prefix(around)), name);
        let parent_symbol = parent.map(|parent| &self.outline.symbols[parent as usize]);
        let declared = self.declared_visibility(definition, around, properties);
        let declaration = Declaration {
            name,
            parent: parent_symbol,
            has_owner: owner.is_some() || holder.class.is_some(),
            in_function: self.is_in_function(around),
            exported: wrapped.exported || properties.exported,
        };
        let (visibility, exported) = visibility::resolve(self.row, &declaration, declared);
        let is_test = properties.test
            || parent_symbol.is_some_and(|parent| parent.is_test)
            || self.is_test(*kind, name, &signature, &decorators);
        Symbol {
            name: (*name).to_owned(),
            qualified_name,
            kind: *kind,
            span: self.attachments.span(preamble.start, wrapped.range.end),
            name_line: self.lines.line_of(name_start),
            signature,
            doc,
            decorators,
            parent,
            visibility,
            exported,
            is_test,
        }
    }

    /// The visibility that is stated by the declaration, by its pattern or by the block around it.
    pub(super) fn declared_visibility(
        &self,
        definition: &RawDefinition,
        around: Option<u32>,
        properties: &Properties,
    ) -> Option<Visibility> {
        let written = definition.visibility.and_then(|range| visibility::of_words(self.row, range.text(self.text)));
        let by_block = || around.and_then(|index| self.member_visibility[index as usize]);
        written.or(properties.visibility).or_else(by_block)
    }

    pub(super) fn signature(&self, definition: &RawDefinition, wrapped: Wrapped, properties: &Properties) -> String {
        let start = self.attachments.skip_leading(wrapped.range.start);
        let body_start = definition.body_start.map(|body| self.attachments.before_comments(start, body));
        let end = body_start.unwrap_or(definition.range.end).max(start);
        let name = definition.name.filter(|name| end <= name.start).map(|name| name.text(self.text));
        let num_reserved = name.map_or(0, |name| name.chars().count() + 1) + usize::from(properties.declaration);
        let written = ByteRange { start, end }.text(self.text);
        let written = &written[..written.floor_char_boundary(SIGNATURE_BYTES)];
        let mut signature = fold(written, MAX_SIGNATURE_CHARS.saturating_sub(num_reserved));
        let trimmed = signature.trim_end_matches(['{', ':', ';', ',', '=', ' ']).len();
        signature.truncate(trimmed);
        if let Some(name) = name.filter(|_| num_reserved < MAX_SIGNATURE_CHARS) {
            // The name comes after the body: `typedef struct { … } Name`.
            signature.push(' ');
            signature.push_str(name);
        }
        if properties.declaration {
            signature.push(';');
        }
        match &properties.signature {
            Some(words) if !signature.starts_with(words.as_str()) => format!("{words} {signature}"),
            _ => signature,
        }
    }

    pub(super) fn is_test(&self, kind: SymbolKind, name: &str, signature: &str, decorators: &[String]) -> bool {
        let rules = &self.row.tests;
        let without_arguments = |text: &'_ str| text.split('(').next().map(str::len).unwrap_or_default();
        let is_mark =
            |text: &str| rules.decorators.iter().any(|rule| text == *rule || &text[..without_arguments(text)] == *rule);
        if decorators.iter().any(|text| is_mark(text)) {
            return true;
        }
        let marked = |marks: &[&str]| marks.iter().any(|mark| signature.contains(mark));
        let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
        if kind.is_callable() {
            return starts(rules.function_prefixes) && (self.imports_test_library || marked(rules.signature_marks));
        }
        kind.is_container() && (marked(rules.class_marks) || self.imports_test_library && starts(rules.class_prefixes))
    }
}
