//! Wrappers: nodes around a definition that belong to it (`export …`, `template <…>`, the `const` of a declaration).

use super::attachments::Attachments;
use super::collect::{Place, Raw, RawDefinition};

/// What the wrappers directly around a definition say of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wrapped {
    /// The definition with those wrappers that hold nothing else.
    pub(super) place: Place,
    pub(super) exported: bool,
}

struct Wrapper {
    place: Place,
    exports: bool,
    outer: Option<usize>,
    num_definitions: u32,
}

/// One entry per definition. `definitions` are sorted by start, longer ones first.
pub(super) fn resolve(
    text: &str,
    raw: &Raw,
    definitions: &[RawDefinition],
    attachments: &Attachments<'_>,
) -> Vec<Wrapped> {
    let plain = |definition: &RawDefinition| Wrapped { place: definition.place, exported: false };
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
            let words_start = attachments.last_end_between(wrapper.place.start, definition.place.start);
            let words = Place { start: words_start, end: definition.place.start }.text(text);
            if wrapper.num_definitions == 1 && !words.contains(['{', '(']) {
                wrapped.place.start = wrapped.place.start.min(wrapper.place.start);
                wrapped.place.end = wrapped.place.end.max(wrapper.place.end);
            }
        }
        wrapped
    };
    definitions.iter().zip(&innermost).map(resolve_one).collect()
}

/// The wrappers with what they hold, and for each definition the innermost wrapper directly around it.
fn nest(raw: &Raw, definitions: &[RawDefinition]) -> (Vec<Wrapper>, Vec<Option<usize>>) {
    let mut sorted = raw.wrappers.clone();
    sorted.sort_unstable_by_key(|(place, _)| (place.start, u32::MAX - place.end));
    let new = |(place, exports): (Place, bool)| Wrapper { place, exports, outer: None, num_definitions: 0 };
    let mut wrappers: Vec<Wrapper> = sorted.into_iter().map(new).collect();
    let mut innermost = Vec::with_capacity(definitions.len());
    // Ends of the ranges that are open, with the wrapper that each is; none for definitions.
    let mut stack: Vec<(u32, Option<usize>)> = Vec::new();
    let mut next = 0;
    for definition in definitions {
        let Place { start, end } = definition.place;
        while next < wrappers.len() && encloses(wrappers[next].place, definition.place) {
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

/// Whether the wrapper starts before the definition, or with it and reaches as far.
fn encloses(wrapper: Place, definition: Place) -> bool {
    wrapper.start < definition.start || (wrapper.start == definition.start && wrapper.end >= definition.end)
}

fn open(stack: &mut Vec<(u32, Option<usize>)>, wrappers: &mut [Wrapper], index: usize) {
    let Place { start, end } = wrappers[index].place;
    leave(stack, start);
    wrappers[index].outer = stack.last().and_then(|(_, wrapper)| *wrapper);
    stack.push((end, Some(index)));
}

fn leave(stack: &mut Vec<(u32, Option<usize>)>, byte: u32) {
    while stack.last().is_some_and(|(end, _)| *end <= byte) {
        stack.pop();
    }
}
