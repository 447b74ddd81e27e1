//! Starts the program `cairn-eval`, which is in the folder of this program after a build, but is not shipped.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use crate::output;

pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let Ok(own) = std::env::current_exe() else {
        output::error("the path of this program is unknown");
        return ExitCode::FAILURE;
    };
    let program = own.with_file_name("cairn-eval");
    match Command::new(&program).args(arguments).status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            output::error(&format!("{}: {error}; `make eval` builds this program", program.display()));
            ExitCode::FAILURE
        }
    }
}
