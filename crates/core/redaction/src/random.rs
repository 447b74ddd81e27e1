//! Decides whether a value is a placeholder, and whether it is random. Templates are treated as placeholders.

use crate::{shape, template};

/// Whether the value is a placeholder for a secret, or a template.
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
    template::is_template(value) || shape::is_placeholder_text(value)
}

/// Whether a machine generated the value. Such a value is not a template. It has mixed letters and digits, no
/// words, and a high entropy for its length.
pub(crate) fn is_random(value: &[u8]) -> bool {
    shape::is_random_text(value) && !template::is_template(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_placeholders() {
        for template in ["<value>", "${X}", "{{ x }}", "%s", "$HOME", "${K3J9XQ7WZ2PL}"] {
            assert!(is_placeholder(template.as_bytes()) && !is_random(template.as_bytes()), "{template}");
        }
        assert!(is_random(b"k3J9xQ7wZ2pL") && !is_placeholder(b"k3J9xQ7wZ2pL"));
    }
}
