//! Finds the stages and instructions of Dockerfiles.

use super::blocks::Block;
use super::inline::shortened;
use crate::chunker::Lines;

/// Creates a block for each stage, with the instructions of the stage inside it. The name of the block is the
/// alias of the stage, or its image if the stage has no alias.
pub(super) fn blocks(lines: &Lines<'_>) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut stage: Option<usize> = None;
    let mut goes_on = false;
    for row in 0..lines.num_rows() {
        let text = lines.row(row).trim_ascii();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        if !goes_on && let Some(instruction) = instruction(text) {
            let is_stage = instruction.eq_ignore_ascii_case("FROM");
            let depth = u8::from(stage.is_some() && !is_stage);
            let name = if is_stage { stage_name(text) } else { instruction };
            stage = if is_stage { Some(blocks.len()) } else { stage };
            blocks.push(Block::new(row, row + 1, depth, shortened(name, 80)));
        }
        if let Some(last) = blocks.last_mut() {
            last.rows.end = row + 1;
        }
        if let Some(stage) = stage {
            blocks[stage].rows.end = row + 1;
        }
        goes_on = text.ends_with('\\');
    }
    blocks
}

/// The first word of the row if it is an instruction. Rows of here-documents usually begin with other words.
fn instruction(text: &str) -> Option<&str> {
    const INSTRUCTIONS: &[&str] = &[
        "ADD",
        "ARG",
        "CMD",
        "COPY",
        "ENTRYPOINT",
        "ENV",
        "EXPOSE",
        "FROM",
        "HEALTHCHECK",
        "LABEL",
        "MAINTAINER",
        "ONBUILD",
        "RUN",
        "SHELL",
        "STOPSIGNAL",
        "USER",
        "VOLUME",
        "WORKDIR",
    ];
    let word = text.split_ascii_whitespace().next()?;
    INSTRUCTIONS.iter().any(|known| known.eq_ignore_ascii_case(word)).then_some(word)
}

/// The name of a stage. For `FROM image AS name`, this is the name after `AS`. Without `AS`, this is the
/// image.
fn stage_name(text: &str) -> &str {
    let mut words = text.split_ascii_whitespace().skip(1).skip_while(|word| word.starts_with("--"));
    let image = words.next().unwrap_or("FROM");
    match (words.next(), words.next()) {
        (Some(word), Some(alias)) if word.eq_ignore_ascii_case("as") => alias,
        _ => image,
    }
}
