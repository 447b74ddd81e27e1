//! Finds the targets of Makefiles.

use super::blocks::Block;
use super::inline::shortened;
use crate::chunker::Lines;

/// Creates a block for each rule and for each multi-line definition. The name of a rule's block is the list
/// of the rule's targets. Assignments are outside of all blocks.
pub(super) fn blocks(lines: &Lines<'_>) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_in_rule = false;
    let mut is_in_define = false;
    let mut goes_on = false;
    for row in 0..lines.num_rows() {
        let text = lines.row(row);
        let trimmed = text.trim_ascii();
        let is_content = text.starts_with('\t') || goes_on || is_in_define;
        if let Some(name) = (!is_content).then(|| block_name(trimmed)).flatten() {
            is_in_define = trimmed.starts_with("define ");
            is_in_rule = true;
            blocks.push(Block::new(row, row + 1, 0, shortened(name, 80)));
        } else if is_content && is_in_rule {
            if let Some(last) = blocks.last_mut() {
                last.rows.end = row + 1;
            }
            is_in_define &= trimmed != "endef";
        } else if !trimmed.is_empty() && !trimmed.starts_with('#') {
            is_in_rule = false;
        }
        goes_on = trimmed.ends_with('\\');
    }
    blocks
}

/// The targets of the rule or the name of the definition, if `text` is the first row of a rule or a
/// definition.
fn block_name(text: &str) -> Option<&str> {
    if let Some(name) = text.strip_prefix("define ") {
        return Some(name.trim_end_matches(['=', ' ', ':']));
    }
    let colon = text.find(':')?;
    let (targets, rest) = (text[..colon].trim_end(), &text[colon..]);
    let is_assignment =
        rest.starts_with(":=") || rest.starts_with("::=") || targets.contains('=') || targets.contains('#');
    (!targets.is_empty() && !is_assignment).then_some(targets)
}
