//! Kotlin.

use cairn_domain::Visibility::Public;

use super::shared::{ACCESS_WORDS, BASE, JAVA_TESTS, JVM_MODULES};
use crate::builtins::{Builtins, StandardModules};
use crate::family::Family;
use crate::row::{LanguageClass, LanguageRow, VisibilityRule};

pub(super) const ROWS: &[LanguageRow] = &[LanguageRow {
    name: "kotlin",
    family: Family::Jvm,
    class: LanguageClass::Code,
    grammar: grammar!("tree-sitter-kotlin-ng", "1.1.0", tree_sitter_kotlin_ng::LANGUAGE),
    query: include_str!("kotlin.scm"),
    extensions: &["kt", "kts"],
    visibility: VisibilityRule::Keyword { words: ACCESS_WORDS, default: Public, member_default: Public },
    tests: JAVA_TESTS,
    modules: JVM_MODULES,
    separators: &["?.", "!!.", "::", "."],
    // `this(…)` calls a constructor of the same class.
    self_types: &["this"],
    constructor_method: "constructor",
    call_instantiates: true,
    upper_case_constants: true,
    builtins: BUILTINS,
    standard_modules: StandardModules::FirstPart("kotlin"),
    ..BASE
}];

/// The names that the packages `kotlin.*` make visible in every file.
const BUILTINS: Builtins = Builtins { shared: &[SHARED_NAMES], parser: &[PARSER_NAMES], ..Builtins::NONE };

const SHARED_NAMES: &str = "
    ArithmeticException AssertionError AutoCloseable Boolean Byte CharSequence ClassCastException
    Comparable Deprecated Double Enum Error Exception Float IllegalArgumentException IllegalStateException
    IndexOutOfBoundsException Iterable Long NullPointerException Number NumberFormatException Runnable
    RuntimeException Short String StringBuilder Throwable UnsupportedOperationException
";

const PARSER_NAMES: &str = "
    Annotation Any Array ArrayList BooleanArray ByteArray Char CharArray Collection Comparator
    ConcurrentModificationException DoubleArray FloatArray Function HashMap HashSet Int IntArray Iterator
    JvmField JvmName JvmOverloads JvmStatic Lazy LinkedHashMap LinkedHashSet List ListIterator LongArray
    Map MutableCollection MutableIterable MutableIterator MutableList MutableMap MutableSet
    NoSuchElementException Nothing OptIn Pair Regex Result Sequence Set ShortArray Suppress Synchronized
    TODO Throws Triple UByte UInt ULong UShort Unit Volatile also apply arrayListOf arrayOf arrayOfNulls
    assert buildList buildMap buildSet buildString byteArrayOf check checkNotNull emptyArray emptyList
    emptyMap emptySet error hashMapOf hashSetOf intArrayOf lazy lazyOf let linkedMapOf listOf
    listOfNotNull longArrayOf mapOf maxOf minOf mutableListOf mutableMapOf mutableSetOf print println
    repeat require requireNotNull run runCatching sequence sequenceOf setOf synchronized takeIf takeUnless
    with
";
