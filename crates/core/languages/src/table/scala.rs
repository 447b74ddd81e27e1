//! Scala.

use cairn_domain::Visibility::{Internal, Private, Protected, Public};

use super::shared::{BASE, JAVA_TESTS, JVM_MODULES};
use crate::builtins::{Builtins, StandardModules};
use crate::family::Family;
use crate::row::{LanguageClass, LanguageRow, VisibilityRule};

pub(super) const ROWS: &[LanguageRow] = &[LanguageRow {
    name: "scala",
    family: Family::Jvm,
    class: LanguageClass::Code,
    grammar: grammar!("tree-sitter-scala", "0.26.4", tree_sitter_scala::LANGUAGE),
    query: include_str!("scala.scm"),
    extensions: &["scala", "sc", "sbt"],
    interpreters: &["scala"],
    visibility: VisibilityRule::Keyword {
        words: &[("private[this]", Private), ("private[", Internal), ("private", Private), ("protected", Protected)],
        default: Public,
        member_default: Public,
    },
    tests: JAVA_TESTS,
    modules: JVM_MODULES,
    generic_brackets: b"[",
    call_instantiates: true,
    // `this(…)` calls a constructor of the same class.
    self_types: &["this"],
    upper_case_constants: true,
    builtins: BUILTINS,
    dotted_owners: true,
    standard_modules: StandardModules::FirstPart("scala"),
    ..BASE
}];

/// The names that `scala` and `scala.Predef` make visible in every file.
const BUILTINS: Builtins = Builtins { shared: &[SHARED_NAMES], parser: &[PARSER_NAMES], ..Builtins::NONE };

const SHARED_NAMES: &str = "
    Boolean Byte Class Double Error Exception Float IllegalArgumentException IllegalStateException
    IndexOutOfBoundsException Integer Iterable Long NullPointerException Object RuntimeException Short
    String StringBuilder Throwable UnsupportedOperationException
";

const PARSER_NAMES: &str = "
    Any AnyRef AnyVal Array BigDecimal BigInt CanEqual Char Either Function Function0 Function1 Function2
    IndexedSeq Int Iterator LazyList Left List Map Nil NoSuchElementException None Nothing Null Numeric
    Option Ordered Ordering PartialFunction Predef Product Range Right Seq Serializable Set Some Stream
    StringContext Unit Vector assert assume classOf deprecated identity implicitly inline locally print
    println require specialized summon sys tailrec throws transient unchecked volatile
";
