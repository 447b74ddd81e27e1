//! Elixir.

use cairn_domain::Visibility::{Private, Public};

use super::shared::{BASE, HASH_DOC, NO_TESTS, PATH_MODULES};
use crate::builtins::{Builtins, StandardModules};
use crate::family::Family;
use crate::row::{LanguageClass, LanguageRow, ModuleRules, TestRules, VisibilityRule};

pub(super) const ROWS: &[LanguageRow] = &[LanguageRow {
    name: "elixir",
    family: Family::Elixir,
    class: LanguageClass::Code,
    grammar: grammar!("tree-sitter-elixir", "0.3.5", tree_sitter_elixir::LANGUAGE),
    query: include_str!("elixir.scm"),
    extensions: &["ex", "exs"],
    file_names: &["mix.lock"],
    interpreters: &["elixir"],
    doc: HASH_DOC,
    visibility: VisibilityRule::Keyword {
        words: &[
            ("defp", Private),
            ("defmacrop", Private),
            ("defguardp", Private),
            ("defnp", Private),
            ("typep", Private),
        ],
        default: Public,
        member_default: Public,
    },
    tests: TestRules { stem_suffixes: &["_test", "_spec"], ..NO_TESTS },
    modules: ModuleRules { drop_leading: &["lib", "test"], ..PATH_MODULES },
    generic_brackets: b"",
    self_words: &["__MODULE__"],
    dotted_owners: true,
    sigils: &[':'],
    super_words: &[],
    self_types: &["__MODULE__"],
    builtins: BUILTINS,
    standard_modules: StandardModules::FirstPart(STANDARD_MODULES),
    ..BASE
}];

const BUILTINS: Builtins = Builtins { parser: &[PARSER_NAMES], linker: &[STANDARD_MODULES], ..Builtins::NONE };

const PARSER_NAMES: &str = "
    abs alias alias! and any apply arity as_boolean atom binary binary_part binary_slice binding bit_size
    bitstring boolean byte byte_size case ceil char charlist cond dbg def defdelegate defexception
    defguard defguardp defimpl defmacro defmacrop defmodule defn defnp defoverridable defp defprotocol
    defstruct destructure div elem exit float floor for fun function function_exported? get_and_update_in
    get_in hd identifier if import in inspect integer iodata iolist is_atom is_binary is_bitstring
    is_boolean is_exception is_float is_function is_integer is_list is_map is_map_key is_nil is_number
    is_pid is_port is_reference is_struct is_tuple keyword length list macro_exported? make_ref map
    map_size match? max maybe_improper_list mfa min module neg_integer no_return node non_neg_integer none
    nonempty_binary nonempty_charlist nonempty_list nonempty_maybe_improper_list nonempty_string not
    number or pid pop_in port pos_integer put_elem put_in quote raise receive reference rem require
    reraise round self send sigil_r sigil_s sigil_w spawn spawn_link spawn_monitor string struct struct!
    super tap term then throw timeout tl to_charlist to_string trunc try tuple tuple_size unless unquote
    unquote_splicing update_in use var! with
";

/// Modules of the standard library. Each word is the first part of a module's name.
const STANDARD_MODULES: &str = "
    Access Agent Application ArgumentError ArithmeticError Atom Base Behaviour Bitwise Calendar
    CaseClauseError Code Collectable Config Date DateTime Dict DynamicSupervisor Enum Enumerable
    ErlangError ExUnit Exception File Float Function FunctionClauseError GenEvent GenServer HashDict
    HashSet IEx IO Inspect Integer JSON Kernel KeyError Keyword List Logger Macro Map MapSet MatchError
    Mix Module NaiveDateTime Node OptionParser PartitionSupervisor Path Port Process Protocol Range Record
    Regex Registry RuntimeError Set Stream String StringIO Supervisor System Task Time Tuple URI
    UndefinedFunctionError Version WithClauseError
";
