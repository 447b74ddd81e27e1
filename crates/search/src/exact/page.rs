//! Cuts the hits to one page, and adds the lines around them.

use std::ops::Range;

use cairn_domain::RepositoryId;
use cairn_exact::{Hit, Pattern, ShownLine, with_context};
use cairn_ranking::estimate_tokens;

use super::scan::{FileHits, Progress};
use super::types::{ExactFile, ExactLine, ResumePoint};

/// Maximum number of bytes of a line that are shown.
const MAX_LINE_BYTES: usize = 400;
/// Number of bytes that are shown before the first match of a long line.
const BYTES_BEFORE_MATCH: usize = 100;
/// Maximum number of lines of one hit that are shown.
const MAX_HIT_LINES: u32 = 40;
/// Number of tokens of a line, and of a file, in addition to their texts.
const LINE_TOKENS: usize = 4;
const FILE_TOKENS: usize = 12;

pub(super) struct PageLimits {
    pub(super) before: usize,
    pub(super) after: usize,
    pub(super) num_hits: usize,
    pub(super) max_tokens: usize,
}

/// The hits of one page.
#[derive(Default)]
pub(super) struct Page {
    pub(super) files: Vec<ExactFile>,
    /// The repositories of the files.
    pub(super) repositories: Vec<RepositoryId>,
    pub(super) num_shown: usize,
    /// The last hit of the page.
    pub(super) last: Option<ResumePoint>,
    pub(super) is_cut_by_tokens: bool,
}

impl Page {
    pub(super) fn of(pattern: &Pattern, progress: &Progress, limits: &PageLimits) -> Self {
        let mut page = Page::default();
        let mut num_tokens = 0;
        for found in &progress.files {
            let wanted = found.hits.len().min(limits.num_hits - page.num_shown);
            let fits = |num_hits: &usize| {
                let file = shown_file(pattern, found, &found.hits[..*num_hits], limits);
                let cost = tokens(&file);
                (num_tokens + cost <= limits.max_tokens).then_some((file, cost))
            };
            let Some((num_hits, (file, cost))) = largest(wanted, fits) else {
                page.is_cut_by_tokens |= wanted > 0;
                break;
            };
            num_tokens += cost;
            page.num_shown += num_hits;
            page.last = Some(ResumePoint::of(found.id, &found.file.path, found.hits[num_hits - 1].first_line));
            page.repositories.push(found.id);
            page.files.push(file);
            if num_hits < wanted {
                page.is_cut_by_tokens = true;
                break;
            }
        }
        page
    }
}

/// The largest number from 1 to `most` for which `fits` returns a value, together with this value. If a
/// number fits, all smaller numbers must fit.
fn largest<T>(most: usize, fits: impl Fn(&usize) -> Option<T>) -> Option<(usize, T)> {
    if most == 0 {
        return None;
    }
    if let Some(value) = fits(&most) {
        return Some((most, value));
    }
    let (mut best, mut low, mut high) = (None, 1, most);
    while low < high {
        let middle = low.midpoint(high);
        match fits(&middle) {
            Some(value) => (best, low) = (Some((middle, value)), middle + 1),
            None => high = middle,
        }
    }
    best
}

fn tokens(file: &ExactFile) -> usize {
    let lines = file.lines.iter().map(|line| estimate_tokens(&line.text) + LINE_TOKENS);
    FILE_TOKENS + estimate_tokens(file.path.as_str()) + estimate_tokens(&file.repository) + lines.sum::<usize>()
}

fn shown_file(pattern: &Pattern, found: &FileHits, hits: &[Hit], limits: &PageLimits) -> ExactFile {
    let matches: Vec<Range<usize>> = hits.iter().flat_map(|hit| pattern.matches_in(&found.text, hit)).collect();
    let lines = with_context(&found.text, hits, limits.before, limits.after).into_iter();
    let lines = lines.filter(|line| is_shown(hits, line)).map(|line| ExactLine {
        num_lines_cut: num_lines_cut(hits, &line),
        ..shown_line(&found.text, &line, &matches)
    });
    ExactFile {
        repository: found.repository.clone(),
        path: found.file.path.clone(),
        language: found.file.language.to_string(),
        lines: lines.collect(),
    }
}

/// The hit to which the line belongs.
fn hit_of<'a>(hits: &'a [Hit], line: &ShownLine) -> Option<&'a Hit> {
    let behind = hits.partition_point(|hit| hit.first_line <= line.number);
    hits[..behind].last().filter(|_| line.is_hit)
}

