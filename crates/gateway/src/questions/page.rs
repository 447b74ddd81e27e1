//! Parts of long lists: what one answer holds is bounded, and says where the next begins.

use std::ops::Range;

use cairn_search::QueryError;
use serde_json::{Value, json};

use super::answer::bounded;

/// The part of a list that is asked for. Without a limit it is as much as one answer may hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    pub offset: usize,
    pub limit: Option<usize>,
    pub most: usize,
}

impl Page {
    /// Which of so many entries those are.
    pub fn of(self, num_total: usize) -> Result<Range<usize>, QueryError> {
        let limit = self.limit.map_or(Ok(self.most), |limit| bounded("limit", limit, self.most))?;
        let start = self.offset.min(num_total);
        Ok(start..start.saturating_add(limit).min(num_total))
    }
}

/// Adds to an answer which part of its list it holds, and where the next begins; null at the end.
pub(super) fn put(answer: &mut Value, part: &Range<usize>, num_total: usize) {
    answer["offset"] = json!(part.start);
    answer["num_total"] = json!(num_total);
    answer["next_offset"] = json!((part.end < num_total).then_some(part.end));
}
