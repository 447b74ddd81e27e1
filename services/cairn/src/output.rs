//! What goes to the terminal: results to standard output, everything else to standard error.

use anstyle::{AnsiColor, Style};

pub const PATH: Style = AnsiColor::Cyan.on_default();
pub const NAME: Style = AnsiColor::Green.on_default().bold();
pub const FAINT: Style = Style::new().dimmed();
pub const BAD: Style = AnsiColor::Red.on_default().bold();

/// A text in a style; plain where the terminal has no colours.
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

/// An answer as JSON, or as `print` shows it.
pub fn answer(answer: &serde_json::Value, as_json: bool, print: fn(&serde_json::Value)) {
    if as_json {
        json(answer);
    } else {
        print(answer);
    }
}

/// One JSON value on its own line.
pub fn json(value: &serde_json::Value) {
    println!("{value}");
}
