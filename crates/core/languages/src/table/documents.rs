//! The rows of documents with headings.

use super::shared::{BASE, FOLDER_MODULES};
use crate::row::{LanguageClass, LanguageRow};

pub(super) const ROWS: &[LanguageRow] = &[
    LanguageRow {
        name: "markdown",
        has_scanner: true,
        class: LanguageClass::Document,
        modules: FOLDER_MODULES,
        extensions: &["md", "markdown", "mdx", "mdown", "mkd"],
        ..BASE
    },
    LanguageRow {
        name: "restructuredtext",
        has_scanner: true,
        class: LanguageClass::Document,
        modules: FOLDER_MODULES,
        extensions: &["rst", "rest"],
        ..BASE
    },
    LanguageRow {
        name: "asciidoc",
        has_scanner: true,
        class: LanguageClass::Document,
        modules: FOLDER_MODULES,
        extensions: &["adoc", "asciidoc"],
        ..BASE
    },
    LanguageRow {
        name: "jupyter-notebook",
        has_scanner: true,
        class: LanguageClass::Document,
        modules: FOLDER_MODULES,
        extensions: &["ipynb"],
        ..BASE
    },
];
