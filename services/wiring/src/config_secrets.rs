//! Removes the values of settings from error messages.
//!
//! An error about a wrong type quotes the value. Any value may be a secret, for example a password with a
//! wrong type, or a password where a section is expected. Therefore no value of the settings is shown.

use std::collections::BTreeSet;

use toml::Value;

const REPLACEMENT: &str = "(not shown)";
/// In an error about an unknown field or variant, the text before the list of valid names.
const EXPECTED: &str = ", expected ";

/// Fields that contain secrets. All values and keys inside these fields are also secret.
const SECRET_FIELDS: [&str; 10] = [
    // The operator also chooses the keys of this table, so the keys may contain secrets.
    "stage_prefetch",
    "urls",
    "management_url",
    "password",
    "api_key",
    "value",
    "access_key_id",
    "secret_access_key",
    "session_token",
    "token",
];

/// The values of all settings.
#[derive(Default)]
pub(crate) struct Secrets {
    values: BTreeSet<String>,
    /// The values and keys inside the secret fields.
    secret: BTreeSet<String>,
}

impl Secrets {
    pub(crate) fn of(settings: &Value) -> Self {
        let mut secrets = Self::default();
        secrets.add(settings, false);
        secrets
    }

    fn add(&mut self, value: &Value, is_secret: bool) {
        match value {
            Value::Table(table) => {
                for (key, value) in table {
                    if is_secret {
                        self.secret.insert(key.clone());
                    }
                    self.add(value, is_secret || SECRET_FIELDS.contains(&key.as_str()));
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.add(item, is_secret)),
            Value::String(text) => self.add_text(text.clone(), is_secret),
            other => self.add_text(other.to_string(), is_secret),
        }
    }

    fn add_text(&mut self, text: String, is_secret: bool) {
        if is_secret {
            self.secret.insert(text.clone());
        }
        self.values.insert(text);
    }

    /// Returns the message with all quoted values replaced.
    pub(crate) fn removed_from(&self, message: &str) -> String {
        let is_variant = message.contains("unknown variant");
        // The valid names after `EXPECTED` come from the code, so they are shown even if a value equals one
        // of them.
        let (own, known) = match message.split_once(EXPECTED) {
            Some((own, known)) if is_variant || message.contains("unknown field") => (own, known),
            _ => (message, ""),
        };
        let mut shown = own.to_owned();
        for value in
            self.values.union(&self.secret).collect::<Vec<_>>().into_iter().rev().filter(|value| !value.is_empty())
        {
            for form in [format!("{value:?}"), format!("`{value}`")] {
                shown = shown.replace(&form, REPLACEMENT);
            }
        }
        // Long secrets are also replaced where they are not quoted, for example after a prefix that the
        // library adds.
        let long = self.secret.iter().rev().filter(|value| value.len() >= 8 && !is_field(value));
        let shown = long.fold(shown, |shown, value| shown.replace(value.as_str(), REPLACEMENT));
        if known.is_empty() { shown } else { format!("{shown}{EXPECTED}{known}") }
    }
}

fn is_field(word: &str) -> bool {
    SECRET_FIELDS.contains(&word)
}
