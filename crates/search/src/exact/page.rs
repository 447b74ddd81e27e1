//! Selects the hits of one page, and adds the lines around them.

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
/// Minimum number of bytes of a line that are shown.
const MIN_LINE_BYTES: usize = 8;
/// Number of tokens that a line and a file need in addition to their texts.
const LINE_TOKENS: usize = 4;
const FILE_TOKENS: usize = 12;
/// Number of tokens that state how many lines of a hit are missing.
const MISSING_LINES_TOKENS: usize = 8;

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
    /// Whether parts of the only hit are missing, because the whole hit exceeds the token limit.
    pub(super) is_shortened: bool,
}

/// The size in which hits are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct HitSize {
    /// Number of lines before and after each hit.
    before: usize,
    after: usize,
    num_lines: u32,
    num_line_bytes: usize,
}

impl HitSize {
    fn whole(limits: &PageLimits) -> Self {
        let PageLimits { before, after, .. } = *limits;
        Self { before, after, num_lines: MAX_HIT_LINES, num_line_bytes: MAX_LINE_BYTES }
    }

    /// Smaller sizes, largest first: without the lines around the hit, then with fewer lines of the hit, then
    /// with only a part of its first line.
    fn smaller() -> impl Iterator<Item = Self> {
        let lines = [MAX_HIT_LINES, MAX_HIT_LINES / 4, 1].into_iter().map(|num_lines| (num_lines, MAX_LINE_BYTES));
        let shorter = std::iter::successors(Some(MAX_LINE_BYTES / 2), |bytes| Some(bytes / 2));
        let shorter = shorter.take_while(|bytes| *bytes >= MIN_LINE_BYTES).map(|bytes| (1, bytes));
        let size = |(num_lines, num_line_bytes)| Self { before: 0, after: 0, num_lines, num_line_bytes };
        lines.chain(shorter).map(size)
    }
}

impl Page {
    pub(super) fn of(pattern: &Pattern, progress: &Progress, limits: &PageLimits) -> Self {
        let mut page = Page::default();
        let mut num_left = limits.max_tokens;
        for found in &progress.files {
            let wanted = found.hits.len().min(limits.num_hits - page.num_shown);
            let size = HitSize::whole(limits);
            let whole = largest(wanted, |num_hits| fitting(pattern, (found, *num_hits), size, num_left));
            // The first hit of a page is always shown, so that the next page can follow.
            let is_shortened = whole.is_none() && wanted > 0 && page.num_shown == 0;
            let shown = if is_shortened { shortened(pattern, found, num_left).map(|shown| (1, shown)) } else { whole };
            let Some((num_hits, (file, cost))) = shown else {
                page.is_cut_by_tokens |= wanted > 0;
                break;
            };
            num_left -= cost;
            page.num_shown += num_hits;
            page.last = Some(ResumePoint::of(found.id, &found.file.path, found.hits[num_hits - 1].first_line));
            page.repositories.push(found.id);
            page.files.push(file);
            page.is_shortened = is_shortened;
            if is_shortened || num_hits < wanted {
                page.is_cut_by_tokens = progress.num_hits > page.num_shown;
                break;
            }
        }
        page
    }
}

/// The first hits of a file with their number of tokens, if they fit into the token limit.
fn fitting(
    pattern: &Pattern,
    (found, num_hits): (&FileHits, usize),
    size: HitSize,
    max_tokens: usize,
) -> Option<(ExactFile, usize)> {
    let file = shown_file(pattern, found, &found.hits[..num_hits], size);
    let cost = tokens(&file);
    (cost <= max_tokens).then_some((file, cost))
}

/// The first hit of a file in the largest size that fits. `None` if the path of the file does not fit.
fn shortened(pattern: &Pattern, found: &FileHits, max_tokens: usize) -> Option<(ExactFile, usize)> {
    HitSize::smaller().find_map(|size| fitting(pattern, (found, 1), size, max_tokens))
}

