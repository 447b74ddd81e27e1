; Elixir. Everything is a call: the called word decides the meaning.

; --- Definitions

((call target: (identifier) @_define @not_reference . (arguments . (alias) @name) (do_block) @body) @definition.module
  (#eq? @_define "defmodule") (#set! dotted "true"))
((call target: (identifier) @_define @not_reference . (arguments . (alias) @name) (do_block) @body) @definition.interface
  (#eq? @_define "defprotocol") (#set! dotted "true"))
; An implementation belongs to its type; without a type, to the module around it.
((call target: (identifier) @_define @not_reference . (arguments (keywords (pair value: [(alias) @owner (list . (alias) @owner)]))) (do_block)) @scope
  (#eq? @_define "defimpl"))

; Clauses with the same name and number of parameters are one function.
((call target: (identifier) @_define @visibility . (arguments . (call target: (identifier) @name . (arguments) @arguments) (keywords)? @body) (do_block)? @body) @definition.function
  (#any-of? @_define "def" "defp" "defn" "defnp" "defdelegate") (#set! clause "true"))
((call target: (identifier) @_define @visibility . (arguments . (binary_operator left: (call target: (identifier) @name . (arguments) @arguments) operator: "when") (keywords)? @body) (do_block)? @body) @definition.function
  (#any-of? @_define "def" "defp" "defn" "defnp") (#set! clause "true"))
((call target: (identifier) @_define @visibility . (arguments . (identifier) @name (keywords)? @body) (do_block)? @body) @definition.function
  (#any-of? @_define "def" "defp" "defn" "defnp" "defdelegate") (#set! clause "true"))
((call target: (identifier) @_define @visibility . (arguments . (binary_operator left: (identifier) operator: _ @name right: (identifier)) (keywords)? @body) (do_block)? @body) @definition.function
  (#any-of? @_define "def" "defp") (#not-eq? @name "when") (#set! clause "true"))
((call target: (identifier) @_define @visibility . (arguments . (call target: (identifier) @name . (arguments) @arguments) (keywords)? @body) (do_block)? @body) @definition.macro
  (#any-of? @_define "defmacro" "defmacrop") (#set! clause "true"))
((call target: (identifier) @_define @visibility . (arguments . (binary_operator left: (call target: (identifier) @name . (arguments) @arguments) operator: "when") (keywords)? @body) (do_block)? @body) @definition.macro
  (#any-of? @_define "defmacro" "defmacrop" "defguard" "defguardp") (#set! clause "true"))
((call target: (identifier) @_define @visibility . (arguments . (identifier) @name (keywords)? @body) (do_block)? @body) @definition.macro
  (#any-of? @_define "defmacro" "defmacrop") (#set! clause "true"))

((call target: (identifier) @_define . (arguments (list (atom) @name @definition.field)))
  (#any-of? @_define "defstruct" "defexception"))
((call target: (identifier) @_define . (arguments (list (keywords (pair key: (keyword) @name) @definition.field))))
  (#any-of? @_define "defstruct" "defexception"))
((call target: (identifier) @_define . (arguments (keywords (pair key: (keyword) @name) @definition.field)))
  (#any-of? @_define "defstruct" "defexception"))

((call target: (identifier) @_define @not_reference . (arguments . (string) @name) (do_block) @body) @definition.function
  (#any-of? @_define "test" "property") (#set! test "true") (#set! visibility "private"))
((call target: (identifier) @_block @not_reference (do_block)) @local
  (#any-of? @_block "setup" "setup_all" "quote"))
(anonymous_function) @local

; Attributes: types and callbacks of a behaviour; all others are constants.
((unary_operator operator: "@" operand: (call target: (identifier) @_attribute @visibility . (arguments (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "::")))) @definition.type
  (#any-of? @_attribute "type" "typep" "opaque"))
((unary_operator operator: "@" operand: (call target: (identifier) @_attribute . (arguments (binary_operator left: (call target: (identifier) @name) operator: "::")))) @definition.function
  (#any-of? @_attribute "callback" "macrocallback"))
((unary_operator operator: "@" operand: (call target: (identifier) @_attribute . (arguments (binary_operator left: (binary_operator left: (call target: (identifier) @name) operator: "::") operator: "when")))) @definition.function
  (#any-of? @_attribute "callback" "macrocallback"))
((unary_operator operator: "@" operand: (call target: (identifier) @name . (arguments))) @definition.constant
  (#set! visibility "private") (#set! not_local "true") (#not-any-of? @name "doc" "moduledoc" "typedoc" "spec" "type" "typep" "opaque" "callback" "macrocallback" "behaviour" "impl"
    "deprecated" "since" "derive" "tag" "moduletag" "describetag" "dialyzer" "compile" "before_compile" "after_compile" "on_load"
    "on_definition" "optional_callbacks" "enforce_keys" "external_resource" "vsn" "fallback_to_any" "protocol" "for" "nifs"))

(comment) @comment
((unary_operator operator: "@" operand: (call target: (identifier) @_doc . (arguments [(string) (charlist)] @doc))) @comment
  (#any-of? @_doc "doc" "typedoc"))
((unary_operator operator: "@" operand: (call target: (identifier) @_doc . (arguments (sigil (quoted_content) @doc)))) @comment
  (#any-of? @_doc "doc" "typedoc"))
((unary_operator operator: "@" operand: (call target: (identifier) @_doc . (arguments [(boolean) (keywords)]))) @decorator
  (#any-of? @_doc "doc" "typedoc"))
((unary_operator operator: "@" operand: (call target: (identifier) @_doc . (arguments [(string) (charlist)] @doc)))
  (#eq? @_doc "moduledoc"))
((unary_operator operator: "@" operand: (call target: (identifier) @_doc . (arguments (sigil (quoted_content) @doc))))
  (#eq? @_doc "moduledoc"))
((unary_operator operator: "@" operand: (call target: (identifier) @_attribute)) @decorator
  (#any-of? @_attribute "spec" "impl" "deprecated" "since" "derive" "tag" "enforce_keys"))

; --- Imports

((call target: (identifier) @_import . (arguments . [(alias) (dot right: (alias))] @import.path)) @import (#eq? @_import "alias"))
((call target: (identifier) @_import . (arguments . (dot left: (_) @import.prefix right: (tuple)) @import.group)) @import
  (#any-of? @_import "alias" "require" "import" "use"))
((call target: (identifier) @_import . (arguments . (dot right: (tuple [(alias) (dot)] @import.path))))
  (#any-of? @_import "alias" "require" "import" "use"))
((call target: (identifier) @_import . (arguments (keywords (pair key: (keyword) @_as value: (alias) @import.alias))))
  (#any-of? @_import "alias" "require") (#match? @_as "^as:"))
((call target: (identifier) @_import . (arguments . [(alias) (dot right: (alias))] @import.module)) @import (#eq? @_import "require"))
; The names that `only` lists; without it, all names.
((call target: (identifier) @_import . (arguments . [(alias) (dot right: (alias))] @import.module
  (keywords (pair key: (keyword) @_only value: (list))))) @import
  (#eq? @_import "import") (#match? @_only "^only:"))
((call target: (identifier) @_import . (arguments (keywords (pair key: (keyword) @_only value: (list (keywords (pair key: (keyword) @import.name)))))))
  (#eq? @_import "import") (#match? @_only "^only:"))
((call target: (identifier) @_import . (arguments . [(alias) (dot right: (alias))] @import.module)) @import
  (#any-of? @_import "import" "use") (#set! wildcard "true"))

; --- References

((call target: (identifier) @_implement . (arguments . (alias) @path)) @reference.implement (#eq? @_implement "defimpl"))
((unary_operator operator: "@" operand: (call target: (identifier) @_attribute . (arguments (alias) @path))) @reference.implement
  (#any-of? @_attribute "behaviour" "derive"))
((unary_operator operator: "@" operand: (call target: (identifier) @_attribute . (arguments (list (alias) @path)))) @reference.implement
  (#eq? @_attribute "derive"))
((unary_operator operator: "@" operand: (call target: (identifier) @_attribute . (arguments (tuple . (alias) @path)))) @reference.implement
  (#eq? @_attribute "derive"))
((unary_operator operator: "@" operand: (call target: (identifier) @_attribute . (arguments (list (tuple . (alias) @path))))) @reference.implement
  (#eq? @_attribute "derive"))

; The name of an attribute is no call.
(unary_operator operator: "@" operand: (call target: (identifier) @not_reference))
; Types look like calls.
((unary_operator operator: "@" operand: (call target: (identifier) @_attribute)) @types
  (#any-of? @_attribute "spec" "type" "typep" "opaque" "callback" "macrocallback"))
((unary_operator operator: "@" operand: (call target: (identifier) @_attribute . (arguments (binary_operator left: (call target: (identifier) @not_reference)))))
  (#any-of? @_attribute "spec" "callback" "macrocallback"))
((unary_operator operator: "@" operand: (call target: (identifier) @_attribute . (arguments (binary_operator left: (binary_operator left: (call target: (identifier) @not_reference)) operator: "when"))))
  (#any-of? @_attribute "spec" "callback" "macrocallback"))

(call target: (identifier) @name . (arguments) @arguments) @reference.call
(call target: (identifier) @name . (arguments)? @arguments (do_block) @argument) @reference.call
(call target: (dot left: (_) @receiver right: (identifier) @name) (arguments) @arguments) @reference.call
(call target: (dot left: (_) @receiver right: (identifier) @name) (arguments)? @arguments (do_block) @argument) @reference.call
; Without brackets it is a field, unless a module is before it.
(call target: (dot left: [(alias) (atom)] @receiver right: (identifier) @name) .) @reference.call
; The piped value is one more argument.
(binary_operator left: (_) @argument operator: "|>" right: (call target: (identifier) @name . (arguments) @arguments)) @reference.call
(binary_operator left: (_) @argument operator: "|>" right: (call target: (identifier) @name . (arguments)? @arguments (do_block) @argument)) @reference.call
(binary_operator left: (_) @argument operator: "|>" right: (identifier) @name) @reference.call
(binary_operator left: (_) @argument operator: "|>" right: (call target: (dot left: (_) @receiver right: (identifier) @name) (arguments) @arguments)) @reference.call
(binary_operator left: (_) @argument operator: "|>" right: (call target: (dot left: (_) @receiver right: (identifier) @name) .)) @reference.call

(unary_operator operator: "&" operand: (binary_operator left: (identifier) @reference.value operator: "/" right: (integer)))
((unary_operator operator: "&" operand: (binary_operator left: (call target: (dot left: (_) @receiver right: (identifier) @name) .) operator: "/" right: (integer))) @reference.value
  (#set! preferred "true"))

((call target: (identifier) @_raise . (arguments . (alias) @path)) @reference.instantiate (#any-of? @_raise "raise" "reraise"))
(map (struct (alias) @path)) @reference.instantiate
(map (struct (identifier) @reference.instantiate))
; A pattern compares with a structure and does not make one.
((binary_operator left: (map (struct [(alias) (identifier)] @path)) operator: "=") @reference.type_use (#set! preferred "true"))
((binary_operator left: (tuple (map (struct [(alias) (identifier)] @path))) operator: "=") @reference.type_use (#set! preferred "true"))
((binary_operator left: (tuple (map (struct [(alias) (identifier)] @path))) operator: "<-") @reference.type_use (#set! preferred "true"))
((binary_operator left: (map (struct [(alias) (identifier)] @path)) operator: "<-") @reference.type_use (#set! preferred "true"))
((stab_clause left: (arguments (map (struct [(alias) (identifier)] @path)))) @reference.type_use (#set! preferred "true"))
((stab_clause left: (arguments (tuple (map (struct [(alias) (identifier)] @path))))) @reference.type_use (#set! preferred "true"))
((call target: (identifier) @_define . (arguments . (call (arguments (map (struct [(alias) (identifier)] @path)))))) @reference.type_use
  (#any-of? @_define "def" "defp" "defmacro" "defmacrop") (#set! preferred "true"))
((call target: (identifier) @_define . (arguments . (binary_operator left: (call (arguments (map (struct [(alias) (identifier)] @path))))))) @reference.type_use
  (#any-of? @_define "def" "defp" "defmacro" "defmacrop") (#set! preferred "true"))
((unary_operator operator: "@" operand: (call target: (identifier) @_attribute . (arguments (binary_operator right: (map (struct [(alias) (identifier)] @path)))))) @reference.type_use
  (#any-of? @_attribute "type" "typep" "opaque" "spec" "callback") (#set! preferred "true"))
(rescue_block (stab_clause left: (arguments (binary_operator left: (identifier) @binding.opaque operator: "in" right: (alias) @path)))) @reference.type_use

(alias) @path @reference.type_use

; --- Evident types

(binary_operator left: (map (struct [(alias) (identifier)] @binding.type)) operator: "=" right: (identifier) @binding.name) @binding.annotation
(binary_operator left: (identifier) @binding.name operator: "=" right: (map (struct [(alias) (identifier)] @binding.type))) @binding.constructor

; --- Parameters and locals that hide outer names

((call target: (identifier) @_define . (arguments . (call (arguments (identifier) @binding.opaque))))
  (#any-of? @_define "def" "defp" "defmacro" "defmacrop"))
((call target: (identifier) @_define . (arguments . (binary_operator left: (call (arguments (identifier) @binding.opaque)) operator: "when")))
  (#any-of? @_define "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp"))
(binary_operator left: (identifier) @binding.opaque operator: ["=" "<-" "\\\\"])
(binary_operator left: [(map) (list) (tuple)] operator: "=" right: (identifier) @binding.opaque)
(binary_operator left: [(tuple (identifier) @binding.opaque) (list (identifier) @binding.opaque)] operator: ["=" "<-"])
(binary_operator left: (tuple (tuple (identifier) @binding.opaque)) operator: ["=" "<-"])
(binary_operator left: (list (binary_operator left: (identifier) @binding.opaque operator: "|" right: (identifier) @binding.opaque)) operator: ["=" "<-"])
(binary_operator left: (map (map_content (keywords (pair value: (identifier) @binding.opaque)))) operator: ["=" "<-"])
(binary_operator left: (map (map_content (binary_operator operator: "=>" right: (identifier) @binding.opaque))) operator: ["=" "<-"])
(stab_clause left: (arguments (identifier) @binding.opaque))
(stab_clause left: (arguments [(tuple (identifier) @binding.opaque) (list (identifier) @binding.opaque)]))
(stab_clause left: (arguments (list (binary_operator left: (identifier) @binding.opaque operator: "|" right: (identifier) @binding.opaque))))
(stab_clause left: (arguments (map (map_content (keywords (pair value: (identifier) @binding.opaque))))))
(stab_clause left: (arguments (tuple (map (map_content (keywords (pair value: (identifier) @binding.opaque)))))))
(stab_clause left: (binary_operator left: (arguments (identifier) @binding.opaque)))
(stab_clause left: (binary_operator left: (arguments (tuple (identifier) @binding.opaque))))
