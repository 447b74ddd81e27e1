//! The types of the table of tools.

use rmcp::model::JsonObject;

/// A tool.
#[derive(Debug)]
pub(crate) struct ToolSpec {
    pub name: &'static str,
    pub description: &'static str,
    pub read_only: bool,
    pub parameters: &'static [Parameter],
    /// The schema of the structured content.
    pub output: fn() -> JsonObject,
}

/// A parameter of a tool.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub name: &'static str,
    pub kind: Kind,
    pub required: bool,
    pub description: &'static str,
    /// Wrong names that clients use for this parameter. If a call uses one of these names, the error suggests
    /// this parameter.
    pub also: &'static [&'static str],
    /// A second name that is accepted for this parameter. The schema contains the alias as a separate
    /// property, so that clients that check their calls against the schema accept the alias. For the same
    /// reason, the schema does not require a parameter that has an alias.
    pub alias: Option<&'static str>,
    /// Whether the schema forbids an empty text.
    pub not_empty: bool,
    /// The default value in the schema, which applies to calls without the parameter.
    pub default: Option<Default>,
}

/// A default value in a schema.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Default {
    Number(u64),
    EmptyList,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Text,
    List,
    Number { min: u64, max: u64 },
    Flag,
    Choice(&'static [&'static str]),
    Choices(&'static [&'static str]),
}

pub(super) const fn optional(name: &'static str, kind: Kind, description: &'static str) -> Parameter {
    Parameter { name, kind, required: false, description, also: &[], alias: None, not_empty: false, default: None }
}

pub(super) const fn required(name: &'static str, kind: Kind, description: &'static str) -> Parameter {
    Parameter { required: true, ..optional(name, kind, description) }
}

impl ToolSpec {
    pub(crate) fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
}

impl Parameter {
    pub(super) const fn also(mut self, also: &'static [&'static str]) -> Self {
        self.also = also;
        self
    }

    pub(super) const fn alias(mut self, alias: &'static str) -> Self {
        self.alias = Some(alias);
        self
    }

    pub(super) const fn not_empty(mut self) -> Self {
        self.not_empty = true;
        self
    }

    pub(super) const fn default(mut self, default: Default) -> Self {
        self.default = Some(default);
        self
    }
}
