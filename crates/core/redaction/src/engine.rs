//! Applies the rules. One pass finds the keywords of all rules. Then each rule reads the text around its
//! keywords.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, MatchKind, StartKind};
use regex::bytes::{Regex, RegexBuilder};

use crate::rules::{Check, Find, Pattern, Rule, rules};
use crate::whole_word::WholeWords;
use crate::{
    assignment, call, command, data, encoded, entropy, inserted, judge, manifest, marker, name, notebook, pair, pgpass,
    piped, private_key, random, shape, table, url, wrapped,
};

/// Maximum length of a match after the keyword of a pattern, in bytes.
const REACH: usize = 2048;

/// Maximum length of a match after the keyword, in bytes, for a pattern whose match may begin before its
/// keyword. This maximum is smaller, because the whole window is searched for such a pattern.
const INNER_REACH: usize = 256;

/// If a rejected match has more than this number of bytes, keywords inside the match are skipped. Without
/// this limit, a long line of letters and digits would take quadratic time.
const LONG_REFUSAL: usize = 128;

/// The number of bytes that may be read for tables, notebooks and similar forms is `BUDGET` plus
/// `BUDGET_PER_BYTE` for each byte of the text. Real texts need about a hundredth of this budget.
const BUDGET: usize = 1 << 20;
const BUDGET_PER_BYTE: usize = 64;

static ENGINE: LazyLock<Engine> = LazyLock::new(Engine::new);

/// A part of the text that is redacted.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Index into the table of rules. If spans overlap, the rule with the lowest index is reported.
    pub(crate) rule: u16,
    /// Number of the secret. All spans of one secret have the same number. Only the first of these spans is
    /// reported.
    pub(crate) secret: usize,
}

struct Engine {
    keywords: AhoCorasick,
    /// For each keyword, the indices of the rules that have this keyword.
    called: Vec<Vec<u16>>,
    compiled: Vec<Compiled>,
}

struct Compiled {
    rule: &'static Rule,
    /// Compiled when a keyword of the rule is found for the first time, because most texts contain keywords
    /// of few rules.
    regex: OnceLock<Regex>,
}

/// All secrets of a text, in the order of their keywords.
pub(crate) fn scan(text: &str) -> Vec<Span> {
    scan_level(text, true)
}

/// Searches a text. If `decodes` is true, base64 in the text is decoded and the decoded text is searched too.
/// Base64 in decoded text is not decoded again.
fn scan_level(text: &str, decodes: bool) -> Vec<Span> {
    let engine = &*ENGINE;
    let mut scan = Scan {
        text,
        decodes,
        spans: Vec::new(),
        next_secret: 0,
        refused_until: 0,
        decoded_until: 0,
        manifests_until: 0,
        tables_until: 0,
        bodies_until: 0,
        wrapped_until: 0,
        last_command: command::LastCommand::default(),
        whole_words: WholeWords::default(),
        budget: BUDGET + text.len() * BUDGET_PER_BYTE,
    };
    for hit in engine.keywords.find_overlapping_iter(text) {
        for rule in &engine.called[hit.pattern().as_usize()] {
            scan.try_rule(*rule, &engine.compiled[usize::from(*rule)], hit.range());
        }
    }
    scan.spans
}

/// The id of the rule with this index.
pub(crate) fn rule_id(rule: u16) -> &'static str {
    ENGINE.compiled[usize::from(rule)].rule.id
}

impl Engine {
    fn new() -> Self {
        let mut keywords: Vec<String> = Vec::new();
        let mut called: Vec<Vec<u16>> = Vec::new();
        let mut compiled = Vec::new();
        for (index, rule) in rules().enumerate() {
            for keyword in rule.keywords {
                let keyword = keyword.to_ascii_lowercase();
                let place = keywords.iter().position(|known| *known == keyword).unwrap_or_else(|| {
                    keywords.push(keyword);
                    called.push(Vec::new());
                    called.len() - 1
                });
                called[place].push(index as u16);
            }
            compiled.push(Compiled { rule, regex: OnceLock::new() });
        }
        let automaton = AhoCorasickBuilder::new()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .start_kind(StartKind::Unanchored)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&keywords)
            .expect("the keywords of the table fit into an automaton");
        Self { keywords: automaton, called, compiled }
    }
}

impl Compiled {
    fn regex(&self, pattern: &Pattern) -> &Regex {
        self.regex.get_or_init(|| {
            let anchor = if pattern.back == 0 { r"\A" } else { "" };
            RegexBuilder::new(&format!("{anchor}(?:{})", pattern.regex))
                .unicode(false)
                .build()
                .expect("the patterns of the table are valid")
        })
    }
}

