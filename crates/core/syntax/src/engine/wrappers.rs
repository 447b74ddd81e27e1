//! Finds wrappers. A wrapper is a node that surrounds a definition and belongs to the definition, such as
//! `export …`, `template <…>`, or the `const` of a declaration.

use super::attachments::Attachments;
use super::collect::{ByteRange, Raw, RawDefinition};

/// The effect of the wrappers that are directly around a definition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wrapped {
    /// The range of the definition, including the wrappers that contain no other definition.
    pub(super) range: ByteRange,
    pub(super) exported: bool,
}

struct Wrapper {
    range: ByteRange,
    exports: bool,
    outer: Option<usize>,
    num_definitions: u32,
}

/// Returns one entry for each definition. `definitions` are sorted by start, and longer ranges come first.
pub(super) fn resolve(
    text: &str,
    raw: &Raw,
    definitions: &[RawDefinition],
    attachments: &Attachments<'_>,
) -> Vec<Wrapped> {
    let plain = |definition: &RawDefinition| Wrapped { range: definition.range, exported: false };
    if raw.wrappers.is_empty() {
        return definitions.iter().map(plain).collect();
    }
    let (wrappers, innermost) = nest(raw, definitions);
    let resolve_one = |(definition, wrapper): (&RawDefinition, &Option<usize>)| {
        let mut wrapped = plain(definition);
        let mut next = *wrapper;
        while let Some(wrapper) = next.map(|index| &wrappers[index]) {
            next = wrapper.outer;
            wrapped.exported |= wrapper.exports;
            let words_start = attachments.last_end_between(wrapper.range.start, definition.range.start);
            let words = ByteRange { start: words_start, end: definition.range.start }.text(text);
            if wrapper.num_definitions == 1 && !words.contains(['{', '(']) {
                wrapped.range.start = wrapped.range.start.min(wrapper.range.start);
                wrapped.range.end = wrapped.range.end.max(wrapper.range.end);
            }
        }
        wrapped
    };
    definitions.iter().zip(&innermost).map(resolve_one).collect()
}

/// Each wrapper with the number of its definitions, and for each definition the innermost wrapper directly
/// around it.
fn nest(raw: &Raw, definitions: &[RawDefinition]) -> (Vec<Wrapper>, Vec<Option<usize>>) {
    let mut sorted = raw.wrappers.clone();
    sorted.sort_unstable_by_key(|(range, _)| (range.start, u32::MAX - range.end));
    let new = |(range, exports): (ByteRange, bool)| Wrapper { range, exports, outer: None, num_definitions: 0 };
    let mut wrappers: Vec<Wrapper> = sorted.into_iter().map(new).collect();
    let mut innermost = Vec::with_capacity(definitions.len());
    // The ends of the open ranges. A range of a wrapper has the wrapper's index, and a range of a definition
    // has None.
    let mut stack: Vec<(u32, Option<usize>)> = Vec::new();
    let mut next = 0;
    for definition in definitions {
        let ByteRange { start, end } = definition.range;
        while next < wrappers.len() && encloses(wrappers[next].range, definition.range) {
            open(&mut stack, &mut wrappers, next);
            next += 1;
        }
        leave(&mut stack, start);
        let direct = stack.last().and_then(|(_, wrapper)| *wrapper);
        let mut around = direct;
        while let Some(index) = around {
            wrappers[index].num_definitions += 1;
            around = wrappers[index].outer;
        }
        innermost.push(direct);
        stack.push((end, None));
    }
    (wrappers, innermost)
}

/// Whether the wrapper starts before the definition, or starts at the same position and does not end before
/// the definition ends.
fn encloses(wrapper: ByteRange, definition: ByteRange) -> bool {
    wrapper.start < definition.start || (wrapper.start == definition.start && wrapper.end >= definition.end)
}

fn open(stack: &mut Vec<(u32, Option<usize>)>, wrappers: &mut [Wrapper], index: usize) {
    let ByteRange { start, end } = wrappers[index].range;
    leave(stack, start);
    wrappers[index].outer = stack.last().and_then(|(_, wrapper)| *wrapper);
    stack.push((end, Some(index)));
}

fn leave(stack: &mut Vec<(u32, Option<usize>)>, byte: u32) {
    while stack.last().is_some_and(|(end, _)| *end <= byte) {
        stack.pop();
    }
}
