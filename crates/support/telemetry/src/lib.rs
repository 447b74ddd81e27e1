//! Logs and metrics. Log lines are written to standard error, because standard output is used for results and
//! for MCP.

pub mod metrics;

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// Starts the logs of the command-line program. With `verbose` 0, the logs show warnings; with 1, they also
/// show progress; with 2, they also show details. The environment variable `CAIRN_LOG` takes precedence (for
/// example `cairn_pipeline=debug`). A second call has no effect.
pub fn init(verbose: u8) {
    let level = match verbose {
        // A command reports the broker's errors itself. Without these settings, the crates `lapin` and
        // `cairn_rabbitmq` would also log each attempt and each channel.
        0 => "warn,lapin=off,cairn_rabbitmq=error",
        1 => "info",
        _ => "debug",
    };
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter(level)).with_writer(std::io::stderr);
    let subscriber = subscriber.with_ansi(std::io::stderr().is_terminal()).with_target(false);
    // If a subscriber is already set, it stays in use.
    let _ = subscriber.try_init();
}

/// Starts the logs of a service. The logs show progress, as one JSON object per line with the fields of the
/// enclosing spans.
pub fn init_service() {
    let subscriber = tracing_subscriber::fmt().json().flatten_event(true).with_current_span(false);
    let subscriber = subscriber.with_env_filter(filter("info")).with_writer(std::io::stderr);
    let _ = subscriber.try_init();
}

fn filter(level: &str) -> EnvFilter {
    EnvFilter::try_from_env("CAIRN_LOG").unwrap_or_else(|_| EnvFilter::new(format!("{level},rmcp=warn")))
}
