//! Markup and styles.

use super::shared::BASE;
use crate::row::{LanguageClass, LanguageRow};

pub(super) const ROWS: &[LanguageRow] = &[
    LanguageRow {
        name: "html",
        has_scanner: true,
        class: LanguageClass::Markup,
        extensions: &[
            "html", "htm", "xhtml", "vue", "svelte", "astro", "hbs", "ejs", "erb", "j2", "jinja", "jinja2", "tmpl",
            "gohtml",
        ],
        ..BASE
    },
    LanguageRow {
        name: "css",
        has_scanner: true,
        class: LanguageClass::Markup,
        extensions: &["css", "scss", "sass", "less", "styl"],
        ..BASE
    },
    LanguageRow {
        name: "xml",
        class: LanguageClass::Markup,
        extensions: &[
            "xml",
            "xsd",
            "xsl",
            "xslt",
            "svg",
            "plist",
            "csproj",
            "fsproj",
            "vbproj",
            "props",
            "targets",
            "storyboard",
            "xib",
            "resx",
            "wsdl",
        ],
        file_names: &["pom.xml"],
        ..BASE
    },
];
