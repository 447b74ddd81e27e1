//! Terminal output. Writes results to standard output, and everything else to standard error.

use anstyle::{AnsiColor, Style};
use cairn_gateway::answers::SuggestedCall;
use serde::Serialize;

pub const PATH: Style = AnsiColor::Cyan.on_default();
pub const NAME: Style = AnsiColor::Green.on_default().bold();
pub const FAINT: Style = Style::new().dimmed();
pub const BAD: Style = AnsiColor::Red.on_default().bold();

/// Adds a style to a text. If the terminal does not support colours, the text is printed without the style.
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

/// Prints an answer as JSON, or as text with `print`.
pub fn answer<T: Serialize>(answer: &T, as_json: bool, print: fn(&T)) {
    if as_json {
        json(answer);
    } else {
        print(answer);
    }
}

/// Prints a JSON value on one line.
pub fn json(value: &impl Serialize) {
    println!("{}", serde_json::json!(value));
}

/// Prints the suggested commands, one on each line.
pub fn commands(calls: &[SuggestedCall]) {
    for call in calls {
        if let Some(command) = &call.command {
            note(&format!("  try: {command}  ({})", call.reason));
        }
    }
}