struct Scan<'text> {
    text: &'text str,
    decodes: bool,
    spans: Vec<Span>,
    next_secret: usize,
    refused_until: usize,
    /// Each field from `decoded_until` to `wrapped_until` is the end of the last structure of one kind that
    /// was read: a base64 sequence, a manifest, a table or a similar form. Text before this end is not read
    /// again as the same kind of structure.
    decoded_until: usize,
    manifests_until: usize,
    tables_until: usize,
    bodies_until: usize,
    wrapped_until: usize,
    last_command: command::LastCommand,
    whole_words: WholeWords,
    /// The number of bytes that may still be read for tables, notebooks and similar forms. Because of this
    /// limit, the time is linear in the length of the text, for any text.
    budget: usize,
}

impl Scan<'_> {
    fn try_rule(&mut self, index: u16, compiled: &Compiled, hit: Range<usize>) {
        let bytes = self.text.as_bytes();
        match &compiled.rule.find {
            Find::Assignment(naming) => {
                if hit.start < self.wrapped_until {
                    return;
                }
                let lines = wrapped::lines(bytes, &hit, *naming);
                if let Some(last) = lines.last() {
                    self.wrapped_until = last.end;
                    self.push_parts(index, &hit, lines);
                } else if let Some(parts) = assignment::secret(bytes, hit.clone(), *naming) {
                    self.push_parts(index, &hit, parts);
                }
            }
            Find::Manifest => self.manifest(index, &hit),
            Find::Encoded => self.encoded(index, &hit),
            Find::Userinfo => {
                if let Some(value) = url::userinfo(bytes, hit.start) {
                    self.push(index, &hit, value);
                }
            }
            Find::EncodedUserinfo => {
                if let Some(value) = url::encoded_userinfo(bytes, &hit) {
                    self.push(index, &hit, value);
                }
            }
            Find::PrivateKey => self.private_key(index, &hit),
            Find::KeyBody => self.key_body(index, &hit),
            Find::Pattern(pattern) => {
                if let Some(value) = self.matched(compiled, pattern, &hit) {
                    self.push(index, &hit, value);
                }
            }
            find => {
                let found = self.found_each(find, &hit);
                self.push_each(index, &hit, found);
            }
        }
    }

    /// The secrets around a keyword, for rules that may find several. Each range is a separate secret.
    fn found_each(&mut self, find: &Find, hit: &Range<usize>) -> Vec<Range<usize>> {
        let bytes = self.text.as_bytes();
        let budget = &mut self.budget;
        match find {
            Find::Jwk => private_key::of_jwk(bytes, hit, budget),
            Find::Command => command::passwords(bytes, hit, &mut self.last_command, budget),
            Find::Piped => piped::piped(bytes, hit, budget),
            Find::Options => command::options(bytes, hit, budget).into_iter().collect(),
            Find::Credentials => call::credentials(bytes, hit, budget),
            Find::Field => call::fields(bytes, hit, budget),
            Find::LiteralAfter => call::literal_after(bytes, hit).into_iter().collect(),
            Find::Pair => pair::password(bytes, hit).into_iter().collect(),
            Find::Translated => data::translated(bytes, hit).into_iter().collect(),
            Find::Pgpass => pgpass::password(bytes, hit).into_iter().collect(),
            Find::Cells => {
                let mut found = table::cells(bytes, hit, &mut self.tables_until, budget);
                found.extend(table::html_cells(bytes, hit, budget));
                found
            }
            Find::Inserted => inserted::inserted(bytes, hit, budget),
            Find::Printed => notebook::printed(bytes, hit, budget),
            Find::Assignment(_)
            | Find::Pattern(_)
            | Find::Manifest
            | Find::Encoded
            | Find::Userinfo
            | Find::EncodedUserinfo
            | Find::PrivateKey
            | Find::KeyBody => Vec::new(),
        }
    }

    fn private_key(&mut self, index: u16, hit: &Range<usize>) {
        let mut runs = Vec::new();
        if private_key::runs(self.text.as_bytes(), hit, &mut runs) {
            let secret = self.next_secret;
            self.next_secret += 1;
            self.spans.extend(runs.into_iter().map(|run| Span { start: run.start, end: run.end, rule: index, secret }));
        }
    }

    fn key_body(&mut self, index: u16, hit: &Range<usize>) {
        if hit.start < self.bodies_until {
            return;
        }
        let mut runs = Vec::new();
        if private_key::bare_runs(self.text.as_bytes(), hit, &mut runs) {
            self.bodies_until = runs.last().map_or(hit.end, |run| run.end);
            let secret = self.next_secret;
            self.next_secret += 1;
            self.spans.extend(runs.into_iter().map(|run| Span { start: run.start, end: run.end, rule: index, secret }));
        }
    }

    fn push_each(&mut self, rule: u16, hit: &Range<usize>, values: Vec<Range<usize>>) {
        for value in values {
            self.push(rule, hit, value);
        }
    }

    fn manifest(&mut self, index: u16, hit: &Range<usize>) {
        if hit.start < self.manifests_until {
            return;
        }
        let bytes = self.text.as_bytes();
        let document = manifest::document(bytes, hit, self.manifests_until);
        self.manifests_until = document.end;
        for value in manifest::values(bytes, &document, hit) {
            self.spans.push(Span { start: value.start, end: value.end, rule: index, secret: self.next_secret });
            self.next_secret += 1;
        }
    }

    fn encoded(&mut self, index: u16, hit: &Range<usize>) {
        if !self.decodes || hit.start < self.decoded_until {
            return;
        }
        let found = encoded::text_around(self.text.as_bytes(), hit);
        self.decoded_until = found.as_ref().map_or(hit.end, |(run, _)| run.end);
        if let Some((run, decoded)) = found
            && !scan_level(&decoded, false).is_empty()
        {
            self.push(index, hit, run);
        }
    }

    /// The secret that a pattern matches around a keyword.
    fn matched(&mut self, compiled: &Compiled, pattern: &Pattern, hit: &Range<usize>) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        if hit.start < self.refused_until || (pattern.back == 0 && !is_free_on_the_left(bytes, hit.start)) {
            return None;
        }
        let from = hit.start.saturating_sub(pattern.back);
        let reach = if pattern.back == 0 { REACH } else { INNER_REACH };
        let window = &bytes[from..bytes.len().min(hit.end + reach)];
        let regex = compiled.regex(pattern);
        // The window also contains text before the keyword. A match that ends before the keyword belongs to a
        // different keyword.
        let whole = regex.find_iter(window).find(|whole| whole.end() + from >= hit.end)?;
        if !is_free_on_the_left(bytes, from + whole.start()) {
            return None;
        }
        let secret = match regex.captures_len() {
            1 => whole.range(),
            _ => regex.captures_at(window, whole.start())?.iter().skip(1).flatten().next()?.range(),
        };
        let secret = from + secret.start..from + secret.end;
        if passes(pattern.check, &bytes[secret.clone()]) {
            return Some(secret);
        }
        if secret.len() > LONG_REFUSAL {
            self.refused_until = secret.end - LONG_REFUSAL / 2;
        }
        None
    }

    /// Adds one secret that consists of several string literals.
    fn push_parts(&mut self, rule: u16, hit: &Range<usize>, parts: Vec<Range<usize>>) {
        let secret = self.next_secret;
        for part in parts {
            self.push(rule, hit, part);
            self.spans.last_mut().filter(|span| span.secret > secret).into_iter().for_each(|span| span.secret = secret);
        }
    }

    fn push(&mut self, rule: u16, hit: &Range<usize>, value: Range<usize>) {
        let bytes = self.text.as_bytes();
        if marker::is_in(&bytes[value.clone()])
            || marker::covers(bytes, hit.start)
            || marker::covers(bytes, value.start)
        {
            return;
        }
        let start = self.text.floor_char_boundary(value.start);
        let end = self.text.ceil_char_boundary(self.whole_words.end(bytes, &value));
        self.spans.push(Span { start, end, rule, secret: self.next_secret });
        self.next_secret += 1;
    }
}

