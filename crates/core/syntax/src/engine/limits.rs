//! The limits for parsing one file.

/// Limits for one file.
#[derive(Clone, Copy)]
pub struct ParseLimits<'a> {
    /// Called every few microseconds; false stops the parse (`ParseStatus::Timeout`). The core has no clock:
    /// callers pass a function that turns false after their deadline, 2 s by default.
    pub keep_going: &'a dyn Fn() -> bool,
    /// Steps of parser and query, in hundreds of operations. Real files take at most 40 per kilobyte. The
    /// bound is ten times that for the largest file, and ends a runaway at the same point on every machine.
    pub max_steps: u64,
    pub max_line_bytes: usize,
    /// Depth of brackets and of indentation.
    pub max_nesting: usize,
    pub max_symbols: usize,
    pub max_references: usize,
}

const ALWAYS: fn() -> bool = || true;

impl Default for ParseLimits<'_> {
    fn default() -> Self {
        Self {
            keep_going: &ALWAYS,
            max_steps: 400_000,
            max_line_bytes: 20_000,
            max_nesting: 500,
            max_symbols: 50_000,
            max_references: 200_000,
        }
    }
}

/// The remaining time and steps.
pub(super) struct Budget<'a> {
    pub(super) keep_going: &'a dyn Fn() -> bool,
    pub(super) steps: u64,
}

impl Budget<'_> {
    pub(super) fn spend(&mut self) -> bool {
        self.steps = self.steps.saturating_sub(1);
        self.steps > 0 && (self.keep_going)()
    }
}
