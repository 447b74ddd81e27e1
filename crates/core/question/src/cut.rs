//! Shortens long questions. If a question is the text of an issue, a search for the title of the issue and
//! the next 1,000 bytes finds the right code more often than a search for the whole text.

use serde::Serialize;

/// A title or a body with at most this number of bytes is used unchanged. If the body is longer, only this
/// number of bytes is used.
const MAX_TITLE_BYTES: usize = 200;
const MAX_BODY_BYTES: usize = 1_000;
/// If a question is longer, only its first line or sentence decides its type, intent and filters.
const MAX_HEAD_BYTES: usize = 300;

/// A report that a question was shortened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Cut {
    pub original_bytes: usize,
    pub used_bytes: usize,
}

/// The part of a question that is used: the whole question if it is short, otherwise its first line and at
/// most 1,000 bytes after this line.
pub(crate) fn cut(question: &str) -> (String, Option<Cut>) {
    let question = question.trim();
    if question.len() <= MAX_BODY_BYTES {
        return (question.to_owned(), None);
    }
    let (title, body) = question.split_once('\n').unwrap_or((question, ""));
    let text = if title.len() <= MAX_TITLE_BYTES {
        let body = body.trim_start();
        let kept = at_word(body, MAX_BODY_BYTES);
        format!("{}\n{kept}", title.trim_end())
    } else {
        at_word(question, MAX_BODY_BYTES).to_owned()
    };
    let text = text.trim_end().to_owned();
    let cut = Cut { original_bytes: question.len(), used_bytes: text.len() };
    let is_shorter = text.len() + 1 < question.len();
    (text, is_shorter.then_some(cut))
}

/// The part of a question whose words decide its type, intent and filters: the whole question, or the first
/// line or sentence of a long question.
pub(crate) fn head(question: &str) -> &str {
    if question.len() <= MAX_HEAD_BYTES {
        return question;
    }
    let line = question.lines().find(|line| !line.trim().is_empty()).unwrap_or(question);
    if line.len() <= MAX_HEAD_BYTES {
        return line.trim();
    }
    let start = at_word(line, MAX_HEAD_BYTES);
    let end = [". ", "? ", "! "].into_iter().filter_map(|mark| start.find(mark)).min();
    end.map_or(start, |end| &start[..=end])
}

/// The longest beginning of a text that has at most `max_bytes` bytes and ends with a whole word.
fn at_word(text: &str, max_bytes: usize) -> &str {
    if text.len() <= max_bytes {
        return text;
    }
    let mut end = max_bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    match text[..end].rfind(char::is_whitespace) {
        // If there is no white space in the second half of the allowed length, the text is cut inside a word.
        Some(space) if space > max_bytes / 2 => text[..space].trim_end(),
        _ => &text[..end],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_questions_are_kept() {
        assert_eq!(cut("  how does login work? "), ("how does login work?".to_owned(), None));
        assert_eq!(cut(&"a ".repeat(499)).1, None);
    }

    #[test]
    fn long_questions_keep_title_and_beginning() {
        let body = "word ".repeat(1_000);
        let (text, report) = cut(&format!("Title of the issue\n\n{body}"));
        assert!(text.starts_with("Title of the issue\nword word"), "{text}");
        assert!((1_000..1_030).contains(&text.len()), "{} bytes", text.len());
        assert_eq!(report, Some(Cut { original_bytes: 5_019, used_bytes: text.len() }));
        let (text, report) = cut(&body);
        assert!(text.len() <= 1_000 && text.ends_with("word"), "{} bytes", text.len());
        assert!(report.is_some());
    }

    #[test]
    fn texts_are_cut_between_characters() {
        let (text, report) = cut(&"é".repeat(2_000));
        assert_eq!(text.len(), 1_000);
        assert!(report.is_some());
    }

    #[test]
    fn first_line_of_a_long_question_is_its_head() {
        let body = "what calls parse ".repeat(40);
        assert_eq!(head("what calls parse\nin tests"), "what calls parse\nin tests");
        assert_eq!(head(&format!("Crash in parser\n{body}")), "Crash in parser");
        assert_eq!(head(&format!("It is slow. {body}")), "It is slow.");
        assert!(head(&"x".repeat(900)).len() <= 300);
    }
}
