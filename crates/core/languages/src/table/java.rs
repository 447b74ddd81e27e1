//! Java.

use cairn_domain::Visibility::{Internal, Public};

use super::shared::{ACCESS_WORDS, BASE, JAVA_TESTS, JVM_MODULES};
use crate::builtins::{Builtins, StandardModules};
use crate::family::Family;
use crate::row::{LanguageClass, LanguageRow, ModuleDoc, VisibilityRule};

pub(super) const ROWS: &[LanguageRow] = &[LanguageRow {
    name: "java",
    family: Family::Jvm,
    class: LanguageClass::Code,
    grammar: grammar!("tree-sitter-java", "0.23.5", tree_sitter_java::LANGUAGE),
    query: include_str!("java.scm"),
    extensions: &["java"],
    visibility: VisibilityRule::Keyword { words: ACCESS_WORDS, default: Internal, member_default: Public },
    tests: JAVA_TESTS,
    module_doc: ModuleDoc::CommentBefore("package "),
    modules: JVM_MODULES,
    separators: &["::", "."],
    // `this(…)` calls a constructor of the same class.
    self_types: &["this"],
    constructor_method: "constructor",
    upper_case_constants: true,
    builtins: BUILTINS,
    standard_modules: StandardModules::FirstPart("java javax"),
    ..BASE
}];

/// The names that `java.lang` makes visible in every file.
const BUILTINS: Builtins = Builtins { shared: &[SHARED_NAMES], parser: &[PARSER_NAMES], linker: &[LINKER_NAMES] };

const SHARED_NAMES: &str = "
    AssertionError AutoCloseable Boolean Byte CharSequence Character Class ClassCastException ClassLoader
    ClassNotFoundException Cloneable Comparable Deprecated Double Enum Error Exception Float
    FunctionalInterface IllegalArgumentException IllegalStateException IndexOutOfBoundsException Integer
    InterruptedException Iterable Long Math NullPointerException Number NumberFormatException Object
    Override Process Record Runnable Runtime RuntimeException SafeVarargs SecurityException Short
    StackTraceElement String StringBuffer StringBuilder SuppressWarnings System Thread ThreadLocal
    Throwable UnsupportedOperationException Void
";

const PARSER_NAMES: &str = "
    CloneNotSupportedException ReflectiveOperationException boolean byte char double float int long short
    var void
";

const LINKER_NAMES: &str = "
    Appendable ArrayIndexOutOfBoundsException LinkageError OutOfMemoryError ProcessBuilder
    StackOverflowError StrictMath ThreadGroup
";