/// Whether a token may begin at `start`. A letter or digit may precede the token only if it ends an escape
/// (`\n`, `%3D`).
pub(crate) fn is_free_on_the_left(text: &[u8], start: usize) -> bool {
    let Some(before) = start.checked_sub(1) else { return true };
    !text[before].is_ascii_alphanumeric()
        || name::is_escape_letter(text, before)
        || (start >= 3 && text[start - 3] == b'%' && shape::is_hex(&text[start - 2..start]))
}

fn passes(check: Check, value: &[u8]) -> bool {
    match check {
        Check::Varied => {
            entropy::num_distinct(value) >= 5 && !value.windows(8).any(|run| entropy::num_distinct(run) == 1)
        }
        Check::Random => random::is_random(value),
        Check::Mixed => {
            let shape = shape::Shape::of(value);
            let enough = if shape.digits > 0 { 300 } else { 430 };
            shape.upper > 1 && entropy::centibits(value) >= enough
        }
        Check::BasicAuth => is_basic_auth(value),
        Check::Chosen => judge::is_chosen(value) && !judge::is_code(value),
        Check::Strong => judge::is_chosen(value) && !judge::is_code(value) && judge::is_more_than_a_word(value),
    }
}

/// Whether the value is the base64 encoding of printable text that contains a colon before its last
/// character.
fn is_basic_auth(value: &[u8]) -> bool {
    let Some(decoded) = encoded::decode(value) else { return false };
    let printable = std::str::from_utf8(&decoded).is_ok_and(|text| !text.chars().any(char::is_control));
    printable && decoded.iter().position(|byte| *byte == b':').is_some_and(|colon| colon + 1 < decoded.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for compiled in &ENGINE.compiled {
            if let Find::Pattern(pattern) = &compiled.rule.find {
                assert!(compiled.regex(pattern).captures_len() <= 8, "{}", compiled.rule.id);
            }
        }
    }

    #[test]
    fn basic_authorization_needs_user_and_password() {
        assert!(is_basic_auth(b"dXNlcjpwYXNz") && is_basic_auth(b"YTpiYw=="));
        assert!(!is_basic_auth(b"authentication") && !is_basic_auth(b"dXNlcg==") && !is_basic_auth(b"a:b"));
    }
}
