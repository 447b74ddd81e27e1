//! Implements the child process. The child reads texts until its input ends. For each text, the child writes
//! a reply with the facts.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use cairn_domain::SourceText;
use cairn_syntax::{ParseLimits, parse_file};
use cairn_wire::{Decode, Encode, Reader};

use crate::{cpu, frame};

/// Maximum processor time for one file. The grammar's callback stops a slow parse, and the parent kills a
/// child that does not stop. Wall time is not used, because the result for a file must not depend on the load
/// of the machine.
const DEADLINE: Duration = Duration::from_secs(2);
const ADDRESS_SPACE_BYTES: u64 = 512 * 1024 * 1024;

/// Runs the child's loop. The process must have no other task, because this function limits its address
/// space.
pub fn serve(input: &mut impl Read, output: &mut impl Write) -> io::Result<()> {
    bound_address_space();
    let mut reply = Vec::new();
    let mut prepared = BTreeSet::new();
    while let Some(request) = frame::read(input)? {
        let source = SourceText::decode(&mut Reader(&request)).map_err(io::Error::other)?;
        let language = source.language.as_deref().unwrap_or("text");
        // The query of a language is compiled before its first file is measured, because compiling the query
        // can take as long as the deadline.
        if prepared.insert(language.to_owned()) {
            parse_file(language, source.facts_key, "", &ParseLimits::default());
        }
        let (started, processor) = (Instant::now(), cpu::of_thread());
        // The wall clock is read first, because reading it takes a tenth of the time of reading the processor
        // clock. Wall time is never less than processor time.
        let keep_going = || started.elapsed() < DEADLINE || cpu::of_thread().saturating_sub(processor) < DEADLINE;
        let limits = ParseLimits { keep_going: &keep_going, ..ParseLimits::default() };
        let facts = parse_file(language, source.facts_key, &source.text, &limits);
        reply.clear();
        facts.encode(&mut reply);
        frame::write(output, &reply)?;
    }
    Ok(())
}

fn bound_address_space() {
    let limit = libc::rlimit { rlim_cur: ADDRESS_SPACE_BYTES, rlim_max: ADDRESS_SPACE_BYTES };
    // SAFETY: the call reads one struct, which is valid until the call returns. If the system refuses the
    // limit, the child's memory is unlimited, but the parent still limits its time.
    unsafe {
        libc::setrlimit(libc::RLIMIT_AS, &limit);
    }
}
