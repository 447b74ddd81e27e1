//! Pages of long lists. The size of one answer is limited, and the answer contains the position of the next
//! page.

use std::ops::Range;

use cairn_redaction::{Given, Message, Own};
use cairn_search::{FieldFault, QueryError, QueryErrorCode};

use crate::answers::PageInfo;

pub(super) fn wrong(message: impl Into<Message>) -> QueryError {
    QueryError::new(QueryErrorCode::ValidationError, message)
}

/// The error for a field whose value is not one of the known words.
pub(super) fn unknown_word(field: &str, word: &str, known: &[&str]) -> QueryError {
    let message = Message::from(Own(format!("`{field}` must be one of {}, but it is ", known.join(", "))));
    wrong(message.and(Given(word))).in_field(FieldFault::of(field))
}

pub(super) fn bounded(name: &str, value: usize, most: usize) -> Result<usize, QueryError> {
    // Zero has a separate message without the upper bound. Local mode has no upper bound, and both modes must
    // return the same text.
    let provided = i64::try_from(value).ok();
    let fault = |max_allowed| FieldFault { max_allowed, provided, ..FieldFault::of(name) };
    if value == 0 {
        return Err(wrong(Own(format!("`{name}` must be at least 1"))).in_field(fault(None)));
    }
    if value > most {
        let message = Own(format!("`{name}` must be between 1 and {most}, not {value}"));
        return Err(wrong(message).in_field(fault(Some(most as u64))));
    }
    Ok(value)
}

/// The requested page of a list. Without a limit, the page has the maximum size of one answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    pub offset: usize,
    pub limit: Option<usize>,
    pub most: usize,
}

impl Page {
    /// Returns the range of the page in a list of `num_total` entries, and the description of the page.
    pub fn of(self, num_total: usize) -> Result<(Range<usize>, PageInfo), QueryError> {
        let limit = self.limit.map_or(Ok(self.most), |limit| bounded("limit", limit, self.most))?;
        let start = self.offset.min(num_total);
        let end = start.saturating_add(limit).min(num_total);
        let next_offset = (end < num_total).then_some(end);
        Ok((start..end, PageInfo { offset: start, num_total, next_offset }))
    }
}