/// Whether the line is one of the first lines of its hit, or belongs to no hit.
fn is_shown(hits: &[Hit], line: &ShownLine) -> bool {
    hit_of(hits, line).is_none_or(|hit| line.number - hit.first_line < MAX_HIT_LINES)
}

/// Number of lines of a hit that are not shown after its last shown line. The result is 0 for all other
/// lines.
fn num_lines_cut(hits: &[Hit], line: &ShownLine) -> u32 {
    let hit = hit_of(hits, line).filter(|hit| line.number - hit.first_line + 1 == MAX_HIT_LINES);
    hit.map_or(0, |hit| hit.num_lines.saturating_sub(MAX_HIT_LINES))
}

fn shown_line(text: &str, line: &ShownLine, matches: &[Range<usize>]) -> ExactLine {
    let ShownLine { number, bytes, is_hit } = line;
    let first = matches.partition_point(|found| found.end < bytes.start);
    let of_line = matches[first..].iter().take_while(|found| found.start <= bytes.end);
    // A match that only contains the line feed before the line does not belong to the line.
    let of_line = of_line.filter(|found| found.end > bytes.start || found.start >= bytes.start);
    let columns: Vec<(u32, u32)> = of_line
        .map(|found| {
            let column = |at: usize| (at.clamp(bytes.start, bytes.end) - bytes.start) as u32;
            (column(found.start), column(found.end))
        })
        .collect();
    let whole = &text[bytes.clone()];
    let first_match = columns.first().map_or(0, |(start, _)| *start as usize);
    let start = if whole.len() <= MAX_LINE_BYTES { 0 } else { first_match.saturating_sub(BYTES_BEFORE_MATCH) };
    let start = whole.floor_char_boundary(start);
    let end = whole.floor_char_boundary((start + MAX_LINE_BYTES).min(whole.len()));
    ExactLine {
        number: *number,
        is_hit: *is_hit,
        text: whole[start..end].to_owned(),
        num_bytes_before: start,
        is_cut: end < whole.len(),
        matches: if *is_hit { columns } else { Vec::new() },
        num_lines_cut: 0,
    }
}

#[cfg(test)]
mod tests {
    use cairn_exact::PatternRequest;

    use super::*;

    #[test]
    fn long_lines_show_the_first_match() {
        let text = format!("{}needle{}\nshort needle\n", "ä".repeat(300), "b".repeat(900));
        let pattern = Pattern::compile(&PatternRequest { text: "needle".to_owned(), ..PatternRequest::default() });
        let pattern = pattern.expect("valid");
        let hits: Vec<Hit> = pattern.hits(&text).collect();
        let matches: Vec<_> = hits.iter().flat_map(|hit| pattern.matches_in(&text, hit)).collect();
        let lines = with_context(&text, &hits, 0, 0);
        let line = shown_line(&text, &lines[0], &matches);
        assert_eq!((line.num_bytes_before, line.text.len(), line.is_cut), (500, 400, true));
        assert_eq!(line.matches, [(600, 606)]);
        assert!(line.text[100..].starts_with("needle"));
        let line = shown_line(&text, &lines[1], &matches);
        assert_eq!((line.text.as_str(), line.is_cut, line.matches), ("short needle", false, vec![(6, 12)]));
    }

    #[test]
    fn long_hit_reports_the_lines_that_are_not_shown() {
        let request = PatternRequest {
            text: "(?s)a.*z".to_owned(),
            is_regex: true,
            across_lines: true,
            ..PatternRequest::default()
        };
        let pattern = Pattern::compile(&request).expect("valid");
        let text = format!("a{}z\n", "\n".repeat(50));
        let hits: Vec<Hit> = pattern.hits(&text).collect();
        let lines = with_context(&text, &hits, 0, 0);
        let shown: Vec<u32> =
            lines.iter().filter(|line| is_shown(&hits, line)).map(|line| num_lines_cut(&hits, line)).collect();
        assert_eq!((shown.len(), shown[38], shown[39]), (40, 0, 11));
    }

    #[test]
    fn largest_number_that_fits_is_found() {
        for most in 0..20_usize {
            for limit in 0..25_usize {
                let found = largest(most, |number| (*number <= limit).then_some(*number));
                let expect = most.min(limit);
                assert_eq!(found, (expect > 0).then_some((expect, expect)), "{most} {limit}");
            }
        }
    }
}
