//! The limits for parsing one file.

/// The limits for parsing one file.
#[derive(Clone, Copy)]
pub struct ParseLimits<'a> {
    /// The parser calls this function every few microseconds. If the function returns false, the parse stops
    /// with `ParseStatus::Timeout`. The core has no clock, so the caller passes a function that returns false
    /// after the deadline. The default deadline is 2 s.
    pub keep_going: &'a dyn Fn() -> bool,
    /// The maximum number of steps of the parser and the query together. A step is a hundred operations. Real
    /// files need at most 40 steps per kilobyte. The limit is ten times the number of steps that the largest
    /// real file needs. The parse of an extreme file stops at the same point on every machine.
    pub max_steps: u64,
    pub max_line_bytes: usize,
    /// The maximum depth of brackets and of indentation.
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
