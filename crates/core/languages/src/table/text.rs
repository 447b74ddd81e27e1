//! The rows of text without structure, and of languages without a grammar.

use super::shared::{BASE, FOLDER_MODULES};
use crate::family::Family;
use crate::row::{LanguageClass, LanguageRow};

pub(super) const ROWS: &[LanguageRow] = &[
    LanguageRow {
        name: "text",
        has_scanner: true,
        class: LanguageClass::Text,
        modules: FOLDER_MODULES,
        extensions: &["txt", "text", "log"],
        file_names: &[
            "LICENSE",
            "LICENCE",
            "COPYING",
            "NOTICE",
            "AUTHORS",
            "CONTRIBUTORS",
            "README",
            "CHANGES",
            "NEWS",
            "INSTALL",
            "VERSION",
            "CODEOWNERS",
        ],
        ..BASE
    },
    LanguageRow { name: "csv", class: LanguageClass::Text, extensions: &["csv", "tsv"], ..BASE },
    text_only("objective-c", &["mm"], &[]),
    text_only("matlab", &["mlx"], &[]),
    text_only("perl", &["pl", "pm", "t"], &["perl"]),
    text_only("prolog", &["pro"], &[]),
    text_only("r", &["r", "rmd"], &["Rscript"]),
    text_only("julia", &["jl"], &["julia"]),
    text_only("dart", &["dart"], &[]),
    text_only("clojure", &["clj", "cljs", "cljc", "edn"], &[]),
    text_only("erlang", &["erl", "hrl"], &["escript"]),
    text_only("ocaml", &["ml", "mli"], &["ocaml"]),
    text_only("fsharp", &["fs", "fsi", "fsx"], &[]),
    LanguageRow { family: Family::Jvm, ..text_only("groovy", &["groovy", "gradle"], &["groovy"]) },
    text_only("powershell", &["ps1", "psm1", "psd1"], &["pwsh"]),
    text_only("batch", &["bat", "cmd"], &[]),
    text_only("vim", &["vim"], &[]),
    text_only("emacs-lisp", &["el"], &["emacs"]),
    text_only("common-lisp", &["lisp", "lsp"], &["sbcl"]),
    text_only("scheme", &["scm", "ss", "rkt"], &["guile"]),
    text_only("fortran", &["f", "f90", "f95", "f03", "for"], &[]),
    text_only("assembly", &["s", "asm"], &[]),
    text_only("verilog", &["v", "sv", "svh"], &[]),
    text_only("vhdl", &["vhd", "vhdl"], &[]),
    text_only("solidity", &["sol"], &[]),
    text_only("nim", &["nim"], &[]),
    text_only("crystal", &["cr"], &["crystal"]),
    text_only("d", &["d"], &[]),
    text_only("pascal", &["pas", "pp", "dpr"], &[]),
    text_only("visual-basic", &["vb", "vbs", "bas"], &[]),
    text_only("awk", &["awk"], &["awk", "gawk"]),
    text_only("tcl", &["tcl"], &["tclsh"]),
    text_only("fish", &["fish"], &["fish"]),
    text_only("tex", &["tex", "sty", "cls", "bib"], &[]),
    text_only("thrift", &["thrift"], &[]),
    text_only("starlark", &["bzl", "star"], &[]),
    text_only("cuda-ptx", &["ptx"], &[]),
    text_only("patch", &["patch", "diff"], &[]),
];

/// A language that has a name but no grammar. The files of such a language are divided into windows of text.
const fn text_only(
    name: &'static str,
    extensions: &'static [&'static str],
    interpreters: &'static [&'static str],
) -> LanguageRow {
    LanguageRow { name, class: LanguageClass::Text, extensions, interpreters, ..BASE }
}
