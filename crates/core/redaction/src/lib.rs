//! Keeps secrets out of everything that Cairn writes: `Redactor` replaces them in texts, `sensitive` names the files
//! that are not read at all.
//!
//! One pass of Aho-Corasick over the whole text finds keywords of the rules; regular expressions and hand-written
//! matchers run only around its hits, within bounded windows, so that the time is linear in the text whatever it
//! holds, and a text without hits costs one table look-up a byte and no allocation.
//!
//! What holds:
//! - the redacted text has as many newlines as the text, each at its place;
//! - redacting a redacted text changes and finds nothing;
//! - a finding says where and by which rule, never the value;
//! - no floating point: what is redacted is the same on every machine.

mod assignment;
mod context;
mod cursor;
mod encoded;
mod engine;
mod entropy;
mod ignore;
mod judge;
mod manifest;
mod marker;
mod name;
mod notebook;
mod private_key;
mod redactor;
mod rules;
mod sensitive;
mod shape;
mod table;
mod untrusted;
mod url;

#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod planted_tests;
#[cfg(test)]
mod rule_tests;
#[cfg(test)]
mod synthesis;

pub use ignore::{IgnorePattern, InvalidRule, SecretsIgnore};
pub use redactor::{Redacted, Redactor};
pub use rules::{RULES_VERSION, rule_ids};
pub use sensitive::{DEFAULT_PATTERNS, InvalidPattern, SensitiveNames, is_sensitive};
pub use untrusted::{MAX_UNTRUSTED_CHARS, MessagePart, Untrusted, message_parts, quoted};
