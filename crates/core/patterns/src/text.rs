//! The searchable text of a pattern.

use std::fmt::Write;

use cairn_domain::{PatternMember, PatternRecord};

use crate::words;

/// Maximum number of members that the text lists. If a pattern has more members, the text states only how
/// many more there are.
const MAX_LISTED: usize = 30;

/// The text of a chunk of kind `pattern`. A search for a question such as "how do importers work" finds this
/// text. The text contains the name in singular and plural, the shared methods, the canonical member, and how
/// the other members differ.
pub fn pattern_chunk_text(pattern: &PatternRecord) -> String {
    let words: Vec<String> = words::split(&pattern.name).iter().map(|word| word.to_lowercase()).collect();
    let one = words.join(" ");
    let many = words::plural(&one);
    let mut text = format!(
        "{} pattern: how {many} work, the typical structure of {one}.\n{}\n",
        pattern.name, pattern.description
    );
    list(&mut text, "Shared methods", &pattern.shared_methods);
    list(&mut text, "Bases", &pattern.shared_bases);
    list(&mut text, "Decorators", &pattern.shared_decorators);
    if let Some(canonical) = pattern.members.get(pattern.canonical as usize) {
        line(&mut text, &format!("Read first: {} in {}:{}", canonical.name, canonical.path, canonical.span.start));
    }
    line(&mut text, "Members:");
    for member in pattern.members.iter().take(MAX_LISTED) {
        line(&mut text, &member_line(member));
    }
    if pattern.members.len() > MAX_LISTED {
        line(&mut text, &format!("- and {} more", pattern.members.len() - MAX_LISTED));
    }
    text
}

fn list(text: &mut String, title: &str, names: &[String]) {
    if !names.is_empty() {
        line(text, &format!("{title}: {}", names.join(", ")));
    }
}

fn line(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}

fn member_line(member: &PatternMember) -> String {
    let mut line = format!("- {} ({}:{})", member.name, member.path, member.span.start);
    if !member.extra_methods.is_empty() {
        line.push_str(&format!("; extra: {}", member.extra_methods.join(", ")));
    }
    if !member.missing_methods.is_empty() {
        line.push_str(&format!("; missing: {}", member.missing_methods.join(", ")));
    }
    line
}
