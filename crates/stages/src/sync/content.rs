//! A blob, and the decisions about its content at each of its paths.

use cairn_domain::{FactsKey, Outcome, Reason, SecretFinding, Slot, SourceText};
use cairn_inventory::{TextClass, text_of};
use cairn_ports::TreeEntry;
use rustc_hash::FxHashMap;

use super::reading::Reading;

/// If the file name does not identify the language, the language is detected from this number of bytes at the
/// start of the text.
const HEAD_BYTES: usize = 4096;

/// The decision about the content of a path.
pub(crate) struct Content {
    pub outcome: Outcome,
    pub language: Option<String>,
    pub facts_key: Option<FactsKey>,
    pub source: Option<Slot>,
    pub num_secrets: u32,
    pub num_lines: u32,
    pub low_weight: bool,
}

/// A blob that was read. The blob is decoded only once. The blob is redacted only if one of its paths
/// requires redaction, and then only once.
pub(super) struct Blob {
    text: Result<String, Reason>,
    low_weight: FxHashMap<TextClass, Result<bool, Reason>>,
    redacted: Option<Stored>,
    plain: Option<Stored>,
}

/// The text as it is stored.
struct Stored {
    /// `None` if the stored text is equal to the text of the blob.
    text: Option<String>,
    secrets: Vec<SecretFinding>,
    num_lines: u32,
}

impl Blob {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self { text: text_of(bytes), low_weight: FxHashMap::default(), redacted: None, plain: None }
    }

    pub(super) fn decide(&mut self, reading: &Reading, entry: &TreeEntry) -> Content {
        let text = match &self.text {
            Ok(text) => text,
            Err(reason) => return skipped(*reason),
        };
        let rules = &reading.settings.rules;
        let decide = || rules.decide_text(&entry.path, text);
        let low_weight = match self.low_weight.entry(rules.text_class(&entry.path)).or_insert_with(decide) {
            Ok(low_weight) => *low_weight,
            Err(reason) => return skipped(*reason),
        };
        let row = cairn_syntax::language_of(&entry.path, head(text));
        let language = row.map_or("text", |row| row.name).to_owned();
        let stored = if reading.is_searched(&entry.path) {
            self.redacted.get_or_insert_with(|| Stored::redacted(text, reading))
        } else {
            self.plain.get_or_insert_with(|| Stored::plain(text))
        };
        Content {
            outcome: Outcome::Indexed(row.is_none().then_some(Reason::NoParser)),
            facts_key: Some(reading.facts_key(&entry.path, entry.blob, &language)),
            language: Some(language),
            source: None,
            num_secrets: stored.secrets.len() as u32,
            num_lines: stored.num_lines,
            low_weight,
        }
    }

    /// Returns the record that a source pack stores for indexed content.
    pub(super) fn source(&self, reading: &Reading, entry: &TreeEntry, content: &Content) -> SourceText {
        let stored = if reading.is_searched(&entry.path) { &self.redacted } else { &self.plain };
        let redacted = stored.as_ref().and_then(|stored| stored.text.clone());
        SourceText {
            facts_key: content.facts_key.unwrap_or_else(|| reading.facts_key(&entry.path, entry.blob, "text")),
            blob: entry.blob,
            language: content.language.clone(),
            text: redacted.unwrap_or_else(|| self.text.clone().unwrap_or_default()),
            secrets: stored.as_ref().map(|stored| stored.secrets.clone()).unwrap_or_default(),
        }
    }
}

impl Stored {
    fn redacted(text: &str, reading: &Reading) -> Self {
        let redacted = reading.settings.redactor.redact(text);
        if redacted.findings.is_empty() {
            return Self::plain(text);
        }
        let text = redacted.text.into_owned();
        Self { num_lines: num_lines(&text), text: Some(text), secrets: redacted.findings }
    }

    fn plain(text: &str) -> Self {
        Self { text: None, secrets: Vec::new(), num_lines: num_lines(text) }
    }
}

fn head(text: &str) -> &[u8] {
    &text.as_bytes()[..text.floor_char_boundary(HEAD_BYTES)]
}

/// Counts lines as an editor does. A last line without a newline is counted. An empty text has no lines.
fn num_lines(text: &str) -> u32 {
    let newlines = text.bytes().filter(|byte| *byte == b'\n').count() as u32;
    newlines + u32::from(!text.is_empty() && !text.ends_with('\n'))
}

fn skipped(reason: Reason) -> Content {
    Content {
        outcome: Outcome::Skipped(reason),
        language: None,
        facts_key: None,
        source: None,
        num_secrets: 0,
        num_lines: 0,
        low_weight: false,
    }
}

pub(super) fn unreadable(message: &str) -> Content {
    let outcome = Outcome::Failed { reason: Reason::Unreadable, message: message.to_owned() };
    Content { outcome, ..skipped(Reason::Unreadable) }
}
