//! Reads the configuration of a repository.
//!
//! Only the file of the repository itself is read: no `include`, and no configuration of the user or of the
//! machine. An included file may be any file, and git's settings for commands do not matter here.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use cairn_ports::plain_io;
use git2::{ErrorClass, ErrorCode};

use super::git_directory::{GitDirectory, is_absent};
use crate::regular_file::{open_regular, read_regular};

const MAX_CONFIG_BYTES: u64 = 16 << 20;

/// Extensions of git's repository format that do not change how objects, references and the index are read.
const HARMLESS_EXTENSIONS: &[&str] =
    &["noop", "partialclone", "preciousobjects", "relativeworktrees", "worktreeconfig"];

/// The settings that this adapter uses, each with its last value in the file. A key is in lower case, except
/// for its middle part.
#[derive(Default)]
pub(crate) struct Config {
    values: BTreeMap<String, String>,
}

impl Config {
    /// Reads the configuration. The returned text states why the file cannot be read or used.
    pub(super) fn read(directory: &GitDirectory) -> Result<Self, String> {
        let mut config = Self::default();
        config.add(&directory.common().join("config"))?;
        if config.flag("extensions.worktreeconfig") == Some(true) {
            config.add(&directory.own().join("config.worktree"))?;
        }
        Ok(config)
    }

    fn add(&mut self, path: &Path) -> Result<(), String> {
        let bytes = match open_regular(path).and_then(|file| read_regular(file, MAX_CONFIG_BYTES)) {
            Ok((bytes, _)) => bytes,
            Err(error) if is_absent(&error) => return Ok(()),
            Err(error) => return Err(reason(&error)),
        };
        let text = String::from_utf8_lossy(&bytes);
        parse(&text, &mut self.values).map_err(|line| format!("line {line} is not valid"))
    }

    /// Returns an error if this adapter cannot read the format of the repository.
    pub(super) fn check_format(&self) -> Result<(), git2::Error> {
        let version = self.get("core.repositoryformatversion").unwrap_or("0");
        let refused = |message: String| Err(git2::Error::new(ErrorCode::GenericError, ErrorClass::Config, message));
        match version.parse::<u32>() {
            Ok(0) => return Ok(()),
            Ok(1) => {}
            _ => return refused(format!("the format version {version} of the repository is not supported")),
        }
        let extensions = self.values.iter().filter_map(|(key, value)| Some((key.strip_prefix("extensions.")?, value)));
        for (name, value) in extensions {
            let value = value.to_ascii_lowercase();
            let is_default = [("objectformat", "sha1"), ("refstorage", "files")].contains(&(name, value.as_str()));
            if !is_default && !HARMLESS_EXTENSIONS.contains(&name) {
                return refused(format!("the extension {name} of the repository is not supported"));
            }
        }
        Ok(())
    }

    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str)
    }

    /// The value of a boolean setting. `None` if the setting is missing or its value is not a boolean.
    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        match self.get(key)?.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Some(true),
            "false" | "no" | "off" | "0" | "" => Some(false),
            _ => None,
        }
    }
}

fn reason(error: &io::Error) -> String {
    plain_io(error)
}

fn is_used(key: &str) -> bool {
    key.starts_with("core.") || key.starts_with("extensions.") || key == "remote.origin.url"
}

/// Parses a configuration and adds the values that are used. The error is the number of the first line that
/// is not valid.
fn parse(text: &str, values: &mut BTreeMap<String, String>) -> Result<(), usize> {
    let mut section = None;
    let mut lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let mut rest = line.trim();
        if let Some(header) = rest.strip_prefix('[') {
            let (name, after) = parse_header(header).ok_or(index + 1)?;
            (section, rest) = (Some(name), after.trim_start());
        }
        if rest.is_empty() || rest.starts_with(['#', ';']) {
            continue;
        }
        let section = section.as_ref().ok_or(index + 1)?;
        let name_end = rest.find(|character: char| !character.is_ascii_alphanumeric() && character != '-');
        let (name, after) = rest.split_at(name_end.unwrap_or(rest.len()));
        if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
            return Err(index + 1);
        }
        let after = after.trim_start();
        let value = match after.strip_prefix('=') {
            Some(value) => parse_value(value, || lines.next().map(|(_, line)| line)).ok_or(index + 1)?,
            None if after.is_empty() || after.starts_with(['#', ';']) => "true".to_owned(),
            None => return Err(index + 1),
        };
        let key = format!("{section}.{}", name.to_ascii_lowercase());
        if is_used(&key) {
            values.insert(key, value);
        }
    }
    Ok(())
}

