//! The text that replaces a secret.

const OPEN: &[u8] = b"[REDACTED";
/// An upper bound on the number of bytes of a marker. A marker consists of `[REDACTED:`, a rule id and `]`.
const LONGEST: usize = 80;

/// Appends the marker of a rule. The marker for the userinfo of a URL is `[REDACTED]` without a rule, because
/// programs would read the colon of `[REDACTED:<rule>]` as the separator between user and password.
pub(crate) fn write(out: &mut String, rule: &str) {
    if rule == crate::url::RULE {
        out.push_str("[REDACTED]");
    } else {
        out.push_str("[REDACTED:");
        out.push_str(rule);
        out.push(']');
    }
}

/// Whether the bytes contain a marker or the beginning of a marker. If so, the value was already redacted.
pub(crate) fn is_in(value: &[u8]) -> bool {
    value.windows(OPEN.len()).any(|window| window == OPEN)
}

/// Whether the position is inside a marker. The words of the rule id in a marker must not be recognised as
/// names of secrets.
pub(crate) fn covers(text: &[u8], at: usize) -> bool {
    let from = at.saturating_sub(LONGEST);
    let before = &text[from..at];
    let Some(open) = before.iter().rposition(|byte| *byte == b'[') else { return false };
    text[from + open..].starts_with(OPEN) && !before[open..].contains(&b']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_inside_a_marker_are_detected() {
        let text = b"x [REDACTED:jwt] y";
        let inside: Vec<bool> = (0..text.len()).map(|at| covers(text, at)).collect();
        assert!(inside[3] && inside[12] && inside[15] && !inside[2] && !inside[16]);
        assert!(is_in(b"a[REDACTED]b") && !is_in(b"a[REDACT]b"));
    }
}
