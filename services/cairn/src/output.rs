//! Terminal output. Writes results to standard output, and everything else to standard error.
//!
//! The reader of the output, for example `head`, may close the pipe early. The rest of the output is then
//! dropped, and the command continues, because an index run must not stop in the middle.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::{AnsiColor, Style};
use cairn_gateway::answers::SuggestedCall;
use cairn_ports::plain_io;
use serde::Serialize;

pub const PATH: Style = AnsiColor::Cyan.on_default();
pub const NAME: Style = AnsiColor::Green.on_default().bold();
pub const FAINT: Style = Style::new().dimmed();
pub const BAD: Style = AnsiColor::Red.on_default().bold();

/// Adds a style to a text. If the terminal does not support colours, the text is printed without the style.
pub fn styled(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Whether the output could not be written although its reader waits for it, for example because the disk is
/// full.
static IS_LOST: AtomicBool = AtomicBool::new(false);

pub fn line(text: &str) {
    written(writeln!(anstream::stdout().lock(), "{text}"));
}

/// Writes bytes that another library has formatted.
pub fn bytes(bytes: &[u8]) {
    written(io::stdout().lock().write_all(bytes));
}

/// Whether a part of the output is lost. The first loss has already been reported as an error.
pub fn is_lost() -> bool {
    IS_LOST.load(Ordering::Relaxed)
}

fn written(outcome: io::Result<()>) {
    let Err(failure) = outcome.and_then(|()| io::stdout().lock().flush()) else { return };
    if failure.kind() != io::ErrorKind::BrokenPipe && !IS_LOST.swap(true, Ordering::Relaxed) {
        error(&format!("the output cannot be written: {}", plain_io(&failure)));
    }
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
    bytes(format!("{}\n", serde_json::json!(value)).as_bytes());
}

/// Prints the suggested commands, one on each line.
pub fn commands(calls: &[SuggestedCall]) {
    for call in calls {
        if let Some(command) = &call.command {
            note(&format!("  try: {command}  ({})", call.reason));
        }
    }
}
