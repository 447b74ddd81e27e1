//! Reads the description of a module from the code file that documents the module.

use cairn_languages::ModuleDoc;

use super::inline::{plain, shortened};

/// The maximum length of a description, in characters.
const LONGEST_DESCRIPTION: usize = 300;
/// The description is searched for only in this number of bytes at the start of a file.
const SEARCHED_BYTES: usize = 16 * 1024;
/// Words that identify a licence header at the beginning of a file. A licence header does not describe a
/// module.
const LEGAL_WORDS: [&str; 3] = ["copyright", "license", "licence"];

/// The first paragraph of the text that documents the file's module. `None` if the file has no such text.
pub(crate) fn module_description(place: ModuleDoc, text: &str) -> Option<String> {
    let end = (0..=SEARCHED_BYTES.min(text.len())).rev().find(|end| text.is_char_boundary(*end))?;
    let text = &text[..end];
    let lines = match place {
        ModuleDoc::None => return None,
        ModuleDoc::FirstString => first_string(text)?,
        ModuleDoc::Lines(mark) => marked_lines(text, mark),
        ModuleDoc::CommentBefore(word) => comment_before(text, word)?,
        ModuleDoc::Tagged(tags) => tagged_comment(text, tags)?,
    };
    let lines = lines.iter().map(|line| line.trim()).skip_while(|line| line.is_empty());
    let paragraph: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    let description = shortened(&plain(&paragraph.join(" ")), LONGEST_DESCRIPTION);
    let lower = description.to_lowercase();
    let describes = lower.chars().any(char::is_alphabetic) && !LEGAL_WORDS.iter().any(|word| lower.contains(word));
    describes.then_some(description)
}

/// The lines of the string that is the first statement. Only comments may precede the string.
fn first_string(text: &str) -> Option<Vec<&str>> {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    while rest.starts_with('#') {
        rest = rest.split_once('\n')?.1.trim_start();
    }
    let rest = rest.trim_start_matches(['r', 'R', 'u', 'U']);
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| rest.starts_with(quote))?;
    let content = rest[quote.len()..].split_once(quote)?.0;
    Some(content.lines().collect())
}

/// The first lines that begin with the mark, without the mark.
fn marked_lines<'t>(text: &'t str, mark: &str) -> Vec<&'t str> {
    let marked = text.lines().skip_while(|line| !line.starts_with(mark));
    marked.map_while(|line| line.strip_prefix(mark)).collect()
}

/// The lines of the comment that ends directly before the first line with the word.
fn comment_before<'t>(text: &'t str, word: &str) -> Option<Vec<&'t str>> {
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| line.starts_with(word))?;
    let before = &lines[..at];
    if before.last()?.trim_end().ends_with("*/") {
        let start = before.iter().rposition(|line| line.trim_start().starts_with("/*"))?;
        return Some(without_stars(&before[start..]));
    }
    let num_comments = before.iter().rev().take_while(|line| line.starts_with("//")).count();
    let comments = &before[before.len() - num_comments..];
    (num_comments > 0).then(|| comments.iter().map(|line| line.trim_start_matches('/')).collect())
}

/// The lines of the first block comment that contains one of the tags.
fn tagged_comment<'t>(text: &'t str, tags: &[&str]) -> Option<Vec<&'t str>> {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("/**") {
        let (comment, after) = after.split_once("*/")?;
        if tags.iter().any(|tag| comment.contains(tag)) {
            let lines: Vec<&str> = comment.lines().collect();
            return Some(without_stars(&lines).into_iter().map(|line| without_tag(line, tags)).collect());
        }
        rest = after;
    }
    None
}

/// Returns the description after one of these tags, or the whole line if it has no tag. The result is empty
/// for a line with any other tag, and for a tag that is followed by at most one word.
fn without_tag<'t>(line: &'t str, tags: &[&str]) -> &'t str {
    let line = line.trim();
    let Some(tag) = tags.iter().find(|tag| line.starts_with(**tag)) else {
        return if line.starts_with('@') { "" } else { line };
    };
    let rest = line[tag.len()..].trim();
    if rest.contains(' ') { rest } else { "" }
}

fn without_stars<'t>(lines: &[&'t str]) -> Vec<&'t str> {
    let inner = |line: &&'t str| {
        let line = line.trim().trim_start_matches('/').trim_end_matches('/');
        line.trim_matches('*').trim()
    };
    lines.iter().map(inner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(place: ModuleDoc, text: &str, expect: Option<&str>) {
        assert_eq!(module_description(place, text).as_deref(), expect, "{text}");
    }

    #[test]
    fn first_string_describes_a_module() {
        use ModuleDoc::FirstString;
        check(
            FirstString,
            "#!/usr/bin/env python\n\n\"\"\"Imports data.\n\nMore.\n\"\"\"\nimport os\n",
            Some("Imports data."),
        );
        check(FirstString, "r'''\nReads `csv`\nfiles.\n'''\n", Some("Reads csv files."));
        check(FirstString, "'One line.'\n", Some("One line."));
        check(FirstString, "import os\n\"\"\"No.\"\"\"\n", None);
        check(FirstString, "\"\"\"Copyright by X.\"\"\"\n", None);
        check(FirstString, "\"\"\"never closed", None);
        check(FirstString, "", None);
    }

    #[test]
    fn comments_describe_a_module() {
        check(ModuleDoc::Lines("//!"), "// x\n//! Ranks hits.\n//!\n//! More.\nuse a;\n", Some("Ranks hits."));
        check(ModuleDoc::Lines("//!"), "// Ranks hits.\n", None);
        let package = ModuleDoc::CommentBefore("package ");
        check(package, "// Package a does b.\n// And c.\n//\n// More.\npackage a\n", Some("Package a does b. And c."));
        check(package, "// Unrelated.\n\npackage a\n", None);
        check(package, "/**\n * Bills customers.\n */\npackage com.acme.billing;\n", Some("Bills customers."));
        check(package, "/* Copyright X */\npackage a;\n", None);
        let tagged = ModuleDoc::Tagged(&["@module", "@file"]);
        check(tagged, "/** no */\n/**\n * Sends mail.\n * @module mail\n */\n", Some("Sends mail."));
        check(tagged, "/**\n * @file Sends mail.\n */\n", Some("Sends mail."));
        check(tagged, "/**\n * Sends mail.\n */\nfunction send() {}\n", None);
    }
}
