//! PHP.

use cairn_domain::Visibility::Public;

use super::shared::{ACCESS_WORDS, BASE, NO_TESTS, PATH_MODULES};
use crate::builtins::Builtins;
use crate::family::Family;
use crate::row::{LanguageClass, LanguageRow, TestRules, VisibilityRule};

pub(super) const ROWS: &[LanguageRow] = &[LanguageRow {
    name: "php",
    family: Family::Php,
    class: LanguageClass::Code,
    grammar: grammar!("tree-sitter-php", "0.25.1", tree_sitter_php::LANGUAGE_PHP),
    query: include_str!("php.scm"),
    extensions: &["php", "phtml", "php5", "php7", "phpt"],
    interpreters: &["php"],
    visibility: VisibilityRule::Keyword { words: ACCESS_WORDS, default: Public, member_default: Public },
    tests: TestRules {
        directories: &["test", "tests", "Test", "Tests", "spec"],
        stem_suffixes: &["Test", "Tests", "Cest", "Spec", "Suite"],
        decorators: &["Test", "DataProvider", "TestWith", "Before", "After"],
        function_prefixes: &["test"],
        signature_marks: &["function test"],
        class_marks: &["TestCase", "Cest"],
        ..NO_TESTS
    },
    modules: PATH_MODULES,
    separators: &["?->", "->", "::", "\\"],
    root_marks: &["\\"],
    generic_brackets: b"",
    self_words: &["$this", "self", "static"],
    super_words: &["parent"],
    self_types: &["self", "static"],
    sigils: &['$'],
    spread_nodes: &["variadic_placeholder"],
    opening_tag: "<?php",
    builtins: BUILTINS,
    dotted_owners: true,
    ..BASE
}];

/// Functions and types of the language that most files use.
const BUILTINS: Builtins = Builtins { parser: &[PARSER_NAMES], linker: &[LINKER_NAMES], ..Builtins::NONE };

const PARSER_NAMES: &str = "
    array array_chunk array_column array_combine array_diff array_diff_key array_fill array_fill_keys
    array_filter array_flip array_intersect array_intersect_key array_is_list array_key_exists
    array_key_first array_key_last array_keys array_map array_merge array_pad array_pop array_push
    array_reduce array_reverse array_search array_shift array_slice array_splice array_sum array_unique
    array_unshift array_values array_walk arsort asort assert basename bool call_user_func
    call_user_func_array callable ceil chr class_exists compact count current date define defined dirname
    empty end error_log explode false fclose feof file_exists file_get_contents file_put_contents float
    floor fopen fread func_get_args function_exists fwrite get_class gettype hash implode in_array ini_set
    int intdiv interface_exists intval is_a is_array is_bool is_callable is_dir is_file is_float is_int
    is_iterable is_null is_numeric is_object is_resource is_scalar is_string is_subclass_of isset iterable
    iterator_to_array json_decode json_encode key krsort ksort lcfirst ltrim max mb_strlen mb_strtolower
    mb_strtoupper mb_substr md5 method_exists microtime min mixed mkdir never next null number_format
    object ord preg_match preg_match_all preg_quote preg_replace preg_replace_callback preg_split print_r
    printf property_exists random_int range realpath reset round rsort rtrim serialize sort spl_object_id
    sprintf str_contains str_ends_with str_pad str_repeat str_replace str_split str_starts_with strcasecmp
    strcmp string stripos strlen strpos strrpos strstr strtolower strtotime strtoupper strtr strval substr
    substr_count time trigger_error trim true uasort ucfirst ucwords uksort unlink unserialize unset
    usleep usort var_dump var_export void vsprintf
";

const LINKER_NAMES: &str = "
    ArrayAccess Closure Countable DateTime DateTimeImmutable Exception Generator InvalidArgumentException
    Iterator IteratorAggregate JsonSerializable LogicException RuntimeException Stringable Throwable
    Traversable stdClass
";