/// Parses the rest of a header after `[`. Returns the name of the section, and the text after `]`.
fn parse_header(text: &str) -> Option<(String, &str)> {
    let end = text.find([']', '"'])?;
    let name = text[..end].trim().to_ascii_lowercase();
    if name.is_empty() || !name.chars().all(|part| part.is_ascii_alphanumeric() || part == '-' || part == '.') {
        return None;
    }
    if text[end..].starts_with(']') {
        return Some((name, &text[end + 1..]));
    }
    let mut middle = String::new();
    let mut rest = text[end + 1..].chars();
    loop {
        match rest.next()? {
            '"' => break,
            '\\' => middle.push(rest.next()?),
            character => middle.push(character),
        }
    }
    let after = rest.as_str().trim_start().strip_prefix(']')?;
    Some((format!("{name}.{middle}"), after))
}

/// Parses the text after `=`. A value continues on the next line after a backslash at the end of its line.
fn parse_value<'t>(text: &'t str, mut next_line: impl FnMut() -> Option<&'t str>) -> Option<String> {
    let (mut value, mut kept, mut is_quoted) = (String::new(), 0, false);
    let mut characters = text.trim_start().chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => break,
            '\\' => match characters.next() {
                None => characters = next_line().unwrap_or_default().chars(),
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some('b') => value.push('\u{8}'),
                Some(escaped @ ('"' | '\\')) => value.push(escaped),
                Some(_) => return None,
            },
            _ => value.push(character),
        }
        // White space at the end of a value counts only within quotation marks.
        if is_quoted || !character.is_whitespace() {
            kept = value.len();
        }
    }
    value.truncate(kept);
    (!is_quoted).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, key: &str, expect: Option<&str>) {
        let mut values = BTreeMap::new();
        parse(text, &mut values).unwrap_or_else(|line| panic!("{text}: line {line}"));
        assert_eq!(values.get(key).map(String::as_str), expect, "{text}");
    }

    #[test]
    fn values_are_read_as_git_reads_them() {
        check("[core]\n\tbare = true\n", "core.bare", Some("true"));
        check("[CORE] Bare = yes # comment\n", "core.bare", Some("yes"));
        check("[core]\nbare\n", "core.bare", Some("true"));
        check("[core]\nbare =\n", "core.bare", Some(""));
        check("[core]\r\n\tbare = false\r\n[core]\r\n\tbare = true\r\n", "core.bare", Some("true"));
        check(
            "\u{feff}# x\n; y\n[remote \"origin\"]\nurl = https://a/b.git ; c\n",
            "remote.origin.url",
            Some("https://a/b.git"),
        );
        check("[remote \"Origin\"]\nurl = x\n", "remote.origin.url", None);
        check("[core]\nx = \" a # b \" c\\\n d\\t\\\"\\\\\n", "core.x", Some(" a # b  c d\t\"\\"));
        check("[include]\npath = x\n[branch \"a]\\\"b\"]\nmerge = y\n[core]\nx = 1\n", "core.x", Some("1"));
        check("[core]\nbare = true\nx = a\\", "core.bare", Some("true"));
        check("[core]\nbare = true\nx = a\\", "core.x", Some("a"));
        check("", "core.bare", None);
    }

    #[test]
    fn invalid_lines_are_found() {
        for (text, expect) in [
            ("[core\nx = 1\n", 1),
            ("[core]\nx = \"\n", 2),
            ("[core]\nx = \\q\n", 2),
            ("[core]\n= 1\n", 2),
            ("x = 1\n", 1),
            ("[core]\n\nx y\n", 3),
            ("[core \"a\nx = 1\n", 1),
        ] {
            assert_eq!(parse(text, &mut BTreeMap::new()), Err(expect), "{text}");
        }
    }

    #[test]
    fn unknown_formats_are_refused() {
        let check = |text: &str, expect: bool| {
            let mut config = Config::default();
            parse(text, &mut config.values).expect("valid");
            assert_eq!(config.check_format().is_ok(), expect, "{text}");
        };
        check("", true);
        check("[core]\nrepositoryformatversion = 0\n[extensions]\nnew = 1\n", true);
        check("[core]\nrepositoryformatversion = 1\n[extensions]\npartialClone = origin\nobjectFormat = sha1\n", true);
        check("[core]\nrepositoryformatversion = 1\n[extensions]\nrefStorage = files\n", true);
        check("[core]\nrepositoryformatversion = 1\n[extensions]\nobjectFormat = sha256\n", false);
        check("[core]\nrepositoryformatversion = 1\n[extensions]\nrefStorage = reftable\n", false);
        check("[core]\nrepositoryformatversion = 2\n", false);
    }
}
