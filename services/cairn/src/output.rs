//! The terminal: results go to standard output, everything else to standard error.

use anstyle::{AnsiColor, Style};
use serde::Serialize;

pub const PATH: Style = AnsiColor::Cyan.on_default();
pub const NAME: Style = AnsiColor::Green.on_default().bold();
pub const FAINT: Style = Style::new().dimmed();
pub const BAD: Style = AnsiColor::Red.on_default().bold();

/// A text in a style; without style if the terminal has no colours.
pub fn styled(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

pub fn line(text: &str) {
    anstream::println!("{text}");
}

pub fn note(text: &str) {
    anstream::eprintln!("{text}");
}

pub fn error(text: &str) {
    anstream::eprintln!("{}: {text}", styled(BAD, "error"));
}

/// An answer as JSON, or as text by `print`.
pub fn answer<T: Serialize>(answer: &T, as_json: bool, print: fn(&T)) {
    if as_json {
        json(answer);
    } else {
        print(answer);
    }
}

/// One JSON value on its own line.
pub fn json(value: &impl Serialize) {
    println!("{}", serde_json::json!(value));
}
