//! JavaScript, and the data that TypeScript shares with it.

use cairn_domain::Visibility::{Private, Protected, Public};

use super::shared::{BASE, NO_TESTS, PATH_MODULES};
use crate::builtins::{Builtins, StandardModules};
use crate::family::Family;
use crate::row::{DocStyle, LanguageClass, LanguageRow, ModuleDoc, ModuleRules, TestRules, VisibilityRule};

/// The common row of JavaScript and its dialects.
pub(super) const SCRIPT: LanguageRow = LanguageRow {
    class: LanguageClass::Code,
    doc: DocStyle { line_prefixes: &["//"], block_prefixes: &["/**", "/*"] },
    visibility: VisibilityRule::Export { words: &[("private", Private), ("protected", Protected), ("public", Public)] },
    tests: SCRIPT_TESTS,
    module_doc: ModuleDoc::Tagged(&["@module", "@packageDocumentation", "@fileoverview", "@file"]),
    modules: SCRIPT_MODULES,
    separators: &["?.", "!.", "."],
    spread_nodes: &["spread_element"],
    constructor_method: "constructor",
    upper_case_constants: true,
    transparent_types: &["Promise", "Readonly", "Partial", "Required"],
    type_modifiers: &["readonly"],
    builtins: BUILTINS,
    standard_modules: StandardModules::Prefix("node:"),
    family: Family::Script,
    ..BASE
};

const SCRIPT_TESTS: TestRules = TestRules {
    directories: &["__tests__", "__mocks__", "test", "tests", "spec", "e2e", "cypress", "testdata"],
    stem_suffixes: &[".test", ".spec", "-test", "_test", ".e2e", ".cy"],
    ..NO_TESTS
};

const SCRIPT_MODULES: ModuleRules = ModuleRules { index_stems: &["index"], ..PATH_MODULES };

pub(super) const ROWS: &[LanguageRow] = &[LanguageRow {
    name: "javascript",
    grammar: grammar!("tree-sitter-javascript", "0.25.0", tree_sitter_javascript::LANGUAGE),
    query: concat!(include_str!("ecmascript.scm"), include_str!("javascript.scm"), include_str!("jsx.scm")),
    extensions: &["js", "mjs", "cjs", "jsx", "es6"],
    file_names: &["Jakefile"],
    interpreters: &["node", "nodejs", "bun"],
    ..SCRIPT
}];

const BUILTINS: Builtins = Builtins { shared: &[SHARED_NAMES], parser: &[PARSER_NAMES], linker: &[LINKER_NAMES] };

const SHARED_NAMES: &str = "
    Array ArrayBuffer BigInt Boolean Date Error Function Map Number Object Promise RangeError RegExp Set
    String Symbol TypeError Uint8Array WeakMap WeakSet clearInterval clearTimeout decodeURIComponent
    encodeURIComponent isFinite isNaN parseFloat parseInt queueMicrotask require setInterval setTimeout
    undefined
";

const PARSER_NAMES: &str = "
    AsyncGenerator AsyncIterable Awaited Exclude Extract Generator Iterable Iterator NonNullable Omit
    Parameters Partial Pick Readonly ReadonlyArray Record Required ReturnType any boolean const never
    number object string unknown void
";

const LINKER_NAMES: &str = "
    AbortController Blob Buffer CSS DataView EvalError Event File FormData Headers Infinity Intl JSON Math
    NaN Proxy ReferenceError Reflect Request Response SyntaxError TextDecoder TextEncoder URL
    URLSearchParams WeakRef WebSocket XMLHttpRequest alert arguments atob btoa console crypto decodeURI
    document encodeURI eval exports fetch global globalThis history localStorage location module navigator
    performance process requestAnimationFrame sessionStorage setImmediate structuredClone window
";
