//! The program `cairn`: local mode, the client of query services, and the operator commands for a cluster.

mod cli;
mod commands;
mod dispatch;
mod evaluation;
mod exit;
mod local;
mod operate;
mod output;
mod remote;
mod reported;
mod stop;
mod usage_error;
mod verify;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::cli::{Arguments, Command};

/// Limits the number of heaps to the number of cores. The default is eight heaps for each core. Memory that a
/// thread frees stays in its heap. Therefore threads that execute large tasks one after another would
/// together retain several times the memory of one task.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn limit_heaps() {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    // SAFETY: the call sets an option of the allocator while no other thread runs.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, i32::try_from(cores).unwrap_or(i32::MAX));
    }
}

fn main() -> ExitCode {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    limit_heaps();
    let given: Vec<OsString> = std::env::args_os().collect();
    let arguments = match Arguments::read(&given) {
        Ok(arguments) => arguments,
        Err(error) => return usage_error::report(&error, &given),
    };
    // The child process that parses files needs no runtime, log or store, so it starts before they are
    // created.
    if matches!(arguments.command, Command::ParseWorker) {
        return match cairn_local_parser::serve(&mut std::io::stdin().lock(), &mut std::io::stdout().lock()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    if let Command::Eval { arguments } = &arguments.command {
        return evaluation::run(arguments);
    }
    cairn_faults::arm();
    cairn_telemetry::init(arguments.verbose);
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            output::error(&format!("cannot start the threads of the program: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(dispatch::run(arguments));
    runtime.shutdown_background();
    if output::is_lost() { ExitCode::FAILURE } else { code }
}