/// The largest number from 1 to `most` for which `fits` returns a value, together with this value. If `fits`
/// returns a value for a number, it must also return a value for every smaller number.
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
    let marks = |line: &ExactLine| {
        let missing = if line.num_lines_cut > 0 { MISSING_LINES_TOKENS } else { 0 };
        usize::from(line.is_cut) + usize::from(line.num_bytes_before > 0) + missing
    };
    let lines = file.lines.iter().map(|line| estimate_tokens(&line.text) + LINE_TOKENS + marks(line));
    FILE_TOKENS + estimate_tokens(file.path.as_str()) + estimate_tokens(&file.repository) + lines.sum::<usize>()
}

fn shown_file(pattern: &Pattern, found: &FileHits, hits: &[Hit], size: HitSize) -> ExactFile {
    let matches: Vec<Range<usize>> = hits.iter().flat_map(|hit| pattern.matches_in(&found.text, hit)).collect();
    let lines = with_context(&found.text, hits, size.before, size.after).into_iter();
    let lines = lines.filter(|line| is_shown(hits, line, size.num_lines)).map(|line| ExactLine {
        num_lines_cut: num_lines_cut(hits, &line, size.num_lines),
        ..shown_line(&found.text, &line, &matches, size.num_line_bytes)
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

/// Whether the line belongs to no hit, or is one of the first `MAX_HIT_LINES` lines of its hit.
fn is_shown(hits: &[Hit], line: &ShownLine, num_lines: u32) -> bool {
    hit_of(hits, line).is_none_or(|hit| line.number - hit.first_line < num_lines)
}

/// If the line is the last shown line of a hit, the number of lines of the hit that are not shown after it.
/// Otherwise 0.
fn num_lines_cut(hits: &[Hit], line: &ShownLine, num_lines: u32) -> u32 {
    let hit = hit_of(hits, line).filter(|hit| line.number - hit.first_line + 1 == num_lines);
    hit.map_or(0, |hit| hit.num_lines.saturating_sub(num_lines))
}

fn shown_line(text: &str, line: &ShownLine, matches: &[Range<usize>], num_bytes: usize) -> ExactLine {
    let ShownLine { number, bytes, is_hit } = line;
    let first = matches.partition_point(|found| found.end < bytes.start);
    let of_line = matches[first..].iter().take_while(|found| found.start <= bytes.end);
    // A match that contains only the line feed before the line does not belong to the line.
    let of_line = of_line.filter(|found| found.end > bytes.start || found.start >= bytes.start);
    let columns: Vec<(u32, u32)> = of_line
        .map(|found| {
            let column = |at: usize| (at.clamp(bytes.start, bytes.end) - bytes.start) as u32;
            (column(found.start), column(found.end))
        })
        .collect();
    let whole = &text[bytes.clone()];
    let first_match = columns.first().map_or(0, |(start, _)| *start as usize);
    let before_match = BYTES_BEFORE_MATCH.min(num_bytes / 4);
    let start = if whole.len() <= num_bytes { 0 } else { first_match.saturating_sub(before_match) };
    let start = whole.floor_char_boundary(start);
    let end = whole.floor_char_boundary((start + num_bytes).min(whole.len()));
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
        let line = shown_line(&text, &lines[0], &matches, MAX_LINE_BYTES);
        assert_eq!((line.num_bytes_before, line.text.len(), line.is_cut), (500, 400, true));
        assert_eq!(line.matches, [(600, 606)]);
        assert!(line.text[100..].starts_with("needle"));
        let line = shown_line(&text, &lines[1], &matches, MAX_LINE_BYTES);
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
        let cut_to = |num_lines: u32| -> Vec<u32> {
            let shown = lines.iter().filter(|line| is_shown(&hits, line, num_lines));
            shown.map(|line| num_lines_cut(&hits, line, num_lines)).collect()
        };
        let shown = cut_to(MAX_HIT_LINES);
        assert_eq!((shown.len(), shown[38], shown[39]), (40, 0, 11));
        assert_eq!(cut_to(1), [50]);
    }

    #[test]
    fn sizes_of_a_hit_become_smaller() {
        let sizes: Vec<(u32, usize)> = HitSize::smaller().map(|size| (size.num_lines, size.num_line_bytes)).collect();
        assert_eq!(sizes, [(40, 400), (10, 400), (1, 400), (1, 200), (1, 100), (1, 50), (1, 25), (1, 12)]);
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
