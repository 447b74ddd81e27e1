//! Removes secrets from all text that Cairn writes. `Redactor` replaces the secrets in texts. The module
//! `sensitive` lists the files that are never read. The module `untrusted` makes text from unknown sources
//! safe for messages.
//!
//! One pass of Aho-Corasick over the whole text finds the keywords of the rules. Regular expressions and
//! hand-written readers run only around these keywords, within bounded windows. Therefore the time is linear
//! in the length of any text. A text without keywords needs one table look-up per byte and no allocation.
//!
//! Invariants:
//! - The redacted text has the same number of lines as the original text.
//! - Redacting a redacted text finds no secret and changes nothing.
//! - A finding contains the rule and the number of the line, never the value.
//! - The rules use no floating-point numbers, so every machine makes the same decisions.

mod append;
mod assigned;
mod assignment;
mod before;
mod beside;
mod block;
mod call;
mod cell;
mod columns;
mod command;
mod context;
mod cursor;
mod data;
mod declaration;
mod delimited;
mod encoded;
mod engine;
mod entropy;
mod expression;
mod frame;
mod ignore;
mod inserted;
mod judge;
mod lines;
mod linked;
mod list;
mod machine;
mod manifest;
mod marker;
mod markup;
mod message;
mod name;
mod notebook;
mod pair;
mod pgpass;
mod phrase;
mod piped;
mod private_key;
mod prose;
mod random;
mod redactor;
mod reference;
mod repeats;
mod replace;
mod rules;
mod sensitive;
mod shape;
mod stand_in;
mod table;
mod template;
mod untrusted;
mod url;
mod whole_word;
mod words;
mod wrapped;

#[cfg(test)]
mod command_tests;
#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod false_alarm_tests;
#[cfg(test)]
mod generated;
#[cfg(test)]
mod generated_tests;
#[cfg(test)]
mod held_back;
#[cfg(test)]
mod joined;
#[cfg(test)]
mod more_surroundings;
#[cfg(test)]
mod named;
#[cfg(test)]
mod passwords;
#[cfg(test)]
mod planted_code;
#[cfg(test)]
mod planted_documents;
#[cfg(test)]
mod planted_settings;
#[cfg(test)]
mod planted_tests;
#[cfg(test)]
mod planted_tokens;
#[cfg(test)]
mod rule_tests;
#[cfg(test)]
mod separators;
#[cfg(test)]
mod surroundings;
#[cfg(test)]
mod synthesis;
#[cfg(test)]
mod written;

pub use ignore::{IgnorePattern, InvalidRule, SecretsIgnore};
pub use message::{Given, MAX_QUOTED_CHARS, Message, Own, Phrase, Whole, Words};
pub use redactor::Redactor;
pub use replace::Redacted;
pub use rules::{RULES_VERSION, rule_ids};
pub use sensitive::{DEFAULT_PATTERNS, InvalidPattern, SensitiveNames, is_sensitive};
pub use untrusted::{MAX_UNTRUSTED_CHARS, MessagePart, Untrusted, message_parts, quoted};
